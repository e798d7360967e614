//! Frames of a run by address, each made once.

use super::binaries::Binaries;
use super::row_error::Unreadable;
use crate::export::{FrameKind, Intake};
use crate::hash::HashMap;
use crate::profile::FrameId;

/// Makes frames of addresses.
pub(super) struct Frames<'t> {
    binaries: Binaries<'t>,
    /// Addresses mean something else in each process, and as raw addresses. Each such space has a number.
    spaces: HashMap<(Option<u64>, SpaceKind), u32>,
    all: HashMap<(u32, u64), FrameId>,
    /// The frames that were asked for last, found without hashing: some thousands make most stacks.
    recent: Vec<Recent>,
}

/// An address space and how its addresses were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pid: Option<u64>,
    number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SpaceKind {
    Profile,
    RawLeaf,
    RawCaller,
}

#[derive(Clone, Copy, Debug)]
struct Recent {
    address: u64,
    space: u32,
    frame: FrameId,
}

/// How many there are at first and at most: as many as a program's busy code has. A megabyte stays in a cache of the processor.
const RECENT: (usize, usize) = (1 << 10, 1 << 16);

impl<'t> Frames<'t> {
    pub(super) fn new(binaries: Binaries<'t>) -> Self {
        Self { binaries, spaces: HashMap::default(), all: HashMap::default(), recent: Vec::new() }
    }

    /// What looks for binaries, once all frames were made.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.binaries
    }

    /// The space of a process in which frames of this kind lie.
    pub(super) fn space(&mut self, pid: Option<u64>, kind: FrameKind) -> Space {
        let kind = match kind {
            FrameKind::Leaf | FrameKind::Caller => SpaceKind::Profile,
            FrameKind::RawLeaf => SpaceKind::RawLeaf,
            FrameKind::RawCaller => SpaceKind::RawCaller,
        };
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
        intake: &mut Intake<'_>,
    ) -> Result<FrameId, Unreadable> {
        match self.recent.get(place(space.number, address, self.recent.len())) {
            Some(recent) if recent.address == address && recent.space == space.number => Ok(recent.frame),
            _ => self.get_older(space, address, kind, intake),
        }
    }

    fn get_older(
        &mut self,
        space: Space,
        address: u64,
        kind: FrameKind,
        intake: &mut Intake<'_>,
    ) -> Result<FrameId, Unreadable> {
        let key = (space.number, address);
        let frame = match self.all.get(&key) {
            Some(&frame) => frame,
            None => {
                let binary = self.binaries.find(space.pid, address, kind, intake)?;
                let frame = intake.frame(kind, address, binary)?;
                self.all.insert(key, frame);
                frame
            }
        };
        self.remember(Recent { address, space: space.number, frame });
        Ok(frame)
    }

    /// Takes a frame for one of the recent ones, of which there are more the more frames there are.
    fn remember(&mut self, recent: Recent) {
        if self.recent.len() < RECENT.1 && self.recent.len() < 2 * self.all.len() {
            let count = (4 * self.all.len()).next_power_of_two().clamp(RECENT.0, RECENT.1);
            // Every place holds something, this frame for now, so that none of them has to be asked whether it does.
            for older in std::mem::replace(&mut self.recent, vec![recent; count]) {
                self.recent[place(older.space, older.address, count)] = older;
            }
        }
        let count = self.recent.len();
        self.recent[place(recent.space, recent.address, count)] = recent;
    }
}

/// Where a frame is among so many recent ones, a power of two.
#[inline]
fn place(space: u32, address: u64, count: usize) -> usize {
    // The upper bits of a product depend on all bits of the address (Knuth, The Art of Computer Programming, 6.4).
    let mixed = (address ^ u64::from(space) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize & count.wrapping_sub(1)
}
