//! Reports with a cache equal reports without one, and bottom-up trees equal the trees of inverted stacks.

use proptest::prelude::*;
use support::{Invented, RenderOptions, Shape, Size, Table, render};
use traceparse::calltree::{
    Action, AtPlace, CallTree, CallerNode, Callers, FunctionSet, Label, Merger, Metric, Node, Operation, PlaceAction,
    StackWeights, TreeDirection, WeighedForest,
};
use traceparse::profile::{Profile, Selection, StateFilter, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{Report, ReportCache, ReportOptions, SeparateBy, SeriesReport, View};
use traceparse::units::Nanos;

fn recording(seed: u64) -> Recording {
    let invented = Invented::random(seed, &Size { rows: 200, ..Size::small() });
    let xml = render(&invented, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &invented));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

fn selection(profile: &Profile, from: u64, all_states: bool) -> Selection {
    let times = || profile.samples().iter().map(|sample| sample.time.as_nanos());
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let at = |percent: u64| Nanos::from_nanos(first + (last - first) / 100 * percent);
    Selection {
        time: (from > 0).then(|| TimeRange { start: at(from), end: Some(at(from + 40)) }),
        states: if all_states { StateFilter::All } else { StateFilter::Running },
        ..Selection::default()
    }
}

/// Label, depth and sums of nodes in reading order.
type Row = (Label, u32, [u64; 4]);

fn rows_of(tree: &CallTree) -> Vec<Row> {
    let row = |node: &Node| {
        (node.label, node.depth, [node.self_weight, node.all_weight, node.self_samples, node.all_samples])
    };
    tree.nodes()[1..].iter().map(row).collect()
}

fn rows_down(tree: &WeighedForest<'_>, node: u32, depth: u32, rows: &mut Vec<Row>) {
    for child in tree.children(node, 0.0) {
        let sums = tree.sums(child);
        let numbers = [sums.self_weight, sums.all_weight, sums.self_samples, sums.all_samples];
        rows.push((tree.forest.label(child), depth, numbers));
        rows_down(tree, child, depth + 1, rows);
    }
}

fn rows_up(callers: &mut Callers<'_>, node: &CallerNode, rows: &mut Vec<Row>) {
    for caller in callers.of(node, 0.0) {
        let sums = caller.sums;
        let numbers = [sums.self_weight, sums.all_weight, sums.self_samples, sums.all_samples];
        rows.push((caller.label, caller.depth, numbers));
        rows_up(callers, &caller, rows);
    }
}

/// All contents of a code report for a series.
fn told(report: &Report<'_>, series: &SeriesReport) -> String {
    let scopes: Vec<_> = series.scopes.iter().map(|scope| (scope.scope, scope.counted)).collect();
    let code = (report.binaries(series), report.categories(series), report.transitions(series), report.lines(series));
    let threads = (report.processes(series), report.states(series), report.core_kinds(series), &series.threads);
    let rest =
        (report.source_files(series), report.overview(series, 5, 5, 20), report.unnamed().clone(), series.counted);
    format!("{scopes:#?}{code:#?}{threads:#?}{rest:#?}")
}

fn operated(profile: &Profile, action: Action) -> (Profile, StackWeights) {
    let operation = Operation { action, text: String::new() };
    let (after, _) = Selection::default().on(profile).operate(&[operation], Metric::Weight).unwrap();
    let weights = StackWeights::new(&Selection::default().on(&after), Metric::Weight);
    (after, weights)
}

/// The functions of each stack from the root on, with the samples that have it.
fn paths(profile: &Profile, weights: &StackWeights) -> Vec<(Vec<String>, u64)> {
    let path = |stack| {
        let names = profile.frames_leaf_first(stack).map(|frame| profile.function_name(frame.function).to_owned());
        let mut names: Vec<String> = names.collect();
        names.reverse();
        names
    };
    let mut found: Vec<_> = weights.rows().iter().map(|row| (path(row.stack), row.samples)).collect();
    found.sort();
    found
}

/// The same after an action at a place, in its obvious form.
fn at_place(path: &[String], place: &[String], action: PlaceAction) -> Option<Vec<String>> {
    if place.is_empty() || !path.starts_with(place) {
        return (action != PlaceAction::RootAt).then(|| path.to_vec());
    }
    let at = place.len() - 1;
    match action {
        PlaceAction::RootAt => Some(path[at..].to_vec()),
        PlaceAction::Prune => None,
        PlaceAction::Charge if path.len() == 1 => Some(path.to_vec()),
        PlaceAction::Charge => Some([&path[..at], &path[at + 1..]].concat()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn many_questions_get_the_answers_of_one(seed in any::<u64>(), by_samples in any::<bool>()) {
        let recording = recording(seed);
        let profile = &recording.profile;
        let cache = ReportCache::default();
        let metric = if by_samples { Metric::Samples } else { Metric::Weight };
        for (from, all_states) in [(0, false), (20, true), (55, false), (0, true)] {
            for separate_by in [SeparateBy::Thread, SeparateBy::State, SeparateBy::Nothing] {
                let selection = selection(profile, from, all_states);
                let options = ReportOptions { selection, metric, view: View::Tree, separate_by, ..ReportOptions::default() };
                let functions = recording.report(&ReportOptions { view: View::Functions, ..options.clone() }).series;
                let (once, weights) = (recording.report(&options), cache.weights(profile, &options));
                let many = recording.report_cached(&options, weights.clone(), &cache);
                prop_assert_eq!(once.series.len(), many.series.len());
                for ((one, other), functions) in once.series.iter().zip(&many.series).zip(functions) {
                    prop_assert_eq!(told(&once, one), told(&many, other));
                    let rows = weights.only(one.series);
                    let forest = cache.forest(profile);
                    let tree = WeighedForest { profile, forest, weights: &forest.weigh(rows.rows()) };
                    let mut down = Vec::new();
                    rows_down(&tree, 0, 1, &mut down);
                    let merged = Merger::new(profile).tree(rows.rows());
                    prop_assert_eq!(down, rows_of(&merged));
                    prop_assert_eq!(tree.functions(), functions.functions);
                }
            }
        }
    }

    #[test]
    fn callers_are_the_tree_of_inverted_stacks(seed in any::<u64>()) {
        let recording = recording(seed);
        let profile = &recording.profile;
        let weights = StackWeights::new(&Selection::default().on(profile), Metric::Weight);
        let forest = traceparse::calltree::Forest::new(profile);
        let weights = forest.weigh(weights.rows());
        let mut callers = Callers::new(WeighedForest { profile, forest: &forest, weights: &weights });
        let (root, mut up) = (callers.root(), Vec::new());
        rows_up(&mut callers, &root, &mut up);
        let (after, weights) = operated(profile, Action::Invert);
        prop_assert_eq!(up, rows_of(&Merger::new(&after).tree(weights.rows())));
    }

    #[test]
    fn operations_at_a_place_are_their_obvious_form(seed in any::<u64>(), pick in any::<prop::sample::Index>(), length in 1..6_usize) {
        let recording = recording(seed);
        let profile = &recording.profile;
        let before = paths(profile, &StackWeights::new(&Selection::default().on(profile), Metric::Weight));
        let (path, _) = &before[pick.index(before.len())];
        let actions = [PlaceAction::RootAt, PlaceAction::Prune, PlaceAction::Charge];
        for (direction, action) in [TreeDirection::Down, TreeDirection::Up].into_iter().flat_map(|d| actions.map(|a| (d, a))) {
            let turned = |path: &[String]| match direction {
                TreeDirection::Down => path.to_vec(),
                TreeDirection::Up => path.iter().rev().cloned().collect(),
            };
            let place: Vec<String> = turned(path).into_iter().take(length).collect();
            let level = |wanted: &String| FunctionSet::of_names(profile, |name| name == wanted);
            let at = AtPlace { action, direction, path: place.iter().map(level).collect() };
            let (after, weights) = operated(profile, Action::AtPlace(at));
            let kept = before.iter().filter_map(|(path, samples)| {
                Some((turned(&at_place(&turned(path), &place, action)?), *samples))
            });
            let mut expected: std::collections::BTreeMap<Vec<String>, u64> = std::collections::BTreeMap::new();
            kept.for_each(|(path, samples)| *expected.entry(path).or_default() += samples);
            let mut found: std::collections::BTreeMap<Vec<String>, u64> = std::collections::BTreeMap::new();
            paths(&after, &weights).into_iter().for_each(|(path, samples)| *found.entry(path).or_default() += samples);
            prop_assert_eq!(found, expected, "{:?} {:?} {:?}", direction, action, place);
        }
    }
}
