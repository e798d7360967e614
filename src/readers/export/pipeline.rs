//! Reads, decompresses and scans blocks in several threads; one of them combines the documents in order.
//!
//! ```text
//! source ─► block ─► tape ─┐
//!           block ─► tape ─┼─► in order: values, stacks, samples
//!           block ─► tape ─┘
//! ```
//!
//! All threads do the same work: a thread takes the source, reads (and decompresses) one block, returns the source, and scans the block. If other
//! threads are waiting for blocks, it continues reading, and they scan. The calling thread combines finished blocks, and scans others while none
//! is finished. No thread has a fixed role that could become the bottleneck, and a single thread runs the same code without waiting. The number
//! of blocks in flight bounds the memory.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::blocks::{Block, BlockReader};
use super::document::{DocumentReader, Samples};
use super::feed::Feed;
use super::scan;
use super::tape::Tape;
use crate::error::Error;
use crate::profile::{Full, SumBatch, SumTable};
use crate::recording::Options;

/// The number of blocks in flight per thread.
const BLOCKS_PER_THREAD: usize = 3;

/// If more sample batches are waiting to be summed, the combining thread helps.
const MAX_BATCHES: usize = 16;

/// No source can supply more threads than this.
const MAX_THREADS: usize = 256;

/// Reads all documents of an input. Returns its size in bytes.
pub(super) fn read_documents<'d, R: Read + Send>(
    source: R,
    input: &str,
    reader: &mut DocumentReader<'d, Samples<'d>>,
    options: &Options,
) -> Result<u64, Error> {
    let mut feed = Feed::new(reader, input, options);
    let mut blocks = BlockReader::new(source, options.buffer_size);
    let mut block = Block::default();
    blocks.read(&mut block);
    // Starting threads is not worth it for a single block.
    if options.jobs > 1 && block.end.is_none() {
        return read_parallel(blocks, block, feed, options);
    }
    loop {
        if let Some(bytes) = feed.take(&mut block, None)? {
            return Ok(bytes);
        }
        blocks.read(&mut block);
    }
}

/// A block that was read and scanned.
#[derive(Debug, Default)]
struct Scanned {
    block: Block,
    tape: Option<Tape>,
}

/// The state of a block in flight.
enum Place {
    /// A thread is reading or scanning it.
    Busy,
    /// Read, but not scanned.
    Read(Scanned),
    Finished(Scanned),
}

/// Samples are summed in parallel with all other work. The sums are scattered over memory, so summing takes a large part of the time that
/// combining blocks takes.
#[derive(Default)]
struct Summing {
    /// `None` while a thread adds to them, or if samples are not summed.
    sums: Option<SumTable>,
    /// The samples to add, in order.
    batches: VecDeque<SumBatch>,
    spare: Vec<SumBatch>,
    /// The memory of the sums.
    memory: u64,
}

impl Summing {
    fn next_task<R>(&mut self) -> Option<Task<R>> {
        if self.batches.is_empty() {
            return None;
        }
        let sums = self.sums.take()?;
        Some(Task::Sum(sums, self.batches.pop_front()?))
    }
}

/// The state that the threads share.
struct State<R> {
    summing: Summing,
    /// `None` while a thread reads from it, and after the last block.
    source: Option<BlockReader<R>>,
    /// True if a thread had to wait while another was reading: reading is the bottleneck and should never stop. The reading thread then keeps
    /// reading and leaves scanning to others, until the maximum number of blocks is in flight.
    is_hungry: bool,
    /// The number of threads, without the calling one.
    helpers: usize,
    /// The blocks in flight, in order.
    line: VecDeque<Place>,
    /// The number of the first block in `line`.
    first: usize,
    /// Blocks and tapes for reuse.
    spare: Vec<Scanned>,
    /// True once no more blocks are needed.
    is_over: bool,
}

struct Shared<'o, R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    /// True if blocks should be scanned ahead of time.
    wants_tapes: AtomicBool,
    options: &'o Options,
    capacity: usize,
}

