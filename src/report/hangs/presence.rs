//! Hangs in reports that count how often a thread was seen in each stack: spindump, `sample`, and MetricKit hang reports.

use std::collections::HashSet;
use std::rc::Rc;

use super::activity::HangActivity;
use super::cause::{AGREEING, agreed};
use super::recorded::begins_as_main;
use super::share::BUSY;
use super::stack::HangStack;
use super::verdict::HangVerdict;
use crate::hash::IndexMap;
use crate::profile::{
    ALL_THREADS, Activity, Category, Meaning, Profile, RunId, SampleSum, ThreadId, Wait, Waits, is_no_call,
};
use crate::recording::{Recording, TocRun, lookup};
use crate::units::{Nanos, Weight, several};

/// Threads with fewer samples are not judged.
const LEAST: u64 = 10;
/// A thread is working if at most this share of its samples wait.
const RESTED: f64 = 0.2;

/// True if a run is a report of a hang.
pub(super) fn states_hang(run: &TocRun) -> bool {
    run.summary_field("hang-duration").is_some()
}

/// The samples of a report without times.
pub(super) struct Presence<'p> {
    profile: &'p Profile,
    waits: Rc<Waits<'p>>,
    sums: Vec<SampleSum>,
    /// The pid of the process that the report is about.
    pid: Option<u64>,
    /// True if the report states that it describes a hang.
    pub(super) is_hang: bool,
    /// The length according to the report.
    pub(super) length: Option<Nanos>,
    /// The number of samples that each thread should have in that length.
    expected: Option<f64>,
    blocked: Vec<Blocked<'p>>,
}

/// Samples of a thread that waited for something with a known owner.
struct Blocked<'p> {
    /// `turnstile waiting for Press [518] thread 0x2b, 3 samples`.
    text: &'p str,
    tid: u64,
    /// The owner's pid and tid, as the report writes them.
    owner: Option<(&'p str, &'p str)>,
    samples: u64,
}

impl<'p> Blocked<'p> {
    /// Parses `turnstile waiting for Press [518] thread 0x2b, 3 samples of thread 0x1f`.
    fn parse(text: &'p str) -> Option<Self> {
        let (text, tid) = text.rsplit_once(" of thread 0x")?;
        let (by, samples) = text.rsplit_once(" sample")?.0.rsplit_once(", ")?;
        let digits: String = samples.chars().filter(char::is_ascii_digit).collect();
        let owner = by.rsplit_once("] thread ").and_then(|(process, tid)| Some((process.rsplit_once('[')?.1, tid)));
        Some(Self { text, tid: u64::from_str_radix(tid, 16).ok()?, owner, samples: digits.parse().ok()? })
    }
}

/// What a sample shows about its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Doing(Activity),
    /// The thread was in code that is not a known wait, and no state is recorded.
    InCode,
    /// Neither the state nor the function name is known.
    Nothing,
}

/// A thread's samples, counted by what they show.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: u64,
    running: u64,
    queued: u64,
    waiting: u64,
    in_code: u64,
}

impl<'p> Presence<'p> {
    /// Returns the reports in a recording. There may be thousands, so all samples are grouped in one pass.
    pub(super) fn all(recording: &'p Recording, waits: &Rc<Waits<'p>>) -> Vec<Self> {
        let profile = &recording.profile;
        let mut runs: IndexMap<RunId, Vec<SampleSum>> = IndexMap::default();
        for sum in profile.sums_or_samples() {
            let series = profile.series(sum.series);
            if series.meaning == Meaning::Presence && !series.has_times {
                runs.entry(series.run).or_default().push(sum);
            }
        }
        runs.into_iter().map(|(run, sums)| Self::of_run(recording, waits, run, sums)).collect()
    }

    fn of_run(recording: &'p Recording, waits: &Rc<Waits<'p>>, run: RunId, sums: Vec<SampleSum>) -> Self {
        let toc = recording.toc_of_run(run);
        let length = toc.and_then(stated_length);
        let interval = toc.and_then(sampling_interval);
        let expected = length.zip(interval).map(|(length, interval)| length.as_nanos() as f64 / interval);
        let pid = toc.and_then(|toc| lookup(&toc.process, "pid")?.parse().ok());
        let is_hang = toc.is_some_and(states_hang);
        let texts = toc.into_iter().flat_map(|toc| &toc.summary).filter(|(key, _)| key == "blocked-by");
        let blocked = texts.filter_map(|(_, text)| Blocked::parse(text)).collect();
        Self { profile: &recording.profile, waits: Rc::clone(waits), sums, pid, is_hang, length, expected, blocked }
    }

