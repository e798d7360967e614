//! Fleets in object stores: URLs among the arguments become files and folders of the mirror, before anything else looks at them.

use std::path::PathBuf;

use anyhow::Result;

use super::cli::{FleetAction, InputArgs};
use crate::objects::{Target, local};

/// Puts the paths of copies in the place of URLs. Returns the place of a dataset that is to be put back.
///
/// # Errors
/// When a URL has no objects, or its store cannot be reached.
pub(super) fn mirror(action: &mut FleetAction) -> Result<Option<Target>> {
    match action {
        FleetAction::Report(args) => mirror_inputs(&mut args.inputs).map(|()| None),
        FleetAction::Tree(args) => mirror_inputs(&mut args.inputs).map(|()| None),
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
        FleetAction::Sql(args) => {
            args.source.iter_mut().try_for_each(mirrored)?;
            if let Some(dataset) = &mut args.dataset {
                *dataset = local(dataset.as_ref())?.display().to_string();
            }
            Ok(None)
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
