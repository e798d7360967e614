//! Operations on the stacks of random recordings, compared with an obvious implementation of each on lists of names.

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::{Action, FunctionSet, Operation, OperationSummary};
use traceparse::calltree::{CallTree, Merger, Metric, StackWeights};
use traceparse::profile::{Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};

fn open(recording: &support::Invented, samples: SampleDetail) -> Recording {
    let xml = render(recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, recording));
    read(xml.as_bytes(), "test.xml", &Options { samples, ..Options::default() }).unwrap()
}

/// A selection that leaves something out.
fn selection(is_every_state: bool) -> Selection {
    let states = if is_every_state { StateFilter::All } else { StateFilter::Running };
    Selection { states, ..Selection::default() }
}

/// Stacks by function, root first, with their weights and samples; functions are numbered as in the profile.
type Stacks = BTreeMap<Vec<usize>, (u64, u64)>;

fn stacks(profile: &Profile, selection: &Selection) -> Stacks {
    let mut found = Stacks::new();
    for sum in selection.on(profile).sums() {
        let mut path: Vec<usize> = profile.frames_leaf_first(sum.stack).map(|frame| frame.function.index()).collect();
        path.reverse();
        let entry = found.entry(path).or_default();
        *entry = (entry.0 + sum.weight, entry.1 + sum.samples);
    }
    found
}

/// The effect of an operation, in its obvious form: the new stack, or `None`.
fn slow(kind: u8, chosen: &dyn Fn(usize) -> bool, stack: &[usize]) -> Option<Vec<usize>> {
    let first = stack.iter().position(|&function| chosen(function));
    let without: Vec<usize> = stack.iter().copied().filter(|&function| !chosen(function)).collect();
    match kind {
        0 => first.map(|_| stack.to_vec()),
        1 => first.map(|first| stack[first..].to_vec()),
        2 => {
            if first.is_some() {
                None
            } else {
                Some(stack.to_vec())
            }
        }
        3 => {
            if stack.last().is_some_and(|&leaf| chosen(leaf)) {
                None
            } else {
                Some(stack.to_vec())
            }
        }
        4 => Some(if without.is_empty() { stack[..stack.len().min(1)].to_vec() } else { without }),
        5 => {
            if without.is_empty() && !stack.is_empty() {
                None
            } else {
                Some(without)
            }
        }
        6 => {
            let is_entry = |place: &usize| *place == 0 || !chosen(stack[*place]) || !chosen(stack[place - 1]);
            Some((0..stack.len()).filter(is_entry).map(|place| stack[place]).collect())
        }
        7 => {
            let (mut flat, mut rest) = (Vec::new(), stack);
            while let Some(&function) = rest.first() {
                flat.push(function);
                let last = rest.iter().rposition(|&other| other == function).unwrap();
                rest = &rest[last + 1..];
            }
            Some(flat)
        }
        8 => Some(stack.iter().rev().copied().collect()),
        9 => Some(
            stack
                .iter()
                .scan(false, |is_below, &function| {
                    let is_left = !*is_below;
                    *is_below |= chosen(function);
                    is_left.then_some(function)
                })
                .collect(),
        ),
        _ => stack.last().filter(|&&leaf| chosen(leaf)).map(|_| stack.to_vec()),
    }
}

fn action(kind: u8, functions: FunctionSet) -> Action {
    match kind {
        0 => Action::Focus(functions),
        1 => Action::RootAt(functions),
        2 => Action::Prune(functions),
        3 => Action::PruneLeaves(functions),
        4 => Action::Charge(functions),
        5 => Action::Hide(functions),
        6 => Action::Flatten(functions),
        7 => Action::FlattenRecursion,
        8 => Action::Invert,
        9 => Action::Collapse(functions),
        _ => Action::FocusLeaves(functions),
    }
}

