//! Reads recordings of Apple's Instruments, as `xcrun xctrace export` writes them, on any machine.
//!
//! ```text
//! bytes ─► export ─► profile ─► calltree ─► report ─► output ─► bytes
//! ```
//!
//! Each name is a module. [`export`] reads XML into a [`profile::Profile`] and accounts for every row; [`calltree`]
//! merges the stacks of its samples; [`report`] puts answers together; [`output`] writes them.
//!
//! # Features
//!
//! Features only add. `cli` (default) builds the command, and turns on `compression`
//! (`export::decompress`, gzip and zstd). The library alone is `default-features = false`.

pub mod calltree;
pub mod error;
pub mod export;
pub mod output;
pub mod profile;
pub mod report;
pub mod units;

pub use error::{Diagnostic, Error, ErrorKind, Position};
