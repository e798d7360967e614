//! CPU use over the course of a run, in one-second windows.

use std::ops::Range;

use super::run::{NameId, RunRecord, RunRows, WindowRow, rate_of};
use crate::units::{Millionths, Nanos, Unit};
use crate::varint;

/// The length of a window.
pub(super) const SECOND: Nanos = Nanos::from_millis(1_000);

/// The weights of a run's recorded seconds. Only seconds with samples take memory, about three bytes each, since times come from the input and
/// may be arbitrarily large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Series {
    /// The ranges of recorded seconds, in order. They do not touch.
    seconds: Box<[Range<u32>]>,
    /// For each second with weight, two varints. The first is twice the distance from the previous such second, plus 1 if the weight is a
    /// multiple of the usual weight. The second is this multiple, or else the weight.
    weights: Box<[u8]>,
    usual_weight: u64,
}

/// Seconds and their weights, sorted. Weights are not zero.
pub(super) type Weights = Vec<(u32, u64)>;

impl Series {
    /// Sums the selected rows by second.
    pub(super) fn new(record: &RunRecord, rows: &[WindowRow], counts: &dyn Fn(&WindowRow) -> bool) -> Self {
        let seconds = record.whole_seconds();
        let is_kept = |row: &&WindowRow| row.weight > 0 && range_of(&seconds, row.second).is_some() && counts(row);
        let mut weights: Weights = rows.iter().filter(is_kept).map(|row| (row.second, row.weight)).collect();
        weights.sort_unstable();
        weights.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 = sum.1.saturating_add(next.1);
            }
            is_same
        });
        Self::of_weights(seconds, &weights, record.usual_weight)
    }

    fn of_weights(seconds: Vec<Range<u32>>, weights: &[(u32, u64)], usual_weight: u64) -> Self {
        let (mut bytes, mut last) = (Vec::new(), 0);
        for &(second, weight) in weights {
            let usual = (usual_weight > 0 && weight.is_multiple_of(usual_weight)).then(|| weight / usual_weight);
            varint::write(&mut bytes, u64::from(second - last) << 1 | u64::from(usual.is_some()));
            varint::write(&mut bytes, usual.unwrap_or(weight));
            last = second;
        }
        Self { seconds: seconds.into(), weights: bytes.into(), usual_weight }
    }

    /// The seconds with weight.
    pub(super) fn weights(&self) -> impl Iterator<Item = (u32, u64)> {
        let (mut bytes, mut last) = (&self.weights[..], 0_u32);
        std::iter::from_fn(move || {
            let step = varint::read(&mut bytes)?;
            let weight = varint::read(&mut bytes)?;
            last += (step >> 1) as u32;
            Some((last, if step & 1 == 1 { weight * self.usual_weight } else { weight }))
        })
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        (self.weights.len() + self.seconds.len() * size_of::<Range<u32>>()) as u64
    }

    /// The range from the first to the last second, including gaps between parts; `None` if the selected intervals contain no complete second.
    pub(super) fn span(&self) -> Option<Range<u32>> {
        Some(self.seconds.first()?.start..self.seconds.last()?.end)
    }

    /// The number of recorded seconds.
    fn count(&self) -> u64 {
        self.seconds.iter().map(|range| range.len() as u64).sum()
    }

    /// The total weight in a range of seconds. `weights` must belong to this series. `None` if the range was not completely recorded.
    pub(super) fn sum(&self, weights: &[(u32, u64)], seconds: Range<u32>) -> Option<u64> {
        range_of(&self.seconds, seconds.start).filter(|range| seconds.end <= range.end)?;
        let from = weights.partition_point(|&(second, _)| second < seconds.start);
        let own = weights[from..].iter().take_while(|&&(second, _)| second < seconds.end);
        Some(own.fold(0, |sum, &(_, weight)| u64::saturating_add(sum, weight)))
    }

    /// The rates of seconds with samples, and the number of seconds without samples.
    pub(super) fn rates(&self, unit: Unit) -> (Vec<Millionths>, u64) {
        let rates: Vec<Millionths> = self.weights().filter_map(|(_, weight)| rate_of(weight, unit, SECOND)).collect();
        let zeros = self.count() - rates.len() as u64;
        (rates, zeros)
    }

    /// The largest weight in this many consecutive seconds; `None` if no part of the run is long enough.
    pub(super) fn peak(&self, seconds: u32) -> Option<u64> {
        let weights: Weights = self.weights().collect();
        let parts = self.seconds.iter().filter(|range| seconds > 0 && range.len() >= seconds as usize);
        let place = |second: u32| weights.partition_point(|&(other, _)| other < second);
        parts.map(|range| peak(&weights[place(range.start)..place(range.end)], seconds)).max()
    }
}

