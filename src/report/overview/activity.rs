//! CPU use over the selected time: its mean, the busiest second, and a timeline.

use crate::calltree::Metric;
use crate::profile::{BinLength, SumGroup};
use crate::recording::SelectedTime;
use crate::report::{Report, SeriesReport};
use crate::units::{Nanos, Unit, Weight};

/// The work of a series over the selected time of its run, in the unit of the series: CPU time, cycles or counter events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// The selected time; never empty.
    pub time: SelectedTime,
    /// The CPU time in percent of the length of `time`, where 100 is one fully busy core. `None` in other units.
    pub cpu_percent: Option<f64>,
    /// The busiest second that is completely selected, starting at any time. It is 2 seconds in recordings longer than half an hour, 4 seconds in
    /// those longer than an hour, and so on. `None` if less than two seconds are selected, or sample times are unknown.
    pub busiest: Option<Busiest>,
    /// The weights over time; empty if sample times are unknown.
    pub line: LineOfTime,
}

/// The busiest part of the selected time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busiest {
    /// The start of this part: at a sample, or one length before the end of a selected part. If samples were summed while reading, at the start
    /// of a bin.
    pub start: Nanos,
    /// The length of this part.
    pub length: Nanos,
    /// The weight of the samples that were taken in it.
    pub weight: Weight,
}

/// Weights in bins of equal length that cover the selected time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineOfTime {
    /// The length of a bin: 1 s, 2 s, 4 s …, or ½ s, ¼ s ….
    pub bin: Nanos,
    /// The number of the first bin. Bin n begins at n times the length.
    pub first: u64,
    /// The weights of the bins.
    pub weights: Vec<u64>,
}

impl LineOfTime {
    /// The start of the bin at an index.
    pub fn start(&self, index: usize) -> Nanos {
        Nanos::from_nanos((self.first + index as u64).saturating_mul(self.bin.as_nanos()))
    }

    /// The weight of the bin with the highest rate, and the selected time within it.
    pub fn peak(&self, time: &SelectedTime) -> Option<(u64, Nanos)> {
        let lengths = (0..self.weights.len()).map(|index| {
            let start = self.start(index);
            time.length_between(start, start.saturating_add(self.bin))
        });
        highest_rate(self.weights.iter().copied().zip(lengths), self.bin)
    }
}

/// The bin with the highest rate: its weight, and the selected time within it. Bins that are less than half selected are used only if there are
/// no others, since a single sample may outweigh such a short time.
pub(crate) fn highest_rate(bins: impl Iterator<Item = (u64, Nanos)>, bin: Nanos) -> Option<(u64, Nanos)> {
    let rate = |&(weight, length): &(u64, Nanos)| {
        let length = length.as_nanos();
        let rate = (u128::from(weight) * u128::from(bin.as_nanos())).checked_div(u128::from(length)).unwrap_or(0);
        (length >= bin.as_nanos() / 2, rate)
    };
    bins.max_by_key(rate)
}

/// The CPU use of a series, with a timeline of at most `most` bins. `None` if waiting threads are selected, or the recorded time is unknown.
pub(super) fn activity(report: &Report<'_>, series: &SeriesReport, most: usize) -> Option<Activity> {
    let time = report.selected_time(series);
    let (start, end) = time.span().filter(|_| report.is_cpu_use(series))?;
    let shortest = BinLength::of_span(start, end);
    let mut parts = time.parts().to_vec();
    if report.has_recorded_weights() {
        // The first bin may begin before the selected time. Only whole bins are summed, so the busiest second gets no extra weight.
        parts[0].0 = Nanos::from_nanos(shortest.bin_of(start).saturating_mul(shortest.nanos().as_nanos()));
    }
    let earliest = parts[0].0;
    let mut samples = Vec::new();
    each_sample(report, series, shortest, |time, weight| samples.push((time.clamp(earliest, end), weight)));
    let length = shortest.max(BinLength::SECOND).nanos();
    let busiest = busiest(samples, length, &parts).filter(|_| time.length().as_nanos() / 2 >= length.as_nanos());
    Some(Activity {
        cpu_percent: series.counted.weight.percent_of_core(time.length()),
        busiest: busiest.map(|(from, weight)| Busiest {
            start: from.max(start),
            length,
            weight: Weight::new(weight, series.unit),
        }),
        line: line(report, series, &time, readable(report, series, start, end, shortest, most)),
        time,
    })
}

/// The start and weight of the heaviest period of this length in one of the parts; the earliest of several. Only periods that start at a sample
/// or end with their part need to be tried: any other period can be moved there without losing weight.
fn busiest(mut samples: Vec<(Nanos, u64)>, length: Nanos, parts: &[(Nanos, Nanos)]) -> Option<(Nanos, u64)> {
    // Samples are nearly sorted, which makes this fast.
    samples.sort_by_key(|&(time, _)| time);
    let mut heaviest: Option<(Nanos, u64)> = None;
    for &(from, until) in parts.iter().filter(|(from, until)| until.since(*from) >= length) {
        // A sample may be taken at the very end of the recording.
        let is_last = parts.last() == Some(&(from, until));
        let first = samples.partition_point(|&(time, _)| time < from);
        let count = samples[first..].partition_point(|&(time, _)| time < until || is_last && time == until);
        let samples = &samples[first..first + count];
        let last = Nanos::from_nanos(until.as_nanos() - length.as_nanos());
        let starts = samples.iter().map(|&(time, _)| time).take_while(|&time| time < last).chain([last]);
        let (mut left, mut right, mut weight) = (0, 0, 0_u64);
        for start in starts {
            let end = start.saturating_add(length);
            while let Some((_, more)) = samples.get(right).filter(|(time, _)| *time < end || end == until) {
                (weight, right) = (weight + more, right + 1);
            }
            while let Some((_, less)) = samples.get(left).filter(|(time, _)| *time < start) {
                (weight, left) = (weight - less, left + 1);
            }
            if weight > heaviest.map_or(0, |(_, most)| most) {
                heaviest = Some((start, weight));
            }
        }
    }
    heaviest
}

