//! Unnamed frames, and the binaries whose symbols could name them.

use crate::hash::HashMap;
use crate::profile::{BinaryId, Profile, StackId};
use crate::units::{Address, Uuid};

/// The unnamed frames of selected samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedFrames {
    /// The number of distinct frames in the selected stacks. This and the next number are 0 if frames have no addresses, as in sums of runs.
    pub frames: u64,
    /// The number of these frames that have no name.
    pub unnamed: u64,
    /// The binaries with unnamed frames, most frames first.
    pub binaries: Vec<UnnamedBinary>,
    /// The number of unnamed frames in no known binary: JIT code, or a document without binaries.
    pub without_binary: u64,
}

/// A binary with unnamed frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedBinary {
    /// The binary.
    pub binary: BinaryId,
    /// The number of its distinct unnamed frames.
    pub frames: u64,
}

/// Counts the unnamed frames in these stacks, visiting each frame once.
pub(super) fn unnamed_frames(profile: &Profile, counted: impl Iterator<Item = StackId>) -> UnnamedFrames {
    let is_used = used_frames(profile, counted);
    let mut result = UnnamedFrames::default();
    let mut by_binary: HashMap<BinaryId, u64> = HashMap::default();
    let mut first_of_uuid: HashMap<Uuid, BinaryId> = HashMap::default();
    for id in profile.frame_ids().filter(|id| is_used[id.index()]) {
        let frame = profile.frame(id);
        result.frames += 1;
        if profile.function(frame.function).is_named {
            continue;
        }
        result.unnamed += 1;
        match frame.binary {
            // One row per UUID, for all its load addresses.
            Some(binary) => {
                let uuid = profile.binary(binary).uuid;
                let first = uuid.map_or(binary, |uuid| *first_of_uuid.entry(uuid).or_insert(binary));
                *by_binary.entry(first).or_default() += 1;
            }
            None => result.without_binary += 1,
        }
    }
    result.binaries = by_binary.into_iter().map(|(binary, frames)| UnnamedBinary { binary, frames }).collect();
    result.binaries.sort_unstable_by_key(|row| (std::cmp::Reverse(row.frames), row.binary));
    // One frame of a sum of runs stands for any number of addresses.
    if profile.frame_ids().all(|id| profile.frame(id).address == Address::default()) {
        (result.frames, result.unnamed, result.without_binary) = (0, 0, 0);
    }
    result
}

/// By frame: true if any of these stacks contains it.
fn used_frames(profile: &Profile, counted: impl Iterator<Item = StackId>) -> Vec<bool> {
    let stacks = profile.stack_rows();
    let parents = stacks.turn_parents();
    // For rows that directly follow their parents, except the first: the index after the last selected row.
    let mut ends = vec![0; parents.len()];
    let note = |ends: &mut Vec<usize>, stack: StackId| {
        let end = &mut ends[stacks.turns_up_to(stack) - 1];
        *end = (*end).max(stack.index() + 1);
    };
    counted.for_each(|stack| note(&mut ends, stack));
    let mut is_used = vec![false; profile.frame_ids().len()];
    let mut turn = parents.len();
    // Backwards, since callers precede their callees.
    for (group, mut bits) in stacks.turn_bits().enumerate().rev() {
        while bits > 0 {
            let bit = 63 - bits.leading_zeros() as usize;
            bits ^= 1 << bit;
            turn -= 1;
            let rows = group * 64 + bit..ends[turn];
            let caller = parents[turn].filter(|_| !rows.is_empty());
            for frames in stacks.frames_of(rows) {
                frames.iter().for_each(|frame| is_used[frame.index()] = true);
            }
            if let Some(caller) = caller {
                note(&mut ends, caller);
            }
        }
    }
    is_used
}
