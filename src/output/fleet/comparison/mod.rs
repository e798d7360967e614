//! Writers of a comparison of two groups of runs.
//!
//! Text is in `text::comparison`, beside the text of fleets, whose tables it has.

pub(in crate::output) mod csv;
pub(in crate::output) mod json;
pub(in crate::output) mod junit;
pub(in crate::output) mod markdown;
#[cfg(feature = "compression")]
pub(in crate::output) mod page;
pub(super) mod sentences;
