//! The picture as a document.

use std::collections::BTreeSet;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::colours::{Colour, rules};
use super::layout::Placed;
use super::options::{FlameGraphOptions, MARGIN};
use crate::calltree::percent;
use crate::output::inert::inert;
use crate::output::markup::Text;
use crate::units::{Unit, Weight};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// From one level to the next, of which a frame takes all but one.
const ROW: f64 = 17.0;
/// Between the edge of a frame and its text, on both sides.
const PADDING: f64 = 3.0;
/// Frames narrower than this have no line around them, which would cover them.
const THIN: f64 = 2.5;
/// The largest width of a letter on a frame, in the fonts that browsers take for `ui-monospace` and `monospace`.
const LETTER: f64 = 7.45;
/// Fewer letters than these say nothing.
const FEWEST_LETTERS: usize = 3;
/// About how wide letters are in titles, and in lines below them.
const TITLE_LETTER: f64 = 9.6;
const LINE_LETTER: f64 = 6.7;
const LINE: f64 = 17.0;

/// The contents of a frame.
#[derive(Clone, Debug)]
pub(super) struct Frame<'n> {
    pub(super) name: &'n str,
    pub(super) binary: Option<&'n str>,
    pub(super) colour: Colour,
    /// Its self weight.
    pub(super) own: u64,
    /// The weight that pruning hid on it.
    pub(super) hidden: u64,
    /// All and self weight before, in a picture that compares.
    pub(super) before: Option<(u64, u64)>,
}

impl Frame<'_> {
    /// About how many bytes it takes.
    pub(super) fn cost(&self) -> usize {
        let names = self.name.len() + self.binary.map_or(0, str::len);
        230 + names
    }
}

/// A picture that is ready to be written.
pub(super) struct Page<'n, 'o> {
    pub(super) options: &'o FlameGraphOptions,
    pub(super) unit: Unit,
    pub(super) title: String,
    /// The lines below the title.
    pub(super) lines: Vec<String>,
    pub(super) legend: Vec<(Colour, String)>,
    /// The root is the first one; none is a picture without frames.
    pub(super) frames: Vec<Placed<Frame<'n>>>,
}

/// The places of things.
struct Places {
    width: f64,
    top: f64,
    levels: u32,
    is_icicle: bool,
    /// The line about the frame under the mouse.
    details: f64,
}

impl Places {
    fn row(&self, depth: u32) -> f64 {
        let rows_above = if self.is_icicle { depth } else { self.levels - 1 - depth };
        self.top + ROW * f64::from(rows_above)
    }
}

