//! Real exports, compared with expectations from independent sources.
//!
//! The files are not part of the project: `TRACEPARSE_CORPUS` names their folder. Without this variable, all tests here report
//! themselves as ignored.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use support::stack_sums::{StackSums, merge, of_series, of_sums};
use traceparse::fleet::{MeasureOptions, PooledStacks};
use traceparse::memory::MemoryBudget;
use traceparse::output::{self, Cells, Format};
use traceparse::recording::{Intervals, Options, Recording, RecordingBuilder, TableKind, TimeSource};
use traceparse::report::{ReportOptions, SeparateBy, View};
use traceparse::units::Nanos;
use traceparse::{ErrorKind, decompress, read};

use crate::programs::{corpus, files, in_corpus};

/// A CPU table.
struct CpuTable {
    file: &'static str,
    rows: u64,
    without_stack: usize,
    /// The tid of the main thread, according to the `fmt` attribute of `<thread>` (`Main Thread`, in one file `main`); `None` if unknown.
    main_thread: Option<u64>,
    /// The lookup address of a caller modulo 4, for arm64 code.
    caller: Option<u64>,
}

const fn table(
    file: &'static str,
    rows: u64,
    without_stack: usize,
    main_thread: Option<u64>,
    caller: Option<u64>,
) -> CpuTable {
    CpuTable { file, rows, without_stack, main_thread, caller }
}

const CPU_TABLES: [CpuTable; 11] = [
    table("12.5/time-profile", 98, 0, None, Some(2)),
    table("14.0.1/cpu-profile", 98, 0, Some(0xdc10), Some(3)),
    table("14.3.1/time-profile", 105, 3, Some(0xe7716), None),
    table("14.3.1/cpu-profile", 584, 0, Some(0xc59a6), None),
    table("14.3.1/counters-time-profile", 149, 6, Some(0x6c57d), None),
    table("14-16/time-profile", 9581, 0, Some(0x84_80c1), Some(3)),
    table("26.2/finder_cpu_profile", 91, 0, None, Some(3)),
    table("26.4/time-sample", 39, 0, Some(0x9d_b2dc), Some(3)),
    table("26.4.1/time-profile", 85, 0, Some(0x13e_4cf3), Some(3)),
    table("26.5/cpu-profile", 21, 0, Some(0x64d_cced), Some(3)),
    table("27/cpu-profile", 4, 0, Some(0x30_d1ee), Some(3)),
];

pub(crate) fn trials() -> Vec<Trial> {
    let has_corpus = corpus().is_some();
    let of_table = |table| trial!(table_name(table), move || check_table(table)).with_ignored_flag(!has_corpus);
    let mut trials: Vec<Trial> = CPU_TABLES.iter().map(of_table).collect();
    trials.extend(trials![if has_corpus;
        prefixes_of_other_files_are_refused,
        rows_equal_the_index,
        other_formats_are_told_by_their_names,
        tables_of_contents_are_read,
        tables_of_contents_of_other_recordings_are_refused,
        measures_are_those_of_another_reader,
        summed_trees_are_the_sums_of_samples]);
    trials
}

fn table_name(table: &CpuTable) -> String {
    format!("table::{}", table.file)
}

fn text(file: &str) -> Result<Vec<u8>, Failed> {
    Ok(fs::read(in_corpus("xctrace").join(file).with_extension("xml"))?)
}

fn open(file: &str) -> Result<Recording, Failed> {
    Ok(read(text(file)?.as_slice(), file, &Options::default())?)
}