/// The minimum number of samples in a bin for a busy thread. With fewer, the thread would seem to start and stop.
const SAMPLES: u64 = 5;

/// The shortest bin length with at most `most` bins, each long enough for [`SAMPLES`] samples.
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
    // In other units, estimate it from the number of samples.
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

/// The weights of a series' selected samples in bins of this length.
fn line(report: &Report<'_>, series: &SeriesReport, time: &SelectedTime, length: BinLength) -> LineOfTime {
    let Some((start, end)) = time.span() else { return LineOfTime::default() };
    let last = Nanos::from_nanos(end.as_nanos().saturating_sub(1)).max(start);
    let (first, last) = (length.bin_of(start), length.bin_of(last));
    let mut weights = vec![0; (last - first + 1) as usize];
    let mut is_known = false;
    // A sample may be taken at the very end of the recording.
    each_sample(report, series, length, |time, weight| {
        weights[(length.bin_of(time).clamp(first, last) - first) as usize] += weight;
        is_known = true;
    });
    if is_known { LineOfTime { bin: length.nanos(), first, weights } } else { LineOfTime::default() }
}

/// Calls `each` with the time and weight of each selected sample of a series. If samples were summed while reading, with each bin of this length
/// and its start.
fn each_sample(report: &Report<'_>, series: &SeriesReport, length: BinLength, mut each: impl FnMut(Nanos, u64)) {
    let profile = &report.recording.profile;
    for sample in report.samples_of(series) {
        each(sample.time, report.options.metric.of(sample));
    }
    if report.has_recorded_weights() {
        let groups = profile.sum_groups().iter().zip(profile.sum_bins());
        let is_counted = |group: &SumGroup| group.series == series.series && report.selected().counts_group(group);
        for (_, bins) in groups.filter(|(group, _)| is_counted(group)) {
            let start = |bin: u64| Nanos::from_nanos(bin.saturating_mul(length.nanos().as_nanos()));
            bins.bins(length).for_each(|(bin, weight)| each(start(bin), weight));
        }
    }
}

impl Report<'_> {
    /// True if samples were summed and recorded weights are used, which the profile has bins for.
    fn has_recorded_weights(&self) -> bool {
        let profile = &self.recording.profile;
        profile.sums().len() > 0
            && self.options.metric == Metric::Weight
            && self.operations.is_empty()
            && !profile.is_weighed_by_counters()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nanos((from, until): (u64, u64)) -> (Nanos, Nanos) {
        (Nanos::from_nanos(from), Nanos::from_nanos(until))
    }

    #[test]
    fn a_burst_that_starts_within_a_second_is_found() {
        let burst = (300..960).map(|at| (Nanos::from_millis(at), 1_000_000));
        let rest = (960..8_000).step_by(4).map(|at| (Nanos::from_millis(at), 1_000_000));
        let samples: Vec<_> = burst.chain(rest).collect();
        let parts = [(Nanos::from_millis(300), Nanos::from_millis(8_000))];
        let expected = (Nanos::from_millis(300), (660 + 85) * 1_000_000);
        assert_eq!(busiest(samples.clone(), Nanos::from_millis(1_000), &parts), Some(expected));
        // Without the burst, the busiest second is the last selected one, including a sample at its very end.
        let parts = [(Nanos::from_millis(962), Nanos::from_millis(2_000))];
        let expected = (Nanos::from_millis(1_000), 251_000_000);
        assert_eq!(busiest(samples, Nanos::from_millis(1_000), &parts), Some(expected));
    }

    proptest! {
        #[test]
        fn no_other_start_has_more_weight(
            samples in prop::collection::vec((0..60_u64, 0..5_u64), 0..40),
            cuts in prop::collection::btree_set(0..60_u64, 2..6),
            length in 1..20_u64,
        ) {
            let cuts: Vec<u64> = cuts.into_iter().collect();
            let parts: Vec<(u64, u64)> = cuts.chunks_exact(2).map(|cut| (cut[0], cut[1])).collect();
            let end = parts.last().unwrap().1;
            let weight = |start: u64| -> u64 {
                let is_in = |time: u64| (start..start + length).contains(&time) || time == end && start + length == end;
                samples.iter().filter(|(time, _)| is_in(*time)).map(|(_, weight)| weight).sum()
            };
            let starts = parts.iter().flat_map(|&(from, until)| from..(until + 1).saturating_sub(length).max(from));
            let expected = starts.map(weight).max().unwrap_or(0);
            let times = samples.iter().map(|&(time, weight)| (Nanos::from_nanos(time), weight)).collect();
            let parts: Vec<_> = parts.into_iter().map(nanos).collect();
            let found = busiest(times, Nanos::from_nanos(length), &parts);
            prop_assert_eq!(found.map_or(0, |(_, weight)| weight), expected);
            if let Some((start, found)) = found {
                prop_assert_eq!(weight(start.as_nanos()), found);
            }
        }
    }
}
