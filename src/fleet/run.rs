//! The measurements of one run, as the rows of a dataset. They can be restricted to some threads, and their names can be merged into a fleet's.

use std::hash::BuildHasher as _;
use std::ops::Range;

use super::identity;
use super::options::FleetOptions;
use crate::hash::BuildHasher;
use crate::intervals::RunIntervals;
use crate::memory::of_vec;
use crate::profile::{Category, StringId, Strings};
use crate::recording::TimeSource;
use crate::stats::BinnedValues;
use crate::units::{Millionths, Nanos, Unit};
use hashbrown::HashTable;

/// A row of the table `runs`: a run's source, labels and totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Identifies the run: a hash of the file's content in hex, followed by hashes of the table of contents next to it, of manifest labels, and,
    /// for a run without samples, of the path. From the second run of a file on, there is a suffix `-2`, `-3` ….
    pub run_id: String,
    /// A hash in hex of everything that determines the run's other rows: content, table of contents, labels and settings. If a dataset contains a
    /// file with this fingerprint, its rows are up to date.
    pub fingerprint: String,
    /// The path of the export.
    pub source: String,
    /// The size of the export in bytes.
    pub source_bytes: u64,
    /// The number of the run in the file, from 1: the run number, as in [`Selection::runs`](crate::profile::Selection::runs), or the position of
    /// a report from the field.
    pub number: u32,
    /// The labels for cohorts, sorted by key: `app`, `app_version`, `device`, `os`, `os_build`, and those from a manifest. Unknown values have no
    /// entry.
    pub labels: Vec<(String, String)>,
    /// The number of runs that this run represents, if runs were sampled with unequal probabilities; 1 unless a manifest sets it.
    pub run_weight: Millionths,
    /// When the recording started (ISO 8601), if the table of contents contains it.
    pub start: Option<String>,
    /// The recorded time; `None` if unknown (no table of contents, and a single sample whose weight is not a time). The run then has no rate.
    pub wall: Option<Nanos>,
    /// The source of `wall`.
    pub wall_source: TimeSource,
    /// Where the recorded time begins on the time axis of windows: at 0 with a table of contents, otherwise at the first sample. With several
    /// `parts`, the start of the first.
    pub wall_start: Nanos,
    /// If several intervals were selected, the start and end of each selected part of the recorded time, sorted and disjoint; `wall` is their
    /// total length. Empty for a single part, which `wall_start` and `wall` describe.
    pub parts: Vec<(Nanos, Nanos)>,
    /// The schema of the measured table, such as `time-profile`.
    pub schema: String,
    /// The unit of every weight of the run.
    pub unit: Unit,
    /// The weight of all selected samples.
    pub weight: u64,
    /// The number of selected samples.
    pub samples: u64,
    /// The effective sample size: the number of equally weighted samples with the same noise (Kish: (Σw)² / Σw²), rounded down. Equals `samples` if
    /// all weights are equal.
    pub effective_samples: u64,
    /// The number of unreadable rows in the table and in its tables of intervals. In the first run of a file, includes unreadable values of
    /// reports.
    pub rejected: u64,
    /// The number of damaged runs in the recording, which are counted nowhere else. Only the first run of a file has this number, and others have
    /// 0, so sums are correct.
    pub unread_runs: u32,
    /// The number of runs in the recording without selected samples, which are counted nowhere else. Only the first run of a file has this
    /// number.
    pub excluded_runs: u32,
    /// The number of cores that ran a sample; 0 if cores were not recorded, or the run was [restricted to some threads](RunMeasures::of_threads).
    pub cores: u32,
    /// The most frequent sample weight. In nanoseconds, this is the sampling interval.
    pub usual_weight: u64,
    /// The version of this crate that measured the run.
    pub parser_version: String,
    /// Sentences for the reader about the measurement, for example about an unused table of contents.
    pub notes: Vec<String>,
}

impl AsRef<Self> for RunRecord {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl RunRecord {
    /// Creates a failure in place of this run.
    pub(crate) fn failure(&self, kind: FailureKind, reason: String) -> FailedInput {
        FailedInput {
            source: self.source.clone(),
            source_bytes: self.source_bytes,
            run_id: Some(self.run_id.clone()),
            fingerprint: self.fingerprint.clone(),
            kind,
            reason,
            labels: self.labels.clone(),
        }
    }

    /// Creates the failure for a file that is a copy of `first`. It has no labels, since the original has them.
    pub(crate) fn copy_of(&self, first: &str) -> FailedInput {
        let run_id = Some(identity::of_file(&self.run_id).to_owned());
        FailedInput { run_id, labels: Vec::new(), ..self.failure(FailureKind::Duplicate, identity::copy_reason(first)) }
    }

