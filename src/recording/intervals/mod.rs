//! Signpost intervals, potential hangs and hang risks, in the form that all readers produce.

mod columns;
mod distinct;
mod pairs;
mod values;

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use super::Rejected;
use crate::error::Diagnostic;
use crate::profile::{IntervalFilter, Matcher, TimeRange};
use crate::units::Nanos;

pub(crate) use columns::{ROLES, Role, Wanted};
pub(crate) use pairs::{Identity as SignpostIdentity, ProcessCell};
pub(crate) use values::{RowKind, RowValues, TableValues, Texts};

/// The intervals of one or more inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    /// The intervals, in table order and then by start time.
    pub intervals: Vec<Interval>,
    /// Moments that may lead to hangs, in table order and then by time.
    pub hang_risks: Vec<HangRisk>,
    /// `os-signpost` ends without a beginning, which was lost or was before the recording. They are not intervals.
    pub lone_ends: Vec<LoneEnd>,
    /// The tables that were read.
    pub tables: Vec<IntervalTable>,
    /// The numbers of damaged runs, whose intervals are missing.
    pub unread_runs: Vec<u32>,
    /// The diagnostics from reading.
    pub diagnostics: Vec<Diagnostic>,
}

/// A table of intervals or hang risks, with its row counts: `rows` = `used` + `unused` + `rejected`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalTable {
    /// The name of the input.
    pub input: String,
    /// The run number, from 1.
    pub run: u32,
    /// `os-signpost-interval`, `OSSignpostIntervals`, `os-signpost`, `potential-hangs` or `hang-risks`; in recordings also
    /// `region-of-interest`.
    pub schema: String,
    /// The total number of rows.
    pub rows: u64,
    /// The number of rows that are an interval, a beginning or end of one, or a hang risk.
    pub used: u64,
    /// The number of signpost rows that belong to no interval: events, single points in time, and ends without a beginning.
    pub unused: u64,
    /// The rows that could not be read.
    pub rejected: Rejected,
    /// The position in the recording's data, as in an XPath; `None` in bundles.
    pub(crate) position: Option<u32>,
    /// The number of its intervals, which directly follow those of the previous table.
    pub(crate) intervals: usize,
}

/// The end of a signpost interval whose beginning was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoneEnd {
    /// The run number, from 1.
    pub run: u32,
    /// The time of the end.
    pub time: Nanos,
    /// The name of the signpost.
    pub name: Option<Arc<str>>,
}

/// A moment at which the app did something that may lead to a hang, such as waiting on the main thread. It is a row of `hang-risks`, and has no
/// duration, so it is not an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HangRisk {
    /// The run number, from 1.
    pub run: u32,
    /// The time since the start of the run.
    pub time: Nanos,
    /// A description of what the app did.
    pub message: Option<Arc<str>>,
    /// The severity, as worded by Instruments.
    pub severity: Option<Arc<str>>,
    /// The kind of risk, as worded by Instruments.
    pub event_type: Option<Arc<str>>,
    /// The name of the process.
    pub process: Option<Arc<str>>,
    /// The process id.
    pub pid: Option<u64>,
    /// The thread id.
    pub tid: Option<u64>,
}

/// `at 1.280 s of run 1: Orchard waited … (High)`.
impl fmt::Display for HangRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = |text: &Option<Arc<str>>| text.clone().filter(|text| !text.is_empty());
        let millis = self.time.as_nanos() / 1_000_000;
        write!(f, "at {}.{:03} s of run {}", millis / 1_000, millis % 1_000, self.run)?;
        if let Some(process) = given(&self.process) {
            write!(f, " in {process}")?;
        }
        for text in [&self.event_type, &self.message].into_iter().filter_map(given) {
            write!(f, ": {text}")?;
        }
        given(&self.severity).map_or(Ok(()), |severity| write!(f, " ({severity})"))
    }
}

