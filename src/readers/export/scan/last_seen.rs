//! What a scan remembers of the rows before: the next row is likely to be like them.

/// The number of digits in the time and id of a row. The next row nearly always has the same numbers, so the places of its parts are known
/// in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) id: u8,
    pub(super) time: u8,
}

impl Widths {
    pub(super) fn of(id: u64, time: u64) -> Self {
        let width = |number: u64| number.checked_ilog10().map_or(1, |log| log as u8 + 1);
        Self { id: width(id), time: width(time) }
    }
}

/// The number of threads whose last stacks are remembered.
pub(super) const THREADS: usize = 64;

/// By thread: its last stack on the tape.
#[derive(Debug)]
pub(super) struct LastStacks(pub(super) [LastStack; THREADS]);

/// Where the last stack of a thread is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastStack {
    pub(super) thread: u32,
    /// The index, counted from 1; 0 means none.
    pub(super) stack: u32,
    /// The end of its frames in the text, and the place from which on they are all `ref`s.
    pub(super) text_end: u32,
    pub(super) plain_from: u32,
}

impl Default for LastStacks {
    fn default() -> Self {
        Self([LastStack::default(); THREADS])
    }
}
