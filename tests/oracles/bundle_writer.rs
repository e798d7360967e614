//! The writer of invented bundles, held against the rules of the format; real bundles are held against the same rules.
//!
//! Needs `TRACEPARSE_CORPUS=<folder>` for the real one.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use support::bundle::apple_symbols_writer::Form;
use support::bundle::{
    BundleOptions, Compression, DecodedRow, ExpectedImage, ExpectedRow, Unpacked, check, check_images, decoded_samples,
    from_folder, from_tar, from_zip, mutate_bundle, to_folder, to_tar, to_zip, write_bundle, write_large_bundle,
};
use support::large_model::LargeSize;
use support::oracle::ADDRESS_MASK;
use support::writer::Content;
use support::{DEPTHS, Invented, Node, RenderOptions, Rng, Shape, Size, Table, render, write_large_deep};
use traceparse::profile::{Frame, Sample};
use traceparse::read;
use traceparse::recording::Options;
use traceparse::symbols::{AppleImage, Symbols};

const TABLES: [Table; 4] =
    [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial!("every_option_keeps_the_rules", || in_any_form(40)),
        trial!("folders_and_archives_hold_the_same", folders_and_archives),
        trial!("two_tables_of_one_run", two_tables),
        trial!("broken_bundles_break_rules", broken_bundles),
        trial!("archives_name_the_frames", archives_name_the_frames),
        trial!("exports_have_the_same_samples", exports_have_the_same),
        trial!("large_exports_have_the_same_samples", large_exports_have_the_same),
    ];
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let is_missing = corpus.is_none();
    let real = move || corpus.as_deref().map_or(Ok(()), real_bundle);
    trials.push(trial!("a_real_bundle_keeps_the_same_rules", real).with_ignored_flag(is_missing));
    trials
}

/// Writes recordings in any of the forms, checks them, and reads back what happened.
fn in_any_form(seeds: u64) -> Result<(), Failed> {
    for seed in 0..seeds {
        let size = Size { rows: 40, runs: 1 + (seed % 3) as u32, snapshots: seed % 2 == 0, ..Size::small() };
        let recording = Invented::random(seed, &size);
        let table = TABLES[seed as usize % TABLES.len()];
        let nodes = BundleOptions::new(table, &recording).nodes;
        let options = BundleOptions::random(nodes, seed);
        let bundle = Unpacked::new(&write_bundle(&recording, &options))?;
        let told = |error| format!("seed {seed}, {options:?}: {error}");
        let checked = check(&bundle).map_err(told)?;
        let rows: u64 =
            checked.tables.iter().filter(|(_, schema, _)| schema == table.schema()).map(|table| table.2).sum();
        assert_eq!(rows, recording.rows.len() as u64);
        assert!(checked.references > 4 * rows, "{checked:?}");
        let decoded = decoded_samples(&bundle, table.schema()).map_err(told)?;
        compare(&recording, table, &decoded).map_err(told)?;
    }
    Ok(())
}

fn compare(recording: &Invented, table: Table, decoded: &[DecodedRow]) -> Result<(), String> {
    let mut rows: Vec<usize> = (0..recording.rows.len()).collect();
    rows.sort_by_key(|&row| recording.rows[row].run);
    for (&row, decoded) in rows.iter().zip(decoded) {
        let expected = recording.bundled_row(row, table);
        if !is_same(&expected, decoded) {
            return Err(format!("row {row}: {expected:#?}\n{decoded:#?}"));
        }
    }
    if rows.len() == decoded.len() { Ok(()) } else { Err(format!("{} rows, {} read", rows.len(), decoded.len())) }
}

fn is_same(expected: &ExpectedRow, decoded: &DecodedRow) -> bool {
    let stack = expected
        .stack
        .as_ref()
        .map(|frames| frames.iter().map(|frame| (frame.address, frame.image.clone())).collect::<Vec<_>>());
    let read = decoded.stack.as_ref().map(|frames| {
        frames.iter().map(|(address, image)| (address & ADDRESS_MASK, image.clone())).collect::<Vec<_>>()
    });
    let ExpectedRow { run, time_ns, tid, pid, core, state, weight, .. } = expected;
    (*run, *time_ns, *tid, *pid) == (decoded.run, decoded.time_ns, decoded.tid, decoded.pid)
        && (*core, *state) == (decoded.core, decoded.state.as_str())
        && decoded.weight.is_none_or(|read| read == *weight)
        && stack == read
}

