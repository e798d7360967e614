//! Names in rules: in double quotes.

/// A text in quotes, in which `\"` is a quote and `\\` a backslash, and what follows it; `None` where it has no quotes, or another
/// escape: a name that was pasted with one backslash would be another name.
pub(crate) fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut name = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, &inner[at + 1..])),
            '\\' => name.push(chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
            c => name.push(c),
        }
    }
    None
}
