//! Hangs and hitches: what an app did while it did not respond.
//!
//! A statement about a hang needs samples that cover it; without them, the activity is unknown. The rules are in `docs/statistics.md`.

mod activity;
mod cause;
mod cycles;
mod hitches;
mod overlaps;
mod presence;
mod recorded;
mod share;
mod stack;
mod stretches;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::hash::HashMap;
use crate::profile::{Activity, Matcher, Profile, Selection, ThreadId, Wait, Waits};
use crate::recording::{Interval, IntervalOrigin, Intervals, Recording};
use crate::units::{Nanos, Unit};
pub use activity::HangActivity;
use cause::Waited;
pub(super) use cause::agreed;
use cycles::References;
pub use hitches::Hitches;
use overlaps::Overlaps;
use presence::{Presence, states_hang};
use recorded::Recorded;
pub(super) use recorded::begins_as_main;
use share::{BUSY, Share};
pub use stack::HangStack;
pub use verdict::HangVerdict;

/// How the names of tables that record waits end: `syscall`, `fs-syscall`, `thread-state`.
const WAITS: [&str; 2] = ["syscall", "thread-state"];

/// Another thread may have caused a hang if it was on the CPU for at least this share of it.
const ALSO_BUSY: f64 = 0.8;

/// The hangs and hitches of a recording or report.
#[derive(Clone, Debug, Default)]
pub struct HangReport {
    /// The hangs, longest first. If hangs were not recorded, the periods of at least [`BUSY_STRETCH`](Self::BUSY_STRETCH) in which a main thread
    /// was on the CPU without a pause.
    pub hangs: Vec<Hang>,
    /// True if hangs were recorded: the input has a table of hangs, even an empty one, or is a report of a hang.
    pub is_recorded: bool,
    /// True if only some processes were selected.
    pub is_of_chosen: bool,
    /// The number of unreadable rows of hangs.
    pub rejected: u64,
    /// True if the recording has samples.
    pub has_samples: bool,
    /// The frames that were displayed late, by process.
    pub hitches: Vec<Hitches>,
}

/// A period in which an app did not respond.
#[derive(Clone, Debug)]
pub struct Hang {
    /// The recorded row. A hang that was open when the recording ended has no end.
    pub interval: Interval,
    /// The length of the hang, or its minimum length if it was open when the recording ended. `None` if a report does not state it.
    pub length: Option<Nanos>,
    /// True if the hang comes from a report, which has no times.
    pub is_report: bool,
    /// The thread of the row, or else the main thread of its process. The profile has its name.
    pub thread: Option<ThreadId>,
    /// What the thread did.
    pub activity: HangActivity,
    /// The names of the process's signposts that were open during the hang, in alphabetical order.
    pub signposts: Vec<Arc<str>>,
    /// The system calls and states of its thread during the hang, if recorded, by descending total.
    pub waits: Vec<HangWait>,
}

/// The time that a thread spent in a system call or state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HangWait {
    /// The table with the record, such as `fs-syscall`.
    pub table: Arc<str>,
    /// The call or the state, such as `fsync`.
    pub name: Arc<str>,
    /// The number of occurrences.
    pub count: u64,
    /// The total time within the hang.
    pub total: Nanos,
}

impl HangReport {
    /// The shortest busy period that is reported if hangs were not recorded: Instruments' own limit for hangs.
    pub const BUSY_STRETCH: Nanos = stretches::SHORTEST;
}

impl Recording {
    /// Returns the hangs and hitches among these intervals, which must come from the same inputs. If `processes` is not empty, only matching
    /// processes are included. Hitches are found only in intervals from [all tables](Intervals::read_all).
    pub fn hangs(&self, intervals: &Intervals, processes: &[Matcher]) -> HangReport {
        let mut all = intervals.distinct();
        let wanted = Wanted::new(processes, &self.profile, &all);
        all.retain(|interval| wanted.contains(interval));
        let tables = || intervals.tables.iter().filter(|table| Intervals::HANGS.contains(&table.schema.as_str()));
        let mut evidence = Evidence::new(self);
        let reported = evidence.reports(&wanted);
        let has_rows = all.iter().any(|row| row.is_hang());
        let is_recorded =
            has_rows || tables().next().is_some() || self.tocs().flat_map(|toc| &toc.runs).any(states_hang);
        let others = Overlaps::new(all.iter().copied().filter(|row| row.is_signpost() || is_wait(row)));
        let mut hangs: Vec<Hang> = match is_recorded {
            true => all.iter().filter(|row| row.is_hang()).map(|row| evidence.hang(row, &others)).collect(),
            false => {
                let stretches = evidence.stretches(&wanted);
                stretches.iter().map(|row| evidence.hang(row, &others)).collect()
            }
        };
        hangs.extend(reported);
        hangs.sort_by_key(|hang| (std::cmp::Reverse(hang.length), hang.interval.run, hang.interval.start));
        let has_samples = self.profile.sums_or_samples().next().is_some();
        let rejected = tables().map(|table| table.rejected.total()).sum();
        let is_of_chosen = !processes.is_empty();
        HangReport { hangs, is_recorded, is_of_chosen, rejected, has_samples, hitches: Hitches::by_process(&all) }
    }

