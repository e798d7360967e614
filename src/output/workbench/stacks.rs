//! Encodes stacks and the stacks of samples as numbers, which are small because code repeats itself.
//!
//! A frame mostly calls one of few others, so a stack is its parent and a position among the callees of the parent's frame. Samples mostly
//! have a stack that is new or was used recently.

use crate::hash::HashMap;
use crate::profile::{FrameId, Profile, StackId};

/// The frames of stacks, by what calls them.
#[derive(Default)]
pub(super) struct Callees {
    /// By stack: its position, from 1, among the frames that the parent's frame (or a thread, for stacks without parent) has called so far;
    /// 0 for a first call.
    pub(super) places: Vec<u32>,
    /// The frames of stacks whose place is 0.
    pub(super) frames: Vec<u32>,
}

impl Callees {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut callees = Self::default();
        let mut place_of: HashMap<(Option<FrameId>, FrameId), u32> = HashMap::default();
        let mut counts: HashMap<Option<FrameId>, u32> = HashMap::default();
        for id in profile.stack_ids() {
            let stack = profile.stack(id);
            let caller = stack.parent.map(|parent| profile.stack(parent).frame);
            let place = place_of.get(&(caller, stack.frame)).copied().unwrap_or_default();
            if place == 0 {
                let count = counts.entry(caller).or_default();
                *count += 1;
                place_of.insert((caller, stack.frame), *count);
                callees.frames.push(stack.frame.index() as u32);
            }
            callees.places.push(place);
        }
        callees
    }
}

/// The stacks of samples.
#[derive(Default)]
pub(super) struct SampledStacks {
    /// By row: 0 without stack, 1 for a stack that no row before has, else 2 more than the number of stacks that were new after it.
    pub(super) places: Vec<u32>,
    /// The stacks of rows that have a new one.
    pub(super) stacks: Vec<u32>,
}

impl SampledStacks {
    pub(super) fn new(profile: &Profile, rows: impl Iterator<Item = Option<StackId>>) -> Self {
        let mut sampled = Self::default();
        // By stack: its number among the stacks of samples, from 1; 0 before its first sample.
        let mut number_of = vec![0_u32; profile.stack_ids().len()];
        for stack in rows {
            let Some(stack) = stack else {
                sampled.places.push(0);
                continue;
            };
            let count = sampled.stacks.len() as u32;
            let number = &mut number_of[stack.index()];
            if *number == 0 {
                *number = count + 1;
                sampled.stacks.push(stack.index() as u32);
                sampled.places.push(1);
            } else {
                sampled.places.push(count - *number + 2);
            }
        }
        sampled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameKey, ProfileBuilder};
    use crate::units::Address;

    /// A profile of stacks with these parents and frames.
    fn profile(rows: &[(Option<usize>, u64)]) -> Profile {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("name").unwrap();
        let function = builder.function(name, None, true).unwrap();
        let mut stacks: Vec<StackId> = Vec::new();
        for &(parent, address) in rows {
            let address = Address::new(address);
            let key = FrameKey { function, binary: None, address, source: None, is_inlined: false, group: 0 };
            let frame = builder.frame(key).unwrap();
            stacks.push(builder.stack(parent.map(|parent| stacks[parent]), frame).unwrap());
        }
        builder.finish()
    }

    #[test]
    fn a_frame_is_named_once_by_each_caller() {
        // main, main › run, main › run › main, main › run › main › run, main › run › run, run
        let profile = profile(&[(None, 1), (Some(0), 2), (Some(1), 1), (Some(2), 2), (Some(1), 2), (None, 2)]);
        let callees = Callees::new(&profile);
        assert_eq!(callees.places, [0, 0, 0, 1, 0, 0]);
        assert_eq!(callees.frames, [0, 1, 0, 1, 1]);
    }

    #[test]
    fn identifies_a_stack_by_its_recency() {
        let profile = profile(&[(None, 1), (None, 2), (None, 3)]);
        let ids: Vec<StackId> = profile.stack_ids().collect();
        let rows = [Some(ids[2]), None, Some(ids[2]), Some(ids[0]), Some(ids[2]), Some(ids[0])];
        let sampled = SampledStacks::new(&profile, rows.into_iter());
        assert_eq!(sampled.places, [1, 0, 2, 1, 3, 2]);
        assert_eq!(sampled.stacks, [2, 0]);
    }
}