/// Reads the blocks of `source` in parallel. `first` was read before.
fn read_parallel<R: Read + Send>(
    source: BlockReader<R>,
    first: Block,
    mut feed: Feed<'_, '_>,
    options: &Options,
) -> Result<u64, Error> {
    let sums = feed.lend_sums().map_err(Error::limit)?;
    let is_summing = sums.is_some();
    let state = State {
        summing: Summing { sums, ..Summing::default() },
        source: Some(source),
        is_hungry: false,
        helpers: 0,
        line: VecDeque::new(),
        first: 0,
        spare: Vec::new(),
        is_over: false,
    };
    let shared = Shared {
        state: Mutex::new(state),
        changed: Condvar::new(),
        wants_tapes: AtomicBool::new(feed.wants_tapes()),
        options,
        capacity: options.jobs.min(MAX_THREADS) * BLOCKS_PER_THREAD,
    };
    std::thread::scope(|scope| {
        // Stops the other threads on every return path.
        let _over = Over(&shared);
        for _ in 1..options.jobs.min(MAX_THREADS) {
            // Fewer threads give the same result.
            if Builder::new().spawn_scoped(scope, || shared.help()).is_err() {
                break;
            }
            shared.lock().helpers += 1;
        }
        let first = Scanned { block: first, tape: None };
        let bytes = shared.lead(first, &mut feed, is_summing)?;
        if is_summing {
            feed.return_sums(shared.finish_sums()?);
        }
        Ok(bytes)
    })
}

/// Stops all threads when dropped.
struct Over<'s, 'o, R>(&'s Shared<'o, R>);

impl<R> Drop for Over<'_, '_, R> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// The next task of a thread.
enum Task<R> {
    /// Add this block to the documents.
    Join(Scanned),
    /// Add these samples to the sums.
    Sum(SumTable, SumBatch),
    /// Read block `number`, then scan it or continue reading.
    Read { number: usize, source: BlockReader<R>, spare: Scanned },
    /// Scan block `number`.
    Scan { number: usize, block: Scanned },
    /// There is nothing left to do.
    Stop,
}

impl<R> State<R> {
    /// Takes the first block in order, if it is finished.
    fn next_finished(&mut self) -> Option<Scanned> {
        match self.line.pop_front()? {
            Place::Finished(scanned) => {
                self.first += 1;
                Some(scanned)
            }
            other => {
                self.line.push_front(other);
                None
            }
        }
    }

    /// Takes the first block that was read but not scanned, with its number.
    fn next_read(&mut self) -> Option<(usize, Scanned)> {
        let place = self.line.iter().position(|place| matches!(place, Place::Read(_)))?;
        match std::mem::replace(&mut self.line[place], Place::Busy) {
            Place::Read(block) => Some((self.first + place, block)),
            _ => None,
        }
    }

    /// Starts another block if fewer than `capacity` are in flight. Returns its number and buffers.
    fn start_block(&mut self, capacity: usize) -> Option<(usize, Scanned)> {
        if self.line.len() >= capacity {
            return None;
        }
        let number = self.first + self.line.len();
        self.line.push_back(Place::Busy);
        Some((number, self.spare.pop().unwrap_or_default()))
    }

    fn put(&mut self, number: usize, block: Place) {
        let place = number - self.first;
        self.line[place] = block;
    }
}

