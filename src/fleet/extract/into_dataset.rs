//! Extracts a fleet's inputs into a dataset, measuring each once.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::batch::{self, Ended};
use super::extraction::{Counts, Extraction};
use super::outcome::of_failures;
use super::settings::FleetSettings;
use crate::fleet::FailedInput;
use crate::fleet::error::{FleetError, Result, bail, ensure};
use crate::fleet::fingerprint::{of_missing, short};
use crate::fleet::host::FleetHost;
use crate::fleet::inputs::FleetInputs;
use crate::fleet::store::{MadeWith, Shards, Store};
use crate::settings::{REMOVE_OTHERS, STACKS, STRICT};
use crate::units::{counted, several};

/// An extract of a fleet into a dataset.
pub struct Extract<'e> {
    /// The folder of the dataset.
    pub output: &'e Path,
    /// The inputs.
    pub inputs: &'e FleetInputs,
    /// The shard of the inputs, if the fleet is divided.
    pub shard: Option<Shards>,
    /// The settings for measuring them.
    pub settings: &'e FleetSettings<'e>,
    /// The paths of symbols, as the dataset stores them.
    pub symbols: Vec<String>,
    /// True to remove runs of all other files first.
    pub removes_others: bool,
}

impl<'e> Extract<'e> {
    /// Creates an extract of all these inputs into the dataset in a folder, which is created if necessary.
    pub fn new(output: &'e Path, inputs: &'e FleetInputs, settings: &'e FleetSettings<'e>) -> Self {
        Self { output, inputs, shard: None, settings, symbols: Vec::new(), removes_others: false }
    }

    /// Measures the inputs that are not in the dataset. Returns false if the user stopped it; finished measurements are kept.
    ///
    /// # Errors
    /// If the dataset cannot be written, no input has a run, or the settings are strict and an input fails.
    pub fn run(&self, host: &dyn FleetHost) -> Result<bool> {
        let FleetInputs { tasks, failures, notes: found, .. } = self.inputs;
        host.warn_of(found);
        let store = match Store::create_or_open(host.storage(), self.output) {
            // Without changes, no write access is needed.
            Err(error) if is_denied(&error) => match self.unchanged(host) {
                Ok(Some(counts)) => {
                    self.tell_failures(host, &counts);
                    return self.tell_counts(host, &counts);
                }
                Ok(None) | Err(_) => return Err(error),
            },
            store => store?,
        };
        self.prepare(host, &store)?;
        host.begin(tasks.len(), batch::total_bytes(host, tasks));
        let extraction = Extraction::new(&store, tasks, self.settings, host)?;
        let made_with = MadeWith {
            settings: Some(short(self.settings.anywhere)),
            symbols: self.symbols.clone(),
            has_stacks: self.settings.options.measure.with_stacks,
        };
        extraction.begin(made_with)?;
        extraction.forget_stale()?;
        let ended = extraction.saving(|| batch::run(tasks, self.settings, host, &extraction));
        // Even after an error, so that files in the dataset need not be hashed again.
        let counts = extraction.finish()?;
        let ended = ended?;
        self.tell_failures(host, &counts);
        tell_lost_labels(host, &counts);
        host.warn_of(&ended.notes.lines());
        if counts.unchanged == 0 {
            self.settings.warn_of_unseen_intervals(host);
        }
        if !host.may_begin() {
            let (done, all) = (counted(ended.done), several(tasks.len(), "file"));
            let folder = self.output.display();
            host.warn(&format!(
                "interrupted after {done} of {all}, kept in {folder}; run the same command to continue"
            ));
            return Ok(false);
        }
        self.check_strict(&ended, failures)?;
        self.complete(host, &store)?;
        self.tell_counts(host, &counts)
    }

