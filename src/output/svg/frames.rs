//! Frames as elements.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::colours::Colour;
use super::layout::Placed;
use super::letters::{Pixels, fitted, letters};
use super::options::MARGIN;
use crate::calltree::percent;
use crate::output::inert::inert;
use crate::output::markup::Text;
use crate::report::diff::Change;
use crate::units::{Unit, Weight};

/// From one level to the next, of which a frame takes all but one.
pub(super) const ROW: f64 = 17.0;
/// Between the edge of a frame and its text, on both sides.
pub(super) const PADDING: f64 = 3.0;
/// Frames narrower than this have no line around them, which would cover them.
pub(super) const THIN: f64 = 2.5;
/// The largest width of a letter on a frame, in the fonts that browsers take for `ui-monospace` and `monospace`.
const LETTER: f64 = 7.45;
/// Fewer characters are not informative.
const FEWEST_LETTERS: usize = 3;
/// With this many characters, a share fits after a name that is cut.
pub(super) const ROOM_FOR_SHARE: usize = 32;

/// The contents of a frame.
#[derive(Clone, Debug)]
pub(super) struct Frame<'n> {
    pub(super) name: &'n str,
    pub(super) binary: Option<&'n str>,
    pub(super) colour: Colour,
    /// The self weight of the frame.
    pub(super) own: u64,
    /// The weight that pruning hid on it.
    pub(super) hidden: u64,
    /// The weights before, in a picture that compares.
    pub(super) before: Option<Before>,
}

/// A frame in the first of two trees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) all: u64,
    pub(super) own: u64,
    /// The change of its all weight.
    pub(super) change: Change,
}

/// Writes frames, each as one element.
pub(super) struct FrameWriter {
    unit: Unit,
    /// The width of the root, in pixels.
    room: f64,
    /// The weight of the root, and its weight before.
    total: u64,
    before_total: u64,
    /// The number of levels where the root is at the bottom.
    levels_below: Option<u32>,
}

impl FrameWriter {
    /// A writer of these frames, of which the root is the first.
    pub(super) fn new(frames: &[Placed<Frame<'_>>], unit: Unit, room: f64, is_icicle: bool) -> Self {
        let root = frames.first();
        let before_total = root.and_then(|root| root.what.before).map_or(0, |before| before.all);
        let levels_below = (!is_icicle).then(|| levels(frames));
        Self { unit, room, total: root.map_or(0, |root| root.all), before_total, levels_below }
    }

    /// The number of bytes that a frame takes.
    pub(super) fn cost(&self, frame: &Placed<Frame<'_>>) -> usize {
        let mut bytes = Vec::new();
        // A vector takes everything.
        let _ = self.write(frame, &mut bytes);
        bytes.len()
    }

    /// Writes a frame; its place is within the group of all frames.
    pub(super) fn write(&self, frame: &Placed<Frame<'_>>, out: &mut dyn Write) -> io::Result<()> {
        let Frame { name, binary, colour, own, before, .. } = &frame.what;
        let (x, width) = (MARGIN + self.pixels(frame.start), self.width(frame));
        let rows_above = self.levels_below.map_or(frame.depth, |levels| levels - 1 - frame.depth);
        let y = ROW * f64::from(rows_above);
        write!(
            out,
            "<g data-depth=\"{}\" data-start=\"{}\" data-all=\"{}\" data-self=\"{own}\"",
            frame.depth, frame.start, frame.all
        )?;
        if let Some(before) = before {
            write!(out, " data-before-all=\"{}\" data-before-self=\"{}\"", before.all, before.own)?;
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
            let text = self.text(frame, room);
            write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", Pixels(x + PADDING), Pixels(y + 12.0), Text(&text))?;
        }
        writeln!(out, "</g>")
    }

    /// The first `room` characters of the name, and its share of the root if enough of the name is left.
    fn text(&self, frame: &Placed<Frame<'_>>, room: usize) -> String {
        let name = inert(frame.what.name);
        if frame.what.before.is_none() {
            let share = format!("  {:.2} %", percent(frame.all, self.total));
            if room >= (name.width() + share.width()).min(ROOM_FOR_SHARE) {
                return fitted(&name, room - share.width()) + &share;
            }
        }
        fitted(&name, room)
    }

    fn pixels(&self, weight: u64) -> f64 {
        if self.total == 0 { 0.0 } else { weight as f64 * self.room / self.total as f64 }
    }

    fn width(&self, frame: &Placed<Frame<'_>>) -> f64 {
        // A picture of nothing is its root.
        if self.total == 0 { self.room } else { self.pixels(frame.all) }
    }

    /// Writes the weights of a frame, in words.
    fn numbers(&self, frame: &Placed<Frame<'_>>, out: &mut dyn Write) -> io::Result<()> {
        let weighed =
            |weight: u64, total: u64| format!("{} ({:.2} %)", Weight::new(weight, self.unit), percent(weight, total));
        let (all, own) = (weighed(frame.all, self.total), weighed(frame.what.own, self.total));
        let Some(before) = frame.what.before else { return write!(out, "{all}, self {own}") };
        write!(
            out,
            "{}\nbefore {}, after {all}\nself before {}, after {own}",
            changed(before.change, self.unit),
            weighed(before.all, self.before_total),
            weighed(before.own, self.before_total)
        )
    }
}

/// A change in words, with the part of it that may be chance.
pub(super) fn changed(change: Change, unit: Unit) -> String {
    // A cast saturates.
    let [weight, noise] =
        [change.weight.abs(), change.noise].map(|weight| Weight::new(weight.round() as u64, unit).to_string());
    let sign = match change.weight {
        weight if weight > 0.0 => "+",
        weight if weight < 0.0 => "−",
        _ => "",
    };
    let verdict = if change.is_beyond_noise() { "beyond noise" } else { "within noise" };
    format!("change {sign}{weight}, {noise} by chance: {verdict}")
}

/// The number of levels of a picture, one at least.
pub(super) fn levels(frames: &[Placed<Frame<'_>>]) -> u32 {
    frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1)
}