    /// The value of a label; `None` if unknown.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        let texts = [&self.run_id, &self.fingerprint, &self.source, &self.schema, &self.parser_version];
        let texts = texts.into_iter().chain(&self.start).map(|text| text.capacity() as u64).sum::<u64>();
        size_of::<Self>() as u64 + texts + of_texts(&self.notes) + of_labels(&self.labels) + of_vec(&self.parts)
    }

    /// Returns a weight of this run per recorded time: in percent of one core for nanoseconds (100 % is one core; more is possible), otherwise in
    /// units per second. `None` if the recorded time is unknown.
    pub fn rate(&self, weight: u64) -> Option<Millionths> {
        rate_of(weight, self.unit, self.wall?)
    }

    /// The complete seconds that were recorded and selected, in order. These windows may be compared. A single part has one range, which is empty
    /// if the run is shorter than a window. Several parts have one range for each part with a complete second.
    pub fn whole_seconds(&self) -> Vec<Range<u32>> {
        let Some(wall) = self.wall.filter(|_| self.wall_source != TimeSource::Report) else { return Vec::new() };
        if self.parts.is_empty() {
            return vec![whole_seconds(self.wall_start, self.wall_start.saturating_add(wall))];
        }
        let seconds = self.parts.iter().map(|&(start, end)| whole_seconds(start, end));
        seconds.filter(|seconds| !seconds.is_empty()).collect()
    }

    /// The values of the columns `first_whole_second` and `end_whole_second`. `None` for several parts, since one range would include the seconds
    /// in between.
    #[cfg(feature = "dataset")]
    pub(super) fn copied_seconds(&self) -> Option<Range<u32>> {
        self.parts.is_empty().then(|| self.whole_seconds().first().cloned().unwrap_or_default())
    }
}

/// The complete seconds between two points of the time axis.
fn whole_seconds(start: Nanos, end: Nanos) -> Range<u32> {
    const SECOND: u64 = 1_000_000_000;
    let clamp = |second: u64| u32::try_from(second).unwrap_or(u32::MAX);
    let first = start.as_nanos().div_ceil(SECOND);
    clamp(first)..clamp((end.as_nanos() / SECOND).max(first))
}

/// Returns `weight` per recorded time: in percent of one core for nanoseconds (100 % is one core; more is possible), otherwise in units per
/// second. Rounded to the nearest millionth, halves up; `None` if `wall` is 0. Saturates at the largest number of a dataset, far beyond any real rate.
pub(crate) fn rate_of(weight: u64, unit: Unit, wall: Nanos) -> Option<Millionths> {
    let (weight, wall) = (u128::from(weight) * unit.rate_per_nano(), u128::from(wall.as_nanos()));
    let largest = Millionths::new(i64::MAX as u64);
    (wall > 0).then(|| Millionths::of_ratio(weight, wall).map_or(largest, |rate| rate.min(largest)))
}

/// A name in one run: an index of [`RunMeasures::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

impl NameId {
    /// The id of no name, which reads as an empty string.
    pub const NONE: Self = Self(u32::MAX);
}

/// The weights of a function in all threads of a process with the same name, with separate rows for main threads: a row of the table `frames`. In
/// the table `modules`, the weights of an entire binary, which are not the sum over its functions, since a sample in two of them counts once.
///
/// The self weights of all rows add up to the run's weight. A thread without selected samples has one row of zeros, with the function
/// [`STACKLESS`](Self::STACKLESS) and no binary, so idle threads remain visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameRow {
    /// The name of the process.
    pub process: NameId,
    /// The name of the thread. Threads of a process with the same name share a row, or two if some are main threads.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The name of the binary; empty for code in no known binary, and for samples without a stack.
    pub binary: NameId,
    /// The function, [`UNNAMED`](Self::UNNAMED) or [`STACKLESS`](Self::STACKLESS); [`NameId::NONE`] in a row for a binary.
    pub function: NameId,
    /// The weight of samples whose leaf is this function or in this binary.
    pub self_weight: u64,
    /// The weight of samples that contain it anywhere in their stack, counted once per sample.
    pub all_weight: u64,
    /// The number of samples whose leaf is this function or in this binary.
    pub self_samples: u64,
    /// The number of samples that contain it anywhere in their stack.
    pub all_samples: u64,
}

impl RunRecord {
    /// The label for the function that crashed.
    pub(crate) const CRASHED_IN: &'static str = "crashed_in";
}

