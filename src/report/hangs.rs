//! Why an app froze: its hangs and hitches, with what the thread did meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::stack_tables::heaviest_path;
use super::{Amount, ReportOptions, SeparateBy, View};
use crate::calltree::Node;
use crate::hash::HashMap;
use crate::profile::{Matcher, Profile, Selection, SeriesId, StateFilter, ThreadId, TimeRange};
use crate::recording::{Interval, IntervalOrigin, Intervals, Recording};
use crate::units::{Nanos, Unit, Weight};

/// A main thread that has no sample for this long was off the CPU, and may have returned to its run loop. A busy thread has one each
/// millisecond, or each million cycles.
const LONGEST_GAP: Nanos = Nanos::from_millis(5);

/// From this share of a core on, in percent, a thread was busy.
const BUSY: f64 = 50.0;

/// The cycles that a core makes in a nanosecond, at least, while it is busy.
const LEAST_CLOCK: f64 = 1.0;

/// The ends of the names of tables that record what threads wait in: `syscall`, `fs-syscall`, `thread-state`.
const WAITS: [&str; 2] = ["syscall", "thread-state"];

/// The schema of hitches.
const HITCHES: &str = "hitches";

/// The hangs and hitches of a recording.
#[derive(Clone, Debug, Default)]
pub struct HangReport {
    /// The hangs by time; or, if they were not recorded, stretches of at least [`BUSY_STRETCH`](Self::BUSY_STRETCH) in which a main thread was on the CPU without
    /// a pause.
    pub hangs: Vec<Hang>,
    /// True if hangs were recorded: there is a table of them, which may be empty.
    pub is_recorded: bool,
    /// Rows of hangs that could not be read.
    pub rejected: u64,
    /// True if there are CPU samples.
    pub has_samples: bool,
    /// Frames that were shown too late, by time.
    pub hitches: Vec<Hang>,
    /// The sum of the hitches' durations, which is how late frames were; in milliseconds for each second recorded. This is Apple's hitch
    /// time ratio. `None` without hitches, or if the recorded time is unknown.
    pub hitch_ratio: Option<f64>,
}

/// A stretch of time in which an app did not respond.
#[derive(Clone, Debug)]
pub struct Hang {
    /// The row of the recording. For a hitch, its name is Instruments' word for the cause.
    pub interval: Interval,
    /// The thread: the one of the row, or the main thread of its process. Its name is in the profile.
    pub thread: Option<ThreadId>,
    /// What the thread did; `None` if no samples of the run were recorded.
    pub activity: Option<HangActivity>,
    /// The names of the signposts of the process that were open meanwhile, in alphabetical order.
    pub signposts: Vec<Arc<str>>,
    /// The system calls and states of its thread meanwhile, if they were recorded, by their total.
    pub waits: Vec<HangWait>,
}

/// The time that a thread spent in a system call, or in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HangWait {
    /// The table that records it, such as `fs-syscall`.
    pub table: Arc<str>,
    /// The call or the state, such as `fsync`.
    pub name: Arc<str>,
    /// How often it was recorded.
    pub count: u64,
    /// The sum of the parts that are within the hang.
    pub total: Nanos,
}

/// What a thread did in a stretch of time.
#[derive(Clone, Debug)]
pub struct HangActivity {
    /// Its samples on the CPU.
    pub on_cpu: Amount,
    /// The share of the time on the CPU, in percent; `None` if the table does not record time.
    pub percent: Option<f64>,
    /// True if it was busy for half of the time or more, false if it was blocked or waited; `None` if the samples do not tell.
    pub is_busy: Option<bool>,
    /// The heaviest stack on the CPU: each function is the heaviest callee of the one before.
    pub heaviest: Vec<Node>,
    /// The samples off the CPU, if the table has any.
    pub off_cpu: Amount,
    /// The heaviest stack off the CPU.
    pub waiting: Vec<Node>,
    /// The busiest other thread of the process, unless the thread was busy itself: it may hold what the thread waits for.
    pub other: Option<OtherThread>,
}

