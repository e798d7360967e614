//! Adds the rows of a finished profile, such as those of a page. Equal rows are not merged, so each row keeps its number. The caller must check
//! that all ids exist.

use super::{Full, ProfileBuilder};
use crate::profile::model::{Binary, Core, Frame, Function, Process, Run, Stack, Thread};
use crate::profile::sample_weights::SampleWeights;
use crate::profile::sums::SumRow;
use crate::profile::{BinaryId, CoreId, FrameId, FunctionId, ProcessId, RunId, SampleSum, SeriesId, StackId, ThreadId};

/// Adds a row without searching for an equal one.
macro_rules! push {
    ($push:ident, $row:ty, $id:ident, $table:ident) => {
        pub(crate) fn $push(&mut self, row: $row) -> Result<$id, Full> {
            let id = $id::from_index(self.profile.$table.len()).ok_or(Full)?;
            self.profile.$table.push(row);
            Ok(id)
        }
    };
}

impl ProfileBuilder {
    push!(push_run, Run, RunId, runs);
    push!(push_process, Process, ProcessId, processes);
    push!(push_thread, Thread, ThreadId, threads);
    push!(push_core, Core, CoreId, cores);
    push!(push_binary, Binary, BinaryId, binaries);
    push!(push_function, Function, FunctionId, functions);
    push!(push_frame, Frame, FrameId, frames);

    /// Allocates space for exactly this many frames and samples, since a growing table takes up to three times its memory.
    pub(crate) fn reserve(&mut self, frames: usize, samples: usize) {
        self.profile.frames.reserve_exact(frames);
        self.profile.samples.reserve_exact(samples);
    }

    pub(crate) fn push_stack(&mut self, row: Stack) -> Result<StackId, Full> {
        self.stacks.push(row)
    }

    /// Adds a sum in input order, to a profile without samples.
    pub(crate) fn push_sum(&mut self, sum: &SampleSum, counters: &[u128]) -> Result<(), Full> {
        let group = self.sum_groups.of_sum(sum)?;
        let index = self.profile.sums.len();
        let total = &mut self.totals[sum.series.index()];
        let with_sum = total.checked_add(sum.weight).ok_or(Full)?;
        let summed = self.summed_samples.checked_add(sum.samples).ok_or(Full)?;
        if index >= u32::MAX as usize || summed > super::MAX_SUMMED_SAMPLES {
            return Err(Full);
        }
        (*total, self.summed_samples) = (with_sum, summed);
        let SampleSum { weight, samples, stack, .. } = *sum;
        self.profile.sums.push(SumRow { weight, samples, stack, group });
        self.profile.sum_counters.copy(index, counters);
        Ok(())
    }

    /// Sets the most frequent weight of a series, which merged samples do not reveal.
    pub(crate) fn set_most_frequent_weight(&mut self, series: SeriesId, weight: Option<u64>) {
        let mut weights = SampleWeights::default();
        weight.into_iter().for_each(|weight| weights.add(weight, 1));
        self.profile.sample_weights[series.index()] = weights;
    }
}
