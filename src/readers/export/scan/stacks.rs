//! Scans stacks: lists of frames, nearly all of them `<frame ref="N"/>`.
//!
//! Stacks of a thread share most of their outer frames, which come last. Each stack is therefore compared with the thread's previous stack, byte
//! by byte from the end, and only the difference is parsed.

use memchr::memmem;

use super::super::tape::{Op, TapeStack};
use super::bytes::{PADDING, digits, look};
use super::elements::Start;
use super::known_cells::{LastStack, THREADS};
use super::{MAX_FRAMES, MAX_ROW, Scanner};

impl Scanner<'_> {
    /// Reads an element whose children are frames.
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
            // A frame that the earlier stack defines is a `ref` here.
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

    /// Returns the offset of the element's end tag.
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

    /// Returns the offset of a `backtrace`'s end tag, if it contains the first `k` in the text. `ref` frames contain no `k`, and searching for
    /// one byte is faster than for twelve.
    #[inline(always)]
    fn end_of_plain_backtrace(&self, text: &[u8]) -> Option<usize> {
        let end = memchr::memchr(b'k', text)?.checked_sub(b"</bac".len())?;
        text[end..].starts_with(b"</backtrace>").then_some(end)
    }

    /// Returns the number of root frames with the same text as in the last stack, and the length of that text. Each of them is one tag.
    #[inline(always)]
    fn shared_frames(&self, text_start: usize, text_end: usize, last: &LastStack) -> (usize, usize) {
        let (plain_from, last_end) = (last.plain_from as usize, last.text_end as usize);
        shared_tags(self.bytes, text_end, last_end, (last_end - plain_from).min(text_end - text_start))
    }

    /// Reads frames from `at` to `end`. Returns the offset after which all are `ref`s.
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

    /// Reads `ref` frames up to `end` or the first other frame. Returns the offset after them.
    #[inline(always)]
    fn references(&mut self, at: usize, end: usize) -> Option<usize> {
        let first = self.tape.frames.len();
        let mut frames = std::mem::take(&mut self.tape.frames);
        // Rounded up to a multiple of 64, since zeroing is faster if only a few sizes occur.
        let most = end.saturating_sub(at).div_ceil(SHORTEST_FRAME).next_multiple_of(64);
        frames.resize(first + most, 0);
        let mut rest = self.bytes.get(at..end + PADDING).unwrap_or_default();
        let (mut count, mut largest) = (0, 0);
        for frame in &mut frames[first..] {
            let Some((ahead, [_, ..])) = rest.split_first_chunk() else { break };
            let Some((id, length)) = frame_reference(ahead) else { break };
            *frame = id;
            largest = largest.max(id);
            (count, rest) = (count + 1, &rest[length..]);
        }
        frames.truncate(first + count);
        let noted =
            if count == 0 { Some(()) } else { self.note_references(1, largest, |id| frames[first..].contains(&id)) };
        self.tape.frames = frames;
        noted.map(|()| (end + PADDING).saturating_sub(rest.len()))
    }
}

/// The shortest `ref` frame: `<frame ref="1"/>`.
const SHORTEST_FRAME: usize = FRAME.len() + 1 + 3;
const FRAME: [u8; 12] = *b"<frame ref=\"";

/// Parses a `<frame ref="N"/>` with up to 7 digits. Returns its id, which is never 0, and its length.
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

/// The number of bytes compared at a time; a `ref` frame is shorter.
const STEP: usize = 32;
/// The maximum number of bytes compared. Tags are counted in a byte per position, which must not overflow.
const MAX_SHARED: usize = STEP * (u8::MAX as usize - 1);

/// Masks: the [`STEP`] bytes from index `STEP - n` on are `n` ones followed by zeros.
const FIRST_BYTES: [u8; 2 * STEP] = {
    let mut bytes = [0; 2 * STEP];
    let (ones, _) = bytes.split_at_mut(STEP);
    ones.copy_from_slice(&[1; STEP]);
    bytes
};