fn check_table(table: &CpuTable) -> Result<(), Failed> {
    let (file, text) = (table.file, text(table.file)?);
    let export = read(text.as_slice(), file, &Options::default())?;
    every_row_is_a_sample(table, &export)?;
    lookup_addresses_are_instructions(table, &export)?;
    let blocks = read(text.as_slice(), file, &Options { buffer_size: 1_000, ..Options::default() })?;
    ensure!(blocks.profile.samples() == export.profile.samples(), "small blocks read something else");
    prefixes_are_refused(&text, file, |prefix, samples| {
        samples.unwrap_or(0) as usize == memchr::memmem::find_iter(prefix, b"</row>").count()
    })?;
    let beside = in_corpus("xctrace").join(file);
    if let Ok(expected) = fs::read_to_string(beside.with_extension("expected.csv")) {
        samples_equal_the_csv(&export, &expected)?;
    }
    if let Ok(expected) = fs::read_to_string(beside.with_extension("expected.folded")) {
        folded_equals(&export, &expected)?;
    }
    Ok(())
}

fn every_row_is_a_sample(expected: &CpuTable, export: &Recording) -> Result<(), Failed> {
    let tables: Vec<_> = export.tables().collect();
    ensure!(tables.len() == 1 && tables[0].kind == TableKind::Cpu, "one CPU table expected: {tables:?}");
    let (table, profile) = (tables[0], &export.profile);
    ensure!([table.rows, table.samples] == [expected.rows; 2], "{} rows, {} samples", table.rows, table.samples);
    ensure!(profile.samples().len() as u64 == expected.rows, "samples of the profile");
    let sentinels = profile.samples().iter().filter(|sample| sample.stack.is_none()).count();
    ensure!(sentinels == expected.without_stack, "{sentinels} samples without stack");
    ensure!(export.diagnostics.is_empty() && export.rejected() == 0, "{:?}", export.diagnostics);
    let threads = profile.thread_ids().map(|id| profile.thread(id));
    let main: Vec<_> = threads.filter(|thread| thread.is_main).map(|thread| thread.tid).collect();
    ensure!(main == expected.main_thread.map(Some).into_iter().collect::<Vec<_>>(), "{main:x?}");
    Ok(())
}

/// An arm64 instruction has 4 bytes, so an exact lookup address is 0 modulo 4 in a leaf. An address inside a call (its last byte, or the
/// middle in Xcode 12) is 3 or 2 modulo 4 in a caller.
fn lookup_addresses_are_instructions(table: &CpuTable, export: &Recording) -> Result<(), Failed> {
    let Some(caller) = table.caller else { return Ok(()) };
    let profile = &export.profile;
    for sample in profile.samples() {
        let mut frames = profile.frames_leaf_first(sample.stack);
        let leaf = frames.next().ok_or("a stack without frames")?;
        ensure!(leaf.lookup_address.get() % 4 == 0, "leaf {}", leaf.address);
        for frame in frames {
            ensure!(frame.lookup_address.get() % 4 == caller, "caller {}", frame.address);
        }
    }
    for frame in profile.frame_ids().map(|id| profile.frame(id)) {
        let Some(binary) = frame.binary else { continue };
        let load_address = profile.binary(binary).load_address;
        let is_near = (load_address.get()..load_address.get() + (1 << 32)).contains(&frame.lookup_address.get());
        ensure!(is_near, "{} is not in the binary at {load_address}", frame.address);
    }
    Ok(())
}

