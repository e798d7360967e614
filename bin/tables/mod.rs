//! `traceparse tables` and `traceparse table`: every table of a recording, and its rows.

mod arguments;
mod list;
mod rows;

pub(crate) use arguments::{TableArgs, TablesArgs};
pub(crate) use list::list_tables;
pub(crate) use rows::show_rows;
