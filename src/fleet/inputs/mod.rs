//! The inputs of a fleet: files, folders, patterns and lists become tasks, and a shard takes its part of them.
//!
//! ```text
//! inputs ─► found, each once ─► paired with tables of contents and intervals ─► tasks ─► those of a shard
//! ```

mod file_list;
mod file_names;
mod find;
mod folders;
mod input_list;
mod shard;
mod task;

pub(crate) use file_names::{is_export_name, is_recording_name};
pub use find::{FleetInputs, InputRequest};
pub use shard::{Shard, ShardRequest};
pub use task::Task;
pub(crate) use task::{Counting, content, duplicate_reason};
