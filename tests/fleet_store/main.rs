//! Datasets on disk. Everything that was stored is read back, regardless of earlier content and of kills at any step; and anything changed,
//! missing or copied from elsewhere is never used.

mod changes;
mod content;
mod extracts;
mod integrity;
mod killed;
mod merge;
mod program;
mod use_of;

use support::runs;
