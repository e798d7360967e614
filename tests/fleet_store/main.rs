//! A dataset on disk: what is put in comes out, whatever was put before, and whenever the process was killed; and what was changed, is missing,
//! or came from elsewhere is never counted.
#![cfg(feature = "dataset")]

mod changes;
mod content;
mod extracts;
mod integrity;
mod killed;
mod merge;
mod program;
mod use_of;

use support::runs;
