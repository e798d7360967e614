//! Intervals by name: how many there are, how long they take, and the CPU time within them; of a recording, or of many.

use std::collections::HashSet;
use std::sync::Arc;

use super::alert::{IntervalAlert, IntervalOutcome};
use super::cpu_within::CpuWithin;
use super::swift_tasks::SwiftTasks;
use super::union::{IntervalUnion, Open};
use crate::hash::HashMap;
#[cfg(feature = "dataset")]
use crate::memory::{of_map, of_vec};
use crate::recording::{Interval, IntervalOrigin, Intervals, Recording, TocRun};
use crate::stats::Quantile;
use crate::units::{Nanos, Weight};

/// The schema of a table, and the name of its intervals.
type TableAndName = (Arc<str>, Option<Arc<str>>);

/// Intervals, summed by name.
#[derive(Clone, Debug, Default)]
pub struct IntervalSummary {
    /// The names, by their total.
    pub rows: Vec<IntervalTotals>,
    /// The percentiles of [`IntervalTotals::quantiles`].
    pub quantiles: Vec<Quantile>,
    /// The number of runs of several inputs, including those without intervals; `None` for the runs of one recording.
    pub runs: Option<u64>,
    /// The outcomes of alert rules.
    pub alerts: Vec<IntervalOutcome>,
    /// The Swift tasks of a recording.
    pub tasks: SwiftTasks,
    /// True to show the unions and gaps of intervals as text and CSV. JSON always has them.
    pub shows_unions: bool,
}

/// The intervals with one name.
#[derive(Clone, Debug)]
pub struct IntervalTotals {
    /// What they are: the schema of their table, or `os-signpost`, whichever table of signposts has them.
    pub table: Arc<str>,
    /// The name; for hangs, their type. `None` if the table has no name for its rows.
    pub name: Option<Arc<str>>,
    /// The number of runs that have some.
    pub runs: u64,
    /// The number of intervals with an end.
    pub count: u64,
    /// The number of intervals that were open when the recording ended. They are not in the other numbers.
    pub open: u64,
    /// The sum of durations. Intervals that overlap count twice.
    pub total: Nanos,
    /// Percentiles of the durations, each with the interval that has this duration: the nearest rank. Empty without an end.
    pub quantiles: Vec<IntervalInstance>,
    /// The longest one.
    pub longest: Option<IntervalInstance>,
    /// The time with at least one open interval, also of those without an end; `None` if one was open at the end of a run, and it is
    /// unknown when that was.
    pub busy: Option<Nanos>,
    /// The number of idle gaps: times between the intervals of a run in which none was open.
    pub gaps: u64,
    /// The sum of the gaps.
    pub idle: Nanos,
    /// The longest gap.
    pub longest_gap: Option<IntervalInstance>,
    /// The CPU time of the interval's thread within the intervals, as far as they were sampled; `None` if no interval has a thread, or
    /// nothing of them was sampled.
    pub thread_cpu: Option<Weight>,
    /// The CPU time of all threads of all processes within the intervals, in the same way.
    pub cpu: Option<Weight>,
    /// The sum of the parts of the intervals before the first or after the last sample of their run; `None` without samples.
    pub unsampled: Option<Nanos>,
}

/// An interval with an end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IntervalInstance {
    /// The duration.
    pub duration: Nanos,
    /// The input, if there are several.
    pub input: Option<Arc<str>>,
    /// The number of its run, from 1.
    pub run: u32,
    /// The start in the run.
    pub start: Nanos,
    /// The number of its process.
    pub pid: Option<u64>,
    /// The number of its thread; for a signpost, where it began.
    pub tid: Option<u64>,
}

impl Recording {
    /// Sums these intervals by name, with the samples of this recording, and judges the rules. Intervals that several tables have count
    /// once. Those whose [label](Interval::label) is one of `labels` are named so; rules find them by label, too.
    pub fn interval_summary(
        &self,
        intervals: &Intervals,
        labels: &[String],
        quantiles: &[Quantile],
        alerts: &[IntervalAlert],
    ) -> IntervalSummary {
        let mut pool = IntervalPool::new(labels, alerts);
        pool.add(None, intervals.distinct(), CpuWithin::new(self).as_ref());
        let runs = || self.tocs().flat_map(|toc| &toc.runs);
        let end = |_: Option<&str>, run: u32| runs().find(|toc| toc.number == run).and_then(TocRun::duration);
        IntervalSummary { runs: None, tasks: intervals.swift_tasks(), ..pool.finish(quantiles, &end) }
    }
}

/// The intervals of any number of inputs, by name.
#[derive(Debug, Default)]
pub(crate) struct IntervalPool {
    /// The labels that are names.
    labels: HashSet<String>,
    alerts: Vec<IntervalAlert>,
    names: HashMap<TableAndName, Pooled>,
    /// By alert: the intervals that have its name as their label.
    labelled: Vec<Pooled>,
    runs: u64,
}

#[derive(Debug, Default)]
struct Pooled {
    closed: Vec<IntervalInstance>,
    open: Vec<Open>,
    runs: u64,
    thread_cpu: Option<Weight>,
    cpu: Option<Weight>,
    unsampled: Option<Nanos>,
}

impl IntervalPool {
    /// Intervals that have one of these labels are named so.
    pub(crate) fn new(labels: &[String], alerts: &[IntervalAlert]) -> Self {
        let labelled = alerts.iter().map(|_| Pooled::default()).collect();
        Self { labels: labels.iter().cloned().collect(), alerts: alerts.to_vec(), labelled, ..Self::default() }
    }

