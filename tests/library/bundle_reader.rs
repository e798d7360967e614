//! Recordings written as bundles in every form: compares every row that the library reads with the recorded data, and with the
//! export of the same recording.

mod alike_rows;
mod damaged_runs;
mod intervals;
mod odd_bundles;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use support::bundle::images::addresses;
use support::bundle::{
    BUNDLE, BundleOptions, Compression, ExpectedRow, Files, FoundFrame, FoundRow, Memory, found, found_rows, to_tar,
    to_zip, write_bundle, write_large_bundle,
};
use support::large_model::LargeSize;
use support::writer::Content;
use support::{
    DEPTHS, Invented, Node, RenderOptions, Rng, SampleKind as Taken, Shape, Size, Table, render, rounds, seeds,
    write_large_deep,
};
use traceparse::bundle::{Bundle, BundleFiles};
use traceparse::files::{Entry, Files as FileSystem};
use traceparse::profile::{Profile, Sample, SampleKind};
use traceparse::read;
use traceparse::recording::{Options, Recording, RecordingBuilder, SampleDetail};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator};
use traceparse::units::Unit;

const TABLES: [Table; 4] =
    [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];

/// Reads a bundle in memory.
fn read_files(files: &Files, options: &Options) -> Result<Recording, traceparse::Error> {
    let memory = Memory::of_bundle(files);
    let bundle = Bundle::open(&memory, Path::new(BUNDLE), options)?;
    let mut recording = RecordingBuilder::new(options.clone());
    bundle.read_into(&mut recording, "orchard")?;
    recording.finish()
}

/// A random recording with its tables, and the options for writing it.
struct Case {
    recording: Invented,
    options: BundleOptions,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut rng = Rng::new(seed ^ 0xca5e);
        let size = Size { rows: 40, runs: 1 + rng.below(3) as u32, snapshots: rng.one_in(2), ..Size::small() };
        let size = Size { processes: 1 + rng.index(5), depth: *rng.pick(&[1, 3, 12, 60]), ..size };
        let recording = Invented::random(seed, &size);
        let nodes = recording.runs().into_iter().flat_map(|run| nodes(&recording, run, &mut rng)).collect();
        let numbered_threads = rng.one_in(3);
        let options = BundleOptions { packed: rng.one_in(4), numbered_threads, ..BundleOptions::random(nodes, seed) };
        Case { recording, options }
    }

    /// The rows that a reader must find, in order: run by run, table by table.
    fn expected(&self) -> Vec<FoundRow> {
        let mut rows = Vec::new();
        for run in self.options.runs() {
            for node in self.options.nodes.iter().filter(|node| node.run == run) {
                if let Content::Samples { table, rows: indices } = &node.content {
                    rows.extend(indices.iter().map(|&row| self.expected_row(row, *table)));
                }
            }
        }
        rows
    }

    fn expected_row(&self, index: usize, table: Table) -> FoundRow {
        let Case { recording, options } = self;
        let row = &recording.rows[index];
        let ExpectedRow { run, time_ns, tid, pid, core, state, weight, stack } = recording.bundled_row(index, table);
        let is_raw = table == Table::TimeSample;
        let as_recorded = addresses(recording, index, Shape::Xcode26_2.for_table(table), options.signed);
        let frame = |(frame, address): (support::bundle::ExpectedFrame, u64)| FoundFrame {
            address,
            lookup_address: frame.lookup_address,
            binary_name: frame.image.as_ref().map(|image| file_name(&image.path)).unwrap_or_default(),
            image: frame.image,
            name: None,
            line: None,
        };
        FoundRow {
            run,
            schema: table.schema().to_owned(),
            time_ns,
            tid: Some(tid),
            thread_name: last_name(recording, run, row.thread),
            pid: Some(pid.into()),
            process_name: recording.process_of(row).name.clone(),
            core,
            state: Some(state.to_owned()),
            weight: if is_raw { u64::from(row.kind != Taken::Stackshot) } else { weight },
            unit: match table {
                Table::CpuProfile => Unit::Cycles,
                Table::TimeSample => Unit::Samples,
                _ => Unit::Nanoseconds,
            },
            kind: match row.kind {
                _ if !is_raw => SampleKind::Periodic,
                Taken::TimerFired => SampleKind::Periodic,
                Taken::Lpet => SampleKind::EveryThreadLightweight,
                Taken::Stackshot => SampleKind::Stackshot,
            },
            counters: match table {
                Table::CountersProfile { .. } => row.counters.clone(),
                _ => Vec::new(),
            },
            stack: stack.map(|stack| stack.into_iter().zip(as_recorded.unwrap_or_default()).map(frame).collect()),
        }
    }
}