/// The leaf and weight of every row, as `traceparse --view samples --format csv` writes them, against JMH's table:
/// `time;weight;address;name;binary;counters`, one line per row.
///
/// JMH's table contains less, or in another form: it has no thread, process, core, state, or stack below the leaf; a row without stack has
/// address `0x0`; a leaf whose name is known but not its binary (up to Xcode 14.2) has the binary `[unknown]`; the counters are compared
/// here too, although the CSV of the command does not show them.
fn samples_equal_the_csv(export: &Recording, expected: &str) -> Result<(), Failed> {
    let options = ReportOptions { view: View::Samples, ..ReportOptions::default() };
    let mut ours = Vec::new();
    output::write(&export.report(&options), &Format::Csv(Cells::AsTheyAre), &mut ours)?;
    let mut ours = ::csv::Reader::from_reader(ours.as_slice());
    let header = ours.headers()?.clone();
    let column = |name: &str| header.iter().position(|field| field == name).ok_or(format!("no column {name}"));
    let columns = [column("time_ns")?, column("weight")?, column("address")?, column("function")?, column("binary")?];
    let mut lines = expected.lines();
    for (index, row) in ours.records().enumerate() {
        let row = row?;
        let line = lines.next().ok_or(format!("row {index} is one too many"))?;
        // A name may contain semicolons; the fields around it do not.
        let (left, right): (Vec<_>, Vec<_>) = (line.splitn(4, ';').collect(), line.rsplitn(3, ';').collect());
        let name = &left[3][..left[3].len() - right[0].len() - right[1].len() - 2];
        let address = if left[2] == "0x0" { "" } else { left[2] };
        let binary = if right[1] == "[unknown]" { "" } else { right[1] };
        let theirs = [left[0], left[1], address, name, binary];
        let mine = columns.map(|column| &row[column]);
        ensure!(mine == theirs, "row {index}: {mine:?}, expected {theirs:?}");
        let counters: Vec<String> = export.profile.counters(index).iter().map(u64::to_string).collect();
        ensure!(counters.join(" ") == right[0], "row {index}: counters {counters:?}, expected {}", right[0]);
    }
    ensure!(lines.next().is_none(), "rows are missing");
    Ok(())
}

/// Compares stacks and counts with inferno's result for the file (which drops threads, processes and weights).
fn folded_equals(export: &Recording, expected: &str) -> Result<(), Failed> {
    let options = ReportOptions {
        metric: traceparse::calltree::Metric::Samples,
        view: View::Tree,
        separate_by: SeparateBy::Nothing,
        ..ReportOptions::default()
    };
    let mut ours = Vec::new();
    output::write(&export.report(&options), &Format::Folded, &mut ours)?;
    // It keeps the `_` that the compiler adds before a `$`; Rust's own demangler removes it.
    let expected = expected.replace("::_<", "::<").replace("::_{{", "::{{");
    let counts = |folded: &str| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, count) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
            *counts.entry(stack.to_owned()).or_default() += count.parse::<u64>().unwrap_or(u64::MAX / 2);
        }
        counts
    };
    let (ours, expected) = (counts(&String::from_utf8(ours)?), counts(&expected));
    ensure!(ours == expected, "{ours:#?}\nexpected {expected:#?}");
    Ok(())
}

/// 50 prefixes of a file: refused, unless only white space is missing; with `allow_truncated`, `is_right` is asked about the prefix and the
/// number of rows in it, if it is read.
fn prefixes_are_refused(text: &[u8], file: &str, is_right: impl Fn(&[u8], Option<u64>) -> bool) -> Result<(), Failed> {
    for step in 0..50 {
        let prefix = &text[..text.len() * step / 50];
        let is_whole = text[prefix.len()..].iter().all(u8::is_ascii_whitespace);
        let strict = read(prefix, file, &Options::default());
        ensure!(strict.is_ok() == is_whole, "{file}: prefix of {} bytes: {:?}", prefix.len(), strict.map(|_| ()));
        if let Err(error) = strict {
            let is_named = matches!(error.kind, ErrorKind::Truncated { .. } | ErrorKind::NotAnExport(_));
            ensure!(is_named && error.at.is_some(), "{file}: prefix of {} bytes: {error}", prefix.len());
        }
        let lenient = read(prefix, file, &Options { allow_truncated: true, ..Options::default() }).ok();
        let rows = lenient.map(|export| export.tables().map(|table| table.rows - table.rejected.total()).sum());
        ensure!(is_right(prefix, rows), "{file}: prefix of {} bytes has {rows:?} rows", prefix.len());
    }
    Ok(())
}