    /// Returns what an interval's thread did during it, or the main thread of its process if it has none.
    pub fn activity_in(&self, interval: &Interval) -> HangActivity {
        let mut evidence = Evidence::new(self);
        let thread = evidence.thread(interval);
        evidence.activity(interval, thread)
    }
}

/// True for a system call or a state of a thread.
fn is_wait(interval: &Interval) -> bool {
    interval.table.as_deref().is_some_and(|table| WAITS.iter().any(|end| table.ends_with(end)))
}

/// The selected processes, by identifier and name; `None` for all.
struct Wanted(Option<HashSet<(Option<u64>, String)>>);

impl Wanted {
    fn new(matchers: &[Matcher], profile: &Profile, intervals: &[&Interval]) -> Self {
        let of_interval = |interval: &&Interval| (interval.pid, interval.process.clone().unwrap_or_default());
        let mut processes: BTreeSet<(Option<u64>, Arc<str>)> = intervals.iter().map(of_interval).collect();
        let ids = profile.process_ids().map(|id| profile.process(id));
        processes.extend(ids.map(|process| (process.pid, profile.string(process.name).into())));
        let matched = matchers.iter().flat_map(|matcher| matcher.of(processes.iter(), |(pid, name)| (*pid, name)));
        let matched = matched.map(|(pid, name)| (*pid, name.to_string())).collect();
        Self((!matchers.is_empty()).then_some(matched))
    }

    fn contains(&self, interval: &Interval) -> bool {
        let name = interval.process.as_deref().unwrap_or_default();
        self.0.as_ref().is_none_or(|wanted| wanted.contains(&(interval.pid, name.to_owned())))
    }
}

/// The samples of each run, as evidence of what threads did.
struct Evidence<'p> {
    recording: &'p Recording,
    waits: Rc<Waits<'p>>,
    /// By run: its tables of time and cycles, most informative first.
    runs: HashMap<u32, Vec<(Recorded<'p>, References)>>,
}

impl<'p> Evidence<'p> {
    fn new(recording: &'p Recording) -> Self {
        Self { recording, waits: Rc::new(Waits::new(&recording.profile)), runs: HashMap::default() }
    }

    fn tables(&mut self, run: u32) -> &[(Recorded<'p>, References)] {
        let recording = self.recording;
        let with_references = |recorded: Recorded<'p>| {
            let references = References::of(&recorded);
            (recorded, references)
        };
        let read = || Recorded::of_run(recording, run).into_iter().map(with_references).collect();
        self.runs.entry(run).or_insert_with(read)
    }

    fn run(&mut self, run: u32) -> Option<&(Recorded<'p>, References)> {
        self.tables(run).first()
    }

    /// Explains a hang. `others` are the signposts and waits.
    fn hang(&mut self, interval: &Interval, others: &Overlaps<'_>) -> Hang {
        let others = others.with(interval);
        let profile = &self.recording.profile;
        let thread = self.thread(interval);
        let is_of_process = |other: &Interval| match (interval.pid, other.pid) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let signposts = others.iter().filter(|other| other.is_signpost() && is_of_process(other));
        let signposts: BTreeSet<Arc<str>> = signposts.filter_map(|signpost| signpost.name.clone()).collect();
        let tid = interval.tid.or_else(|| profile.thread(thread?).tid);
        let is_wait = |other: &&Interval| is_wait(other) && tid.is_some() && other.tid == tid;
        Hang {
            interval: interval.clone(),
            length: Some(self.end(interval).since(interval.start)),
            is_report: false,
            thread,
            activity: self.activity(interval, thread),
            signposts: signposts.into_iter().collect(),
            waits: waits(interval, others.into_iter().filter(is_wait)),
        }
    }

    /// The end of a hang. An open hang ends with the recording.
    fn end(&mut self, interval: &Interval) -> Nanos {
        if let Some(end) = interval.end {
            return end;
        }
        let profile = &self.recording.profile;
        let runs = profile.run_ids().filter(|&id| profile.run(id).number == interval.run);
        let spans = runs.filter_map(|id| self.recording.selected_time(id, &Selection::default()).span());
        let samples = self
            .run(interval.run)
            .and_then(|(recorded, _)| recorded.all().last().map(|&last| recorded.sample(last).time));
        spans.map(|(_, end)| end).chain(samples).max().unwrap_or(interval.start).max(interval.start)
    }

