//! The data kept of one run: the rows of a dataset, narrowed to some threads, or added to a fleet with its names.

use std::hash::BuildHasher as _;
use std::ops::Range;

use super::identity;
use super::options::FleetOptions;
use crate::hash::BuildHasher;
use crate::memory::of_vec;
use crate::profile::{Category, StringId, Strings};
use crate::recording::{Interval, TimeSource};
use crate::stats::BinnedValues;
use crate::units::{Millionths, Nanos, Unit};
use hashbrown::HashTable;

/// A run: its source, its labels, and its totals. A row of the table `runs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Identifies the run: the hash of the file's content in hex, with hashes of the neighbouring table of contents, of manifest labels,
    /// and of the path if there are no samples; and with `-2`, `-3` … for the second run of a file and later ones.
    pub run_id: String,
    /// A hash in hex of everything that the other rows of this run depend on: content, table of contents, labels and settings. A dataset is
    /// up to date for a file if it has this fingerprint.
    pub fingerprint: String,
    /// The path of the export.
    pub source: String,
    /// The size of the export in bytes.
    pub source_bytes: u64,
    /// Its number in the file, from 1: of a run, as `--run` takes it, and of a report from the field, its position.
    pub number: u32,
    /// The labels for cohorts, sorted by key: `app`, `app_version`, `device`, `os`, `os_build`, and the labels in a
    /// manifest. A key without a known value is absent.
    pub labels: Vec<(String, String)>,
    /// The number of runs that this one represents, if runs were chosen with unequal chances; 1 unless a manifest sets
    /// it.
    pub run_weight: Millionths,
    /// The time when recording started (ISO 8601), if the table of contents gives it.
    pub start: Option<String>,
    /// The recorded time; `None` if it is unknown (a single sample whose weight is not a time, and no table of
    /// contents). The run then has no rate.
    pub wall: Option<Nanos>,
    /// The source of `wall`.
    pub wall_source: TimeSource,
    /// The recorded part of the time axis of windows, from here to `wall` later: 0 with a table of contents, else the
    /// first sample. With several `parts`, the start of the first.
    pub wall_start: Nanos,
    /// The start and end of each selected part of the recorded time, sorted and separate, if intervals selected
    /// several: `wall` is the sum of their lengths. Empty if there is only one part, which `wall_start` and `wall`
    /// describe.
    pub parts: Vec<(Nanos, Nanos)>,
    /// The table that was measured, such as `time-profile`.
    pub schema: String,
    /// The unit of every weight of the run.
    pub unit: Unit,
    /// The weight of all selected samples.
    pub weight: u64,
    /// The number of selected samples.
    pub samples: u64,
    /// The number of samples of equal weight that would be as noisy (Kish: (Σw)² / Σw²), rounded down; equals `samples` if all weights are
    /// equal.
    pub effective_samples: u64,
    /// Rows of the table that could not be read; the first run of a file also counts the quantities of reports that could not be read.
    pub rejected: u64,
    /// The number of damaged runs in the same recording, which are not counted anywhere else. The first run of a file
    /// has the number and the others 0, so that sums are right.
    pub unread_runs: u32,
    /// The number of runs in the same recording without selected samples, which are not counted anywhere else; the
    /// first run of a file has the number.
    pub excluded_runs: u32,
    /// The number of cores that ran a sample; 0 if none was recorded, or only some threads are [left](RunMeasures::of_threads).
    pub cores: u32,
    /// The most frequent weight of a sample, which is the sampling interval where the unit is nanoseconds.
    pub usual_weight: u64,
    /// The version of this crate that measured it.
    pub parser_version: String,
    /// Notes for the reader on how it was measured, in sentences: a table of contents that was not used, say.
    pub notes: Vec<String>,
}

impl AsRef<Self> for RunRecord {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl RunRecord {
    /// The failure that takes the place of this run.
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

    /// The failure of a file that is a copy of another one, whose labels are the same.
    pub(crate) fn copy_of(&self, first: &str) -> FailedInput {
        let run_id = Some(identity::of_file(&self.run_id).to_owned());
        FailedInput { run_id, labels: Vec::new(), ..self.failure(FailureKind::Duplicate, identity::copy_reason(first)) }
    }

    /// The value of a label; `None` if unknown.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> u64 {
        let texts = [&self.run_id, &self.fingerprint, &self.source, &self.schema, &self.parser_version];
        let texts = texts.into_iter().chain(&self.start).map(|text| text.capacity() as u64).sum::<u64>();
        size_of::<Self>() as u64 + texts + of_texts(&self.notes) + of_labels(&self.labels) + of_vec(&self.parts)
    }

