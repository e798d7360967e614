//! The profile model: tables of plain rows that refer to each other by small ids.
//!
//! ```text
//! sample ─► series ─► run            weight is in the unit of the series
//!        ─► thread ─► process ─► run
//!        ─► stack ─► (parent stack, frame) ─► function ─► binary
//! ```
//!
//! A stack is a parent stack plus one frame, so a sample stores one id for any stack depth, and common parts of stacks are stored once. The
//! parent is the caller; root frames have none.
//!
//! A [`ProfileBuilder`] builds a profile, which then never changes. This module does not read files.
//!
//! # Memory
//!
//! | what | bytes |
//! |---|---|
//! | a sample ([`SampleDetail::Each`]) | 40; with counters, 16 more and 8 per value |
//! | a sum ([`SampleDetail::Summed`]) | 24; with counters, 16 more and 16 per value; while building, 6 to 12 more for each additional sum of a stack |
//! | a distinct stack entry (a parent stack and a frame) | 4 and two bits; 4 more if its parent is not the previous row, and for such an entry 15 to 30 more while building |
//! | a frame | 40; while building 47 to 94 more |
//! | a function | 12; while building 15 to 30 more |
//! | a string | its bytes and 14 to 20 |
//!
//! The numbers of processes, threads, binaries and cores are small. While a profile is built, all tables except the stacks grow like a `Vec`, so
//! up to half of their memory may be unused until [`ProfileBuilder::finish`]. `tests/memory/allocations.rs` measures the first three rows.

mod apple_libraries;
mod builder;
mod category;
mod counters;
mod doing;
mod ids;
mod intervals;
mod leaves;
mod main_thread;
mod matcher;
mod model;
mod of_stacks;
mod rebuild;
mod renamed;
mod sample_labels;
mod sample_sum;
mod sample_weights;
mod selectable;
mod selection;
mod similar_names;
mod stack_rows;
mod stacks;
mod strings;
mod sums;
mod time_bins;
mod time_range;
mod wait;

pub use builder::{FrameKey, ProfileBuilder};
pub use category::Category;
pub(crate) use doing::{Doing, Doings};
pub use ids::{Full, Id};
pub use intervals::IntervalFilter;
pub(crate) use main_thread::{ALL_THREADS, MAIN_THREAD};
pub use matcher::Matcher;
pub use model::{
    Binary, Core, Frame, Function, Meaning, Process, Run, Sample, SampleKind, Series, SourceLine, Stack, Thread,
};
pub(crate) use model::{
    BinaryId, CoreId, FrameId, FunctionId, ProcessId, RunId, SeriesId, StackId, StringId, ThreadId,
};
pub(crate) use rebuild::place;
pub use rebuild::{RebuildError, Replacement};
pub(crate) use renamed::Rename;
pub(crate) use sample_labels::LabelledRange;
pub use sample_sum::{SampleSum, SampledTime};
pub(crate) use selection::SelectedSums;
pub use selection::{SelectedSamples, Selection, StateFilter};
pub(crate) use similar_names::similar_names;
pub use sums::SampleDetail;
pub(crate) use sums::{SumBatch, SumGroup, SumRow, SumTable};
pub(crate) use time_bins::{BinLength, TimeBins};
pub use time_range::TimeRange;
pub(crate) use wait::{Activity, Wait, Waits, is_no_call};

use std::sync::Arc;

use crate::chunked_vec::ChunkedVec;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, Reservation, of_vec};
use crate::units::{Nanos, Weight};
use model::CounterRow;
use sample_weights::SampleWeights;
pub(crate) use stack_rows::StackRows;
pub(crate) use stacks::StackTable;
pub(crate) use strings::Strings;
use sums::SumCounters;