/// What another thread did on the CPU in a stretch of time.
#[derive(Clone, Debug)]
pub struct OtherThread {
    /// The thread.
    pub thread: ThreadId,
    /// Its samples.
    pub on_cpu: Amount,
    /// The heaviest stack.
    pub heaviest: Vec<Node>,
}

impl HangReport {
    /// The shortest stretch of work that is reported if hangs were not recorded: Instruments' own limit for hangs.
    pub const BUSY_STRETCH: Nanos = Nanos::from_millis(250);
}

impl HangActivity {
    /// Returns the share of a time on the CPU in percent, if the weight is time, and whether the thread was busy, as far as the weight tells.
    pub fn share_of_time(on_cpu: Weight, length: Option<Nanos>) -> (Option<f64>, Option<bool>) {
        let percent = length.and_then(|length| on_cpu.percent_of_core(length));
        let clock = length.filter(|length| on_cpu.unit == Unit::Cycles && length.as_nanos() > 0);
        let clock = clock.map(|length| on_cpu.value as f64 / length.as_nanos() as f64 / LEAST_CLOCK * 100.0);
        (percent, percent.or(clock).map(|percent| percent >= BUSY))
    }
}

impl Recording {
    /// Returns the hangs and hitches among these intervals, which must be of the same inputs. Hitches are there if the intervals are those
    /// of [all tables](Intervals::read_all).
    pub fn hangs(&self, intervals: &Intervals) -> HangReport {
        let all = intervals.distinct();
        let tables = || intervals.tables.iter().filter(|table| Intervals::HANGS.contains(&table.schema.as_str()));
        let is_recorded = tables().next().is_some();
        let is_hitch = |interval: &Interval| interval.table.as_deref() == Some(HITCHES);
        let described = |is_wanted: &dyn Fn(&Interval) -> bool| {
            let mut rows: Vec<&Interval> = all.iter().copied().filter(|interval| is_wanted(interval)).collect();
            rows.sort_by_key(|interval| (interval.run, interval.start));
            rows.into_iter().map(|interval| self.hang(interval, &all)).collect::<Vec<Hang>>()
        };
        let mut hangs = described(&Interval::is_hang);
        if !is_recorded {
            hangs = self.busy_stretches().iter().map(|stretch| self.hang(stretch, &all)).collect();
        }
        let hitches = described(&is_hitch);
        let late: u64 = hitches.iter().filter_map(|hitch| hitch.interval.duration()).map(Nanos::as_nanos).sum();
        let length = self.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() }).length();
        let length = length.map(|length| length.nanos.as_nanos()).filter(|&length| length > 0 && !hitches.is_empty());
        let hitch_ratio = length.map(|length| late as f64 / length as f64 * 1e3);
        let has_samples = !self.profile.samples().is_empty();
        let rejected = tables().map(|table| table.rejected.total()).sum();
        HangReport { hangs, is_recorded, rejected, has_samples, hitches, hitch_ratio }
    }

    fn hang(&self, interval: &Interval, all: &[&Interval]) -> Hang {
        let threads = threads(&self.profile, interval);
        let is_of_process = |other: &Interval| match (interval.pid, other.pid) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let signposts =
            all.iter().filter(|other| other.is_signpost() && is_of_process(other) && overlap(interval, other));
        let signposts: BTreeSet<Arc<str>> = signposts.filter_map(|signpost| signpost.name.clone()).collect();
        let tid = interval.tid.or_else(|| self.profile.thread(*threads.first()?).tid);
        let is_wait = |other: &&Interval| {
            let is_of_table = other.table.as_deref().is_some_and(|table| WAITS.iter().any(|end| table.ends_with(end)));
            is_of_table && tid.is_some() && other.tid == tid && overlap(interval, other)
        };
        Hang {
            interval: interval.clone(),
            thread: threads.first().copied(),
            activity: self.activity_of(interval, threads),
            signposts: signposts.into_iter().collect(),
            waits: waits(interval, all.iter().copied().filter(is_wait)),
        }
    }

    /// Returns what the thread of an interval did in it; without a thread, the main thread of its process. `None` if no samples of the run
    /// were recorded.
    pub fn activity_in(&self, interval: &Interval) -> Option<HangActivity> {
        self.activity_of(interval, threads(&self.profile, interval))
    }

    fn activity_of(&self, interval: &Interval, threads: Vec<ThreadId>) -> Option<HangActivity> {
        let range = TimeRange { start: interval.start, end: interval.end };
        let selection = Selection {
            runs: vec![interval.run],
            threads: vec![Matcher::of_threads("the thread of the hang", threads.clone())],
            time: Some(range),
            ..Selection::default()
        };
        let options =
            ReportOptions { selection, view: View::Tree, separate_by: SeparateBy::Nothing, ..ReportOptions::default() };
        let report = self.report(&options);
        let is_of_run = |run| self.profile.run(run).number == interval.run;
        let series =
            report.series.iter().filter(|row| is_of_run(self.profile.series(row.series).run) && !row.is_empty());
        let index =
            series.max_by_key(|row| (row.unit == Unit::Nanoseconds, row.counted.samples)).map(|row| row.series)?;
        let series = &report.series[report.position(index)?];
        let (on_cpu, length) = (series.counted, interval.duration());
        let (percent, is_busy) = HangActivity::share_of_time(on_cpu.weight, length);
        let states: Vec<String> = series.other_states.iter().map(|(name, _)| name.clone()).collect();
        let mut off_cpu = Amount::none(series.unit);
        series.other_states.iter().for_each(|(_, amount)| off_cpu.add(amount.weight.value, amount.samples));
        let waiting = match states.is_empty() {
            true => Vec::new(),
            false => {
                let selection = Selection { states: StateFilter::Only(states), ..options.selection.clone() };
                let report = self.report(&ReportOptions { selection, ..options.clone() });
                report
                    .position(index)
                    .map_or_else(Vec::new, |position| heaviest_path(&report, &report.series[position]))
            }
        };
        let other = if is_busy == Some(true) { None } else { self.busiest_other(&threads, index, &options) };
        Some(HangActivity {
            on_cpu,
            percent,
            is_busy,
            other,
            heaviest: heaviest_path(&report, series),
            off_cpu,
            waiting,
        })
    }

    /// The busiest thread of the process of these threads that is none of them. `options` select the stretch of time.
    fn busiest_other(&self, threads: &[ThreadId], series: SeriesId, options: &ReportOptions) -> Option<OtherThread> {
        let profile = &self.profile;
        let process = profile.thread(*threads.first()?).process;
        let is_other = |id: &ThreadId| profile.thread(*id).process == process && !threads.contains(id);
        let others: Vec<ThreadId> = profile.thread_ids().filter(is_other).collect();
        let report_on = |threads| {
            let threads = vec![Matcher::of_threads("other threads", threads)];
            let selection = Selection { threads, ..options.selection.clone() };
            self.report(&ReportOptions { selection, ..options.clone() })
        };
        let report = report_on(others);
        let busiest = report.series[report.position(series)?].threads.first()?;
        let report = report_on(vec![busiest.thread]);
        let own = &report.series[report.position(series)?];
        let heaviest = heaviest_path(&report, own);
        Some(OtherThread { thread: busiest.thread, on_cpu: own.counted, heaviest })
            .filter(|other| other.on_cpu.samples > 0)
    }

    /// The stretches in which a main thread was on the CPU without a pause, by time.
    fn busy_stretches(&self) -> Vec<Interval> {
        let profile = &self.profile;
        let selection = Selection { only_main_threads: true, ..Selection::default() };
        let mut threads: HashMap<ThreadId, Vec<(Nanos, Nanos)>> = HashMap::default();
        for sample in selection.on(profile).iter() {
            // A sample of time stands for the time before it.
            let unit = profile.series(sample.series).unit;
            let weight = if unit == Unit::Nanoseconds { sample.weight } else { 0 };
            let start = Nanos::from_nanos(sample.time.as_nanos().saturating_sub(weight));
            threads.entry(sample.thread).or_default().push((start, sample.time));
        }
        let mut stretches = Vec::new();
        for (thread, mut samples) in threads {
            samples.sort_unstable();
            for (start, end) in
                joined(&samples).into_iter().filter(|(start, end)| end.since(*start) >= HangReport::BUSY_STRETCH)
            {
                stretches.push(stretch(profile, thread, start, end));
            }
        }
        stretches.sort_by_key(|stretch| (stretch.run, stretch.start, stretch.tid));
        stretches
    }
}

