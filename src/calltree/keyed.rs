//! Sums stacks by a key of their frames, such as the function, binary or source line.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::convert::Infallible;

use super::forest::{Forest, ForestWeights};
use super::weights::StackWeight;
use crate::ordered_pool;
use crate::profile::{FrameId, Profile, StackId};

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

/// Stacks with their weights, in one of two forms with equal sums.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WeighedStacks<'s> {
    /// One after the other. Very many are divided among so many threads.
    Rows(&'s [StackWeight], usize),
    /// Merged by frame once for many selections: three times as fast, but merging takes as long as ten sums.
    Merged(&'s Forest, &'s ForestWeights),
}

/// Visits the paths of stacks: each frame is entered below its caller, and left after everything below it.
pub(super) trait PathVisitor {
    fn enter(&mut self, frame: FrameId);
    /// Samples end in the frame that was entered last.
    fn end(&mut self, frame: FrameId, weight: u64, samples: u64);
    /// The weight and number of all samples that passed through the frame since it was entered.
    fn leave(&mut self, frame: FrameId, weight: u64, samples: u64);
}

/// Sums stacks by a key of their frames. `key_of_frame` contains a key below `key_count` for each frame of the profile.
///
/// Returns the sums by key, and the sums of samples without a stack. Memory grows with the keys, and time with the distinct stacks.
///
/// # Panics
/// If `key_of_frame` is shorter than the table of frames, or a key is not below `key_count`.
pub(crate) fn sum_stacks_by_key(
    profile: &Profile,
    stacks: WeighedStacks<'_>,
    key_of_frame: &[usize],
    key_count: usize,
) -> (Vec<KeySums>, KeySums) {
    let sums_of = |stacks: WeighedStacks<'_>| {
        let mut sums = ByKey { key_of_frame, keys: vec![Open::default(); key_count] };
        let no_stack = stacks.walk(profile, &mut sums);
        (sums.keys.into_iter().map(|key| key.sums).collect(), no_stack)
    };
    let WeighedStacks::Rows(weights, jobs) = stacks else { return sums_of(stacks) };
    let order = near_order(profile, weights);
    let parts = jobs.clamp(1, 1 + order.len() / STACKS_FOR_A_THREAD);
    sum_in_parts(&order, parts, |part| sums_of(WeighedStacks::Rows(part, 1)))
}

/// Rows in an order in which successive stacks share much of their path.
fn near_order<'w>(profile: &Profile, weights: &'w [StackWeight]) -> Cow<'w, [StackWeight]> {
    // In order of their first appearance, successive stacks of one thread do. If several threads have the same stacks, it is cheaper to
    // visit equal stacks together.
    let mut is_seen = vec![false; profile.stack_ids().len()];
    let mut is_new = |row: &&StackWeight| row.stack.is_none_or(|id| !std::mem::replace(&mut is_seen[id.index()], true));
    if 2 * weights.iter().filter(|row| is_new(row)).count() >= weights.len() {
        return Cow::Borrowed(weights);
    }
    let mut order = weights.to_vec();
    order.sort_by_key(|row| row.stack);
    Cow::Owned(order)
}

/// With fewer stacks, the work takes less time than starting a thread.
const STACKS_FOR_A_THREAD: usize = 50_000;

/// Sums parts of the stacks in parallel, and adds the results. Stacks are independent, so the sums are the same.
fn sum_in_parts(
    order: &[StackWeight],
    parts: usize,
    sum: impl Fn(&[StackWeight]) -> (Vec<KeySums>, KeySums) + Sync,
) -> (Vec<KeySums>, KeySums) {
    let parts: Vec<&[StackWeight]> = order.chunks(order.len().div_ceil(parts).max(1)).collect();
    let (mut keys, mut no_stack) = sum(&[]);
    let add = |_: &_, (more, more_without): &(Vec<KeySums>, KeySums)| {
        keys.iter_mut().zip(more).for_each(|(key, more)| key.add(more));
        no_stack.add(more_without);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = ordered_pool::visit(&parts, parts.len(), || (), |part, (), _| sum(part), add);
    (keys, no_stack)
}

impl WeighedStacks<'_> {
    /// Visits all paths, and returns the sums of samples without a stack.
    pub(super) fn walk(self, profile: &Profile, visitor: &mut impl PathVisitor) -> KeySums {
        let rows = match self {
            Self::Rows(rows, _) => rows,
            Self::Merged(forest, weights) => return forest.walk(weights, visitor),
        };
        let mut no_stack = KeySums::default();
        let mut walk = Walk { profile, visitor, path: Vec::new(), below: Vec::new() };
        for row in rows {
            match row.stack {
                Some(stack) => walk.add(stack, row.weight, row.samples),
                None => {
                    no_stack.add_self(row.weight, row.samples);
                    no_stack.add_all(row.weight, row.samples);
                }
            }
        }
        walk.leave(0);
        no_stack
    }
}