    /// Adds a run, if it is of several inputs.
    #[cfg(feature = "dataset")]
    pub(crate) fn add_run(&mut self, input: &str, intervals: &[Interval]) {
        self.runs += 1;
        self.add(Some(input.into()), intervals.iter().collect(), None);
    }

    fn add(&mut self, input: Option<Arc<str>>, intervals: Vec<&Interval>, cpu: Option<&CpuWithin>) {
        let mut seen = HashSet::new();
        for interval in intervals {
            let label = interval.label.as_deref().filter(|label| self.labels.contains(*label));
            let name: Option<Arc<str>> = interval.name_or_type().or(label).map(Arc::from);
            for (alert, pooled) in self.alerts.iter().zip(&mut self.labelled) {
                if name.is_none() && interval.label.as_deref() == Some(alert.name()) {
                    pooled.add(interval, None, None);
                }
            }
            let key = (table(interval), name);
            let pooled = self.names.entry(key.clone()).or_default();
            pooled.runs += u64::from(seen.insert((key, interval.run)));
            pooled.add(interval, input.clone(), cpu);
        }
    }

    /// The number of runs of several inputs.
    #[cfg(feature = "dataset")]
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// About how many bytes it takes.
    #[cfg(feature = "dataset")]
    pub(crate) fn memory(&self) -> u64 {
        of_map(&self.names)
            + self.names.values().map(|pooled| of_vec(&pooled.closed) + of_vec(&pooled.open)).sum::<u64>()
    }

    /// The sums, and the outcomes of the rules. `end` returns the end of a run of an input.
    pub(crate) fn finish(
        self,
        quantiles: &[Quantile],
        end: &dyn Fn(Option<&str>, u32) -> Option<Nanos>,
    ) -> IntervalSummary {
        let mut names = self.names;
        // Of equal durations, the first in time comes first.
        names.values_mut().for_each(|pooled| pooled.closed.sort_unstable());
        let judge = |(alert, labelled): (&IntervalAlert, &Pooled)| {
            let named = names.iter().filter(|((_, name), _)| name.as_deref() == Some(alert.name()));
            let matching: Vec<&Pooled> = named.map(|(_, pooled)| pooled).chain([labelled]).collect();
            let closed = matching.iter().flat_map(|pooled| &pooled.closed);
            let mut durations: Vec<Nanos> = closed.map(|instance| instance.duration).collect();
            durations.sort_unstable();
            alert.judge(&durations, matching.iter().map(|pooled| pooled.open.len()).sum())
        };
        let alerts = self.alerts.iter().zip(&self.labelled).map(judge).collect();
        let mut rows: Vec<IntervalTotals> =
            names.into_iter().map(|(key, pooled)| pooled.finish(key, quantiles, end)).collect();
        rows.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (&a.table, &a.name).cmp(&(&b.table, &b.name))));
        let (quantiles, runs) = (quantiles.to_vec(), Some(self.runs));
        IntervalSummary { rows, quantiles, runs, alerts, ..IntervalSummary::default() }
    }
}

fn table(interval: &Interval) -> Arc<str> {
    match (&interval.table, interval.origin) {
        (Some(table), _) => table.clone(),
        (None, IntervalOrigin::Hang) => Intervals::HANGS[0].into(),
        (None, _) => "os-signpost".into(),
    }
}

impl Pooled {
    fn add(&mut self, interval: &Interval, input: Option<Arc<str>>, cpu: Option<&CpuWithin>) {
        let Some(duration) = interval.duration() else {
            self.open.push((input, interval.run, interval.start));
            return;
        };
        let &Interval { run, start, pid, tid, .. } = interval;
        self.closed.push(IntervalInstance { duration, input, run, start, pid, tid });
        let [of_thread, of_all] = cpu.map_or([None; 2], |cpu| cpu.within(interval));
        if let Some(cpu) = cpu {
            self.unsampled = Some(self.unsampled.unwrap_or_default().saturating_add(cpu.unsampled(interval)));
        }
        add(&mut self.thread_cpu, of_thread);
        add(&mut self.cpu, of_all);
    }

    fn finish(
        self,
        (table, name): TableAndName,
        quantiles: &[Quantile],
        end: &dyn Fn(Option<&str>, u32) -> Option<Nanos>,
    ) -> IntervalTotals {
        let Self { closed, open, runs, thread_cpu, cpu, unsampled } = self;
        let IntervalUnion { busy, gaps } = IntervalUnion::new(&closed, &open, end);
        let count = closed.len() as u64;
        let at = |quantile: &Quantile| closed.get(quantile.nearest_rank(count).checked_sub(1)? as usize).cloned();
        let total = closed.iter().map(|instance| instance.duration.as_nanos()).fold(0, u64::saturating_add);
        let longest = closed.last().and_then(|last| closed.iter().find(|instance| instance.duration == last.duration));
        IntervalTotals {
            table,
            name,
            runs,
            count,
            open: open.len() as u64,
            total: Nanos::from_nanos(total),
            quantiles: quantiles.iter().filter_map(at).collect(),
            longest: longest.cloned(),
            busy,
            gaps: gaps.len() as u64,
            idle: gaps.iter().fold(Nanos::default(), |sum, gap| sum.saturating_add(gap.duration)),
            longest_gap: gaps.into_iter().next(),
            thread_cpu,
            cpu,
            unsampled,
        }
    }
}

fn add(sum: &mut Option<Weight>, more: Option<Weight>) {
    let Some(more) = more else { return };
    let value = sum.map_or(0, |sum| sum.value);
    *sum = Some(Weight::new(value.saturating_add(more.value), more.unit));
}
