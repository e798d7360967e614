//! A recording, rendered in the form of each Xcode, is read back as recorded.

use support::{RenderOptions, Shape, Size, Table, render};
use traceparse::profile::{Profile, Sample};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::units::Unit;

const TABLES: [Table; 4] = [
    Table::TimeProfile,
    Table::CpuProfile,
    Table::CountersProfile { pmi: false },
    Table::CountersProfile { pmi: true },
];

fn open(xml: &str) -> Recording {
    let export = read(xml.as_bytes(), "test.xml", &Options::default()).unwrap();
    assert!(export.diagnostics.is_empty(), "{:?}", export.diagnostics);
    assert_eq!(export.rejected(), 0);
    export
}

/// All properties of a sample that each shape records, except the stack.
fn head(profile: &Profile, sample: &Sample) -> String {
    let thread = profile.thread(sample.thread);
    let process = profile.process(thread.process);
    let core = sample.core.map(|core| profile.core(core).index);
    let state = sample.state.map(|state| profile.string(state));
    format!(
        "run {} at {} weight {} of {:?} in {:?} {:?} core {core:?} {state:?}",
        profile.run(process.run).number,
        sample.time.as_nanos(),
        sample.weight,
        process.pid,
        profile.string(process.name),
        thread.tid,
    )
}

/// The same, from the recording.
fn expected_head(recording: &support::Invented, row: &support::Row, weight: u64) -> String {
    let process = recording.process_of(row);
    format!(
        "run {} at {} weight {weight} of {:?} in {:?} {:?} core {:?} {:?}",
        row.run,
        row.time_ns,
        Some(process.pid),
        process.name,
        Some(recording.thread_of(row).tid),
        row.core.map(|(index, _)| index),
        Some(row.state),
    )
}

/// The frames of a sample, root first: name (`None` for an address), UUID, lookup address, source.
fn stack(profile: &Profile, sample: &Sample) -> Option<Vec<(String, String, u64, String)>> {
    sample.stack?;
    let frames = profile.frames_leaf_first(sample.stack).map(|frame| {
        let function = profile.function(frame.function);
        let name = if function.is_named { profile.string(function.name) } else { "" };
        let uuid = frame.binary.and_then(|binary| profile.binary(binary).uuid);
        let source = frame.source.map(|source| format!("{}:{}", profile.string(source.path), source.line));
        let uuid = uuid.map(|uuid| uuid.to_string()).unwrap_or_default();
        (name.to_owned(), uuid, frame.lookup_address.get(), source.unwrap_or_default())
    });
    let mut frames: Vec<_> = frames.collect();
    frames.reverse();
    Some(frames)
}

fn is_rust_with_hash(name: &str) -> bool {
    name.rsplit_once("::h").is_some_and(|(_, hash)| hash.len() == 16)
}

#[test]
fn every_shape_of_every_table_is_read_back() {
    for seed in 0..12 {
        let size = Size { runs: 1 + (seed % 2) as u32, inlined: seed % 3 == 0, ..Size::small() };
        let recording = support::Invented::random(seed, &size);
        for shape in Shape::ALL {
            for table in TABLES {
                let xml = render(&recording, &RenderOptions::new(shape, table, &recording));
                check(&recording, &open(&xml), shape, table);
            }
        }
    }
}

fn check(recording: &support::Invented, export: &Recording, shape: Shape, table: Table) {
    let profile = &export.profile;
    assert_eq!(profile.samples().len(), recording.rows.len());
    let unit = match table {
        Table::TimeProfile | Table::CountersProfile { pmi: false } => Unit::Nanoseconds,
        Table::CpuProfile => Unit::Cycles,
        Table::CountersProfile { pmi: true } => Unit::PmcEvents,
        Table::TimeSample => Unit::Samples,
    };
    for (index, (sample, row)) in profile.samples().iter().zip(&recording.rows).enumerate() {
        assert_eq!(head(profile, sample), expected_head(recording, row, row.weight), "{shape:?}");
        assert_eq!(profile.weight(sample).unit, unit);
        if matches!(table, Table::CountersProfile { .. }) {
            assert_eq!(profile.counters(index), row.counters);
        }
        let frames: Vec<_> = profile.frames_leaf_first(sample.stack).collect();
        let leaf_first = |addresses: Option<Vec<u64>>| addresses.into_iter().flatten().rev().collect::<Vec<u64>>();
        let recorded: Vec<u64> = frames.iter().map(|frame| frame.address.get()).collect();
        assert_eq!(recorded, leaf_first(recording.recorded_addresses(row, shape)), "{shape:?}");
        let lookup: Vec<u64> = frames.iter().map(|frame| frame.lookup_address.get()).collect();
        assert_eq!(lookup, leaf_first(recording.lookup_addresses(row, shape)), "{shape:?}");
        assert_eq!(sample.stack.is_none(), row.stack.is_none());
        check_names(recording, profile, sample, row, shape);
    }
    check_threads(recording, profile);
}

/// Names come from the document; in fragments (before 14.3), only the leaf has a name.
fn check_names(recording: &support::Invented, profile: &Profile, sample: &Sample, row: &support::Row, shape: Shape) {
    let has_only_leaf = matches!(shape, Shape::Xcode12 | Shape::Xcode14_0);
    let names = recording.displayed_names(row, shape).unwrap_or_default();
    for (frame, name) in profile.frames_leaf_first(sample.stack).zip(names.iter().rev()) {
        let found = profile.function_name(frame.function);
        if is_rust_with_hash(name) {
            assert!(!found.contains('$') && !is_rust_with_hash(found), "{found}");
        } else {
            assert_eq!(found, name, "{shape:?}");
        }
        if has_only_leaf {
            break;
        }
    }
}

