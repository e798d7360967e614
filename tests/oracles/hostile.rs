//! Strings from input that break lines, reverse text or hide characters, and how pages and pictures show them.

pub(crate) const ACTING: &str = "\r\t\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{2069}\u{3164}\u{feff}\u{e0041}";

/// How hostile text is shown: active characters are escaped.
pub(crate) fn shown(text: &str) -> String {
    let acts = |c: char| ACTING.contains(c) || "\u{202e}\u{2066}\0\n\u{1b}\u{ffff}".contains(c);
    let escaped = |c: char| match c {
        '\0' => "\\u{0}".to_owned(),
        c if acts(c) => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
