//! Stacks summed by a key of their frames: a function, a binary, a source line.

use std::convert::Infallible;

use super::weights::StackWeight;
use crate::ordered_pool;
use crate::profile::{Profile, StackId};

/// The weights of a key over all stacks that have a frame of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySums {
    /// Weight of samples whose leaf has the key.
    pub self_weight: u64,
    /// Weight of samples that have the key anywhere in their stack; once each, however often it recurs.
    pub all_weight: u64,
    /// Samples whose leaf has the key.
    pub self_samples: u64,
    /// Samples that have the key anywhere in their stack; 0 for a key that no stack has.
    pub all_samples: u64,
}

/// Sums stacks by a key of their frames: `key_of_frame` has one for each frame of the profile, below `key_count`.
///
/// Returns the sums by key, and those of samples without stack. No tree is made: memory grows with the keys, and time with the distinct
/// stacks. Very many stacks are divided among `jobs` threads; the result is the same.
///
/// # Panics
/// When `key_of_frame` is shorter than the table of frames, or a key is not below `key_count`.
pub(crate) fn sum_stacks_by_key(
    profile: &Profile,
    weights: &[StackWeight],
    key_of_frame: &[usize],
    key_count: usize,
    jobs: usize,
) -> (Vec<KeySums>, KeySums) {
    let mut order: Vec<&StackWeight> = weights.iter().collect();
    // The stacks of one thread, in the order of their first sight, share much of their path with the one before. Where
    // threads share their stacks, it is cheaper to have equal ones together.
    let mut is_seen = vec![false; profile.stack_ids().len()];
    let mut is_new = |row: &&StackWeight| row.stack.is_none_or(|id| !std::mem::replace(&mut is_seen[id.index()], true));
    if 2 * weights.iter().filter(|row| is_new(row)).count() < weights.len() {
        order.sort_by_key(|row| row.stack);
    }
    let parts = jobs.clamp(1, 1 + order.len() / STACKS_FOR_A_THREAD);
    sum_in_parts(&order, parts, |part| sum_part(profile, part, key_of_frame, key_count))
}

/// With fewer stacks all is done before a thread has started.
const STACKS_FOR_A_THREAD: usize = 50_000;

/// Sums so many parts of the stacks at the same time. Each stack counts by itself, so sums of parts add up to those of all.
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
    let mut no_stack = Open::default();
    for row in part {
        let sum = Sum { weight: row.weight, samples: row.samples };
        match row.stack {
            Some(stack) => sums.add(stack, sum),
            None => {
                no_stack.own.add(sum);
                no_stack.all.add(sum);
            }
        }
    }
    sums.leave(0);
    (sums.keys.into_iter().map(KeySums::from).collect(), no_stack.into())
}

impl KeySums {
    /// Adds what other stacks weigh.
    fn add(&mut self, other: &Self) {
        // As sums of samples do.
        self.self_weight = self.self_weight.saturating_add(other.self_weight);
        self.all_weight = self.all_weight.saturating_add(other.all_weight);
        self.self_samples += other.self_samples;
        self.all_samples += other.all_samples;
    }
}

/// Sums over stacks that are visited one after the other.
struct Sums<'p> {
    profile: &'p Profile,
    key_of_frame: &'p [usize],
    keys: Vec<Open>,
    /// From the root to the current stack: the sums below each that were not added to its key yet.
    path: Vec<Level>,
    /// Stacks that are about to be entered.
    below: Vec<StackId>,
}

/// The sums of a key so far, and the number of its frames on the path.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    on_path: u32,
    own: Sum,
    all: Sum,
}

impl From<Open> for KeySums {
    fn from(Open { own, all, .. }: Open) -> Self {
        Self { self_weight: own.weight, all_weight: all.weight, self_samples: own.samples, all_samples: all.samples }
    }
}

/// A stack on the path.
struct Level {
    stack: StackId,
    key: usize,
    sum: Sum,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    weight: u64,
    samples: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        // The weights of one series fit; those of several are not to be added, but must not wrap either.
        self.weight = self.weight.saturating_add(other.weight);
        self.samples += other.samples;
    }
}

impl Sums<'_> {
    fn add(&mut self, stack: StackId, sum: Sum) {
        // Ids rise from the root to the leaf, so what is not above the stack is found by comparing ids.
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
            self.path.push(Level { stack, key, sum: Sum::default() });
        }
        if let Some(leaf) = self.path.last_mut() {
            leaf.sum.add(sum);
            self.keys[leaf.key].own.add(sum);
        }
    }

    /// Shortens the path: the sums below go to the keys, and to the rest of the path.
    fn leave(&mut self, length: usize) {
        while self.path.len() > length {
            let Some(level) = self.path.pop() else { return };
            let key = &mut self.keys[level.key];
            key.on_path -= 1;
            // Further in, it is counted where the path meets it first.
            if key.on_path == 0 {
                key.all.add(level.sum);
            }
            if let Some(above) = self.path.last_mut() {
                above.sum.add(level.sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameKey, ProfileBuilder, Run, Series};
    use crate::units::{Address, Unit};

    /// Stacks that share their outer frames, with frames that recur, and some rows without a stack.
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