    /// The thread of a hang: the thread in its row, or else the main thread of its process, or else the only thread whose stacks begin like a main
    /// thread's.
    fn thread(&mut self, interval: &Interval) -> Option<ThreadId> {
        let profile = &self.recording.profile;
        let run = self.run(interval.run).map(|(recorded, _)| profile.series(recorded.series).run);
        let is_of_run = |id: &ThreadId| {
            let process = profile.process(profile.thread(*id).process);
            run.map_or_else(|| profile.run(process.run).number == interval.run, |run| process.run == run)
        };
        let is_of_process = |id: &ThreadId| profile.process(profile.thread(*id).process).pid == interval.pid;
        let threads = || profile.thread_ids().filter(is_of_run);
        let only = |found: &mut dyn Iterator<Item = ThreadId>| found.next().filter(|_| found.next().is_none());
        if let Some(tid) = interval.tid {
            return threads().find(|&id| profile.thread(id).tid == Some(tid));
        }
        let main = only(&mut threads().filter(|id| profile.thread(*id).is_main && is_of_process(id)));
        let Some((recorded, _)) = self.run(interval.run).filter(|_| main.is_none()) else { return main };
        only(&mut threads().filter(|id| is_of_process(id) && recorded.begins_as_main(*id)))
    }

    fn activity(&mut self, interval: &Interval, thread: Option<ThreadId>) -> HangActivity {
        let range = (interval.start, self.end(interval));
        let waits = Rc::clone(&self.waits);
        let tables = self.tables(interval.run);
        if tables.is_empty() {
            return HangActivity::unknown("the input has no samples of CPU time or cycles of the run");
        }
        let Some(thread) = thread else {
            return HangActivity::unknown(match interval.tid {
                Some(_) => "the run has no samples of this thread",
                None => "no sample of the run is known to come from the main thread",
            });
        };
        let activity = |(recorded, references): &(Recorded<'_>, References)| {
            Observed { recorded, references, waits: &waits, thread, range }.activity()
        };
        let first = activity(&tables[0]);
        let is_known = |it: &HangActivity| it.verdict != HangVerdict::Unknown;
        if is_known(&first) {
            return first;
        }
        // Another table may have samples of the thread or of this time.
        tables[1..].iter().map(activity).find(is_known).unwrap_or(first)
    }

    /// The hangs that reports describe.
    fn reports(&self, wanted: &Wanted) -> Vec<Hang> {
        let profile = &self.recording.profile;
        let is_wanted = |id: ThreadId| wanted.contains(&interval(profile, id, Default::default()));
        let hang = |report: Presence<'_>| {
            let thread = report.hung_thread(is_wanted);
            let activity = match thread {
                Some(thread) => report.activity(thread),
                // A report that covers several processes and describes no hang has no relevant thread.
                None if !report.is_hang => return None,
                None => HangActivity::unknown("the report does not record which thread hung"),
            };
            let end = report.length.unwrap_or_default();
            let any = report.any_thread(is_wanted)?;
            let interval = interval(profile, thread.unwrap_or(any), (Nanos::default(), end));
            let interval = if thread.is_none() { Interval { tid: None, ..interval } } else { interval };
            let (signposts, waits) = Default::default();
            Some(Hang { interval, length: report.length, is_report: true, thread, activity, signposts, waits })
        };
        let reports = Presence::all(self.recording, &self.waits);
        // Reports of hangs take precedence over reports of launches.
        let are_hangs = reports.iter().any(|report| report.is_hang);
        reports.into_iter().filter(|report| report.is_hang || !are_hangs).filter_map(hang).collect()
    }

    /// The periods in which a main thread was on the CPU without a pause.
    fn stretches(&mut self, wanted: &Wanted) -> Vec<Interval> {
        let profile = &self.recording.profile;
        let mut numbers: Vec<u32> = profile.run_ids().map(|id| profile.run(id).number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut found = Vec::new();
        for number in numbers {
            let Some((recorded, references)) = self.run(number) else { continue };
            let run = profile.series(recorded.series).run;
            let is_main =
                |id: &ThreadId| profile.thread(*id).is_main && profile.process(profile.thread(*id).process).run == run;
            for thread in profile.thread_ids().filter(is_main) {
                let stretches = stretches::stretches(recorded, references, thread);
                found.extend(stretches.into_iter().map(|range| interval(profile, thread, range)));
            }
        }
        found.retain(|interval| wanted.contains(interval));
        found
    }
}

/// A thread in a period, and the samples that may show what it did.
struct Observed<'r, 'p> {
    recorded: &'r Recorded<'p>,
    references: &'r References,
    waits: &'r Waits<'p>,
    thread: ThreadId,
    range: (Nanos, Nanos),
}