    /// The measure of a weight in this run, per recorded time: percent of one core for nanoseconds (100 % is one core, more are possible), else its unit per second; `None` if the recorded time is not known.
    pub fn rate(&self, weight: u64) -> Option<Millionths> {
        rate_of(weight, self.unit, self.wall?)
    }

    /// The seconds of the time axis that were recorded, and selected, from start to end: the windows that may be compared. In order; one
    /// range, which is empty for runs shorter than a window, or of several parts each that has a whole second.
    pub fn whole_seconds(&self) -> Vec<Range<u32>> {
        let Some(wall) = self.wall.filter(|_| self.wall_source != TimeSource::Report) else { return Vec::new() };
        if self.parts.is_empty() {
            return vec![whole_seconds(self.wall_start, self.wall_start.saturating_add(wall))];
        }
        let seconds = self.parts.iter().map(|&(start, end)| whole_seconds(start, end));
        seconds.filter(|seconds| !seconds.is_empty()).collect()
    }

    /// The columns `first_whole_second` and `end_whole_second`. With several parts, they would include the seconds in
    /// between.
    #[cfg(feature = "dataset")]
    pub(super) fn copied_seconds(&self) -> Option<Range<u32>> {
        self.parts.is_empty().then(|| self.whole_seconds().first().cloned().unwrap_or_default())
    }
}

/// The complete seconds from start to end in a part of the time axis.
fn whole_seconds(start: Nanos, end: Nanos) -> Range<u32> {
    const SECOND: u64 = 1_000_000_000;
    let clamp = |second: u64| u32::try_from(second).unwrap_or(u32::MAX);
    let first = start.as_nanos().div_ceil(SECOND);
    clamp(first)..clamp((end.as_nanos() / SECOND).max(first))
}

/// Returns `weight` per recorded time: percent of one core for nanoseconds (100 % is one core, more are possible), else its unit per
/// second. Rounded to the nearest millionth, halves up; `None` for no time. A rate too large for the type, far beyond anything real,
/// becomes the largest number.
pub(crate) fn rate_of(weight: u64, unit: Unit, wall: Nanos) -> Option<Millionths> {
    let (weight, wall) = (u128::from(weight) * unit.rate_per_nano(), u128::from(wall.as_nanos()));
    let largest = Millionths::new(u64::MAX);
    (wall > 0).then(|| Millionths::of_ratio(weight, wall).unwrap_or(largest))
}

/// A name of one run: an index of [`RunMeasures::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

impl NameId {
    /// The name of nothing, which is empty.
    pub const NONE: Self = Self(u32::MAX);
}

/// The weights of a binary's function in the threads with one name in a process, main threads and others separately: a
/// row of the table `frames`. Or of a complete binary: a row of the table `modules`, which is not the sum of the
/// binary's functions, since a sample in two of them is counted once.
///
/// The self weights of all rows add up to the weight of the run. Threads of the recording without a sample that counts have one row of zeros,
/// of [`STACKLESS`](Self::STACKLESS) in no binary: an idle thread is there, and used nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameRow {
    /// The process, by name.
    pub process: NameId,
    /// The thread, by name; threads with one name in one process are one row, or two if some of them are main threads.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The binary, by name; empty for code outside every known binary and for samples without a stack.
    pub binary: NameId,
    /// The function, [`UNNAMED`](Self::UNNAMED) or [`STACKLESS`](Self::STACKLESS); [`NameId::NONE`] for a binary.
    pub function: NameId,
    /// Weight of samples in which it is the leaf, or the leaf is in it.
    pub self_weight: u64,
    /// Weight of samples that have it anywhere in their stack; once each.
    pub all_weight: u64,
    /// Samples in which it is the leaf, or the leaf is in it.
    pub self_samples: u64,
    /// Samples that have it anywhere in their stack.
    pub all_samples: u64,
}

impl RunRecord {
    /// The label of a crash that says where it happened.
    pub(crate) const CRASHED_IN: &'static str = "crashed_in";
}

impl FrameRow {
    /// The function name of all code of a binary that has no names. Addresses differ from run to run, so they are one row.
    pub const UNNAMED: &'static str = "(unnamed)";
    /// The function name of samples without a stack.
    pub const STACKLESS: &'static str = "(no stack)";

    /// Weight and samples: those anywhere in stacks, or those of leaves.
    pub(super) const fn sum(&self, is_all: bool) -> (u64, u64) {
        if is_all { (self.all_weight, self.all_samples) } else { (self.self_weight, self.self_samples) }
    }
}

