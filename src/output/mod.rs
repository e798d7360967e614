//! Writers: one format a module, each from a finished [`Report`](crate::report::Report) to `&mut dyn Write`.
//!
//! | format | what for | views |
//! |---|---|---|
//! | [`text`] | people | all |
//! | [`json`] | programs; documented field by field in `docs/formats.md`, versioned | all |
//! | [`csv`] | tables | all but the overview |
//! | [`folded`] | flame graphs (inferno, speedscope) | the tree |

pub mod csv;
pub mod folded;
pub mod json;
mod labels;
pub mod text;

pub use labels::{NO_STACK, escape_folded};

/// What of a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Summary, threads, and the heaviest call tree of each thread.
    #[default]
    Overview,
    /// Inputs, tables and their rows, totals, and what was left out.
    Summary,
    /// The threads with their weights.
    Threads,
    /// The call tree of each thread.
    Tree,
    /// The functions over all threads.
    Functions,
    /// The samples, one a row of the input, in its order.
    Samples,
}