impl Observed<'_, '_> {
    fn activity(&self) -> HangActivity {
        let Self { recorded, thread, range, .. } = *self;
        let share = Share::of(recorded, self.references, thread, range);
        let is_of_time = recorded.unit == Unit::Nanoseconds;
        let verdict = HangVerdict::of(&share, recorded.has_states, is_of_time);
        let own = recorded.own(thread);
        let own = recorded.within(own, range);
        let doing = |wanted: Activity| -> Vec<u32> {
            own.iter().copied().filter(|&index| recorded.activity(recorded.sample(index)) == wanted).collect()
        };
        let [running, waiting, queued] = [Activity::Running, Activity::Waiting, Activity::Queued].map(doing);
        let stack = |samples: &[u32]| HangStack::of(recorded.profile, thread, recorded.stacks(samples.iter().copied()));
        let waited = Waited { recorded, waits: self.waits, thread, samples: &waiting };
        let is_told = match verdict {
            HangVerdict::Waiting => true,
            HangVerdict::PartlyBusy => waiting.len() as f64 >= cause::AGREEING * (own.len() - running.len()) as f64,
            _ => false,
        };
        let waits_for = is_told.then(|| waited.for_what()).flatten();
        let holder = waits_for.filter(|&(wait, _)| wait == Wait::Lock).and_then(|_| waited.likely_holder());
        HangActivity {
            verdict,
            reason: (verdict == HangVerdict::Unknown).then(|| self.reason(&share, own.len())),
            cpu_percent: (verdict != HangVerdict::Unknown).then_some([100.0 * share.low, 100.0 * share.high]),
            uncovered_percent: 100.0 * share.uncovered,
            samples: own.len() as u64,
            running: running.len() as u64,
            waiting: waiting.len() as u64,
            queued: queued.len() as u64,
            heaviest: stack(&running),
            off_cpu: if queued.len() > waiting.len() { stack(&queued) } else { stack(&waiting) },
            waits_for: waits_for.map(|(wait, _)| wait.name()),
            has_other_waits: waits_for.is_some_and(|(_, is_all)| !is_all),
            holder,
            is_owner: false,
            holder_waits: false,
            blocked_by: Vec::new(),
            also_busy: self.also_busy(),
        }
    }

    /// Why the activity is unknown.
    fn reason(&self, share: &Share, samples: usize) -> String {
        let recorded = self.recorded;
        if recorded.own(self.thread).is_empty() {
            format!("the table {} has no samples of this thread", recorded.schema())
        } else if samples == 0 && share.uncovered > 0.99 && recorded.has_states {
            format!("no sample of its thread in the table {} is in that time", recorded.schema())
        } else if share.uncovered > 0.99 && recorded.within(recorded.all(), self.range).is_empty() {
            format!("no sample of any thread in the table {} is in that time", recorded.schema())
        } else if share.uncovered > 1.0 - BUSY {
            format!("samples cover {:.0}% of that time", 100.0 * (1.0 - share.uncovered))
        } else if recorded.unit == Unit::Cycles {
            format!("the cycles of {samples} samples do not show whether it was busy")
        } else {
            format!("{samples} samples of this thread do not show whether it was busy")
        }
    }

    /// The other busy threads of the process, with their heaviest stacks.
    fn also_busy(&self) -> Vec<HangStack> {
        let Self { recorded, references, thread, range, .. } = *self;
        let profile = recorded.profile;
        let process = profile.thread(thread).process;
        let others = profile.thread_ids().filter(|&id| id != thread && profile.thread(id).process == process);
        let least = if recorded.unit == Unit::Cycles { BUSY } else { ALSO_BUSY };
        let is_busy = |id: &ThreadId| Share::of(recorded, references, *id, range).low >= least;
        let stack = |id: ThreadId| {
            let own = recorded.own(id);
            let own = recorded.within(own, range).iter().copied();
            let running = own.filter(|&index| recorded.activity(recorded.sample(index)) == Activity::Running);
            HangStack::of(profile, id, recorded.stacks(running))
        };
        others.filter(is_busy).filter_map(stack).collect()
    }
}

/// Creates an interval for a period of a thread.
fn interval(profile: &Profile, thread: ThreadId, (start, end): (Nanos, Nanos)) -> Interval {
    let row = profile.thread(thread);
    let process = profile.process(row.process);
    Interval {
        process: Some(profile.string(process.name).into()),
        pid: process.pid,
        tid: row.tid,
        ..Interval::new(IntervalOrigin::Hang, profile.run(process.run).number, start, Some(end))
    }
}

/// Sums a thread's system calls and states during a hang by table and name, longest first.
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