    /// Prepares the dataset for these inputs.
    fn prepare(&self, host: &dyn FleetHost, store: &Store) -> Result<()> {
        if store.lost_runs() > 0 {
            let (folder, runs) = (self.output.display(), several(store.lost_runs(), "run"));
            host.warn(&format!(
                "{folder}: lost {runs} whose data files are missing; those among the inputs are read again"
            ));
        }
        store.select(&self.settings.options.described)?;
        ensure!(
            self.settings.options.measure.with_stacks || !store.made_with().has_stacks,
            "{}: has the stacks of its runs, which this extract would drop; repeat {STACKS}, or choose another folder",
            self.output.display()
        );
        store.take_shard(self.shard.clone())?;
        if self.removes_others {
            self.prune(host, store)?;
            store.give_up_missing()?;
        }
        // The dataset lacks the runs of inputs that cannot be found.
        let (found, new) = self.missing(host, store)?;
        if !found.is_empty() {
            store.forget(&found)?;
        }
        new.into_iter().try_for_each(|failed| store.put_failure(failed))
    }

    /// Marks the dataset as complete, and warns about what is missing.
    fn complete(&self, host: &dyn FleetHost, store: &Store) -> Result<()> {
        store.compact(Store::PART_ROWS)?;
        store.complete()?;
        let folder = self.output.display();
        if let Some(lost) = store.lost_files() {
            let files = several(lost, "file");
            host.warn(&format!(
                "{folder}: incomplete: {files} that were lost with data files have not been restored; extract only those files, or the \
                 previous inputs of the dataset; {REMOVE_OTHERS} abandons them"
            ));
        }
        let owed = store.owed()?;
        if let Some(first) = owed.first() {
            let files = several(owed.len(), "file");
            let what = format!("{files} from an unfinished extract, such as {first}");
            host.warn(&format!(
                "{folder}: incomplete without {what}; also pass these as inputs, or use {REMOVE_OTHERS}"
            ));
        }
        self.tell_others(host, store)
    }

    /// The outcomes, if an extract would not change the dataset.
    fn unchanged(&self, host: &dyn FleetHost) -> Result<Option<Counts>> {
        let store = Store::open(host.storage(), self.output)?;
        let (found, new) = self.missing(host, &store)?;
        let options = &self.settings.options;
        let is_same = store.selection() == options.described && store.shards() == self.shard;
        let has_others = self.removes_others && !self.others(&store)?.is_empty();
        let is_complete = store.completeness().is_complete == Some(true);
        if !is_same || !found.is_empty() || !new.is_empty() || has_others || !is_complete || options.is_strict {
            return Ok(None);
        }
        let tasks = &self.inputs.tasks;
        host.begin(tasks.len(), batch::total_bytes(host, tasks));
        Ok(Extraction::new(&store, tasks, self.settings, host)?.unchanged())
    }

    fn tell_counts(&self, host: &dyn FleetHost, counts: &Counts) -> Result<bool> {
        // A shard may have no inputs or runs, as long as the fleet has some.
        let is_part = self.shard.as_ref().is_some_and(|shard| shard.inputs > Some(0));
        let failed = self.inputs.failures.len() + counts.failed;
        let numbers = [counts.new, counts.changed, counts.unchanged, failed];
        let [new, changed, unchanged, failed_text] = numbers.map(counted);
        host.tell(&format!("extracted {new} new, {changed} changed, {unchanged} unchanged, {failed_text} failed"));
        ensure!(is_part || !self.inputs.tasks.is_empty() || failed > 0, "there are no exports");
        ensure!(
            is_part || counts.new + counts.changed + counts.unchanged > 0,
            "none of the {failed_text} files produced a run"
        );
        Ok(true)
    }

    fn tell_failures(&self, host: &dyn FleetHost, counts: &Counts) {
        host.warn_of(&of_failures(self.inputs.failures.iter().chain(&counts.new_failures)));
        let before = counts.failed - counts.new_failures.len();
        if before > 0 {
            let (before, folder) = (counted(before), self.output.display());
            host.warn(&format!("{before} failed as before; `traceparse fleet report {folder}` lists them"));
        }
    }

    fn check_strict(&self, ended: &Ended, failures: &[FailedInput]) -> Result<()> {
        if let Some((index, problem)) = &ended.not_strict {
            bail!("{}: {problem} ({STRICT} makes this an error)", self.inputs.tasks[*index].display);
        }
        match failures.first() {
            Some(failed) if self.settings.options.is_strict => {
                bail!("{}: {} ({STRICT} makes this an error)", failed.source, failed.reason)
            }
            _ => Ok(()),
        }
    }

