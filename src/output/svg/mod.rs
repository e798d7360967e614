//! Flame graphs: a tree as one interactive SVG file, for people.
//!
//! ```text
//! ┌ all ───────────────────────────┐
//! ┌ main ────────────────────┐         a frame's width is its total weight; it is drawn below its caller
//! ┌ fast ────────┐┌ … ┐
//! ┌ copy ────┐┌ slow ┐
//! ```
//!
//! The file needs no network access and no other file. Without its script (in an `<img>`) it is a complete picture; the script fits it to the
//! window, zooms and searches. Input only appears as escaped text in elements, never in the script. Frames that are too narrow to see are
//! omitted, and the picture shows their number and weight.
//!
//! [`write()`] draws the trees of a report, [`write_tree`] draws any tree, and [`write_differential`] draws the change between two trees.

mod colours;
mod differential;
mod frames;
mod letters;
mod page;
mod trees;

pub use colours::ColourBy;
use frames::{Frame, LeftOut};
pub use page::FlameGraphOptions;
pub use trees::FlameNode;
pub(crate) use trees::write;

use super::flame_layout::FlameBox;
use crate::calltree::percent;
use crate::settings::MIN_PERCENT;
use crate::units::{Unit, Weight};

/// The name of the measure with this unit, for a title.
fn measured(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "CPU time",
        Unit::Cycles => "CPU cycles",
        Unit::PmcEvents => "Counter events",
        Unit::Samples => "Samples",
        Unit::Elapsed => "Elapsed time",
        Unit::Bytes => "Bytes",
        Unit::HangTime => "Hang time",
        Unit::LaunchTime => "Launch time",
        Unit::ExceptionTime => "CPU time of exceptions",
        Unit::WrittenBytes => "Bytes written",
        Unit::DayTime => "CPU time",
        Unit::HitchTime => "Hitch time",
        Unit::PeakBytes => "Peak memory",
        Unit::Exits => "Exits",
    }
}

impl FlameGraphOptions {
    /// Sentences about the parts of a tree that are not in the picture.
    fn left_out_lines(&self, frames: &[FlameBox<Frame<'_>>], left_out: LeftOut, unit: Unit) -> Vec<String> {
        let total = frames.first().map_or(0, |root| root.all);
        let weighed = |weight: u64| format!("{} ({:.2} %)", Weight::new(weight, unit), percent(weight, total));
        let mut lines = Vec::new();
        if left_out.frames > 0 {
            let (number, are, them) = match left_out.frames {
                1 => ("1 frame".to_owned(), "is", "it"),
                more => (format!("{more} frames"), "are", "them"),
            };
            let why = match self.narrowest {
                _ if left_out.is_cut => format!("{number}, the narrowest, {are} left out to keep the file small"),
                1.0 => format!("{number} narrower than a pixel {are} not drawn"),
                narrowest if narrowest > 0.0 => format!("{number} narrower than {narrowest} pixels {are} not drawn"),
                _ => format!("{number} without weight {are} not drawn"),
            };
            let weight = weighed(left_out.weight);
            let all = if left_out.weight > 0 { format!("; {MIN_PERCENT} 0 draws all") } else { String::new() };
            lines.push(format!("{why}: {weight} ends in {them}{all}."));
        }
        let hidden = frames.iter().fold(0_u64, |sum, frame| sum.saturating_add(frame.what.hidden));
        if hidden > 0 {
            lines.push(format!("{} ends in frames hidden by the limits that you set.", weighed(hidden)));
        }
        lines
    }
}
