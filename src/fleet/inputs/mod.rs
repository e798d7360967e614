//! The inputs of a fleet: files, folders, patterns and lists become tasks, of which a shard takes its part.
//!
//! ```text
//! inputs ─► found, each once ─► paired with tables of contents and intervals ─► tasks ─► tasks of a shard
//! ```

mod find;
mod folders;
mod input_list;
mod shard;
mod task;

pub use find::{FleetInputs, InputRequest};
pub use shard::{Shard, ShardRequest};
pub use task::Task;
