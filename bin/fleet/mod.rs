//! `traceparse fleet`: many exports, measured and compared.
//!
//! The library does the work (`traceparse::fleet`); the command is its host (host.rs).

mod cli;
mod compare;
mod compare_page;
mod extract;
mod filters;
mod help;
mod host;
mod intervals;
mod reading;
mod remote;
mod report;
mod sql;
mod tree;
mod tree_args;
mod trend;
mod with_runs;

use crate::objects::Target;
use crate::sink::Colour;
use crate::{EXIT_DONE, Failure};
use cli::FleetAction;

pub(crate) use cli::FleetCommand;
pub(crate) use compare::{CompareArgs, show as compare};
pub(crate) use trend::{TrendArgs, show as trend};

/// Runs the subcommand, and returns the exit code of the process.
pub(crate) fn run(command: &mut FleetCommand, colour: Colour) -> Result<u8, Failure> {
    let target = remote::mirror(&mut command.action)?;
    let result = answer(command, colour);
    // A failed extract also uploads what it kept.
    let put = target.map_or(Ok(()), Target::finish);
    let code = result?;
    put?;
    Ok(code)
}

fn answer(command: &FleetCommand, colour: Colour) -> Result<u8, Failure> {
    match &command.action {
        FleetAction::Report(args) => report::show(args, colour),
        FleetAction::Tree(args) => tree::show(args, colour).map(|()| EXIT_DONE),
        FleetAction::Intervals(args) => intervals::show(args, colour),
        FleetAction::Extract(args) => extract::extract(args),
        FleetAction::Merge(args) => extract::merge(args),
        FleetAction::Sql(args) => sql::show(args).map(|()| EXIT_DONE),
    }
}
