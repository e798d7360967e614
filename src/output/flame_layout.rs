//! The places of the boxes of a flame graph, each next to the box before it on the same caller and as wide as it weighs.
//!
//! ```text
//! ┌ main ─────────────┐
//! ┌ fast ─────┐       start of fast = 0, copy's = 0 … in weight from the left edge of the picture
//! ┌ copy ┐┌ slow ┐
//! ```
//!
//! Places are weights, in integers: they become pixels when the picture is drawn, and again when it is zoomed. SVG files and the
//! interactive page have the same boxes.

use std::ops::RangeInclusive;

/// A box that is drawn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlameBox<T> {
    /// Levels above it; the root has 0.
    pub depth: u32,
    /// The weight between the left edge of the picture and the box.
    pub start: u64,
    /// The all weight of the box, which is its width.
    pub all: u64,
    /// The thing drawn.
    pub what: T,
    /// The weight of the boxes on it that are too narrow.
    pub(super) left_out: u64,
}

/// A box that may get more children.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The index of the box.
    at: usize,
    /// The start of the next one on it.
    next: u64,
    /// The end of the box.
    end: u64,
}

/// Boxes on their way into a picture, in the order a tree is read: each parent right before its children.
#[derive(Debug)]
pub struct FlameLayout<T> {
    /// Boxes that weigh less are left out.
    least: Least,
    /// Boxes outside this part of the picture are left out.
    part: RangeInclusive<f64>,
    boxes: Vec<FlameBox<T>>,
    /// The last box, below its parents.
    open: Vec<Open>,
    /// Deeper boxes are below a box that is left out.
    left_out_at: Option<u32>,
    left_out: u64,
}

/// The least weight that is drawn.
#[derive(Clone, Copy, Debug)]
enum Least {
    Weight(u64),
    /// The narrowest box, and the width of the root, in pixels.
    Pixels(f64, f64),
}

impl<T> FlameLayout<T> {
    fn new(least: Least, part: RangeInclusive<f64>) -> Self {
        Self { least, part, boxes: Vec::new(), open: Vec::new(), left_out_at: None, left_out: 0 }
    }

    /// An empty picture of boxes that weigh at least `least`, and are in this part of the picture.
    pub fn of_part(least: f64, part: RangeInclusive<f64>) -> Self {
        // A cast saturates.
        Self::new(Least::Weight(least.ceil() as u64), part)
    }

    /// An empty picture of `width` pixels, in which boxes narrower than `narrowest` pixels are left out.
    pub(super) fn of_width(width: f64, narrowest: f64) -> Self {
        Self::new(Least::Pixels(narrowest, width), 0.0..=f64::INFINITY)
    }

    /// Adds a box. `what` is called only if the box is drawn. The first box is the root, which is always drawn.
    ///
    /// A depth without a parent, or a weight that exceeds the rest of the parent, is corrected.
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

    /// Boxes without weight have no width.
    fn least(&self) -> u64 {
        match self.least {
            Least::Weight(least) => least,
            Least::Pixels(narrowest, width) => {
                let total = self.boxes.first().map_or(0, |root| root.all);
                // A cast saturates.
                ((total as f64 * narrowest / width).ceil() as u64).max(1)
            }
        }
    }

    /// Returns the boxes in the order in which they came.
    pub fn finish(self) -> Vec<FlameBox<T>> {
        self.boxes
    }

    /// Returns the number of boxes that are left out.
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
        // Boxes that touch the part are in it.
        assert_eq!(shown(0.0, 65.5..=90.0), "all@0 d@60 e@60 f@90");
        assert_eq!(shown(0.0, 31.0..=50.0), "all@0 a@0 c@30");
        assert_eq!(shown(20.5, 31.0..=60.0), "all@0 a@0 d@60 e@60");
    }
}
