//! The picture as a document.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::colours::{Colour, rules};
use super::frames::{Frame, FrameWriter, PADDING, ROOM_FOR_SHARE, ROW, THIN, levels};
use super::headings::Headings;
use super::layout::{Laid, LeftOut, Placed};
use super::letters::Pixels;
use super::options::{FlameGraphOptions, MARGIN};
use crate::output::markup::Text;
use crate::units::Unit;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Bytes for what is neither frame, style, script nor title: lines, legend and rules of colours.
const OTHER_BYTES: usize = 24 << 10;

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

/// The frames that fit into the file together with its title and subtitle, and the frames that are left out.
pub(super) fn within<'n>(
    mut laid: Laid<Frame<'n>>,
    options: &FlameGraphOptions,
    unit: Unit,
    texts: [&str; 2],
) -> (Vec<Placed<Frame<'n>>>, LeftOut) {
    let writer = FrameWriter::new(&laid.frames, unit, options.room(), options.is_icicle);
    let costs: Vec<usize> = laid.frames.iter().map(|frame| writer.cost(frame)).collect();
    // Each is there twice, and escapes make it up to nine times as long.
    let texts = texts.map(|text| 20 * text.len()).iter().sum::<usize>();
    laid.keep_within(options.max_bytes.saturating_sub(STYLE.len() + SCRIPT.len() + texts + OTHER_BYTES), &costs);
    (laid.frames, laid.left_out)
}

impl Page<'_, '_> {
    /// Writes the document.
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
        // Lines of the input have no line breaks: those are escaped.
        let lines: Vec<String> = self.lines.iter().map(|line| Text(line).to_string()).collect();
        writeln!(out, "<desc>{}</desc>", lines.join("\n"))?;
        let used: BTreeSet<Colour> =
            self.frames.iter().map(|frame| frame.what.colour).chain(self.legend.iter().map(|entry| entry.0)).collect();
        writeln!(out, "<style><![CDATA[\n{STYLE}{}]]></style>", rules(used.iter().copied()))
    }
}