    /// The unresponsive thread: the main thread of the only process, or of the process that `process` names.
    pub(super) fn hung_thread(&self, is_wanted: impl Fn(ThreadId) -> bool) -> Option<ThreadId> {
        let profile = self.profile;
        let mut seen = self.threads();
        seen.retain(|&id| is_wanted(id));
        let only = |found: &mut dyn Iterator<Item = ThreadId>| found.next().filter(|_| found.next().is_none());
        let begins = |id: ThreadId| {
            let first = self.sums.iter().find(|sum| sum.thread == id);
            first.is_some_and(|sum| begins_as_main(profile, sum.stack))
        };
        let is_about = |id: &ThreadId| {
            let process = profile.process(profile.thread(*id).process);
            self.pid.is_some() && process.pid == self.pid
        };
        if seen.iter().any(is_about) {
            seen.retain(is_about);
        }
        // A tree of all threads belongs to no particular one.
        seen.retain(|&id| profile.string(profile.thread(id).name) != ALL_THREADS);
        let main = only(&mut seen.iter().copied().filter(|&id| profile.thread(id).is_main));
        // MetricKit lists only the hung thread.
        main.or_else(|| only(&mut seen.iter().copied().filter(|&id| begins(id))))
            .or_else(|| only(&mut seen.iter().copied()))
    }

    fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = self.sums.iter().map(|sum| sum.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// A thread of the report's process, or else any thread.
    pub(super) fn any_thread(&self, is_wanted: impl Fn(ThreadId) -> bool) -> Option<ThreadId> {
        let mut threads = self.threads();
        threads.retain(|&id| is_wanted(id));
        let is_about = |id: &ThreadId| self.profile.process(self.profile.thread(*id).process).pid == self.pid;
        threads.iter().copied().find(is_about).or(threads.first().copied())
    }

    /// What a thread did.
    pub(super) fn activity(&self, thread: ThreadId) -> HangActivity {
        let counts = self.counts(thread);
        let Counts { all, running, queued, waiting, in_code } = counts;
        let nameless = all - running - queued - waiting - in_code;
        let covered = self.expected.map_or(1.0, |expected| (all as f64 / expected.max(1.0)).min(1.0));
        let share = |samples: u64| samples as f64 / all.max(1) as f64 * covered;
        let verdict = match () {
            () if all < LEAST => HangVerdict::Unknown,
            () if share(in_code) >= AGREEING => HangVerdict::InCode,
            () if share(waiting) >= AGREEING => HangVerdict::Waiting,
            () if share(queued) >= 0.5 => HangVerdict::Starved,
            () if share(running) >= BUSY => HangVerdict::Busy,
            () => HangVerdict::Unknown,
        };
        let reason = match verdict {
            HangVerdict::Unknown if all < LEAST => {
                Some(format!("the report has only {} of it", several(all, "sample")))
            }
            HangVerdict::Unknown if covered < BUSY => {
                Some(format!("its samples cover {:.0}% of the stated length", 100.0 * covered))
            }
            HangVerdict::Unknown if share(nameless) > 1.0 - AGREEING => Some(format!(
                "{nameless} of its {all} samples are in system calls that may wait or work, or in functions without a name"
            )),
            HangVerdict::Unknown => Some(format!(
                "of its {all} samples, {running} run, {queued} are ready to run, {waiting} wait, and {in_code} are in code: none of these is \
                 most of the hang"
            )),
            _ => None,
        };
        let is_of = |seen: Seen| move |sum: &&SampleSum| sum.thread == thread && self.seen(sum) == seen;
        let stack = |found: Vec<&SampleSum>| {
            HangStack::of(self.profile, thread, found.iter().map(|sum| (sum.stack, sum.samples)).collect())
        };
        let of = |seen: Seen| stack(self.sums.iter().filter(is_of(seen)).collect());
        let own = self.sums.iter().filter(|sum| sum.thread == thread).collect();
        let is_unknown = verdict == HangVerdict::Unknown;
        let on = if is_unknown { stack(own) } else { None };
        let on = on
            .or_else(|| of(Seen::Doing(Activity::Running)))
            .or_else(|| of(Seen::InCode))
            .or_else(|| of(Seen::Nothing));
        let off = of(Seen::Doing(Activity::Waiting)).or_else(|| of(Seen::Doing(Activity::Queued)));
        let waits_for = (verdict == HangVerdict::Waiting).then(|| self.waits_for(thread)).flatten();
        let blocked_by: Vec<String> = self.blocked_by(thread).map(|blocked| blocked.text.to_owned()).collect();
        let owner = if verdict == HangVerdict::Waiting { self.owner(thread, waiting) } else { None };
        // If the report names the blocker, it need not be guessed.
        let is_lock = waits_for.filter(|&(wait, _)| wait == Wait::Lock && blocked_by.is_empty());
        let holder = owner.or_else(|| is_lock.and_then(|_| self.likely_holder(thread)));
        let high = running + in_code + nameless;
        HangActivity {
            verdict,
            reason,
            cpu_percent: (verdict != HangVerdict::Unknown)
                .then(|| [100.0 * share(running), 100.0 * (share(high) + 1.0 - covered).min(1.0)]),
            uncovered_percent: 100.0 * (1.0 - covered),
            samples: all,
            running: running + in_code,
            waiting,
            queued,
            heaviest: on,
            off_cpu: off.filter(|_| !is_unknown),
            waits_for: waits_for.map(|(wait, _)| wait.name()),
            has_other_waits: waits_for.is_some_and(|(_, is_all)| !is_all),
            holder,
            is_owner: owner.is_some(),
            holder_waits: holder.is_some_and(|holder| self.is_waiting(holder)),
            blocked_by,
            also_busy: self.workers(thread, holder),
        }
    }

    fn seen(&self, sum: &SampleSum) -> Seen {
        let state = sum.state.map(|state| Activity::of_state(self.profile.string(state)));
        if let Some(activity) = state.filter(|&activity| activity != Activity::Unknown) {
            return Seen::Doing(activity);
        }
        let Some(stack) = sum.stack else { return Seen::Nothing };
        match self.waits.of(stack) {
            None => {}
            // Reading cached data copies it, on the CPU.
            Some(Wait::Io) if !self.waits.is_blocked(stack) => return Seen::Nothing,
            Some(_) => return Seen::Doing(Activity::Waiting),
        }
        let leaf = self.profile.frame(self.profile.stack(stack).frame).function;
        let is_call = self.profile.binary_name(leaf) == Some("libsystem_kernel.dylib");
        if is_call && !is_no_call(self.profile.function_name(leaf))
            || Category::of_function(self.profile, leaf) == Category::Kernel
        {
            return Seen::Nothing;
        }
        // An unnamed system function may be a wait.
        let is_known =
            self.profile.function(leaf).is_named || Category::of_function(self.profile, leaf) == Category::User;
        if is_known { Seen::InCode } else { Seen::Nothing }
    }

    fn counts(&self, thread: ThreadId) -> Counts {
        let mut counts = Counts::default();
        for sum in self.sums.iter().filter(|sum| sum.thread == thread) {
            let count = match self.seen(sum) {
                Seen::Doing(Activity::Running) => Some(&mut counts.running),
                Seen::Doing(Activity::Queued) => Some(&mut counts.queued),
                Seen::Doing(Activity::Waiting) => Some(&mut counts.waiting),
                Seen::InCode => Some(&mut counts.in_code),
                Seen::Doing(Activity::Unknown) | Seen::Nothing => None,
            };
            if let Some(count) = count {
                *count += sum.samples;
            }
            counts.all += sum.samples;
        }
        counts
    }

    fn waits_for(&self, thread: ThreadId) -> Option<(Wait, bool)> {
        // A suspended thread waits for the cause of its suspension.
        let is_suspended = |sum: &SampleSum| sum.state.is_some_and(|state| self.profile.string(state) == "Suspended");
        let waiting =
            self.sums.iter().filter(|sum| sum.thread == thread && self.seen(sum) == Seen::Doing(Activity::Waiting));
        agreed(&self.waits, waiting.map(|sum| (sum.stack.filter(|_| !is_suspended(sum)), sum.samples)))
    }

    /// The other threads of the process that worked in most of their samples.
    fn working(&self, thread: ThreadId) -> Vec<(ThreadId, Counts)> {
        let works = |counts: &Counts| counts.all >= LEAST && (counts.waiting as f64) <= RESTED * counts.all as f64;
        let others = self.others(thread).into_iter().map(|id| (id, self.counts(id)));
        others.filter(|(_, counts)| works(counts)).collect()
    }

    /// The other threads of the process.
    fn others(&self, thread: ThreadId) -> Vec<ThreadId> {
        let process = self.profile.thread(thread).process;
        let mut others = self.threads();
        others.retain(|&id| id != thread && self.profile.thread(id).process == process);
        others
    }

    /// The thread that the report names as the owner of what a thread waits for. All samples with an owner must agree, and be at least four
    /// fifths of the waiting samples.
    fn owner(&self, thread: ThreadId, waiting: u64) -> Option<ThreadId> {
        let own: Vec<&Blocked<'_>> = self.blocked_by(thread).collect();
        let (pid, tid) = own.first()?.owner?;
        let samples: u64 = own.iter().map(|blocked| blocked.samples).sum();
        let is_one = own.iter().all(|blocked| blocked.owner == Some((pid, tid)));
        if !is_one || (samples as f64) < AGREEING * waiting as f64 {
            return None;
        }
        let pid: u64 = pid.parse().ok()?;
        let tid = u64::from_str_radix(tid.strip_prefix("0x")?, 16).ok()?;
        self.threads().into_iter().find(|&id| {
            let other = self.profile.thread(id);
            other.tid == Some(tid) && self.profile.process(other.process).pid == Some(pid) && id != thread
        })
    }

    fn blocked_by(&self, thread: ThreadId) -> impl Iterator<Item = &Blocked<'p>> {
        let tid = self.profile.thread(thread).tid;
        self.blocked.iter().filter(move |blocked| Some(blocked.tid) == tid)
    }

