//! Fleets in object stores: replaces URLs among the arguments by files and folders of the mirror, before they are used.

use std::path::PathBuf;

use anyhow::Result;

use super::arguments::InputArgs;
use super::cli::FleetAction;
use crate::objects::{Target, local};

/// Replaces URLs by local paths. Returns the destination of a dataset that must be uploaded.
///
/// # Errors
/// If a URL has no objects, or its store cannot be reached.
pub(super) fn mirror(action: &mut FleetAction) -> Result<Option<Target>> {
    match action {
        FleetAction::Report(args) => mirror_inputs(&mut args.runs.inputs).map(|()| None),
        FleetAction::Tree(args) => mirror_inputs(&mut args.runs.inputs).map(|()| None),
        FleetAction::Intervals(args) => mirror_inputs(&mut args.inputs).map(|()| None),
        FleetAction::Extract(args) => {
            mirror_inputs(&mut args.inputs)?;
            args.part.root.iter_mut().try_for_each(mirrored)?;
            Target::open(&mut args.output)
        }
        FleetAction::Merge(args) => {
            args.inputs.iter_mut().try_for_each(mirrored)?;
            Target::open(&mut args.output)
        }
    }
}

pub(super) fn mirror_inputs(inputs: &mut InputArgs) -> Result<()> {
    inputs.inputs.iter_mut().chain(&mut inputs.manifest).chain(&mut inputs.files_from).try_for_each(mirrored)
}

fn mirrored(path: &mut PathBuf) -> Result<()> {
    *path = local(path)?;
    Ok(())
}
