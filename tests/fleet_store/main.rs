//! A dataset on disk: what is put in comes out, whatever was put before, and whenever the process was killed; and what was changed, is missing,
//! or came from elsewhere is never counted.
#![cfg(feature = "cli")]

// The store reads its files by it; the rest is the command's.
#[allow(dead_code)]
#[path = "../../bin/bounds.rs"]
mod bounds;
mod changes;
mod content;
#[path = "../../bin/durable.rs"]
mod durable;
mod extracts;
// Which the store asks before each change.
#[allow(dead_code)]
#[path = "../../bin/guard.rs"]
mod guard;
mod integrity;
mod killed;
mod merge;
// Other tests use the rest.
#[allow(dead_code)]
#[path = "../../bin/fleet/store/mod.rs"]
mod store;
mod use_of;

use support::runs;