impl KeySums {
    /// Sorts by self weight, then all weight.
    pub(crate) fn heaviest_first(&self) -> Reverse<(u64, u64)> {
        Reverse((self.self_weight, self.all_weight))
    }

    /// Adds samples whose leaf has the key. The weights of one series never overflow. The weights of several should not be added, but must
    /// not wrap either.
    pub(crate) fn add_self(&mut self, weight: u64, samples: u64) {
        self.self_weight = self.self_weight.saturating_add(weight);
        self.self_samples += samples;
    }

    /// Adds samples with the key in their stack.
    pub(crate) fn add_all(&mut self, weight: u64, samples: u64) {
        self.all_weight = self.all_weight.saturating_add(weight);
        self.all_samples += samples;
    }

    /// Adds other sums.
    fn add(&mut self, other: &Self) {
        self.add_self(other.self_weight, other.self_samples);
        self.add_all(other.all_weight, other.all_samples);
    }
}

/// Sums by key.
struct ByKey<'k> {
    key_of_frame: &'k [usize],
    keys: Vec<Open>,
}

/// The sums of a key so far, and the number of frames on the path that have it.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    on_path: u32,
    sums: KeySums,
}

impl ByKey<'_> {
    fn open(&mut self, frame: FrameId) -> &mut Open {
        &mut self.keys[self.key_of_frame[frame.index()]]
    }
}

impl PathVisitor for ByKey<'_> {
    fn enter(&mut self, frame: FrameId) {
        self.open(frame).on_path += 1;
    }

    fn end(&mut self, frame: FrameId, weight: u64, samples: u64) {
        self.open(frame).sums.add_self(weight, samples);
    }

    fn leave(&mut self, frame: FrameId, weight: u64, samples: u64) {
        let key = self.open(frame);
        key.on_path -= 1;
        // If the key is on the path again, its outermost frame adds the weight.
        if key.on_path == 0 {
            key.sums.add_all(weight, samples);
        }
    }
}

/// Visits stacks, one after the other.
struct Walk<'w, V> {
    profile: &'w Profile,
    visitor: &'w mut V,
    /// The path from the root to the current stack, with the weights that passed through.
    path: Vec<Level>,
    /// Stacks to enter next.
    below: Vec<StackId>,
}

/// A stack on the path.
struct Level {
    stack: StackId,
    frame: FrameId,
    weight: u64,
    samples: u64,
}

impl Level {
    fn add(&mut self, weight: u64, samples: u64) {
        self.weight = self.weight.saturating_add(weight);
        self.samples += samples;
    }
}

impl<V: PathVisitor> Walk<'_, V> {
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
            let frame = self.profile.stack(stack).frame;
            self.visitor.enter(frame);
            self.path.push(Level { stack, frame, weight: 0, samples: 0 });
        }
        if let Some(leaf) = self.path.last_mut() {
            leaf.add(weight, samples);
            self.visitor.end(leaf.frame, weight, samples);
        }
    }

    /// Shortens the path. The weights that passed through what is left passed through what remains, too.
    fn leave(&mut self, length: usize) {
        while self.path.len() > length {
            let Some(level) = self.path.pop() else { return };
            self.visitor.leave(level.frame, level.weight, level.samples);
            if let Some(above) = self.path.last_mut() {
                above.add(level.weight, level.samples);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Doing, FrameKey, ProfileBuilder, Run, Series};
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
            rows.push(StackWeight {
                series,
                thread,
                stack,
                doing: Doing::Runs,
                weight: 1 + number * 31 % 97,
                samples: 1 + number % 4,
            });
        }
        (builder.finish(), rows)
    }

    #[test]
    fn parts_add_up_to_all() {
        let (profile, rows) = stacks(500);
        let key_of_frame: Vec<usize> = (0..20).map(|frame| frame % 13).collect();
        let sum = |rows: &[StackWeight]| sum_stacks_by_key(&profile, WeighedStacks::Rows(rows, 1), &key_of_frame, 13);
        let expected = sum(&rows);
        assert!(expected.0.iter().all(|sums| sums.all_samples > 0) && expected.1.all_samples > 0);
        for parts in [1, 2, 3, 7, 499, 500, 1_000] {
            let found = sum_in_parts(&rows, parts, sum);
            assert_eq!(found, expected, "{parts} parts");
        }
        let nothing = sum_in_parts(&[], 3, sum);
        assert_eq!(nothing, (vec![KeySums::default(); 13], KeySums::default()));
        let forest = Forest::by_frame(&profile, rows.iter().map(|row| row.stack));
        let merged = WeighedStacks::Merged(&forest, &forest.weigh(&rows));
        assert_eq!(sum_stacks_by_key(&profile, merged, &key_of_frame, 13), expected);
        let weight: u64 = expected.0.iter().map(|sums| sums.self_weight).sum();
        assert_eq!(weight + expected.1.self_weight, rows.iter().map(|row| row.weight).sum::<u64>());
    }
}
