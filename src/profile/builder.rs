//! Builds a [`Profile`]. Nothing else can modify one.

mod finished_rows;
#[cfg(feature = "bundle")]
mod known_samples;

use std::fmt;

use super::Profile;
use super::ids::Full;
use super::model::{
    Binary, Core, CounterRow, Frame, Function, Process, Run, Sample, Series, SourceLine, Stack, Thread,
};
use super::model::{BinaryId, CoreId, FrameId, FunctionId, ProcessId, RunId, SeriesId, StackId, StringId, ThreadId};
use super::sample_sum::SampleSum;
use super::sample_weights::SampleWeights;
use super::stacks::StackTable;
use super::sums::{SampleDetail, SumBatch, SumGroup, SumGroups, SumRow, SumTable};
use super::time_bins::TimeBins;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, of_map};
use crate::units::{Address, Nanos, Unit, Uuid};

/// The key of a frame. Frames in different `group`s are distinct even if everything else is equal: documents from different Xcode versions have
/// different address conventions, so each needs its own lookup address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameKey {
    /// The function.
    pub function: FunctionId,
    /// The binary at its load address.
    pub binary: Option<BinaryId>,
    /// The address as recorded.
    pub address: Address,
    /// The source line.
    pub source: Option<SourceLine>,
    /// True if it was inlined into its caller.
    pub is_inlined: bool,
    /// Chosen by the caller. Frames in different groups are always distinct.
    pub group: u32,
}

/// The key of a binary: its load address, and its UUID or, without one, its path.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum BinaryKey {
    Uuid(Uuid, Address),
    Path(StringId, Address),
}

/// Interns binaries, functions, frames and stacks and collects samples. [`finish`](Self::finish) returns the [`Profile`].
///
/// Every method that adds a row returns `Err(Full)` if the table is full. Earlier rows remain usable.
#[derive(Debug, Default)]
pub struct ProfileBuilder {
    profile: Profile,
    runs: HashMap<Run, RunId>,
    series: HashMap<Series, SeriesId>,
    processes: HashMap<(RunId, Option<u64>, Option<StringId>), ProcessId>,
    threads: HashMap<(ProcessId, Option<u64>, Option<StringId>), ThreadId>,
    cores: HashMap<Core, CoreId>,
    binaries: HashMap<BinaryKey, BinaryId>,
    first_of_uuid: HashMap<Uuid, BinaryId>,
    functions: HashMap<(StringId, Option<BinaryId>), FunctionId>,
    frames: HashMap<FrameKey, FrameId>,
    stacks: StackTable,
    detail: SampleDetail,
    sum_groups: SumGroups,
    /// `None` while the table is [lent](Self::lend_sums) to another thread.
    sums: Option<SumTable>,
    /// Samples that have not been added to their sums yet.
    waiting: SumBatch,
    process_names: HashMap<(ProcessId, StringId), u64>,
    thread_names: HashMap<(ThreadId, StringId), u64>,
    totals: Vec<u64>,
    /// The number of samples that were already summed in the input.
    summed_samples: u64,
}

/// The number of samples to collect before they are added to their sums.
const BATCH: usize = 1_024;

/// The maximum number of presummed samples in an input, which keeps counts from overflowing even with 65,536 recordings.
const MAX_SUMMED_SAMPLES: u64 = 1 << 48;

impl BinaryKey {
    fn of(binary: &Binary) -> Self {
        match binary.uuid {
            Some(uuid) => Self::Uuid(uuid, binary.load_address),
            None => Self::Path(binary.path, binary.load_address),
        }
    }
}

impl std::fmt::Debug for BinaryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid, address) => write!(f, "{uuid}@{address}"),
            Self::Path(path, address) => write!(f, "{path:?}@{address}"),
        }
    }
}

/// Returns the id of the row with this key, adding the row if necessary.
macro_rules! intern {
    ($map:expr, $key:expr, $table:expr, $id:ident, $row:expr) => {{
        let key = $key;
        match $map.get(&key) {
            Some(&id) => id,
            None => {
                let id = $id::from_index($table.len()).ok_or(Full)?;
                $table.push($row);
                $map.insert(key, id);
                id
            }
        }
    }};
}

