//! `fleet extract`: exports into a dataset, each measured once.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use traceparse::fleet::{FailedInput, FleetSelection};

use super::batch::{self, Ended};
use super::cli::FleetExtractArgs;
use super::control::{AtInterrupt, Control};
use super::extraction::{Counts, Extraction, PART_ROWS};
use super::fingerprint::{of_missing, short};
use super::inputs::{self, Inputs, will_read_tasks};
use super::notes::{self, counted, several};
use super::part;
use super::settings::Settings;
use super::store::{MadeWith, Shards, Store};
use super::symbols;
use super::task::Task;
use crate::guard::will_write;
use crate::unchanged::WatchedFiles;
use crate::{EXIT_DONE, Failure, complain, redacted, warning};

/// Extracts, and says with which exit code the process ends.
pub(super) fn extract(args: &FleetExtractArgs) -> Result<u8, Failure> {
    if let Some(input) = args.inputs.inputs.iter().find(|input| Store::is_dataset(input)) {
        let message =
            format!("{}: already a dataset; name exports as inputs, and the dataset with -o", input.display());
        return Err(Failure::Usage(message));
    }
    args.inputs.check().map_err(Failure::Usage)?;
    args.reading.filters.check().map_err(Failure::Usage)?;
    will_write(Some(&args.output));
    args.reading.filters.redact.begin_fleet()?;
    let mut inputs = inputs::find(&args.inputs, args.part.plan.is_some())?;
    inputs.check().map_err(Failure::Usage)?;
    let shard = part::keep(&args.part, &mut inputs.tasks, inputs.failures.len()).map_err(Failure::Usage)?;
    inputs.use_real_paths();
    inputs.redact();
    Ok(run(args, inputs, shard)?)
}

fn run(args: &FleetExtractArgs, inputs: Inputs, shard: Option<Shards>) -> Result<u8> {
    let Inputs { tasks, failures, notes: found, .. } = &inputs;
    notes::print(found);
    will_read_tasks(tasks)?;
    let symbol_files = WatchedFiles::default();
    let locator = symbols::find(&symbol_files, &args.reading)?;
    let threads = args.threads.threads();
    let selection = args.reading.filters.described(threads.as_ref());
    let settings = Settings::new(&args.reading, threads, &symbol_files, locator.as_ref());
    let store = match Store::create_or_open(&args.output) {
        // Nothing has to be written if nothing changes.
        Err(error) if is_denied(&error) => match unchanged(args, &inputs, (&selection, &shard), &settings) {
            Ok(Some(counts)) => {
                print_failures(failures, &counts, args);
                return print_counts(&counts, &inputs, shard.as_ref());
            }
            Ok(None) | Err(_) => return Err(error),
        },
        store => store?,
    };
    if store.lost_runs() > 0 {
        let runs = several(store.lost_runs() as usize, "run");
        let folder = args.output.display();
        warning(&format!("{folder}: lost {runs} with data files that are gone; those of the inputs are read again"));
    }
    store.select(&selection)?;
    store.take_shard(shard.clone())?;
    if args.remove_others {
        prune(&store, tasks, failures)?;
        store.give_up_missing()?;
    }
    put_missing(&store, &inputs)?;
    let control = Control::new(tasks.len(), batch::total_bytes(tasks), AtInterrupt::Finish);
    let extraction = Extraction::new(&store, tasks, &settings, &control)?;
    extraction.begin(made_with(&settings, args))?;
    extraction.forget_stale()?;
    let ended = extraction.saving(|| batch::run(tasks, &settings, &control, &extraction));
    // Also after an error: what is in the dataset need not be hashed again.
    let counts = extraction.finish()?;
    let ended = ended?;
    print_failures(failures, &counts, args);
    print_lost_labels(&counts);
    ended.notes.print();
    if counts.unchanged == 0 {
        settings.warn_of_unseen_intervals();
    }
    if let Some(code) = control.interruption() {
        let (done, all) = (counted(ended.done), several(tasks.len(), "file"));
        let folder = args.output.display();
        warning(&format!("interrupted after {done} of {all}, kept in {folder}; run the same command to continue"));
        return Ok(code);
    }
    check_strict(&ended, tasks, failures, args)?;
    let compacted = store.compact(PART_ROWS)?;
    store.complete()?;
    if let Some(lost) = store.lost_files() {
        let (folder, files) = (args.output.display(), several(lost as usize, "file"));
        let advice = "extract just those, or what the dataset was of before; --remove-others gives them up";
        warning(&format!("{folder}: incomplete: {files} that it lost with data files are not back; {advice}"));
    }
    let owed = store.owed()?;
    if let Some(first) = owed.first() {
        let (folder, files) = (args.output.display(), several(owed.len(), "file"));
        let what = format!("{files} of an extract that did not finish, such as {first}");
        warning(&format!("{folder}: incomplete without {what}; name them, too, or pass --remove-others"));
    }
    tell_others(&store, &inputs)?;
    if args.compact {
        complain(&format!("compacted {} into {}", several(compacted.before, "data file"), counted(compacted.after)));
    }
    print_counts(&counts, &inputs, shard.as_ref())
}

