//! Selects the frames that fit into a file, and writes their elements.

use std::cmp::Reverse;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::colours::Colour;
use super::letters::{Pixels, fitted, letters};
use crate::calltree::percent;
use crate::output::flame_layout::{FlameBox, FlameLayout};
use crate::output::inert::{Text, inert};
use crate::report::diff::Change;
use crate::units::{Unit, Weight};

/// The frames that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// The number of frames.
    pub(super) frames: u64,
    /// The weight of the samples that end in them.
    pub(super) weight: u64,
    /// True if some of them were omitted to limit the size of the file.
    pub(super) is_cut: bool,
}

/// The frames of a picture with their positions.
#[derive(Debug)]
pub(super) struct Laid<T> {
    /// The frames in tree order, starting with the root.
    pub(super) frames: Vec<FlameBox<T>>,
    /// The frames that are not in the picture.
    pub(super) left_out: LeftOut,
}

impl<T> Laid<T> {
    /// Takes the frames of a layout, and records those that it omitted.
    pub(super) fn new(layout: FlameLayout<T>) -> Self {
        let (number, frames) = (layout.left_out(), layout.finish());
        let weight = frames.iter().fold(0_u64, |sum, frame| sum.saturating_add(frame.left_out));
        Self { frames, left_out: LeftOut { frames: number, weight, is_cut: false } }
    }

    /// Keeps the widest frames whose costs add up to at most `budget`. The root is always kept.
    pub(super) fn keep_within(&mut self, budget: usize, costs: &[usize]) {
        if costs.iter().sum::<usize>() <= budget {
            return;
        }
        let is_kept = widest(&self.frames, budget, costs);
        let (mut weight, mut above) = (0_u64, None);
        for (frame, &is_kept) in self.frames.iter().zip(&is_kept) {
            if is_kept {
                above = None;
                continue;
            }
            self.left_out.frames += 1;
            if above.is_none_or(|above| frame.depth <= above) {
                weight = weight.saturating_add(frame.all);
                above = Some(frame.depth);
            }
        }
        let mut is_kept = is_kept.into_iter();
        self.frames.retain(|_| is_kept.next().unwrap_or(true));
        // The weight of a dropped frame includes the frames below it.
        self.left_out.weight = self.frames.iter().fold(weight, |sum, frame| sum.saturating_add(frame.left_out));
        self.left_out.is_cut = true;
    }
}

/// By frame: whether it is among the widest frames whose costs fit into `budget`. A parent precedes its children and is at least as wide, so no frame
/// loses its parent.
fn widest<T>(frames: &[FlameBox<T>], budget: usize, costs: &[usize]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..frames.len()).collect();
    order.sort_by_key(|&index| (Reverse(frames[index].all), index));
    let mut is_kept = vec![false; frames.len()];
    let mut left = Some(budget);
    for index in order {
        left = left.and_then(|left| left.checked_sub(costs[index]));
        is_kept[index] = index == 0 || left.is_some();
    }
    is_kept
}

/// The margin around the frames.
pub(super) const MARGIN: f64 = 10.0;
/// The distance between levels. Frames are one pixel shorter, which leaves a gap.
pub(super) const ROW: f64 = 17.0;
/// The space between the edges of a frame and its text.
pub(super) const PADDING: f64 = 3.0;
/// Narrower frames have no outline, since it would cover them.
pub(super) const THIN: f64 = 2.5;
/// The largest width of a character on a frame, in the fonts that browsers use for `ui-monospace` and `monospace`.
const LETTER: f64 = 7.45;
/// Fewer characters are not informative.
const FEWEST_LETTERS: usize = 3;
/// With this many characters, a percentage fits after a shortened name.
pub(super) const ROOM_FOR_SHARE: usize = 32;

/// The contents of a frame.
#[derive(Clone, Debug)]
pub(super) struct Frame<'n> {
    pub(super) name: &'n str,
    pub(super) binary: Option<&'n str>,
    pub(super) colour: Colour,
    /// The self weight of the frame.
    pub(super) own: u64,
    /// The weight of its children that pruning hid.
    pub(super) hidden: u64,
    /// The weights before, in a comparison.
    pub(super) before: Option<Before>,
}

/// The weights of a frame in the first of two trees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) all: u64,
    pub(super) own: u64,
    /// The change in its total weight.
    pub(super) change: Change,
}

/// Writes frames, one element each.
pub(super) struct FrameWriter {
    unit: Unit,
    /// The width of the root in pixels.
    room: f64,
    /// The weight of the root after and before.
    total: u64,
    before_total: u64,
    /// The number of levels, if the root is at the bottom.
    levels_below: Option<u32>,
}

