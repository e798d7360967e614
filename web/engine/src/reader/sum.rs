//! Sums several reports from users, like `fleet tree`.

use std::collections::HashSet;

use traceparse::fleet::{MeasureOptions, PoolError, PooledStacks, RunContext};
use traceparse::recording::{Intervals, Options, Recording};
use traceparse::units::first_of;
use traceparse::{Analysis, Error, ErrorKind};

use super::recording::{Chosen, Loaded};
use super::{Reading, sentence};

/// Reads reports one after another, and writes the payload of their sum. Those that cannot be read are named.
pub(super) fn of_reports(all: &[Chosen<'_, '_>], options: &Options, mut reading: Reading) -> Result<Reading, Error> {
    let mut sum = PooledStacks::new(&options.memory);
    let measured = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
    let mut contents = HashSet::new();
    for (number, chosen) in all.iter().enumerate() {
        if chosen.content().is_ok_and(|content| !contents.insert(content)) {
            reading.refused.push(format!("{}: a copy of another report, which counts once", chosen.name()));
            continue;
        }
        let Loaded { name, analysis, .. } = match chosen.load(options, &mut reading) {
            Err(error) if matches!(error.kind, ErrorKind::Memory(_)) => return Err(error),
            Err(error) => {
                reading.refused.push(sentence(&error));
                continue;
            }
            Ok(loaded) => loaded,
        };
        let recording = analysis.recording();
        if has_times(recording) {
            return Err(refused(all));
        }
        let context = RunContext { run_id: number.to_string(), source: name.clone(), ..RunContext::default() };
        match recording.measure(&context, &measured) {
            Ok(measured) => measured.runs.iter().try_for_each(|run| sum.add(run, |_, _, _| true)).map_err(failed)?,
            Err(reason) => reading.refused.push(format!("{name}: {reason}")),
        }
    }
    let count = sum.run_count();
    let recording = sum.finish("reports").map_err(failed)?;
    let name = format!("{count} reports");
    Loaded { name, analysis: Analysis::new(recording), intervals: Intervals::default() }.written(reading)
}

/// True for measurements, which are compared and not summed.
fn has_times(recording: &Recording) -> bool {
    recording.profile.series_ids().any(|id| recording.profile.series(id).has_times)
}

fn refused(all: &[Chosen<'_, '_>]) -> Error {
    let names: Vec<&str> = all.iter().map(Chosen::name).collect();
    let text = format!(
        "{} recordings were dropped: {}; drop one, two to compare, or several reports from users to sum",
        names.len(),
        first_of(&names)
    );
    Error::new(ErrorKind::NotAnExport(text), None)
}

fn failed(error: PoolError) -> Error {
    match error {
        PoolError::Memory(over) => Error::memory(over, None),
        other => Error::new(ErrorKind::NotAnExport(other.to_string()), None),
    }
}
