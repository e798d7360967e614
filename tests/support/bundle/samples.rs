//! Writes the rows of a run, and the objects to which they refer.

use std::collections::BTreeMap;

use super::super::random::Rng;
use super::super::recording::{Invented, Row, SampleKind};
use super::super::shape::{Shape, Table};
use super::super::writer::{Content, Node};
use super::images::addresses;
use super::schemas;
use super::store::{Attribute, Cell, Store};
use super::uniquer::{Arrays, NONE, Strings};
use super::{BundleOptions, ChunkedVec};

/// The state for writing the rows of a run.
pub struct RunWriter<'a> {
    pub recording: &'a Invented,
    pub options: &'a BundleOptions,
    rng: Rng,
    pub strings: Strings,
    pub arrays: Arrays,
    pub typed_arrays: Arrays,
    /// The types of parts of typed arrays, by number.
    pub types: Vec<&'static str>,
}

/// A reference as a cell.
pub fn cell(reference: u32) -> Cell {
    u64::from(reference)
}

impl<'a> RunWriter<'a> {
    pub fn new(recording: &'a Invented, options: &'a BundleOptions, run: u32) -> RunWriter<'a> {
        let depth = |row: &Row| row.stack.as_ref().map_or(0, Vec::len).max(row.counters.len());
        let deepest = recording.rows.iter().map(depth).max().unwrap_or(0);
        // Space for the header of the first block, and for an array with a few more numbers than the deepest stack has frames.
        let block_size = options.array_block_size.max(64 + 8 * (deepest + 4));
        let mut writer = RunWriter {
            recording,
            options,
            rng: Rng::new(options.seed ^ u64::from(run)),
            strings: Strings::default(),
            arrays: Arrays::new(block_size),
            typed_arrays: Arrays::new(block_size),
            // The list differs between versions.
            types: ["XRNarrativeTextTypeID", "XRDurationTypeID", "XRUUIDTypeID"][..options.seed as usize % 4].to_vec(),
        };
        writer.process(0);
        writer
    }

    /// The process with this index. In new bundles, three numbers with an unknown meaning follow the first two.
    pub fn process(&mut self, process: usize) -> u32 {
        let device = u64::from(self.strings.add("TODO"));
        let Some(process) = self.recording.processes.get(process) else { return NONE };
        let mut array = vec![u64::from(process.pid), device];
        if self.options.long_process_arrays {
            array.extend([0, u64::from(NONE), 1]);
        }
        self.arrays.add(&array)
    }

    pub fn thread(&mut self, thread: usize) -> u32 {
        let thread = &self.recording.threads[thread];
        let process = self.process(thread.process);
        self.arrays.add(&[thread.tid, u64::from(process)])
    }

    /// The tables of a run, including the ones that every recording has.
    pub fn stores(&mut self, run: u32) -> Vec<Store> {
        let nodes = self.options.nodes.iter().filter(|node| node.run == run);
        let mut stores = vec![self.thread_info(run), self.process_info(), ticks(), kernel_events("0x2d,*")];
        for Node { content, .. } in nodes {
            stores.push(match content {
                Content::Samples { table: Table::TimeSample, rows } => self.time_sample(rows),
                Content::Samples { table, rows } => self.profile(*table, rows),
                Content::PotentialHangs(hangs) => self.potential_hangs(hangs),
                Content::HangRisks(risks) => self.hang_risks(risks),
                Content::SignpostIntervals(signposts) => self.signpost_intervals(signposts, false),
                Content::RecentIntervals(signposts) => self.signpost_intervals(signposts, true),
                Content::SignpostEvents(signposts) => self.signpost_events(signposts),
                Content::Regions(signposts) => self.regions(signposts),
                Content::Empty(_) => kernel_events("0x31,0xca"),
                other => panic!("bundles are not written with {other:?}"),
            });
        }
        stores.push(kernel_events("0x1,0x25"));
        if self.options.packed { stores.into_iter().map(Store::packed).collect() } else { stores }
    }

    /// Threads with their names over time, in order of time. A name is stored with the thread's number.
    fn thread_info(&mut self, run: u32) -> Store {
        let mut store = Store::new(schemas::thread_info(), Vec::new());
        let mut names: BTreeMap<usize, usize> = BTreeMap::new();
        for thread in 0..self.recording.threads.len() {
            let cells = self.thread_cells(0, thread, None);
            store.row(&cells);
        }
        let recording = self.recording;
        for row in recording.rows.iter().filter(|row| row.run == run) {
            if names.insert(row.thread, row.thread_name) != Some(row.thread_name) {
                let cells = self.thread_cells(row.time_ns, row.thread, Some(row.thread_name));
                store.row(&cells);
            }
        }
        store
    }

    fn thread_cells(&mut self, time: u64, index: usize, name: Option<usize>) -> [Cell; 7] {
        let recording = self.recording;
        let thread = &recording.threads[index];
        let (process, reference) = (self.process(thread.process), self.thread(index));
        let name =
            name.map_or(u64::MAX, |name| u64::from(self.strings.add(&thread.names[name])) << 32 | cell(reference));
        let is_main = recording.threads[..index].iter().all(|other| other.process != thread.process);
        let pid = u64::from(recording.processes[thread.process].pid);
        [time, pid, thread.tid, cell(process), cell(reference), name, u64::from(is_main)]
    }

    fn process_info(&mut self) -> Store {
        let mut store = Store::new(schemas::process_info(), Vec::new());
        let recording = self.recording;
        for (index, process) in recording.processes.iter().enumerate() {
            let (reference, name) = (self.process(index), self.strings.add(&process.name));
            let pid = u64::from(process.pid);
            store.row(&[0, pid, pid, cell(reference), cell(name)]);
        }
        store
    }

    fn profile(&mut self, table: Table, rows: &[usize]) -> Store {
        let is_tagged = self.options.tagged;
        let (schema, attributes) = match table {
            Table::TimeProfile => (schemas::time_profile(is_tagged), time_attributes()),
            Table::CpuProfile => (schemas::cpu_profile(is_tagged), cpu_attributes()),
            Table::CountersProfile { pmi: false } => (schemas::counters_profile(is_tagged), time_attributes()),
            other => panic!("bundles are not written with {other:?}"),
        };
        let mut store = Store::new(schema, attributes);
        for &index in rows {
            let row = &self.recording.rows[index];
            let [time, thread, process, core, state] = self.common(row);
            let stack = self.stack(index);
            match table {
                Table::CountersProfile { .. } => {
                    let counters = self.arrays.add(&row.counters);
                    store.row(&[time, thread, process, core, state, stack, row.weight, cell(counters)]);
                }
                _ => store.row(&[time, thread, process, core, state, row.weight, stack]),
            }
        }
        store
    }

    /// The cells with time, thread, process, core and state.
    pub fn common(&mut self, row: &Row) -> [Cell; 5] {
        let thread = self.thread(row.thread);
        let process = self.process(self.recording.thread_of(row).process);
        let core = row.core.map_or(NONE, |(core, _)| core);
        let state = self.strings.add(row.state);
        [row.time_ns, cell(thread), cell(process), cell(core), cell(state)]
    }

    /// The stack of a row as chunks, possibly with a tag before them.
    fn stack(&mut self, row: usize) -> Cell {
        let Some(addresses) = addresses(self.recording, row, Shape::Xcode26_2, self.options.signed) else {
            return cell(NONE);
        };
        let process = self.process(self.recording.thread_of(&self.recording.rows[row]).process);
        let high = u64::from(process) << 32;
        let mut chunks = Vec::new();
        for piece in self.pieces(&addresses) {
            chunks.push(high | u64::from(self.arrays.add(piece)));
        }
        if self.options.chunks == ChunkedVec::SeveralWithEnd {
            chunks.push(high | u64::from(NONE));
        }
        let chunks = self.arrays.add(&chunks);
        if self.options.tagged { cell(self.arrays.add(&[u64::from(chunks), 0])) } else { cell(chunks) }
    }

    /// Divides a stack at random depths. The part on the root's side is often equal to another, and then shares its array.
    fn pieces<'s>(&mut self, addresses: &'s [u64]) -> Vec<&'s [u64]> {
        if self.options.chunks == ChunkedVec::One || addresses.len() < 2 {
            return vec![addresses];
        }
        let first = 1 + self.rng.index(addresses.len().min(4));
        let (leaf, rest) = addresses.split_at(first);
        let second = self.rng.index(rest.len() + 1);
        let pieces = [leaf, &rest[..second], &rest[second..]];
        pieces.into_iter().filter(|piece| !piece.is_empty()).collect()
    }

    fn time_sample(&mut self, rows: &[usize]) -> Store {
        let mut store = Store::new(schemas::time_sample(), time_attributes());
        for &index in rows {
            let row = &self.recording.rows[index];
            let [time, thread, _, core, state] = self.common(row);
            let stack = self.raw_stack(index);
            store.row(&[time, thread, core, state, cell(NONE), stack, row.kind.code()]);
        }
        store
    }

    /// Callers, program counter, process, a flag, and the link register if the sample interrupted running code.
    fn raw_stack(&mut self, index: usize) -> Cell {
        let Some(addresses) = addresses(self.recording, index, Shape::TimeSample, self.options.signed) else {
            return cell(NONE);
        };
        let row = &self.recording.rows[index];
        let process = cell(self.process(self.recording.thread_of(row).process));
        if row.kind == SampleKind::Stackshot {
            let frames = self.arrays.add(&addresses);
            return cell(self.arrays.add(&[cell(frames), addresses[0], process, 0]));
        }
        let entries: Vec<u64> = addresses[1..].iter().copied().chain([0]).collect();
        let register = addresses.get(1).copied().unwrap_or(0x101);
        let frames = self.arrays.add(&entries);
        cell(self.arrays.add(&[cell(frames), addresses[0], process, 0, register]))
    }
}

pub fn time_attributes() -> Vec<(&'static str, Attribute)> {
    vec![
        ("target-pid", Attribute::Text("SINGLE")),
        ("needs-kernel-callstack", Attribute::Boolean(false)),
        ("sample-rate-micro-seconds", Attribute::Number(1_000)),
        ("record-waiting-threads", Attribute::Boolean(false)),
    ]
}

fn cpu_attributes() -> Vec<(&'static str, Attribute)> {
    vec![
        ("target-pid", Attribute::Text("SINGLE")),
        ("needs-kernel-callstack", Attribute::Boolean(false)),
        ("high-frequency-sampling", Attribute::Boolean(false)),
    ]
}

fn ticks() -> Store {
    let mut store = Store::new(schemas::tick(), vec![("frequency", Attribute::Number(10))]);
    (0..34).for_each(|tick| store.row(&[tick * 100_000_000]));
    store
}

/// A table of kernel events without rows.
fn kernel_events(codes: &str) -> Store {
    let codes = Attribute::Texts(vec![codes.to_owned()]);
    Store::new(schemas::kdebug(), vec![("codes", codes), ("target", Attribute::Text("SINGLE"))])
}
