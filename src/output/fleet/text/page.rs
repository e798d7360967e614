//! Lines that fit the width.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::notes::Footnotes;
use crate::fleet::FleetOptions;
use crate::output::text::Style;
use crate::output::text::style::{Tone, clean, fit, wrap};

/// The page that a report is written on, and the columns that did not fit.
pub(super) struct Page<'p> {
    pub(super) style: &'p Style,
    out: &'p mut dyn Write,
    /// The marks of tables, and which of them are explained.
    pub(super) footnotes: Footnotes,
    /// Columns of tables that were left out, each once.
    left_out: Vec<String>,
    /// Columns that all tables of values leave out.
    left_out_everywhere: BTreeSet<String>,
}

impl<'p> Page<'p> {
    /// A page whose tables of values omit these columns, and more if they do not fit.
    pub(super) fn new(style: &'p Style, left_out_everywhere: BTreeSet<String>, out: &'p mut dyn Write) -> Self {
        Self { style, out, footnotes: Footnotes::default(), left_out: Vec::new(), left_out_everywhere }
    }

    /// The columns that tables of values leave out.
    pub(super) fn into_left_out_everywhere(self) -> BTreeSet<String> {
        self.left_out_everywhere
    }

    pub(super) fn has_left_out_everywhere(&self, column: &str) -> bool {
        self.left_out_everywhere.contains(column)
    }

    /// Writes a line unchanged.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }

    /// Writes a line in one colour, cut if it is too long.
    pub(super) fn painted(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        let text = fit(text, self.style.width);
        self.line(&self.style.paint(tone, text.trim_end()))
    }

    /// The title of a section, below an empty line.
    pub(super) fn title(&mut self, text: &str) -> io::Result<()> {
        self.line("")?;
        self.sentence(Some(Tone::Title), 0, text)
    }

    /// Writes sentences in as many lines as they need; all lines after the first are indented by two more spaces.
    pub(super) fn sentence(&mut self, tone: Option<Tone>, indent: usize, text: &str) -> io::Result<()> {
        for line in wrap(&clean(text), indent, self.style.width) {
            let line = tone.map_or_else(|| line.clone(), |tone| self.style.paint(tone, &line));
            self.line(&line)?;
        }
        Ok(())
    }

    /// Remembers a column that did not fit, in one table or `everywhere`.
    pub(super) fn leave_out(&mut self, column: &str, everywhere: bool) {
        if everywhere {
            self.left_out_everywhere.insert(column.to_owned());
        }
        if !self.left_out.iter().any(|known| known == column) {
            self.left_out.push(column.to_owned());
        }
    }

    /// Explains the marks that were written since the last time.
    pub(super) fn explain_marks(&mut self, options: &FleetOptions) -> io::Result<()> {
        let texts = self.footnotes.take(options);
        texts.into_iter().try_for_each(|text| self.sentence(Some(Tone::Dim), 0, &text))
    }

    /// Names the columns that did not fit.
    pub(super) fn say_what_was_left_out(&mut self) -> io::Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let columns = self.left_out.join(", ");
        self.line("")?;
        self.sentence(
            Some(Tone::Dim),
            0,
            &format!("Columns that do not fit at this width: {columns}. CSV and JSON have all."),
        )
    }
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
