//! Combines the datasets of a report or a merge, and merges them into a new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plan::{Named, Plan, Rows};
use super::whole::{self, Lack, incomplete};
use crate::fleet::error::{FleetError, Result, bail};
use crate::fleet::host::FleetHost;
use crate::fleet::store::{MadeWith, MergedFacts, Shards, Store};
use crate::fleet::{Completeness, DatasetRow, DatasetRun, FailedInput, FleetSelection};
use crate::readers::names::{is_export_name, is_recording_name};
use crate::settings::ALLOW_INCOMPLETE;
use crate::units::{counted, several};

/// One dataset, or several that are read as one.
pub struct Datasets {
    all: Vec<Named>,
    /// `None` for a single dataset, which is read unchanged.
    plan: Option<Plan>,
    shards: Option<Shards>,
}

impl Datasets {
    /// Returns the datasets at a path: the dataset itself, or the datasets in a folder that contains no other folders or recordings. Empty for
    /// all other inputs.
    pub fn at(host: &dyn FleetHost, path: &Path) -> Vec<PathBuf> {
        let (storage, files) = (host.storage(), host.files());
        if Store::is_dataset(storage, path) {
            return vec![path.to_owned()];
        }
        let Ok(paths) = files.list(path) else { return Vec::new() };
        // Engines write files such as `_SUCCESS`.
        let is_own = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| [b".", b"_"].iter().any(|sign| name.as_encoded_bytes().starts_with(*sign)))
        };
        let paths = paths.into_iter().filter(|path| !is_own(path));
        let (mut paths, others): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| host.is_folder(path));
        let is_fleet = others.iter().any(|path| is_export_name(path) || is_recording_name(path));
        // An unfinished dataset without a manifest also counts. Opening it reports the problem.
        let is_part = |path: &PathBuf| Store::is_dataset(storage, path) || Store::is_begun(storage, path);
        if is_fleet || !paths.iter().all(is_part) || !paths.iter().any(|path| Store::is_dataset(storage, path)) {
            return Vec::new();
        }
        paths.sort();
        // Skip links to datasets that are already in the list.
        let mut known = BTreeSet::new();
        paths.retain(|path| known.insert(host.canonical(path)));
        paths
    }

    /// Opens datasets, and checks that they can be combined and that their files are intact.
    pub fn open(host: &dyn FleetHost, paths: &[PathBuf]) -> Result<Self> {
        Self::open_all(host, paths).map_err(too_many)
    }

    fn open_all(host: &dyn FleetHost, paths: &[PathBuf]) -> Result<Self> {
        let mut all: Vec<Named> = Vec::new();
        let mut known = BTreeSet::new();
        for path in paths {
            if !known.insert(host.canonical(path)) {
                bail!("{}: given more than once", path.display());
            }
            Store::check(host.storage(), path)?;
            Store::files(host.storage(), path)?.iter().try_for_each(|file| host.will_read(file))?;
            let named =
                Named { name: path.display().to_string(), store: Store::open(host.storage(), path)?, root: None };
            if let Some(first) = all.first() {
                whole::check_likeness((&first.name, &first.store), (&named.name, &named.store))?;
            }
            all.push(named);
        }
        let of_each: Vec<_> = all.iter().map(|named| (named.name.clone(), named.store.shards())).collect();
        let shards = whole::shards(&of_each)?;
        if let Some(common) = shards.as_ref().and_then(|shards| shards.root.as_ref()) {
            for (named, (_, shards)) in all.iter_mut().zip(of_each) {
                let own = shards.and_then(|shards| shards.root).filter(|own| own != common);
                named.root = own.map(|own| (own, common.clone()));
            }
        }
        let plan = if all.len() > 1 { Some(Plan::new(&all, shards.is_some())?) } else { None };
        Ok(Self { all, plan, shards })
    }

    /// A name for messages: the first dataset, and the number of others.
    pub fn name(&self) -> String {
        match self.all.as_slice() {
            [] => String::new(),
            [one] => one.name.clone(),
            [first, more @ ..] => format!("{} and {} more", first.name, more.len()),
        }
    }

    /// The number of datasets.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The selection with which all runs were measured.
    pub fn selection(&self) -> FleetSelection {
        self.all.first().map(|first| first.store.selection()).unwrap_or_default()
    }

    /// The settings of the datasets, if known.
    pub fn made_with(&self) -> MadeWith {
        let mut all = self.all.iter().map(|named| named.store.made_with());
        all.find(|made_with| made_with.settings.is_some()).unwrap_or_default()
    }

    /// The shards in all datasets together; `None` if the datasets are not shards.
    pub fn shards(&self) -> Option<Shards> {
        self.shards.clone()
    }

    /// The shards that are missing, such as `16/16`.
    pub fn missing_shards(&self) -> Vec<String> {
        self.shards.as_ref().map(Shards::missing).unwrap_or_default()
    }

    /// How many of the expected inputs the datasets contain together.
    pub fn completeness(&self) -> Completeness {
        let own = |named: &Named| {
            let completeness = named.store.completeness();
            // A dataset may lack shards, but nothing else.
            let lacks_shards_only = completeness.is_incomplete() && incomplete_one(named).is_none();
            Completeness { is_complete: completeness.is_complete.map(|is| is || lacks_shards_only), ..completeness }
        };
        let all: Vec<Completeness> = self.all.iter().map(own).collect();
        match all.as_slice() {
            [one] if self.shards.is_none() => *one,
            all => whole::completeness(all, self.shards.as_ref(), self.plan.as_ref().map_or(0, |plan| plan.repeated)),
        }
    }

    /// A sentence about what is missing, with advice; `None` if nothing is known to be missing.
    pub fn incomplete(&self) -> Option<String> {
        let (completeness, missing) = (self.completeness(), self.missing_shards());
        let say = |lack| incomplete(&self.name(), completeness, lack);
        match self.unfinished() {
            Some(sentence) => Some(sentence),
            None if !missing.is_empty() => Some(say(Lack::Shards(&missing))),
            None => completeness.is_incomplete().then(|| say(Lack::Inputs)),
        }
    }

    /// A sentence about the first dataset whose extract or merge was not completed.
    pub fn unfinished(&self) -> Option<String> {
        self.all.iter().find_map(incomplete_one)
    }

    /// Calls `each` for every run. Returns the files without runs.
    pub fn read(&self, mut each: impl FnMut(DatasetRun) -> Result<()>) -> Result<Vec<FailedInput>> {
        let mut failures = Vec::new();
        self.rows(|row| {
            match row {
                DatasetRow::Run(run) => each(*run)?,
                DatasetRow::Failed(failed) => failures.push(failed),
            }
            Ok(())
        })?;
        Ok(failures)
    }

    /// Calls `each` for every run and every file without runs, with few runs in memory at a time.
    pub fn rows(&self, mut each: impl FnMut(DatasetRow<DatasetRun>) -> Result<()>) -> Result<()> {
        let Some(plan) = &self.plan else {
            return self.all.iter().try_for_each(|named| named.store.rows(&mut each)).map_err(too_many);
        };
        let mut rows = Rows::new(plan);
        for (index, named) in self.all.iter().enumerate() {
            let taken = named.store.rows(|row| rows.take(&self.all, index, row).map_or(Ok(()), &mut each));
            taken.map_err(too_many)?;
        }
        Ok(())
    }

    /// True if an engine rewrote a dataset, so that missing data cannot be detected.
    pub fn has_engine_written(&self) -> bool {
        self.all.iter().any(|named| named.store.is_engine_written())
    }

    /// If a dataset's folder contains data files that do not belong to it, returns the dataset's name, the first such file, and their number.
    pub fn unnamed(&self) -> Result<Option<(String, PathBuf, usize)>> {
        for named in &self.all {
            if let Some((first, count)) = named.store.unnamed()? {
                return Ok(Some((named.name.clone(), first, count)));
            }
        }
        Ok(None)
    }

    /// A hash of the contents of all datasets.
    pub fn identity(&self) -> Result<String> {
        let mut all = self.all.iter().map(|named| named.store.identity()).collect::<Result<Vec<_>>>()?;
        all.sort();
        Ok(blake3::hash(all.join("\n").as_bytes()).to_hex().as_str()[..32].to_owned())
    }
}

