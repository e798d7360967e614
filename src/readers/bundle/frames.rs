//! Frames of a run by address, each made once.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::binaries::Binaries;
use super::row_faults::Unreadable;
use crate::hash::{BuildHasher, HashMap};
use crate::profile::FrameId;
use crate::recording::{FrameKind, InputBuilder};

/// Makes frames from addresses.
pub(super) struct Frames<'t> {
    binaries: Binaries<'t>,
    /// Addresses mean something else in each process, and as raw addresses. Each such space has a number.
    spaces: HashMap<(Option<u64>, FrameKind), u32>,
    /// Some thousands make most stacks, and stay in a cache of the processor: 16 bytes and a byte of the table for each.
    known: HashTable<KnownFrame>,
    hasher: BuildHasher,
}

/// An address space and how its addresses were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pid: Option<u64>,
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct KnownFrame {
    address: u64,
    space: u32,
    frame: FrameId,
}

impl<'t> Frames<'t> {
    pub(super) fn new(binaries: Binaries<'t>) -> Self {
        let (spaces, known, hasher) = (HashMap::default(), HashTable::new(), BuildHasher::default());
        Self { binaries, spaces, known, hasher }
    }

    /// The search for binaries, once all frames were made.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.binaries
    }

    /// The space of a process for frames of this kind. Leaves and callers of a profile share one.
    pub(super) fn space(&mut self, pid: Option<u64>, kind: FrameKind) -> Space {
        let kind = if kind == FrameKind::Leaf { FrameKind::Caller } else { kind };
        let next = self.spaces.len() as u32;
        Space { pid, number: *self.spaces.entry((pid, kind)).or_insert(next) }
    }

    /// The frame at an address.
    #[inline]
    pub(super) fn get(
        &mut self,
        space: Space,
        address: u64,
        kind: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<FrameId, Unreadable> {
        let hash = hash_of(&self.hasher, space.number, address);
        let is_it = |known: &KnownFrame| known.address == address && known.space == space.number;
        match self.known.find(hash, is_it) {
            Some(known) => Ok(known.frame),
            None => self.add(space, address, kind, input),
        }
    }

    #[cold]
    fn add(
        &mut self,
        space: Space,
        address: u64,
        kind: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<FrameId, Unreadable> {
        let binary = self.binaries.find(space.pid, address, kind, input)?;
        let frame = input.frame(kind, address, binary)?;
        let Self { known, hasher, .. } = self;
        let hash = |known: &KnownFrame| hash_of(hasher, known.space, known.address);
        let new = KnownFrame { address, space: space.number, frame };
        known.insert_unique(hash(&new), new, hash);
        Ok(frame)
    }
}

#[inline]
fn hash_of(hasher: &BuildHasher, space: u32, address: u64) -> u64 {
    // Both are hashed separately: if they were mixed into one number, pairs with the same hash could be constructed.
    hasher.hash_one((space, address))
}
