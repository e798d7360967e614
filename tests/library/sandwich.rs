//! Callers, callees and heaviest stacks of random recordings, compared with obvious implementations.

use std::collections::BTreeMap;

use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::FunctionSet;
use traceparse::calltree::{Merger, Metric, Sandwich, StackWeights};
use traceparse::profile::{Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{Cell, ReportOptions, SeparateBy, View};

fn open(seed: u64) -> Recording {
    let recording = support::Invented::random(seed, &Size { rows: 60, ..Size::small() });
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

fn every_state() -> Selection {
    Selection { states: StateFilter::All, ..Selection::default() }
}

#[test]
fn every_sample_has_one_caller_and_one_callee() {
    let mut recurs = 0;
    for seed in 0..200 {
        let export = open(seed);
        let profile = &export.profile;
        let weights = StackWeights::new(&every_state().on(profile), Metric::Weight);
        for modulus in 1..6 {
            let chosen = FunctionSet::new(profile, |id| id.index() % modulus == 0);
            let mut callers: BTreeMap<Option<usize>, (u64, u64)> = BTreeMap::new();
            let mut callees: BTreeMap<Option<usize>, (u64, u64)> = BTreeMap::new();
            for sample in profile.samples() {
                let mut stack: Vec<_> = profile.frames_leaf_first(sample.stack).map(|frame| frame.function).collect();
                stack.reverse();
                let Some(first) = stack.iter().position(|&id| chosen.contains(id)) else { continue };
                let last = stack.iter().rposition(|&id| chosen.contains(id)).unwrap();
                recurs += usize::from(first < last);
                let caller = callers.entry(first.checked_sub(1).map(|place| stack[place].index())).or_default();
                *caller = (caller.0 + sample.weight, caller.1 + 1);
                let callee = callees.entry(stack.get(last + 1).map(|id| id.index())).or_default();
                *callee = (callee.0 + sample.weight, callee.1 + 1);
            }
            let found = Sandwich::new(profile, weights.rows(), &chosen);
            let own = found.own;
            assert_eq!((own.self_weight, own.self_samples), callees.remove(&None).unwrap_or_default());
            let all = callers.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
            assert_eq!((own.all_weight, own.all_samples), all);
            assert!(found.callers.windows(2).all(|pair| pair[0].1 >= pair[1].1), "heaviest first");
            let rows = found.callers.iter().map(|&(id, weight, samples)| (id.map(|id| id.index()), (weight, samples)));
            assert_eq!(rows.collect::<BTreeMap<_, _>>(), callers);
            let rows = found.callees.iter().map(|&(id, weight, samples)| (Some(id.index()), (weight, samples)));
            assert_eq!(rows.collect::<BTreeMap<_, _>>(), callees);
        }
    }
    assert!(recurs > 1_000, "{recurs} stacks have chosen functions several times");
}

/// The heaviest stack is the path of first children through the complete tree, regardless of pruning elsewhere.
#[test]
fn the_heaviest_stack_is_the_first_way_through_the_tree() {
    for seed in 0..100 {
        let export = open(seed);
        let options = ReportOptions {
            selection: every_state(),
            view: View::Heaviest,
            separate_by: SeparateBy::Nothing,
            ..ReportOptions::default()
        };
        let report = export.report(&options);
        let listing = report.listing(&report.series[0]).unwrap();
        let weights = StackWeights::new(&every_state().on(&export.profile), Metric::Weight);
        let tree = Merger::new(&export.profile).tree(weights.rows());
        let way = std::iter::successors(tree.children(0).next(), |&node| tree.children(node).next());
        let expected = way.map(|node| {
            let node = &tree.nodes()[node];
            [Cell::Number(node.depth.into()), Cell::Weight(node.all_weight), Cell::Weight(node.self_weight)]
        });
        let found = listing.rows.iter().map(|row| [row[6].clone(), row[7].clone(), row[8].clone()]);
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
