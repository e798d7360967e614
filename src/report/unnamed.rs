//! Frames without a name, and the binaries whose symbols would name them.

use crate::calltree::StackWeights;
use crate::hash::HashMap;
use crate::profile::{BinaryId, Profile, StackId};
use crate::units::Uuid;

/// Frames without a name among the samples that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnnamedFrames {
    /// Distinct frames that the counted stacks have.
    pub frames: u64,
    /// How many of them have no name.
    pub unnamed: u64,
    /// The binaries they are in, most frames first.
    pub binaries: Vec<UnnamedBinary>,
    /// How many of them are in no known binary (JIT code, or a document that lists no binaries).
    pub without_binary: u64,
}

/// A binary with frames that have no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnamedBinary {
    /// The binary.
    pub binary: BinaryId,
    /// Distinct frames in it without a name.
    pub frames: u64,
}

/// Looks at every frame of the counted stacks once.
pub(super) fn unnamed_frames(profile: &Profile, weights: &StackWeights) -> UnnamedFrames {
    let is_used = used_frames(profile, weights);
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
            // One line for each UUID, wherever it was loaded.
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
    result
}

/// By frame: whether a counted stack has it.
fn used_frames(profile: &Profile, weights: &StackWeights) -> Vec<bool> {
    let mut is_seen = vec![false; profile.stack_ids().len()];
    for stack in weights.rows().iter().filter_map(|row| row.stack) {
        is_seen[stack.index()] = true;
    }
    let mut is_used = vec![false; profile.frame_ids().len()];
    // Callers stand before their callees, and mostly right before: from the last stack to the first, memory is read in order.
    for id in (0..is_seen.len()).rev().filter_map(StackId::from_index) {
        if is_seen[id.index()] {
            let stack = profile.stack(id);
            is_used[stack.frame.index()] = true;
            if let Some(caller) = stack.parent {
                is_seen[caller.index()] = true;
            }
        }
    }
    is_used
}
