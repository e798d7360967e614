//! Reads a file line by line, in constant memory.

use memchr::memchr;

use crate::files::FileBytes;

/// The number of bytes read at once. The records of a function take a few kilobytes.
const CHUNK: u64 = 32 << 10;
/// Longer lines are skipped. The longest names of symbol files have 1 MiB.
const MAX_LINE: usize = 2 << 20;

/// A position in a file, and the bytes read there.
pub(super) struct LineReader<'f, 'b> {
    file: &'f FileBytes<'b>,
    /// The bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
    /// The position of the next line in the buffer.
    next: usize,
    /// The number of lines that were too long.
    pub(super) skipped: u64,
}

impl<'f, 'b> LineReader<'f, 'b> {
    /// Starts at the first line.
    pub(super) fn new(file: &'f FileBytes<'b>) -> Self {
        Self { file, buffer: Vec::new(), start: 0, next: 0, skipped: 0 }
    }

    /// Continues with the line at an offset. As long as offsets increase, no byte is read twice.
    pub(super) fn seek(&mut self, offset: u64) {
        let inside = offset.checked_sub(self.start).filter(|&inside| inside <= self.buffer.len() as u64);
        self.next = inside.unwrap_or(0) as usize;
        if inside.is_none() {
            self.buffer.clear();
            self.start = offset;
        }
    }

    /// Returns the next line and its offset; `None` at the end of the file, or if it cannot be read.
    pub(super) fn next(&mut self) -> Option<(u64, &[u8])> {
        let (mut searched, mut is_too_long) = (self.next, false);
        let end = loop {
            match memchr(b'\n', &self.buffer[searched..]) {
                Some(end) if is_too_long => {
                    is_too_long = false;
                    searched += end + 1;
                    self.next = searched;
                }
                Some(end) => break searched + end,
                None => {
                    if is_too_long || self.buffer.len() - self.next > MAX_LINE {
                        self.skipped += u64::from(!is_too_long);
                        is_too_long = true;
                        self.next = self.buffer.len();
                    }
                    let has_more = self.fill()?;
                    searched = self.buffer.len() - has_more;
                    if has_more == 0 {
                        break self.buffer.len();
                    }
                }
            }
        };
        let line = self.next..end;
        let offset = self.start + line.start as u64;
        let is_last = end == self.buffer.len();
        self.next = if is_last { end } else { end + 1 };
        if is_last && line.is_empty() {
            return None;
        }
        let line = &self.buffer[line];
        Some((offset, line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Drops the lines before the next one, and reads more bytes. Returns their number, 0 at the end of the file.
    fn fill(&mut self) -> Option<usize> {
        self.buffer.drain(..self.next);
        self.start += self.next as u64;
        self.next = 0;
        let end = self.buffer.len();
        let offset = self.start + end as u64;
        let count = self.file.len().saturating_sub(offset).min(CHUNK) as usize;
        self.buffer.resize(end + count, 0);
        self.file.copy(offset, &mut self.buffer[end..])?;
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> (Vec<(u64, Vec<u8>)>, u64) {
        let file = FileBytes::from(text);
        let mut reader = LineReader::new(&file);
        let mut found = Vec::new();
        while let Some((offset, line)) = reader.next() {
            found.push((offset, line.to_vec()));
        }
        (found, reader.skipped)
    }

    #[test]
    fn lines_end_with_any_line_break_and_the_last_one_may_have_none() {
        let (found, skipped) = lines(b"a\r\n\nbc\nd");
        let expected = [(0, &b"a"[..]), (3, b""), (4, b"bc"), (7, b"d")].map(|(at, line)| (at, line.to_vec()));
        assert_eq!((found, skipped), (expected.to_vec(), 0));
        assert_eq!(lines(b"").0, []);
    }

    #[test]
    fn lines_of_any_length_up_to_the_limit_are_whole() {
        let lengths = [CHUNK as usize - 1, CHUNK as usize, MAX_LINE - 1, 3 * MAX_LINE, 5];
        let text = lengths.map(|length| "x".repeat(length)).join("\n");
        let (found, skipped) = lines(text.as_bytes());
        let found: Vec<usize> = found.iter().map(|(_, line)| line.len()).collect();
        assert_eq!((found, skipped), (vec![lengths[0], lengths[1], lengths[2], 5], 1));
    }

    #[test]
    fn reading_continues_at_any_line() {
        let text: String = (0..20_000).map(|number| format!("{number:07}\n")).collect();
        let file = FileBytes::from(text.as_bytes());
        let mut reader = LineReader::new(&file);
        for number in [3, 4, 4_000, 19_999, 10, 20_000] {
            reader.seek(8 * number);
            let expected = (number < 20_000).then(|| (8 * number, format!("{number:07}").into_bytes()));
            assert_eq!(reader.next().map(|(offset, line)| (offset, line.to_vec())), expected);
        }
    }
}
