//! Stacks: lists of frames, nearly all of them `<frame ref="N"/>`.
//!
//! Stacks of one thread mostly share their outer frames, and those stand last. So a stack is compared with the last one of
//! its thread from its end on, as bytes, and only what differs is read.

use memchr::memmem;

use super::super::tape::{Op, TapeStack};
use super::bytes::{PADDING, digits, look};
use super::elements::Start;
use super::{MAX_FRAMES, MAX_ROW, Scanner};

/// How many threads the last stacks are remembered of.
const THREADS: usize = 64;

/// By thread: its last stack on the tape.
#[derive(Debug)]
pub(super) struct LastStacks([LastStack; THREADS]);

#[derive(Clone, Copy, Debug, Default)]
struct LastStack {
    thread: u32,
    /// Its index, counted from 1; 0 is none.
    stack: u32,
    /// Where its frames end in the text, and from where on they are all `ref`s.
    text_end: u32,
    plain_from: u32,
}

impl Default for LastStacks {
    fn default() -> Self {
        Self([LastStack::default(); THREADS])
    }
}

impl Scanner<'_> {
    /// An element whose children are frames.
    pub(super) fn stack(&mut self, start: &Start, nesting: u32) -> Option<usize> {
        let first = self.tape.frames.len();
        let text_end = self.end_of_frames(start)?;
        let last = self.last_stacks.0[self.thread as usize % THREADS];
        let last = Some(last).filter(|last| last.stack != 0 && last.thread == self.thread);
        let (shared, shared_text) = last.map_or((0, 0), |last| self.shared_frames(start.end, text_end, &last));
        self.enter(start);
        let plain_from = self.frames(start.end, text_end - shared_text, nesting)?;
        self.leave(start);
        let mut stack =
            TapeStack { fmt: start.fields.fmt, start: first as u32, end: 0, like_end: 0, common: 0, next: 0 };
        if let Some(last) = last {
            let before = self.tape.stacks[last.stack as usize - 1];
            let (from, to) = (before.end as usize - shared, before.end as usize);
            // What was defined in the stack before has another text, and is the same frame all the same.
            let (frames, own) = self.tape.frames.split_at(first);
            let outer = frames[before.start as usize..from].iter().rev();
            let more = own.iter().rev().zip(outer).take_while(|(a, b)| a == b).count();
            self.tape.frames.extend_from_within(from..to);
            (stack.like_end, stack.common) = (before.end, (shared + more) as u32);
        }
        if self.tape.frames.len() - first > MAX_FRAMES {
            return None;
        }
        stack.end = self.tape.frames.len() as u32;
        let index = self.tape.stacks.len() as u32;
        self.tape.stacks.push(stack);
        if let Some(last) = last {
            self.tape.stacks[last.stack as usize - 1].next = index;
        }
        self.tape.ops.push(Op::Stack { tag: start.tag, at: self.place(start.at), id: start.id, stack: index });
        self.last_stacks.0[self.thread as usize % THREADS] = LastStack {
            thread: self.thread,
            stack: index + 1,
            text_end: text_end as u32,
            plain_from: plain_from as u32,
        };
        self.close(start, text_end)
    }

    /// Where the end tag of the element is.
    #[inline(always)]
    fn end_of_frames(&self, start: &Start) -> Option<usize> {
        let end = self.bytes.len().min(start.end + MAX_ROW);
        let text = &self.bytes[start.end..end];
        let length = match &self.bytes[start.at + 1..start.name_end] {
            b"backtrace" => self.end_of_plain_backtrace(text).or_else(|| self.end_of_backtrace.find(text)),
            b"tagged-backtrace" => self.end_of_tagged_backtrace.find(text),
            name => memmem::find(text, &[b"</", name, b">"].concat()),
        };
        Some(start.end + length?)
    }

    /// Where the end tag of a `backtrace` is in which it has the first `k`: one byte is found faster than twelve, and frames
    /// that are `ref`s have none.
    #[inline(always)]
    fn end_of_plain_backtrace(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr(b'k', text)?.checked_sub(b"</bac".len())?;
        text[end..].starts_with(b"</backtrace>").then_some(end)
    }

    /// How many frames at the root are the last stack's as they stand in the text, and how long their text is. Each of them is
    /// one tag.
    #[inline(always)]
    fn shared_frames(&self, text_start: usize, text_end: usize, last: &LastStack) -> (usize, usize) {
        let (plain_from, last_end) = (last.plain_from as usize, last.text_end as usize);
        let longest = (last_end - plain_from).min(text_end - text_start);
        let length =
            common_suffix(&self.bytes[text_end - longest..text_end], &self.bytes[last_end - longest..last_end]);
        let shared = &self.bytes[text_end - length..text_end];
        let Some(cut) = memchr::memchr(b'<', shared) else { return (0, 0) };
        (memchr::memchr_iter(b'<', shared).count(), length - cut)
    }

    /// Reads frames from `at` up to `end`. Gives from where on they are all `ref`s.
    fn frames(&mut self, mut at: usize, end: usize, nesting: u32) -> Option<usize> {
        let start = at;
        let mut plain_from = at;
        loop {
            at = self.references(at, end)?;
            if at >= end {
                return (at == end).then_some(plain_from);
            }
            let id;
            (id, at) = self.frame(at, at == start, nesting + 1)?;
            self.tape.frames.push(id);
            plain_from = at;
        }
    }

    /// Reads frames that are `ref`s, as far as there are, up to `end`; gives how far.
    #[inline(always)]
    fn references(&mut self, mut at: usize, end: usize) -> Option<usize> {
        let first = self.tape.frames.len();
        let mut frames = std::mem::take(&mut self.tape.frames);
        frames.resize(first + end.saturating_sub(at).div_ceil(SHORTEST_FRAME), 0);
        let (mut count, mut largest) = (0, 0);
        for frame in &mut frames[first..] {
            if at >= end {
                break;
            }
            let Some((id, length)) = look(self.bytes, at).and_then(frame_reference) else { break };
            *frame = id;
            largest = largest.max(id);
            (count, at) = (count + 1, at + length);
        }
        frames.truncate(first + count);
        let noted =
            if count == 0 { Some(()) } else { self.note_references(1, largest, |id| frames[first..].contains(&id)) };
        self.tape.frames = frames;
        noted.map(|()| at)
    }
}