impl ProfileBuilder {
    /// Creates an empty profile that keeps individual samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty profile with this level of detail.
    pub fn with_detail(detail: SampleDetail) -> Self {
        let sums = if detail == SampleDetail::Summed { Some(SumTable::default()) } else { None };
        Self { detail, sums, ..Self::default() }
    }

    /// Charges the profile to a memory budget. Callers must ensure that additions stay within it.
    pub(crate) fn within(mut self, budget: MemoryBudget) -> Self {
        self.profile.budget = budget;
        self
    }

    /// Starts with a copy of `profile` without functions, frames, stacks and samples. Copied rows keep their ids.
    pub(super) fn without_frames(profile: &Profile) -> Self {
        let Profile { strings, runs, series, processes, threads, cores, binaries, .. } = profile;
        let copy = Profile {
            strings: strings.clone(),
            runs: runs.clone(),
            series: series.clone(),
            processes: processes.clone(),
            threads: threads.clone(),
            cores: cores.clone(),
            binaries: binaries.clone(),
            sample_weights: vec![SampleWeights::default(); series.len()],
            labels: profile.labels.clone(),
            budget: profile.budget.clone(),
            ..Profile::default()
        };
        let mut builder = Self { totals: vec![0; series.len()], ..Self::default() };
        // Rebuild the maps. Threads and processes keep their names, since their samples are not counted again.
        builder.runs = runs.iter().copied().zip(profile.run_ids()).collect();
        builder.series = series.iter().copied().zip(profile.series_ids()).collect();
        builder.cores = cores.iter().copied().zip(profile.core_ids()).collect();
        for id in profile.binary_ids() {
            let binary = profile.binary(id);
            builder.binaries.insert(BinaryKey::of(binary), id);
            if let Some(uuid) = binary.uuid {
                builder.first_of_uuid.entry(uuid).or_insert(id);
            }
        }
        builder.profile = copy;
        // Usually as many frames as before, or fewer if the recording repeats a frame.
        builder.frames.reserve(profile.frames.len());
        builder.profile.frames.reserve(profile.frames.len());
        builder.profile.samples.reserve_exact(profile.samples.len());
        builder
    }

    /// Starts with a copy that includes functions and frames. Rows keep their ids, and no frames may be added.
    pub(super) fn without_stacks(profile: &Profile) -> Self {
        let mut builder = Self::without_frames(profile);
        builder.profile.functions.clone_from(&profile.functions);
        builder.profile.frames.clone_from(&profile.frames);
        builder
    }

    /// Copies the samples or sums of `profile`, whose other tables must already be in this builder. `new` returns a sample's new stack and state,
    /// or `None` to omit it.
    pub(super) fn copy_samples(
        &mut self,
        profile: &Profile,
        new: impl Fn(&SampleSum) -> Option<(Option<StackId>, Option<StringId>)>,
    ) -> Result<(), Full> {
        for (index, sample) in profile.samples.iter().enumerate() {
            let Some((stack, state)) = new(&sample.into()) else { continue };
            self.profile.samples.push(Sample { stack, state, ..*sample });
            let counters = profile.counters(index);
            if !counters.is_empty() {
                self.add_counters(counters);
            }
        }
        self.profile.sum_groups.clone_from(&profile.sum_groups);
        self.profile.sum_bins.clone_from(&profile.sum_bins);
        let mut in_new_states: HashMap<u32, u32> = HashMap::default();
        // Not merged, even if stacks have become equal, since counters refer to a sum by its index.
        for (index, row) in profile.sums.iter().enumerate() {
            let Self { profile: Profile { sums, sum_groups, sum_bins, sum_counters, .. }, .. } = self;
            let old = sum_groups[row.group as usize];
            let Some((stack, state)) = new(&old.sum(row)) else { continue };
            let mut add = || {
                sum_groups.push(SumGroup { state, ..old });
                sum_bins.push(TimeBins::default());
                sum_groups.len() as u32 - 1
            };
            let group =
                if state == old.state { row.group } else { *in_new_states.entry(row.group).or_insert_with(&mut add) };
            sum_counters.copy(sums.len(), profile.sum_counters(index));
            sums.push(SumRow { stack, group, ..*row });
        }
        // The statistics include omitted samples.
        self.profile.sample_weights.clone_from(&profile.sample_weights);
        Ok(())
    }

