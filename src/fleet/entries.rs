//! Compact storage for the value of each key in each run: a few bytes per entry.
//!
//! ```text
//! add(key, run, …) ─► the key's part: tokens ─► blocks ─► in memory, or in a file
//!                                                 └────► entries of some keys at a time, grouped by key
//! ```
//!
//! All entries of a key are in the same part. A report is built part by part, and a large part a few keys at a time. Memory is therefore bounded
//! by the buffers and the current keys; a key takes 24 bytes per run that contains it.
//!
//! Tokens are varints with seven bits per byte. `2n + 1`: advance by n runs. `4k`: key k of the part, followed by its samples and its weight. `4k +
//! 2`: the same, but each sample has the usual weight, which is omitted.

use std::fmt;
use std::io::{self, SeekFrom};
use std::ops::Range;

use crate::files::StorageFile;
use crate::memory::of_vec;
use crate::varint;

/// The number of parts. One is processed at a time.
const PARTS: usize = 128;

/// The block size for finished tokens.
const BLOCK: usize = 32 << 10;

/// The value of one key in one run. Runs without the key have no entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The position of the run.
    pub(super) run: u32,
    /// The weight of the key; zero if its samples have no weight.
    pub(super) weight: u64,
    pub(super) samples: u64,
}

/// The entries of keys, which are numbered from 0.
#[derive(Debug, Default)]
pub(super) struct Entries {
    parts: Vec<Part>,
    /// The number of entries of each key.
    counts: Vec<u32>,
    /// The number of bytes in blocks in memory.
    held: u64,
}

/// The entries of every [`PARTS`]th key.
#[derive(Debug, Default)]
struct Part {
    open: Vec<u8>,
    blocks: Vec<Block>,
    /// The run of the last entry.
    run: u32,
}

/// A block of tokens. A token may continue in the next one.
#[derive(Debug)]
enum Block {
    Held(Box<[u8]>),
    Spilled(SpillPlace),
}

/// The runs of entries, numbered in the order of addition.
pub(super) trait EntryRuns {
    /// The position of the run in the report.
    fn position(&self, added: u32) -> u32;
    /// The most frequent sample weight.
    fn usual_weight(&self, added: u32) -> u64;
}

impl Entries {
    /// Adds the entry of a key in a run. Runs must be added in order.
    pub(super) fn add(&mut self, key: u32, entry: Entry, usual_weight: u64) {
        if self.parts.is_empty() {
            self.parts.resize_with(PARTS, Part::default);
        }
        let index = key as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        let part = &mut self.parts[index % PARTS];
        if entry.run != part.run {
            varint::write(&mut part.open, u64::from(entry.run - part.run) << 1 | 1);
            part.run = entry.run;
        }
        let is_usual = entry.samples.checked_mul(usual_weight) == Some(entry.weight);
        varint::write(&mut part.open, (index / PARTS) as u64 * 4 + u64::from(is_usual) * 2);
        varint::write(&mut part.open, entry.samples);
        if !is_usual {
            varint::write(&mut part.open, entry.weight);
        }
        if part.open.len() >= BLOCK {
            self.held += part.close() as u64;
        }
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        let blocks = self.parts.iter().map(|part| of_vec(&part.blocks)).sum::<u64>();
        of_vec(&self.parts) + of_vec(&self.counts) + blocks + self.spillable()
    }

    /// The number of those bytes that can be spilled.
    pub(super) fn spillable(&self) -> u64 {
        self.held + self.parts.iter().map(|part| part.open.capacity() as u64).sum::<u64>()
    }

    /// Writes everything in memory to a file.
    pub(super) fn spill(&mut self, file: &mut Spilled) -> io::Result<()> {
        for part in &mut self.parts {
            self.held += part.close() as u64;
            for block in &mut part.blocks {
                if let Block::Held(bytes) = block {
                    let place = file.append(bytes)?;
                    self.held -= bytes.len() as u64;
                    *block = Block::Spilled(place);
                }
            }
        }
        file.flush()
    }