impl FrameRow {
    /// The function name for all code of a binary without symbols. It shares one row, since addresses differ from run to run.
    pub const UNNAMED: &'static str = "(unnamed)";
    /// The function name of samples without a stack.
    pub const STACKLESS: &'static str = "(no stack)";

    /// Weight and number of samples: anywhere in stacks if `is_all`, otherwise as the leaf.
    pub(super) const fn sum(&self, is_all: bool) -> (u64, u64) {
        if is_all { (self.all_weight, self.all_samples) } else { (self.self_weight, self.self_samples) }
    }
}

/// The weight in one second of all threads of a process with the same name, with separate rows for main threads: a row of the table `windows`.
/// Seconds without samples have no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowRow {
    /// The name of the process.
    pub process: NameId,
    /// The name of the thread.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The second since the start of the recording: second 0 is from 0 s (inclusive) to 1 s (exclusive).
    pub second: u32,
    /// The weight of the samples in this second.
    pub weight: u64,
    /// The number of samples in this second.
    pub samples: u64,
}

/// A node in the call tree of all threads of a process with the same name: a row of the table `stacks`. Code of a binary without symbols is one
/// function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// The name of the process.
    pub process: NameId,
    /// The name of the thread.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The index of the caller's row, which precedes this one; `None` for an outermost function.
    pub parent: Option<u32>,
    /// The name of the binary, as in [`FrameRow`].
    pub binary: NameId,
    /// The category of the binary, which its name alone does not reveal.
    pub category: Category,
    /// The function or [`FrameRow::UNNAMED`]. Without a caller, it may be [`FrameRow::STACKLESS`].
    pub function: NameId,
    /// The weight of samples whose leaf is this node.
    pub self_weight: u64,
    /// The number of samples whose leaf is this node.
    pub self_samples: u64,
}

/// The measurements of one run, which is all that a fleet keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMeasures {
    /// The run.
    pub record: RunRecord,
    /// The distinct names that rows refer to.
    pub names: Vec<String>,
    /// Functions, sorted by process, thread (main threads last), binary and function.
    pub frames: Vec<FrameRow>,
    /// Binaries, sorted by process, thread (main threads last) and binary.
    pub binaries: Vec<FrameRow>,
    /// Seconds, sorted by process, thread (main threads last) and second.
    pub windows: Vec<WindowRow>,
    /// Call trees, sorted by process and thread (main threads last). Empty unless they were [requested](super::MeasureOptions::with_stacks).
    pub stacks: Vec<StackRow>,
    /// The signpost intervals and hangs; `None` without a table of them, or unless [requested](super::MeasureOptions::with_intervals).
    pub intervals: Option<RunIntervals>,
    /// A day's duration histograms in nanoseconds, with their [names](crate::recording::DurationHistogram::name). Datasets do not store them.
    pub histograms: Vec<(String, BinnedValues)>,
}

impl StackRow {
    /// Keeps the rows of wanted trees, and updates their parent indices. `is_wanted` must be the same for all rows of a tree.
    pub(super) fn only(rows: &[Self], is_wanted: impl Fn(&Self) -> bool) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        let mut places = vec![0; rows.len()];
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| is_wanted(row)) {
            places[index] = kept.len() as u32;
            kept.push(Self { parent: row.parent.and_then(|parent| places.get(parent as usize).copied()), ..*row });
        }
        kept
    }
}

impl RunMeasures {
    /// A run without rows.
    pub(crate) fn of_record(record: RunRecord) -> Self {
        Self {
            record,
            names: Vec::new(),
            frames: Vec::new(),
            binaries: Vec::new(),
            windows: Vec::new(),
            stacks: Vec::new(),
            intervals: None,
            histograms: Vec::new(),
        }
    }

    /// The string of a name. An id that is out of range, from another run, is empty.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// The approximate memory use in bytes.
    pub fn memory(&self) -> u64 {
        let rows = of_vec(&self.frames) + of_vec(&self.binaries) + of_vec(&self.windows) + of_vec(&self.stacks);
        let histograms: u64 = self.histograms.iter().map(|(_, values)| values.memory()).sum();
        rows + histograms
            + self.intervals.as_ref().map_or(0, RunIntervals::memory)
            + of_texts(&self.names)
            + self.record.memory()
    }
}

/// The approximate memory use of strings in bytes.
pub(super) fn of_texts(texts: &Vec<String>) -> u64 {
    of_vec(texts) + texts.iter().map(|text| text.capacity() as u64).sum::<u64>()
}

