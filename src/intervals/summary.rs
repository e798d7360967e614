//! Summarises intervals by name, for one recording or many: their number, durations, and CPU time.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::alert;
use super::cpu_within::CpuWithin;
use super::instance::IntervalInstance;
#[cfg(feature = "dataset")]
use super::run_intervals::RunIntervals;
use super::swift_tasks::SwiftTask;
use super::union::{IntervalUnion, Open};
use crate::alert::{AlertOutcome, AlertRule, AlertSubject};
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
    /// The sums for each name, largest total first.
    pub rows: Vec<IntervalTotals>,
    /// The percentiles in [`IntervalTotals::quantiles`].
    pub quantiles: Vec<Quantile>,
    /// The number of runs with a table of intervals; `None` for a single recording.
    pub runs: Option<u64>,
    /// The number of inputs that could not be measured, plus the number of runs without a table of intervals.
    pub unmeasured: u64,
    /// The outcomes of alert rules.
    pub alerts: Vec<AlertOutcome>,
    /// The Swift tasks of a recording, by descending running time.
    pub tasks: Vec<SwiftTask>,
    /// The processes of a recording whose intervals share a name, and are therefore in one row.
    pub shared_by: Vec<String>,
    /// True to show unions and gaps of intervals in text and CSV. JSON always contains them.
    pub shows_unions: bool,
}

/// The sums of all intervals with the same name.
#[derive(Clone, Debug)]
pub struct IntervalTotals {
    /// The schema of their table; `os-signpost` for all signpost tables.
    pub table: Arc<str>,
    /// The name, or the type for hangs. `None` if the table does not name its rows.
    pub name: Option<Arc<str>>,
    /// The number of runs with such intervals.
    pub runs: u64,
    /// The number of intervals with an end.
    pub count: u64,
    /// The number of intervals that were open when the recording ended. The other counts exclude them.
    pub open: u64,
    /// The sum of durations, which counts overlaps several times. Like every sum here, `None` if it exceeds 64 bits.
    pub total: Option<Nanos>,
    /// Percentiles of the durations (nearest rank), each as an interval of this duration. Empty if no interval has an end.
    pub quantiles: Vec<IntervalInstance>,
    /// The longest interval.
    pub longest: Option<IntervalInstance>,
    /// The time during which at least one interval was open, including intervals without an end. `None` if an interval was open at the end of a
    /// run whose end time is unknown.
    pub busy: Option<Nanos>,
    /// The number of idle gaps: times between intervals of a run when none was open.
    pub gaps: u64,
    /// The total duration of the gaps.
    pub idle: Option<Nanos>,
    /// The longest gap.
    pub longest_gap: Option<IntervalInstance>,
    /// The CPU time of each interval's own thread, in the sampled parts of the intervals. `None` if no interval has a thread, or none was
    /// sampled.
    pub thread_cpu: Option<Weight>,
    /// The CPU time of all threads of all processes, in the sampled parts of the intervals.
    pub cpu: Option<Weight>,
    /// The total time of intervals before the first or after the last sample of their run; `None` without samples.
    pub unsampled: Option<Nanos>,
}

impl Recording {
    /// Sums these intervals by name, adds CPU time from this recording's samples, and evaluates the rules. Intervals in several tables are
    /// counted once. If the [label](Interval::label) of an interval is in `labels`, it becomes its name. Rules match all labels.
    pub fn interval_summary(
        &self,
        intervals: &Intervals,
        labels: &[String],
        quantiles: &[Quantile],
        alerts: &[AlertRule],
    ) -> IntervalSummary {
        let mut pool = IntervalPool::new(labels, alerts);
        let distinct = intervals.distinct();
        let shared_by = shared_by(&distinct, labels);
        pool.add(None, distinct, CpuWithin::new(self).as_ref());
        let rejected = intervals.tables.iter().map(|table| table.rejected.total());
        pool.unread = rejected.fold(intervals.unread_runs.len() as u64, u64::saturating_add);
        let runs = || self.tocs().flat_map(|toc| &toc.runs);
        let end = |_: Option<&str>, run: u32| runs().find(|toc| toc.number == run).and_then(TocRun::duration);
        IntervalSummary {
            runs: None,
            tasks: intervals.swift_tasks(),
            shared_by,
            ..pool.finish(quantiles, Some(0), &end)
        }
    }
}

