//! The properties of every recording.

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::{CallTree, Label, Merger, Metric, Pruning, StackWeights};
use traceparse::output::{self, Format};
use traceparse::profile::{Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::NO_STACK;
use traceparse::report::{ReportOptions, SeparateBy, View};

fn open(recording: &support::Invented, shape: Shape) -> Recording {
    let xml = render(recording, &RenderOptions::new(shape, Table::TimeProfile, recording));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

fn every_state() -> Selection {
    Selection { states: StateFilter::All, ..Selection::default() }
}

fn assert_adds_up(tree: &CallTree, total: u64) {
    assert_eq!(tree.root().all_weight, total);
    for (index, node) in tree.nodes().iter().enumerate() {
        let children: Vec<_> = tree.children(index).map(|child| &tree.nodes()[child]).collect();
        let sum: u64 = children.iter().map(|child| child.all_weight).sum();
        assert_eq!(node.all_weight, node.self_weight + sum + node.hidden_weight);
        assert!(children.windows(2).all(|pair| pair[0].all_weight >= pair[1].all_weight), "heaviest first");
        assert!(children.iter().all(|child| child.depth == node.depth + 1));
    }
}

/// The tree of up to 1,000 random recordings, over all threads and of each thread.
#[test]
fn trees_add_up_to_the_rows() {
    for seed in 0..support::rounds(1_000) {
        let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
        let recording = support::Invented::random(seed, &Size { rows: 40, ..Size::small() });
        let export = open(&recording, shape);
        let profile = &export.profile;
        let weights = StackWeights::new(&every_state().on(profile), Metric::Weight);
        let mut merger = Merger::new(profile);
        let whole = merger.tree(weights.rows());
        assert_adds_up(&whole, recording.total_weight());
        let no_stack = whole.nodes().iter().find(|node| node.label == Label::NoStack);
        assert_eq!(no_stack.map_or(0, |node| node.all_weight), recording.weight_without_stack());
        let by_thread = recording.weight_by_thread();
        for rows in weights.rows().chunk_by(|a, b| a.thread == b.thread) {
            let thread = profile.thread(rows[0].thread);
            let key = (profile.process(thread.process).pid.unwrap() as u32, thread.tid.unwrap());
            assert_adds_up(&merger.tree(rows), by_thread[&key]);
        }
        assert_functions(profile, &whole);
    }
}

/// Functions, against the slow form: each sample once for each function in its stack.
fn assert_functions(profile: &Profile, tree: &CallTree) {
    let mut expected: BTreeMap<Label, (u64, u64)> = BTreeMap::new();
    for sample in profile.samples() {
        let mut labels: Vec<Label> =
            profile.frames_leaf_first(sample.stack).map(|frame| Label::Function(frame.function)).collect();
        if labels.is_empty() {
            labels.push(Label::NoStack);
        }
        expected.entry(labels[0]).or_default().0 += sample.weight;
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            expected.entry(label).or_default().1 += sample.weight;
        }
    }
    let rows = tree.functions(profile);
    let found: BTreeMap<Label, (u64, u64)> =
        rows.iter().map(|row| (row.label, (row.self_weight, row.all_weight))).collect();
    assert_eq!(found, expected);
    assert_eq!(rows.iter().map(|row| row.self_weight).sum::<u64>(), tree.root().all_weight);
}

#[test]
fn folded_stacks_are_those_of_the_recording() {
    for seed in 0..60 {
        let recording = support::Invented::random(seed, &Size::small());
        let export = open(&recording, Shape::Xcode27);
        let options = ReportOptions {
            selection: every_state(),
            view: View::Tree,
            separate_by: SeparateBy::Nothing,
            ..ReportOptions::default()
        };
        let mut out = Vec::new();
        output::write(&export.report(&options), &Format::Folded, &mut out).unwrap();
        let mut found = BTreeMap::new();
        for line in String::from_utf8(out).unwrap().lines() {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            *found.entry(stack.to_owned()).or_insert(0) += weight.parse::<u64>().unwrap();
        }
        assert_eq!(found.remove(NO_STACK).unwrap_or(0), recording.weight_without_stack());
        assert_eq!(found, expected_folded(&recording), "seed {seed}");
    }
}

/// The recording's own folded stacks, with separators escaped and Rust names as they are shown.
fn expected_folded(recording: &support::Invented) -> BTreeMap<String, u64> {
    let mut folded = BTreeMap::new();
    for row in &recording.rows {
        let Some(names) = recording.displayed_names(row, Shape::Xcode27) else { continue };
        let names: Vec<String> = names.iter().map(|name| support::escaped(&support::names::shown(name))).collect();
        *folded.entry(names.join(";")).or_default() += row.weight;
    }
    folded.retain(|_, weight| *weight > 0);
    folded
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn pruning_hides_but_loses_nothing(seed in any::<u64>(), min_percent in 0.0..30.0_f64, depth in 0..20_u32) {
        let recording = support::Invented::random(seed, &Size::small());
        let export = open(&recording, Shape::Xcode14_3);
        let weights = StackWeights::new(&every_state().on(&export.profile), Metric::Weight);
        let mut merger = Merger::new(&export.profile);
        let whole = merger.tree(weights.rows());
        let pruned = merger.pruned_tree(weights.rows(), &Pruning { min_percent, depth: Some(depth), ..Pruning::default() });
        assert_adds_up(&pruned, whole.root().all_weight);
        let least = whole.root().all_weight as f64 * min_percent / 100.0;
        prop_assert!(pruned.nodes().iter().all(|node| node.depth <= depth && node.all_weight as f64 >= least));
        // What is left is the whole tree's upper part, node by node.
        let kept = whole.nodes().iter().filter(|node| node.depth <= depth && node.all_weight as f64 >= least);
        let key = |node: &traceparse::calltree::Node| (node.label, node.depth, node.all_weight, node.self_weight);
        prop_assert!(kept.map(key).eq(pruned.nodes().iter().map(key)));
    }

    #[test]
    fn the_order_of_rows_does_not_change_trees(seed in any::<u64>(), order in any::<u64>()) {
        let recording = support::Invented::random(seed, &Size::small());
        let text = |shuffled: bool| {
            let options = RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording);
            let options = if shuffled { options.shuffled(order) } else { options };
            let export = read(render(&recording, &options).as_bytes(), "test.xml", &Options::default()).unwrap();
            let options = ReportOptions { view: View::Tree, selection: every_state(), ..ReportOptions::default() };
            let mut out = Vec::new();
            output::write(&export.report(&options), &Format::Folded, &mut out).unwrap();
            // A thread that was shown under two names equally often has the first: order may decide that.
            String::from_utf8(out).unwrap().lines().map(|line| line.split_once(";").unwrap().1.split_once(';').unwrap().1.to_owned()).collect::<std::collections::BTreeSet<_>>()
        };
        prop_assert_eq!(text(false), text(true));
    }

    #[test]
    fn a_split_of_time_splits_the_weight(seed in any::<u64>(), share in 0.0..1.0_f64) {
        use traceparse::profile::TimeRange;
        use traceparse::units::Nanos;
        let recording = support::Invented::random(seed, &Size::small());
        let export = open(&recording, Shape::Xcode27);
        let last = recording.rows.iter().map(|row| row.time_ns).max().unwrap();
        let cut = Nanos::from_nanos((last as f64 * share) as u64);
        let weight = |start: Nanos, end: Option<Nanos>| {
            let selection = Selection { time: Some(TimeRange { start, end }), ..every_state() };
            selection.on(&export.profile).iter().map(|sample| sample.weight).sum::<u64>()
        };
        prop_assert_eq!(weight(Nanos::default(), Some(cut)) + weight(cut, None), recording.total_weight());
    }

    #[test]
    fn any_bytes_are_an_error_or_a_result(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let _ = read(bytes.as_slice(), "noise", &Options::default());
    }
}
