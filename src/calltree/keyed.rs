//! Sums stacks by a key of their frames, such as the function, binary or source line.

use std::convert::Infallible;

use super::weights::StackWeight;
use crate::ordered_pool;
use crate::profile::{Profile, StackId};

/// The weights of a key, over all stacks with a frame that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySums {
    /// The weight of samples whose leaf has the key.
    pub self_weight: u64,
    /// The weight of samples with the key anywhere in their stack. Each is counted once, even if the key recurs.
    pub all_weight: u64,
    /// The number of samples whose leaf has the key.
    pub self_samples: u64,
    /// The number of samples with the key anywhere in their stack; 0 if no stack has the key.
    pub all_samples: u64,
}

/// Sums stacks by a key of their frames. `key_of_frame` contains a key below `key_count` for each frame of the profile.
///
/// Returns the sums by key, and the sums of samples without a stack. This makes no tree: memory grows with the keys, and time with the
/// distinct stacks. Very many stacks are divided among `jobs` threads; the result is the same.
///
/// # Panics
/// If `key_of_frame` is shorter than the table of frames, or a key is not below `key_count`.
pub(crate) fn sum_stacks_by_key(
    profile: &Profile,
    weights: &[StackWeight],
    key_of_frame: &[usize],
    key_count: usize,
    jobs: usize,
) -> (Vec<KeySums>, KeySums) {
    let mut order: Vec<&StackWeight> = weights.iter().collect();
    // In order of their first appearance, successive stacks of one thread share much of their path. If several threads have the same
    // stacks, it is cheaper to visit equal stacks together.
    let mut is_seen = vec![false; profile.stack_ids().len()];
    let mut is_new = |row: &&StackWeight| row.stack.is_none_or(|id| !std::mem::replace(&mut is_seen[id.index()], true));
    if 2 * weights.iter().filter(|row| is_new(row)).count() < weights.len() {
        order.sort_by_key(|row| row.stack);
    }
    let parts = jobs.clamp(1, 1 + order.len() / STACKS_FOR_A_THREAD);
    sum_in_parts(&order, parts, |part| sum_part(profile, part, key_of_frame, key_count))
}

/// With fewer stacks, the work takes less time than starting a thread.
const STACKS_FOR_A_THREAD: usize = 50_000;

/// Sums parts of the stacks in parallel, and adds the results. Stacks are independent, so the sums are the same.
fn sum_in_parts(
    order: &[&StackWeight],
    parts: usize,
    sum: impl Fn(&[&StackWeight]) -> (Vec<KeySums>, KeySums) + Sync,
) -> (Vec<KeySums>, KeySums) {
    let parts: Vec<&[&StackWeight]> = order.chunks(order.len().div_ceil(parts).max(1)).collect();
    let (mut keys, mut no_stack) = sum(&[]);
    let add = |_: &_, (more, more_without): &(Vec<KeySums>, KeySums)| {
        keys.iter_mut().zip(more).for_each(|(key, more)| key.add(more));
        no_stack.add(more_without);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = ordered_pool::visit(&parts, parts.len(), || (), |part, (), _| sum(part), add);
    (keys, no_stack)
}

/// Sums these stacks.
fn sum_part(
    profile: &Profile,
    part: &[&StackWeight],
    key_of_frame: &[usize],
    key_count: usize,
) -> (Vec<KeySums>, KeySums) {
    let keys = vec![Open::default(); key_count];
    let mut sums = Sums { profile, key_of_frame, keys, path: Vec::new(), below: Vec::new() };
    let mut no_stack = KeySums::default();
    for row in part {
        match row.stack {
            Some(stack) => sums.add(stack, row.weight, row.samples),
            None => {
                no_stack.add_self(row.weight, row.samples);
                no_stack.add_all(row.weight, row.samples);
            }
        }
    }
    sums.leave(0);
    (sums.keys.into_iter().map(|key| key.sums).collect(), no_stack)
}

impl KeySums {
    /// Adds samples whose leaf has the key. The weights of one series never overflow. The weights of several should not be added, but must
    /// not wrap either.
    pub(super) fn add_self(&mut self, weight: u64, samples: u64) {
        self.self_weight = self.self_weight.saturating_add(weight);
        self.self_samples += samples;
    }

    /// Adds samples with the key in their stack.
    pub(super) fn add_all(&mut self, weight: u64, samples: u64) {
        self.all_weight = self.all_weight.saturating_add(weight);
        self.all_samples += samples;
    }

    /// Adds other sums.
    fn add(&mut self, other: &Self) {
        self.add_self(other.self_weight, other.self_samples);
        self.add_all(other.all_weight, other.all_samples);
    }
}

/// Sums stacks, one after the other.
struct Sums<'p> {
    profile: &'p Profile,
    key_of_frame: &'p [usize],
    keys: Vec<Open>,
    /// The path from the root to the current stack, with weights that are not yet added to the keys.
    path: Vec<Level>,
    /// Stacks to enter next.
    below: Vec<StackId>,
}

