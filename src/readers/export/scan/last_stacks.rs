//! The last stack of each thread, which the next one mostly shares its frames with.

/// The number of threads whose last stacks are remembered.
pub(super) const THREADS: usize = 64;

/// By thread: its last stack on the tape.
#[derive(Debug)]
pub(super) struct LastStacks(pub(super) [LastStack; THREADS]);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastStack {
    pub(super) thread: u32,
    /// Its index, counted from 1; 0 is none.
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