/// The weight of the threads with one name in one second, main threads and others separately. A row of the table
/// `windows`; seconds without samples have no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowRow {
    /// The process, by name.
    pub process: NameId,
    /// The thread, by name.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The second, counted from the start of the recording: second 0 is from 0 s up to but without 1 s.
    pub second: u32,
    /// The weight of its samples.
    pub weight: u64,
    /// The number of its samples.
    pub samples: u64,
}

/// A function that was called by the same functions in the threads with one name in a process: a node of their call tree, and a row of
/// the table `stacks`. A binary's code without names is one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// The process, by name.
    pub process: NameId,
    /// The thread, by name.
    pub thread: NameId,
    /// True for [main threads](crate::profile::Thread::is_main).
    pub is_main_thread: bool,
    /// The index of its caller's row, which precedes it; `None` for an outermost function.
    pub parent: Option<u32>,
    /// The binary, by name, as in [`FrameRow`].
    pub binary: NameId,
    /// The category of the binary, which its name alone does not show.
    pub category: Category,
    /// The function, [`FrameRow::UNNAMED`], or [`FrameRow::STACKLESS`] without a caller.
    pub function: NameId,
    /// Weight of samples in which it is the leaf.
    pub self_weight: u64,
    /// Samples in which it is the leaf.
    pub self_samples: u64,
}

/// One run, measured: everything that a fleet keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMeasures {
    /// The run.
    pub record: RunRecord,
    /// The names that rows refer to, each once.
    pub names: Vec<String>,
    /// Functions, sorted by process and thread, main threads last, then by binary and function.
    pub frames: Vec<FrameRow>,
    /// Binaries, sorted by process and thread, main threads last, then by binary.
    pub binaries: Vec<FrameRow>,
    /// Seconds, sorted by process and thread, main threads last, then by second.
    pub windows: Vec<WindowRow>,
    /// Call trees, sorted by process and thread, main threads last; empty unless they were
    /// [requested](super::MeasureOptions::with_stacks).
    pub stacks: Vec<StackRow>,
    /// Its signposts and hangs, each once; empty unless they were [requested](super::MeasureOptions::with_intervals). Datasets do not keep
    /// them.
    pub intervals: Vec<Interval>,
    /// Durations of a day in nanoseconds, of which only the bins are known, by [name](crate::recording::DurationHistogram::name). Datasets do
    /// not keep them.
    pub histograms: Vec<(String, BinnedValues)>,
}

impl StackRow {
    /// The rows of complete trees, with the parents that they have then.
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
            intervals: Vec::new(),
            histograms: Vec::new(),
        }
    }

    /// The text of a name; empty for an id of another run that is past the end.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// About how many bytes it takes.
    pub fn memory(&self) -> u64 {
        let rows = of_vec(&self.frames) + of_vec(&self.binaries) + of_vec(&self.windows) + of_vec(&self.stacks);
        let histograms: u64 = self.histograms.iter().map(|(_, values)| values.memory()).sum();
        rows + histograms + of_vec(&self.intervals) + of_texts(&self.names) + self.record.memory()
    }
}

/// The approximate memory of strings in bytes.
pub(super) fn of_texts(texts: &Vec<String>) -> u64 {
    of_vec(texts) + texts.iter().map(|text| text.capacity() as u64).sum::<u64>()
}

/// About how many bytes labels take.
pub(super) fn of_labels(labels: &Vec<(String, String)>) -> u64 {
    of_vec(labels) + labels.iter().map(|(key, value)| (key.capacity() + value.capacity()) as u64).sum::<u64>()
}

/// Collects names, each once.
#[derive(Debug, Default)]
pub struct NamesBuilder {
    names: Vec<String>,
    ids: HashTable<u32>,
    hasher: BuildHasher,
}

impl NamesBuilder {
    /// Returns the id of a string.
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

    /// The names by id.
    pub fn finish(self) -> Vec<String> {
        self.names
    }
}

