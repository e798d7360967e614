//! Intervals of signposts and hangs in bundles, against those of the export.

use std::path::Path;

use traceparse::bundle::Bundle;
use traceparse::export::{Interval, Intervals, Options, read_intervals};

use super::Case;
use super::support::bundle::{BUNDLE, Memory, write_bundle};
use super::support::other_tables::Hang;
use super::support::writer::Content;
use super::support::{Node, RenderOptions, Rng, Shape, Signpost, render};

const NAMES: [&str; 3] = ["load", "<store> & \"save\"", "Möbius"];

/// A random recording with intervals in some of its runs.
fn case(seed: u64) -> Case {
    let mut case = Case::random(seed);
    let mut rng = Rng::new(seed ^ 0x517e);
    case.options.nodes.clear();
    for run in case.recording.runs() {
        let rows = case.recording.rows_of_run(run);
        let signpost = |rng: &mut Rng| Signpost {
            rows: (*rng.pick(&rows), *rng.pick(&rows)),
            // One without an end is in no row.
            end_ns: (!rng.one_in(5)).then(|| 2_000 + rng.below(90_000_000)),
            ..Signpost::new(NAMES[rng.index(3)], rng.below(2_000), 0, 0)
        };
        let signposts = (0..rng.index(20)).map(|_| signpost(&mut rng)).collect();
        let hang = |rng: &mut Rng| Hang {
            start_ns: rng.below(1 << 40),
            duration_ns: rng.below(1_000_000_000),
            row: *rng.pick(&rows),
        };
        let hangs = (0..rng.index(9)).map(|_| hang(&mut rng)).collect();
        case.options.nodes.push(Node { run, table_index: 3, content: Content::SignpostIntervals(signposts) });
        case.options.nodes.push(Node { run, table_index: 4, content: Content::PotentialHangs(hangs) });
    }
    case
}

/// What bundles are known to have.
fn known(interval: &Interval) -> Interval {
    Interval { subsystem: None, category: None, identifier: None, hang_type: None, ..interval.clone() }
}

type Counts = Vec<(u32, String, u64, u64)>;

fn told(found: &Intervals) -> (Vec<Interval>, Counts) {
    let counts = found.tables.iter().map(|table| (table.run, table.schema.clone(), table.rows, table.used)).collect();
    (found.intervals.iter().map(known).collect(), counts)
}

#[test]
fn intervals_are_those_of_the_export() {
    let mut count = 0;
    for seed in 0..200 {
        let case = case(seed);
        let files = write_bundle(&case.recording, &case.options);
        let memory = Memory::of_bundle(&files);
        let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default()).unwrap();
        let found = bundle.intervals("orchard").unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
        assert!(found.tables.iter().all(|table| table.input == "orchard" && table.rejected.total() == 0));
        let xml = render(&case.recording, &RenderOptions::with_nodes(Shape::Xcode26_2, case.options.nodes.clone()));
        let exported = read_intervals(xml.as_bytes(), "orchard", &Options::default()).unwrap();
        assert_eq!(told(&found), told(&exported), "seed {seed}");
        count += found.intervals.len();
    }
    assert!(count > 3_000, "{count}");
}
