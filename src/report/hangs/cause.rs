//! Determines what a thread waited for, and which thread probably held it up.

use std::collections::{BTreeMap, HashSet};

use super::recorded::Recorded;
use crate::hash::HashMap;
use crate::profile::{Activity, Category, FunctionId, Sample, StackId, ThreadId, Wait, Waits};
use crate::units::Nanos;

/// The minimum share of a thread's waiting samples that must agree.
pub(super) const AGREEING: f64 = 0.8;
/// The minimum share of a wait in which its holder must have samples.
const SEEN: f64 = 0.8;
/// The maximum share of these samples in which the holder rested.
const RESTED: f64 = 0.2;
/// The minimum share of the holder's samples that have a function in common.
const SHARED: f64 = 0.9;
/// The holder's work must begin and end with the wait, within this time plus two sampling intervals.
const TOLERANCE: Nanos = Nanos::from_millis(10);
/// Samples must show within this time after a wait that the holder continued with other work.
const AFTER: Nanos = Nanos::from_millis(20);

/// Returns what most of these stacks wait for, weighted by number of samples, and true if all agree. `None` if fewer than four fifths agree.
pub(in crate::report) fn agreed(
    waits: &Waits<'_>,
    stacks: impl Iterator<Item = (Option<StackId>, u64)>,
) -> Option<(Wait, bool)> {
    let mut counts: BTreeMap<Option<Wait>, u64> = BTreeMap::new();
    for (stack, samples) in stacks {
        *counts.entry(stack.and_then(|stack| waits.class(stack, true))).or_default() += samples;
    }
    let all: u64 = counts.values().sum();
    let (&wait, &most) = counts.iter().max_by_key(|&(_, &samples)| samples)?;
    let wait = wait.filter(|&wait| wait != Wait::Unknown && most as f64 >= AGREEING * all as f64)?;
    Some((wait, most == all))
}

/// The waiting samples of a thread.
pub(super) struct Waited<'r, 'p> {
    pub(super) recorded: &'r Recorded<'p>,
    pub(super) waits: &'r Waits<'p>,
    pub(super) thread: ThreadId,
    /// The indices of its waiting samples, in order of time.
    pub(super) samples: &'r [u32],
}

impl Waited<'_, '_> {
    /// Returns what the thread waited for, and true if all its samples agree.
    pub(super) fn for_what(&self) -> Option<(Wait, bool)> {
        agreed(self.waits, self.samples.iter().map(|&index| (self.recorded.sample(index).stack, 1)))
    }

    /// Returns the only thread of the process that may hold the lock: during the wait, it worked in a function that began and ended with the
    /// wait.
    pub(super) fn likely_holder(&self) -> Option<ThreadId> {
        let profile = self.recorded.profile;
        let process = profile.thread(self.thread).process;
        let others = profile.thread_ids().filter(|&id| id != self.thread && profile.thread(id).process == process);
        let mut holders = others.filter(|&thread| self.may_hold(thread));
        let holder = holders.next()?;
        holders.next().is_none().then_some(holder)
    }

    fn may_hold(&self, thread: ThreadId) -> bool {
        let recorded = self.recorded;
        let (Some(&first), Some(&last)) = (self.samples.first(), self.samples.last()) else { return false };
        let (first, last) = (recorded.sample(first).time, recorded.sample(last).time);
        let tolerance = TOLERANCE.saturating_add(Nanos::from_nanos(2 * recorded.interval as u64));
        let own = recorded.own(thread);
        let during = recorded.within(own, (first, last.saturating_add(Nanos::from_nanos(1))));
        let possible = last.since(first).as_nanos() as f64 / recorded.interval;
        let rests = during.iter().filter(|&&index| self.rests(recorded.sample(index))).count();
        if (during.len() as f64) < SEEN * possible || rests as f64 > RESTED * during.len() as f64 {
            return false;
        }
        let functions = |start: Nanos, end: Nanos| -> HashSet<FunctionId> {
            let samples = recorded.within(own, (start, end)).iter();
            samples.flat_map(|&index| self.functions(recorded.sample(index))).collect()
        };
        let earlier = |time: Nanos, by: Nanos| Nanos::from_nanos(time.as_nanos().saturating_sub(by.as_nanos()));
        let early = earlier(first, tolerance);
        let (long_before, before) = (functions(earlier(early, AFTER), early), functions(early, first));
        let at_end = functions(earlier(last, tolerance), last.saturating_add(tolerance));
        let late = last.saturating_add(tolerance).saturating_add(Nanos::from_nanos(1));
        let ended = functions(late, late.saturating_add(AFTER));
        let has_after = !recorded.within(own, (late, late.saturating_add(AFTER))).is_empty();
        let mut counts: HashMap<FunctionId, usize> = HashMap::default();
        for &index in during {
            let functions: HashSet<FunctionId> = self.functions(recorded.sample(index)).collect();
            functions.into_iter().for_each(|function| *counts.entry(function).or_default() += 1);
        }
        // A function that ran long before the wait, or ended before it, did not cause it.
        let is_of_wait = |(function, count): (&FunctionId, &usize)| {
            let begins = before.contains(function) && !long_before.contains(function);
            let ends = at_end.contains(function) && !ended.contains(function);
            *count as f64 >= SHARED * during.len() as f64 && begins && ends
        };
        has_after && counts.iter().any(is_of_wait)
    }

    /// True if the thread waits for work or for an event, so it holds no lock for long.
    fn rests(&self, sample: &Sample) -> bool {
        let rests = || {
            matches!(self.waits.of(sample.stack?), Some(Wait::IdleWorker | Wait::RunLoop | Wait::Event)).then_some(())
        };
        self.recorded.activity(sample) != Activity::Running && rests().is_some()
    }

    /// The functions that show what a thread works on, without kernel functions and those at the start of every thread.
    fn functions(&self, sample: &Sample) -> impl Iterator<Item = FunctionId> {
        let profile = self.recorded.profile;
        let tells = |id: &FunctionId| {
            let name = profile.function_name(*id);
            Category::of_function(profile, *id) != Category::Kernel
                && !["_", "thread_start", "start"].iter().any(|start| name.starts_with(start))
        };
        profile.frames_leaf_first(sample.stack).map(|frame| frame.function).filter(tells)
    }
}
