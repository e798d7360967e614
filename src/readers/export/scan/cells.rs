//! Scans the cells of a row.
//!
//! Between time and stack, a row has a thread, process, core, state and weight, nearly always as `ref`s, and few combinations occur. A
//! combination that was seen before is therefore [recognised](super::known_cells) by its bytes, and not parsed again.

use super::super::tag::Tag;
use super::super::tape::Op;
use super::Scanner;
use super::bytes::{PADDING, look};
use super::known_cells::{Found, Key, key_of};

impl Scanner<'_> {
    /// Reads cells until the row ends. Returns the end of the row.
    pub(super) fn cells(&mut self, mut at: usize) -> Option<usize> {
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

    /// Reads a cell that is a `ref` or absent. For any other cell, the inner value is `None`.
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

    /// Recognises cells at `at` that are `ref`s, but not stacks. Returns their index on the tape, and their end.
    #[inline(always)]
    pub(super) fn seen_cells(&mut self, at: usize) -> Option<(u32, usize)> {
        let key = key_of(self.bytes[at..].first_chunk()?);
        self.seen_at(key, at)
    }

    #[inline(always)]
    fn seen_at(&mut self, key: Key, at: usize) -> Option<(u32, usize)> {
        let Found { known, length, thread, on_tape } = self.known_cells.get(key, &self.bytes[at..])?;
        let cells = match on_tape {
            Some(cells) => cells,
            None => self.put_on_tape(known)?,
        };
        self.thread = thread;
        Some((cells, at + length))
    }

    /// Adds cells that are known from an earlier tape to the current one.
    fn put_on_tape(&mut self, known: usize) -> Option<u32> {
        let references = self.known_cells.references(known);
        // In this document, they may point to a definition that has not been read yet.
        self.note_reference(references.iter().copied().max().unwrap_or(0))?;
        let from = self.tape.references.len();
        self.tape.references.extend_from_slice(self.known_cells.references(known));
        self.tape.reference_tags.extend_from_slice(self.known_cells.tags(known));
        let cells = self.tape.end_cells(from);
        self.known_cells.set_on_tape(known, cells);
        Some(cells)
    }

    /// Reads the cells at `at` that are `ref`s, but not stacks. Returns their end.
    #[inline(always)]
    fn shared_cells(&mut self, at: usize) -> Option<usize> {
        let Some(first) = self.bytes[at..].first_chunk() else { return Some(at) };
        let key = key_of(first);
        if let Some((cells, end)) = self.seen_at(key, at) {
            self.tape.ops.push(Op::Cells { cells });
            return Some(end);
        }
        self.new_cells(at, key)
    }

    /// Parses and caches cells that were not seen before.
    fn new_cells(&mut self, start: usize, key: Key) -> Option<usize> {
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
        let from = self.tape.references.len();
        for op in self.tape.ops.drain(first..) {
            let (tag, id) = if let Op::Ref { tag, id, .. } = op { (tag, id) } else { (Tag::Sentinel, 0) };
            self.tape.references.push(id);
            self.tape.reference_tags.push(tag);
        }
        let cells = self.tape.end_cells(from);
        self.tape.ops.push(Op::Cells { cells });
        let (ids, tags) = (&self.tape.references[from..], &self.tape.reference_tags[from..]);
        self.known_cells.add(key, &self.bytes[start..at], ids, tags, self.thread, cells);
        Some(at)
    }
}

/// True for a stack, which differs in nearly every row.
#[inline(always)]
fn is_stack(ahead: &[u8; PADDING]) -> bool {
    [&b"<backtrace"[..], b"<tagged-backtrace", b"<kperf-bt"].iter().any(|name| ahead.starts_with(name))
}

/// Returns the tag of a `ref` cell, and its length up to the number. Only covers the cells of usual rows.
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