impl Page<'_, '_> {
    /// Writes the document.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(64 << 10, out);
        let width = self.options.width();
        let lines: Vec<String> =
            self.lines.iter().flat_map(|line| wrapped(line, letters(width - 2.0 * MARGIN, LINE_LETTER))).collect();
        let levels = self.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
        let top = 34.0 + LINE * lines.len() as f64 + 8.0;
        let details = top + ROW * f64::from(levels) + 17.0;
        let places = Places { width, top, levels, is_icicle: self.options.is_icicle, details };
        let legend = self.legend_places(&places);
        let height = legend.last().map_or(details, |&(_, y)| y + 6.0) + MARGIN;
        self.head(&places, height, &mut out)?;
        self.headings(&lines, &places, &mut out)?;
        self.frames(&places, &mut out)?;
        writeln!(out, "<text id=\"details\" x=\"{MARGIN}\" y=\"{}\"></text>", Pixels(details))?;
        self.legend(&legend, &mut out)?;
        writeln!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>")?;
        out.flush()
    }

    fn head(&self, places: &Places, height: f64, out: &mut dyn Write) -> io::Result<()> {
        let (width, height) = (Pixels(places.width), Pixels(height));
        let (icicle, unit, tools) = (self.options.is_icicle, self.unit.name(), Pixels(tools_width(places.width)));
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" class=\"flame-graph\" data-width=\"{width}\" data-margin=\"{MARGIN}\" \
             data-padding=\"{PADDING}\" data-thin=\"{THIN}\" data-tools=\"{tools}\" data-icicle=\"{icicle}\" data-unit=\"{unit}\">\n\
             <!-- Made by traceparse {}. -->\n<title>{}</title>",
            env!("CARGO_PKG_VERSION"),
            Text(&self.title)
        )?;
        writeln!(out, "<desc>{}</desc>", Text(&self.lines.join(" ")))?;
        let used: BTreeSet<Colour> =
            self.frames.iter().map(|frame| frame.what.colour).chain(self.legend.iter().map(|entry| entry.0)).collect();
        writeln!(out, "<style><![CDATA[\n{STYLE}{}]]></style>", rules(used.iter().copied()))
    }

    fn headings(&self, lines: &[String], places: &Places, out: &mut dyn Write) -> io::Result<()> {
        let room = places.width - tools_width(places.width) - 3.0 * MARGIN;
        let title = fitted(&inert(&self.title), letters(room, TITLE_LETTER));
        writeln!(out, "<rect id=\"paper\" width=\"100%\" height=\"100%\"/>")?;
        writeln!(out, "<text id=\"title\" x=\"{MARGIN}\" y=\"26\">{}</text>", Text(&title))?;
        for (index, line) in lines.iter().enumerate() {
            let y = Pixels(30.0 + LINE * (index + 1) as f64);
            writeln!(out, "<text class=\"line\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", Text(line))?;
        }
        Ok(())
    }

    fn frames(&self, places: &Places, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g id=\"frames\">")?;
        let total = self.frames.first().map_or(0, |root| root.all);
        let room = self.options.room();
        // A picture of nothing is its root.
        let scale = |weight: u64| if total == 0 { room } else { weight as f64 * room / total as f64 };
        for frame in &self.frames {
            let Frame { name, binary, colour, own, before, .. } = &frame.what;
            let (x, y) = (MARGIN + if total == 0 { 0.0 } else { scale(frame.start) }, places.row(frame.depth));
            let width = scale(frame.all);
            write!(
                out,
                "<g data-depth=\"{}\" data-start=\"{}\" data-all=\"{}\" data-self=\"{own}\"",
                frame.depth, frame.start, frame.all
            )?;
            if let Some((all, own)) = before {
                write!(out, " data-before-all=\"{all}\" data-before-self=\"{own}\"")?;
            }
            write!(out, "><title>{}\n{}\n", Text(name), Text(binary.unwrap_or_default()))?;
            self.numbers(frame, out)?;
            write!(
                out,
                "</title><rect class=\"{}{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                colour.class(),
                if width < THIN { " thin" } else { "" },
                Pixels(x),
                Pixels(y),
                Pixels(width),
                Pixels(ROW - 1.0)
            )?;
            let room = letters(width - 2.0 * PADDING, LETTER);
            if room >= FEWEST_LETTERS {
                let text = fitted(&inert(name), room);
                write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", Pixels(x + PADDING), Pixels(y + 12.0), Text(&text))?;
            }
            writeln!(out, "</g>")?;
        }
        writeln!(out, "</g>")
    }

    /// Writes the weights of a frame, in words.
    fn numbers(&self, frame: &Placed<Frame<'_>>, out: &mut dyn Write) -> io::Result<()> {
        let Some(root) = self.frames.first() else { return Ok(()) };
        let weighed =
            |weight: u64, total: u64| format!("{} ({:.2} %)", Weight::new(weight, self.unit), percent(weight, total));
        let (all, own) = (weighed(frame.all, root.all), weighed(frame.what.own, root.all));
        let (Some((before_all, before_own)), Some((before_total, _))) = (frame.what.before, root.what.before) else {
            return write!(out, "{all}, self {own}");
        };
        let change = percent(frame.all, root.all) - percent(before_all, before_total);
        // No change is not a little less.
        let change = if change.abs() < 0.005 { 0.0 } else { change };
        write!(
            out,
            "before {}, after {all}, change {change:+.2} points\nself before {}, after {own}",
            weighed(before_all, before_total),
            weighed(before_own, before_total)
        )
    }

    /// The places of the legend's entries: the left edge, and the base of the text.
    fn legend_places(&self, places: &Places) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (MARGIN, places.details + 24.0);
        let end = places.width - MARGIN;
        let place = |(_, text): &(Colour, String)| {
            let width = 18.0 + LINE_LETTER * text.width() as f64 + 14.0;
            if x + width > end && x > MARGIN {
                (x, y) = (MARGIN, y + LINE + 1.0);
            }
            let place = (x, y);
            x += width;
            place
        };
        self.legend.iter().map(place).collect()
    }

    fn legend(&self, places: &[(f64, f64)], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g id=\"legend\">")?;
        for ((colour, text), &(x, y)) in self.legend.iter().zip(places) {
            writeln!(
                out,
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"13\" height=\"13\"/><text class=\"line\" x=\"{}\" y=\"{}\">{}</text>",
                colour.class(),
                Pixels(x),
                Pixels(y - 11.0),
                Pixels(x + 18.0),
                Pixels(y),
                Text(text)
            )?;
        }
        writeln!(out, "</g>")
    }
}

/// The width of the script's tools, right of the title.
fn tools_width(width: f64) -> f64 {
    (width * 0.55).min(310.0)
}

/// A number of pixels, with two decimals at most.
struct Pixels(f64);

impl std::fmt::Display for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The number of letters that fit into a width in pixels.
fn letters(pixels: f64, letter: f64) -> usize {
    // A cast of what is below zero is zero.
    (pixels / letter) as usize
}

/// The start of a text, at most `columns` wide, with `…` where it is cut.
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

/// The lines of a text; a word that is longer than a line is cut.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
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
    fn texts_are_cut_by_columns() {
        assert_eq!(fitted("press", 5), "press");
        assert_eq!(fitted("presses", 5), "pres…");
        assert_eq!(fitted("日本語の名前", 7), "日本語…");
        assert_eq!(fitted("日本語の名前", 6), "日本…");
        assert_eq!(fitted("press", 0), "…");
        // A letter and its accent are one column.
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
