//! The datasets of a report, a statement or a merge, and merging them into a new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plan::{Named, Plan, Rows};
use super::whole::{self, Lack, incomplete};
use crate::fleet::error::{Context, FleetError, Result, bail, error};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::{is_export_name, is_recording_name};
use crate::fleet::store::{MadeWith, MergedFacts, Shards, SharedRow, Store};
use crate::fleet::{Completeness, DatasetRow, DatasetRun, FailedInput, FleetSelection};
use crate::units::{counted, several};

/// One dataset, or several that are read as one.
pub struct Datasets {
    all: Vec<Named>,
    /// `None` for one dataset, whose rows are read unchanged.
    plan: Option<Plan>,
    shards: Option<Shards>,
}

impl Datasets {
    /// The datasets at a path: the dataset itself, or the datasets in a folder without any other folder or recording.
    /// Empty for any other input.
    pub fn at(host: &dyn FleetHost, path: &Path) -> Vec<PathBuf> {
        let (storage, files) = (host.storage(), host.files());
        if Store::is_dataset(storage, path) {
            return vec![path.to_owned()];
        }
        let Ok(paths) = files.list(path) else { return Vec::new() };
        // Engines leave files such as `_SUCCESS`.
        let is_own = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| [b".", b"_"].iter().any(|sign| name.as_encoded_bytes().starts_with(*sign)))
        };
        let paths = paths.into_iter().filter(|path| !is_own(path));
        let (mut paths, others): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| host.is_folder(path));
        let is_fleet = others.iter().any(|path| is_export_name(path) || is_recording_name(path));
        // A new dataset may not exist yet; opening it reports that.
        let is_part = |path: &PathBuf| Store::is_dataset(storage, path) || Store::is_begun(storage, path);
        if is_fleet || !paths.iter().all(is_part) || !paths.iter().any(|path| Store::is_dataset(storage, path)) {
            return Vec::new();
        }
        paths.sort();
        // A link to one of them is that one.
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

    /// The selection that all runs were measured with.
    pub fn selection(&self) -> FleetSelection {
        self.all.first().map(|first| first.store.selection()).unwrap_or_default()
    }

    /// The settings of all, as far as they are known.
    pub fn made_with(&self) -> MadeWith {
        let mut all = self.all.iter().map(|named| named.store.made_with());
        all.find(|made_with| made_with.settings.is_some()).unwrap_or_default()
    }

    /// All shards of the datasets together, if the datasets are shards.
    pub fn shards(&self) -> Option<Shards> {
        self.shards.clone()
    }

    /// The shards that they lack, such as `16/16`.
    pub fn missing_shards(&self) -> Vec<String> {
        self.shards.as_ref().map(Shards::missing).unwrap_or_default()
    }

    /// The share of the inputs that they have together.
    pub fn completeness(&self) -> Completeness {
        let own = |named: &Named| {
            let completeness = named.store.completeness();
            // A dataset may lack shards, as long as nothing else is missing.
            let lacks_shards_only = completeness.is_incomplete() && incomplete_one(named).is_none();
            Completeness { is_complete: completeness.is_complete.map(|is| is || lacks_shards_only), ..completeness }
        };
        let all: Vec<Completeness> = self.all.iter().map(own).collect();
        match all.as_slice() {
            [one] if self.shards.is_none() => *one,
            all => whole::completeness(all, self.shards.as_ref(), self.plan.as_ref().map_or(0, |plan| plan.repeated)),
        }
    }

    /// The sentence for what they lack, and advice; `None` if nothing is known to be missing.
    pub fn incomplete(&self) -> Option<String> {
        let (completeness, missing) = (self.completeness(), self.missing_shards());
        let say = |lack| incomplete(&self.name(), completeness, lack);
        match self.unfinished() {
            Some(sentence) => Some(sentence),
            None if !missing.is_empty() => Some(say(Lack::Shards(&missing))),
            None => completeness.is_incomplete().then(|| say(Lack::Inputs)),
        }
    }

    /// The sentence for the first dataset whose extract or merge did not finish.
    pub fn unfinished(&self) -> Option<String> {
        self.all.iter().find_map(incomplete_one)
    }

    /// Passes every run to `each`, and returns the files without runs.
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

    /// Passes every run and every file without runs to `each`. Only some runs are in memory at a time.
    pub fn rows(&self, mut each: impl FnMut(SharedRow) -> Result<()>) -> Result<()> {
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

    /// True if an engine rewrote a dataset, so what it lacks is unknown.
    pub fn has_engine_written(&self) -> bool {
        self.all.iter().any(|named| named.store.is_engine_written())
    }

    /// The keys of all labels.
    pub fn label_keys(&self) -> Result<BTreeSet<String>> {
        let mut keys = BTreeSet::new();
        for named in &self.all {
            keys.extend(named.store.label_keys()?.into_values().flatten());
        }
        Ok(keys)
    }

    /// A data file in a folder that does not belong to the dataset, the number of such files, and the name of the dataset.
    pub fn unnamed(&self) -> Result<Option<(String, PathBuf, usize)>> {
        for named in &self.all {
            if let Some((first, count)) = named.store.unnamed()? {
                return Ok(Some((named.name.clone(), first, count)));
            }
        }
        Ok(None)
    }

    /// The data files of each dataset, by the path of its folder.
    ///
    /// # Errors
    /// When a file or a run is in several of them: a statement would count it twice.
    pub fn files(&self, host: &dyn FleetHost) -> Result<Vec<(String, Vec<String>)>> {
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.repeated + plan.copies > 0) {
            let (name, count) = (self.name(), plan.repeated + plan.copies);
            let files = format!("{} {}", several(count, "file"), if count == 1 { "is" } else { "are" });
            bail!(
                "{name}: {files} in several of these datasets, which SQL would count twice; put them together with `traceparse fleet merge`"
            );
        }
        for named in self.all.iter().filter(|named| named.store.is_engine_written()) {
            if self.all.len() > 1 {
                bail!(
                    "{}: an engine rewrote it; put it together with the others by `traceparse fleet merge`",
                    named.name
                );
            }
            // Reading all rows is the only check that the files belong together.
            named.store.rows(|_| Ok(()))?;
        }
        let files = |named: &Named| Ok((whole_path(host, Path::new(&named.name))?, named.store.data_files()?));
        self.all.iter().map(files).collect()
    }

    /// A hash of all that they have.
    pub fn identity(&self) -> Result<String> {
        let mut all = self.all.iter().map(|named| named.store.identity()).collect::<Result<Vec<_>>>()?;
        all.sort();
        Ok(blake3::hash(all.join("\n").as_bytes()).to_hex().as_str()[..32].to_owned())
    }
}

