//! Converts stacks from arrays of addresses to frames in the binaries that were loaded there.
//!
//! | column | array |
//! |---|---|
//! | `XRBacktraceTypeID` | pieces, leaf first: process reference in the upper half, array of addresses in the lower (all bits set: end) |
//! | `XRTaggedBacktraceTypeID` | array of pieces, tag |
//! | `XRCoreProfileCallstackTypeID` | array of return addresses, program counter, process reference, … |
//!
//! Addresses are leaf first, with the bias and the authentication bits that exports show.

use std::hint::black_box;

use super::binaries::{Binaries, Frames};
use super::damage::Unreadable;
use super::engineering_types::StackKind;
use super::strings::Strings;
use super::uniquer::{Arrays, NONE, Numbers, reference};
use crate::error::Diagnostic;
use crate::hash::HashMap;
use crate::profile::{FrameId, StackId};
use crate::recording::{FrameKind, InputBuilder, RejectReason, kperf_callers};

/// A converted stack, or why it is unusable. A stack without frames counts as unknown, since a missing stack has a different index.
type ReadStack = Result<StackId, RejectReason>;

/// A cached [`ReadStack`] in 4 bytes: 0 is not cached, 1 has no frames, 2 is too deep, and other values are the index of a stack plus 3.
#[derive(Clone, Copy, Debug, Default)]
struct Known(u32);

impl Known {
    /// Encodes a stack. If its index does not fit, the stack is not cached.
    fn of(stack: ReadStack) -> Self {
        Self(match stack {
            Err(RejectReason::StackTooDeep) => 2,
            Err(_) => 1,
            Ok(stack) => u32::try_from(stack.index() + 3).unwrap_or(0),
        })
    }

    fn get(self) -> Option<ReadStack> {
        match self.0 {
            0 => None,
            1 => Some(Err(RejectReason::UnknownStack)),
            2 => Some(Err(RejectReason::StackTooDeep)),
            other => StackId::from_index(other as usize - 3).map(Ok),
        }
    }
}

/// The cached stacks of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownStacks<'a>(&'a [Known]);

impl KnownStacks<'_> {
    /// Returns the stack with this index if it is cached, has frames and is not too deep.
    #[inline]
    pub(super) fn get(self, number: u32) -> Option<StackId> {
        self.0.get(number as usize)?.get()?.ok()
    }
}

/// A cached root piece; `frames` is 0 if the slot is empty.
#[derive(Clone, Copy, Debug, Default)]
struct RootPiece {
    process: u32,
    frames: u32,
    stack: Option<StackId>,
}

/// The number of threads whose last stack is cached.
const THREADS: usize = 64;

/// The root piece of a thread's last stack. The thread's next stack shares most of its outer addresses.
#[derive(Clone, Debug, Default)]
struct LastRoot {
    process: u32,
    array: u32,
    /// The stack that ends in each of its frames, leaf first; empty until the first stack.
    path: Vec<Option<StackId>>,
}

/// A row's reference to a stack: the array index, how its column stores stacks, and an arbitrary number that identifies the thread, since stacks
/// of one thread are similar.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackCell {
    pub(super) number: u32,
    pub(super) kind: StackKind,
    pub(super) thread: u64,
}

/// Converts and caches the stacks of a run.
pub(super) struct Stacks<'a, 't> {
    arrays: &'a Arrays,
    strings: &'a Strings<'a>,
    frames: Frames<'t>,
    /// By kind and array index; empty for kinds that no table uses.
    read: [Vec<Known>; 3],
    /// By array index: the array's stack as a root piece, which many stacks share.
    roots: Vec<RootPiece>,
    /// By thread.
    last: Vec<LastRoot>,
    pids: HashMap<u32, u64>,
    /// A buffer for the frames of a piece.
    frames_of_piece: Vec<FrameId>,
    /// The maximum number of stacks; no real recording comes near it.
    most: usize,
    /// The number of root pieces that end with the address 0.
    final_zeros: u64,
}

impl<'a, 't> Stacks<'a, 't> {
    pub(super) fn new(
        arrays: &'a Arrays,
        strings: &'a Strings<'a>,
        binaries: Binaries<'t>,
        input: &InputBuilder<'_>,
    ) -> Self {
        let more = input.limits().free_stacks + arrays.bytes();
        let most = input.recording.profile.stack_count().saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
        Self {
            arrays,
            strings,
            frames: Frames::new(binaries),
            read: Default::default(),
            roots: Vec::new(),
            last: vec![LastRoot::default(); THREADS],
            pids: HashMap::default(),
            frames_of_piece: Vec::new(),
            most,
            final_zeros: 0,
        }
    }

