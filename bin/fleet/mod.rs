//! `traceparse fleet`: measures and compares many recordings.
//!
//! The library does the work (`traceparse::fleet`); the command is its host (host.rs).

mod arguments;
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
mod report_plan;
mod tree;
mod tree_args;
mod trend;
mod with_runs;

use crate::objects::Target;
use crate::{EXIT_DONE, Failure};
use cli::FleetAction;

pub(crate) use cli::FleetCommand;
pub(crate) use compare::{CompareArgs, show as compare};
pub(crate) use trend::{TrendArgs, show as trend};

/// Runs the subcommand, and returns the exit code.
pub(crate) fn run(mut command: FleetCommand) -> Result<u8, Failure> {
    let target = remote::mirror(&mut command.action)?;
    let result = answer(command);
    // Upload even if the extract failed, since it kept a part of its work.
    let put = target.map_or(Ok(()), Target::finish);
    let code = result?;
    put?;
    Ok(code)
}

fn answer(command: FleetCommand) -> Result<u8, Failure> {
    match command.action {
        FleetAction::Report(args) => report::show(*args),
        FleetAction::Tree(args) => tree::show(*args).map(|()| EXIT_DONE),
        FleetAction::Intervals(args) => intervals::show(*args),
        FleetAction::Extract(args) => extract::extract(&args),
        FleetAction::Merge(args) => extract::merge(&args),
    }
}
