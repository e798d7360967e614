//! `traceparse table`: the rows of any table.

mod arguments;
mod rows;

pub(crate) use arguments::TableArgs;
pub(crate) use rows::show_rows;
