//! Reading, decompressing and scanning on several threads; documents are put together in order on one of them.
//!
//! ```text
//! source ─► block ─► tape ─┐
//!           block ─► tape ─┼─► in order: values, stacks, samples
//!           block ─► tape ─┘
//! ```
//!
//! Every thread does the same: it takes the source, reads one block (which decompresses it, where the source does),
//! gives the source back, and scans the block. The thread that called puts finished blocks together first, and reads
//! others while none is finished. So no thread has a part that it could be too slow at, and one thread is the same code
//! without the waiting. Memory is bounded by the number of blocks on their way.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::blocks::{Block, BlockReader};
use super::document::DocumentReader;
use super::feed::Feed;
use super::tape::Tape;
use super::{Options, scan};
use crate::error::Error;

/// How many blocks may be on their way for each thread.
const BLOCKS_PER_THREAD: usize = 2;

/// More threads than any source is fast enough for.
const MAX_THREADS: usize = 256;

/// Reads all documents of an input; gives the number of bytes.
pub(super) fn read_documents<R: Read + Send>(
    source: R,
    input: &str,
    reader: &mut DocumentReader<'_>,
    options: &Options,
) -> Result<u64, Error> {
    let mut feed = Feed::new(reader, input, options);
    let mut blocks = BlockReader::new(source, options.buffer_size);
    let mut block = Block::default();
    loop {
        blocks.read(&mut block);
        if let Some(bytes) = feed.take(&mut block, None)? {
            return Ok(bytes);
        }
        // An input of one block is not worth a thread.
        if options.jobs > 1 {
            return read_parallel(blocks, feed, options);
        }
    }
}

/// A block that was read and scanned.
#[derive(Debug, Default)]
struct Scanned {
    block: Block,
    tape: Option<Tape>,
}

/// What the threads share.
struct State<R> {
    /// `None` while a thread reads from it, and after the last block.
    source: Option<BlockReader<R>>,
    /// The blocks on their way, in order; `None` for one that is not finished.
    line: VecDeque<Option<Scanned>>,
    /// The number of the first block in the line.
    first: usize,
    /// Blocks and tapes to be used again.
    spare: Vec<Scanned>,
    /// Whether nobody wants another block.
    is_over: bool,
}

struct Shared<'o, R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    /// Whether blocks should be scanned before it is their turn.
    wants_tapes: AtomicBool,
    options: &'o Options,
    capacity: usize,
}

fn read_parallel<R: Read + Send>(
    source: BlockReader<R>,
    mut feed: Feed<'_, '_>,
    options: &Options,
) -> Result<u64, Error> {
    let state = State { source: Some(source), line: VecDeque::new(), first: 0, spare: Vec::new(), is_over: false };
    let shared = Shared {
        state: Mutex::new(state),
        changed: Condvar::new(),
        wants_tapes: AtomicBool::new(feed.wants_tapes()),
        options,
        capacity: options.jobs.min(MAX_THREADS) * BLOCKS_PER_THREAD,
    };
    std::thread::scope(|scope| {
        // Whatever happens here, the others must not wait for it.
        let _over = Over(&shared);
        for _ in 1..options.jobs.min(MAX_THREADS) {
            // Fewer threads than were asked for do the same.
            if Builder::new().spawn_scoped(scope, || shared.help()).is_err() {
                break;
            }
        }
        shared.lead(&mut feed)
    })
}

/// Ends the work of all threads when it goes out of scope.
struct Over<'s, 'o, R>(&'s Shared<'o, R>);

impl<R> Drop for Over<'_, '_, R> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// What a thread does next.
enum Task<R> {
    /// Put this block in its place.
    Join(Scanned),
    /// Read and scan block `number`.
    Read { number: usize, source: BlockReader<R>, spare: Scanned },
    /// Nothing more.
    Stop,
}

impl<R: Read + Send> Shared<'_, R> {
    /// Puts blocks together until the input ends, and reads others while none is finished.
    fn lead(&self, feed: &mut Feed<'_, '_>) -> Result<u64, Error> {
        loop {
            match self.next_task(true) {
                Task::Join(mut scanned) => {
                    if let Some(bytes) = feed.take(&mut scanned.block, scanned.tape.as_ref())? {
                        return Ok(bytes);
                    }
                    self.wants_tapes.store(feed.wants_tapes(), Ordering::Relaxed);
                    self.lock().spare.push(scanned);
                }
                Task::Read { number, source, spare } => self.read_and_scan(number, source, spare),
                Task::Stop => return Ok(0),
            }
        }
    }

    fn help(&self) {
        // Without this thread's block the others would wait for ever.
        let over = Over(self);
        while let Task::Read { number, source, spare } = self.next_task(false) {
            self.read_and_scan(number, source, spare);
        }
        std::mem::forget(over);
    }

    fn read_and_scan(&self, number: usize, mut source: BlockReader<R>, mut spare: Scanned) {
        source.read(&mut spare.block);
        if spare.block.end.is_none() {
            self.lock().source = Some(source);
            self.changed.notify_all();
        }
        spare.block.count_lines();
        if self.wants_tapes.load(Ordering::Relaxed) {
            let tape = spare.tape.get_or_insert_default();
            scan::rows(spare.block.padded(), 0, &self.options.limits, None, tape);
        } else {
            spare.tape = None;
        }
        let mut state = self.lock();
        let place = number - state.first;
        state.line[place] = Some(spare);
        drop(state);
        self.changed.notify_all();
    }

    fn next_task(&self, is_leader: bool) -> Task<R> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return Task::Stop;
            }
            if is_leader
                && let Some(front) = state.line.front_mut()
                && let Some(scanned) = front.take()
            {
                state.line.pop_front();
                state.first += 1;
                return Task::Join(scanned);
            }
            if state.line.len() < self.capacity
                && let Some(source) = state.source.take()
            {
                let number = state.first + state.line.len();
                state.line.push_back(None);
                let spare = state.spare.pop().unwrap_or_default();
                return Task::Read { number, source, spare };
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<R> Shared<'_, R> {
    /// The state. Nothing that is done under the lock leaves it half changed.
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