    /// Finishes with the stacks and samples of another profile, whose other tables must already be in this builder, with the same frame ids.
    pub(super) fn finish_with_stacks_of(self, profile: &Profile) -> Profile {
        let Profile { strings, processes, threads, binaries, functions, frames, .. } = self.finish();
        Profile { strings, processes, threads, binaries, functions, frames, held: None, ..profile.clone() }
    }

    /// Interns a string.
    pub fn string(&mut self, text: &str) -> Result<StringId, Full> {
        self.profile.strings.intern(text).ok_or(Full)
    }

    /// Returns the string with this id.
    pub fn text(&self, id: StringId) -> &str {
        self.profile.strings.get(id)
    }

    /// Interns a run.
    pub fn run(&mut self, run: Run) -> Result<RunId, Full> {
        Ok(intern!(self.runs, run, self.profile.runs, RunId, run))
    }

    /// Interns a series: the samples of one table in one unit.
    pub fn series(&mut self, series: Series) -> Result<SeriesId, Full> {
        let id = intern!(self.series, series, self.profile.series, SeriesId, series);
        self.totals.resize(self.profile.series.len(), 0);
        self.profile.sample_weights.resize_with(self.profile.series.len(), SampleWeights::default);
        Ok(id)
    }

    /// Interns a process of a run by its pid or, if that is unknown, by its name.
    pub fn process(&mut self, run: RunId, pid: Option<u64>, name: StringId) -> Result<ProcessId, Full> {
        let key = (run, pid, pid.is_none().then_some(name));
        Ok(intern!(self.processes, key, self.profile.processes, ProcessId, Process { run, pid, name }))
    }

    /// Interns a thread of a process by its tid or, if that is unknown, by its name.
    pub fn thread(&mut self, process: ProcessId, tid: Option<u64>, name: StringId) -> Result<ThreadId, Full> {
        let key = (process, tid, tid.is_none().then_some(name));
        Ok(intern!(self.threads, key, self.profile.threads, ThreadId, Thread { process, tid, name, is_main: false }))
    }

    /// Interns a thread by its name and whether it is a main thread.
    #[cfg(feature = "fleet")]
    pub(crate) fn thread_by_name(
        &mut self,
        process: ProcessId,
        name: StringId,
        is_main: bool,
    ) -> Result<ThreadId, Full> {
        // No other key has both a number and a name.
        let key = (process, is_main.then_some(0), Some(name));
        Ok(intern!(self.threads, key, self.profile.threads, ThreadId, Thread { process, tid: None, name, is_main }))
    }

    /// Sets the input name and the schema of a profile with a single run and series.
    #[cfg(feature = "fleet")]
    pub(crate) fn name_only_run(&mut self, input: &str, schema: &str) -> Result<(), Full> {
        let (input, schema) = (self.string(input)?, self.string(schema)?);
        self.profile.runs.iter_mut().for_each(|run| run.input = input);
        self.profile.series.iter_mut().for_each(|series| series.schema = schema);
        Ok(())
    }

    /// Marks a thread as a main thread ([`Thread::is_main`]) regardless of its name, for formats that identify main threads.
    pub fn mark_main_thread(&mut self, thread: ThreadId) {
        self.profile.threads[thread.index()].is_main = true;
    }

    /// Labels the samples of a thread. A label applies from its time to the next one. Times must be sorted and distinct.
    pub(crate) fn label_thread(&mut self, thread: ThreadId, changes: Vec<(Nanos, Option<StringId>)>) {
        self.profile.label_thread(thread, changes);
    }

    /// Adds `samples` votes for the name of a process. The name with the most votes wins.
    pub fn count_process_name(&mut self, process: ProcessId, name: StringId, samples: u64) {
        *self.process_names.entry((process, name)).or_default() += samples;
    }

    /// Adds `samples` votes for the name of a thread. The name with the most votes wins.
    pub fn count_thread_name(&mut self, thread: ThreadId, name: StringId, samples: u64) {
        *self.thread_names.entry((thread, name)).or_default() += samples;
    }

    /// Interns a core.
    pub fn core(&mut self, core: Core) -> Result<CoreId, Full> {
        Ok(intern!(self.cores, core, self.profile.cores, CoreId, core))
    }