impl<R: Read + Send> Shared<'_, R> {
    /// Combines blocks until the input ends, and does other tasks while none is finished.
    fn lead(&self, first: Scanned, feed: &mut Feed<'_, '_>, is_summing: bool) -> Result<u64, Error> {
        let (mut task, mut memory) = (Task::Join(first), scan::Memory::default());
        loop {
            match task {
                Task::Join(scanned) => {
                    if let Some(bytes) = self.join(scanned, feed, is_summing)? {
                        return Ok(bytes);
                    }
                }
                task => {
                    if !self.work_on(task, &mut memory)? {
                        return Ok(0);
                    }
                }
            }
            task = self.next_task(true);
        }
    }

    /// Adds a block to the documents. After the last block, returns the size of the input in bytes.
    fn join(&self, mut scanned: Scanned, feed: &mut Feed<'_, '_>, is_summing: bool) -> Result<Option<u64>, Error> {
        let bytes = feed.take(&mut scanned.block, scanned.tape.as_ref())?;
        self.wants_tapes.store(feed.wants_tapes(), Ordering::Relaxed);
        let mut state = self.lock();
        state.spare.push(scanned);
        if is_summing {
            let spare = state.summing.spare.pop().unwrap_or_default();
            state.summing.batches.push_back(feed.take_waiting(spare));
            feed.lent = state.summing.memory;
        }
        drop(state);
        self.changed.notify_all();
        Ok(bytes)
    }

    fn help(&self) {
        // If this thread panics, stop the others: they would wait for its block forever.
        let over = Over(self);
        let mut memory = scan::Memory::default();
        // An error while summing is reported by `finish_sums`.
        while let Ok(true) = self.work_on(self.next_task(false), &mut memory) {}
        std::mem::forget(over);
    }

    /// Does a task that any thread can do. Returns false if this thread should stop.
    fn work_on(&self, task: Task<R>, memory: &mut scan::Memory) -> Result<bool, Error> {
        match task {
            Task::Sum(sums, batch) => self.sum(sums, batch)?,
            Task::Read { number, source, spare } => {
                let (number, block) = self.read(number, source, spare);
                self.scan(number, block, memory);
            }
            Task::Scan { number, block } => self.scan(number, block, memory),
            Task::Join(_) | Task::Stop => return Ok(false),
        }
        Ok(true)
    }

    fn sum(&self, mut sums: SumTable, mut batch: SumBatch) -> Result<(), Error> {
        let result = sums.add_batch(&batch).map_err(Error::limit);
        batch.clear();
        let memory = sums.memory();
        let mut state = self.lock();
        state.summing.memory = memory;
        state.summing.spare.push(batch);
        match result {
            Ok(()) => state.summing.sums = Some(sums),
            // The sums are lost, so no thread may wait for them.
            Err(_) => state.is_over = true,
        }
        drop(state);
        self.changed.notify_all();
        result
    }

    /// Adds the remaining samples to the sums, and returns them.
    fn finish_sums(&self) -> Result<SumTable, Error> {
        let mut state = self.lock();
        loop {
            if let Some(mut sums) = state.summing.sums.take() {
                for batch in &state.summing.batches {
                    sums.add_batch(batch).map_err(Error::limit)?;
                }
                return Ok(sums);
            }
            if state.is_over {
                return Err(Error::limit(Full));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads a block for this thread to scan. If other threads are waiting for blocks, reads blocks for them first.
    fn read(&self, mut number: usize, mut source: BlockReader<R>, mut spare: Scanned) -> (usize, Scanned) {
        loop {
            source.read(&mut spare.block);
            let is_last = spare.block.end.is_some();
            let mut state = self.lock();
            let next = if state.is_hungry && !is_last { state.start_block(self.capacity) } else { None };
            let Some(next) = next else {
                if !is_last {
                    (state.source, state.is_hungry) = (Some(source), false);
                }
                drop(state);
                self.changed.notify_all();
                return (number, spare);
            };
            state.put(number, Place::Read(spare));
            drop(state);
            self.changed.notify_all();
            (number, spare) = next;
        }
    }

    fn scan(&self, number: usize, mut block: Scanned, memory: &mut scan::Memory) {
        if self.wants_tapes.load(Ordering::Relaxed) {
            let tape = block.tape.get_or_insert_default();
            let rows = 0..block.block.bytes().len();
            scan::rows(block.block.padded(), rows, &self.options.limits, None, memory, tape);
        } else {
            block.tape = None;
            block.block.count_lines();
        }
        self.lock().put(number, Place::Finished(block));
        self.changed.notify_all();
    }

    fn next_task(&self, is_leader: bool) -> Task<R> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return Task::Stop;
            }
            let most = if is_leader { MAX_BATCHES } else { 0 };
            if state.summing.batches.len() > most
                && let Some(task) = state.summing.next_task()
            {
                return task;
            }
            if is_leader && let Some(scanned) = state.next_finished() {
                return Task::Join(scanned);
            }
            if let Some((number, block)) = state.next_read() {
                return Task::Scan { number, block };
            }
            // The combining thread has other work while others read. If it read, they would have to wait.
            if (!is_leader || state.helpers == 0)
                && let Some(source) = state.source.take()
            {
                match state.start_block(self.capacity) {
                    Some((number, spare)) => return Task::Read { number, source, spare },
                    None => state.source = Some(source),
                }
            }
            if let Some(task) = state.summing.next_task() {
                return task;
            }
            state.is_hungry |= state.line.len() < self.capacity;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<R> Shared<'_, R> {
    /// Locks the state. Recovering from a poisoned lock is safe, since no operation under the lock leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