    /// Returns the diagnostic about stacks that end with the address 0, if any. Complete only after the last stack.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        let message = "a stack ends with the address 0, which becomes a frame without a binary. If Instruments 12 or older wrote the \
                       stack, its addresses are not return addresses, so a name may belong to the preceding function";
        (self.final_zeros > 0).then(|| Diagnostic { at: None, message: message.to_owned(), count: self.final_zeros })
    }

    /// Releases the binaries. Call it after the last stack.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.frames.into_binaries()
    }

    /// Returns a stack if it is cached.
    #[inline]
    pub(super) fn known(&self, number: u32, kind: StackKind) -> Option<ReadStack> {
        self.read[kind as usize].get(number as usize)?.get()
    }

    /// Returns all cached stacks of a kind.
    pub(super) fn all_known(&self, kind: StackKind) -> KnownStacks<'_> {
        KnownStacks(&self.read[kind as usize])
    }

    /// Prefetches the arrays of these stacks. They are scattered over memory, and waiting for many takes little longer than waiting for one.
    pub(super) fn fetch(&self, numbers: impl Iterator<Item = u32> + Clone, kind: StackKind) {
        let ends = |number: u32| {
            self.arrays.find(number).map(|array| (array.get(0), array.get(array.len().wrapping_sub(1)))).ok()
        };
        for number in numbers.clone() {
            black_box(ends(number));
        }
        let pieces = |number| match kind {
            StackKind::Pieces => self.arrays.find(number).ok(),
            StackKind::Tagged => self.arrays.find(ends(number)?.0.and_then(reference)?).ok(),
            StackKind::Raw => None,
        };
        for number in numbers {
            // Either of the last two pieces may be the root.
            for piece in pieces(number).into_iter().flat_map(|pieces| pieces.iter().rev().take(2)) {
                black_box(ends(piece as u32));
            }
        }
    }

    /// Returns the stack of a row.
    #[inline]
    pub(super) fn get(&mut self, cell: StackCell, input: &mut InputBuilder<'_>) -> Result<ReadStack, Unreadable> {
        match self.known(cell.number, cell.kind) {
            Some(stack) => Ok(stack),
            None => self.get_new(cell, input),
        }
    }

    fn get_new(&mut self, cell: StackCell, input: &mut InputBuilder<'_>) -> Result<ReadStack, Unreadable> {
        let stack = self.make(cell, input)?;
        if input.recording.profile.stack_count() > self.most {
            return Err(Unreadable::Limit("stacks expand to more frames than the arrays have bytes".to_owned()));
        }
        let read = &mut self.read[cell.kind as usize];
        if read.is_empty() {
            read.resize(self.arrays.len(), Known::default());
        }
        read[cell.number as usize] = Known::of(stack);
        Ok(stack)
    }

    fn make(&mut self, cell: StackCell, input: &mut InputBuilder<'_>) -> Result<ReadStack, Unreadable> {
        let StackCell { number, kind, thread } = cell;
        let array = self.arrays.get(number)?;
        let no_stack = |kind| format!("array {number} of {} numbers is not a {kind}", array.len());
        match kind {
            StackKind::Pieces => self.join(array, thread, input),
            StackKind::Tagged => {
                let pieces = array.get(0).and_then(reference).filter(|_| array.len() == 2);
                let pieces = pieces.ok_or_else(|| no_stack("tagged backtrace"))?;
                self.join(self.arrays.get(pieces)?, thread, input)
            }
            StackKind::Raw => {
                // All bits set, in 32 or 64 bits, means no value.
                let number = |index| {
                    array.get(index).and_then(|word| if word == u64::MAX { Some(NONE) } else { reference(word) })
                };
                // The link register may follow. It is not needed.
                let (Some(callers), Some(pc), Some(process)) = (number(0), array.get(1), number(2)) else {
                    return Err(no_stack("callstack").into());
                };
                self.raw(callers, pc, process, input)
            }
        }
    }

    /// Joins the pieces of a stack, starting at the root.
    fn join(
        &mut self,
        pieces: Numbers<'_>,
        thread: u64,
        input: &mut InputBuilder<'_>,
    ) -> Result<ReadStack, Unreadable> {
        let count = match pieces.iter().next_back() {
            Some(last) if last as u32 == NONE => pieces.len() - 1,
            _ => pieces.len(),
        };
        let (mut stack, mut depth) = (None, 0);
        for index in (0..count).rev() {
            let Some(piece) = pieces.get(index) else { break };
            let (process, array) = ((piece >> 32) as u32, piece as u32);
            let known = self.roots.get(array as usize).filter(|known| stack.is_none() && known.process == process);
            if let Some(known) = known.filter(|known| known.frames > 0) {
                (stack, depth) = (known.stack, depth + known.frames as usize);
                continue;
            }
            let addresses = self.arrays.get(array)?;
            depth += addresses.len();
            if depth > input.limits().stack_depth {
                return Ok(Err(RejectReason::StackTooDeep));
            }
            let leaf = if index == 0 { FrameKind::Leaf } else { FrameKind::Caller };
            if stack.is_some() {
                self.find_frames(process, addresses.iter(), leaf, input)?;
                stack = input.stack(stack, &self.frames_of_piece)?;
                continue;
            }
            self.final_zeros += u64::from(addresses.iter().next_back() == Some(0));
            stack = self.add_root(process, array, leaf, thread, input)?;
            self.roots.resize(self.arrays.len(), RootPiece::default());
            self.roots[array as usize] = RootPiece { process, frames: addresses.len() as u32, stack };
        }
        Ok(stack.ok_or(RejectReason::UnknownStack))
    }

    /// Creates the stack of a root piece, reusing the frames that it shares with the thread's last stack.
    fn add_root(
        &mut self,
        process: u32,
        array: u32,
        leaf: FrameKind,
        thread: u64,
        input: &mut InputBuilder<'_>,
    ) -> Result<Option<StackId>, Unreadable> {
        let addresses = self.arrays.get(array)?;
        let slot = thread as usize % THREADS;
        let last = &self.last[slot];
        let common = if last.process == process && !last.path.is_empty() {
            let pairs = addresses.iter().rev().zip(self.arrays.get(last.array)?.iter().rev());
            pairs.take_while(|(own, other)| own == other).count()
        } else {
            0
        };
        let own = addresses.len() - common;
        self.find_frames(process, addresses.iter().take(own), leaf, input)?;
        let last = &mut self.last[slot];
        (last.process, last.array) = (process, array);
        last.path.splice(..last.path.len() - common, std::iter::repeat_n(None, own));
        let parent = last.path.get(own).copied().flatten();
        let stack = input.recording.profile.stack_path_leaf_first(parent, &self.frames_of_piece, &mut last.path[..own]);
        if stack.is_err() {
            // A later stack must not start from an incomplete path.
            last.path.clear();
        }
        Ok(stack?)
    }

    fn find_frames(
        &mut self,
        process: u32,
        addresses: impl Iterator<Item = u64>,
        first: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<(), Unreadable> {
        let pid = self.pid(process)?;
        let space = self.frames.space(pid, FrameKind::Caller);
        self.frames_of_piece.clear();
        let mut kind = first;
        for address in addresses {
            let frame = self.frames.get(space, address, kind, input)?;
            self.frames_of_piece.push(frame);
            kind = FrameKind::Caller;
        }
        Ok(())
    }

    fn raw(
        &mut self,
        callers: u32,
        pc: u64,
        process: u32,
        input: &mut InputBuilder<'_>,
    ) -> Result<ReadStack, Unreadable> {
        let pid = self.pid(process)?;
        let addresses: Vec<u64> = match callers {
            NONE => Vec::new(),
            callers => self.arrays.get(callers)?.iter().collect(),
        };
        if addresses.len() >= input.limits().stack_depth {
            return Ok(Err(RejectReason::StackTooDeep));
        }
        let (leaf, caller) = (FrameKind::RawLeaf, FrameKind::RawCaller);
        let (leaves, callers) = (self.frames.space(pid, leaf), self.frames.space(pid, caller));
        let mut frames = vec![self.frames.get(leaves, pc, leaf, input)?];
        for &address in &addresses[kperf_callers(Some(pc), &addresses)] {
            frames.push(self.frames.get(callers, address, caller, input)?);
        }
        Ok(input.stack(None, &frames)?.ok_or(RejectReason::UnknownStack))
    }

    /// Returns the pid of a process reference; `None` if a stack has no process.
    fn pid(&mut self, process: u32) -> Result<Option<u64>, Unreadable> {
        if process == NONE {
            return Ok(None);
        }
        if let Some(&pid) = self.pids.get(&process) {
            return Ok(Some(pid));
        }
        let pid = super::threads::pid(self.arrays, self.strings, process)?;
        self.pids.insert(process, pid);
        Ok(Some(pid))
    }
}