/// The largest weight of this many consecutive seconds.
fn peak(weights: &[(u32, u64)], seconds: u32) -> u64 {
    let (mut sum, mut peak, mut first) = (0_u64, 0, 0);
    for &(second, weight) in weights {
        sum = sum.saturating_add(weight);
        while second - weights[first].0 >= seconds {
            sum = sum.saturating_sub(weights[first].1);
            first += 1;
        }
        peak = peak.max(sum);
    }
    peak
}

/// The range that contains a second; ranges must be sorted.
pub(super) fn range_of(ranges: &[Range<u32>], second: u32) -> Option<&Range<u32>> {
    let begun = ranges.partition_point(|range| range.start <= second);
    ranges[..begun].last().filter(|range| range.contains(&second))
}

/// The rate of the busiest window in the selected rows; `None` if no part of the run has this many complete seconds.
pub(super) fn peak_rate(rows: &RunRows<'_>, seconds: u32, counts: &dyn Fn(&WindowRow) -> bool) -> Option<Millionths> {
    let series = Series::new(rows.record, rows.windows, counts);
    let wall = Nanos::from_nanos(u64::from(seconds).saturating_mul(SECOND.as_nanos()));
    rate_of(series.peak(seconds)?, rows.record.unit, wall)
}

/// The rate of the busiest window of any single process.
pub(super) fn peak_rate_of_processes(
    rows: &RunRows<'_>,
    seconds: u32,
    counts: &dyn Fn(NameId) -> bool,
) -> Option<Millionths> {
    let counted = rows.windows.iter().map(|row| row.process).filter(|&process| counts(process));
    let mut processes: Vec<NameId> = counted.collect();
    processes.sort_unstable();
    processes.dedup();
    let idle = peak_rate(rows, seconds, &|_| false)?;
    let peaks = processes.iter().filter_map(|&process| peak_rate(rows, seconds, &|row| row.process == process));
    Some(peaks.max().unwrap_or(idle).max(idle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(seconds: Range<u32>, weights: &[(u32, u64)]) -> Series {
        Series::of_weights(vec![seconds], weights, 4)
    }

    #[test]
    fn the_busiest_stretch_is_found() {
        let series = series(0..10, &[(0, 5), (2, 1), (3, 7), (9, 6)]);
        assert_eq!(series.peak(1), Some(7));
        assert_eq!(series.peak(2), Some(8));
        assert_eq!(series.peak(4), Some(13));
        assert_eq!(series.peak(10), Some(19));
        assert_eq!(series.peak(11), None, "the run is shorter");
        assert_eq!(series.peak(0), None);
    }

    #[test]
    fn a_stretch_is_in_one_part() {
        let weights = [(0, 9), (1, 8), (5, 7), (6, 1), (7, 6)];
        let parts = Series::of_weights(vec![0..2, 5..9], &weights, 4);
        assert_eq!(parts.weights().collect::<Weights>(), weights);
        assert_eq!(parts.span(), Some(0..9));
        assert_eq!((parts.peak(1), parts.peak(2), parts.peak(3)), (Some(9), Some(17), Some(14)));
        assert_eq!(parts.peak(5), None, "no part is as long");
        assert_eq!(
            (parts.sum(&weights, 0..2), parts.sum(&weights, 1..6), parts.sum(&weights, 8..9)),
            (Some(17), None, Some(0))
        );
        assert_eq!(parts.rates(Unit::Nanoseconds).1, 1, "second 8");
    }

    #[test]
    fn seconds_without_samples_are_zeros() {
        let series = series(2..8, &[(3, 10_000_000), (5, 1_000_000_000)]);
        let weights: Weights = series.weights().collect();
        let (rates, zeros) = series.rates(Unit::Nanoseconds);
        assert_eq!((rates, zeros), (vec![Millionths::ONE, Millionths::new(100_000_000)], 4));
        assert_eq!(series.sum(&weights, 3..6), Some(1_010_000_000));
        assert_eq!(series.sum(&weights, 6..8), Some(0));
        assert_eq!(series.sum(&weights, 1..3), None, "second 1 was not recorded");
        assert_eq!(series.sum(&weights, 7..9), None);
    }
}