/// The processes whose intervals share a row: `App (7)`. If there are labels, only rows with these names are shown.
fn shared_by(intervals: &[&Interval], labels: &[String]) -> Vec<String> {
    let is_label =
        |text: &Option<Arc<str>>| text.as_deref().is_some_and(|text| labels.iter().any(|label| label == text));
    let mut firsts = HashMap::default();
    let mut shared = BTreeSet::new();
    for interval in intervals {
        let Some(process) = &interval.process else { continue };
        let labelled = Some(&interval.label).filter(|label| is_label(label));
        let name = labelled.unwrap_or(if interval.name.is_some() { &interval.name } else { &interval.hang_type });
        if !labels.is_empty() && !is_label(name) {
            continue;
        }
        let process = (process, interval.pid);
        let first = *firsts.entry((interval.origin, &interval.table, name)).or_insert(process);
        if first != process {
            shared.extend([first, process]);
        }
    }
    let text =
        |(name, pid): (&Arc<str>, Option<u64>)| pid.map_or_else(|| name.to_string(), |pid| format!("{name} ({pid})"));
    shared.into_iter().map(text).collect()
}

/// True if a rule applies to intervals with this name.
fn is_about(rule: &AlertRule, name: Option<&str>) -> bool {
    matches!(&rule.subject, AlertSubject::Named(_, wanted) if Some(wanted.as_str()) == name)
}

/// The intervals of any number of inputs, by name.
#[derive(Debug, Default)]
pub(crate) struct IntervalPool {
    /// Labels that are used as names.
    labels: HashSet<String>,
    alerts: Vec<AlertRule>,
    names: HashMap<TableAndName, Pooled>,
    /// For each alert, the intervals whose label is the rule's name.
    labelled: Vec<Pooled>,
    runs: u64,
    /// The number of runs without a table of signposts, of hangs, and of both.
    without: [u64; 3],
    /// The number of unreadable rows, and of damaged runs.
    unread: u64,
}

#[derive(Debug, Default)]
struct Pooled {
    closed: Vec<IntervalInstance>,
    open: Vec<Open>,
    runs: u64,
    thread_cpu: Option<Weight>,
    cpu: Option<Weight>,
    unsampled: Option<Nanos>,
    /// True if CPU time exceeds 64 bits.
    is_too_large: bool,
}

impl IntervalPool {
    /// Creates an empty pool. Labels in `labels` become names.
    pub(crate) fn new(labels: &[String], alerts: &[AlertRule]) -> Self {
        let labelled = alerts.iter().map(|_| Pooled::default()).collect();
        Self { labels: labels.iter().cloned().collect(), alerts: alerts.to_vec(), labelled, ..Self::default() }
    }

    /// Adds a run of one of several inputs.
    #[cfg(feature = "dataset")]
    pub(crate) fn add_run(&mut self, input: &str, intervals: Option<&RunIntervals>) {
        let has = intervals.map_or([false; 2], |of_run| [of_run.has_signposts, of_run.has_hangs]);
        let lacks = [!has[0], !has[1], intervals.is_none()];
        self.without.iter_mut().zip(lacks).for_each(|(count, lacks)| *count += u64::from(lacks));
        let Some(RunIntervals { rows, unread, .. }) = intervals else { return };
        self.runs += 1;
        self.unread = self.unread.saturating_add(*unread);
        self.add(Some(input.into()), rows.iter().collect(), None);
    }

    fn add(&mut self, input: Option<Arc<str>>, intervals: Vec<&Interval>, cpu: Option<&CpuWithin>) {
        let mut seen = HashSet::new();
        for interval in intervals {
            let label = interval.label.as_deref().filter(|label| self.labels.contains(*label));
            let name: Option<Arc<str>> = interval.name_or_type().or(label).map(Arc::from);
            for (alert, pooled) in self.alerts.iter().zip(&mut self.labelled) {
                if name.is_none() && is_about(alert, interval.label.as_deref()) {
                    pooled.add(interval, None, None);
                }
            }
            let key = (table(interval), name);
            let pooled = self.names.entry(key.clone()).or_default();
            pooled.runs += u64::from(seen.insert((key, interval.run)));
            pooled.add(interval, input.clone(), cpu);
        }
    }

    /// The number of runs without a table of intervals. [`runs`](Self::runs) excludes them.
    #[cfg(feature = "dataset")]
    pub(crate) fn without_tables(&self) -> u64 {
        self.without[2]
    }

    /// The number of runs with a table of intervals.
    #[cfg(feature = "dataset")]
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// The approximate memory use in bytes.
    #[cfg(feature = "dataset")]
    pub(crate) fn memory(&self) -> u64 {
        of_map(&self.names)
            + self.names.values().map(|pooled| of_vec(&pooled.closed) + of_vec(&pooled.open)).sum::<u64>()
    }