/// All samples of the inputs, with their stacks, threads and names. Built by a [`ProfileBuilder`].
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
    /// Indexed by group of sums.
    sum_bins: Vec<TimeBins>,
    /// Indexed by series.
    sample_weights: Vec<SampleWeights>,
    sum_counters: SumCounters,
    labels: SampleLabels,
    /// The memory budget of this profile and everything derived from it.
    budget: MemoryBudget,
    /// The memory reserved from the budget; clones share it.
    held: Option<Arc<Reservation>>,
}

/// For each thread, the times at which the label of its samples changes, with the new label.
type SampleLabels = HashMap<ThreadId, Arc<[(Nanos, Option<StringId>)]>>;

/// Two accessors of a table: one returns the row with an id, the other all ids in order.
macro_rules! table {
    ($(#[$one:meta])* $get:ident, $(#[$all:meta])* $ids:ident, $id:ident, $row:ty, $table:ident) => {
        $(#[$one])*
        ///
        /// # Panics
        /// If the id comes from another profile and is out of range here.
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
    /// Returns the memory budget. Everything derived from the profile should use it.
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Reserves the profile's memory from its budget until the profile is dropped.
    pub(crate) fn hold(&mut self) -> Result<(), OverBudget> {
        self.held = None;
        self.held = Some(Arc::new(self.budget.reserve(self.memory())?));
        Ok(())
    }

    /// Returns the approximate size in bytes.
    pub fn memory(&self) -> u64 {
        let Self { runs, series, processes, threads, cores, binaries, functions, frames, .. } = self;
        let small = of_vec(runs) + of_vec(series) + of_vec(processes) + of_vec(threads) + of_vec(cores);
        let named = self.strings.memory() + of_vec(binaries) + of_vec(functions) + of_vec(frames);
        let samples = of_vec(&self.samples) + of_vec(&self.counters) + of_vec(&self.counter_values);
        let sums = self.sums.memory() + of_vec(&self.sum_groups) + self.sum_counters.memory();
        let bins = of_vec(&self.sum_bins) + self.sum_bins.iter().map(TimeBins::memory).sum::<u64>();
        small + named + self.stacks.memory() + samples + sums + bins
    }

    /// Returns the approximate size of all names in bytes.
    #[cfg(feature = "fleet")]
    pub(crate) fn names_memory(&self) -> u64 {
        self.strings.memory()
    }

    table!(
        /// Returns a run.
        run,
        /// Returns all runs, in the order they were read.
        run_ids, RunId, Run, runs
    );
    table!(
        /// Returns a series: the samples of one table in one unit.
        series,
        /// Returns all series, in the order of their first samples.
        series_ids, SeriesId, Series, series
    );
    table!(
        /// Returns a process.
        process,
        /// Returns all processes, in the order they were first sampled.
        process_ids, ProcessId, Process, processes
    );
    table!(
        /// Returns a thread.
        thread,
        /// Returns all threads, in the order they were first sampled.
        thread_ids, ThreadId, Thread, threads
    );
    table!(
        /// Returns a core.
        core,
        /// Returns all cores, in the order of their first appearance.
        core_ids, CoreId, Core, cores
    );
    table!(
        /// Returns a binary.
        binary,
        /// Returns all binaries, in the order of their first appearance.
        binary_ids, BinaryId, Binary, binaries
    );
    table!(
        /// Returns a function.
        function,
        /// Returns all functions, in the order of their first appearance.
        function_ids, FunctionId, Function, functions
    );
    table!(
        /// Returns a frame.
        frame,
        /// Returns all frames, in the order of their first appearance.
        frame_ids, FrameId, Frame, frames
    );
    /// Returns a stack: its innermost frame and its parent.
    ///
    /// # Panics
    /// If the id comes from another profile and is out of range here.
    #[inline]
    pub fn stack(&self, id: StackId) -> Stack {
        self.stacks.get(id)
    }

    /// Returns all stacks. Parents precede their children.
    pub fn stack_ids(&self) -> impl ExactSizeIterator<Item = StackId> + use<> {
        (0..self.stacks.len()).map(|index| StackId::from_index(index).expect("a row has an id"))
    }

    /// Returns the innermost function of a stack. Cheaper than [`stack`](Self::stack), since it does not look for the caller.
    #[inline]
    pub(crate) fn function_of_stack(&self, id: StackId) -> FunctionId {
        self.frame(self.stacks.frame(id)).function
    }

    /// Returns all stacks in their compact form.
    #[inline]
    pub(crate) fn stack_rows(&self) -> &StackRows {
        &self.stacks
    }

    /// Returns a string.
    ///
    /// # Panics
    /// If the id comes from another profile and is out of range here.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// Returns the id of a string, if it is in the string table.
    pub fn find_string(&self, text: &str) -> Option<StringId> {
        self.strings.find(text)
    }

    /// Returns the samples in input order, which is nearly always sorted by time, though this is not guaranteed. Empty if samples are summed
    /// ([`SampleDetail::Summed`]).
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the sums of samples ([`SampleDetail::Summed`]) in a deterministic order; empty if samples are kept individually. Samples with the
    /// same series, thread, stack, state and kind share one sum, unless [`with_frames`](Self::with_frames) merged stacks.
    pub fn sums(&self) -> impl ExactSizeIterator<Item = SampleSum> + Clone {
        (0..self.sums.len()).map(|index| {
            let row = &self.sums[index];
            self.sum_groups[row.group as usize].sum(row)
        })
    }

    /// Returns the [sums](Self::sums) without the properties shared by their group.
    pub(crate) fn sum_rows(&self) -> &ChunkedVec<SumRow> {
        &self.sums
    }

    /// Returns the shared properties of each group of sums.
    pub(crate) fn sum_groups(&self) -> &[SumGroup] {
        &self.sum_groups
    }

    /// Returns the most frequent nonzero weight in a series, and the smallest one in a tie. `None` if all are zero.
    pub(crate) fn most_frequent_weight(&self, series: SeriesId) -> Option<u64> {
        self.sample_weights[series.index()].most_frequent()
    }

    /// Returns the weights over time for each group of sums.
    pub(crate) fn sum_bins(&self) -> &[TimeBins] {
        &self.sum_bins
    }

    /// Returns the [sums](Self::sums), or each [sample](Self::samples) as a sum of one.
    pub fn sums_or_samples(&self) -> impl Iterator<Item = SampleSum> + Clone {
        // One of the two iterators is empty.
        self.sums().chain(self.samples.iter().map(SampleSum::from))
    }

    /// Returns the weight of a sample with its unit.
    pub fn weight(&self, sample: &Sample) -> Weight {
        Weight::new(sample.weight, self.series(sample.series).unit)
    }

    /// Returns the performance counter values of the sample at this index; may be empty.
    pub fn counters(&self, sample: usize) -> &[u64] {
        let Ok(row) = self.counters.binary_search_by_key(&sample, |row| row.sample) else { return &[] };
        let end = self.counters.get(row + 1).map_or(self.counter_values.len(), |next| next.start);
        &self.counter_values[self.counters[row].start..end]
    }

    /// Returns the summed performance counter values of the [sum](Self::sums) at this index; may be empty.
    pub fn sum_counters(&self, sum: usize) -> &[u128] {
        self.sum_counters.get(sum)
    }

    /// Returns the frames of a stack from the leaf to the root.
    pub fn frames_leaf_first(&self, stack: Option<StackId>) -> impl Iterator<Item = &Frame> {
        let parents = std::iter::successors(stack, |&id| self.stack(id).parent);
        parents.map(|id| self.frame(self.stack(id).frame))
    }

    /// Returns the names of all functions that have a real name, not only an address.
    pub(crate) fn named_functions(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter(|function| function.is_named).map(|function| self.string(function.name))
    }

    /// Returns the name of a function.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.string(self.function(id).name)
    }

    /// Returns the name of a function's binary, if it has one.
    pub fn binary_name(&self, id: FunctionId) -> Option<&str> {
        self.function(id).binary.map(|binary| self.string(self.binary(binary).name))
    }
}