/// The sentence for a dataset that lacks more than shards.
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

/// Adds advice if a process may not open enough files: each dataset has an open lock file.
fn too_many(error: FleetError) -> FleetError {
    // EMFILE and ENFILE of every Unix.
    let is_limit = |error: &std::io::Error| cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    match error.find().is_some_and(is_limit) {
        true => error.context(
            "too many datasets for the limit of open files: raise it (`ulimit -n`), or merge some of them first",
        ),
        false => error,
    }
}

/// The whole path of a dataset of this machine: a statement may be run in another folder.
fn whole_path(host: &dyn FleetHost, dataset: &Path) -> Result<String> {
    let name = dataset.display();
    let path = host.files().canonical(dataset).with_context(|| format!("{name}: cannot be read"))?;
    path.into_os_string().into_string().map_err(|_| error!("{name}: its path is not UTF-8, which SQL requires"))
}

impl Datasets {
    /// Merges them into a new dataset.
    ///
    /// # Errors
    /// If one of them is incomplete and that is not allowed, or the output cannot be written.
    pub fn merge(&self, host: &dyn FleetHost, output: &Path, allows_incomplete: bool) -> Result<()> {
        let unfinished = self.unfinished();
        if let Some(sentence) = &unfinished {
            match allows_incomplete {
                true => host.warn(sentence),
                false => bail!("{sentence}; or pass --allow-incomplete"),
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
        let Some(merge) = Store::begin_merge(host.storage(), output, facts, Store::PART_ROWS)? else {
            host.tell(&format!("{}: these datasets are already merged", output.display()));
            return Ok(());
        };
        let (runs, failed) = merge.write(|each| self.rows(each))?;
        let (of, runs) = (several(self.count(), "dataset"), several(runs, "run"));
        host.tell(&format!("merged {of}: {runs}, {} failed", counted(failed)));
        if let Some(sentence) = self.incomplete().filter(|_| unfinished.is_none()) {
            host.warn(&sentence);
        }
        Ok(())
    }
}