fn folders_and_archives() -> Result<(), Failed> {
    let recording = Invented::random(9, &Size::small());
    let options =
        BundleOptions { compression: Compression::Mixed, ..BundleOptions::new(Table::TimeProfile, &recording) };
    let mut files = write_bundle(&recording, &options);
    files.sort();
    let folder = tempfile::tempdir()?;
    let bundle = folder.path().join("orchard.trace");
    to_folder(&files, &bundle);
    assert_eq!(from_folder(&bundle), files);
    for is_deflated in [false, true] {
        assert_eq!(from_zip(&to_zip(&files, Some("orchard.trace"), is_deflated), "orchard.trace"), files);
        assert_eq!(from_zip(&to_zip(&files, None, is_deflated), ""), files);
    }
    assert_eq!(from_tar(&to_tar(&files, Some("orchard.trace")), "orchard.trace"), files);
    Ok(())
}

/// Half of the rows each, in one run, with intervals beside them.
fn two_tables() -> Result<(), Failed> {
    let recording = Invented::random(3, &Size::small());
    let (first, second): (Vec<usize>, Vec<usize>) = (0..recording.rows.len()).partition(|row| row % 2 == 0);
    let node = |table, rows| Node { run: 1, table_index: 1, content: Content::Samples { table, rows } };
    let hangs = vec![support::other_tables::Hang { start_ns: 5, duration_ns: 600_000_000, row: 0 }];
    let signposts = vec![support::Signpost::new("load", 10, 90, 1), support::Signpost::new("store", 20, 30, 2)];
    let nodes = vec![
        node(Table::TimeProfile, first),
        node(Table::CpuProfile, second),
        Node { run: 1, table_index: 3, content: Content::PotentialHangs(hangs) },
        Node { run: 1, table_index: 4, content: Content::SignpostIntervals(signposts) },
    ];
    let bundle = Unpacked::new(&write_bundle(&recording, &BundleOptions::with_nodes(nodes)))?;
    let checked = check(&bundle)?;
    let count = |name: &str| checked.tables.iter().find(|(_, schema, _)| schema == name).map(|table| table.2);
    assert_eq!(count("time-profile").zip(count("cpu-profile")), Some((30, 30)));
    assert_eq!(count("potential-hangs").zip(count("os-signpost-interval")), Some((1, 2)));
    Ok(())
}

/// The facts that a bundle and an export give of a sample: run, time, tid, pid, core, state, weight, and the addresses and images of its
/// frames.
type Told = (u32, u64, u64, u64, Option<u32>, String, u64, Option<Vec<(u64, String)>>);

fn told_by_bundle(row: DecodedRow) -> Told {
    let DecodedRow { run, time_ns, tid, pid, core, state, weight, stack } = row;
    let frame = |(address, image): (u64, Option<ExpectedImage>)| {
        (address & ADDRESS_MASK, image.map(|image| image.uuid).unwrap_or_default())
    };
    let stack = stack.map(|frames| frames.into_iter().map(frame).collect());
    (run, time_ns, tid, pid.into(), core, state, weight.unwrap_or_default(), stack)
}

fn told_by_export(xml: &str) -> Vec<Told> {
    let export = read(xml.as_bytes(), "test.xml", &Options::default()).expect("an export that can be read");
    let profile = &export.profile;
    let told = |sample: &Sample| {
        let thread = profile.thread(sample.thread);
        let process = profile.process(thread.process);
        let frame = |frame: &Frame| {
            let uuid = frame.binary.and_then(|binary| profile.binary(binary).uuid);
            (frame.address.get(), uuid.map(|uuid| uuid.to_string()).unwrap_or_default())
        };
        (
            profile.run(process.run).number,
            sample.time.as_nanos(),
            thread.tid.unwrap_or_default(),
            process.pid.unwrap_or_default(),
            sample.core.map(|core| profile.core(core).index),
            sample.state.map(|state| profile.string(state)).unwrap_or_default().to_owned(),
            profile.weight(sample).value,
            sample.stack.map(|stack| profile.frames_leaf_first(Some(stack)).map(frame).collect()),
        )
    };
    profile.samples().iter().map(told).collect()
}

/// The samples of a recording are the same in a bundle and in the export of Xcode 26.2.
fn exports_have_the_same() -> Result<(), Failed> {
    for seed in 0..12 {
        let recording = Invented::random(seed, &Size { runs: 1 + (seed % 2) as u32, ..Size::small() });
        for table in &TABLES[..3] {
            let options = BundleOptions::random(BundleOptions::new(*table, &recording).nodes, seed);
            let bundle = Unpacked::new(&write_bundle(&recording, &options))?;
            let in_bundle = decoded_samples(&bundle, table.schema())?.into_iter().map(told_by_bundle);
            let in_export =
                told_by_export(&render(&recording, &RenderOptions::new(Shape::Xcode26_2, *table, &recording)));
            assert_eq!(in_bundle.collect::<Vec<_>>(), in_export, "seed {seed}");
        }
    }
    Ok(())
}