/// A frame that is a `ref` of one digit: `<frame ref="1"/>`.
const SHORTEST_FRAME: usize = FRAME.len() + 1 + 3;
const FRAME: [u8; 12] = *b"<frame ref=\"";

/// The id of a `<frame ref="N"/>` of up to 7 digits, and how long it is. There is no id 0.
#[inline(always)]
fn frame_reference(ahead: &[u8; PADDING]) -> Option<(u32, usize)> {
    const END: u64 = u64::from_le_bytes(*b"\"/>\0\0\0\0\0");
    let word = |at: usize| Some(u64::from_le_bytes(*ahead.get(at..)?.first_chunk()?));
    let start = word(0)? ^ u64::from_le_bytes(*FRAME.first_chunk()?);
    let more = word(FRAME.len() - 8)? ^ u64::from_le_bytes(*FRAME.last_chunk()?);
    let (count, id) = digits(word(FRAME.len())?);
    let end = (word(FRAME.len() + count)? ^ END) << 40;
    (start | more | end == 0 && id != 0).then_some((id as u32, FRAME.len() + count + 3))
}

/// How many bytes at the end are the same; both are of one length.
#[inline(always)]
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    const WORD: usize = 8;
    let steps = a.as_rchunks::<STEP>().1.iter().rev().zip(b.as_rchunks::<STEP>().1.iter().rev());
    let mut length = STEP * steps.take_while(|(a, b)| a == b).count();
    let (short_a, short_b) = (&a[..a.len() - length], &b[..b.len() - length]);
    for (a, b) in short_a.as_rchunks::<WORD>().1.iter().rev().zip(short_b.as_rchunks::<WORD>().1.iter().rev()) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return length + difference.leading_zeros() as usize / 8;
        }
        length += WORD;
    }
    // Fewer than a word is left.
    let (short_a, short_b) = (&a[..a.len() - length], &b[..b.len() - length]);
    length + short_a.iter().rev().zip(short_b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_of_any_length() {
        for length in 0..100 {
            for common in 0..=length {
                let mut a: Vec<u8> = b"<xx<y".iter().copied().cycle().take(length).collect();
                let mut b = a.clone();
                a[..length - common].fill(b'a');
                b[..length - common].fill(b'<');
                assert_eq!(common_suffix(&a, &b), common, "{length}");
            }
        }
    }
}
