//! The model: samples as tables of plain rows that refer to each other by small ids.
//!
//! ```text
//! sample ─► series ─► run            weight counts in the unit of the series
//!        ─► thread ─► process ─► run
//!        ─► stack ─► (parent stack, frame) ─► function ─► binary
//! ```
//!
//! A stack is a parent stack and one frame, so a sample holds one id however deep its stack is, and the stacks of a
//! recording take room by their distinct parts. Stacks are root first: the parent is the caller.
//!
//! A [`ProfileBuilder`] writes a profile once; from then on it never changes. This module knows nothing about files.
//!
//! # Memory
//!
//! | what | bytes |
//! |---|---|
//! | a sample ([`SampleDetail::Each`]) | 40, and 16 and 8 a value where it has counters |
//! | a sum ([`SampleDetail::Summed`]) | 24, and 16 and 16 a value where it has counters; while building 6 to 12 more for one whose stack had another |
//! | a distinct stack entry (a parent stack and a frame) | 4 and two bits, and 4 more for one that turns off from a known stack, and while building 15 to 30 more for that |
//! | a frame | 40; while building 47 to 94 more |
//! | a function | 12; while building 15 to 30 more |
//! | a string | its bytes and 14 to 20 |
//!
//! Processes, threads, binaries and cores are few. While a profile is built, tables other than that of stacks grow as a `Vec`
//! does, so that up to half of their room may be unused until [`ProfileBuilder::finish`]. `tests/allocations.rs` measures the
//! first three rows.

mod builder;
mod category;
mod counters;
mod full;
mod ids;
mod intervals;
mod leaves;
mod main_thread;
mod matcher;
mod model;
mod rebuild;
mod renamed;
mod sample_sum;
mod sample_weights;
mod sampled_time;
mod selection;
mod stack_rows;
mod stacks;
mod strings;
mod sums;
mod time_bins;
mod time_range;

pub use builder::{FrameKey, ProfileBuilder};
pub use category::Category;
pub use full::Full;
pub use ids::Id;
pub use intervals::IntervalFilter;
pub(crate) use main_thread::MAIN_THREAD;
pub use matcher::Matcher;
pub use model::{
    Binary, Core, Frame, Function, Meaning, Process, Run, Sample, SampleKind, Series, SourceLine, Stack, Thread,
};
pub(crate) use model::{
    BinaryId, CoreId, FrameId, FunctionId, ProcessId, RunId, SeriesId, StackId, StringId, ThreadId,
};
pub use rebuild::{RebuildError, Replacement};
pub(crate) use renamed::Rename;
pub use sample_sum::SampleSum;
pub use sampled_time::SampledTime;
pub(crate) use selection::SelectedSums;
pub use selection::{SelectedSamples, Selection, StateFilter};
pub use sums::SampleDetail;
pub(crate) use sums::{SumBatch, SumGroup, SumRow, SumTable};
pub(crate) use time_bins::{BinLength, TimeBins};
pub use time_range::TimeRange;

use std::sync::Arc;

use crate::chunked_vec::ChunkedVec;
use crate::memory::{MemoryBudget, OverBudget, Reservation, of_vec};
use crate::units::Weight;
use model::CounterRow;
use sample_weights::SampleWeights;
pub(crate) use stack_rows::StackRows;
pub(crate) use strings::Strings;
use sums::SumCounters;

/// All samples of the inputs, with their stacks, threads and names. Made by a [`ProfileBuilder`].
#[derive(Clone, Debug, Default)]
pub struct Profile {
    strings: Strings,
    runs: Vec<Run>,
    series: Vec<Series>,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    binaries: Vec<Binary>,
    functions: Vec<Function>,
    frames: Vec<Frame>,
    stacks: StackRows,
    samples: Vec<Sample>,
    counters: Vec<CounterRow>,
    counter_values: Vec<u64>,
    sums: ChunkedVec<SumRow>,
    sum_groups: Vec<SumGroup>,
    /// By group of sums.
    sum_bins: Vec<TimeBins>,
    /// By series.
    sample_weights: Vec<SampleWeights>,
    sum_counters: SumCounters,
    /// The memory that it may take, with everything that is made of it.
    budget: MemoryBudget,
    /// The memory that it takes of that; clones share it.
    held: Option<Arc<Reservation>>,
}

