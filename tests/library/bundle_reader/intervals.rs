//! Signposts, hangs and hang risks in bundles, compared with the export.

use std::collections::BTreeSet;
use std::path::Path;

use traceparse::bundle::Bundle;
use traceparse::recording::{HangRisk, Interval, IntervalOrigin, Intervals, Options};

use super::Case;
use support::bundle::{BUNDLE, Files, Memory, write_bundle};
use support::other_tables::Hang;
use support::writer::Content;
use support::{self, Invented, Node, Part, RenderOptions, Rng, Shape, Signpost, render};

const NAMES: [&str; 3] = ["load", "<store> & \"save\"", "Möbius"];
const CATEGORIES: [&str; 3] = ["PointsOfInterest", "InduceCondition", "work"];

/// A message of random parts, which may hold parts.
fn message(rng: &mut Rng, depth: usize) -> Vec<Part> {
    let part = |rng: &mut Rng| match rng.index(if depth > 0 { 6 } else { 5 }) {
        0 => Part::Name(NAMES[rng.index(3)].to_owned()),
        1 => Part::Number(if rng.one_in(3) { u64::MAX } else { rng.below(1 << 40) }),
        2 => Part::Duration(rng.below(1 << 35)),
        3 => Part::None,
        4 => Part::Text(["waited for ", " on the main thread", ": "][rng.index(3)].to_owned()),
        _ => Part::Log(message(rng, depth - 1)),
    };
    (0..rng.index(5)).map(|_| part(rng)).collect()
}

/// A random recording with signposts and hangs in some of its runs: in several tables, some of which have the same intervals.
fn case(seed: u64) -> Case {
    let mut case = Case::random(seed);
    let mut rng = Rng::new(seed ^ 0x517e);
    case.options.nodes.clear();
    for run in case.recording.runs() {
        let rows = case.recording.rows_of_run(run);
        let signpost = |rng: &mut Rng, category: &str| Signpost {
            rows: (*rng.pick(&rows), *rng.pick(&rows)),
            start_ns: (!rng.one_in(8)).then(|| rng.below(2_000)),
            // An interval without an end is in no row of intervals.
            end_ns: (!rng.one_in(5)).then(|| 2_000 + rng.below(90_000_000)),
            scope: ["Process", "Process", "Thread", "System"][rng.index(4)],
            identifier: if rng.one_in(2) { rng.below(3) } else { 0xeeee_b0b5_b2b2_eeee },
            category: category.to_owned(),
            ..Signpost::new(NAMES[rng.index(3)], 0, 0, 0)
        };
        let [points, induced, work] =
            CATEGORIES.map(|category| (0..rng.index(12)).map(|_| signpost(&mut rng, category)).collect::<Vec<_>>());
        let all: Vec<Signpost> = [points.clone(), induced.clone(), work].concat();
        let hang = |rng: &mut Rng| Hang {
            start_ns: rng.below(1 << 40),
            duration_ns: rng.below(1_000_000_000),
            row: *rng.pick(&rows),
        };
        let hangs = (0..rng.index(9)).map(|_| hang(&mut rng)).collect();
        let risk = |rng: &mut Rng| support::HangRisk {
            time_ns: rng.below(50),
            message: message(rng, 2),
            severity: ["Low", "High"][rng.index(2)],
            event_type: ["Synchronous I/O", "Priority Inversion"][rng.index(2)],
            row: *rng.pick(&rows),
        };
        let risks = (0..rng.index(9)).map(|_| risk(&mut rng)).collect();
        let contents = [
            Content::SignpostIntervals(all.clone()),
            Content::RecentIntervals(all),
            Content::SignpostEvents(points.clone()),
            Content::SignpostEvents(induced),
            Content::Regions(points),
            Content::PotentialHangs(hangs),
            Content::HangRisks(risks),
        ];
        let nodes = contents.into_iter().zip(3..).map(|(content, table_index)| Node { run, table_index, content });
        case.options.nodes.extend(nodes);
    }
    case
}

type Counts = Vec<(u32, String, [u64; 3])>;

/// All but regions of interest, which exports do not have.
fn told(found: &Intervals) -> (Vec<Interval>, Vec<HangRisk>, Counts) {
    let is_of_exports = |interval: &&Interval| interval.origin != IntervalOrigin::Region;
    let tables = found.tables.iter().filter(|table| table.schema != "region-of-interest");
    let counts = tables.map(|table| (table.run, table.schema.clone(), [table.rows, table.used, table.unused]));
    (found.intervals.iter().filter(is_of_exports).cloned().collect(), found.hang_risks.clone(), counts.collect())
}

