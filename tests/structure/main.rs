//! The code itself, parsed as Rust: which modules may use which, the items that other crates can name, the files that prose names, and that
//! the library names no option of the command.

mod floors;
mod once;
mod options;
mod prose;
mod public_items;
mod rust_sources;
