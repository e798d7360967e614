//! Sums several reports from users, like `fleet tree`.

use std::collections::{BTreeMap, HashMap};

use traceparse::fleet::{MeasureOptions, PoolError, PooledStacks, RunContext, RunMeasures};
use traceparse::memory::MemoryBudget;
use traceparse::recording::{Intervals, Options, Recording};
use traceparse::units::{Unit, first_of, several};
use traceparse::{Analysis, Error, ErrorKind};

use super::recording::{Chosen, Loaded};
use super::{Reading, sentence};

/// Reads reports one after another, and writes the payload of their sum. Those that cannot be read or summed are named. If only recordings are
/// left, at most two, they are returned instead.
pub(super) fn of_reports(
    all: &[Chosen<'_, '_>],
    options: &Options,
    mut reading: Reading,
) -> Result<(Reading, Vec<Loaded>), Error> {
    let (mut kinds, mut recordings) = (Kinds::default(), Vec::new());
    let mut contents: HashMap<u64, &str> = HashMap::new();
    for (number, chosen) in all.iter().enumerate() {
        let name = chosen.name();
        let known = chosen.content().ok().map(|content| *contents.entry(content).or_insert(name));
        if let Some(first) = known.filter(|first| *first != name) {
            reading.refused.push(format!("{name}: a copy of {first}, which counts once"));
            continue;
        }
        let loaded = match chosen.load(options, &mut reading) {
            Err(error) if matches!(error.kind, ErrorKind::Memory(_)) => return Err(error),
            Err(error) => {
                reading.refused.push(sentence(&error));
                continue;
            }
            Ok(loaded) => loaded,
        };
        if has_times(loaded.analysis.recording()) {
            recordings.push(loaded);
            if recordings.len() > 2 || !kinds.is_empty() {
                return Err(refused(all));
            }
            continue;
        }
        kinds.measure(number, &loaded, &options.memory, &mut reading.refused)?;
        if !recordings.is_empty() && !kinds.is_empty() {
            return Err(refused(all));
        }
    }
    if !recordings.is_empty() {
        return Ok((reading, recordings));
    }
    Ok((kinds.sum(reading)?, Vec::new()))
}

/// The sums of each kind of report, and what they consist of.
#[derive(Default)]
struct Kinds {
    by_unit: BTreeMap<Unit, Kind>,
    /// The number of runs without stacks, by table.
    without: BTreeMap<String, u64>,
}

struct Kind {
    sum: PooledStacks,
    schema: String,
    names: Vec<String>,
}

impl Kinds {
    /// True if no report was measured, with stacks or without.
    fn is_empty(&self) -> bool {
        self.by_unit.is_empty() && self.without.is_empty()
    }

    /// Measures a report, and adds its runs.
    fn measure(
        &mut self,
        number: usize,
        Loaded { name, analysis, .. }: &Loaded,
        budget: &MemoryBudget,
        refused: &mut Vec<String>,
    ) -> Result<(), Error> {
        let context = RunContext { run_id: number.to_string(), source: name.clone(), ..RunContext::default() };
        let measured = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
        match analysis.recording().measure(&context, &measured) {
            Ok(measured) if measured.runs.is_empty() => refused.push(format!("{name}: it has nothing to sum")),
            Ok(measured) => measured.runs.iter().try_for_each(|run| self.add(run, name, budget))?,
            Err(reason) => refused.push(format!("{name}: {reason}")),
        }
        Ok(())
    }

    fn add(&mut self, run: &RunMeasures, name: &str, budget: &MemoryBudget) -> Result<(), Error> {
        let schema = &run.record.schema;
        if run.stacks.is_empty() {
            *self.without.entry(schema.clone()).or_default() += 1;
            return Ok(());
        }
        let new = || Kind { sum: PooledStacks::new(budget), schema: schema.clone(), names: Vec::new() };
        let kind = self.by_unit.entry(run.record.unit).or_insert_with(new);
        kind.names.push(name.to_owned());
        kind.sum.add(run, |_, _, _| true).map_err(failed)
    }

    /// Writes the sum of the most frequent kind, and names the others.
    fn sum(mut self, mut reading: Reading) -> Result<Reading, Error> {
        let most = self.by_unit.iter().max_by_key(|(_, kind)| kind.sum.run_count()).map(|(unit, _)| *unit);
        let Some(Kind { sum, schema, mut names }) = most.and_then(|unit| self.by_unit.remove(&unit)) else {
            let without = self.without.iter().map(|(schema, count)| without_stacks(schema, *count));
            let reasons: Vec<String> = without.chain(reading.refused).collect();
            let text = format!("none of these reports can be summed: {}", first_of(&reasons));
            return Err(Error::new(ErrorKind::NotAnExport(text), None));
        };
        let count = sum.run_count();
        names.dedup();
        for Kind { sum, schema: other, names } in self.by_unit.into_values() {
            let of = several(sum.run_count(), "report");
            let from = first_of(&names);
            reading.notes.push(format!("left out: {of} of {other}, which cannot be added to {schema} ({from})"));
        }
        for (schema, count) in self.without {
            reading.notes.push(format!("left out: {}", without_stacks(&schema, count)));
        }
        // The notes stay, also in a saved report.
        reading.notes.extend(reading.refused.iter().map(|reason| format!("not in the sum: {reason}")));
        if !reading.notes.is_empty() {
            reading.notes.push(format!("the sum of {}", first_of(&names)));
        }
        let recording = sum.finish("reports").map_err(failed)?;
        let name = several(count, "report");
        Loaded { name, analysis: Analysis::new(recording), intervals: Intervals::default() }.written(reading)
    }
}

/// Says that these reports are not in a sum.
fn without_stacks(schema: &str, count: u64) -> String {
    let reports = several(count, "report");
    match schema {
        "app-metrics" => format!("{reports} of crashes or daily metrics, which are not summed"),
        _ => format!("{reports} of {schema} without stacks"),
    }
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