/// Joins ranges with gaps of at most [`LONGEST_GAP`]. They are sorted.
fn joined(samples: &[(Nanos, Nanos)]) -> Vec<(Nanos, Nanos)> {
    let mut joined: Vec<(Nanos, Nanos)> = Vec::new();
    for &(start, end) in samples {
        match joined.last_mut().filter(|last| start.since(last.1) <= LONGEST_GAP) {
            Some(last) => last.1 = last.1.max(end),
            None => joined.push((start, end)),
        }
    }
    joined
}

fn stretch(profile: &Profile, thread: ThreadId, start: Nanos, end: Nanos) -> Interval {
    let row = profile.thread(thread);
    let process = profile.process(row.process);
    Interval {
        origin: IntervalOrigin::Hang,
        run: profile.run(process.run).number,
        start,
        // The last sample is in it.
        end: Some(end.saturating_add(Nanos::from_nanos(1))),
        name: None,
        subsystem: None,
        category: None,
        identifier: None,
        process: Some(profile.string(process.name).into()),
        pid: process.pid,
        tid: row.tid,
        hang_type: None,
        table: None,
    }
}

/// The threads of the profile that an interval is of: by number, or the main thread of its process.
fn threads(profile: &Profile, interval: &Interval) -> Vec<ThreadId> {
    let is_of = |id: &ThreadId| {
        let thread = profile.thread(*id);
        let process = profile.process(thread.process);
        let is_own = match interval.tid {
            Some(tid) => thread.tid == Some(tid),
            None => thread.is_main && process.pid == interval.pid,
        };
        is_own && profile.run(process.run).number == interval.run
    };
    profile.thread_ids().filter(is_of).collect()
}

/// Sums what a thread did in a hang: by table and name, the longest first.
fn waits<'i>(hang: &Interval, intervals: impl Iterator<Item = &'i Interval>) -> Vec<HangWait> {
    let end = |interval: &Interval| interval.end.unwrap_or(Nanos::from_nanos(u64::MAX));
    let mut waits: BTreeMap<(Arc<str>, Arc<str>), (u64, u64)> = BTreeMap::new();
    for interval in intervals {
        let (Some(table), Some(name)) = (&interval.table, &interval.name) else { continue };
        let within = end(hang).min(end(interval)).since(hang.start.max(interval.start)).as_nanos();
        let (count, total) = waits.entry((table.clone(), name.clone())).or_default();
        (*count, *total) = (*count + 1, total.saturating_add(within));
    }
    let wait = |((table, name), (count, total))| HangWait { table, name, count, total: Nanos::from_nanos(total) };
    let mut waits: Vec<HangWait> = waits.into_iter().map(wait).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.total));
    waits
}

fn overlap(one: &Interval, other: &Interval) -> bool {
    let is_before = |one: &Interval, other: &Interval| one.end.is_some_and(|end| end <= other.start);
    one.run == other.run && !is_before(one, other) && !is_before(other, one)
}