    /// Interns a binary. Binaries with the same UUID and load address get the path and name of the first one.
    pub fn binary(&mut self, binary: Binary) -> Result<BinaryId, Full> {
        let id = intern!(self.binaries, BinaryKey::of(&binary), self.profile.binaries, BinaryId, binary);
        if let Some(uuid) = binary.uuid {
            self.first_of_uuid.entry(uuid).or_insert(id);
        }
        Ok(id)
    }

    /// Returns a binary.
    pub fn get_binary(&self, id: BinaryId) -> &Binary {
        &self.profile.binaries[id.index()]
    }

    /// Returns the binary's first load address, if it has several.
    pub fn first_load(&self, binary: BinaryId) -> BinaryId {
        let uuid = self.profile.binaries[binary.index()].uuid;
        uuid.and_then(|uuid| self.first_of_uuid.get(&uuid).copied()).unwrap_or(binary)
    }

    /// Interns a function by its name and binary, regardless of the binary's load address.
    ///
    /// If the name is only an address (`is_named` is false), the function is specific to one load address.
    pub fn function(&mut self, name: StringId, binary: Option<BinaryId>, is_named: bool) -> Result<FunctionId, Full> {
        let binary = if is_named { binary.map(|id| self.first_load(id)) } else { binary };
        let row = Function { name, binary, is_named };
        Ok(intern!(self.functions, (name, binary), self.profile.functions, FunctionId, row))
    }

    /// Interns a frame. Its lookup address equals the recorded one until [`set_lookup_address`](Self::set_lookup_address).
    pub fn frame(&mut self, key: FrameKey) -> Result<FrameId, Full> {
        let FrameKey { function, binary, address, source, is_inlined, group: _ } = key;
        let row = Frame { function, binary, address, lookup_address: address, source, is_inlined };
        Ok(intern!(self.frames, key, self.profile.frames, FrameId, row))
    }

    /// Returns the approximate size in bytes, without [lent sums](Self::lend_sums).
    pub(crate) fn memory(&self) -> u64 {
        let Self { runs, series, processes, threads, cores, binaries, first_of_uuid, functions, frames, .. } = self;
        let keys = of_map(runs) + of_map(series) + of_map(processes) + of_map(threads) + of_map(cores);
        let keys = keys + of_map(binaries) + of_map(first_of_uuid) + of_map(functions) + of_map(frames);
        let names = of_map(&self.process_names) + of_map(&self.thread_names);
        let sums = self.sums.as_ref().map_or(0, SumTable::memory) + self.sum_groups.memory();
        // Stacks and sums are moved into the profile at the end.
        self.profile.memory() + self.stacks.memory() + keys + names + sums
    }

    /// Returns the number of frames, which is the index of the next one.
    pub fn frame_count(&self) -> usize {
        self.profile.frames.len()
    }

    /// Returns a frame.
    pub fn get_frame(&self, id: FrameId) -> &Frame {
        &self.profile.frames[id.index()]
    }

    /// Sets the address by which a frame is looked up in symbol files.
    pub fn set_lookup_address(&mut self, id: FrameId, address: Address) {
        self.profile.frames[id.index()].lookup_address = address;
    }

    /// Interns the stack in which `parent` calls `frame`.
    pub fn stack(&mut self, parent: Option<StackId>, frame: FrameId) -> Result<StackId, Full> {
        self.stacks.child(parent, frame)
    }

    /// Interns the stack in which `parent` calls `frames`, root first. Returns `parent` if `frames` is empty. Faster than repeated calls of
    /// [`stack`](Self::stack).
    pub fn stack_path(
        &mut self,
        parent: Option<StackId>,
        frames: impl IntoIterator<Item = FrameId, IntoIter: ExactSizeIterator>,
    ) -> Result<Option<StackId>, Full> {
        self.stacks.path(parent, frames)
    }

    /// Like [`stack_path`](Self::stack_path), for frames in leaf-first order. Writes the stack that ends in each frame to the same index of
    /// `path`.
    pub(crate) fn stack_path_leaf_first(
        &mut self,
        parent: Option<StackId>,
        frames: &[FrameId],
        path: &mut [Option<StackId>],
    ) -> Result<Option<StackId>, Full> {
        self.stacks.path_of_leaf_first(parent, frames, path)
    }

    /// Prefetches the memory that [`stack`](Self::stack) will access for `parent` and `frame`.
    #[inline]
    pub(crate) fn fetch_stack(&self, parent: StackId, frame: FrameId) {
        self.stacks.fetch(parent, frame);
    }