/// Weights by thread. The name may change between rows, but must be a recorded name.
fn check_threads(recording: &support::Invented, profile: &Profile) {
    let mut by_thread = std::collections::BTreeMap::new();
    for sample in profile.samples() {
        let thread = profile.thread(sample.thread);
        let key = (profile.process(thread.process).pid.unwrap() as u32, thread.tid.unwrap());
        *by_thread.entry(key).or_insert(0) += sample.weight;
        let known = recording
            .threads
            .iter()
            .find(|known| known.tid == key.1 && recording.processes[known.process].pid == key.0);
        let name = profile.string(thread.name);
        assert!(known.unwrap().names.iter().any(|known| known == name), "{name:?} of {known:?}");
    }
    assert_eq!(by_thread, recording.weight_by_thread());
}

#[test]
fn a_thread_has_the_name_that_most_of_its_samples_show() {
    let recording = support::Invented::random(3, &Size { rows: 400, ..Size::small() });
    assert!(recording.threads.iter().any(|thread| thread.names.len() > 1), "the seed shows nothing");
    let export = open(&render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording)));
    let profile = &export.profile;
    for id in profile.thread_ids() {
        let thread = profile.thread(id);
        let rows = recording.rows.iter().filter(|row| Some(recording.thread_of(row).tid) == thread.tid);
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for row in rows {
            *counts.entry(recording.thread_name_of(row)).or_default() += 1;
        }
        let most = *counts.values().max().unwrap();
        assert_eq!(counts[profile.string(thread.name)], most, "{counts:?}");
    }
}

#[test]
fn the_shapes_with_frames_give_equal_profiles() {
    for seed in 100..110 {
        let recording = support::Invented::random(seed, &Size::small());
        let profiles = [Shape::Xcode14_3, Shape::Xcode26_2, Shape::Xcode26_4, Shape::Xcode27].map(|shape| {
            let export = open(&render(&recording, &RenderOptions::new(shape, Table::TimeProfile, &recording)));
            let samples = export.profile.samples().iter();
            let rows = samples.map(|sample| (head(&export.profile, sample), stack(&export.profile, sample)));
            rows.collect::<Vec<_>>()
        });
        assert!(profiles.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}");
    }
}

#[test]
fn layout_and_authentication_bits_change_nothing_but_the_recorded_address() {
    for shape in Shape::ALL {
        let recording = support::Invented::random(7, &Size::small());
        let plain = RenderOptions::new(shape, Table::CpuProfile, &recording);
        let signed = plain.clone().pointer_authentication();
        let expected = open(&render(&recording, &plain));
        for layout in [support::Layout::Raw, support::Layout::Indented, support::Layout::Pretty] {
            let export = open(&render(&recording, &signed.clone().layout(layout)));
            for (index, sample) in export.profile.samples().iter().enumerate() {
                assert_eq!(
                    stack(&export.profile, sample),
                    stack(&expected.profile, &expected.profile.samples()[index])
                );
                let leaf_first = recording.signed_addresses(&recording.rows[index], shape).into_iter().flatten().rev();
                let found = export.profile.frames_leaf_first(sample.stack).map(|frame| frame.address.get());
                assert!(found.eq(leaf_first), "{shape:?}");
            }
        }
    }
}

#[test]
fn time_samples_count_one_and_snapshots_nothing() {
    let recording = support::Invented::random(5, &Size { snapshots: true, ..Size::small() });
    let export = open(&render(&recording, &RenderOptions::new(Shape::TimeSample, Table::TimeSample, &recording)));
    let mut snapshots = 0;
    for (sample, row) in export.profile.samples().iter().zip(&recording.rows) {
        let is_snapshot = row.kind == support::SampleKind::Stackshot;
        snapshots += usize::from(is_snapshot);
        assert_eq!(sample.weight, u64::from(!is_snapshot));
        let found: Vec<u64> =
            export.profile.frames_leaf_first(sample.stack).map(|frame| frame.lookup_address.get()).collect();
        let mut expected = recording.lookup_addresses(row, Shape::TimeSample).unwrap_or_default();
        expected.reverse();
        assert_eq!(found, expected);
    }
    assert!(snapshots > 0);
}

#[test]
fn one_map_of_ids_serves_all_nodes_and_starts_anew_in_each_document() {
    use support::{Content, Node};
    let recording = support::Invented::random(11, &Size { runs: 2, ..Size::small() });
    for shape in [Shape::Xcode14_3, Shape::Xcode26_4, Shape::Xcode27] {
        let calls = Node { run: 1, table_index: 3, content: Content::FileCalls((0..recording.rows.len()).collect()) };
        let track = Node { run: 1, table_index: 1, content: Content::TrackDetail };
        let options = RenderOptions::new(shape, Table::TimeProfile, &recording);
        let options = options.insert(0, calls).insert(1, track);
        let one = render(&recording, &options);
        let export = open(&one);
        check(&recording, &export, shape, Table::TimeProfile);
        assert_eq!(export.tables().count(), 4);
        assert_eq!(export.tables().filter(|table| table.schema.is_none()).map(|table| table.rows).sum::<u64>(), 2);

        let two = support::concatenate(&[one.clone(), one]);
        let export = open(&two);
        assert_eq!(export.documents.len(), 2);
        assert_eq!(export.profile.samples().len(), 2 * recording.rows.len());
        assert_eq!(export.profile.run_ids().len(), 4, "nothing says that the documents tell of one recording");
    }
}
