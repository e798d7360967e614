//! The cells of a row.
//!
//! Behind its time a row names thread, process, core, state and weight, nearly always by `ref`, and there are few such
//! combinations. So a combination that was seen in the block is known by its bytes, and not read again.

use super::super::tag::Tag;
use super::super::tape::{Op, TapeCells};
use super::Scanner;
use super::bytes::{PADDING, look};

/// How many combinations of cells are looked for.
const SLOTS: usize = 1024;
/// By how many bytes a combination is looked for; they are about 90 long.
const KEY: usize = 64;

/// By a hash of their first bytes: the combinations of cells on the tape, their indices counted from 1.
#[derive(Debug)]
pub(super) struct KnownCells([u32; SLOTS]);

impl Default for KnownCells {
    fn default() -> Self {
        Self([0; SLOTS])
    }
}

impl Scanner<'_> {
    /// Reads cells until the row ends; gives where it does.
    pub(super) fn cells(&mut self, mut at: usize) -> Option<usize> {
        self.thread = 0;
        loop {
            let ahead = look(self.bytes, at)?;
            if ahead[1] == b'/' {
                return ahead.starts_with(b"</row>").then_some(at + b"</row>".len());
            }
            at = match self.sample_time(at) {
                Some(end) => self.shared_cells(end)?,
                None => match self.reference_cell(ahead, at)? {
                    Some((_, end)) => end,
                    None => self.element(at, 0)?,
                },
            };
        }
    }

    /// Reads a cell that is a `ref` or absent, if it is.
    #[inline(always)]
    fn reference_cell(&mut self, ahead: &[u8; PADDING], at: usize) -> Option<Option<(Tag, usize)>> {
        if let Some((tag, length)) = cell_reference(ahead) {
            let (id, end) = self.reference(at + length)?;
            self.tape.ops.push(Op::Ref { tag, at: self.place(at), id });
            match tag {
                Tag::Thread => self.thread = id,
                Tag::Backtrace => self.tape.known_stacks.push(id),
                _ => {}
            }
            return Some(Some((tag, end)));
        }
        if !ahead.starts_with(b"<sentinel/>") {
            return Some(None);
        }
        self.tape.ops.push(Op::Absent { at: self.place(at) });
        Some(Some((Tag::Sentinel, at + b"<sentinel/>".len())))
    }

    /// Reads the cells at `at` that are `ref`s and no stacks; gives where they end.
    #[inline(always)]
    fn shared_cells(&mut self, at: usize) -> Option<usize> {
        let Some(key) = self.bytes[at..].first_chunk::<KEY>() else { return Some(at) };
        let slot = slot_of(key);
        let known = self.known_cells.0[slot];
        if known != 0 {
            let cells = self.tape.cells[known as usize - 1];
            let text = &self.bytes[cells.text_start as usize..cells.text_end as usize];
            if self.bytes[at..].starts_with(text) {
                self.thread = cells.thread;
                self.tape.ops.push(Op::Cells { cells: known - 1 });
                return Some(at + text.len());
            }
        }
        self.new_cells(at, slot)
    }

    /// Reads such cells for the first time.
    fn new_cells(&mut self, start: usize, slot: usize) -> Option<usize> {
        let first = self.tape.ops.len();
        let mut at = start;
        while let Some((_, end)) = {
            let ahead = look(self.bytes, at)?;
            if is_stack(ahead) { None } else { self.reference_cell(ahead, at)? }
        } {
            at = end;
        }
        if self.tape.ops.len() - first < 2 {
            return Some(at);
        }
        let from = self.tape.references.len() as u32;
        let ids = self.tape.ops.drain(first..).map(|op| match op {
            Op::Ref { id, .. } => id,
            _ => 0,
        });
        self.tape.references.extend(ids);
        let (index, to) = (self.tape.cells.len() as u32, self.tape.references.len() as u32);
        let (text_start, text_end) = (start as u32, at as u32);
        self.tape.cells.push(TapeCells { text_start, text_end, start: from, end: to, thread: self.thread });
        self.tape.ops.push(Op::Cells { cells: index });
        self.known_cells.0[slot] = index + 1;
        Some(at)
    }
}

/// Any odd numbers with as many ones as zeros.
const FACTORS: [u64; KEY / 8 - 1] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x27d4_eb2f_1656_67c5,
];

/// Where the cells with these first bytes would be.
#[inline(always)]
fn slot_of(key: &[u8; KEY]) -> usize {
    // The first eight bytes are the same in every row. No product waits for another one.
    let words = key.as_chunks::<8>().0[1..].iter().map(|word| u64::from_le_bytes(*word));
    let hash = words.zip(FACTORS).fold(0_u64, |hash, (word, factor)| hash.wrapping_add(word.wrapping_mul(factor)));
    (hash >> 48) as usize % SLOTS
}

/// Whether a cell is a stack: nearly every row has another one.
#[inline(always)]
fn is_stack(ahead: &[u8; PADDING]) -> bool {
    [&b"<backtrace"[..], b"<tagged-backtrace", b"<kperf-bt"].iter().any(|name| ahead.starts_with(name))
}

/// The tag of a cell that is a `ref`, and how long it is up to the number; for those that are found in most rows.
#[inline(always)]
fn cell_reference(ahead: &[u8; PADDING]) -> Option<(Tag, usize)> {
    macro_rules! cell {
        ($name:literal, $tag:ident) => {{
            const TEXT: &[u8] = concat!("<", $name, " ref=\"").as_bytes();
            if ahead.starts_with(TEXT) {
                return Some((Tag::$tag, TEXT.len()));
            }
        }};
    }
    match ahead[1] {
        b't' => {
            cell!("thread", Thread);
            cell!("thread-state", ThreadState);
            cell!("tagged-backtrace", Backtrace);
        }
        b'p' => {
            cell!("process", Process);
            cell!("pmc-event", PmcEvent);
            cell!("pmc-events", PmcEvents);
        }
        b'c' => {
            cell!("core", Core);
            cell!("cycle-weight", CycleWeight);
        }
        b'w' => cell!("weight", Weight),
        b'b' => cell!("backtrace", Backtrace),
        b's' => cell!("sample-time", Time),
        b'k' => cell!("kperf-bt", KperfBacktrace),
        _ => {}
    }
    None
}
