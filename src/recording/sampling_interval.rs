//! The sampling interval of a table.

use super::Recording;
use crate::hash::HashMap;
use crate::profile::SeriesId;
use crate::units::{Nanos, Unit};

impl Recording {
    /// By series: the time between two samples of a busy thread in a table of CPU time, which is the most frequent weight of a sample,
    /// selected or not, and the smallest of equally frequent ones. `None` in other units, which do not record it. A call that is shorter may
    /// fall between two samples.
    ///
    /// If samples were added up ([`SampleDetail::Summed`](crate::profile::SampleDetail::Summed)), those of a thread and stack are taken to
    /// weigh the same.
    pub fn sampling_intervals(&self) -> Vec<Option<Nanos>> {
        let is_time = |id: SeriesId| self.profile.series(id).unit == Unit::Nanoseconds;
        let mut counts: HashMap<(SeriesId, u64), u64> = HashMap::default();
        for sum in self.profile.sums_or_samples().filter(|sum| sum.weight > 0 && is_time(sum.series)) {
            *counts.entry((sum.series, sum.weight / sum.samples.max(1))).or_default() += sum.samples;
        }
        // The number of samples and the weight.
        let mut most: Vec<Option<(u64, u64)>> = vec![None; self.profile.series_ids().len()];
        for ((series, weight), samples) in counts {
            let best = &mut most[series.index()];
            let is_better =
                |&(count, lightest): &(u64, u64)| samples > count || (samples == count && weight < lightest);
            if best.as_ref().is_none_or(is_better) {
                *best = Some((samples, weight));
            }
        }
        most.into_iter().map(|best| best.map(|(_, weight)| Nanos::from_nanos(weight))).collect()
    }
}
