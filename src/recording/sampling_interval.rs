//! The sampling interval of a table.

use super::Recording;
use crate::hash::HashMap;
use crate::profile::{Selection, SeriesId, StateFilter};
use crate::units::{Nanos, Unit};

impl Recording {
    /// By series: the time between two samples of a busy thread in a table of CPU time, which is the most frequent weight of a sample,
    /// selected or not, and the smallest of equally frequent ones. `None` in other units, which do not record it. A call that is shorter may
    /// fall between two samples.
    ///
    /// The samples of a thread, stack and state are taken to weigh the same, so that the answer does not depend on whether samples were added up
    /// while they were read ([`SampleDetail`](crate::profile::SampleDetail)).
    pub fn sampling_intervals(&self) -> Vec<Option<Nanos>> {
        let is_time = |id: SeriesId| self.profile.series(id).unit == Unit::Nanoseconds;
        let mut counts: HashMap<(SeriesId, u64), u64> = HashMap::default();
        let everything = Selection { states: StateFilter::All, ..Selection::default() }.on(&self.profile);
        for sum in everything.sums().filter(|sum| sum.weight > 0 && is_time(sum.series)) {
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
