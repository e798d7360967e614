//! The code itself, parsed as Rust: which modules may use which, and the items that other crates can name.

mod floors;
mod public_items;
mod rust_sources;
