//! `traceparse fleet`: many exports, measured and compared.
//!
//! ```text
//! inputs (files, folders, patterns, manifests) ─► batch ─┬─► FleetBuilder ─► report
//!                                                        └─► dataset ─► FleetBuilder ─► report
//! ```

mod alerts;
mod batch;
mod beside;
mod cli;
mod content;
mod control;
mod copies;
mod duplicates;
mod extract;
mod extraction;
mod failure;
mod file_list;
mod filters;
mod fingerprint;
mod fleet_input;
mod hashed_files;
mod help;
mod inputs;
mod intervals;
mod manifest;
mod measuring;
mod merge;
mod names;
mod narrowed;
mod notes;
mod outcome;
mod part;
mod read_file;
mod redaction;
mod remote;
mod report;
mod settings;
mod shard;
mod sql;
mod store;
mod symbols;
mod task;
mod union;
mod walk;
mod with_runs;

use crate::colour::Colour;
use crate::objects::Target;
use crate::{EXIT_DONE, Failure};
use cli::FleetAction;

pub(crate) use cli::FleetCommand;
#[cfg(feature = "object-store")]
pub(crate) use store::{MANIFEST, NamedFiles, OWED, STAMPS};

/// Does what was asked, and says with which exit code the process ends.
pub(crate) fn run(command: &mut FleetCommand, colour: Colour) -> Result<u8, Failure> {
    let target = remote::mirror(&mut command.action)?;
    let result = answer(command, colour);
    // What was kept of an extract that failed is kept there, too.
    let put = target.map_or(Ok(()), Target::finish);
    let code = result?;
    put?;
    Ok(code)
}

fn answer(command: &FleetCommand, colour: Colour) -> Result<u8, Failure> {
    match &command.action {
        FleetAction::Report(args) => report::show(args, colour),
        FleetAction::Extract(args) => extract::extract(args),
        FleetAction::Merge(args) => merge::merge(args),
        FleetAction::Sql(args) => sql::show(args).map(|()| EXIT_DONE),
    }
}
