//! Datasets before version 4, which had no list of files: a data file was there where its file in `runs` was.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeSet, HashMap};

use anyhow::{Result, bail};
use serde_json::Value;
use traceparse::fleet::{Completeness, DatasetTable, KnownRun};

use super::folder::{Folder, remove_file};
use super::journal::Journal;
use super::manifest::Manifest;
use super::measured::measure_file;

/// There while an extract had not come to its end.
const UNFINISHED: &str = "unfinished.json";

/// The ids of the data files, sorted.
pub(super) fn ids(folder: &Folder) -> Result<BTreeSet<String>> {
    folder.ids_in(DatasetTable::Runs)
}

/// The state of the last extract, as far as such a dataset knows it.
pub(super) fn completeness(folder: &Folder) -> Completeness {
    let text = crate::bounds::read_file(folder.path.join(UNFINISHED), crate::bounds::OWN_FILE);
    let value = text.ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match value {
        Some(value) => Completeness {
            is_complete: Some(false),
            inputs_expected: value["files"].as_u64(),
            inputs_done: value["done"].as_u64(),
        },
        None => Completeness::default(),
    }
}

/// Checks that no run is in two data files, as where two datasets were copied into one folder.
///
/// # Errors
/// Names two files that have a run.
pub(super) fn check_once(folder: &Folder) -> Result<()> {
    let mut files: HashMap<String, String> = HashMap::new();
    for id in ids(folder)? {
        let runs = KnownRun::all(folder.open_table(DatasetTable::Runs, &id)?);
        for run in runs.map_err(|error| folder.name_file(&id, error))?.into_iter().filter(|run| !run.is_failed) {
            match files.entry(run.run_id.unwrap_or_default()) {
                Vacant(place) => drop(place.insert(id.clone())),
                Occupied(first) => {
                    let [first, second] = [first.get(), &id].map(|id| folder.file(DatasetTable::Runs, id));
                    bail!(
                        "{} and {} have the same run, which would count twice: two datasets in one folder? Move the files of one of them to \
                         another folder",
                        first.display(),
                        second.display()
                    );
                }
            }
        }
    }
    Ok(())
}

/// Makes a dataset of such a version one of the newest, with all files that are there.
pub(super) fn adopt(folder: &Folder, manifest: &mut Manifest) -> Result<()> {
    Journal::recover(folder)?;
    folder.remove_unfinished()?;
    remove_incomplete(folder)?;
    check_once(folder)?;
    for id in ids(folder)? {
        let file = measure_file(folder, &id)?;
        manifest.files.insert(id, file);
    }
    manifest.inputs = completeness(folder);
    manifest.raise_version();
    Ok(())
}

/// Removes what the manifest replaces.
pub(super) fn forget(folder: &Folder) -> Result<()> {
    remove_file(&folder.path.join(UNFINISHED))
}

/// Removes data files of which a table is missing, so that their runs are extracted again, and tables of no run.
fn remove_incomplete(folder: &Folder) -> Result<()> {
    let runs = ids(folder)?;
    for table in DatasetTable::ALL {
        runs.difference(&folder.ids_in(table)?).try_for_each(|id| folder.remove(id))?;
    }
    let runs = ids(folder)?;
    for table in DatasetTable::ALL {
        folder.ids_in(table)?.difference(&runs).try_for_each(|id| remove_file(&folder.file(table, id)))?;
    }
    Ok(())
}
