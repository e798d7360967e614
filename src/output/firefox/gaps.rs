//! Finds the times at which a thread did not run.
//!
//! The viewer draws a sample's stack until the next sample of the thread, so a thread that waited for a minute would seem to run all the time. A row
//! without stack and weight shows that the thread is idle:
//!
//! ```text
//!   time    0   1   2              64000  64001
//!   sample  A   B                         A
//!   idle            ×              ×            ×      (and one before the first)
//! ```
//!
//! The idle row is at the end of the time that a sample covers, if the next sample is clearly later. Another idle row precedes that next sample: the
//! viewer spreads CPU use over the time since the previous row, which would otherwise be the whole gap.

use crate::output::by_thread::ThreadSamples;
use crate::profile::{Profile, Sample, SeriesId};
use crate::units::{Nanos, Unit};

/// The length of a sample if it is unknown. Instruments templates sample every millisecond.
const MILLI: u64 = 1_000_000;
/// A sample is late if it comes after this multiple of the previous sample's length. Regular intervals vary by less than a percent.
const LATE_FACTOR: u64 = 2;
/// The same for cycles and events, for which the length of a sample is an estimate: core speeds differ by this factor.
const LATE_FACTOR_ESTIMATED: u64 = 4;
/// The longest interval of any sampling of threads, timers or events.
const MAX_INTERVAL: u64 = 10 * MILLI;
const MIN_INTERVAL: u64 = 1_000;

/// The rate at which the running threads of a series were sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    unit: Unit,
    /// The time between samples in nanoseconds; at least [`MIN_INTERVAL`].
    pub(super) interval: u64,
}

impl Pace {
    /// In a table of times, the interval is the median weight of a sample. Otherwise, it is the lower quartile of the times between samples of one
    /// thread, since many of these are waits. The cycles of a sample are assumed to take no longer than at 1 GHz.
    pub(super) fn of(profile: &Profile, series: SeriesId, threads: &[ThreadSamples<'_>]) -> Self {
        let unit = profile.series(series).unit;
        let threads = || threads.iter().filter(|thread| thread.series == series).map(|thread| &thread.samples);
        let weights = threads().flatten().map(|sample| sample.weight).filter(|&weight| weight > 0);
        let median_weight = || quantile(weights.collect(), 2);
        let between = || threads().flat_map(|samples| samples.windows(2)).map(|pair| since(pair[1], pair[0]));
        let quartile = || quantile(between().filter(|&time| time > 0).collect(), 4).unwrap_or(MILLI);
        let interval = match unit {
            Unit::Nanoseconds => median_weight().unwrap_or(MILLI),
            Unit::Cycles => quartile().min(median_weight().unwrap_or(MILLI)).min(MAX_INTERVAL),
            _ => quartile().min(MAX_INTERVAL),
        };
        Self { unit, interval: interval.max(MIN_INTERVAL) }
    }

    /// The time that the thread ran for a sample, starting at the sample's time. A snapshot has no weight.
    fn covered(self, sample: &Sample) -> u64 {
        if self.unit == Unit::Nanoseconds && sample.weight > 0 { sample.weight } else { self.interval }
    }

    fn end(self, sample: &Sample) -> u64 {
        sample.time.as_nanos().saturating_add(self.covered(sample))
    }

    /// True if the thread did not run for some time between two of its samples.
    fn has_gap(self, before: &Sample, after: &Sample) -> bool {
        let factor = if self.unit == Unit::Nanoseconds { LATE_FACTOR } else { LATE_FACTOR_ESTIMATED };
        since(after, before) > self.covered(before).saturating_mul(factor)
    }
}

/// The value above one `parts`th of all values; `None` if there are none.
fn quantile(mut values: Vec<u64>, parts: usize) -> Option<u64> {
    let place = values.len() / parts;
    (!values.is_empty()).then(|| *values.select_nth_unstable(place).1)
}

fn since(after: &Sample, before: &Sample) -> u64 {
    after.time.since(before.time).as_nanos()
}

/// A row of a thread's samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'p> {
    Sample(&'p Sample),
    /// From this time on, the thread does not run.
    Idle(Nanos),
}

impl Row<'_> {
    pub(super) fn time(self) -> Nanos {
        match self {
            Self::Sample(sample) => sample.time,
            Self::Idle(time) => time,
        }
    }
}