/// A sentence about a dataset that is incomplete even within its own shards.
fn incomplete_one(named: &Named) -> Option<String> {
    let store = &named.store;
    let is_part = store.shards().is_some_and(|shards| !shards.is_whole());
    let lack = match store.merged() {
        _ if store.lost_files().is_some() => Lack::Lost,
        Some(merged) if !merged.is_done => Lack::Merge,
        Some(merged) if is_part && merged.is_of_whole => return None,
        Some(_) => Lack::Inputs,
        None => Lack::Extract,
    };
    let completeness = store.completeness();
    completeness.is_incomplete().then(|| incomplete(&named.name, completeness, lack))
}

/// If the limit of open files was reached, adds advice, since each dataset keeps a lock file open.
fn too_many(error: FleetError) -> FleetError {
    // EMFILE and ENFILE, which are the same on every Unix.
    let is_limit = |error: &std::io::Error| cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    match error.find().is_some_and(is_limit) {
        true => error.context(
            "too many datasets for the limit of open files: raise it (`ulimit -n`), or merge some of them first",
        ),
        false => error,
    }
}

impl Datasets {
    /// Merges the datasets into a new one.
    ///
    /// # Errors
    /// If a dataset is incomplete and `allows_incomplete` is false, or the output cannot be written.
    pub fn merge(&self, host: &dyn FleetHost, output: &Path, allows_incomplete: bool) -> Result<()> {
        let unfinished = self.unfinished();
        if let Some(sentence) = &unfinished {
            match allows_incomplete {
                true => host.warn(sentence),
                false => bail!("{sentence}; or pass {ALLOW_INCOMPLETE}"),
            }
        }
        let facts = MergedFacts {
            selection: self.selection(),
            made_with: self.made_with(),
            inputs: self.completeness(),
            shards: self.shards(),
            identity: self.identity()?,
            is_of_whole: unfinished.is_none(),
        };
        let merged = Store::merge(host.storage(), output, facts, Store::PART_ROWS, |each| self.rows(each))?;
        let Some((runs, failed)) = merged else {
            host.tell(&format!("{}: these datasets are already merged", output.display()));
            return Ok(());
        };
        let (of, runs) = (several(self.count(), "dataset"), several(runs, "run"));
        host.tell(&format!("merged {of}: {runs}, {} failed", counted(failed)));
        if let Some(sentence) = self.incomplete().filter(|_| unfinished.is_none()) {
            host.warn(&sentence);
        }
        Ok(())
    }
}