/// Returns the number of equal tags before `end` and `other_end`, and the length of their text, which is at most `longest`.
///
/// The code after the loop is branchless: the length differs each time, so branches would be mispredicted.
#[inline(always)]
fn shared_tags(bytes: &[u8], end: usize, other_end: usize, longest: usize) -> (usize, usize) {
    let longest = longest.min(MAX_SHARED);
    let (text, other) = (bytes[..end].as_rchunks().1, bytes[..other_end].as_rchunks().1);
    let mut counts = [0_u8; STEP];
    let (mut whole, mut part) = (0, 0);
    for (text, other) in text.iter().rev().zip(other.iter().rev()) {
        if text != other || whole + STEP > longest {
            part = common_end(text, other).min(longest - whole);
            break;
        }
        whole += STEP;
        counts = std::array::from_fn(|place| counts[place] + u8::from(text[place] == b'<'));
    }
    let start = end - whole - part;
    let first = look(bytes, start).unwrap_or(&[0; PADDING]);
    let is_part = FIRST_BYTES[STEP - part..].first_chunk().unwrap_or(&[0; STEP]);
    counts = std::array::from_fn(|place| counts[place] + (u8::from(first[place] == b'<') & is_part[place]));
    // A tag does not count if only its end is equal.
    let cut = memchr::memchr(b'<', first).unwrap_or(STEP);
    (sum(&counts), (whole + part).saturating_sub(cut))
}

#[inline(always)]
fn sum(bytes: &[u8; STEP]) -> usize {
    const EVEN: u64 = u64::from_ne_bytes([0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0]);
    let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let pairs: u64 = words.map(|word| (word & EVEN) + (word >> 8 & EVEN)).sum();
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// The number of equal bytes at the end.
#[inline(always)]
fn common_end(a: &[u8; STEP], b: &[u8; STEP]) -> usize {
    let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let mut length = 0;
    let mut all = u32::MAX;
    for (a, b) in a.iter().zip(b).rev() {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        length += (difference.leading_zeros() / 8) & all;
        all &= u32::from(difference != 0).wrapping_sub(1);
    }
    length as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like [`shared_tags`], byte by byte.
    fn shared_tags_slowly(bytes: &[u8], end: usize, other_end: usize, longest: usize) -> (usize, usize) {
        let ends = bytes[..end].iter().rev().zip(bytes[..other_end].iter().rev());
        let length = ends.take(longest).take_while(|(a, b)| a == b).count();
        let shared = &bytes[end - length..end];
        let cut = shared.iter().position(|&byte| byte == b'<').unwrap_or(length);
        (shared.iter().filter(|&&byte| byte == b'<').count(), length - cut)
    }

    #[test]
    fn tags_are_shared_from_the_end_on() {
        let tags =
            |first: usize| (first..first + 9).map(|id| format!("<frame ref=\"{}\"/>", id * id)).collect::<String>();
        let before = ".".repeat(STEP);
        for first in 1..40 {
            let (text, other) = (tags(first), format!("{}{}", tags(90), tags(first)));
            for cut in 0..text.len() {
                let mut changed = text.clone().into_bytes();
                changed[cut] ^= 1;
                for (text, longest) in [(text.as_bytes(), cut), (text.as_bytes(), text.len()), (&changed, text.len())] {
                    let bytes = [before.as_bytes(), other.as_bytes(), before.as_bytes(), text, &[0; PADDING]].concat();
                    let (end, other_end) = (bytes.len() - PADDING, before.len() + other.len());
                    let expected = shared_tags_slowly(&bytes, end, other_end, longest);
                    assert_eq!(shared_tags(&bytes, end, other_end, longest), expected, "{first} {cut} {longest}");
                }
            }
        }
    }

    #[test]
    fn long_texts_share_as_much_as_is_counted() {
        let text = "<frame ref=\"1\"/>".repeat(1_000);
        let bytes = [text.as_bytes(), b"</backtrace>", text.as_bytes(), &[0; PADDING]].concat();
        let (end, other_end) = (bytes.len() - PADDING, text.len());
        assert_eq!(shared_tags(&bytes, end, other_end, text.len()), (MAX_SHARED / 16, MAX_SHARED));
    }
}
