//! Sums stacks by a key of their frames, such as function, binary or source line.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use super::forest::{Forest, ForestWeights};
use super::key_sums::KeySums;
use super::path_visitor::PathVisitor;
use super::weights::StackWeight;
use crate::ordered_pool;
use crate::profile::{FrameId, Profile, StackId};

/// Weighted stacks, in one of two forms with the same sums.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WeighedStacks<'s> {
    /// Rows. If there are very many, they are divided among this number of threads.
    Rows(&'s [StackWeight], usize),
    /// Merged by frame, for many selections: summing is three times as fast, but merging takes as long as ten sums.
    Merged(&'s Forest, &'s ForestWeights),
}

/// Sums stacks by a key of their frames. `key_of_frame` contains a key below `key_count` for each frame of the profile.
///
/// Returns the sums for each key, and the sums of samples without a stack. Memory grows with the number of keys, and time with the number of distinct
/// stacks.
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

/// Sorts rows so that successive stacks share most of their path.
fn near_order<'w>(profile: &Profile, weights: &'w [StackWeight]) -> Cow<'w, [StackWeight]> {
    // In order of first appearance, successive stacks of one thread already do. If several threads have the same stacks, visiting equal stacks
    // together is cheaper.
    let mut is_seen = vec![false; profile.stack_ids().len()];
    let mut is_new = |row: &&StackWeight| row.stack.is_none_or(|id| !std::mem::replace(&mut is_seen[id.index()], true));
    if 2 * weights.iter().filter(|row| is_new(row)).count() >= weights.len() {
        return Cow::Borrowed(weights);
    }
    let mut order = weights.to_vec();
    order.sort_by_key(|row| row.stack);
    Cow::Owned(order)
}

/// Below this number of stacks, starting a thread takes longer than the work.
const STACKS_FOR_A_THREAD: usize = 50_000;

/// Sums parts of the stacks in parallel, and adds the results. The outcome is the same, since stacks are independent.
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

/// Collects sums by key.
struct ByKey<'k> {
    key_of_frame: &'k [usize],
    keys: Vec<Open>,
}

/// The sums of a key so far, and how many frames of the current path have it.
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
        // If the key is still on the path, its outermost frame will add the weight.
        if key.on_path == 0 {
            key.sums.add_all(weight, samples);
        }
    }
}

/// Visits one stack after another.
struct Walk<'w, V> {
    profile: &'w Profile,
    visitor: &'w mut V,
    /// The path from the root to the current stack, and the weights that passed through it.
    path: Vec<Level>,
    /// Stacks to enter next: the rows of their runs, innermost first.
    below: Vec<Range<usize>>,
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
        let stacks = self.profile.stack_rows();
        // Ids increase from the root to the leaf, so comparing ids finds the part of the path that this stack does not share.
        let (mut next, mut shared) = (Some(stack), self.path.len());
        while let Some(stack) = next {
            while shared > 0 && self.path[shared - 1].stack > stack {
                shared -= 1;
            }
            let known = shared.checked_sub(1).map(|last| self.path[last].stack);
            let (run, caller) = stacks.run(known, stack);
            self.below.push(run);
            if caller == known {
                break;
            }
            next = caller;
        }
        self.leave(if next.is_some() { shared } else { 0 });
        while let Some(run) = self.below.pop() {
            let frames = stacks.frames_of(run.clone()).flatten();
            for (stack, &frame) in run.filter_map(StackId::from_index).zip(frames) {
                self.visitor.enter(frame);
                self.path.push(Level { stack, frame, weight: 0, samples: 0 });
            }
        }
        if let Some(leaf) = self.path.last_mut() {
            leaf.add(weight, samples);
            self.visitor.end(leaf.frame, weight, samples);
        }
    }

    /// Shortens the path, adding the weights of removed levels to the level above.
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