fn read(files: &Files) -> Intervals {
    let memory = Memory::of_bundle(files);
    let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default()).unwrap();
    let found = bundle.intervals("orchard", &Options::default()).unwrap();
    for table in &found.tables {
        assert_eq!(table.rows, table.used + table.unused + table.rejected.total(), "{table:?}");
    }
    found
}

fn exported(recording: &Invented, nodes: &[Node]) -> Intervals {
    let xml = render(recording, &RenderOptions::with_nodes(Shape::Xcode26_2, nodes.to_vec()));
    Intervals::read(xml.as_bytes(), "orchard", &Options::default()).unwrap()
}

/// An interval that several tables contain is listed once. An open interval is not listed if another table has its end.
fn assert_distinct(found: &Intervals) {
    let distinct = found.distinct();
    let outlines = |intervals: &[&Interval], is_open: bool| -> BTreeSet<_> {
        let intervals = intervals.iter().filter(|interval| interval.end.is_none() == is_open);
        let name = |interval: &Interval| format!("{:?} {:?}", interval.name, interval.hang_type);
        intervals.map(|interval| ((interval.run, name(interval), interval.pid, interval.start), interval.end)).collect()
    };
    let all: Vec<&Interval> = found.intervals.iter().collect();
    let ended = outlines(&all, false);
    assert_eq!(outlines(&distinct, false), ended);
    let begun: BTreeSet<_> = ended.iter().map(|(beginning, _)| beginning).collect();
    let mut open = outlines(&all, true);
    open.retain(|(beginning, _)| !begun.contains(beginning));
    assert!(open.is_subset(&outlines(&distinct, true)));
    let whole = distinct
        .iter()
        .map(|interval| format!("{:?}", Interval { origin: IntervalOrigin::Signpost, ..(*interval).clone() }));
    assert_eq!(whole.collect::<BTreeSet<_>>().len(), distinct.len());
}

#[test]
fn intervals_are_those_of_the_export() {
    let (mut count, mut regions, mut risks, mut lone_ends) = (0, 0, 0, 0);
    for seed in support::seeds(200) {
        let case = case(seed);
        let found = read(&write_bundle(&case.recording, &case.options));
        assert!(found.diagnostics.is_empty(), "seed {seed}: {:?}", found.diagnostics);
        assert!(found.tables.iter().all(|table| table.input == "orchard" && table.rejected.total() == 0));
        let exported = exported(&case.recording, &case.options.nodes);
        assert_eq!(told(&found), told(&exported), "seed {seed}");
        assert_eq!(found.lone_ends, exported.lone_ends, "seed {seed}");
        assert_eq!(found.distinct().len(), exported.distinct().len(), "seed {seed}: a region is the same as a pair");
        assert_distinct(&found);
        // They have every point of interest, and tell less of it.
        let of_regions = |interval: &Interval| Interval {
            origin: IntervalOrigin::Region,
            category: None,
            identifier: None,
            ..interval.clone()
        };
        let is_point = |interval: &&Interval| {
            interval.origin == IntervalOrigin::Signpost && interval.category.as_deref() == Some("PointsOfInterest")
        };
        let twice = exported.intervals.iter().filter(is_point).map(of_regions);
        let mut expected: Vec<Interval> = twice.collect();
        let mut found_regions: Vec<Interval> =
            found.intervals.iter().filter(|interval| interval.origin == IntervalOrigin::Region).cloned().collect();
        let key = |interval: &Interval| format!("{interval:?}");
        expected.sort_by_key(key);
        // Two tables of the export have each.
        expected = expected.into_iter().step_by(2).collect();
        found_regions.sort_by_key(key);
        assert_eq!(found_regions, expected, "seed {seed}");
        (count, regions) = (count + found.intervals.len(), regions + found_regions.len());
        (risks, lone_ends) = (risks + found.hang_risks.len(), lone_ends + found.lone_ends.len());
    }
    let tenths = support::rounds(10) as usize;
    assert!(
        count > 50 * tenths && regions > 5 * tenths && risks > 5 * tenths && lone_ends > tenths,
        "{count} {regions} {risks} {lone_ends}"
    );
}