/// The sums of a key so far, and the number of frames on the path that have it.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    on_path: u32,
    sums: KeySums,
}

/// A stack on the path.
struct Level {
    stack: StackId,
    key: usize,
    weight: u64,
    samples: u64,
}

impl Level {
    fn add(&mut self, weight: u64, samples: u64) {
        self.weight = self.weight.saturating_add(weight);
        self.samples += samples;
    }
}

impl Sums<'_> {
    fn add(&mut self, stack: StackId, weight: u64, samples: u64) {
        // Ids increase from the root to the leaf, so comparing ids finds the part of the path that is not above the stack.
        let mut next = Some(stack);
        let mut shared = self.path.len();
        while let Some(stack) = next {
            while shared > 0 && self.path[shared - 1].stack > stack {
                shared -= 1;
            }
            if shared > 0 && self.path[shared - 1].stack == stack {
                break;
            }
            self.below.push(stack);
            next = self.profile.stack(stack).parent;
        }
        self.leave(if next.is_some() { shared } else { 0 });
        while let Some(stack) = self.below.pop() {
            let key = self.key_of_frame[self.profile.stack(stack).frame.index()];
            self.keys[key].on_path += 1;
            self.path.push(Level { stack, key, weight: 0, samples: 0 });
        }
        if let Some(leaf) = self.path.last_mut() {
            leaf.add(weight, samples);
            self.keys[leaf.key].sums.add_self(weight, samples);
        }
    }

    /// Shortens the path. The removed weights are added to their keys, and to the remaining path.
    fn leave(&mut self, length: usize) {
        while self.path.len() > length {
            let Some(level) = self.path.pop() else { return };
            let key = &mut self.keys[level.key];
            key.on_path -= 1;
            // If the key is on the path again, its outermost frame adds the weight.
            if key.on_path == 0 {
                key.sums.add_all(level.weight, level.samples);
            }
            if let Some(above) = self.path.last_mut() {
                above.add(level.weight, level.samples);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameKey, ProfileBuilder, Run, Series};
    use crate::units::{Address, Unit};

    /// Stacks that share their outer frames, with recurring frames, and some rows without a stack.
    fn stacks(count: u64) -> (Profile, Vec<StackWeight>) {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("name").unwrap();
        let run = builder.run(Run { input: name, document: 0, number: 1 }).unwrap();
        let series = builder.series(Series::new(run, name, 0, Unit::Cycles)).unwrap();
        let process = builder.process(run, None, name).unwrap();
        let thread = builder.thread(process, None, name).unwrap();
        let mut frames = Vec::new();
        for number in 0..20 {
            let name = builder.string(&number.to_string()).unwrap();
            let function = builder.function(name, None, true).unwrap();
            let address = Address::new(number);
            let key = FrameKey { function, binary: None, address, source: None, is_inlined: false, group: 0 };
            frames.push(builder.frame(key).unwrap());
        }
        let mut rows = Vec::new();
        for number in 0..count {
            let path = [number / 50 % 3, 3 + number / 10 % 5, number % 4, 8 + number % 11];
            let path = path.map(|frame| frames[frame as usize]);
            let stack = if number % 17 == 0 { None } else { builder.stack_path(None, path).unwrap() };
            rows.push(StackWeight { series, thread, stack, weight: 1 + number * 31 % 97, samples: 1 + number % 4 });
        }
        (builder.finish(), rows)
    }

    #[test]
    fn parts_add_up_to_all() {
        let (profile, rows) = stacks(500);
        let key_of_frame: Vec<usize> = (0..20).map(|frame| frame % 13).collect();
        let order: Vec<&StackWeight> = rows.iter().collect();
        let expected = sum_part(&profile, &order, &key_of_frame, 13);
        assert!(expected.0.iter().all(|sums| sums.all_samples > 0) && expected.1.all_samples > 0);
        for parts in [1, 2, 3, 7, 499, 500, 1_000] {
            let found = sum_in_parts(&order, parts, |part| sum_part(&profile, part, &key_of_frame, 13));
            assert_eq!(found, expected, "{parts} parts");
        }
        let nothing = sum_in_parts(&[], 3, |part| sum_part(&profile, part, &key_of_frame, 13));
        assert_eq!(nothing, (vec![KeySums::default(); 13], KeySums::default()));
        let weight: u64 = expected.0.iter().map(|sums| sums.self_weight).sum();
        assert_eq!(weight + expected.1.self_weight, rows.iter().map(|row| row.weight).sum::<u64>());
    }
}