    /// The files in the dataset that are not inputs.
    fn others(&self, store: &Store) -> Result<HashSet<String>> {
        let named: HashSet<&str> = self.inputs.tasks.iter().map(|task| task.display.as_str()).collect();
        Ok(store.known()?.into_keys().filter(|source| !named.contains(source.as_str())).collect())
    }

    /// Previously missing inputs that are found now, and inputs that are missing now.
    fn missing(&self, host: &dyn FleetHost, store: &Store) -> Result<(HashSet<String>, Vec<&FailedInput>)> {
        let failures = &self.inputs.failures;
        let named: HashSet<&str> = failures.iter().map(|failed| failed.source.as_str()).collect();
        let known = store.known()?;
        let found = known.iter().filter(|(source, known)| {
            let is_missing = known.fingerprint == of_missing(source) && !named.contains(source.as_str());
            is_missing && self.inputs.asks_for(host, source)
        });
        let found = found.map(|(source, _)| source.clone()).collect();
        let is_new = |failed: &&FailedInput| {
            known.get(&failed.source).is_none_or(|known| known.fingerprint != failed.fingerprint)
        };
        Ok((found, failures.iter().filter(is_new).collect()))
    }

    /// Removes files that are not inputs.
    fn prune(&self, host: &dyn FleetHost, store: &Store) -> Result<()> {
        // A mistyped folder must not remove its runs.
        ensure!(!self.inputs.tasks.is_empty(), "there are no exports, so {REMOVE_OTHERS} removed nothing");
        if let Some(FailedInput { source, reason, .. }) = self.inputs.failures.first() {
            bail!("{source}: {reason}; {REMOVE_OTHERS} removes nothing while an input cannot be found");
        }
        let mut others = self.others(store)?;
        if others.is_empty() {
            return Ok(());
        }
        let count = others.len();
        let known = store.known()?;
        let has_runs = |source: &&String| known.get(*source).is_some_and(|known| !known.is_failed);
        let runs: HashSet<&str> = others.iter().filter(has_runs).filter_map(|source| known[source].run_id()).collect();
        // Copies of removed files are read again, since one of them is now used.
        let is_copy =
            |known: &crate::fleet::Known| known.is_failed && known.run_id().is_some_and(|id| runs.contains(id));
        let copies = known.iter().filter(|(_, known)| is_copy(known)).map(|(source, _)| source.clone());
        let copies: Vec<String> = copies.collect();
        others.extend(copies);
        store.forget(&others)?;
        host.tell(&format!("removed {} not among the inputs", several(count, "file")));
        Ok(())
    }

    /// Warns about files in the dataset that are no longer inputs. They are kept, and reports list and count them.
    fn tell_others(&self, host: &dyn FleetHost, store: &Store) -> Result<()> {
        let mut others = self.others(store)?;
        for failed in &self.inputs.failures {
            others.remove(&failed.source);
        }
        let Some(first) = others.iter().min() else { return Ok(()) };
        let text = match others.len() {
            1 => format!("1 file of the dataset is not among the inputs, {first}; its runs stay"),
            count => {
                let files = several(count, "file");
                format!("{files} of the dataset are not among the inputs, such as {first}; their runs are kept")
            }
        };
        host.warn(&format!("{text}; {REMOVE_OTHERS} removes them"));
        Ok(())
    }
}

/// True if the file system is read-only, or writing is not permitted.
fn is_denied(error: &FleetError) -> bool {
    let kind = error.find::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
}

/// Warns if labels are lost: extracting again without the input list also removes its labels.
fn tell_lost_labels(host: &dyn FleetHost, counts: &Counts) {
    if counts.runs_that_lose_labels > 0 {
        let runs = several(counts.runs_that_lose_labels, "run");
        let verb = if counts.runs_that_lose_labels == 1 { "loses labels it" } else { "lose labels they" };
        let labels = counts.lost_labels.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        host.warn(&format!(
            "{runs} {verb} had ({labels}): they are no longer in any manifest line or table of contents"
        ));
    }
}