/// The kind of row that an interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalOrigin {
    /// A row of `os-signpost-interval` or `OSSignpostIntervals`.
    Signpost,
    /// Two rows of `os-signpost`, or a beginning without an end.
    SignpostEvents,
    /// A row of `region-of-interest` with the class `Interval`. It has no category and no identifier.
    Region,
    /// A row of `potential-hangs`.
    Hang,
    /// A row of another table that has a start and a duration ([`Interval::table`]). Read only on request.
    Table,
}

/// A named or typed range of time. Times are relative to the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The kind of row that it comes from.
    pub origin: IntervalOrigin,
    /// The run number, from 1.
    pub run: u32,
    /// The start (inclusive).
    pub start: Nanos,
    /// The end (exclusive). `None` if the interval was open when the recording ended.
    pub end: Option<Nanos>,
    /// The name of the signpost; `None` for hangs.
    pub name: Option<Arc<str>>,
    /// A label in place of a name, if nearly every row of the table has a different one. Queries and rules for names match it.
    pub label: Option<Arc<str>>,
    /// The subsystem of the signpost, such as `com.apple.SkyLight`.
    pub subsystem: Option<Arc<str>>,
    /// The category of the signpost; for a Swift task, its priority.
    pub category: Option<Arc<str>>,
    /// The identifier that distinguishes signposts with the same name; for a Swift task, its number within the process.
    pub identifier: Option<u64>,
    /// The name of the process; for a signpost, the process in which it began.
    pub process: Option<Arc<str>>,
    /// The process id.
    pub pid: Option<u64>,
    /// The thread id; for a signpost, the thread in which it began.
    pub tid: Option<u64>,
    /// The severity of the hang, such as `Severe Hang`; `None` for signposts.
    pub hang_type: Option<Arc<str>>,
    /// The schema of the table, such as `hitches`; `None` for signposts and hangs.
    pub table: Option<Arc<str>>,
}

impl Interval {
    /// Creates an interval without names.
    pub(crate) fn new(origin: IntervalOrigin, run: u32, start: Nanos, end: Option<Nanos>) -> Self {
        let (name, label, subsystem, category, identifier) = Default::default();
        let (process, pid, tid, hang_type, table) = Default::default();
        Self {
            origin,
            run,
            start,
            end,
            name,
            label,
            subsystem,
            category,
            identifier,
            process,
            pid,
            tid,
            hang_type,
            table,
        }
    }

    /// True for a potential hang.
    pub fn is_hang(&self) -> bool {
        self.origin == IntervalOrigin::Hang
    }

    /// Returns the duration; `None` if the interval was open when the recording ended.
    pub fn duration(&self) -> Option<Nanos> {
        self.end.map(|end| end.since(self.start))
    }

    /// True for a signpost interval.
    pub fn is_signpost(&self) -> bool {
        !self.is_hang() && self.origin != IntervalOrigin::Table
    }

    /// Returns the name of the Swift task that the thread was running; `None` for other kinds of intervals.
    pub(crate) fn running_task(&self) -> Option<String> {
        let is_run = self.table.as_deref() == Some(Intervals::TASK_STATES) && self.name.as_deref() == Some("Running");
        let (process, pid) = (self.process.as_deref().unwrap_or_default(), self.pid);
        let process = pid.map_or_else(|| process.to_owned(), |pid| format!("{process} ({pid})"));
        is_run.then(|| Some(format!("task {} of {process}", self.identifier?))).flatten()
    }

    /// True if the interval has this name. Signpost intervals have the name of their signpost. Other intervals have the schema of their table,
    /// and their name or type if any: `hitches: Commit`, `potential-hangs: Severe Hang`, `core-data-save`.
    pub fn is_named(&self, name: &str) -> bool {
        let table = match (&self.table, self.is_hang()) {
            (Some(table), _) => &**table,
            (None, true) => Intervals::HANGS[0],
            (None, false) => return self.name.as_deref() == Some(name),
        };
        match name.strip_prefix(table) {
            Some("") => self.name_or_type().is_none(),
            Some(rest) => {
                let own = self.name_or_type().or(self.label.as_deref());
                own.is_some() && own == rest.strip_prefix(": ")
            }
            None => false,
        }
    }

