//! Formats numbers and lists as words: `1,988`, `3 files`, `a, b, … 2 more`.

use std::borrow::Borrow;
use std::fmt;

/// Formats a number with thousands separators: `1,988`.
pub fn counted(count: impl fmt::Display) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with a word, in the plural if necessary: `1 file`, `1,988 files`.
pub fn several(count: impl fmt::Display, word: &str) -> String {
    let count = counted(count);
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// Capitalizes the first letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// Lists the first 8 names, and counts the others: `a, b, … 3 more`.
pub fn first_of(names: &[impl Borrow<str>]) -> String {
    list(names, 8)
}

/// Lists names to choose from, and counts those after the first 60.
pub(crate) fn choice_of(names: &[impl Borrow<str>]) -> String {
    list(names, 60)
}

fn list(names: &[impl Borrow<str>], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, … {} more", counted(more)) } else { shown }
}
