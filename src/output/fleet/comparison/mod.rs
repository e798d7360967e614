//! Writers for a comparison of two groups of runs.
//!
//! The text writer is in `text::comparison`, since it shares its tables with the text of fleets.

pub(in crate::output) mod csv;
pub(in crate::output) mod json;
pub(in crate::output) mod junit;
pub(in crate::output) mod markdown;
#[cfg(feature = "compression")]
pub(in crate::output) mod page;
pub(super) mod sentences;
