//! The picture as a document: its options, and the headings above the frames.

use std::collections::BTreeSet;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::colours::{Colour, ColourBy, rules};
use super::frames::{Frame, FrameWriter, Laid, LeftOut, MARGIN, PADDING, ROOM_FOR_SHARE, ROW, THIN, levels};
use super::letters::{Pixels, fitted, letters, wrapped};
use crate::output::flame_layout::FlameBox;
use crate::output::inert::{Text, inert};
use crate::units::Unit;

/// The width of an adaptive picture if there is no window (as an image or in print).
const WIDTH: u32 = 1200;

/// The appearance of a flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameGraphOptions {
    /// The width of the picture in pixels, at least 400. With `None`, it is as wide as the window that shows it, or 1200 pixels as an image.
    pub width: Option<u32>,
    /// The meaning of the colours. Comparison pictures have their own colours.
    pub colour_by: ColourBy,
    /// True for an icicle graph, with the root at the top and callees below their callers. False puts the root at the bottom. True by default.
    pub is_icicle: bool,
    /// The title; with `None`, it is the name of the measure.
    pub title: Option<String>,
    /// One sentence below the title; with `None`, a description of the measurement, as far as it is known.
    pub subtitle: Option<String>,
    /// Frames narrower than this number of pixels are omitted; 1 by default. Frames without weight are never drawn.
    pub narrowest: f64,
    /// The maximum size of the file in bytes; 1.5 MB by default. If necessary, the narrowest frames are omitted, but never the root.
    pub max_bytes: usize,
}

impl Default for FlameGraphOptions {
    fn default() -> Self {
        Self {
            width: None,
            colour_by: ColourBy::default(),
            is_icicle: true,
            title: None,
            subtitle: None,
            narrowest: 1.0,
            max_bytes: 1_500_000,
        }
    }
}

impl FlameGraphOptions {
    pub(super) fn width(&self) -> f64 {
        f64::from(self.width.unwrap_or(WIDTH).max(400))
    }

    /// The width of the root in pixels.
    pub(super) fn room(&self) -> f64 {
        self.width() - 2.0 * MARGIN
    }
}

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// An allowance in bytes for the parts of the file that are not frames, style, script or title: lines, legend and colour rules.
const OTHER_BYTES: usize = 24 << 10;

/// A picture that is ready to be written.
pub(super) struct Page<'n, 'o> {
    pub(super) options: &'o FlameGraphOptions,
    pub(super) unit: Unit,
    pub(super) title: String,
    /// The lines below the title.
    pub(super) lines: Vec<String>,
    pub(super) legend: Vec<(Colour, String)>,
    /// The frames, starting with the root. Empty for a picture without frames.
    pub(super) frames: Vec<FlameBox<Frame<'n>>>,
}

/// Selects the frames that fit into the file together with its title and subtitle. Also returns what was omitted.
pub(super) fn within<'n>(
    mut laid: Laid<Frame<'n>>,
    options: &FlameGraphOptions,
    unit: Unit,
    texts: [&str; 2],
) -> (Vec<FlameBox<Frame<'n>>>, LeftOut) {
    let writer = FrameWriter::new(&laid.frames, unit, options.room(), options.is_icicle);
    let costs: Vec<usize> = laid.frames.iter().map(|frame| writer.cost(frame)).collect();
    // Each text occurs twice, and escapes make it up to nine times as long.
    let texts = texts.map(|text| 20 * text.len()).iter().sum::<usize>();
    laid.keep_within(options.max_bytes.saturating_sub(STYLE.len() + SCRIPT.len() + texts + OTHER_BYTES), &costs);
    (laid.frames, laid.left_out)
}

impl Page<'_, '_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(64 << 10, out);
        let width = self.options.width();
        let mut headings = Vec::new();
        let top =
            Headings { width, title: &self.title, lines: &self.lines, legend: &self.legend }.write(&mut headings)?;
        let height = top + ROW * f64::from(levels(&self.frames)) + MARGIN;
        self.head(width, height, &mut out)?;
        out.write_all(&headings)?;
        writeln!(out, "<g id=\"frames\" transform=\"translate(0 {})\">", Pixels(top))?;
        let writer = FrameWriter::new(&self.frames, self.unit, self.options.room(), self.options.is_icicle);
        self.frames.iter().try_for_each(|frame| writer.write(frame, &mut out))?;
        writeln!(out, "</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>")?;
        out.flush()
    }

    fn head(&self, width: f64, height: f64, out: &mut dyn Write) -> io::Result<()> {
        let (width, height) = (Pixels(width), Pixels(height));
        let (is_fixed, is_icicle) = (self.options.width.is_some(), self.options.is_icicle);
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" class=\"flame-graph\" data-width=\"{width}\" data-fixed=\"{is_fixed}\" \
             data-margin=\"{MARGIN}\" data-padding=\"{PADDING}\" data-thin=\"{THIN}\" data-row=\"{ROW}\" \
             data-share=\"{ROOM_FOR_SHARE}\" data-icicle=\"{is_icicle}\" data-unit=\"{}\">\n\
             <!-- Made by traceparse {}. -->\n<title>{}</title>",
            self.unit.name(),
            env!("CARGO_PKG_VERSION"),
            Text(&self.title)
        )?;
        // Line breaks in input are escaped, so each line stays one line.
        let lines: Vec<String> = self.lines.iter().map(|line| Text(line).to_string()).collect();
        writeln!(out, "<desc>{}</desc>", lines.join("\n"))?;
        let used: BTreeSet<Colour> =
            self.frames.iter().map(|frame| frame.what.colour).chain(self.legend.iter().map(|entry| entry.0)).collect();
        writeln!(out, "<style><![CDATA[\n{STYLE}{}]]></style>", rules(used.iter().copied()))
    }
}

/// The approximate widths of a character in the title and in the lines below it.
const TITLE_LETTER: f64 = 9.6;
const LINE_LETTER: f64 = 6.7;
/// The distance between lines.
const LINE: f64 = 17.0;
/// The baseline of the title.
const TITLE: f64 = 26.0;
/// The size of a colour swatch in the legend, the space between it and its text, and the space between two entries.
const SWATCH: f64 = 13.0;
const SWATCH_GAP: f64 = 5.0;
const ENTRY_GAP: f64 = 14.0;

/// The headings of a picture with this width. The script rearranges them for the width of the window.
pub(super) struct Headings<'p> {
    pub(super) width: f64,
    pub(super) title: &'p str,
    pub(super) lines: &'p [String],
    pub(super) legend: &'p [(Colour, String)],
}

impl Headings<'_> {
    /// Writes the headings, and returns the top of the content below.
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

    /// Writes the legend below the line at `above`, and returns the baseline of its last line.
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
