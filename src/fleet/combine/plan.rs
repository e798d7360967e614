//! Decides which rows are used when datasets are combined.
//!
//! A file in several datasets is used once. If a file has several copies, the first by path is used, as in an extract. Neither the order of the
//! datasets nor the distribution of files among them affects the result.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::fleet::dataset::COPIES;
use crate::fleet::error::{Result, bail};
use crate::fleet::{DatasetRow, DatasetRun, FailedInput, FailureKind, RunRecord};

use crate::fleet::identity::{content, copy_reason, of_file, without_path};
use crate::fleet::store::Store;

/// A hash of a path or an id.
type Key = u128;

/// A dataset and its name on the command line.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) store: Store,
    /// The path prefix in this dataset, and the prefix that replaces it in the combined one.
    pub(super) root: Option<(String, String)>,
}

impl Named {
    /// Converts a path of this dataset to the path in the combined dataset.
    fn source(&self, source: &str) -> String {
        let below = self.root.as_ref().and_then(|(own, common)| Some((source.strip_prefix(own.as_str())?, common)));
        match below.filter(|(below, _)| below.starts_with('/')) {
            Some((below, common)) => format!("{common}{below}"),
            None => source.to_owned(),
        }
    }
}

/// The rows to use.
#[derive(Default)]
pub(super) struct Plan {
    /// True if a path means the same file in all datasets. Otherwise it may be a different recording in each.
    is_one_fleet: bool,
    /// The dataset that supplies each file, by path or, if the datasets are not one fleet, by path and content.
    files: HashMap<Key, Entry>,
    /// The path of the file to use for each run id that several files share.
    firsts: HashMap<Key, String>,
    /// The number of files that an earlier dataset contains as well.
    pub(super) repeated: u64,
    /// The number of files left out as copies of a file in another dataset.
    pub(super) copies: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    dataset: u32,
    /// 0 if the content is unknown.
    content: Key,
    /// The prefix of its run ids.
    run_id: Key,
    has_runs: bool,
    /// The sum of the hashes of its runs.
    measured: Key,
}

/// The properties of a row that decide whether it is used.
struct Facts {
    source: String,
    content: Key,
    run_id: Key,
    has_runs: bool,
    /// A hash of the measurements; 0 for a failure.
    measured: Key,
    is_duplicate: bool,
}

impl Facts {
    fn of(named: &Named, row: &DatasetRow<impl AsRef<RunRecord>>) -> Self {
        let source = named.source(row.source());
        match row {
            DatasetRow::Run(run) => {
                let record = (**run).as_ref();
                let [content, run_id] = keys(&record.run_id);
                Self { source, content, run_id, has_runs: true, measured: measured(record), is_duplicate: false }
            }
            DatasetRow::Failed(failed) => {
                let [content, run_id] = failed.run_id.as_deref().map_or([0; 2], keys);
                Self {
                    source,
                    content,
                    run_id,
                    has_runs: false,
                    measured: 0,
                    is_duplicate: failed.kind == FailureKind::Duplicate,
                }
            }
        }
    }
}

impl Plan {
    /// Decides which dataset supplies each file.
    pub(super) fn new(datasets: &[Named], is_one_fleet: bool) -> Result<Self> {
        let mut plan = Self { is_one_fleet, ..Self::default() };
        let mut copied = HashSet::new();
        for (index, named) in datasets.iter().enumerate() {
            // Files that an earlier dataset contains as well.
            let mut further = BTreeMap::new();
            named.store.records(|row| {
                let facts = Facts::of(named, &row);
                if facts.is_duplicate {
                    copied.insert(facts.run_id);
                }
                plan.add(index as u32, facts, &mut further);
                Ok(())
            })?;
            further.into_iter().try_for_each(|((source, _), entry)| plan.reconcile(datasets, &source, entry))?;
        }
        let mut seen = HashSet::new();
        copied.extend(
            plan.files.values().filter(|entry| entry.has_runs && !seen.insert(entry.run_id)).map(|it| it.run_id),
        );
        drop(seen);
        plan.choose(datasets, &copied)?;
        Ok(plan)
    }

    /// Adds a row. A file's runs are used together or not at all.
    fn add(&mut self, dataset: u32, facts: Facts, further: &mut BTreeMap<(String, Key), Entry>) {
        let Facts { source, content, run_id, has_runs, measured, .. } = facts;
        let new = Entry { dataset, content, run_id, has_runs, measured: 0 };
        let entry = match self.files.entry(self.file(&source, content)) {
            Vacant(place) => place.insert(new),
            Occupied(place) if place.get().dataset == dataset => place.into_mut(),
            Occupied(_) => further.entry((source, content)).or_insert(new),
        };
        entry.measured = entry.measured.wrapping_add(measured);
    }