    /// Returns the function names of a stack, leaf first.
    pub(crate) fn functions_leaf_first(&self, stack: StackId) -> impl Iterator<Item = &str> {
        let stacks = std::iter::successors(Some(self.get_stack(stack)), |stack| Some(self.get_stack(stack.parent?)));
        stacks.map(|stack| self.profile.function_name(self.get_frame(stack.frame).function))
    }

    /// Returns a stack.
    pub fn get_stack(&self, id: StackId) -> Stack {
        self.stacks.get(id)
    }

    /// Returns the number of distinct stacks.
    pub fn stack_count(&self) -> usize {
        self.stacks.len()
    }

    /// Adds a sample. Samples keep the order in which they are added, unless they are summed.
    pub fn add_sample(&mut self, sample: Sample) -> Result<(), Full> {
        let group = match self.detail {
            SampleDetail::Each => 0,
            SampleDetail::Summed => self.sum_groups.of(&sample)?,
        };
        self.add_sample_of(group, sample)
    }

    /// Adds presummed samples. From then on, the profile sums all samples ([`SampleDetail::Summed`]), including earlier ones.
    pub fn add_sum(&mut self, sum: &SampleSum) -> Result<(), Full> {
        self.add_up()?;
        self.add_waiting()?;
        let group = self.sum_groups.of_sum(sum)?;
        let total = &mut self.totals[sum.series.index()];
        let with_sum = total.checked_add(sum.weight).ok_or(Full)?;
        let summed =
            self.summed_samples.checked_add(sum.samples).filter(|&all| all <= MAX_SUMMED_SAMPLES).ok_or(Full)?;
        let sums = self.sums.get_or_insert_default();
        if sums.len() >= u32::MAX as usize {
            return Err(Full);
        }
        sums.add_sum(group, sum)?;
        self.profile.sample_weights[sum.series.index()].add(sum.weight / sum.samples.max(1), sum.samples);
        (*total, self.summed_samples) = (with_sum, summed);
        Ok(())
    }

    /// Switches to sums, for earlier samples as well.
    fn add_up(&mut self) -> Result<(), Full> {
        if self.detail == SampleDetail::Summed {
            return Ok(());
        }
        self.detail = SampleDetail::Summed;
        self.sums = Some(SumTable::default());
        let samples = std::mem::take(&mut self.profile.samples);
        let (rows, values) =
            (std::mem::take(&mut self.profile.counters), std::mem::take(&mut self.profile.counter_values));
        self.totals.fill(0);
        self.profile.sample_weights.fill(SampleWeights::default());
        let mut rows = rows.into_iter().peekable();
        for (index, sample) in samples.into_iter().enumerate() {
            self.add_sample(sample)?;
            if let Some(row) = rows.next_if(|row| row.sample == index) {
                let end = rows.peek().map_or(values.len(), |next| next.start);
                self.add_counters(&values[row.start..end]);
            }
        }
        Ok(())
    }

    /// Returns the group in which a sample is summed; `None` if it does not exist yet.
    pub(crate) fn sum_group(&self, sample: &Sample) -> Option<u32> {
        match self.detail {
            SampleDetail::Each => Some(0),
            SampleDetail::Summed => self.sum_groups.find(sample),
        }
    }

    /// Adds a sample with a known [group](Self::sum_group), like [`add_sample`](Self::add_sample).
    #[inline(always)]
    pub(crate) fn add_sample_of(&mut self, group: u32, sample: Sample) -> Result<(), Full> {
        let series = sample.series.index();
        let with_sample = self.totals[series].checked_add(sample.weight).ok_or(Full)?;
        match self.detail {
            SampleDetail::Each if self.profile.samples.len() >= u32::MAX as usize => return Err(Full),
            SampleDetail::Each => self.profile.samples.push(sample),
            SampleDetail::Summed => self.add_to_sums(group, &sample)?,
        }
        self.totals[series] = with_sample;
        self.profile.sample_weights[series].add(sample.weight, 1);
        Ok(())
    }

