//! Fits strings into widths by estimating their size, since there is no browser to measure them.

use std::fmt;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::inert::inert;

/// A number of pixels with at most two decimals.
pub(super) struct Pixels(pub(super) f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
/// The number of characters that fit into a width in pixels.
pub(super) fn letters(pixels: f64, letter: f64) -> usize {
    // The cast turns negative numbers into zero.
    (pixels / letter) as usize
}

/// The start of a string, at most `columns` wide, with `…` if it is cut.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |letter: &char| match left.checked_sub(letter.width().unwrap_or(0)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut start: String = text.chars().take_while(fits).collect();
    start.push('…');
    start
}

/// Wraps a string into lines. Words longer than a line are cut.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in inert(text).split_whitespace() {
        let word = fitted(word, columns);
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_strings_by_columns() {
        assert_eq!(fitted("press", 5), "press");
        assert_eq!(fitted("presses", 5), "pres…");
        assert_eq!(fitted("日本語の名前", 7), "日本語…");
        assert_eq!(fitted("日本語の名前", 6), "日本…");
        assert_eq!(fitted("press", 0), "…");
        // A letter and its combining accent take one column.
        assert_eq!(fitted("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}e\u{301}");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrapped("abcdefghij k", 6), ["abcde…", "k"]);
        assert!(wrapped("", 6).is_empty());
    }

    #[test]
    fn pixels_have_two_decimals_at_most() {
        let texts = [0.0, 10.0, 1.5, 1.006, 99.999].map(|pixels| Pixels(pixels).to_string());
        assert_eq!(texts, ["0", "10", "1.5", "1.01", "100"]);
    }
}
