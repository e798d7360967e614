//! Intervals by name: how many there are, how long they take, and the CPU time within them.

use std::sync::Arc;

use super::cpu_within::CpuWithin;
use crate::hash::HashMap;
use crate::recording::{Interval, IntervalOrigin, Intervals, Recording};
use crate::stats::Quantile;
use crate::units::{Nanos, Weight};

/// The schema of a table, and the name of its intervals.
type TableAndName = (Arc<str>, Option<Arc<str>>);

/// The intervals of a recording, summed by name.
#[derive(Clone, Debug, Default)]
pub struct IntervalSummary {
    /// The names, by their total.
    pub rows: Vec<IntervalTotals>,
    /// The percentiles of [`IntervalTotals::quantiles`].
    pub quantiles: Vec<Quantile>,
}

/// The intervals with one name.
#[derive(Clone, Debug)]
pub struct IntervalTotals {
    /// What they are: the schema of their table, or `os-signpost`, whichever table of signposts has them.
    pub table: Arc<str>,
    /// The name; for hangs, their type. `None` if the table has no name for its rows.
    pub name: Option<Arc<str>>,
    /// The number of intervals with an end.
    pub count: u64,
    /// The number of intervals that were open when the recording ended. They are not in the other numbers.
    pub open: u64,
    /// The sum of durations. Intervals that overlap count twice.
    pub total: Nanos,
    /// Percentiles of the durations, each with the interval that has this duration: the nearest rank. Empty without an end.
    pub quantiles: Vec<Interval>,
    /// The longest one.
    pub longest: Option<Interval>,
    /// The CPU time of the interval's thread within the intervals; `None` if no interval has a thread, or nothing was sampled.
    pub thread_cpu: Option<Weight>,
    /// The CPU time of all threads of all processes within the intervals.
    pub cpu: Option<Weight>,
}

impl Recording {
    /// Sums these intervals by name, with the samples of this recording. Intervals that several tables have count once.
    pub fn interval_summary(&self, intervals: &Intervals, quantiles: &[Quantile]) -> IntervalSummary {
        let cpu = CpuWithin::new(self);
        let mut groups: HashMap<TableAndName, Vec<&Interval>> = HashMap::default();
        for interval in intervals.distinct() {
            let name = interval.name_or_type().map(Arc::from);
            groups.entry((table(interval), name)).or_default().push(interval);
        }
        let totals = |((table, name), intervals)| totals((table, name), intervals, quantiles, cpu.as_ref());
        let mut rows: Vec<IntervalTotals> = groups.into_iter().map(totals).collect();
        rows.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (&a.table, &a.name).cmp(&(&b.table, &b.name))));
        IntervalSummary { rows, quantiles: quantiles.to_vec() }
    }
}

fn table(interval: &Interval) -> Arc<str> {
    match (&interval.table, interval.origin) {
        (Some(table), _) => table.clone(),
        (None, IntervalOrigin::Hang) => Intervals::HANGS[0].into(),
        (None, _) => "os-signpost".into(),
    }
}

fn totals(
    (table, name): TableAndName,
    mut intervals: Vec<&Interval>,
    quantiles: &[Quantile],
    cpu: Option<&CpuWithin>,
) -> IntervalTotals {
    let all = intervals.len() as u64;
    intervals.retain(|interval| interval.end.is_some());
    // Of equal durations, the first in time comes first.
    intervals.sort_by_key(|interval| (interval.duration(), interval.run, interval.start));
    let count = intervals.len() as u64;
    let total = intervals.iter().filter_map(|interval| interval.duration()).map(Nanos::as_nanos);
    let at =
        |quantile: &Quantile| intervals.get(quantile.nearest_rank(count).saturating_sub(1) as usize).copied().cloned();
    let longest = intervals.iter().rev().max_by_key(|interval| interval.duration()).copied().cloned();
    let (mut thread_cpu, mut all_cpu) = (None, None);
    for interval in &intervals {
        let [of_thread, of_all] = cpu.map_or([None; 2], |cpu| cpu.within(interval));
        add(&mut thread_cpu, of_thread);
        add(&mut all_cpu, of_all);
    }
    IntervalTotals {
        table,
        name,
        count,
        open: all - count,
        total: Nanos::from_nanos(total.fold(0, u64::saturating_add)),
        quantiles: quantiles.iter().filter_map(at).collect(),
        longest,
        thread_cpu,
        cpu: all_cpu,
    }
}

fn add(sum: &mut Option<Weight>, more: Option<Weight>) {
    let Some(more) = more else { return };
    let value = sum.map_or(0, |sum| sum.value);
    *sum = Some(Weight::new(value.saturating_add(more.value), more.unit));
}
