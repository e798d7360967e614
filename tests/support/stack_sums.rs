//! The weights of stacks, added sample by sample, for comparison with call trees.

use std::collections::BTreeMap;

use traceparse::fleet::FrameRow;
use traceparse::profile::{Id, Profile, Sample, SampleKind, SampleSum, Selection, Series, Thread};
use traceparse::recording::Recording;

/// By process, thread and functions from the root: weight and samples. Code without names is one function for each binary.
pub type StackSums = BTreeMap<Vec<String>, [u64; 2]>;

/// The stacks of the samples of running threads in a series.
pub fn of_series(recording: &Recording, series: Id<Series>) -> StackSums {
    let profile = &recording.profile;
    let mut sums = StackSums::new();
    let counts = |sample: &&Sample| sample.series == series && sample.kind != SampleKind::Stackshot;
    for sample in Selection::default().on(profile).iter().filter(counts) {
        let samples = u64::from(sample.samples.max(1));
        add(&mut sums, key(profile, sample.thread, sample.stack.map(|id| id.index())), [sample.weight, samples]);
    }
    sums
}

/// The stacks of a recording whose samples are summed.
pub fn of_sums(recording: &Recording) -> StackSums {
    let profile = &recording.profile;
    let mut sums = StackSums::new();
    for SampleSum { thread, stack, weight, samples, .. } in profile.sums() {
        add(&mut sums, key(profile, thread, stack.map(|id| id.index())), [weight, samples]);
    }
    sums
}

/// Adds sums to others.
pub fn merge(all: &mut StackSums, more: StackSums) {
    more.into_iter().for_each(|(stack, sum)| add(all, stack, sum));
}

fn add(sums: &mut StackSums, stack: Vec<String>, [weight, samples]: [u64; 2]) {
    let sum = sums.entry(stack).or_default();
    *sum = [sum[0] + weight, sum[1] + samples];
}

fn key(profile: &Profile, thread: Id<Thread>, stack: Option<usize>) -> Vec<String> {
    let thread = profile.thread(thread);
    let process = profile.string(profile.process(thread.process).name);
    let mut names = vec![format!("{process}, {}, {}", profile.string(thread.name), thread.is_main)];
    let mut next = stack.and_then(|index| profile.stack_ids().nth(index));
    let mut frames = Vec::new();
    while let Some(id) = next {
        let function = profile.frame(profile.stack(id).frame).function;
        let is_named = profile.function(function).is_named;
        let name = if is_named { profile.function_name(function) } else { FrameRow::UNNAMED };
        frames.push(format!("{} in {:?}", name, profile.binary_name(function)));
        next = profile.stack(id).parent;
    }
    names.extend(frames.into_iter().rev());
    names
}
