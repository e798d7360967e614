//! A fast path for many samples with the same properties: they are pushed one by one, and their shared properties are recorded once.

use super::{BATCH, Full, ProfileBuilder};
use crate::profile::sums::SumTable;
use crate::profile::{Sample, SampleDetail, SeriesId, StackId};
use crate::units::Nanos;

impl ProfileBuilder {
    /// Reserves space for samples to be [pushed](Self::push_known), and returns how many fit.
    pub(crate) fn make_room(&mut self) -> Result<usize, Full> {
        let (all, room) = match (self.detail, &self.sums) {
            (SampleDetail::Each, _) => (self.profile.samples.len(), BATCH),
            (SampleDetail::Summed, sums) => {
                let all = sums.as_ref().map_or(0, SumTable::len) + self.waiting.len();
                if self.waiting.len() >= BATCH {
                    self.add_waiting()?;
                }
                // Lent sums cannot take the collected samples now.
                (all, BATCH.checked_sub(self.waiting.len()).filter(|&room| room > 0).unwrap_or(BATCH))
            }
        };
        let left = (u32::MAX as usize).saturating_sub(all);
        if left == 0 { Err(Full) } else { Ok(room.min(left)) }
    }

    /// Adds a sample of a known [group](Self::sum_group). Requires reserved space, and a later call of [`note_known`](Self::note_known).
    #[inline(always)]
    pub(crate) fn push_known(
        &mut self,
        group: u32,
        (time, weight): (Nanos, u64),
        stack: Option<StackId>,
        sample: impl FnOnce() -> Option<Sample>,
    ) {
        match self.detail {
            SampleDetail::Each => self.profile.samples.extend(sample()),
            SampleDetail::Summed => {
                self.waiting.push(group, weight, stack);
                self.sum_groups.add_to_bins(group, time, weight);
            }
        }
    }

    /// Returns the weight that a series can still take.
    pub(crate) fn weight_room(&self, series: SeriesId) -> u64 {
        u64::MAX - self.totals[series.index()]
    }

    /// Records the shared properties of `count` pushed samples of a group: their weight, and the range of their times.
    pub(crate) fn note_known(&mut self, group: u32, series: SeriesId, (count, weight): (u64, u64), times: [Nanos; 2]) {
        self.totals[series.index()] += count * weight;
        self.profile.sample_weights[series.index()].add(weight, count);
        if self.detail == SampleDetail::Summed {
            times.into_iter().for_each(|time| self.sum_groups.note_time(group, time, weight));
        }
    }
}