    /// The only other thread that does not wait, if it runs methods of a type whose methods wait.
    fn likely_holder(&self, thread: ThreadId) -> Option<ThreadId> {
        let others = self.others(thread);
        let mut awake = others.iter().copied().filter(|id| !self.is_waiting(*id));
        let only = awake.next().filter(|_| awake.next().is_none())?;
        let counts = self.counts(only);
        if counts.waiting > 0 || counts.all < LEAST {
            return None;
        }
        let (own, other) = (self.types(thread), self.types(only));
        own.iter().any(|name| other.contains(name)).then_some(only)
    }

    /// True if most samples of a thread wait.
    fn is_waiting(&self, thread: ThreadId) -> bool {
        let counts = self.counts(thread);
        counts.waiting as f64 >= AGREEING * counts.all as f64
    }

    /// The types whose methods are on a thread's stacks, in app code: `Store` for `Store.save()` and `-[Store save]`.
    fn types(&self, thread: ThreadId) -> HashSet<&'p str> {
        let profile = self.profile;
        let stacks = self.sums.iter().filter(|sum| sum.thread == thread);
        let functions = stacks.flat_map(|sum| profile.frames_leaf_first(sum.stack)).map(|frame| frame.function);
        let own = functions.filter(|&id| Category::of_function(profile, id) == Category::User);
        own.filter_map(|id| type_of(profile.function_name(id))).collect()
    }

    /// The other threads that worked. If one holds what the thread waits for, it comes first.
    fn workers(&self, thread: ThreadId, holder: Option<ThreadId>) -> Vec<HangStack> {
        let running = |counts: &Counts| (counts.running + counts.in_code) as f64 >= AGREEING * counts.all as f64;
        let mut working = self.working(thread);
        working.retain(|(id, counts)| running(counts) || Some(*id) == holder);
        working.sort_by_key(|(id, _)| Some(*id) != holder);
        let stack = |(id, _): (ThreadId, Counts)| {
            let own = self.sums.iter().filter(|sum| sum.thread == id).map(|sum| (sum.stack, sum.samples)).collect();
            HangStack::of(self.profile, id, own)
        };
        working.into_iter().filter_map(stack).collect()
    }
}

/// Extracts the type from a method name.
fn type_of(name: &str) -> Option<&str> {
    if let Some(method) = name.strip_prefix("-[").or_else(|| name.strip_prefix("+[")) {
        return method.split([' ', '(']).next();
    }
    let path = name.split(['(', ' ', '<']).next()?;
    let (kind, _) = path.rsplit_once('.').or_else(|| path.rsplit_once("::"))?;
    Some(kind).filter(|kind| !kind.is_empty())
}

/// The length that a report states, exactly or in a summary field in seconds.
fn stated_length(toc: &TocRun) -> Option<Nanos> {
    let exact = toc.stated.filter(|stated| stated.unit.is_time()).map(|Weight { value, .. }| Nanos::from_nanos(value));
    let field = toc.summary_field("hang-duration").or(toc.summary_field("event-duration"));
    exact.or_else(|| seconds(field?))
}

/// Parses the interval in `50 (100ms sampling interval)`, in nanoseconds.
fn sampling_interval(toc: &TocRun) -> Option<f64> {
    let (_, rest) = toc.summary_field("steps")?.split_once('(')?;
    let millis: f64 = rest.split_once("ms")?.0.parse().ok()?;
    (millis > 0.0).then_some(millis * 1e6)
}

/// Parses `5.00s`.
fn seconds(text: &str) -> Option<Nanos> {
    let seconds: f64 = text.split(' ').next()?.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Nanos::from_nanos((seconds * 1e9) as u64))
}