    /// Decides which of two datasets supplies the rows of a file.
    ///
    /// # Errors
    /// If the datasets contain different measurements, since it is unknown which one is right.
    fn reconcile(&mut self, datasets: &[Named], source: &str, entry: Entry) -> Result<()> {
        let file = self.file(source, entry.content);
        let Some(known) = self.files.get_mut(&file) else { return Ok(()) };
        self.repeated += 1;
        let [first, second] = [known.dataset, entry.dataset].map(|index| &datasets[index as usize].name);
        if known.content == entry.content {
            if entry.has_runs && known.has_runs && entry.measured != known.measured {
                bail!(
                    "{first} and {second} measured {source} differently: its table of contents, its intervals or its line of a manifest changed \
                     between their extracts; extract both again, or leave one out"
                );
            }
            if entry.has_runs && !known.has_runs {
                *known = entry;
            }
        } else if known.content == 0 || entry.content == 0 {
            // Only one dataset could read the file: use that one.
            if known.content == 0 {
                *known = entry;
            }
        } else {
            bail!(
                "{first} and {second} have different contents of {source}: it changed between their extracts; extract both again, or leave one out"
            );
        }
        Ok(())
    }

    /// Finds the file to use for each run id.
    fn choose(&mut self, datasets: &[Named], copied: &HashSet<Key>) -> Result<()> {
        if copied.is_empty() {
            return Ok(());
        }
        let mut last = String::new();
        for (index, named) in datasets.iter().enumerate() {
            named.store.records(|row| {
                let facts = Facts::of(named, &row);
                if !facts.has_runs {
                    return Ok(());
                }
                // One run of a file suffices.
                let is_further = std::mem::replace(&mut last, facts.source.clone()) == facts.source;
                if !is_further && copied.contains(&facts.run_id) && self.has(index as u32, &facts.source, facts.content)
                {
                    self.put_in_order(facts);
                }
                Ok(())
            })?;
            last.clear();
        }
        Ok(())
    }

    fn put_in_order(&mut self, facts: Facts) {
        match self.firsts.entry(facts.run_id) {
            Vacant(place) => drop(place.insert(facts.source)),
            Occupied(mut place) => {
                self.copies += 1;
                if facts.source < *place.get() {
                    place.insert(facts.source);
                }
            }
        }
    }

    /// True if this dataset supplies the file.
    fn has(&self, dataset: u32, source: &str, content: Key) -> bool {
        self.files.get(&self.file(source, content)).is_some_and(|entry| entry.dataset == dataset)
    }

    fn file(&self, source: &str, content: Key) -> Key {
        if self.is_one_fleet { key(&[source]) } else { key(&[source, &content.to_string()]) }
    }
}

/// Selects rows while the datasets are read in turn.
pub(super) struct Rows<'p> {
    plan: &'p Plan,
    /// Copies whose failure has been returned.
    told: HashSet<Key>,
}

impl<'p> Rows<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self { plan, told: HashSet::new() }
    }

    /// Decides whether a row is used, and adapts it to the combined dataset.
    pub(super) fn take(
        &mut self,
        datasets: &[Named],
        dataset: usize,
        mut row: DatasetRow<DatasetRun>,
    ) -> Option<DatasetRow<DatasetRun>> {
        let Facts { source, content, run_id, .. } = Facts::of(&datasets[dataset], &row);
        if !self.plan.has(dataset as u32, &source, content) {
            return None;
        }
        let first = self.plan.firsts.get(&run_id);
        match &mut row {
            DatasetRow::Run(run) => {
                if let Some(first) = first.filter(|first| **first != source) {
                    let copy = FailedInput { source, ..run.record().copy_of(first) };
                    return self.told.insert(key_in(&copy.source, dataset as u32)).then_some(DatasetRow::Failed(copy));
                }
                run.set_source(source);
            }
            DatasetRow::Failed(failed) => {
                if let Some(first) = first.filter(|_| failed.kind == FailureKind::Duplicate) {
                    failed.reason = copy_reason(first);
                }
                failed.source = source;
            }
        }
        Some(row)
    }
}

/// Hashes everything about a run that does not depend on the machine. Symbol files may have different paths on another machine; all other
/// differences have been rejected.
fn measured(record: &RunRecord) -> Key {
    let RunRecord { run_id, labels, run_weight, start, wall, wall_source, wall_start, parts, schema, unit, .. } =
        record;
    let id = (without_path(run_id), record.number);
    let RunRecord { weight, samples, effective_samples, rejected, excluded_runs, cores, usual_weight, .. } = record;
    // Only the labels that the table `runs` contains, since an engine may have rewritten the dataset.
    let labels: Vec<_> = labels.iter().filter(|(key, _)| COPIES.contains(&key.as_str())).collect();
    let facts = (id, labels, run_weight, start, wall, wall_source, wall_start, parts, schema, unit);
    let counts = (weight, samples, effective_samples, rejected, excluded_runs, cores, usual_weight);
    key(&[&format!("{facts:?} {counts:?}")])
}

fn key(texts: &[&str]) -> Key {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(text.as_bytes()).update(&[0]);
    }
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    Key::from_le_bytes(bytes)
}

/// The keys of the content and the file in a run id.
fn keys(run_id: &str) -> [Key; 2] {
    [content(run_id), of_file(run_id)].map(|id| key(&[id]))
}

/// The key of a file in one dataset.
fn key_in(source: &str, dataset: u32) -> Key {
    key(&[source, &dataset.to_string()])
}