/// The same for the files without CPU tables: when cut, every row that has started is counted.
fn prefixes_of_other_files_are_refused() -> Result<(), Failed> {
    let folder = in_corpus("xctrace");
    let is_cpu = |path: &Path| CPU_TABLES.iter().any(|table| folder.join(table.file).with_extension("xml") == path);
    let mut others = files(&folder, ".xml");
    others.retain(|path| !is_cpu(path));
    ensure!(others.len() >= 14, "only {} files", others.len());
    for path in others {
        prefixes_are_refused(&fs::read(&path)?, &path.display().to_string(), |prefix, rows| {
            let started = memchr::memmem::find_iter(prefix, b"<row").count() as u64;
            rows.is_none_or(|rows| rows == started || rows + 1 == started)
        })?;
    }
    Ok(())
}

/// Compares the number of rows in every table with the index of the corpus.
fn rows_equal_the_index() -> Result<(), Failed> {
    let index = fs::read_to_string(in_corpus("INDEX.tsv"))?;
    let mut checked = 0;
    for line in index.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let Some(path) = fields[0].strip_prefix("xctrace/").filter(|path| path.ends_with(".xml")) else { continue };
        let Ok(rows) = fields[5].parse::<u64>() else { continue };
        let text = String::from_utf8(text(path.trim_end_matches(".xml"))?)?;
        let export = read(text.as_bytes(), path, &Options::default())?;
        let found: u64 = export.tables().map(|table| table.rows).sum();
        // If the index is wrong, the file is right.
        let tags = text.match_indices("<row").filter(|(at, tag)| text[at + tag.len()..].starts_with(['>', ' ', '/']));
        let counted = tags.count() as u64;
        ensure!(found == counted, "{path}: {found} rows, {counted} in the file, {rows} in the index");
        let schema = export.tables().next().and_then(|table| table.schema.clone());
        // Track details have no schema.
        let has_schema = text.contains("<schema ");
        ensure!(schema.as_deref() == Some(fields[4]).filter(|_| has_schema), "{path}: {schema:?}");
        checked += 1;
    }
    ensure!(checked >= 18, "only {checked} tables in the index");
    let tracks = open("27/VM-Tracker__Regions-Map")?;
    ensure!(tracks.tables().map(|table| table.rows).eq([3]), "the rows of the ill-formed track");
    Ok(())
}

/// The supported formats without intervals.
const READ: [&str; 8] = ["crash", "dart", "deepcopy", "dottrace", "metrickit", "microstackshots", "sample", "spindump"];

/// Profiles of other tools by folder, with a word from the error message for each.
const FORMATS: [(&str, &str); 15] = [
    ("crash", "crash report"),
    ("dart", "Dart"),
    ("deepcopy", "Deep Copy"),
    ("dottrace", "dotTrace"),
    ("firefox", "Firefox Profiler"),
    ("folded", "folded stacks"),
    ("ips", "Jetsam"),
    ("metrickit", "MetricKit"),
    ("microstackshots", "spindump"),
    ("perf-script", "perf script"),
    ("pprof", "pprof"),
    ("sample", "a `sample` report"),
    ("simpleperf", "simpleperf"),
    ("speedscope", "speedscope"),
    ("spindump", "spindump"),
];

fn other_formats_are_told_by_their_names() -> Result<(), Failed> {
    let mut count = 0;
    for (format, word) in FORMATS {
        for path in files(&in_corpus("inputs").join(format), "") {
            // The name of the file is not informative.
            let open = || Ok::<_, Failed>(decompress(fs::File::open(&path)?, &MemoryBudget::unlimited())?);
            let errors = [
                (!READ.contains(&format)).then_some(read(open()?, "input", &Options::default()).err()),
                Some(Intervals::read(open()?, "input", &Options::default()).err()),
            ];
            for error in errors.into_iter().flatten() {
                let error = error.ok_or_else(|| format!("{} was read", path.display()))?;
                let is_told = matches!(&error.kind, ErrorKind::NotAnExport(text) if text.contains(word));
                ensure!(is_told, "{}: {error}", path.display());
            }
            count += 1;
        }
    }
    ensure!(count >= 35, "only {count} files");
    Ok(())
}

