//! Intervals of signposts, hangs and hang risks in bundles, against those of the export.

use std::path::Path;

use traceparse::bundle::Bundle;
use traceparse::recording::{HangRisk, Interval, IntervalOrigin, Intervals, Options};

use super::Case;
use support::bundle::mutations::edit;
use support::bundle::{BUNDLE, BundleOptions, Files, Memory, Version, write_bundle};
use support::other_tables::Hang;
use support::writer::Content;
use support::{self, Invented, Node, Part, RenderOptions, Rng, Shape, Signpost, Size, render};

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
            // One without an end is in no row of intervals.
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
    let found = bundle.intervals("orchard").unwrap();
    for table in &found.tables {
        assert_eq!(table.rows, table.used + table.unused + table.rejected.total(), "{table:?}");
    }
    found
}

fn exported(recording: &Invented, nodes: &[Node]) -> Intervals {
    let xml = render(recording, &RenderOptions::with_nodes(Shape::Xcode26_2, nodes.to_vec()));
    Intervals::read(xml.as_bytes(), "orchard", &Options::default()).unwrap()
}

#[test]
fn intervals_are_those_of_the_export() {
    let (mut count, mut regions, mut risks, mut lone_ends) = (0, 0, 0, 0);
    for seed in 0..200 {
        let case = case(seed);
        let found = read(&write_bundle(&case.recording, &case.options));
        assert!(found.diagnostics.is_empty(), "seed {seed}: {:?}", found.diagnostics);
        assert!(found.tables.iter().all(|table| table.input == "orchard" && table.rejected.total() == 0));
        let exported = exported(&case.recording, &case.options.nodes);
        assert_eq!(told(&found), told(&exported), "seed {seed}");
        assert_eq!(found.lone_ends, exported.lone_ends, "seed {seed}");
        assert_eq!(found.distinct().len(), exported.distinct().len(), "seed {seed}: a region is the same as a pair");
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
    assert!(
        count > 10_000 && regions > 1_000 && risks > 1_000 && lone_ends > 300,
        "{count} {regions} {risks} {lone_ends}"
    );
}

/// One run with these tables, as a version writes them.
fn bundle(version: Version, contents: Vec<Content>) -> (Invented, BundleOptions) {
    let recording = Invented::random(5, &Size { rows: 12, ..Size::small() });
    let nodes = contents.into_iter().zip(1..).map(|(content, table_index)| Node { run: 1, table_index, content });
    let options = BundleOptions { version, symbols: None, ..BundleOptions::with_nodes(nodes.collect()) };
    (recording, options)
}

fn points() -> Vec<Signpost> {
    let point = |name: &str, start: u64, end: u64| Signpost {
        category: "PointsOfInterest".to_owned(),
        ..Signpost::new(name, start, end, 1)
    };
    vec![point("load", 10, 900), point("load", 20, 30), point("store", 40, 50)]
}

#[test]
fn regions_alone_are_intervals_in_every_version() {
    for version in [Version::V13, Version::V16, Version::V26] {
        let (recording, options) = bundle(version, vec![Content::Regions(points())]);
        let found = read(&write_bundle(&recording, &options));
        let times: Vec<_> =
            found.distinct().iter().map(|row| (row.start.as_nanos(), row.end.unwrap().as_nanos())).collect();
        assert_eq!(times, [(10, 900), (20, 30), (40, 50)], "{version:?}");
        let table = &found.tables[0];
        assert_eq!((table.rows, table.used, table.unused), (4, 3, 1), "{version:?}: a point is no interval");
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    }
}

/// The file of a table of this schema.
fn file_of(files: &Files, schema: &str, name: &str) -> String {
    let begin = format!("<schema name=\"{schema}\"");
    let is_it = |path: &String| {
        let content = support::bundle::unpacked::inflated(&files.iter().find(|(known, _)| known == path).unwrap().1);
        path.ends_with("/schema.xml") && String::from_utf8_lossy(&content.unwrap()).contains(&begin)
    };
    let path = files.iter().map(|(path, _)| path).find(|path| is_it(path)).expect("there is such a table");
    path.replace("schema.xml", name)
}

fn replaced(files: &mut Files, path: &str, from: &str, to: &str) {
    edit(files, path, |content| {
        let text = String::from_utf8(content.clone()).expect("it is text");
        assert!(text.contains(from), "{text}");
        *content = text.replace(from, to).into_bytes();
    });
}

/// The columns that pair ends must be there; those that only say more need not.
#[test]
fn columns_of_other_types_cost_what_depends_on_them() {
    let contents = || {
        let risk = support::HangRisk {
            time_ns: 7,
            message: vec![Part::Text("waited".to_owned())],
            severity: "High",
            event_type: "Wait",
            row: 0,
        };
        vec![
            Content::SignpostIntervals(points()),
            Content::SignpostEvents(points()),
            Content::Regions(points()),
            Content::PotentialHangs(vec![Hang { start_ns: 1, duration_ns: 2, row: 0 }]),
            Content::HangRisks(vec![risk]),
        ]
    };
    for (schema, type_name, is_read) in [
        ("os-signpost", "XROSSignpostIdentifierTypeID", false),
        ("os-signpost", "XROSLogCategoryTypeID", false),
        ("os-signpost", "XROSLogEventTypeID", false),
        ("os-signpost", "XRTextBacktraceTypeID", true),
        ("os-signpost-interval", "XROSSignpostIdentifierTypeID", true),
        ("os-signpost-interval", "XRDurationTypeID", false),
        ("region-of-interest", "XRRegionOfInterestClassTypeID", false),
        ("region-of-interest", "XROSLogSubsystemTypeID", true),
        ("potential-hangs", "XRHangTypeTypeID", true),
        ("hang-risks", "XRNarrativeEntryTypeID", true),
        ("hang-risks", "XRRecordedEventTimestampTypeID", false),
    ] {
        let (recording, options) = bundle(Version::V26, contents());
        let mut files = write_bundle(&recording, &options);
        let whole = read(&files);
        assert!(whole.diagnostics.is_empty() && whole.tables.len() == 5, "{:?}", whole.diagnostics);
        let path = file_of(&files, schema, "schema.xml");
        replaced(&mut files, &path, type_name, "XRUnheardOfTypeID");
        let found = read(&files);
        let has_table = found.tables.iter().any(|table| table.schema == schema);
        assert_eq!(has_table, is_read, "{schema} {type_name}");
        let is_told = found.diagnostics.iter().any(|told| told.message.contains("XRUnheardOfTypeID"));
        assert_eq!(is_told, type_name != "XRTextBacktraceTypeID", "{:?}", found.diagnostics);
        // Other tables have the same.
        let signposts = found.distinct().into_iter().filter(|interval| !interval.is_hang()).count();
        assert!(signposts >= 3, "{schema} {type_name}");
    }
}

/// Without the parts of messages, hang risks cannot be read, and intervals can.
#[test]
fn typed_arrays_that_are_broken_cost_hang_risks_only() {
    let risk = support::HangRisk {
        time_ns: 7,
        message: vec![
            Part::Text("waited ".to_owned()),
            Part::Log(vec![Part::Number(1_000), Part::Duration(1_280_000_000)]),
        ],
        severity: "High",
        event_type: "Wait",
        row: 0,
    };
    let (recording, options) =
        bundle(Version::V16, vec![Content::SignpostEvents(points()), Content::HangRisks(vec![risk])]);
    let files = write_bundle(&recording, &options);
    let whole = read(&files);
    assert_eq!(whole.hang_risks[0].message.as_deref(), Some("waited 1,000 1.28 s"));
    let uniquing = "corespace/run1/core/uniquing";
    let break_types = |files: &mut Files| {
        // The last byte of the table of objects' places: nothing is where it was.
        edit(files, &format!("{uniquing}/EngineeringTypes.etypes"), |content| content.truncate(content.len() - 1));
    };
    let break_arrays = |files: &mut Files| {
        edit(files, &format!("{uniquing}/typedArrayUniquer/integeruniquer.index"), |content| content[0] = 0);
    };
    let store = file_of(&files, "hang-risks", "bulkstore");
    // The message stands behind a time and two categories.
    let other_message = |files: &mut Files| edit(files, &store, |content| content[0x1000 + 16] = 0xee);
    let remove = |files: &mut Files| files.retain(|(path, _)| !path.contains("run1/core/uniquing/typedArrayUniquer"));
    for (broken, change) in [
        ("EngineeringTypes.etypes", &break_types as &dyn Fn(&mut Files)),
        ("typedArrayUniquer", &break_arrays),
        ("bulkstore: row at 0x1000: array 238 is not there", &other_message),
        ("typedArrayUniquer", &remove),
    ] {
        let mut files = files.clone();
        change(&mut files);
        let found = read(&files);
        assert!(found.hang_risks.is_empty(), "{broken}");
        let told: Vec<_> = found.diagnostics.iter().map(|told| told.message.as_str()).collect();
        assert!(told.iter().any(|told| told.starts_with("left out: ") && told.contains(broken)), "{told:?}");
        assert_eq!(found.intervals, whole.intervals, "{broken}");
    }
}