    /// Calls `each` for every key with its entries. Reads at most `most` entries at a time, or all entries of a single key if it has more. Keys and
    /// entries are unordered.
    pub(super) fn each_key(
        &self,
        runs: &impl EntryRuns,
        spilled: &mut Spilled,
        most: usize,
        mut each: impl FnMut(u32, &mut [Entry]),
    ) -> io::Result<()> {
        let mut entries = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let keys = self.counts.len().saturating_sub(number).div_ceil(PARTS);
            let count = |key: usize| self.counts[key * PARTS + number] as usize;
            let mut first = 0;
            while first < keys {
                let mut ends = vec![0, count(first)];
                while first + ends.len() <= keys && ends[ends.len() - 1] + count(first + ends.len() - 1) <= most {
                    ends.push(ends[ends.len() - 1] + count(first + ends.len() - 1));
                }
                let end = first + ends.len() - 1;
                part.read(first..end, &ends, runs, spilled, &mut entries)?;
                for (key, range) in (first..end).zip(ends.windows(2)).filter(|(_, range)| range[0] < range[1]) {
                    each((key * PARTS + number) as u32, &mut entries[range[0]..range[1]]);
                }
                first = end;
            }
        }
        Ok(())
    }

    pub(super) fn of_key(&self, key: u32, runs: &impl EntryRuns, spilled: &mut Spilled) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let count = self.counts.get(key as usize).copied().unwrap_or(0) as usize;
        if let Some(part) = self.parts.get(key as usize % PARTS) {
            let local = key as usize / PARTS;
            part.read(local..local + 1, &[0, count], runs, spilled, &mut entries)?;
        }
        Ok(entries)
    }
}

impl Part {
    /// Closes the open block. Returns its size in bytes.
    fn close(&mut self) -> usize {
        let bytes = self.open.len();
        if bytes > 0 {
            self.blocks.push(Block::Held(std::mem::take(&mut self.open).into()));
        }
        bytes
    }

    /// Reads the entries of some keys. `ends` contains the end of each key's entries.
    fn read(
        &self,
        keys: Range<usize>,
        ends: &[usize],
        runs: &impl EntryRuns,
        spilled: &mut Spilled,
        entries: &mut Vec<Entry>,
    ) -> io::Result<()> {
        entries.clear();
        entries.resize(ends[ends.len() - 1], Entry::default());
        let mut reading = Reading { keys, free: ends.to_vec(), entries, run: 0, position: 0, usual_weight: 0, runs };
        reading.start();
        let mut bytes = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Held(bytes) => reading.block(bytes)?,
                Block::Spilled(place) => {
                    spilled.read(place, &mut bytes)?;
                    reading.block(&bytes)?;
                }
            }
        }
        reading.block(&self.open)?;
        // Every entry must have been filled, since remaining zeros would be wrong values.
        if reading.free[..reading.free.len() - 1] == ends[1..] { Ok(()) } else { Err(changed()) }
    }
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its values have changed")
}

/// The state while a part is being read.
struct Reading<'r, R> {
    keys: Range<usize>,
    /// For each key, the position of its next entry.
    free: Vec<usize>,
    entries: &'r mut [Entry],
    run: u32,
    position: u32,
    usual_weight: u64,
    runs: &'r R,
}

impl<R: EntryRuns> Reading<'_, R> {
    fn start(&mut self) {
        (self.position, self.usual_weight) = (self.runs.position(self.run), self.runs.usual_weight(self.run));
    }

    fn block(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let token = varint::read(&mut bytes).ok_or_else(changed)?;
            if token & 1 == 1 {
                self.run += (token >> 1) as u32;
                self.start();
                continue;
            }
            let samples = varint::read(&mut bytes).ok_or_else(changed)?;
            let weight = match token & 2 {
                0 => varint::read(&mut bytes).ok_or_else(changed)?,
                _ => samples.saturating_mul(self.usual_weight),
            };
            let key = (token >> 2) as usize;
            if self.keys.contains(&key) {
                let free = &mut self.free[key - self.keys.start];
                *self.entries.get_mut(*free).ok_or_else(changed)? = Entry { run: self.position, weight, samples };
                *free += 1;
            }
        }
        Ok(())
    }
}

/// The size up to which appended bytes are buffered.
const BUFFER: usize = 1 << 20;

/// The spill file and its write buffer.
#[derive(Default)]
pub(super) struct Spilled {
    file: Option<Box<dyn StorageFile>>,
    buffer: Vec<u8>,
    /// The number of bytes appended.
    length: u64,
}

/// A byte range in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpillPlace {
    start: u64,
    length: usize,
}

impl fmt::Debug for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Spilled {
    pub(super) fn new(file: Box<dyn StorageFile>) -> Self {
        Self { file: Some(file), buffer: Vec::new(), length: 0 }
    }

    /// True if there is a file.
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes in the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<SpillPlace> {
        let place = SpillPlace { start: self.length, length: bytes.len() };
        self.buffer.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(place)
    }

    /// Writes the buffered bytes to the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(no_file)?;
        file.seek(SeekFrom::Start(self.length - self.buffer.len() as u64))?;
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Reads a range that was appended and flushed.
    pub(super) fn read(&mut self, place: &SpillPlace, bytes: &mut Vec<u8>) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(no_file)?;
        bytes.resize(place.length, 0);
        file.seek(SeekFrom::Start(place.start))?;
        file.read_exact(bytes)
    }
}

fn no_file() -> io::Error {
    io::Error::other("there is no file to spill to")
}
