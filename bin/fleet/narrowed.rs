//! The runs of a file narrowed to some of their threads.

use traceparse::fleet::{FailureKind, Measured, RunMeasures};

use super::filters::AskedThreads;
use super::read_file::Refused;

/// The runs that have such threads, with nothing of other threads.
///
/// # Errors
/// When no run has one.
pub(super) fn narrowed(measured: Measured, threads: &AskedThreads) -> Result<Measured, Refused> {
    let Measured { runs, series, mut notes } = measured;
    let ids: Vec<String> = runs.iter().map(|run| run.record.run_id.clone()).collect();
    let narrow = |run: &RunMeasures| run.of_threads(|name, is_main| threads.matches(name, is_main));
    let kept = runs.iter().zip(series).filter_map(|(run, series)| Some((narrow(run)?, series)));
    let (mut kept, series): (Vec<RunMeasures>, Vec<_>) = kept.unzip();
    let reason = RunMeasures::no_thread(&threads.texts(), threads.only_main);
    let without = (runs.len() - kept.len()) as u32;
    for (run, id) in kept.iter_mut().zip(ids) {
        run.record.run_id = id;
    }
    let (Some(first), Some(before)) = (kept.first_mut(), runs.first()) else {
        return Err(Refused { kind: FailureKind::NotSelected, reason });
    };
    // The first run of a file tells what became of the others.
    first.record.unread_runs = before.record.unread_runs;
    first.record.excluded_runs = before.record.excluded_runs + without;
    if without > 0 {
        let said = format!("Excluded: {without} of {} runs. {reason}", runs.len());
        let own = std::mem::take(&mut first.record.notes);
        let all = before.record.notes.iter().cloned().chain(own).chain([said.clone()]);
        for note in all {
            if !first.record.notes.contains(&note) {
                first.record.notes.push(note);
            }
        }
        notes.push(said);
    }
    Ok(Measured { runs: kept, series, notes })
}