fn large_exports_have_the_same() -> Result<(), Failed> {
    let size = LargeSize { rows: 3_000, distinct_stacks: 700, seed: 4, depths: DEPTHS };
    let mut xml = Vec::new();
    write_large_deep(&mut xml, Shape::Xcode26_2, size.rows, size.distinct_stacks, size.seed, DEPTHS)?;
    let bundle = Unpacked::new(&write_large_bundle(size, Compression::Zlib))?;
    let checked = check(&bundle)?;
    assert!(checked.tables.contains(&(1, "time-profile".to_owned(), 3_000)), "{checked:?}");
    let in_bundle: Vec<Told> = decoded_samples(&bundle, "time-profile")?.into_iter().map(told_by_bundle).collect();
    assert_eq!(in_bundle, told_by_export(std::str::from_utf8(&xml)?));
    Ok(())
}

/// The archives of symbols name every frame that has a name, and its line.
fn archives_name_the_frames() -> Result<(), Failed> {
    for (seed, form) in (0..).zip(Form::ALL) {
        let recording = Invented::random(seed, &Size::small());
        let options = BundleOptions { symbols: Some(form), ..BundleOptions::new(Table::TimeProfile, &recording) };
        let bundle = Unpacked::new(&write_bundle(&recording, &options))?;
        let mut named = 0;
        for row in 0..recording.rows.len() {
            for frame in recording.bundled_row(row, Table::TimeProfile).stack.into_iter().flatten() {
                let Some((image, name)) = frame.image.zip(frame.name) else { continue };
                let archive = bundle.file(&format!("symbols/stores/{}.symbolsarchive", image.uuid))?;
                let images = AppleImage::all(archive).map_err(|error| error.message)?;
                let symbols = images[0].symbols.as_ref().ok_or("an archive with symbols")?;
                let mut answer = None;
                symbols.look_up(&[frame.lookup_address - image.load_address], &mut |_, frames| {
                    answer = frames.first().and_then(|frame| Some((frame.function?.to_owned(), frame.line)));
                });
                let (function, line) = answer.ok_or_else(|| format!("{name} has no name"))?;
                assert_eq!((support::names::shown(&function), line), (name.to_owned(), frame.line));
                named += 1;
            }
        }
        assert!(named > 100, "{named} frames with names");
    }
    Ok(())
}

/// Most changes break a rule, each rule in its own words; and the files are others each time.
fn broken_bundles() -> Result<(), Failed> {
    let recording = Invented::random(5, &Size { rows: 12, ..Size::small() });
    let mut complaints = std::collections::BTreeSet::new();
    let mut broken = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let options = BundleOptions::new(*rng.pick(&TABLES), &recording);
        let options = BundleOptions { rows_per_block: 16, array_block_size: 2_000, ..options };
        let good = write_bundle(&recording, &options);
        let mut files = good.clone();
        mutate_bundle(&mut files, &mut rng);
        let checked =
            Unpacked::new(&files).and_then(|bundle| check(&bundle).and_then(|_| check_images::images(&bundle)));
        if let Err(complaint) = checked {
            assert!(files != good, "{complaint}");
            broken += 1;
            // What is wrong, without which one it is.
            complaints.insert(complaint.chars().filter(|character| !character.is_ascii_hexdigit()).collect::<String>());
        }
    }
    assert!(broken > 200, "{broken} of 400 broken");
    assert!(complaints.len() > 40, "{complaints:#?}");
    Ok(())
}

/// The one bundle of the corpus: the same checks, and what is known of it.
fn real_bundle(corpus: &Path) -> Result<(), Failed> {
    let bytes = std::fs::read(corpus.join("xctrace/26.2/finder.trace.zip"))?;
    let bundle = Unpacked::new(&from_zip(&bytes, "finder.trace"))?;
    let checked = check(&bundle)?;
    assert_eq!(checked.tables.len(), 19);
    assert!(checked.tables.contains(&(1, "thread-info".to_owned(), 4_749)), "{checked:?}");
    let samples = decoded_samples(&bundle, "cpu-profile")?;
    assert_eq!(samples.len(), 91);
    let frames: Vec<_> = samples.iter().flat_map(|sample| sample.stack.iter().flatten()).collect();
    assert_eq!(frames.len(), 2_292);
    assert!(frames.iter().all(|(_, image)| image.is_some()));
    assert_eq!(check_images::images(&bundle)?.count(), 263 + 7 + 1_097);
    Ok(())
}
