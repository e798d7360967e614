//! The sampling interval of a table.

use super::Recording;
use crate::hash::HashMap;
use crate::profile::SeriesId;
use crate::units::{Nanos, Unit};

impl Recording {
    /// The time between two samples of a busy thread in a table of CPU time: the most frequent weight of a sample, selected or not, and the
    /// smallest of equally frequent ones. `None` in other units, which do not record it. A call that is shorter may fall between two samples.
    ///
    /// If samples were added up ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)), those of a thread and stack are taken to
    /// weigh the same.
    pub fn sampling_interval(&self, series: SeriesId) -> Option<Nanos> {
        if self.profile.series(series).unit != Unit::Nanoseconds {
            return None;
        }
        let mut counts: HashMap<u64, u64> = HashMap::default();
        for sum in self.profile.sums_or_samples().filter(|sum| sum.series == series && sum.weight > 0) {
            *counts.entry(sum.weight / sum.samples.max(1)).or_default() += sum.samples;
        }
        let usual = counts.into_iter().max_by_key(|&(weight, samples)| (samples, std::cmp::Reverse(weight)));
        usual.map(|(weight, _)| Nanos::from_nanos(weight))
    }
}