fn assert_adds_up(tree: &CallTree, total: u64) {
    assert_eq!(tree.root().all_weight, total);
    for (index, node) in tree.nodes().iter().enumerate() {
        let sum: u64 = tree.children(index).map(|child| tree.nodes()[child].all_weight).sum();
        assert_eq!(node.all_weight, node.self_weight + sum);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Each operation, alone and in sequence: checks stacks, removed weight, moved weight, and that they add up.
    #[test]
    fn operations_are_those_of_the_obvious_form(
        seed in any::<u64>(),
        steps in proptest::collection::vec((0..11_u8, 1..9_usize, 0..9_usize), 1..5),
        is_summed in any::<bool>(),
        is_every_state in any::<bool>(),
    ) {
        let recording = support::Invented::random(seed, &Size { rows: 40, ..Size::small() });
        let detail = if is_summed { SampleDetail::Summed } else { SampleDetail::Each };
        let export = open(&recording, detail);
        let (profile, selection) = (&export.profile, selection(is_every_state));
        let before = stacks(profile, &selection);
        let operations: Vec<Operation> = steps.iter().enumerate().map(|(index, &(kind, modulus, rest))| {
            let functions = FunctionSet::new(profile, |id| id.index() % modulus == rest % modulus);
            Operation { action: action(kind, functions), text: index.to_string() }
        }).collect();
        let (after, summaries) = selection.on(profile).operate(&operations, Metric::Weight).unwrap();

        let (mut expected, mut at_hand) = (Stacks::new(), before.clone());
        let mut changes = vec![[0_u64; 5]; steps.len()];
        for (&(kind, modulus, rest), change) in steps.iter().zip(&mut changes) {
            expected.clear();
            for (stack, &(weight, samples)) in &at_hand {
                match slow(kind, &|function| function % modulus == rest % modulus, stack) {
                    None => { change[0] += weight; change[1] += samples; }
                    Some(new) => {
                        change[4] += if new.len() < stack.len() { samples } else { 0 };
                        if kind != 8 && new.last() != stack.last() { change[2] += weight; change[3] += samples; }
                        let entry = expected.entry(new).or_default();
                        *entry = (entry.0 + weight, entry.1 + samples);
                    }
                }
            }
            at_hand.clone_from(&expected);
        }
        prop_assert_eq!(&stacks(&after, &selection), &expected);
        let found: Vec<[u64; 5]> = summaries.iter().map(total_change).collect();
        prop_assert_eq!(found, changes.clone());

        // Nothing is lost, and trees of what is left add up.
        let sum = |stacks: &Stacks| stacks.values().map(|(weight, _)| weight).sum::<u64>();
        let removed: u64 = changes.iter().map(|change| change[0]).sum();
        prop_assert_eq!(sum(&before), sum(&expected) + removed);
        let weights = StackWeights::new(&selection.on(&after), Metric::Weight);
        let tree = Merger::new(&after).tree(weights.rows());
        assert_adds_up(&tree, sum(&expected));
        prop_assert_eq!(tree.nodes().iter().map(|node| node.self_weight).sum::<u64>(), sum(&expected));
    }

    /// Several operations together have the same result as one after the other.
    #[test]
    fn operations_compose(seed in any::<u64>(), kinds in proptest::collection::vec(0..11_u8, 2..5)) {
        let recording = support::Invented::random(seed, &Size::small());
        let export = open(&recording, SampleDetail::Each);
        let (profile, selection) = (&export.profile, selection(true));
        let operations: Vec<Operation> = kinds.iter().map(|&kind| {
            let functions = FunctionSet::new(profile, |id| id.index() % 3 == usize::from(kind) % 3);
            Operation { action: action(kind, functions), text: String::new() }
        }).collect();
        let (together, all) = selection.on(profile).operate(&operations, Metric::Weight).unwrap();
        let (mut stepwise, mut each) = (profile.clone(), Vec::new());
        for operation in &operations {
            let step = selection.on(&stepwise).operate(std::slice::from_ref(operation), Metric::Weight).unwrap();
            each.extend(step.1);
            stepwise = step.0;
        }
        prop_assert_eq!(stacks(&together, &selection), stacks(&stepwise, &selection));
        prop_assert_eq!(all, each);
        let leaves = |profile: &Profile| profile.samples().iter().map(|sample| {
            (sample.time, sample.thread, sample.weight, profile.frames_leaf_first(sample.stack).copied().collect::<Vec<_>>())
        }).collect::<Vec<_>>();
        prop_assert_eq!(leaves(&together), leaves(&stepwise), "every sample, in order, frame by frame");
    }
}

fn total_change(summary: &OperationSummary) -> [u64; 5] {
    summary.changes.iter().fold([0; 5], |[a, b, c, d, e], (_, change)| {
        let removed = [a + change.removed_weight, b + change.removed_samples];
        let moved = [c + change.moved_weight, d + change.moved_samples];
        [removed[0], removed[1], moved[0], moved[1], e + change.changed_samples]
    })
}

/// The order in which operations are given is the order in which they are done.
#[test]
fn the_order_tells() {
    let recording = support::Invented::random(7, &Size::small());
    let export = open(&recording, SampleDetail::Each);
    let (profile, selection) = (&export.profile, selection(true));
    // A stack of two functions or more: taking the root out first hides it from what looks for it.
    let stack = stacks(profile, &selection).into_keys().find(|stack| stack.len() > 1 && stack[0] != stack[1]).unwrap();
    let root = FunctionSet::new(profile, |id| id.index() == stack[0]);
    let charge = Operation { action: Action::Charge(root.clone()), text: "charge".to_owned() };
    let focus = Operation { action: Action::Focus(root), text: "focus".to_owned() };
    let run = |operations: &[Operation]| {
        let (after, _) = selection.on(profile).operate(operations, Metric::Samples).unwrap();
        stacks(&after, &selection)
    };
    let without_root = &stack[1..];
    assert!(run(&[focus.clone(), charge.clone()]).contains_key(without_root));
    assert!(!run(&[charge, focus]).contains_key(without_root));
}

/// Indirect recursion. The remaining frame has the position of the first call and the address of the last.
#[test]
fn flattened_recursion_keeps_the_innermost_address() {
    let recording = support::Invented::random(11, &Size { rows: 400, ..Size::small() });
    let export = open(&recording, SampleDetail::Each);
    let selection = selection(true);
    let operation = Operation { action: Action::FlattenRecursion, text: "--flatten-recursion".to_owned() };
    let (after, summaries) = selection.on(&export.profile).operate(&[operation], Metric::Weight).unwrap();
    let mut shorter = 0;
    for (old, new) in export.profile.samples().iter().zip(after.samples()) {
        let leaf = |profile: &Profile, stack| profile.frames_leaf_first(stack).next().copied();
        assert_eq!(leaf(&export.profile, old.stack), leaf(&after, new.stack), "no sample has another leaf");
        let depth = |profile: &Profile, stack| profile.frames_leaf_first(stack).count();
        shorter += u64::from(depth(&after, new.stack) < depth(&export.profile, old.stack));
    }
    assert!(shorter > 0, "no stack of the recording recurs");
    let [removed, _, moved, _, changed] = total_change(&summaries[0]);
    assert_eq!((removed, moved, changed), (0, 0, shorter), "nothing is removed, and nothing moves");
}
