//! Work over the selected time: the mean, the busiest second, and a line.

use crate::calltree::Metric;
use crate::profile::{BinLength, SumGroup};
use crate::recording::SelectedTime;
use crate::report::{Report, SeriesReport};
use crate::units::{Nanos, Unit, Weight};

/// The work of a series over the selected time of its run, in its unit: CPU time, cycles or counter events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// The selected time; not empty.
    pub time: SelectedTime,
    /// CPU time in percent of the length of `time`: 100 is one core that never rests. `None` in other units.
    pub cpu_percent: Option<f64>,
    /// The busiest second that is selected from start to end. In recordings of more than half an hour it is 2 seconds, of more than an hour
    /// 4 seconds, and so on. `None` if fewer than two are selected, or if the times of samples are unknown.
    pub busiest: Option<Busiest>,
    /// The weights over time; empty if the times of samples are unknown.
    pub line: LineOfTime,
}

/// The busiest part of the selected time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busiest {
    /// Its start, a whole number of lengths from the start of the recording.
    pub start: Nanos,
    /// The length of this part.
    pub length: Nanos,
    /// The weight of the samples that were taken in it.
    pub weight: Weight,
}

/// Weights in bins of equal length, which cover the selected time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineOfTime {
    /// The length of a bin: 1 s, 2 s, 4 s …, or ½ s, ¼ s ….
    pub bin: Nanos,
    /// The number of the first bin; bin n begins at n times the length.
    pub first: u64,
    /// The weights of the bins.
    pub weights: Vec<u64>,
}

impl LineOfTime {
    /// The start of the bin at an index.
    pub fn start(&self, index: usize) -> Nanos {
        Nanos::from_nanos((self.first + index as u64).saturating_mul(self.bin.as_nanos()))
    }

    /// The indices and weights of the bins that are selected completely.
    fn complete<'l>(&'l self, time: &'l SelectedTime) -> impl DoubleEndedIterator<Item = (usize, u64)> + 'l {
        let is_complete = |&(index, _): &(usize, u64)| {
            let start = self.start(index);
            time.length_between(start, start.saturating_add(self.bin)) == self.bin
        };
        self.weights.iter().copied().enumerate().filter(is_complete)
    }

    /// The weight of the bin with the highest rate, and the selected time in it.
    pub fn peak(&self, time: &SelectedTime) -> Option<(u64, Nanos)> {
        let lengths = (0..self.weights.len()).map(|index| {
            let start = self.start(index);
            time.length_between(start, start.saturating_add(self.bin))
        });
        highest_rate(self.weights.iter().copied().zip(lengths), self.bin)
    }
}

/// The bin with the highest rate: its weight, and the selected time in it. Bins of which less than half is selected are used only if there are
/// no others: in a short time, one sample may weigh more than the time is long.
pub(crate) fn highest_rate(bins: impl Iterator<Item = (u64, Nanos)>, bin: Nanos) -> Option<(u64, Nanos)> {
    let rate = |&(weight, length): &(u64, Nanos)| {
        let length = length.as_nanos();
        let rate = (u128::from(weight) * u128::from(bin.as_nanos())).checked_div(u128::from(length)).unwrap_or(0);
        (length >= bin.as_nanos() / 2, rate)
    };
    bins.max_by_key(rate)
}

/// The work of a series, with a line of at most `most` bins. `None` if waiting threads are counted, or if the recorded time is unknown.
pub(super) fn activity(report: &Report<'_>, series: &SeriesReport, most: usize) -> Option<Activity> {
    let time = report.selected_time(series);
    let (start, end) = time.span().filter(|_| report.is_cpu_use(series))?;
    let shortest = BinLength::of_span(start, end);
    let seconds = line(report, series, &time, shortest.max(BinLength::SECOND));
    Some(Activity {
        cpu_percent: series.counted.weight.percent_of_core(time.length()),
        busiest: busiest(&seconds, &time, series.unit),
        line: line(report, series, &time, readable(report, series, start, end, shortest, most)),
        time,
    })
}

/// The bin with the most weight; the first of equal bins.
fn busiest(line: &LineOfTime, time: &SelectedTime, unit: Unit) -> Option<Busiest> {
    let is_long_enough = time.length().as_nanos() / 2 >= line.bin.as_nanos();
    let (index, weight) = line.complete(time).rev().max_by_key(|&(_, weight)| weight).filter(|_| is_long_enough)?;
    Some(Busiest { start: line.start(index), length: line.bin, weight: Weight::new(weight, unit) })
}

/// The samples of a busy thread in the shortest bin. With fewer, the thread would seem to start and stop.
const SAMPLES: u64 = 5;

/// The shortest bins of which there are at most `most`, and which are long enough for the samples.
fn readable(
    report: &Report<'_>,
    series: &SeriesReport,
    start: Nanos,
    end: Nanos,
    shortest: BinLength,
    most: usize,
) -> BinLength {
    let last = Nanos::from_nanos(end.as_nanos().saturating_sub(1));
    let interval = report.sampling_interval(series).map_or(0, Nanos::as_nanos);
    // In other units, the number of samples has to do.
    let most = if series.unit == Unit::Nanoseconds {
        most as u64
    } else {
        (series.counted.samples / SAMPLES).min(most as u64)
    };
    let mut length = shortest;
    while length.bin_of(last) - length.bin_of(start) >= most.max(1)
        || length.nanos().as_nanos() < interval.saturating_mul(SAMPLES)
    {
        if length == length.doubled() {
            break;
        }
        length = length.doubled();
    }
    length
}

/// The weights of the counted samples of a series, in bins of this length.
fn line(report: &Report<'_>, series: &SeriesReport, time: &SelectedTime, length: BinLength) -> LineOfTime {
    let Some((start, end)) = time.span() else { return LineOfTime::default() };
    let last = Nanos::from_nanos(end.as_nanos().saturating_sub(1)).max(start);
    let (first, last) = (length.bin_of(start), length.bin_of(last));
    let mut weights = vec![0; (last - first + 1) as usize];
    let mut is_known = false;
    // A sample may be in the moment in which the recording ends.
    let mut add = |bin: u64, weight: u64| {
        weights[(bin.clamp(first, last) - first) as usize] += weight;
        is_known = true;
    };
    let profile = &report.recording.profile;
    for sample in report.samples_of(series) {
        add(length.bin_of(sample.time), report.options.metric.of(sample));
    }
    if report.has_recorded_weights() {
        let groups = profile.sum_groups().iter().zip(profile.sum_bins());
        let is_counted = |group: &SumGroup| group.series == series.series && report.selected().counts_group(group);
        for (_, bins) in groups.filter(|(group, _)| is_counted(group)) {
            bins.bins(length).for_each(|(bin, weight)| add(bin, weight));
        }
    }
    if is_known { LineOfTime { bin: length.nanos(), first, weights } } else { LineOfTime::default() }
}

impl Report<'_> {
    /// True if samples were added up and count with their recorded weights, of which the profile has bins.
    fn has_recorded_weights(&self) -> bool {
        let profile = &self.recording.profile;
        profile.sums().len() > 0
            && self.options.metric == Metric::Weight
            && self.operations.is_empty()
            && !profile.is_weighed_by_counters()
    }
}
