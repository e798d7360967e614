//! The layout of flame graph boxes. Each box is next to the previous box with the same caller, and its width is its weight.
//!
//! ```text
//! ┌ main ─────────────┐
//! ┌ fast ─────┐       the start of fast is 0, of copy 0 … in weight from the left edge of the picture
//! ┌ copy ┐┌ slow ┐
//! ```
//!
//! Positions are integer weights. They are converted to pixels when the picture is drawn, and again when it is zoomed. SVG files and the interactive
//! page use the same layout.

use std::ops::RangeInclusive;

/// A box to draw.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlameBox<T> {
    /// The number of levels above it; 0 for the root.
    pub depth: u32,
    /// The weight between the left edge of the picture and the box.
    pub start: u64,
    /// The total weight of the box, which is its width.
    pub all: u64,
    /// The item that the box represents.
    pub what: T,
    /// The total weight of its children that are too narrow to draw.
    pub(super) left_out: u64,
}

/// A box that may still get children.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The index of the box.
    at: usize,
    /// The start of its next child.
    next: u64,
    /// The end of the box.
    end: u64,
}

/// Collects the boxes of a picture. They come in tree order, with each parent before its children.
#[derive(Debug)]
pub struct FlameLayout<T> {
    /// Lighter boxes are left out.
    least: Least,
    /// Boxes outside of this part of the picture are omitted.
    part: RangeInclusive<f64>,
    boxes: Vec<FlameBox<T>>,
    /// The last box and its parents, root first.
    open: Vec<Open>,
    /// The depth of the last omitted box. Deeper boxes after it are its descendants.
    left_out_at: Option<u32>,
    left_out: u64,
}

/// The minimum size of a box.
#[derive(Clone, Copy, Debug)]
enum Least {
    Weight(u64),
    /// The minimum width of a box and the width of the root, in pixels.
    Pixels(f64, f64),
}

impl<T> FlameLayout<T> {
    fn new(least: Least, part: RangeInclusive<f64>) -> Self {
        Self { least, part, boxes: Vec::new(), open: Vec::new(), left_out_at: None, left_out: 0 }
    }

    /// Creates a layout for boxes that weigh at least `least` and overlap this part of the picture.
    pub fn of_part(least: f64, part: RangeInclusive<f64>) -> Self {
        // The cast saturates.
        Self::new(Least::Weight(least.ceil() as u64), part)
    }

    /// Creates a layout for a picture `width` pixels wide, without boxes narrower than `narrowest` pixels.
    pub(super) fn of_width(width: f64, narrowest: f64) -> Self {
        Self::new(Least::Pixels(narrowest, width), 0.0..=f64::INFINITY)
    }

    /// Adds a box. `what` is called only if the box is drawn. The first box is the root, which is always drawn.
    ///
    /// A depth without a parent is corrected, and so is a weight that exceeds the remaining weight of the parent.
    pub fn push(&mut self, depth: u32, all: u64, what: impl FnOnce() -> T) {
        if self.boxes.is_empty() {
            return self.place(0, 0, all, what());
        }
        if self.left_out_at.is_some_and(|above| depth > above) {
            self.left_out += 1;
            return;
        }
        self.left_out_at = None;
        let least = self.least();
        let depth = depth.clamp(1, self.open.len() as u32);
        self.open.truncate(depth as usize);
        let Some(below) = self.open.last_mut() else { return };
        let (start, all) = (below.next, all.min(below.end - below.next));
        below.next += all;
        let is_in_part = below.next as f64 >= *self.part.start() && start as f64 <= *self.part.end();
        if all < least || !is_in_part {
            self.boxes[below.at].left_out += all;
            self.left_out += 1;
            self.left_out_at = Some(depth);
        } else {
            self.place(depth, start, all, what());
        }
    }

    fn place(&mut self, depth: u32, start: u64, all: u64, what: T) {
        self.open.push(Open { at: self.boxes.len(), next: start, end: start + all });
        self.boxes.push(FlameBox { depth, start, all, what, left_out: 0 });
    }

    /// At least 1, since boxes without weight have no width.
    fn least(&self) -> u64 {
        match self.least {
            Least::Weight(least) => least,
            Least::Pixels(narrowest, width) => {
                let total = self.boxes.first().map_or(0, |root| root.all);
                // The cast saturates.
                ((total as f64 * narrowest / width).ceil() as u64).max(1)
            }
        }
    }

    /// Returns the boxes in the order in which they were added.
    pub fn finish(self) -> Vec<FlameBox<T>> {
        self.boxes
    }

    /// Returns the total weight of the omitted boxes.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_boxes_outside_a_part_with_their_children() {
        let tree =
            [(0, "all", 100), (1, "a", 60), (2, "b", 30), (2, "c", 20), (1, "d", 30), (2, "e", 30), (1, "f", 10)];
        let shown = |least: f64, part: RangeInclusive<f64>| {
            let mut layout = FlameLayout::of_part(least, part);
            tree.iter().for_each(|&(depth, name, all)| layout.push(depth, all, || name));
            layout.finish().iter().map(|shown| format!("{}@{}", shown.what, shown.start)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(0.0, 0.0..=100.0), "all@0 a@0 b@0 c@30 d@60 e@60 f@90");
        // Boxes that touch the part are included.
        assert_eq!(shown(0.0, 65.5..=90.0), "all@0 d@60 e@60 f@90");
        assert_eq!(shown(0.0, 31.0..=50.0), "all@0 a@0 c@30");
        assert_eq!(shown(20.5, 31.0..=60.0), "all@0 a@0 d@60 e@60");
    }
}
