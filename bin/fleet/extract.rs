//! `fleet extract`: exports into a dataset, each measured once.

use std::collections::HashSet;

use anyhow::{Result, bail, ensure};
use traceparse::fleet::FailedInput;

use super::batch::{self, Ended, Settings};
use super::cli::FleetExtractArgs;
use super::control::{AtInterrupt, Control};
use super::extraction::{Counts, Extraction};
use super::inputs::{self, Inputs, Task};
use super::notes::{self, counted, several};
use super::store::Store;
use super::symbols;
use crate::{EXIT_DONE, EXIT_INTERRUPTED, Failure, warning};

/// Rows of functions in a data file after `--compact`: some tens of megabytes.
const COMPACT_ROWS: u64 = 4_000_000;

/// Extracts, and says with which exit code the process ends.
pub(super) fn extract(args: &FleetExtractArgs) -> Result<u8, Failure> {
    if let Some(input) = args.inputs.inputs.iter().find(|input| Store::is_dataset(input)) {
        let message = format!("{}: is a dataset already; name exports, and the dataset with -o", input.display());
        return Err(Failure::Usage(message));
    }
    Ok(run(args)?)
}

fn run(args: &FleetExtractArgs) -> Result<u8> {
    let Inputs { tasks, failures, notes: found } = inputs::find(&args.inputs)?;
    notes::print(&found);
    let locator = symbols::find(&args.reading)?;
    let settings = Settings::new(&args.reading, locator.as_ref());
    let store = Store::create_or_open(&args.output)?;
    let control = Control::new(tasks.len(), batch::total_bytes(&tasks), AtInterrupt::Finish)?;
    let extraction = Extraction::new(&store, &tasks, &settings, &control)?;
    extraction.forget_stale()?;
    let ended = batch::run(&tasks, &settings, &control, &extraction);
    // Also after an error: what is in the dataset need not be hashed again.
    let counts = extraction.finish()?;
    let ended = ended?;
    print_failures(&failures, &counts);
    ended.notes.print();
    if control.is_interrupted() {
        let (done, all) = (counted(ended.done), several(tasks.len(), "file"));
        let folder = args.output.display();
        warning(&format!("interrupted after {done} of {all}, kept in {folder}; the same command goes on from there"));
        return Ok(EXIT_INTERRUPTED);
    }
    check_strict(&ended, &tasks, &failures, args)?;
    tell_others(&store, &tasks)?;
    if args.compact {
        let compacted = store.compact(COMPACT_ROWS)?;
        anstream::eprintln!("compacted {} into {}", several(compacted.before, "data file"), counted(compacted.after));
    }
    let failed = failures.len() + counts.failed;
    let [new, unchanged, failed_text] = [counts.new, counts.unchanged, failed].map(counted);
    anstream::eprintln!("extracted {new} new, {unchanged} unchanged, {failed_text} failed");
    ensure!(!tasks.is_empty() || failed > 0, "there are no exports");
    ensure!(counts.new + counts.unchanged > 0, "none of the {failed_text} files gave a run");
    Ok(EXIT_DONE)
}

fn print_failures(failures: &[FailedInput], counts: &Counts) {
    let all = failures.iter().chain(&counts.new_failures);
    let mut sentences: Vec<String> = all.map(|failed| format!("{}: {}", failed.source, failed.reason)).collect();
    sentences.sort();
    notes::print(&sentences);
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

/// Files that are not among the inputs any more stay: reports name and count them.
fn tell_others(store: &Store, tasks: &[Task]) -> Result<()> {
    let named: HashSet<&str> = tasks.iter().map(|task| task.display.as_str()).collect();
    let known = store.known()?;
    let others = known.keys().filter(|source| !named.contains(source.as_str()));
    if let Some(first) = others.clone().min() {
        let what = several(others.count(), "file");
        warning(&format!("{what} of the dataset not among the inputs, such as {first}: what they gave stays"));
    }
    Ok(())
}