/// True if a file cannot be written on this file system, or by this user.
fn is_denied(error: &anyhow::Error) -> bool {
    let kind = error.chain().find_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    matches!(kind, Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
}

/// The outcomes of an extract that would leave the dataset as it is; `None` for any other.
fn unchanged(
    args: &FleetExtractArgs,
    inputs: &Inputs,
    (selection, shard): (&FleetSelection, &Option<Shards>),
    settings: &Settings<'_>,
) -> Result<Option<Counts>> {
    let store = Store::open(&args.output)?;
    let (found, new) = missing(&store, inputs)?;
    let is_same = store.selection() == *selection && store.shards() == *shard && found.is_empty() && new.is_empty();
    let has_others = args.remove_others && !others(&store, &inputs.tasks)?.is_empty();
    if !is_same || has_others || store.completeness().is_complete != Some(true) || args.reading.strict {
        return Ok(None);
    }
    let control = Control::new(inputs.tasks.len(), batch::total_bytes(&inputs.tasks), AtInterrupt::Finish);
    let counts = Extraction::new(&store, &inputs.tasks, settings, &control)?.unchanged();
    Ok(counts)
}

fn print_counts(counts: &Counts, inputs: &Inputs, shard: Option<&Shards>) -> Result<u8> {
    // A shard may have no inputs, or none that gives a run; the fleet has.
    let is_part = shard.is_some_and(|shard| shard.inputs > Some(0));
    let failed = inputs.failures.len() + counts.failed;
    let [new, changed, unchanged, failed_text] = [counts.new, counts.changed, counts.unchanged, failed].map(counted);
    complain(&format!("extracted {new} new, {changed} changed, {unchanged} unchanged, {failed_text} failed"));
    ensure!(is_part || !inputs.tasks.is_empty() || failed > 0, "there are no exports");
    ensure!(
        is_part || counts.new + counts.changed + counts.unchanged > 0,
        "none of the {failed_text} files gave a run"
    );
    Ok(EXIT_DONE)
}

/// The settings, for the manifest.
fn made_with(settings: &Settings<'_>, args: &FleetExtractArgs) -> MadeWith {
    let shown = |path: &PathBuf| {
        let path = path.display().to_string();
        redacted::with(|redactor| redactor.path(&path)).unwrap_or(path)
    };
    let symbols = args.reading.search.paths().map(shown).collect();
    MadeWith { settings: Some(short(settings.anywhere)), symbols }
}

fn print_failures(failures: &[FailedInput], counts: &Counts, args: &FleetExtractArgs) {
    notes::print(&notes::of_failures(failures.iter().chain(&counts.new_failures)));
    let before = counts.failed - counts.new_failures.len();
    if before > 0 {
        let (before, folder) = (counted(before), args.output.display());
        warning(&format!("{before} failed as before; `traceparse fleet report {folder}` lists them"));
    }
}

/// Warns of labels that are lost: a user who extracts again without the manifest of the first time may not know that they go with it.
fn print_lost_labels(counts: &Counts) {
    if counts.runs_that_lose_labels > 0 {
        let runs = several(counts.runs_that_lose_labels, "run");
        let verb = if counts.runs_that_lose_labels == 1 { "loses labels it" } else { "lose labels they" };
        let labels = counts.lost_labels.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        warning(&format!("{runs} {verb} had ({labels}): no manifest line and no table of contents gives them now"));
    }
}

fn check_strict(ended: &Ended, tasks: &[Task], failures: &[FailedInput], args: &FleetExtractArgs) -> Result<()> {
    if let Some((index, problem)) = &ended.not_strict {
        bail!("{}: {problem}; and --strict was given", tasks[*index].display);
    }
    match failures.first() {
        Some(failed) if args.reading.strict => bail!("{}: {}; and --strict was given", failed.source, failed.reason),
        _ => Ok(()),
    }
}

/// The files of the dataset that are not among the inputs.
fn others(store: &Store, tasks: &[Task]) -> Result<HashSet<String>> {
    let named: HashSet<&str> = tasks.iter().map(|task| task.display.as_str()).collect();
    Ok(store.known()?.into_keys().filter(|source| !named.contains(source.as_str())).collect())
}

/// Puts inputs that cannot be found into the dataset, since it lacks what they would give, and takes those out that are found now.
fn put_missing(store: &Store, inputs: &Inputs) -> Result<()> {
    let (found, new) = missing(store, inputs)?;
    if !found.is_empty() {
        store.forget(&found)?;
    }
    new.into_iter().try_for_each(|failed| store.put_failure(failed))
}

/// Inputs of the dataset that could not be found before and are found now, and those that cannot be found now.
fn missing<'i>(store: &Store, inputs: &'i Inputs) -> Result<(HashSet<String>, Vec<&'i FailedInput>)> {
    let named: HashSet<&str> = inputs.failures.iter().map(|failed| failed.source.as_str()).collect();
    let known = store.known()?;
    let found = known.iter().filter(|(source, known)| {
        known.fingerprint == of_missing(source) && !named.contains(source.as_str()) && inputs.asks_for(source)
    });
    let found = found.map(|(source, _)| source.clone()).collect();
    let is_new =
        |failed: &&FailedInput| known.get(&failed.source).is_none_or(|known| known.fingerprint != failed.fingerprint);
    Ok((found, inputs.failures.iter().filter(is_new).collect()))
}