/// The rows of a thread's samples, in order of time.
pub(super) fn rows<'r, 'p>(samples: &'r [&'p Sample], pace: Pace) -> impl Iterator<Item = Row<'p>> + 'r {
    samples.iter().enumerate().flat_map(move |(index, &sample)| {
        let before = index.checked_sub(1).map(|index| samples[index]);
        let start = sample.time.as_nanos().saturating_sub(pace.covered(sample));
        let has_run_before = match before {
            None => sample.time.as_nanos() == 0,
            Some(before) => !pace.has_gap(before, sample) || start <= pace.end(before),
        };
        let ends = samples.get(index + 1).is_none_or(|next| pace.has_gap(sample, next));
        let idle = |is_there: bool, time: u64| is_there.then_some(Row::Idle(Nanos::from_nanos(time)));
        [idle(!has_run_before, start), Some(Row::Sample(sample)), idle(ends, pace.end(sample))].into_iter().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{SampleKind, ThreadId};

    fn sample(time: u64, weight: u64) -> Sample {
        let series = SeriesId::from_index(0).unwrap();
        let thread = ThreadId::from_index(0).unwrap();
        let (time, kind, samples) = (Nanos::from_nanos(time), SampleKind::Periodic, 1);
        Sample { time, weight, series, thread, stack: None, core: None, state: None, kind, samples }
    }

    /// The times of the rows. Times of idle rows are negative.
    fn times(pace: Pace, samples: &[(u64, u64)]) -> Vec<i64> {
        let samples: Vec<Sample> = samples.iter().map(|&(time, weight)| sample(time, weight)).collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let signed = |row: Row<'_>| match row {
            Row::Sample(sample) => sample.time.as_nanos() as i64,
            Row::Idle(time) => -(time.as_nanos() as i64),
        };
        rows(&samples, pace).map(signed).collect()
    }

    #[test]
    fn a_thread_is_idle_where_the_next_sample_is_late() {
        let pace = Pace { unit: Unit::Nanoseconds, interval: 10 };
        assert_eq!(times(pace, &[]), [0_i64; 0]);
        assert_eq!(times(pace, &[(100, 10)]), [-90, 100, -110]);
        assert_eq!(times(pace, &[(0, 10), (10, 10), (30, 10)]), [0, 10, 30, -40], "up to twice its time is even");
        assert_eq!(times(pace, &[(0, 10), (21, 10)]), [0, -10, -11, 21, -31]);
        assert_eq!(times(pace, &[(0, 10), (500, 10)]), [0, -10, -490, 500, -510]);
        // A heavy sample covers a long time, both before and after it.
        assert_eq!(times(pace, &[(0, 10), (45, 40), (120, 10)]), [0, -10, 45, 120, -130]);
        // A snapshot of a waiting thread covers no more time than any other sample.
        assert_eq!(times(pace, &[(5, 0), (500, 10)]), [0, 5, -15, -490, 500, -510]);
    }

    #[test]
    fn rows_are_in_order_at_the_ends_of_time() {
        let pace = Pace { unit: Unit::Nanoseconds, interval: u64::MAX };
        let samples = [sample(3, u64::MAX), sample(u64::MAX, 5), sample(u64::MAX, 0)];
        let samples: Vec<&Sample> = samples.iter().collect();
        let times: Vec<u64> = rows(&samples, pace).map(|row| row.time().as_nanos()).collect();
        assert_eq!(times, [0, 3, u64::MAX, u64::MAX, u64::MAX]);
    }
}
