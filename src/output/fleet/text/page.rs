//! Lines that fit the width.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::output::text::Style;
use crate::output::text::style::{Tone, clean, fit};

/// Where a report is written, and what had no room on it.
pub(super) struct Page<'p> {
    pub(super) style: &'p Style,
    out: &'p mut dyn Write,
    /// Columns of tables that were left out, each once.
    left_out: Vec<String>,
}

impl<'p> Page<'p> {
    pub(super) fn new(style: &'p Style, out: &'p mut dyn Write) -> Self {
        Self { style, out, left_out: Vec::new() }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }

    /// A line in one colour, cut where it is too long.
    pub(super) fn painted(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        let text = fit(text, self.style.width);
        self.line(&self.style.paint(tone, text.trim_end()))
    }

    /// The title of a section, below an empty line.
    pub(super) fn title(&mut self, text: &str) -> io::Result<()> {
        self.line("")?;
        self.sentence(Some(Tone::Title), 0, text)
    }

    /// Sentences, in as many lines as they need; the second and further ones are indented by two spaces more.
    pub(super) fn sentence(&mut self, tone: Option<Tone>, indent: usize, text: &str) -> io::Result<()> {
        for line in wrap(&clean(text), indent, self.style.width) {
            let line = tone.map_or_else(|| line.clone(), |tone| self.style.paint(tone, &line));
            self.line(&line)?;
        }
        Ok(())
    }

    /// Remembers a column that had no room.
    pub(super) fn leave_out(&mut self, column: &str) {
        if !self.left_out.iter().any(|known| known == column) {
            self.left_out.push(column.to_owned());
        }
    }

    /// Says which columns had no room.
    pub(super) fn say_what_was_left_out(&mut self) -> io::Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let columns = self.left_out.join(", ");
        self.line("")?;
        self.sentence(
            Some(Tone::Dim),
            0,
            &format!("No room for columns at this width: {columns}. CSV and JSON have all."),
        )
    }
}

/// Text in lines of at most so many columns. A word that is longer than a line loses its middle.
fn wrap(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words() {
        assert_eq!(wrap("one two three four", 2, Some(11)), ["  one two", "    three", "    four"]);
        assert_eq!(wrap("one two", 2, None), ["  one two"]);
        assert_eq!(wrap("abcdefghijklmnop bc", 0, Some(10)), ["abcde…op", "  bc"]);
        assert_eq!(wrap("", 1, Some(10)), [" "]);
    }
}