/// Accessors of one table: a row by its id, and all ids in order.
macro_rules! table {
    ($(#[$one:meta])* $get:ident, $(#[$all:meta])* $ids:ident, $id:ident, $row:ty, $table:ident) => {
        $(#[$one])*
        ///
        /// # Panics
        /// When the id is of another profile and past the end of this one's table.
        pub fn $get(&self, id: $id) -> &$row {
            &self.$table[id.index()]
        }

        $(#[$all])*
        pub fn $ids(&self) -> impl ExactSizeIterator<Item = $id> + use<> {
            (0..self.$table.len()).map(|index| $id::from_index(index).expect("a row has an id"))
        }
    };
}

impl Profile {
    /// The budget of memory that it is part of, as everything should be that is made of it.
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Takes what it takes from its budget, as long as it lives.
    pub(crate) fn hold(&mut self) -> Result<(), OverBudget> {
        self.held = None;
        self.held = Some(Arc::new(self.budget.reserve(self.memory())?));
        Ok(())
    }

    /// About how many bytes it takes.
    pub fn memory(&self) -> u64 {
        let Self { runs, series, processes, threads, cores, binaries, functions, frames, .. } = self;
        let small = of_vec(runs) + of_vec(series) + of_vec(processes) + of_vec(threads) + of_vec(cores);
        let named = self.strings.memory() + of_vec(binaries) + of_vec(functions) + of_vec(frames);
        let samples = of_vec(&self.samples) + of_vec(&self.counters) + of_vec(&self.counter_values);
        let sums = self.sums.memory() + of_vec(&self.sum_groups) + self.sum_counters.memory();
        let bins = of_vec(&self.sum_bins) + self.sum_bins.iter().map(TimeBins::memory).sum::<u64>();
        small + named + self.stacks.memory() + samples + sums + bins
    }

    /// About how many bytes its names take.
    #[cfg(feature = "fleet")]
    pub(crate) fn names_memory(&self) -> u64 {
        self.strings.memory()
    }

    table!(
        /// A run.
        run,
        /// All runs, in the order they were read.
        run_ids, RunId, Run, runs
    );
    table!(
        /// The samples of one table in one unit.
        series,
        /// All series, in the order their first samples were read.
        series_ids, SeriesId, Series, series
    );
    table!(
        /// A process.
        process,
        /// All processes, in the order they were first sampled.
        process_ids, ProcessId, Process, processes
    );
    table!(
        /// A thread.
        thread,
        /// All threads, in the order they were first sampled.
        thread_ids, ThreadId, Thread, threads
    );
    table!(
        /// A core.
        core,
        /// All cores, in the order they were first seen.
        core_ids, CoreId, Core, cores
    );
    table!(
        /// A binary.
        binary,
        /// All binaries, in the order they were first seen.
        binary_ids, BinaryId, Binary, binaries
    );
    table!(
        /// A function.
        function,
        /// All functions, in the order they were first seen.
        function_ids, FunctionId, Function, functions
    );
    table!(
        /// A frame.
        frame,
        /// All frames, in the order they were first seen.
        frame_ids, FrameId, Frame, frames
    );
    /// A stack: its innermost frame and its parent.
    ///
    /// # Panics
    /// When the id is of another profile and past the end of this one's table.
    #[inline]
    pub fn stack(&self, id: StackId) -> Stack {
        self.stacks.get(id)
    }

    /// All stacks; a parent always comes before the stacks below it.
    pub fn stack_ids(&self) -> impl ExactSizeIterator<Item = StackId> + use<> {
        (0..self.stacks.len()).map(|index| StackId::from_index(index).expect("a row has an id"))
    }

    /// All stacks as they are kept.
    #[inline]
    pub(crate) fn stack_rows(&self) -> &StackRows {
        &self.stacks
    }

    /// The text of a string.
    ///
    /// # Panics
    /// When the id is of another profile and past the end of this one's table.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// The id of a text, if any row uses it.
    pub fn find_string(&self, text: &str) -> Option<StringId> {
        self.strings.find(text)
    }

    /// Every sample, in the order of the input. Exports are nearly always in order of time, but not by promise. Empty where
    /// samples were added up ([`SampleDetail::Summed`]).
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The samples added up, where that was asked for ([`SampleDetail::Summed`]), in an order that depends on the input only;
    /// empty where each sample is kept. Sums of equal series, thread, stack, state and kind are one, unless
    /// [`with_frames`](Self::with_frames) made one stack of two.
    pub fn sums(&self) -> impl ExactSizeIterator<Item = SampleSum> + Clone {
        (0..self.sums.len()).map(|index| {
            let row = &self.sums[index];
            self.sum_groups[row.group as usize].sum(row)
        })
    }

    /// The [sums](Self::sums) without what those of a group have in common.
    pub(crate) fn sum_rows(&self) -> &ChunkedVec<SumRow> {
        &self.sums
    }

    /// By group of sums: the part that they have in common.
    pub(crate) fn sum_groups(&self) -> &[SumGroup] {
        &self.sum_groups
    }

    /// The most frequent weight of the samples of a series, other than 0; the smallest of equally frequent ones. `None` without samples.
    pub(crate) fn most_frequent_weight(&self, series: SeriesId) -> Option<u64> {
        self.sample_weights[series.index()].most_frequent()
    }

    /// By group of sums: the weights over time.
    pub(crate) fn sum_bins(&self) -> &[TimeBins] {
        &self.sum_bins
    }

    /// Everything that was sampled, in either form: the [sums](Self::sums), or each [sample](Self::samples) as a sum of one.
    pub fn sums_or_samples(&self) -> impl Iterator<Item = SampleSum> + Clone {
        // One of them is empty.
        self.sums().chain(self.samples.iter().map(SampleSum::from))
    }

    /// The weight of a sample with its unit.
    pub fn weight(&self, sample: &Sample) -> Weight {
        Weight::new(sample.weight, self.series(sample.series).unit)
    }

    /// The values of the performance counters that the sample at this index carried; empty where there are none.
    pub fn counters(&self, sample: usize) -> &[u64] {
        let Ok(row) = self.counters.binary_search_by_key(&sample, |row| row.sample) else { return &[] };
        let end = self.counters.get(row + 1).map_or(self.counter_values.len(), |next| next.start);
        &self.counter_values[self.counters[row].start..end]
    }

    /// The summed values of the performance counters of the samples in the [sum](Self::sums) at this index; empty where there
    /// are none.
    pub fn sum_counters(&self, sum: usize) -> &[u128] {
        self.sum_counters.get(sum)
    }

    /// The frames of a stack from the leaf to the root.
    pub fn frames_leaf_first(&self, stack: Option<StackId>) -> impl Iterator<Item = &Frame> {
        let parents = std::iter::successors(stack, |&id| self.stack(id).parent);
        parents.map(|id| self.frame(self.stack(id).frame))
    }

    /// The name of a function.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.string(self.function(id).name)
    }

    /// The name of a function's binary, where it has one.
    pub fn binary_name(&self, id: FunctionId) -> Option<&str> {
        self.function(id).binary.map(|binary| self.string(self.binary(binary).name))
    }
}
