//! The headings above the frames: the title, lines about the measurement, and the legend of the colours.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::colours::Colour;
use super::letters::{Pixels, fitted, letters, wrapped};
use super::options::MARGIN;
use crate::output::inert::inert;
use crate::output::markup::Text;

/// About how wide letters are in titles, and in lines below them.
const TITLE_LETTER: f64 = 9.6;
const LINE_LETTER: f64 = 6.7;
/// From one line to the next.
const LINE: f64 = 17.0;
/// The base of the title's text.
const TITLE: f64 = 26.0;
/// The width and height of a colour in the legend, and the room between it and its text, and between two entries.
const SWATCH: f64 = 13.0;
const SWATCH_GAP: f64 = 5.0;
const ENTRY_GAP: f64 = 14.0;

/// The headings of a picture of this width. The script rearranges them for the width of a window.
pub(super) struct Headings<'p> {
    pub(super) width: f64,
    pub(super) title: &'p str,
    pub(super) lines: &'p [String],
    pub(super) legend: &'p [(Colour, String)],
}

impl Headings<'_> {
    /// Writes them, and returns the top of what comes below them.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<f64> {
        let room = self.width - 2.0 * MARGIN;
        let title = fitted(&inert(self.title), letters(room, TITLE_LETTER));
        writeln!(out, "<rect id=\"paper\" width=\"100%\" height=\"100%\"/>")?;
        writeln!(out, "<text id=\"title\" x=\"{MARGIN}\" y=\"{TITLE}\">{}</text>", Text(&title))?;
        writeln!(out, "<g id=\"lines\">")?;
        let mut y = TITLE + 4.0;
        for line in self.lines.iter().flat_map(|line| wrapped(line, letters(room, LINE_LETTER))) {
            y += LINE;
            writeln!(out, "<text class=\"line\" x=\"{MARGIN}\" y=\"{}\">{}</text>", Pixels(y), Text(&line))?;
        }
        writeln!(out, "</g>")?;
        Ok(self.legend(y, out)? + 8.0)
    }

    /// Writes the meaning of the colours below a line, and returns the base of the last line.
    fn legend(&self, above: f64, out: &mut dyn Write) -> io::Result<f64> {
        writeln!(out, "<g id=\"legend\">")?;
        let (mut x, mut y) = (MARGIN, if self.legend.is_empty() { above } else { above + LINE + 2.0 });
        for (colour, text) in self.legend {
            let width = SWATCH + SWATCH_GAP + LINE_LETTER * text.width() as f64;
            if x + width > self.width - MARGIN && x > MARGIN {
                (x, y) = (MARGIN, y + LINE + 1.0);
            }
            writeln!(
                out,
                "<g transform=\"translate({} {})\"><rect class=\"{}\" y=\"-11\" width=\"{SWATCH}\" height=\"{SWATCH}\"/>\
                 <text class=\"line\" x=\"{}\">{}</text></g>",
                Pixels(x),
                Pixels(y),
                colour.class(),
                SWATCH + SWATCH_GAP,
                Text(text)
            )?;
            x += width + ENTRY_GAP;
        }
        writeln!(out, "</g>")?;
        Ok(y)
    }
}