/// The approximate memory use of labels in bytes.
pub(super) fn of_labels(labels: &Vec<(String, String)>) -> u64 {
    of_vec(labels) + labels.iter().map(|(key, value)| (key.capacity() + value.capacity()) as u64).sum::<u64>()
}

/// Interns names.
#[derive(Debug, Default)]
pub struct NamesBuilder {
    names: Vec<String>,
    ids: HashTable<u32>,
    hasher: BuildHasher,
}

impl NamesBuilder {
    /// Interns a string.
    pub fn id(&mut self, text: &str) -> NameId {
        let Self { names, ids, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(&id) = ids.find(hash, |&id| names[id as usize] == text) {
            return NameId(id);
        }
        let id = names.len() as u32;
        names.push(text.to_owned());
        ids.insert_unique(hash, id, |&id| hasher.hash_one(&names[id as usize]));
        NameId(id)
    }

    /// Returns the names, indexed by id.
    pub fn finish(self) -> Vec<String> {
        self.names
    }
}

/// Why a file has no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The file could not be opened or read.
    Unreadable,
    /// The file has no bytes.
    Empty,
    /// The file was not written by `xctrace export`.
    NotAnExport,
    /// The file is incomplete: its document does not end.
    Truncated,
    /// The XML is invalid, or exceeds a limit.
    Malformed,
    /// The file has no CPU table, no requested table, or no selected samples.
    NoSamples,
    /// The selection excludes all of it: it has no such interval or thread, or ends before the selected time.
    NotSelected,
    /// Another file with the same content, table of contents and manifest labels is used instead.
    Duplicate,
}

impl FailureKind {
    /// All kinds of failures.
    pub const ALL: [Self; 8] = [
        Self::Unreadable,
        Self::Empty,
        Self::NotAnExport,
        Self::Truncated,
        Self::Malformed,
        Self::NoSamples,
        Self::NotSelected,
        Self::Duplicate,
    ];

    /// The name in machine-readable formats: `unreadable`, `empty`, `not-an-export`, `truncated`, `malformed`, `no-samples`, `not-selected`,
    /// `duplicate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Empty => "empty",
            Self::NotAnExport => "not-an-export",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::NoSamples => "no-samples",
            Self::NotSelected => "not-selected",
            Self::Duplicate => "duplicate",
        }
    }

    /// True if the missing run might have changed the report. False if it was omitted on purpose, or its measurements come from another file.
    pub(crate) const fn is_unmeasured(self) -> bool {
        !matches!(self, Self::Duplicate | Self::NotSelected)
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file without runs, and the reason. Reports list such files, but no number includes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedInput {
    /// The path of the file.
    pub source: String,
    /// The size of the file in bytes; 0 if unknown.
    pub source_bytes: u64,
    /// The id that its first run would have; `None` if the content is unreadable.
    pub run_id: Option<String>,
    /// Like [`RunRecord::fingerprint`]: the same file would fail again with the same settings.
    pub fingerprint: String,
    /// The kind of failure.
    pub kind: FailureKind,
    /// A sentence with what happened and what to do.
    pub reason: String,
    /// The file's labels from a manifest, sorted by key, which show the cohort that lacks it. Empty for copies.
    pub labels: Vec<(String, String)>,
}

impl FailedInput {
    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        let texts = [&self.source, &self.fingerprint, &self.reason];
        let texts = texts.into_iter().chain(&self.run_id).map(|text| text.capacity() as u64).sum::<u64>();
        size_of::<Self>() as u64 + texts + of_labels(&self.labels)
    }
}

impl RunMeasures {
    /// Restricts the run to some threads, by name and by whether they are main threads. Rows, weight and samples then cover only these threads,
    /// over the same recorded time. The effective sample size is reduced in proportion, and the number of cores becomes unknown. `None` if the
    /// run has no such thread. If the threads are idle, the result has weight 0.
    pub fn of_threads(&self, is_wanted: impl Fn(&str, bool) -> bool) -> Option<Self> {
        let wanted = |is_main: bool| self.names.iter().map(|name| is_wanted(name, is_main)).collect::<Vec<bool>>();
        let wanted = [wanted(false), wanted(true)];
        let has = |id: NameId, is_main: bool| {
            let known = wanted[usize::from(is_main)].get(id.0 as usize).copied();
            known.unwrap_or_else(|| is_wanted("", is_main))
        };
        let frames: Vec<_> = self.frames.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect();
        if frames.is_empty() {
            return None;
        }
        let add = |sum: (u64, u64), own: (u64, u64)| (sum.0.saturating_add(own.0), sum.1.saturating_add(own.1));
        let own = frames.iter().map(|row| (row.self_weight, row.self_samples));
        let (weight, samples) = own.fold((0, 0), add);
        let effective = u128::from(samples) * u128::from(self.record.effective_samples);
        let effective = effective / u128::from(self.record.samples.max(1));
        let effective_samples = u64::try_from(effective).unwrap_or(u64::MAX);
        Some(Self {
            record: RunRecord { weight, samples, effective_samples, cores: 0, ..self.record.clone() },
            names: self.names.clone(),
            frames,
            binaries: self.binaries.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect(),
            windows: self.windows.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect(),
            stacks: StackRow::only(&self.stacks, |row| has(row.thread, row.is_main_thread)),
            intervals: self.intervals.clone(),
            histograms: self.histograms.clone(),
        })
    }