impl FrameWriter {
    /// Creates a writer for these frames, which start with the root.
    pub(super) fn new(frames: &[FlameBox<Frame<'_>>], unit: Unit, room: f64, is_icicle: bool) -> Self {
        let root = frames.first();
        let before_total = root.and_then(|root| root.what.before).map_or(0, |before| before.all);
        let levels_below = (!is_icicle).then(|| levels(frames));
        Self { unit, room, total: root.map_or(0, |root| root.all), before_total, levels_below }
    }

    /// The size of a frame's element in bytes.
    pub(super) fn cost(&self, frame: &FlameBox<Frame<'_>>) -> usize {
        let mut bytes = Vec::new();
        // Writing to a vector cannot fail.
        let _ = self.write(frame, &mut bytes);
        bytes.len()
    }

    /// Writes a frame. Its position is relative to the group of all frames.
    pub(super) fn write(&self, frame: &FlameBox<Frame<'_>>, out: &mut dyn Write) -> io::Result<()> {
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

    /// The name, cut to `room` characters, and the percentage of the root if enough of the name remains.
    fn text(&self, frame: &FlameBox<Frame<'_>>, room: usize) -> String {
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

    fn width(&self, frame: &FlameBox<Frame<'_>>) -> f64 {
        // If the total is zero, the root still fills the picture.
        if self.total == 0 { self.room } else { self.pixels(frame.all) }
    }

    /// Writes the weights of a frame as text.
    fn numbers(&self, frame: &FlameBox<Frame<'_>>, out: &mut dyn Write) -> io::Result<()> {
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

/// A change with its noise, as text.
pub(super) fn changed(change: Change, unit: Unit) -> String {
    // The cast saturates.
    let text = |weight: f64| Weight::new(weight.round() as u64, unit).to_string();
    let weight = text(change.weight.abs());
    let sign = match change.weight {
        weight if weight > 0.0 => "+",
        weight if weight < 0.0 => "−",
        _ => "",
    };
    if change.noise.is_infinite() {
        return format!("change {sign}{weight}, noise unknown");
    }
    let verdict = if change.is_beyond_noise() { "beyond noise" } else { "within noise" };
    format!("change {sign}{weight}, {} by sampling: {verdict}", text(change.noise))
}

/// The number of levels of a picture, at least 1.
pub(super) fn levels(frames: &[FlameBox<Frame<'_>>]) -> u32 {
    frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frame = (u32, &'static str, u64);

    fn layout(frames: &[Frame], narrowest: f64, budget: usize) -> (Vec<String>, (u64, u64, bool)) {
        let mut layout = FlameLayout::of_width(100.0, narrowest);
        for &(depth, name, all) in frames {
            layout.push(depth, all, || name);
        }
        let mut laid = Laid::new(layout);
        laid.keep_within(budget, &vec![1; laid.frames.len()]);
        let Laid { frames, left_out } = laid;
        assert!(frames.len() <= budget.max(1));
        let shown = frames.iter().map(|frame| format!("{}:{}@{}+{}", frame.depth, frame.what, frame.start, frame.all));
        (shown.collect(), (left_out.frames, left_out.weight, left_out.is_cut))
    }

    const TREE: [Frame; 7] =
        [(0, "all", 100), (1, "a", 60), (2, "b", 30), (2, "c", 20), (3, "d", 5), (1, "e", 30), (2, "f", 30)];

    #[test]
    fn places_frames_side_by_side_in_their_callers() {
        let (shown, left_out) = layout(&TREE, 0.0, 100);
        assert_eq!(shown, ["0:all@0+100", "1:a@0+60", "2:b@0+30", "2:c@30+20", "3:d@30+5", "1:e@60+30", "2:f@60+30"]);
        assert_eq!(left_out, (0, 0, false));
    }

    #[test]
    fn leaves_out_narrow_frames_with_their_children() {
        let (shown, left_out) = layout(&TREE, 25.0, 100);
        assert_eq!(shown, ["0:all@0+100", "1:a@0+60", "2:b@0+30", "1:e@60+30", "2:f@60+30"]);
        assert_eq!(left_out, (2, 20, false));
    }

    #[test]
    fn keeps_the_widest_frames_within_the_budget() {
        for (budget, names) in [(7, 7), (6, 6), (5, 5), (4, 4), (1, 1), (0, 1)] {
            let (shown, left_out) = layout(&TREE, 0.0, budget);
            assert_eq!((shown.len(), left_out.0, left_out.2), (names, 7 - names as u64, budget < 7));
        }
        // b, e and f are equally wide, so the first are kept.
        let (shown, left_out) = layout(&TREE, 0.0, 3);
        assert_eq!(shown, ["0:all@0+100", "1:a@0+60", "2:b@0+30"]);
        assert_eq!(left_out, (4, 50, true));
        assert_eq!(layout(&TREE, 0.0, 0).1, (6, 90, true));
        // The narrow frame is below a dropped frame, so its weight counts once.
        assert_eq!(layout(&TREE, 10.0, 1).1, (6, 90, true));
        assert_eq!(layout(&TREE, 25.0, 2).1, (5, 80, true));
    }

    #[test]
    fn what_does_not_fit_is_made_to() {
        // A child that skips levels, a child heavier than its parent, and a second root.
        let frames = [(0, "all", 10), (5, "a", 4), (2, "b", 9), (0, "c", 90)];
        assert_eq!(layout(&frames, 0.0, 100).0, ["0:all@0+10", "1:a@0+4", "2:b@0+4", "1:c@4+6"]);
        let nothing = [(0, "all", 0), (1, "a", 0)];
        assert_eq!(layout(&nothing, 0.1, 100), (vec!["0:all@0+0".to_owned()], (1, 0, false)));
        let huge = [(0, "all", u64::MAX), (1, "a", u64::MAX), (1, "b", 1)];
        assert_eq!(layout(&huge, 0.1, 100).1, (1, 0, false));
        assert_eq!(layout(&[], 0.1, 100), (vec![], (0, 0, false)));
    }
}