/// The reason why a file gave no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The file could not be opened or read.
    Unreadable,
    /// The file has no bytes.
    Empty,
    /// The file was not written by `xctrace export`.
    NotAnExport,
    /// The file ends before its document does.
    Truncated,
    /// The XML is invalid, or exceeds a limit.
    Malformed,
    /// The file has no CPU table, no requested table, or no selected samples.
    NoSamples,
    /// The selection leaves nothing of it: it has no such interval or thread, or ended before the selected time.
    NotSelected,
    /// Another file has the same content, table of contents and manifest labels, and is used.
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

    /// The name in machine formats: `unreadable`, `empty`, `not-an-export`, `truncated`, `malformed`, `no-samples`,
    /// `not-selected`, `duplicate`.
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

    /// True if the run might have changed any number of the report: it was neither left out on purpose nor is it used elsewhere.
    pub(crate) const fn is_unmeasured(self) -> bool {
        !matches!(self, Self::Duplicate | Self::NotSelected)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file without runs, and the reason. Every report names it, and no number includes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedInput {
    /// The path of the file.
    pub source: String,
    /// The size of the file in bytes, 0 if unknown.
    pub source_bytes: u64,
    /// The id that its first run would have; `None` if the content is unknown.
    pub run_id: Option<String>,
    /// As [`RunRecord::fingerprint`]; the same file with the same settings fails again.
    pub fingerprint: String,
    /// The kind of failure.
    pub kind: FailureKind,
    /// A sentence that explains what happened and what to do.
    pub reason: String,
    /// The labels that a manifest gives it, sorted by key: the cohort that it is missing from. Empty for copies.
    pub labels: Vec<(String, String)>,
}

impl FailedInput {
    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> u64 {
        let texts = [&self.source, &self.fingerprint, &self.reason];
        let texts = texts.into_iter().chain(&self.run_id).map(|text| text.capacity() as u64).sum::<u64>();
        size_of::<Self>() as u64 + texts + of_labels(&self.labels)
    }
}

impl RunMeasures {
    /// The run reduced to the selected threads, by name and by whether they are main threads: rows, weight and samples
    /// only cover these threads, over the same recorded time. The number of effective samples is reduced in proportion,
    /// and the number of cores is unknown. `None` for a run without such a thread; an existing thread that is idle has
    /// the weight 0.
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

    /// The sentence about a run without a thread with these names, or without a main thread with such a name.
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
    /// True if only some threads are selected.
    pub fn narrows_threads(&self) -> bool {
        self.threads.is_some() || self.only_main_threads
    }

    /// True for a thread with this name in a process with this name, main thread or not.
    #[cfg(feature = "dataset")]
    pub(super) fn selects_stack(&self, process: &str, thread: &str, is_main: bool) -> bool {
        let is_wanted = self.processes.is_empty() || self.processes.iter().any(|asked| asked == process);
        is_wanted && self.selects_thread(thread, is_main)
    }

    /// True for a thread with this name, main thread or not.
    pub fn selects_thread(&self, name: &str, is_main: bool) -> bool {
        (is_main || !self.only_main_threads)
            && self.threads.as_ref().is_none_or(|names| names.iter().any(|asked| asked == name))
    }
}

/// A run whose names may be shared by many runs.
#[derive(Clone, Copy)]
pub(super) struct RunRows<'r> {
    pub(super) record: &'r RunRecord,
    /// By id; an id past the end is the empty name.
    pub(super) names: &'r [String],
    pub(super) frames: &'r [FrameRow],
    pub(super) binaries: &'r [FrameRow],
    pub(super) windows: &'r [WindowRow],
    pub(super) stacks: &'r [StackRow],
    pub(super) intervals: &'r [Interval],
}

impl<'r> RunRows<'r> {
    pub(super) fn of(run: &'r RunMeasures) -> Self {
        let RunMeasures { record, names, frames, binaries, windows, stacks, intervals, .. } = run;
        Self { record, names, frames, binaries, windows, stacks, intervals }
    }

    pub(super) fn name(&self, id: NameId) -> &'r str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }
}

/// Names over all runs, each once.
#[derive(Debug, Default)]
pub(super) struct FleetNames(Strings);

impl FleetNames {
    /// Returns the id of a string.
    pub(super) fn id(&mut self, text: &str) -> StringId {
        // Four billion names would take more than 64 GB.
        self.0.intern(text).expect("a fleet has less than four billion names")
    }

    /// The approximate number of bytes they take.
    pub(super) fn memory(&self) -> u64 {
        self.0.memory()
    }

    pub(super) fn get(&self, id: StringId) -> String {
        self.0.get(id).to_owned()
    }
}

/// The fleet's ids of the names of one run, or of many that share them, as far as they were requested.
#[derive(Debug, Default)]
pub(super) struct KnownNames(Vec<Option<StringId>>);

/// The names of a run, and the names of the fleet.
pub(super) struct RunNames<'n> {
    pub(super) names: &'n [String],
    pub(super) known: &'n mut KnownNames,
    pub(super) all: &'n mut FleetNames,
}

impl RunNames<'_> {
    /// The id in the fleet of a name of the run.
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
