//! `traceparse diff`: the changes between two recordings.

mod compare;
mod plan;

pub(crate) use compare::show;
pub(crate) use plan::DiffArgs;
