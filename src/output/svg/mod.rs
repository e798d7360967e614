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
//! narrow to be seen are left out, and the picture shows how much weight ends in them.
//!
//! [`write()`] draws the trees of a report, [`write_tree`] any tree, and [`write_differential`] two trees as one.

mod colours;
mod differential;
mod layout;
mod options;
mod page;
mod trees;

pub use colours::ColourBy;
pub use options::FlameGraphOptions;
pub use trees::FlameNode;
pub(crate) use trees::write;

use layout::{LeftOut, Placed};
use page::Frame;

use crate::calltree::percent;
use crate::units::{Unit, Weight};

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