    /// A sentence about a run that has no thread (or no main thread) with one of these names.
    pub fn no_thread(names: &[String], only_main_threads: bool) -> String {
        let thread = if only_main_threads { "main thread" } else { "thread" };
        match names {
            [] => format!("No {thread} is known."),
            [name] => format!("There is no {thread} named {name:?}."),
            names => format!("There is no {thread} with any of these names: {}.", names.join(", ")),
        }
    }
}

impl FleetOptions {
    /// True if the options select only some threads.
    pub fn narrows_threads(&self) -> bool {
        self.threads.is_some() || self.only_main_threads
    }

    /// True if the options select this thread of this process.
    #[cfg(feature = "dataset")]
    pub(super) fn selects_stack(&self, process: &str, thread: &str, is_main: bool) -> bool {
        let is_wanted = self.processes.is_empty() || self.processes.iter().any(|asked| asked == process);
        is_wanted && self.selects_thread(thread, is_main)
    }

    /// True if the options select a thread with this name.
    pub fn selects_thread(&self, name: &str, is_main: bool) -> bool {
        (is_main || !self.only_main_threads)
            && self.threads.as_ref().is_none_or(|names| names.iter().any(|asked| asked == name))
    }
}

/// A run whose names other runs may share.
#[derive(Clone, Copy)]
pub(super) struct RunRows<'r> {
    pub(super) record: &'r RunRecord,
    /// Indexed by id. An id that is out of range is the empty name.
    pub(super) names: &'r [String],
    pub(super) frames: &'r [FrameRow],
    pub(super) binaries: &'r [FrameRow],
    pub(super) windows: &'r [WindowRow],
    pub(super) stacks: &'r [StackRow],
    pub(super) intervals: Option<&'r RunIntervals>,
}

impl<'r> RunRows<'r> {
    pub(super) fn of(run: &'r RunMeasures) -> Self {
        let RunMeasures { record, names, frames, binaries, windows, stacks, intervals, .. } = run;
        Self { record, names, frames, binaries, windows, stacks, intervals: intervals.as_ref() }
    }

    /// The number of unreadable rows in the CPU table.
    pub(super) fn rejected(&self) -> u64 {
        self.record.rejected.saturating_sub(self.intervals.map_or(0, |intervals| intervals.unread))
    }

    pub(super) fn name(&self, id: NameId) -> &'r str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }
}

/// The interned names of all runs.
#[derive(Debug, Default)]
pub(super) struct FleetNames(Strings);

impl FleetNames {
    /// Interns a string.
    pub(super) fn id(&mut self, text: &str) -> StringId {
        // Four billion names would take more than 64 GB.
        self.0.intern(text).expect("a fleet has less than four billion names")
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.0.memory()
    }

    pub(super) fn get(&self, id: StringId) -> String {
        self.0.get(id).to_owned()
    }
}

/// Caches the fleet ids of a run's names, or of names that several runs share.
#[derive(Debug, Default)]
pub(super) struct KnownNames(Vec<Option<StringId>>);

/// Maps a run's names to the fleet's.
pub(super) struct RunNames<'n> {
    pub(super) names: &'n [String],
    pub(super) known: &'n mut KnownNames,
    pub(super) all: &'n mut FleetNames,
}

impl RunNames<'_> {
    /// Returns the fleet id of a name.
    pub(super) fn id(&mut self, name: NameId) -> StringId {
        let Self { names, known: KnownNames(known), all } = self;
        let index = name.0 as usize;
        if let Some(&Some(id)) = known.get(index) {
            return id;
        }
        let Some(text) = names.get(index) else { return all.id("") };
        let id = all.id(text);
        if index >= known.len() {
            known.resize(names.len(), None);
        }
        known[index] = Some(id);
        id
    }
}