/// Takes them out.
fn prune(store: &Store, tasks: &[Task], failures: &[FailedInput]) -> Result<()> {
    // A misspelt folder is no reason to forget what it holds.
    ensure!(!tasks.is_empty(), "there are no exports, so --remove-others removed nothing");
    if let Some(failed) = failures.first() {
        bail!("{}: {}; --remove-others removes nothing while an input cannot be found", failed.source, failed.reason);
    }
    let mut others = others(store, tasks)?;
    if others.is_empty() {
        return Ok(());
    }
    let count = others.len();
    let known = store.known()?;
    let has_runs = |source: &&String| known.get(*source).is_some_and(|known| !known.is_failed);
    let runs: HashSet<&String> = others.iter().filter(has_runs).flat_map(|source| &known[source].run_ids).collect();
    // Copies of what is forgotten are read again: one of them counts now.
    let copies = known.iter().filter(|(_, known)| known.is_failed && known.run_ids.iter().any(|id| runs.contains(id)));
    let copies: Vec<String> = copies.map(|(source, _)| source.clone()).collect();
    others.extend(copies);
    store.forget(&others)?;
    complain(&format!("removed {} not among the inputs", several(count, "file")));
    Ok(())
}

/// Files that are not among the inputs any more stay: reports name and count them.
fn tell_others(store: &Store, inputs: &Inputs) -> Result<()> {
    let mut others = others(store, &inputs.tasks)?;
    for failed in &inputs.failures {
        others.remove(&failed.source);
    }
    let Some(first) = others.iter().min() else { return Ok(()) };
    let text = match others.len() {
        1 => format!("1 file of the dataset is not among the inputs, {first}; its runs stay"),
        count => {
            let files = several(count, "file");
            format!("{files} of the dataset are not among the inputs, such as {first}; their runs stay")
        }
    };
    warning(&format!("{text}; --remove-others removes them"));
    Ok(())
}
