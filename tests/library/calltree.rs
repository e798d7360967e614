//! Trees, compared with a slow and obvious implementation.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::{
    CallTree, Forest, FunctionRow, Label, Merger, Metric, Pruning, StackWeight, StackWeights, WeighedForest,
};
use traceparse::output::{self, Cells, Format};
use traceparse::profile::{Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{ReportOptions, SeparateBy, View};

/// The public properties of a node: label, depth, self and all weight, self and all samples, hidden weight and children.
type Seen = (Label, u32, u64, u64, u64, u64, u64, u32);

/// Self and all weight, self and all samples of every path of labels, the root's being empty.
type Paths = BTreeMap<Vec<Label>, [u64; 4]>;

/// Recursion, functions with several addresses, binaries at several addresses and rows without stack are in it.
fn recording(seed: u64) -> Recording {
    let size = Size { rows: 80, functions_per_image: 3, snapshots: seed.is_multiple_of(3), ..Size::small() };
    let recording = support::Invented::random(seed, &size);
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

fn weights(export: &Recording, metric: Metric) -> StackWeights {
    let selection = Selection { states: StateFilter::All, ..Selection::default() };
    StackWeights::new(&selection.on(&export.profile), metric)
}

fn paths(profile: &Profile, rows: &[StackWeight]) -> Paths {
    let mut paths = Paths::from([(Vec::new(), [0; 4])]);
    for row in rows {
        let frames = profile.frames_leaf_first(row.stack);
        let mut path: Vec<Label> = frames.map(|frame| Label::Function(frame.function)).collect();
        path.reverse();
        if row.stack.is_none() {
            path.push(Label::NoStack);
        }
        for length in 0..=path.len() {
            let sums = paths.entry(path[..length].to_vec()).or_default();
            let own = u64::from(length == path.len());
            for (sum, value) in sums.iter_mut().zip([row.weight * own, row.weight, row.samples * own, row.samples]) {
                *sum += value;
            }
        }
    }
    paths
}

/// The nodes at a path and below it, in order.
fn nodes_at(profile: &Profile, paths: &Paths, path: &[Label], pruning: &Pruning, out: &mut Vec<Seen>) {
    let [self_weight, all_weight, self_samples, all_samples] = paths[path];
    let is_child = |other: &&Vec<Label>| other.len() == path.len() + 1 && other.starts_with(path);
    let mut children: Vec<&Vec<Label>> = paths.keys().filter(is_child).collect();
    let count = children.len();
    let total = paths[&[][..]][1];
    let depth = path.len() as u32;
    children.retain(|child| {
        let share = if total == 0 { 100.0 } else { paths[*child][1] as f64 * 100.0 / total as f64 };
        share >= pruning.min_percent && pruning.depth.is_none_or(|most| depth < most)
    });
    children.sort_by_key(|child| {
        let names = match child[path.len()] {
            Label::Function(id) => Some((profile.function_name(id), profile.binary_name(id), id)),
            _ => None,
        };
        (Reverse(paths[*child][1]), Reverse(paths[*child][3]), names)
    });
    children.truncate(pruning.children.unwrap_or(usize::MAX));
    let shown: u64 = children.iter().map(|child| paths[*child][1]).sum();
    let label = *path.last().unwrap_or(&Label::Root);
    let hidden = all_weight - self_weight - shown;
    let hidden_children = (count - children.len()) as u32;
    out.push((label, depth, self_weight, all_weight, self_samples, all_samples, hidden, hidden_children));
    for child in children {
        nodes_at(profile, paths, child, pruning, out);
    }
}

fn seen(tree: &CallTree) -> Vec<Seen> {
    let nodes = tree.nodes().iter().map(|node| {
        let hidden = (node.hidden_weight, node.hidden_children);
        let (own, all) = ((node.self_weight, node.self_samples), (node.all_weight, node.all_samples));
        (node.label, node.depth, own.0, all.0, own.1, all.1, hidden.0, hidden.1)
    });
    nodes.collect()
}

/// Checks that the children match the depths.
fn assert_children(tree: &CallTree) {
    let nodes = tree.nodes();
    for index in 0..nodes.len() {
        let below = (index + 1..nodes.len()).take_while(|&other| nodes[other].depth > nodes[index].depth);
        let expected = below.filter(|&other| nodes[other].depth == nodes[index].depth + 1);
        assert!(tree.children(index).eq(expected));
    }
}

/// Functions, against the slow form: each sample once for each function in its stack.
fn assert_functions(profile: &Profile, rows: &[StackWeight], found: &[FunctionRow]) {
    let mut expected: BTreeMap<Label, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let mut labels: Vec<Label> =
            profile.frames_leaf_first(row.stack).map(|frame| Label::Function(frame.function)).collect();
        if labels.is_empty() {
            labels.push(Label::NoStack);
        }
        expected.entry(labels[0]).or_default().0 += row.weight;
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            expected.entry(label).or_default().1 += row.weight;
        }
    }
    let found = found.iter().map(|row| (row.label, (row.sums.self_weight, row.sums.all_weight)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn trees_are_their_obvious_form(
        seed in any::<u64>(),
        min_percent in prop_oneof![Just(0.0), 0.0..20.0_f64, Just(100.0), Just(101.0)],
        depth in prop_oneof![Just(None), (0..14_u32).prop_map(Some)],
        children in prop_oneof![Just(None), (0..5_usize).prop_map(Some)],
        is_weight in any::<bool>(),
    ) {
        let export = recording(seed);
        let profile = &export.profile;
        let weights = weights(&export, if is_weight { Metric::Weight } else { Metric::Samples });
        let pruning = Pruning { min_percent, depth, children, ..Pruning::default() };
        // One merger for all trees: each thread, all threads, and some rows in a different order.
        let mut merger = Merger::new(profile);
        let forest = Forest::new(profile);
        let mut scopes: Vec<Vec<StackWeight>> =
            weights.rows().chunk_by(|a, b| a.thread == b.thread).map(<[StackWeight]>::to_vec).collect();
        scopes.push(weights.rows().to_vec());
        scopes.push(weights.rows().iter().rev().step_by(2).copied().collect());
        scopes.push(Vec::new());
        scopes.push(scopes[0].clone());
        for rows in scopes {
            let tree = merger.pruned_tree(&rows, &pruning);
            let mut expected = Vec::new();
            nodes_at(profile, &paths(profile, &rows), &[], &pruning, &mut expected);
            prop_assert_eq!(seen(&tree), expected);
            assert_children(&tree);
            let tree = WeighedForest { profile, forest: &forest, weights: &forest.weigh(&rows) };
            assert_functions(profile, &rows, &tree.functions());
        }
        let selection = Selection { states: StateFilter::All, ..Selection::default() };
        let metric = if is_weight { Metric::Weight } else { Metric::Samples };
        let options = ReportOptions { view: View::Functions, selection, metric, jobs: 2, ..ReportOptions::default() };
        for series in &export.report(&options).series {
            let rows: Vec<StackWeight> =
                weights.rows().iter().filter(|row| row.series == series.series).copied().collect();
            assert_functions(profile, &rows, &series.functions);
            let tree = WeighedForest { profile, forest: &forest, weights: &forest.weigh(&rows) };
            prop_assert_eq!(&series.functions, &tree.functions());
        }
    }
}

/// Regardless of the number of samples, each stack is merged and written as one sum.
#[test]
fn more_samples_of_the_same_stacks_are_no_more_rows() {
    let size = Size { rows: 300, ..Size::small() };
    let mut recording = support::Invented::random(7, &size);
    let open = |recording: &support::Invented| {
        let xml = render(recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, recording));
        read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
    };
    let once = open(&recording);
    recording.rows = vec![recording.rows; 10].concat();
    let often = open(&recording);
    assert_eq!(often.profile.samples().len(), 10 * once.profile.samples().len());
    let (once, often) = ((&once, weights(&once, Metric::Weight)), (&often, weights(&often, Metric::Weight)));
    assert_eq!(often.1.rows().len(), once.1.rows().len());
    let tree = |(export, weights): &(&Recording, StackWeights)| Merger::new(&export.profile).tree(weights.rows());
    for (one, ten) in tree(&once).nodes().iter().zip(tree(&often).nodes()) {
        assert_eq!((one.label, one.depth, one.all_weight * 10), (ten.label, ten.depth, ten.all_weight));
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    for seed in 0..10 {
        let export = recording(seed);
        let text = |jobs: usize, separate_by: SeparateBy, format: &Format<'_>| {
            let options = ReportOptions { view: View::Tree, jobs, separate_by, ..ReportOptions::default() };
            let mut out = Vec::new();
            output::write(&export.report(&options), format, &mut out).unwrap();
            out
        };
        for format in &[Format::Folded, Format::Csv(Cells::AsTheyAre), Format::Json] {
            let separations = [SeparateBy::Thread, SeparateBy::Process, SeparateBy::CoreKind, SeparateBy::Nothing];
            for separate_by in separations {
                let alone = text(0, separate_by, format);
                assert!(!alone.is_empty());
                for jobs in [1, 2, 9] {
                    assert!(text(jobs, separate_by, format) == alone, "seed {seed}, {jobs} jobs");
                }
            }
        }
    }
}

/// The hard cases that the random recordings must have for the test above to mean something.
#[test]
fn the_recordings_have_what_is_hard() {
    let (mut merged, mut recursive, mut without_stack, mut ties) = (0, 0, 0, 0);
    for seed in 0..20 {
        let export = recording(seed);
        let profile = &export.profile;
        let weights = weights(&export, Metric::Samples);
        without_stack += weights.rows().iter().filter(|row| row.stack.is_none()).count();
        let tree = Merger::new(profile).tree(weights.rows());
        // Two addresses of one function at one level are one node of two stacks.
        merged += usize::from(tree.nodes().len() < profile.stack_ids().len());
        let callers = profile.stack_ids().filter(|&id| {
            let function = profile.frame(profile.stack(id).frame).function;
            profile.frames_leaf_first(profile.stack(id).parent).any(|frame| frame.function == function)
        });
        recursive += callers.count();
        for index in 0..tree.nodes().len() {
            let children: Vec<u64> = tree.children(index).map(|child| tree.nodes()[child].all_weight).collect();
            ties += children.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
    }
    assert!(
        merged > 5 && recursive > 100 && without_stack > 20 && ties > 100,
        "{merged} {recursive} {without_stack} {ties}"
    );
}