fn tables_of_contents_are_read() -> Result<(), Failed> {
    for (file, version, nanos, tables, pid) in [
        ("14.3.1/time-prof-toc", "14.3.1 (14E300c)", 348_425_000, 19, Some("12968")),
        ("26.2/finder_toc", "26.0 (17C529)", 0, 0, None),
        ("26.4/sample-toc", "16.0 (17E192)", 0, 0, None),
        ("26.5/toc", "16.0 (17F42)", 3_450_364_000, 0, Some("37476")),
    ] {
        let export = open(file)?;
        let run = export.tocs().next().and_then(|toc| toc.runs.first()).ok_or("no run")?;
        let found = run.summary_field("instruments-version");
        ensure!(found == Some(version), "{file}: {found:?}");
        let duration = run.duration().ok_or("no duration")?.as_nanos();
        ensure!(nanos == 0 || duration == nanos, "{file}: {duration} ns");
        ensure!(duration > 0 && (tables == 0 || run.tables.len() == tables), "{file}: {} tables", run.tables.len());
        let found = run.process_attribute("pid");
        ensure!(pid.is_none() || found == pid, "{file}: pid {found:?}");
        ensure!(run.tables.iter().all(|table| !table.schema.is_empty()), "{file}: a table without schema");
        ensure!(!run.processes.is_empty() && !run.device.is_empty(), "{file}: processes and device");
    }
    Ok(())
}

/// Each export with each table of contents: only those of the same recording are used, without a warning.
fn tables_of_contents_of_other_recordings_are_refused() -> Result<(), Failed> {
    let tocs = ["14.3.1/cpu-prof-toc", "14.3.1/time-prof-toc", "14.3.1/time-toc", "26.2/finder_toc", "26.2/hangs_toc"];
    let tocs = tocs.into_iter().chain(["26.4/sample-toc", "26.5/toc"]);
    // The names, times and pids of these recordings agree.
    let pairs = [
        ("26.2/finder_cpu_profile", "26.2/finder_toc"),
        ("26.4/time-sample", "26.4/sample-toc"),
        ("26.5/cpu-profile", "26.5/toc"),
    ];
    let mut silent = Vec::new();
    for (CpuTable { file, .. }, toc) in CPU_TABLES.iter().flat_map(|table| tocs.clone().map(move |toc| (table, toc))) {
        let mut recording = RecordingBuilder::new(Options::default());
        for name in [*file, toc] {
            recording.read(text(name)?.as_slice(), name)?;
        }
        let recording = recording.finish()?;
        let warnings = recording.warnings();
        let is_told = warnings.iter().any(|warning| warning.contains("belongs to another recording"));
        let is_used = recording.profile.run_ids().any(|run| recording.toc_of_run(run).is_some());
        ensure!(is_told != is_used, "{file} with {toc}: {warnings:?}");
        if !is_told {
            silent.push((*file, toc));
        }
    }
    ensure!(silent == pairs, "{silent:?}");
    Ok(())
}

