//! Sums many runs' call trees into one profile.
//!
//! Functions are matched by the names of binary and function, and threads by the names of process and thread (main threads separately), as
//! everywhere in a fleet. Runs keep their recorded weights. The result is an ordinary recording with one table of sums without times, so every
//! report, comparison and format works with it.

use std::collections::BTreeMap;
use std::fmt;

use super::run::{FrameRow, NameId, RunMeasures, RunRecord, StackRow};
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, Reservation};
use crate::profile::{
    Binary, Category, FrameId, FrameKey, Full, Meaning, ProcessId, ProfileBuilder, Run, RunId, SampleDetail,
    SampleKind, SampleSum, Series, SeriesId, StackId, ThreadId,
};
use crate::recording::{PageRun, PageSeries, Recording, SelectedTime, TimeSource, TocRun};
use crate::settings::{SCHEMA, STACKS, WHERE};
use crate::units::{Address, Nanos, Unit, several};

/// Sums the [stacks](RunMeasures::stacks) of runs. The order of runs does not affect the trees.
#[derive(Debug)]
pub struct PooledStacks {
    builder: ProfileBuilder,
    run: Option<(RunId, SeriesId)>,
    /// The number of runs by unit and table.
    kinds: BTreeMap<(Unit, String), u64>,
    runs: u64,
    samples: u64,
    /// The total recorded time; `None` if any run's is unknown.
    wall: Option<Nanos>,
    /// The source of that time: an estimate, if any run's time is one.
    wall_source: TimeSource,
    /// The number of runs with samples but without stacks, and the first of them.
    without: Option<(u64, String)>,
    reserved: Reservation,
}

/// Why runs cannot be pooled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// There are no runs.
    Nothing,
    /// Runs have different units: each table, its unit, and its number of runs.
    Mixed(Vec<(String, Unit, u64)>),
    /// Runs were measured without stacks: their number, the number of all runs, and the first one's source.
    WithoutStacks(u64, u64, String),
    /// A table of the profile is full.
    Full(Full),
    /// The profile exceeds the memory budget.
    Memory(OverBudget),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("there are no runs"),
            Self::Mixed(kinds) => {
                let kind = |(schema, unit, runs): &(String, Unit, u64)| {
                    format!("{} of {schema} in {}", several(*runs, "run"), unit.name())
                };
                let kinds: Vec<String> = kinds.iter().map(kind).collect();
                write!(
                    f,
                    "the runs have units that cannot be summed: {}; choose a table with {SCHEMA}, or a kind of report with {WHERE} \
                     diagnostic=hang",
                    kinds.join(", ")
                )
            }
            Self::WithoutStacks(count, runs, first) => {
                let runs = several(*runs, "run");
                write!(
                    f,
                    "{count} of {runs} have no stacks, such as {first}; extract the recordings again with {STACKS}"
                )
            }
            Self::Full(full) => full.fmt(f),
            Self::Memory(over) => over.fmt(f),
        }
    }
}

impl std::error::Error for PoolError {}

impl From<Full> for PoolError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl From<OverBudget> for PoolError {
    fn from(over: OverBudget) -> Self {
        Self::Memory(over)
    }
}

impl PooledStacks {
    /// Creates an empty sum whose profile is charged to this budget.
    pub fn new(budget: &MemoryBudget) -> Self {
        Self {
            builder: ProfileBuilder::with_detail(SampleDetail::Summed).within(budget.clone()),
            run: None,
            kinds: BTreeMap::new(),
            runs: 0,
            samples: 0,
            wall: Some(Nanos::default()),
            wall_source: TimeSource::Toc,
            without: None,
            reserved: budget.nothing(),
        }
    }

    /// The number of runs.
    pub fn run_count(&self) -> u64 {
        self.runs
    }

    /// Adds the selected stacks of a run. `is_wanted` is called with the names of process and thread, and whether it is a main thread.
    ///
    /// # Errors
    /// If a table is full, or the memory budget is exceeded. Runs with another unit or without stacks make [`finish`](Self::finish) fail, which
    /// lists all of them.
    pub fn add(&mut self, run: &RunMeasures, is_wanted: impl Fn(&str, &str, bool) -> bool) -> Result<(), PoolError> {
        let record = &run.record;
        self.runs += 1;
        *self.kinds.entry((record.unit, record.schema.clone())).or_default() += 1;
        if run.stacks.is_empty() && record.samples > 0 {
            let (count, first) = self.without.get_or_insert_with(|| (0, record.source.clone()));
            *count += 1;
            if record.source < *first {
                first.clone_from(&record.source);
            }
        }
        self.add_time(record);
        let is_other = |(unit, _): &(Unit, String)| *unit != record.unit;
        if self.without.is_some() || self.kinds.keys().any(is_other) {
            return Ok(());
        }
        self.add_stacks(run, is_wanted)?;
        Ok(self.reserved.resize(self.builder.memory())?)
    }

    fn add_time(&mut self, record: &RunRecord) {
        self.wall = self.wall.zip(record.wall).map(|(sum, wall)| sum.saturating_add(wall));
        // Reports from the field are not summed with recordings, since their units differ.
        if matches!(record.wall_source, TimeSource::Samples | TimeSource::Report) {
            self.wall_source = record.wall_source;
        }
    }