    /// Sums the intervals and evaluates the rules. `failed` is the number of inputs that could not be measured, or `None` to ignore everything
    /// that is missing. `end` returns the end time of a run.
    pub(crate) fn finish(
        self,
        quantiles: &[Quantile],
        failed: Option<u64>,
        end: &dyn Fn(Option<&str>, u32) -> Option<Nanos>,
    ) -> IntervalSummary {
        let mut names = self.names;
        // Among equal durations, the earlier interval comes first.
        names.values_mut().for_each(|pooled| pooled.closed.sort_unstable());
        let judge = |(alert, labelled): (&AlertRule, &Pooled)| {
            let named = names.iter().filter(|((_, name), _)| is_about(alert, name.as_deref()));
            let matching: Vec<&Pooled> = named.map(|(_, pooled)| pooled).chain([labelled]).collect();
            let closed = matching.iter().flat_map(|pooled| &pooled.closed);
            let mut durations: Vec<Nanos> = closed.map(|instance| instance.duration).collect();
            durations.sort_unstable();
            let open = matching.iter().map(|pooled| pooled.open.len()).sum();
            let outcome = alert::outcome(alert, &durations, open, failed.map_or(0, |_| self.unread));
            let tables = names.keys().filter(|(_, name)| is_about(alert, name.as_deref())).map(|(table, _)| table);
            let tables = tables.map(|table| usize::from(Intervals::HANGS.contains(&table.as_ref())));
            // Unnamed intervals are signposts. An unknown name may belong to either table.
            let unnamed = if labelled.closed.is_empty() && labelled.open.is_empty() { 2 } else { 0 };
            let without = tables.map(|table| self.without[table]).max().unwrap_or(self.without[unnamed]);
            let with = (self.runs + self.without[2]).saturating_sub(without);
            failed.map_or(outcome.clone(), |failed| outcome.undecided_by(failed + without, with))
        };
        let alerts = self.alerts.iter().zip(&self.labelled).map(judge).collect();
        let mut rows: Vec<IntervalTotals> =
            names.into_iter().map(|(key, pooled)| pooled.finish(key, quantiles, end)).collect();
        let total = |row: &IntervalTotals| row.total.map_or(u64::MAX, Nanos::as_nanos);
        rows.sort_by(|a, b| total(b).cmp(&total(a)).then_with(|| (&a.table, &a.name).cmp(&(&b.table, &b.name))));
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
            let unsampled = Nanos::sum([self.unsampled.unwrap_or_default(), cpu.unsampled(interval)]);
            self.is_too_large |= unsampled.is_none();
            self.unsampled = unsampled;
        }
        self.is_too_large |= !add(&mut self.thread_cpu, of_thread) || !add(&mut self.cpu, of_all);
    }

    fn finish(
        self,
        (table, name): TableAndName,
        quantiles: &[Quantile],
        end: &dyn Fn(Option<&str>, u32) -> Option<Nanos>,
    ) -> IntervalTotals {
        let Self { closed, open, runs, thread_cpu, cpu, unsampled, is_too_large } = self;
        let IntervalUnion { busy, gaps } = IntervalUnion::new(&closed, &open, end);
        let count = closed.len() as u64;
        let at = |quantile: &Quantile| closed.get(quantile.nearest_rank(count).checked_sub(1)? as usize).cloned();
        let longest = closed.last().and_then(|last| closed.iter().find(|instance| instance.duration == last.duration));
        IntervalTotals {
            table,
            name,
            runs,
            count,
            open: open.len() as u64,
            total: Nanos::sum(closed.iter().map(|instance| instance.duration)),
            quantiles: quantiles.iter().filter_map(at).collect(),
            longest: longest.cloned(),
            busy,
            gaps: gaps.len() as u64,
            idle: Nanos::sum(gaps.iter().map(|gap| gap.duration)),
            longest_gap: gaps.into_iter().next(),
            thread_cpu: thread_cpu.filter(|_| !is_too_large),
            cpu: cpu.filter(|_| !is_too_large),
            unsampled: unsampled.filter(|_| !is_too_large),
        }
    }
}

/// Adds to a sum. Returns false if it exceeds 64 bits.
fn add(sum: &mut Option<Weight>, more: Option<Weight>) -> bool {
    let Some(more) = more else { return true };
    let value = sum.map_or(0, |sum| sum.value).checked_add(more.value);
    *sum = value.map(|value| Weight::new(value, more.unit)).or(*sum);
    value.is_some()
}
