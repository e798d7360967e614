//! Computes CPU time within intervals, for the interval's thread and for all threads.

use std::collections::HashSet;

use crate::hash::HashMap;
use crate::profile::{SampleKind, Selection, SeriesId, ThreadId, TimeRange};
use crate::recording::{Interval, Recording};
use crate::units::{Nanos, Unit, Weight};

/// The tolerated time between an interval's end and the nearest sample. Longer times count as unsampled.
pub(crate) const EDGE: Nanos = Nanos::from_millis(5);

/// The running samples of all runs over time, for all threads together and for each thread.
#[derive(Debug)]
pub(crate) struct CpuWithin {
    unit: Unit,
    /// Keyed by run.
    runs: HashMap<u32, Weights>,
    threads: HashMap<ThreadId, Weights>,
    /// The times of the first and last sample in any thread, by run.
    spans: HashMap<u32, (Nanos, Nanos)>,
    /// The threads with samples, keyed by run and tid.
    by_number: HashMap<(u32, u64), Vec<ThreadId>>,
    /// The processes with samples, as run and pid. Whether threads of any other process ran is unknown.
    processes: HashSet<(u32, Option<u64>)>,
}

/// Sorted times, each with the total weight up to and including it.
#[derive(Debug, Default)]
struct Weights(Vec<(Nanos, u64)>);

impl Weights {
    fn finish(&mut self) {
        self.0.sort_by_key(|(time, _)| *time);
        let mut sum = 0_u64;
        for (_, weight) in &mut self.0 {
            sum = sum.saturating_add(*weight);
            *weight = sum;
        }
    }

    fn before(&self, time: Nanos) -> u64 {
        let count = self.0.partition_point(|(known, _)| *known < time);
        count.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    fn within(&self, range: TimeRange) -> u64 {
        let end = range.end.map_or_else(|| self.0.last().map_or(0, |(_, sum)| *sum), |end| self.before(end));
        end.saturating_sub(self.before(range.start))
    }
}

impl CpuWithin {
    /// Uses the selected samples of running threads. Only the series of each run with the largest weight is used; series of CPU time have
    /// precedence.
    pub(crate) fn new(recording: &Recording) -> Option<Self> {
        let profile = &recording.profile;
        let mut totals: HashMap<SeriesId, u64> = HashMap::default();
        let selected = Selection::default().on(profile);
        for sample in selected.iter() {
            *totals.entry(sample.series).or_default() += sample.weight;
        }
        let rank = |series: &SeriesId| {
            (profile.series(*series).unit == Unit::Nanoseconds, totals[series], std::cmp::Reverse(*series))
        };
        let unit = profile.series(*totals.keys().max_by_key(|series| rank(series))?).unit;
        let mut chosen: HashMap<u32, SeriesId> = HashMap::default();
        for series in totals.keys().filter(|series| profile.series(**series).unit == unit) {
            let best = chosen.entry(profile.run(profile.series(*series).run).number).or_insert(*series);
            *best = *[*best, *series].iter().max_by_key(|series| rank(series)).unwrap_or(best);
        }
        let (mut runs, mut threads): (HashMap<u32, Weights>, HashMap<ThreadId, Weights>) = Default::default();
        for sample in selected.iter() {
            let run = profile.run(profile.series(sample.series).run).number;
            if chosen.get(&run) == Some(&sample.series) {
                runs.entry(run).or_default().0.push((sample.time, sample.weight));
                threads.entry(sample.thread).or_default().0.push((sample.time, sample.weight));
            }
        }
        runs.values_mut().chain(threads.values_mut()).for_each(Weights::finish);
        let mut by_number: HashMap<(u32, u64), Vec<ThreadId>> = HashMap::default();
        let mut processes = HashSet::default();
        for &id in threads.keys() {
            let thread = profile.thread(id);
            let process = profile.process(thread.process);
            let run = profile.run(process.run).number;
            processes.insert((run, process.pid));
            if let Some(tid) = thread.tid {
                by_number.entry((run, tid)).or_default().push(id);
            }
        }
        let mut spans: HashMap<u32, (Nanos, Nanos)> = HashMap::default();
        for sample in profile.samples().iter().filter(|sample| sample.kind != SampleKind::Stackshot) {
            let run = profile.run(profile.series(sample.series).run).number;
            if chosen.get(&run) == Some(&sample.series) {
                let (first, last) = spans.entry(run).or_insert((sample.time, sample.time));
                (*first, *last) = ((*first).min(sample.time), (*last).max(sample.time));
            }
        }
        Some(Self { unit, runs, threads, spans, by_number, processes })
    }

    /// The threads with samples that have this tid.
    fn threads(&self, run: u32, tid: u64) -> &[ThreadId] {
        self.by_number.get(&(run, tid)).map_or(&[], Vec::as_slice)
    }

    /// The weight of a thread's samples in a range.
    fn of_thread(&self, run: u32, tid: u64, range: TimeRange) -> Weight {
        let weights = self.threads(run, tid).iter().filter_map(|thread| self.threads.get(thread));
        Weight::new(weights.map(|weights| weights.within(range)).sum(), self.unit)
    }

    /// The weight of all samples in a range.
    fn of_all(&self, run: u32, range: TimeRange) -> Weight {
        Weight::new(self.runs.get(&run).map_or(0, |weights| weights.within(range)), self.unit)
    }

    /// The part of an interval before the first and after the last sample of its run.
    pub(crate) fn unsampled(&self, interval: &Interval) -> Nanos {
        let Some(&(first, last)) = self.spans.get(&interval.run) else {
            return interval.duration().unwrap_or_default();
        };
        let (start, end) = (interval.start, interval.end.unwrap_or(last));
        let before = if first.since(start) > EDGE { end.min(first).since(start) } else { Nanos::default() };
        let after = if end.since(last) > EDGE { end.since(start.max(last)) } else { Nanos::default() };
        before.saturating_add(after)
    }

    /// The CPU time within an interval, of its thread and of all threads; `None` if no part of it was sampled.
    pub(crate) fn within(&self, interval: &Interval) -> [Option<Weight>; 2] {
        let range = TimeRange { start: interval.start, end: interval.end };
        let unsampled = self.unsampled(interval);
        let is_outside = unsampled > Nanos::default() && Some(unsampled) >= interval.duration();
        if is_outside || !self.runs.contains_key(&interval.run) {
            return [None; 2];
        }
        let is_sampled = |tid: &u64| {
            let is_of_process = interval.pid.is_some() && self.processes.contains(&(interval.run, interval.pid));
            is_of_process || !self.threads(interval.run, *tid).is_empty()
        };
        let of_thread = interval.tid.filter(is_sampled).map(|tid| self.of_thread(interval.run, tid, range));
        [of_thread, Some(self.of_all(interval.run, range))]
    }
}

impl Recording {
    /// Returns the CPU time within each interval, of its thread and of all threads. The first is `None` if the interval has no thread, or its
    /// process no samples. Both are `None` if there are samples neither during the interval nor on both sides of it.
    pub fn cpu_within(&self, intervals: &[Interval]) -> Vec<[Option<Weight>; 2]> {
        let cpu = CpuWithin::new(self);
        intervals.iter().map(|interval| cpu.as_ref().map_or([None; 2], |cpu| cpu.within(interval))).collect()
    }
}