    #[inline(always)]
    fn add_to_sums(&mut self, group: u32, sample: &Sample) -> Result<(), Full> {
        let sums = self.sums.as_ref().map_or(0, SumTable::len);
        if sums + self.waiting.len() >= u32::MAX as usize {
            return Err(Full);
        }
        // Checked before the push, since the sample's counter values may follow.
        if self.waiting.len() >= BATCH {
            self.add_waiting()?;
        }
        self.waiting.push_sample(group, sample);
        self.sum_groups.note_time(group, sample.time, sample.weight);
        self.sum_groups.add_to_bins(group, sample.time, sample.weight);
        Ok(())
    }

    /// Adds the collected samples to their sums, unless the sums are lent.
    fn add_waiting(&mut self) -> Result<(), Full> {
        let Some(sums) = &mut self.sums else { return Ok(()) };
        let result = sums.add_batch(&self.waiting);
        self.waiting.clear();
        result
    }

    /// Lends the sums to another thread, which adds batches of samples until [`return_sums`](Self::return_sums). `None` if samples are not
    /// summed.
    pub(crate) fn lend_sums(&mut self) -> Result<Option<SumTable>, Full> {
        if self.detail == SampleDetail::Each {
            return Ok(None);
        }
        self.add_waiting()?;
        Ok(self.sums.take())
    }

    /// Takes the samples collected since the last call, which belong to the lent sums, and collects the next ones in `spare`.
    pub(crate) fn take_waiting(&mut self, spare: SumBatch) -> SumBatch {
        std::mem::replace(&mut self.waiting, spare)
    }

    /// Takes the sums back.
    pub(crate) fn return_sums(&mut self, sums: SumTable) {
        self.sums = Some(sums);
    }

    /// Adds the counter values of the last sample.
    pub fn add_counters(&mut self, values: &[u64]) {
        match (self.detail, self.profile.samples.len().checked_sub(1)) {
            (SampleDetail::Summed, _) => self.waiting.push_counters(values),
            (SampleDetail::Each, None) => {}
            (SampleDetail::Each, Some(sample)) => {
                let start = self.profile.counter_values.len();
                self.profile.counter_values.extend_from_slice(values);
                self.profile.counters.push(CounterRow { sample, start });
            }
        }
    }

    /// Returns the unit of a series.
    pub fn unit(&self, id: SeriesId) -> Unit {
        self.profile.series[id.index()].unit
    }

    /// Finishes the profile.
    pub fn finish(mut self) -> Profile {
        // Cannot fail, since samples that do not fit have been rejected.
        let _ = self.add_waiting();
        for (id, name) in most_counted(&self.process_names) {
            self.profile.processes[id.index()].name = name;
        }
        for (id, name) in most_counted(&self.thread_names) {
            self.profile.threads[id.index()].name = name;
        }
        self.profile.mark_main_threads();
        self.profile.stacks = self.stacks.finish();
        debug_assert!(parents_come_first(&self.profile));
        if self.detail == SampleDetail::Summed {
            (self.profile.sums, self.profile.sum_counters) = self.sums.unwrap_or_default().finish();
            (self.profile.sum_groups, self.profile.sum_bins) = self.sum_groups.finish();
            self.profile.sums.shrink_to_fit();
        } else if self.profile.sums.len() > 0 && self.profile.sum_groups.is_empty() {
            (self.profile.sum_groups, self.profile.sum_bins) = self.sum_groups.finish();
        }
        self.profile.strings.shrink_to_fit();
        self.profile.samples.shrink_to_fit();
        self.profile.functions.shrink_to_fit();
        self.profile.frames.shrink_to_fit();
        self.profile
    }
}

/// Trees rely on parents preceding their children.
fn parents_come_first(profile: &Profile) -> bool {
    profile.stacks.iter().enumerate().all(|(index, stack)| stack.parent.is_none_or(|parent| parent.index() < index))
}

/// Returns the name with the most votes for each owner. A tie goes to the name interned first.
fn most_counted<K: Copy + Eq + std::hash::Hash>(counts: &HashMap<(K, StringId), u64>) -> HashMap<K, StringId> {
    let mut best: HashMap<K, (u64, StringId)> = HashMap::default();
    for (&(owner, name), &count) in counts {
        let entry = best.entry(owner).or_insert((count, name));
        if count > entry.0 || (count == entry.0 && name < entry.1) {
            *entry = (count, name);
        }
    }
    best.into_iter().map(|(owner, (_, name))| (owner, name)).collect()
}