/// The measurements of a recording that is next to its table of contents.
struct Measured {
    file: &'static str,
    toc: &'static str,
    /// Weight, samples, effective samples, usual weight, cores.
    sums: [u64; 5],
    /// Recorded time, its source, its start.
    wall: (u64, TimeSource, u64),
    /// The app, its device, system and build.
    labels: [&'static str; 4],
}

/// Computed with another XML reader (Python's ElementTree, with references resolved and rows added up).
const MEASURED: [Measured; 5] = [
    Measured {
        file: "26.2/finder_cpu_profile",
        toc: "26.2/finder_toc",
        sums: [63_695_607, 91, 71, 1_000_029, 5],
        wall: (3_398_757_000, TimeSource::Toc, 0),
        labels: ["Finder", "MacBook Pro", "macOS 15.7.3", "24G419"],
    },
    // The table of contents describes a run of a third of a second. The last sample is at 10.468304658 s, with a weight of 1 ms.
    Measured {
        file: "14.3.1/time-profile",
        toc: "14.3.1/time-prof-toc",
        sums: [105_000_000, 105, 105, 1_000_000, 6],
        wall: (10_469_304_658 - 70_294_787, TimeSource::Samples, 70_294_787),
        labels: [""; 4],
    },
    // The export is from a.out, and the table of contents from java. Cycles have no duration, so the last sample is the end.
    Measured {
        file: "14.3.1/cpu-profile",
        toc: "14.3.1/cpu-prof-toc",
        sums: [568_840_087, 584, 573, 1_000_377, 7],
        wall: (635_289_671 - 464_248_740, TimeSource::Samples, 464_248_740),
        labels: [""; 4],
    },
    // The table of contents describes another launch of the program: its process has another pid. The first sample is at 0.402129330 s; the
    // last one is at 0.772130138 s, with a weight of 1 ms.
    Measured {
        file: "14.3.1/counters-time-profile",
        toc: "14.3.1/time-toc",
        sums: [149_000_000, 149, 149, 1_000_000, 8],
        wall: (773_130_138 - 402_129_330, TimeSource::Samples, 402_129_330),
        labels: [""; 4],
    },
    Measured {
        file: "26.5/cpu-profile",
        toc: "26.5/toc",
        sums: [343_225, 21, 6, 22, 7],
        wall: (3_450_364_000, TimeSource::Toc, 0),
        labels: ["yes", "Mac Studio", "macOS 26.5", "25F71"],
    },
];

fn measures_are_those_of_another_reader() -> Result<(), Failed> {
    for Measured { file, toc, sums, wall, labels } in &MEASURED {
        let context = support::fleet::context(open(toc)?.tocs().cloned().collect());
        let measured = open(file)?.measure(&context, &MeasureOptions::default())?;
        let [run] = measured.runs.as_slice() else { return Err("one run expected".into()) };
        let record = &run.record;
        let cores = u64::from(record.cores);
        let found = [record.weight, record.samples, record.effective_samples, record.usual_weight, cores];
        ensure!(found == *sums && record.rejected == 0, "{file}: {found:?}");
        let found = (record.wall.map(Nanos::as_nanos), record.wall_source, record.wall_start.as_nanos());
        ensure!(found == (Some(wall.0), wall.1, wall.2), "{file}: {found:?}");
        let found = ["app", "device", "os", "os_build"].map(|key| record.label(key).unwrap_or_default());
        ensure!(found == *labels, "{file}: {found:?}");
        // An unused table of contents is reported.
        let is_used = wall.1 == TimeSource::Toc;
        ensure!(measured.notes.is_empty() == is_used && record.start.is_some() == is_used, "{:?}", measured.notes);
    }
    Ok(())
}

/// The tree of each recording alone, and of all recordings with the same unit.
fn summed_trees_are_the_sums_of_samples() -> Result<(), Failed> {
    let options = MeasureOptions { with_stacks: true, ..MeasureOptions::default() };
    let new = || PooledStacks::new(&MemoryBudget::unlimited());
    let mut all: BTreeMap<_, (PooledStacks, StackSums)> = BTreeMap::new();
    for CpuTable { file, .. } in &CPU_TABLES {
        let recording = open(file)?;
        let measured = recording.measure(&support::fleet::context(Vec::new()), &options)?;
        for (run, &series) in measured.runs.iter().zip(&measured.series) {
            let expected = of_series(&recording, series);
            let mut own = new();
            own.add(run, |_, _, _| true)?;
            ensure!(of_sums(&own.finish(file)?) == expected, "{file}: another tree");
            let (stacks, sums) = all.entry(run.record.unit).or_insert_with(|| (new(), StackSums::new()));
            stacks.add(run, |_, _, _| true)?;
            merge(sums, expected);
        }
    }
    ensure!(all.len() > 1, "one unit only");
    for (unit, (stacks, expected)) in all {
        ensure!(of_sums(&stacks.finish("all")?) == expected, "{unit:?}: not the sum of the trees");
    }
    Ok(())
}