/// If a thread's name is empty, its previous name is used.
fn last_name(recording: &Invented, run: u32, thread: usize) -> String {
    let rows = recording.rows.iter().rev().filter(|row| row.run == run && row.thread == thread);
    let mut names = rows.map(|row| recording.thread_name_of(row));
    names.find(|name| !name.is_empty()).unwrap_or_default().to_owned()
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The tables of a run: all rows in one or two profiles; possibly raw samples of the same time; and tables without samples.
fn nodes(recording: &Invented, run: u32, rng: &mut Rng) -> Vec<Node> {
    let rows = recording.rows_of_run(run);
    let node =
        |table: Table, rows| Node { run, table_index: table.usual_index(), content: Content::Samples { table, rows } };
    let table = *rng.pick(&TABLES);
    let mut nodes = match rng.below(3) {
        0 if table != Table::TimeSample => {
            let (even, odd) = rows.into_iter().partition(|row| row % 2 == 0);
            vec![node(table, even), node(Table::CpuProfile, odd)]
        }
        _ => vec![node(table, rows)],
    };
    if rng.one_in(2) {
        let table_index = 90;
        nodes.insert(rng.index(nodes.len() + 1), Node { run, table_index, content: Content::Empty("kdebug") });
    }
    nodes
}

/// Checks that two lists of rows are equal. A failure shows the first pair that differs.
fn assert_rows(found: &[FoundRow], expected: &[FoundRow], what: &str) {
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(found == expected, "{what}, row {index}: {found:#?}\nexpected: {expected:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

#[test]
fn every_row_of_every_form_is_read() {
    let (mut rows, mut frames, mut binaries) = (0, 0, 0);
    for seed in seeds(400) {
        let case = Case::random(seed);
        let export = read_files(&write_bundle(&case.recording, &case.options), &Options::default());
        let export = export.unwrap_or_else(|error| panic!("seed {seed}, {:?}: {error}", case.options));
        assert!(export.diagnostics.is_empty(), "seed {seed}: {:?}", export.diagnostics);
        assert_eq!(export.rejected(), 0);
        let found = found_rows(&export.profile);
        assert_rows(&found, &case.expected(), &format!("seed {seed}, {:?}", case.options));
        rows += found.len();
        let all = || found.iter().flat_map(|row| row.stack.iter().flatten());
        frames += all().count();
        binaries += all().filter(|frame| frame.image.is_some()).count();
    }
    println!("{rows} rows, {frames} frames, {binaries} of them in a binary");
    let tenths = rounds(10) as usize;
    assert!(rows > 100 * tenths && binaries > 500 * tenths && frames > binaries, "{rows} {frames} {binaries}");
}

/// If the name of a thread changes, an export uses the most frequent name, and a bundle the last one.
fn without_changed_names(rows: Vec<FoundRow>, recording: &Invented) -> Vec<FoundRow> {
    let mut names: BTreeMap<(u32, u64), Vec<&str>> = BTreeMap::new();
    for row in &recording.rows {
        names.entry((row.run, recording.thread_of(row).tid)).or_default().push(recording.thread_name_of(row));
    }
    let is_changed = |row: &FoundRow| {
        let names = row.tid.and_then(|tid| names.get(&(row.run, tid)));
        names.is_none_or(|names| names.windows(2).any(|pair| pair[0] != pair[1]))
    };
    let strip = |row: FoundRow| if is_changed(&row) { FoundRow { thread_name: String::new(), ..row } } else { row };
    rows.into_iter().map(strip).collect()
}

/// Frames of an export have names.
fn without_function_names(mut rows: Vec<FoundRow>) -> Vec<FoundRow> {
    for frame in rows.iter_mut().flat_map(|row| row.stack.iter_mut().flatten()) {
        (frame.name, frame.line) = (None, None);
    }
    rows
}

/// Raw samples of an export are addresses.
fn without_binaries(mut rows: Vec<FoundRow>) -> Vec<FoundRow> {
    for frame in rows.iter_mut().flat_map(|row| row.stack.iter_mut().flatten()) {
        (frame.image, frame.binary_name) = (None, String::new());
    }
    rows
}

/// The export of a recording, written with these options.
fn export_of(case: &Case, shape: Shape) -> String {
    let is_raw = |node: &Node| matches!(node.content, Content::Samples { table: Table::TimeSample, .. });
    let shape = if case.options.nodes.iter().any(is_raw) { Shape::TimeSample } else { shape };
    let mut options = RenderOptions::with_nodes(shape, case.options.nodes.clone());
    options.pointer_authentication = case.options.signed;
    render(&case.recording, &options)
}

#[test]
fn samples_are_those_of_the_export() {
    for seed in seeds(150) {
        let mut case = Case::random(seed);
        // An export contains either raw samples or profiles.
        let table = TABLES[seed as usize % TABLES.len()];
        case.options.nodes = BundleOptions::new(table, &case.recording).nodes;
        let bundle = read_files(&write_bundle(&case.recording, &case.options), &Options::default()).unwrap();
        let rows = |profile: &Profile| {
            let rows = without_function_names(without_changed_names(found_rows(profile), &case.recording));
            if table == Table::TimeSample { without_binaries(rows) } else { rows }
        };
        for shape in [Shape::Xcode26_2, Shape::Xcode26_4] {
            let export = read(export_of(&case, shape).as_bytes(), "orchard", &Options::default()).unwrap();
            assert_rows(&rows(&bundle.profile), &rows(&export.profile), &format!("seed {seed}, {shape:?}"));
            let counts = |export: &Recording| -> Vec<_> {
                export.tables().map(|table| (table.run, table.schema.clone(), table.rows, table.samples)).collect()
            };
            assert_eq!(counts(&bundle), counts(&export), "seed {seed}");
        }
    }
}

#[test]
fn archives_of_symbols_name_the_frames() {
    let (mut names, mut lines) = (0, 0);
    for seed in seeds(60) {
        let case = Case::random(seed);
        let files = write_bundle(&case.recording, &case.options);
        let memory = Memory::of_bundle(&files);
        let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default()).unwrap();
        let mut recording = RecordingBuilder::new(Options::default());
        bundle.read_into(&mut recording, "orchard").unwrap();
        let profile = recording.finish().unwrap().profile;
        let mut locator = Locator::new(&memory);
        if locator.add(&bundle.symbol_stores(), &mut Index::default()).is_err() {
            assert!(case.options.symbols.is_none(), "seed {seed}: no archives are found");
        }
        let profile = profile.symbolicate(&locator, &SymbolicateOptions::default()).unwrap().0;
        let has_names = case.options.symbols.is_some();
        let expected: Vec<Vec<_>> =
            expected_names(&case).into_iter().map(|stack| if has_names { stack } else { blank(stack) }).collect();
        for (index, sample) in profile.samples().iter().enumerate() {
            let frames = profile.frames_leaf_first(sample.stack).map(|frame| found::frame(&profile, frame));
            let frames: Vec<_> = frames.map(|frame| (frame.name, frame.line)).collect();
            assert_eq!(frames, expected[index], "seed {seed}, sample {index}");
            names += frames.iter().filter(|(name, _)| name.is_some()).count();
            lines += frames.iter().filter(|(_, line)| line.is_some()).count();
        }
    }
    let tenths = rounds(10) as usize;
    // A few seeds vary a lot: this is a tenth of the usual number.
    assert!(names > 12 * tenths && lines > 2 * tenths, "{names} names, {lines} lines");
}

type Named = (Option<String>, Option<u32>);

fn expected_names(case: &Case) -> Vec<Vec<Named>> {
    let mut stacks = Vec::new();
    for run in case.options.runs() {
        for node in case.options.nodes.iter().filter(|node| node.run == run) {
            let Content::Samples { table, rows } = &node.content else { continue };
            for &row in rows {
                let stack = case.recording.bundled_row(row, *table).stack.unwrap_or_default();
                stacks.push(stack.into_iter().map(|frame| (frame.name, frame.line)).collect());
            }
        }
    }
    stacks
}

fn blank(stack: Vec<Named>) -> Vec<Named> {
    stack.into_iter().map(|_| (None, None)).collect()
}

#[test]
fn folders_and_archives_are_read_alike() {
    for seed in 0..8 {
        let case = Case::random(seed);
        let files = write_bundle(&case.recording, &case.options);
        let expected = case.expected();
        let packed = [
            ("orchard.zip", to_zip(&files, Some("orchard.trace"), true)),
            ("stored.zip", to_zip(&files, None, false)),
            ("orchard.tar", to_tar(&files, Some("orchard.trace"))),
        ];
        for (name, bytes) in packed {
            let mut memory = Memory::default();
            let path = Path::new("/").join(name);
            memory.add(&path, bytes.into());
            let mut archives = BundleFiles::new(&memory);
            let mounted = archives.mount(&path).unwrap().expect("a recording in the archive");
            let bundle = Bundle::open(&archives, &mounted, &Options::default()).unwrap();
            let mut recording = RecordingBuilder::new(Options::default());
            bundle.read_into(&mut recording, name).unwrap();
            assert_rows(&found_rows(&recording.finish().unwrap().profile), &expected, &format!("seed {seed}, {name}"));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orchard.trace");
        support::bundle::to_folder(&files, &path);
        let bundle = Bundle::open(&traceparse::files::FileSystem, &path, &Options::default()).unwrap();
        let mut recording = RecordingBuilder::new(Options::default());
        bundle.read_into(&mut recording, "orchard").unwrap();
        assert_rows(&found_rows(&recording.finish().unwrap().profile), &expected, &format!("seed {seed}, folder"));
    }
}

/// The weight, number and counters of samples that differ only in time and core.
type Sums = BTreeMap<String, (u128, u64, Vec<u128>)>;

fn add(sums: &mut Sums, key: String, weight: u64, samples: u64, counters: &[u128]) {
    let sum = sums.entry(key).or_default();
    (sum.0, sum.1) = (sum.0 + u128::from(weight), sum.1 + samples);
    sum.2.resize(sum.2.len().max(counters.len()), 0);
    sum.2.iter_mut().zip(counters).for_each(|(sum, value)| *sum += value);
}

#[test]
fn sums_are_those_of_the_samples() {
    let mut sums = 0;
    for seed in seeds(60) {
        let case = Case::random(seed);
        let files = write_bundle(&case.recording, &case.options);
        let options = Options { samples: SampleDetail::Summed, ..Options::default() };
        let profile = read_files(&files, &options).unwrap().profile;
        assert!(profile.samples().is_empty());
        let (mut found, mut expected) = (Sums::new(), Sums::new());
        for (index, sum) in profile.sums().enumerate() {
            let (thread, series) = (profile.thread(sum.thread), profile.series(sum.series));
            let frames = profile.frames_leaf_first(sum.stack).map(|frame| found::frame(&profile, frame));
            let stack: Option<Vec<_>> = sum.stack.map(|_| frames.collect());
            let run = profile.run(series.run).number;
            let names =
                (run, profile.string(series.schema), series.unit, thread.tid, profile.process(thread.process).pid);
            let key = format!("{names:?} {:?} {:?} {stack:?}", sum.state.map(|state| profile.string(state)), sum.kind);
            add(&mut found, key, sum.weight, sum.samples, profile.sum_counters(index));
        }
        for row in case.expected() {
            let names = (row.run, row.schema.as_str(), row.unit, row.tid, row.pid);
            let key = format!("{names:?} {:?} {:?} {:?}", row.state.as_deref(), row.kind, row.stack);
            let counters: Vec<u128> = row.counters.iter().map(|&value| value.into()).collect();
            add(&mut expected, key, row.weight, 1, &counters);
        }
        assert_eq!(found, expected, "seed {seed}");
        sums += found.len();
    }
    assert!(sums > 5 * rounds(10) as usize, "{sums}");
}

/// One builder accepts recordings and exports; each is a separate document.
#[test]
fn a_bundle_and_an_export_are_two_inputs() {
    for bundle_comes_first in [true, false] {
        let case = Case::random(3);
        let mut case = Case { options: BundleOptions::new(Table::CpuProfile, &case.recording), ..case };
        case.options.signed = true;
        let files = write_bundle(&case.recording, &case.options);
        let memory = Memory::of_bundle(&files);
        let bundle = Bundle::open(&memory, Path::new(BUNDLE), &Options::default()).unwrap();
        let xml = export_of(&case, Shape::Xcode26_2);
        let mut recording = RecordingBuilder::new(Options::default());
        if bundle_comes_first {
            bundle.read_into(&mut recording, "bundle").unwrap();
        }
        recording.read(xml.as_bytes(), "export").unwrap();
        if !bundle_comes_first {
            bundle.read_into(&mut recording, "bundle").unwrap();
        }
        let profile = recording.finish().unwrap().profile;
        let inputs: Vec<&str> = profile
            .samples()
            .iter()
            .map(|sample| profile.string(profile.run(profile.series(sample.series).run).input))
            .collect();
        let rows = without_function_names(without_changed_names(found_rows(&profile), &case.recording));
        let of = |input: &str| -> Vec<FoundRow> {
            rows.iter().zip(&inputs).filter(|(_, name)| **name == input).map(|(row, _)| row.clone()).collect()
        };
        assert_rows(&of("bundle"), &without_changed_names(case.expected(), &case.recording), "the bundle");
        assert_rows(&of("export"), &of("bundle"), "the export");
        assert_eq!(inputs.first(), Some(&if bundle_comes_first { "bundle" } else { "export" }));
    }
}

/// Counts the bytes that are read.
struct Counted<'a> {
    files: Memory<'a>,
    bytes: AtomicU64,
}

impl FileSystem for Counted<'_> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.files.entry(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.files.list(folder)
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = self.files.read(path, offset, length)?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// Progress ends at the announced total.
#[test]
fn the_bytes_of_the_samples_are_known_before() {
    for seed in seeds(40) {
        let case = Case::random(seed);
        // If there are two tables, the beginning of the second table is examined first.
        let one = BundleOptions::new(TABLES[seed as usize % TABLES.len()], &case.recording).nodes;
        let files = write_bundle(&case.recording, &BundleOptions { nodes: one, ..case.options });
        let counted = Counted { files: Memory::of_bundle(&files), bytes: AtomicU64::new(0) };
        let bundle = Bundle::open(&counted, Path::new(BUNDLE), &Options::default()).unwrap();
        counted.bytes.store(0, Ordering::Relaxed);
        let expected = bundle.sample_bytes();
        assert!(expected > 1_000);
        let mut recording = RecordingBuilder::new(Options::default());
        bundle.read_into(&mut recording, "orchard").unwrap();
        assert_eq!(counted.bytes.load(Ordering::Relaxed), expected, "seed {seed}");
    }
}

/// Rows in many pieces, which another thread may inflate, and whose samples it may add up.
#[test]
fn sums_do_not_depend_on_threads() {
    let size = LargeSize { rows: 30_000, distinct_stacks: 400, seed: 3, depths: DEPTHS };
    let mut xml = Vec::new();
    write_large_deep(&mut xml, Shape::Xcode26_2, size.rows, size.distinct_stacks, size.seed, DEPTHS).unwrap();
    let export = read(xml.as_slice(), "orchard", &Options::default()).unwrap();
    for compression in [Compression::Zlib, Compression::Plain] {
        let files = write_large_bundle(size.clone(), compression);
        let open = |jobs, samples| read_files(&files, &Options { jobs, samples, ..Options::default() }).unwrap();
        let sums = |export: &Recording| export.profile.sums().collect::<Vec<_>>();
        let one = open(1, SampleDetail::Summed);
        // A document of the same size, written separately, has the same samples.
        let told = |export: &Recording| {
            let profile = &export.profile;
            let leaf = |sample: &Sample| profile.frames_leaf_first(sample.stack).next().map(|frame| frame.address);
            let depth = |sample: &Sample| profile.frames_leaf_first(sample.stack).count();
            let told = |sample: &Sample| (sample.time, sample.weight, leaf(sample), depth(sample));
            profile.samples().iter().map(told).collect::<Vec<_>>()
        };
        assert!(told(&open(2, SampleDetail::Each)) == told(&export), "{compression:?}");
        let mut expected: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for sample in open(2, SampleDetail::Each).profile.samples() {
            let sum = expected.entry((sample.thread, sample.stack, sample.state)).or_default();
            *sum = (sum.0 + sample.weight, sum.1 + 1);
        }
        let found = one.profile.sums().map(|sum| ((sum.thread, sum.stack, sum.state), (sum.weight, sum.samples)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
        assert_eq!(one.profile.sums().map(|sum| sum.samples).sum::<u64>(), size.rows);
        for jobs in [2, 2, 2, 3, 8] {
            assert_eq!(sums(&open(jobs, SampleDetail::Summed)), sums(&one), "{jobs} jobs");
        }
    }
}