    /// The name, or the type of a hang; `None` if empty.
    pub(crate) fn name_or_type(&self) -> Option<&str> {
        self.name.as_deref().or(self.hang_type.as_deref()).filter(|name| !name.is_empty())
    }
}

impl Intervals {
    /// Adds the intervals of another input.
    pub fn append(&mut self, mut other: Self) {
        self.intervals.append(&mut other.intervals);
        self.hang_risks.append(&mut other.hang_risks);
        self.lone_ends.append(&mut other.lone_ends);
        self.tables.append(&mut other.tables);
        self.unread_runs.append(&mut other.unread_runs);
        self.diagnostics.append(&mut other.diagnostics);
    }

    /// The tables that contain signpost intervals.
    pub const SIGNPOSTS: [&str; 4] =
        ["os-signpost-interval", "OSSignpostIntervals", "os-signpost", "region-of-interest"];
    /// The table that contains hangs.
    pub const HANGS: [&str; 1] = ["potential-hangs"];
    /// The table of Swift task states, with a row for each period in one state.
    pub const TASK_STATES: &str = "SwiftTaskStateTable";

    /// Returns a filter for intervals with these names, and for hangs if `has_hangs`. It selects samples in any of these intervals or, if
    /// `needs_all`, in an interval of every name.
    pub fn filter(&self, names: &[String], has_hangs: bool, needs_all: bool) -> IntervalFilter {
        let all = self.distinct();
        let ranges = |is_requested: &dyn Fn(&Interval) -> bool| -> Vec<(u32, TimeRange)> {
            let requested = all.iter().filter(|interval| is_requested(interval));
            requested.map(|interval| (interval.run, TimeRange { start: interval.start, end: interval.end })).collect()
        };
        // Drops repeated names.
        let distinct: BTreeSet<&String> = names.iter().collect();
        let hangs = has_hangs.then(|| ranges(&Interval::is_hang));
        let groups = distinct.iter().map(|name| ranges(&|interval| interval.is_named(name))).chain(hangs);
        match needs_all {
            true => IntervalFilter::intersection(names.to_vec(), has_hangs, groups),
            false => IntervalFilter::new(names.to_vec(), has_hangs, groups.flatten()),
        }
    }

    /// Returns the processes (pid and name) that have intervals and match a pattern.
    pub fn processes(&self, matcher: &Matcher) -> BTreeSet<(Option<u64>, &str)> {
        let owner = |row: &Interval| row.process.is_some() || row.pid.is_some();
        let all = self.intervals.iter().filter(|row| owner(row));
        let all: BTreeSet<_> = all.map(|row| (row.pid, row.process.as_deref().unwrap_or_default())).collect();
        matcher.of(all.into_iter(), |process| process).into_iter().collect()
    }

    /// Keeps only intervals of processes that match any pattern.
    pub fn retain_processes(&mut self, matchers: &[Matcher]) {
        let processes: BTreeSet<_> = matchers.iter().flat_map(|matcher| self.processes(matcher)).collect();
        let is_kept = |row: &Interval| processes.contains(&(row.pid, row.process.as_deref().unwrap_or_default()));
        let is_kept: Vec<bool> = self.intervals.iter().map(is_kept).collect();
        let mut rest = is_kept.as_slice();
        for table in &mut self.tables {
            let (own, others) = rest.split_at(table.intervals.min(rest.len()));
            table.intervals = own.iter().filter(|is_kept| **is_kept).count();
            rest = others;
        }
        let mut is_kept = is_kept.iter();
        self.intervals.retain(|_| is_kept.next() == Some(&true));
    }

    /// Returns the ends without a beginning, without duplicates: several tables may contain the same one.
    pub fn distinct_lone_ends(&self) -> HashSet<&LoneEnd> {
        self.lone_ends.iter().collect()
    }
}
