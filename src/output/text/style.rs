//! Width and colour of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::inert::inert;

/// The width and the colours of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; `None` writes everything in full length.
    pub width: Option<usize>,
    /// True to write colours (ANSI escape codes).
    pub is_coloured: bool,
    /// True to write names of functions in full length, even where a line is then wider than [`width`](Self::width).
    pub has_full_names: bool,
}

/// The kind of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) enum Tone {
    Title,
    Weight,
    Warm,
    Hot,
    Dim,
    Warning,
    Good,
    Bad,
}

impl Tone {
    /// The tone of a weight by its percentage of the whole.
    pub(in crate::output) fn of_heat(percent: f64) -> Self {
        if percent >= 50.0 {
            Self::Hot
        } else if percent >= 10.0 {
            Self::Warm
        } else {
            Self::Weight
        }
    }
}

impl Style {
    /// `text` in the colour of `tone`.
    pub(in crate::output) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.is_coloured || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Title => "1",
            Tone::Weight => "36",
            Tone::Warm => "33",
            Tone::Hot => "31",
            Tone::Dim => "2",
            Tone::Warning => "33",
            Tone::Good => "32",
            Tone::Bad => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// `text` without characters that could move the cursor, change colours or reverse other text.
pub(in crate::output) fn clean(text: &str) -> String {
    inert(text).into_owned()
}

/// `text` in at most `width` columns. The middle is cut, since both ends of a name are informative.
pub(in crate::output) fn fit(text: &str, width: Option<usize>) -> String {
    let text = clean(text);
    let Some(width) = width.filter(|&width| text.width() > width) else { return text };
    let tail = width / 3;
    let head = width.saturating_sub(tail + 1);
    let mut out = take_columns(text.chars(), head);
    // What joins two characters joins none of them to the mark between.
    out.truncate(out.trim_end_matches('\u{200d}').len());
    out.push('…');
    let tail: String = take_columns(text.chars().rev(), tail).chars().rev().collect();
    out + tail.trim_start_matches(|c: char| c.width() == Some(0))
}

/// `text` in at most `width` columns: the end goes.
pub(in crate::output) fn cut(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&width| text.width() > width) else { return text.to_owned() };
    take_columns(text.chars(), width.saturating_sub(1)) + "…"
}

/// Wraps text at this width. The middle of a word longer than a line is cut.
pub(in crate::output) fn wrap(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return vec![format!("{}{text}", " ".repeat(indent))] };
    let hanging = indent + 2;
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut is_empty = true;
    for word in text.split(' ') {
        let word = fit(word, Some(width.saturating_sub(hanging).max(2)));
        if !is_empty && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

fn take_columns(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = chars.take_while(|&c| {
        // An emoji that would be text without this selector is one column wider with it.
        used += if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) };
        used <= width
    });
    fits.collect()
}

/// `text` and spaces up to `width` columns.
pub(in crate::output) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::name::MIN_NAME;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(fit("abcdefghij", Some(10)), "abcdefghij");
        assert_eq!(fit("abcdefghijk", Some(10)), "abcdef…ijk");
        assert_eq!(fit("日本語日本語", Some(7)).width(), 7);
        assert_eq!(fit("a\x1b[31mb", None), "a\\u{1b}[31mb");
    }

    #[test]
    fn nothing_exceeds_its_width() {
        let parts = [
            "a",
            "é",
            "e\u{301}",
            "語",
            "☺\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻",
            "🇩🇪",
            "👍🏽",
            "لا",
            "شُ",
            "กำ",
            "한",
            "क्ष",
            "\u{202e}",
            "\n",
            "\u{1b}",
            "葛\u{e0100}",
            "ﷺ",
            "ᨕᨗ\u{200d}ᨐ",
            "ꓹꓼ",
            "ⵏ\u{2d7f}ⵏ",
        ];
        let mut state = 1_usize;
        for length in (1..40).cycle().take(2_000) {
            let part = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                parts[(state >> 33) % parts.len()]
            };
            let text: String = (0..length).map(part).collect();
            for width in 2..30 {
                let shown = fit(&text, Some(width));
                assert!(shown.width() <= width, "{text:?} in {width}: {shown:?} has {}", shown.width());
                assert!(cut(&clean(&text), Some(width)).width() <= width, "{text:?} in {width}");
                let style = Style { width: Some(width + 40), ..Style::default() };
                let (name, owner) = style.two_parts(&text, &text, 30);
                assert!((name + &owner).width() <= (width + 10).max(MIN_NAME), "{text:?} in {width}");
            }
        }
    }

    #[test]
    fn owners_give_way_first() {
        let style = Style { width: Some(40), ..Style::default() };
        let (name, owner) = style.two_parts("run", "libdispatch.dylib", 10);
        assert_eq!((name.as_str(), owner.as_str()), ("run", "  libdispatch.dylib"));
        let (name, owner) = style.two_parts("a function with a name of thirty", "app", 10);
        assert_eq!((name.width(), owner.as_str()), (30, ""));
        let (name, owner) = Style::default().two_parts("f", "app", 10);
        assert_eq!(name + &owner, "f  app");
    }
}
