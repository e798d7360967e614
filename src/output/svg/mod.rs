//! Flame graphs: a tree as one interactive SVG file, for people.
//!
//! ```text
//! ┌ copy ────┐┌ slow ┐         a frame is as wide as its all weight, and stands on its caller
//! ┌ fast ────────┐┌ … ┐
//! ┌ main ────────────────────┐
//! ┌ all ───────────────────────────┐
//! ```
//!
//! The file needs no network and no other file. Without its script (in an `<img>`, in print) it is a complete picture; the script zooms,
//! searches and fits texts anew. Everything that comes from input is text of elements, escaped; nothing of it is in the script. Frames too
//! narrow to be seen are left out, and the picture says how much ends in them.
//!
//! [`write()`] draws the trees of a report, [`write_tree`] any tree, and [`write_differential`] two trees as one.

mod colours;
mod differential;
mod layout;
mod page;
mod trees;

pub use colours::ColourBy;
pub use differential::{DifferentialNode, write_differential};
pub use trees::{FlameNode, NodeKind, write, write_tree};

use layout::{LeftOut, Placed};
use page::{Frame, MARGIN};

use crate::calltree::percent;
use crate::units::{Unit, Weight};

/// The look of a flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameGraphOptions {
    /// The width of the picture, in pixels; less than 400 is taken as 400. 1200 by default.
    pub width: u32,
    /// The meaning of the colours. A picture that compares has colours of its own.
    pub colour_by: ColourBy,
    /// True for an icicle graph: the root is at the top and callees hang below their callers. By default the root is at the bottom.
    pub is_icicle: bool,
    /// The title; `None` for one that names the measure.
    pub title: Option<String>,
    /// The text below the title, in one sentence; `None` for a description of the measurement, as far as it is known.
    pub subtitle: Option<String>,
    /// Frames narrower than this are left out, in pixels; 0.1 by default. Frames without weight are never drawn.
    pub narrowest: f64,
    /// About how many bytes the frames may take; 8 MiB by default. The narrowest frames are left out beyond that.
    pub max_bytes: usize,
}

impl Default for FlameGraphOptions {
    fn default() -> Self {
        Self {
            width: 1200,
            colour_by: ColourBy::default(),
            is_icicle: false,
            title: None,
            subtitle: None,
            narrowest: 0.1,
            max_bytes: 8 << 20,
        }
    }
}

impl FlameGraphOptions {
    fn width(&self) -> f64 {
        f64::from(self.width.max(400))
    }

    /// The width of the root in pixels.
    fn room(&self) -> f64 {
        self.width() - 2.0 * MARGIN
    }
}

/// The measure that weights of a unit give, as a title.
fn measured(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "CPU time",
        Unit::Cycles => "CPU cycles",
        Unit::PmcEvents => "Counter events",
        Unit::Samples => "Samples",
    }
}

/// The parts of a tree that are not in the picture, as sentences.
fn left_out_lines(frames: &[Placed<Frame<'_>>], left_out: LeftOut, is_cut: bool, unit: Unit) -> Vec<String> {
    let total = frames.first().map_or(0, |root| root.all);
    let weighed = |weight: u64| format!("{} ({:.2} %)", Weight::new(weight, unit), percent(weight, total));
    let mut lines = Vec::new();
    if left_out.frames > 0 {
        let (number, are) = if left_out.frames == 1 {
            ("1 frame".to_owned(), "is")
        } else {
            (format!("{} frames", left_out.frames), "are")
        };
        let why = if is_cut { "among the narrowest" } else { "too narrow" };
        lines.push(format!("{number} {are} {why} to be drawn; {} ends there.", weighed(left_out.weight)));
    }
    let hidden = frames.iter().fold(0_u64, |sum, frame| sum.saturating_add(frame.what.hidden));
    if hidden > 0 {
        lines.push(format!("{} ends in frames hidden by the limits that were asked for.", weighed(hidden)));
    }
    lines
}