    fn add_stacks(&mut self, run: &RunMeasures, is_wanted: impl Fn(&str, &str, bool) -> bool) -> Result<(), Full> {
        let (run_id, series) = self.series(run.record.unit)?;
        let (mut threads, mut frames) = (HashMap::default(), HashMap::default());
        let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(run.stacks.len());
        for row in &run.stacks {
            let key = (row.process, row.thread, row.is_main_thread);
            let thread = match threads.get(&key) {
                Some(&thread) => thread,
                None => {
                    let [process, thread] = [row.process, row.thread].map(|id| run.name(id));
                    let is_wanted = is_wanted(process, thread, row.is_main_thread);
                    let thread = if is_wanted {
                        Some(self.thread(run_id, process, (thread, row.is_main_thread))?)
                    } else {
                        None
                    };
                    *threads.entry(key).or_insert(thread)
                }
            };
            let Some(thread) = thread else {
                stacks.push(None);
                continue;
            };
            let stack = self.stack(run, row, &stacks, &mut frames)?;
            stacks.push(stack);
            let (weight, samples) = (row.self_weight, row.self_samples);
            if weight > 0 || samples > 0 {
                self.samples = self.samples.saturating_add(samples);
                let (state, kind, times) = (None, SampleKind::Periodic, None);
                self.builder.add_sum(&SampleSum { series, thread, stack, state, kind, weight, samples, times })?;
            }
        }
        Ok(())
    }

    /// The only run and series. The first run decides the unit.
    fn series(&mut self, unit: Unit) -> Result<(RunId, SeriesId), Full> {
        if let Some(known) = self.run {
            return Ok(known);
        }
        let name = self.builder.string("")?;
        let run = self.builder.run(Run { input: name, document: 0, number: 0 })?;
        let series = Series::new(run, name, 0, unit).with_meaning(Meaning::of_unit(unit)).without_times();
        let series = self.builder.series(series)?;
        Ok(*self.run.insert((run, series)))
    }

    fn thread(&mut self, run: RunId, process: &str, (thread, is_main): (&str, bool)) -> Result<ThreadId, Full> {
        let [process, thread] = [process, thread].map(|name| self.builder.string(name));
        let process: ProcessId = self.builder.process(run, None, process?)?;
        self.builder.thread_by_name(process, thread?, is_main)
    }

    /// The stack of a row; `None` for samples without one. `stacks` contains the caller's stack.
    fn stack(
        &mut self,
        run: &RunMeasures,
        row: &StackRow,
        stacks: &[Option<StackId>],
        frames: &mut HashMap<(NameId, Category, NameId), FrameId>,
    ) -> Result<Option<StackId>, Full> {
        let [binary, function] = [row.binary, row.function].map(|id| run.name(id));
        if row.parent.is_none() && binary.is_empty() && function == FrameRow::STACKLESS {
            return Ok(None);
        }
        let key = (row.binary, row.category, row.function);
        let frame = match frames.get(&key) {
            Some(&frame) => frame,
            None => *frames.entry(key).or_insert(self.frame(binary, row.category, function)?),
        };
        let parent = row.parent.and_then(|parent| stacks.get(parent as usize).copied().flatten());
        self.builder.stack(parent, frame).map(Some)
    }

    fn frame(&mut self, binary: &str, category: Category, function: &str) -> Result<FrameId, Full> {
        let load_address = Address::default();
        let binary = match binary {
            "" => None,
            name => {
                let (name, path) = (self.builder.string(name)?, self.builder.string(&category.example_path(name))?);
                Some(self.builder.binary(Binary { name, uuid: None, arch: None, load_address, path })?)
            }
        };
        let name = self.builder.string(function)?;
        let function = self.builder.function(name, binary, function != FrameRow::UNNAMED)?;
        self.builder.frame(FrameKey {
            function,
            binary,
            address: load_address,
            source: None,
            is_inlined: false,
            group: 0,
        })
    }

    /// Returns the recording of all runs, called `12 runs of {name}` in reports.
    ///
    /// # Errors
    /// If there are no runs, if their units differ, or if some were measured without stacks.
    pub fn finish(mut self, name: &str) -> Result<Recording, PoolError> {
        let Some(((unit, _), _)) = self.kinds.first_key_value() else { return Err(PoolError::Nothing) };
        let unit = *unit;
        if self.kinds.keys().any(|(other, _)| *other != unit) {
            let kind = |((unit, schema), runs): (&(Unit, String), &u64)| (schema.clone(), *unit, *runs);
            return Err(PoolError::Mixed(self.kinds.iter().map(kind).collect()));
        }
        if let Some((count, first)) = self.without {
            return Err(PoolError::WithoutStacks(count, self.runs, first));
        }
        let (_, series) = self.series(unit)?;
        let schemas: Vec<&str> = self.kinds.keys().map(|(_, schema)| schema.as_str()).collect();
        self.builder.name_only_run(&format!("{} of {name}", several(self.runs, "run")), &schemas.join(", "))?;
        let mut profile = self.builder.finish();
        drop(self.reserved);
        profile.hold()?;
        let parts = self.wall.filter(|wall| wall.as_nanos() > 0).map(|wall| vec![(Nanos::default(), wall)]);
        let time = parts.map(|parts| SelectedTime::new(parts, self.wall_source, false));
        let run = PageRun { time, toc: TocRun::default() };
        let table = PageSeries { series, position: None, samples: self.samples, counters: None };
        Ok(Recording::of_page(profile, vec![run], &[table]))
    }
}
