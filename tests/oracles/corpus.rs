//! Real exports, compared with expectations that others wrote.
//!
//! The files are not part of the project: `TRACEPARSE_CORPUS` names the folder that holds them, and without it every
//! test here reports itself as ignored. The runner is libtest-mimic, since the standard one cannot do that.

#[cfg(feature = "fleet")]
mod measures;
#[cfg(feature = "compression")]
mod other_formats;
mod swift_names;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use traceparse::ErrorKind;
use traceparse::calltree::{CallTree, Merger, Metric, StackWeights};
use traceparse::output::{self, Cells, Format};
use traceparse::profile::{Profile, Selection, StateFilter};
use traceparse::read;
use traceparse::recording::{DocumentContent, Options, Recording, TableKind};
use traceparse::report::{ReportOptions, SeparateBy, View};

/// The CPU tables: file, rows, and how many of them have no stack.
const CPU_TABLES: [(&str, u64, usize); 11] = [
    ("12.5/time-profile", 98, 0),
    ("14.0.1/cpu-profile", 98, 0),
    ("14.3.1/time-profile", 105, 3),
    ("14.3.1/cpu-profile", 584, 0),
    ("14.3.1/counters-time-profile", 149, 6),
    ("14-16/time-profile", 9581, 0),
    ("26.2/finder_cpu_profile", 91, 0),
    ("26.4/time-sample", 39, 0),
    ("26.4.1/time-profile", 85, 0),
    ("26.5/cpu-profile", 21, 0),
    ("27/cpu-profile", 4, 0),
];

/// The main thread of each, by what `fmt` of its `<thread>` says (`Main Thread`, in one `main`); the others have none that is known.
const MAIN_THREADS: [(&str, Option<u64>); 11] = [
    ("12.5/time-profile", None),
    ("14.0.1/cpu-profile", Some(0xdc10)),
    ("14.3.1/time-profile", Some(0xe7716)),
    ("14.3.1/cpu-profile", Some(0xc59a6)),
    ("14.3.1/counters-time-profile", Some(0x6c57d)),
    ("14-16/time-profile", Some(0x84_80c1)),
    ("26.2/finder_cpu_profile", None),
    ("26.4/time-sample", Some(0x9d_b2dc)),
    ("26.4.1/time-profile", Some(0x13e_4cf3)),
    ("26.5/cpu-profile", Some(0x64d_cced)),
    ("27/cpu-profile", Some(0x30_d1ee)),
];

type Test = Box<dyn FnOnce(&Path) -> Result<(), Failed> + Send>;

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let is_missing = corpus.is_none();
    let folder = corpus.unwrap_or_default().join("xctrace");
    let mut trials = Vec::new();
    let mut add = |name: String, test: Test| {
        let folder = folder.clone();
        trials.push(trial!(name, move || test(&folder)).with_ignored_flag(is_missing));
    };
    for (file, rows, without_stack) in CPU_TABLES {
        add(format!("rows::{file}"), Box::new(move |folder| every_row_is_a_sample(folder, file, rows, without_stack)));
        add(format!("trees::{file}"), Box::new(move |folder| trees_add_up(folder, file)));
        add(format!("prefixes::{file}"), Box::new(move |folder| prefixes_are_refused(folder, file)));
        add(format!("windows::{file}"), Box::new(move |folder| buffer_size_does_not_matter(folder, file)));
    }
    for file in [
        "12.5/time-profile",
        "14.0.1/cpu-profile",
        "14.3.1/time-profile",
        "14.3.1/cpu-profile",
        "14.3.1/counters-time-profile",
        "26.4.1/time-profile",
    ] {
        add(format!("csv::{file}"), Box::new(move |folder| samples_equal_the_csv(folder, file)));
    }
    for (file, tid) in MAIN_THREADS {
        add(format!("main_thread::{file}"), Box::new(move |folder| main_thread_is_known(folder, file, tid)));
    }
    add("folded::14-16/time-profile".to_owned(), Box::new(|folder| folded_equals(folder, "14-16/time-profile")));
    add("prefixes::other_tables".to_owned(), Box::new(prefixes_of_other_files_are_refused));
    add("index".to_owned(), Box::new(rows_equal_the_index));
    add("lookup_addresses".to_owned(), Box::new(lookup_addresses_are_instructions));
    #[cfg(feature = "compression")]
    add("other_formats".to_owned(), Box::new(other_formats::are_told_by_their_names));
    add("swift_names".to_owned(), Box::new(swift_names::recorded_names_have_our_form));
    add("tables_of_contents".to_owned(), Box::new(tables_of_contents_are_read));
    #[cfg(feature = "fleet")]
    for expected in &measures::EXPECTED {
        let name = format!("measures::{}+{}", expected.file, expected.toc);
        add(name, Box::new(|folder| measures::are_those_of_another_reader(folder, expected)));
    }
    #[cfg(feature = "fleet")]
    for file in measures::TIMED {
        let test = move |folder: &Path| measures::no_thread_runs_more_than_all_the_time(folder, file);
        add(format!("recorded_time::{file}"), Box::new(test));
    }
    trials
}

fn open(folder: &Path, file: &str) -> Result<Recording, Failed> {
    let path = folder.join(file).with_extension("xml");
    Ok(read(fs::File::open(&path)?, file, &Options::default())?)
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

fn every_row_is_a_sample(folder: &Path, file: &str, rows: u64, without_stack: usize) -> Result<(), Failed> {
    let export = open(folder, file)?;
    let tables: Vec<_> = export.tables().collect();
    ensure!(tables.len() == 1 && tables[0].kind == TableKind::Cpu, "one CPU table expected: {tables:?}");
    let table = tables[0];
    ensure!(table.rows == rows && table.samples == rows, "{} rows, {} samples", table.rows, table.samples);
    ensure!(table.rejected.total() == 0, "rejected: {:?}", table.rejected);
    ensure!(export.profile.samples().len() as u64 == rows, "samples of the profile");
    let sentinels = export.profile.samples().iter().filter(|sample| sample.stack.is_none()).count();
    ensure!(sentinels == without_stack, "{sentinels} samples without stack");
    ensure!(export.diagnostics.is_empty(), "{:?}", export.diagnostics);
    Ok(())
}

fn main_thread_is_known(folder: &Path, file: &str, tid: Option<u64>) -> Result<(), Failed> {
    let export = open(folder, file)?;
    let found: Vec<Option<u64>> = export
        .profile
        .thread_ids()
        .map(|id| export.profile.thread(id))
        .filter(|thread| thread.is_main)
        .map(|thread| thread.tid)
        .collect();
    ensure!(found == tid.map(Some).into_iter().collect::<Vec<_>>(), "{found:x?}");
    Ok(())
}

/// The leaf and weight of every row, as `traceparse --view samples --format csv` writes them, against JMH's table:
/// `time;weight;address;name;binary;counters`, one line a row.
///
/// JMH's table holds less, or says it differently: it has no thread, process, core, state, or stack below the leaf; a row without stack has
/// address `0x0`; a leaf whose name is known but not its binary (up to Xcode 14.2) has the binary `[unknown]`; the counters are compared
/// here too, although the CSV of the command does not show them.
fn samples_equal_the_csv(folder: &Path, file: &str) -> Result<(), Failed> {
    let export = open(folder, file)?;
    let options = ReportOptions { view: View::Samples, ..ReportOptions::default() };
    let mut ours = Vec::new();
    output::write(&export.report(&options), &Format::Csv(Cells::AsTheyAre), &mut ours)?;
    let mut ours = ::csv::Reader::from_reader(ours.as_slice());
    let header = ours.headers()?.clone();
    let column = |name: &str| header.iter().position(|field| field == name).ok_or(format!("no column {name}"));
    let columns = [column("time_ns")?, column("weight")?, column("address")?, column("function")?, column("binary")?];
    let expected = fs::read_to_string(folder.join(file).with_extension("expected.csv"))?;
    let mut lines = expected.lines();
    for (index, row) in ours.records().enumerate() {
        let row = row?;
        let line = lines.next().ok_or(format!("row {index} is one too many"))?;
        // A name may hold semicolons; the fields around it do not.
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

/// Stacks and counts, against what inferno made of the file (which drops threads, processes and weights).
fn folded_equals(folder: &Path, file: &str) -> Result<(), Failed> {
    let export = open(folder, file)?;
    let options = ReportOptions {
        metric: Metric::Samples,
        view: View::Tree,
        separate_by: SeparateBy::Nothing,
        ..ReportOptions::default()
    };
    let mut ours = Vec::new();
    output::write(&export.report(&options), &Format::Folded, &mut ours)?;
    let expected = fs::read_to_string(folder.join(file).with_extension("expected.folded"))?;
    // It keeps the `_` that the compiler puts before what starts with a `$`; Rust's own demangler keeps none.
    let expected = expected.replace("::_<", "::<").replace("::_{{", "::{{");
    let (ours, expected) = (counts(&String::from_utf8(ours)?), counts(&expected));
    ensure!(ours == expected, "{ours:#?}\nexpected {expected:#?}");
    Ok(())
}

fn counts(folded: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (stack, count) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        *counts.entry(stack.to_owned()).or_default() += count.parse::<u64>().unwrap_or(u64::MAX / 2);
    }
    counts
}

fn trees_add_up(folder: &Path, file: &str) -> Result<(), Failed> {
    let export = open(folder, file)?;
    let profile = &export.profile;
    let selected = Selection { states: StateFilter::All, ..Selection::default() }.on(profile);
    let weights = StackWeights::new(&selected, Metric::Weight);
    let mut merger = Merger::new(profile);
    let total: u64 = profile.samples().iter().map(|sample| sample.weight).sum();
    let whole = merger.tree(weights.rows());
    check_tree(&whole, total)?;
    for rows in weights.rows().chunk_by(|a, b| a.thread == b.thread) {
        let samples = profile.samples().iter().filter(|sample| sample.thread == rows[0].thread);
        check_tree(&merger.tree(rows), samples.map(|sample| sample.weight).sum())?;
    }
    // The weight of each path of names, summed from the samples one by one, is the weight of that path in the tree.
    ensure!(paths_of_samples(profile) == paths_of_tree(profile, &whole), "paths differ");
    Ok(())
}

fn check_tree(tree: &CallTree, total: u64) -> Result<(), Failed> {
    ensure!(tree.root().all_weight == total, "root {} of {total}", tree.root().all_weight);
    for (index, node) in tree.nodes().iter().enumerate() {
        let children: u64 = tree.children(index).map(|child| tree.nodes()[child].all_weight).sum();
        ensure!(node.all_weight == node.self_weight + children, "{node:?} has children of {children}");
    }
    Ok(())
}

type Path2 = Vec<(String, String)>;

fn paths_of_samples(profile: &Profile) -> HashMap<Path2, u64> {
    let mut paths = HashMap::new();
    for sample in profile.samples() {
        let frames = profile.frames_leaf_first(sample.stack).map(|frame| {
            let uuid = frame.binary.and_then(|binary| profile.binary(binary).uuid).map(|uuid| uuid.to_string());
            (profile.function_name(frame.function).to_owned(), uuid.unwrap_or_default())
        });
        let mut path: Path2 = frames.collect();
        path.reverse();
        *paths.entry(path).or_default() += sample.weight;
    }
    paths.retain(|_, weight| *weight > 0);
    paths
}

fn paths_of_tree(profile: &Profile, tree: &CallTree) -> HashMap<Path2, u64> {
    let mut paths = HashMap::new();
    let mut path: Path2 = Vec::new();
    for node in tree.nodes().iter().skip(1) {
        path.truncate(node.depth as usize - 1);
        if let traceparse::calltree::Label::Function(id) = node.label {
            let uuid = profile.function(id).binary.and_then(|binary| profile.binary(binary).uuid);
            path.push((profile.function_name(id).to_owned(), uuid.map(|uuid| uuid.to_string()).unwrap_or_default()));
        }
        *paths.entry(path.clone()).or_default() += node.self_weight;
    }
    paths.retain(|_, weight| *weight > 0);
    paths
}

/// 200 prefixes of each file: refused, unless only white space is missing; with `allow_truncated` every complete row
/// counts.
fn prefixes_are_refused(folder: &Path, file: &str) -> Result<(), Failed> {
    let text = fs::read(folder.join(file).with_extension("xml"))?;
    for step in 0..200 {
        let prefix = &text[..text.len() * step / 200];
        let is_whole = text[prefix.len()..].iter().all(u8::is_ascii_whitespace);
        let strict = read(prefix, file, &Options::default());
        ensure!(strict.is_ok() == is_whole, "prefix of {} bytes: {:?}", prefix.len(), strict.map(|_| ()));
        if let Err(error) = strict {
            let is_named = matches!(error.kind, ErrorKind::Truncated { .. } | ErrorKind::NotAnExport(_));
            ensure!(is_named && error.at.is_some(), "prefix of {} bytes: {error}", prefix.len());
        }
        let lenient = read(prefix, file, &Options { allow_truncated: true, ..Options::default() });
        let complete = memchr::memmem::find_iter(prefix, b"</row>").count();
        match lenient {
            Ok(export) => ensure!(export.profile.samples().len() == complete, "prefix of {} bytes", prefix.len()),
            Err(error) => ensure!(complete == 0, "prefix of {} bytes: {error}", prefix.len()),
        }
    }
    Ok(())
}

/// The same for the files without CPU tables: refused, or (when cut) every row that has started is counted.
fn prefixes_of_other_files_are_refused(folder: &Path) -> Result<(), Failed> {
    let mut files = 0;
    for entry in fs::read_dir(folder)?.flatten() {
        for file in fs::read_dir(entry.path()).into_iter().flatten().flatten().map(|file| file.path()) {
            let is_cpu = CPU_TABLES.iter().any(|(known, ..)| folder.join(known).with_extension("xml") == file);
            if is_cpu || file.extension().is_none_or(|extension| extension != "xml") {
                continue;
            }
            files += 1;
            let (text, name) = (fs::read(&file)?, file.display().to_string());
            for step in 0..200 {
                let prefix = &text[..text.len() * step / 200];
                let is_whole = text[prefix.len()..].iter().all(u8::is_ascii_whitespace);
                let strict = read(prefix, &name, &Options::default());
                ensure!(strict.is_ok() == is_whole, "{name}: prefix of {} bytes", prefix.len());
                let lenient = read(prefix, &name, &Options { allow_truncated: true, ..Options::default() });
                let started = memchr::memmem::find_iter(prefix, b"<row").count() as u64;
                if let Ok(export) = lenient {
                    let rows: u64 = export.tables().map(|table| table.rows).sum();
                    ensure!(rows == started || rows + 1 == started, "{name}: {rows} of {started} rows");
                }
            }
        }
    }
    ensure!(files >= 14, "only {files} files");
    Ok(())
}

fn buffer_size_does_not_matter(folder: &Path, file: &str) -> Result<(), Failed> {
    let text = fs::read(folder.join(file).with_extension("xml"))?;
    let expected = dump(&read(text.as_slice(), file, &Options::default())?)?;
    for buffer_size in [1, 100, 4096, 65_537] {
        let export = read(text.as_slice(), file, &Options { buffer_size, ..Options::default() })?;
        ensure!(dump(&export)? == expected, "a buffer of {buffer_size} bytes reads something else");
    }
    Ok(())
}

fn dump(export: &Recording) -> Result<Vec<u8>, Failed> {
    let mut out = Vec::new();
    let options = ReportOptions { view: View::Samples, ..ReportOptions::default() };
    output::write(&export.report(&options), &Format::Csv(Cells::AsTheyAre), &mut out)?;
    Ok(out)
}

/// The number of rows of every table, against the index of the corpus.
fn rows_equal_the_index(folder: &Path) -> Result<(), Failed> {
    let index = fs::read_to_string(folder.join("../INDEX.tsv"))?;
    let mut checked = 0;
    for line in index.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let Some(path) = fields[0].strip_prefix("xctrace/").filter(|path| path.ends_with(".xml")) else { continue };
        let export = open(folder, path.trim_end_matches(".xml"))?;
        let Ok(rows) = fields[5].parse::<u64>() else { continue };
        let found: u64 = export.tables().map(|table| table.rows).sum();
        // Where the index is wrong the file is right.
        let text = fs::read_to_string(folder.join(path))?;
        let tags = text.match_indices("<row").filter(|(at, tag)| text[at + tag.len()..].starts_with(['>', ' ', '/']));
        let counted = tags.count() as u64;
        ensure!(found == counted, "{path}: {found} rows, {counted} in the file, {rows} in the index");
        let schema = export.tables().next().and_then(|table| table.schema.clone());
        // Details of a track have none.
        let has_schema = text.contains("<schema ");
        ensure!(schema.as_deref() == Some(fields[4]).filter(|_| has_schema), "{path}: {schema:?}");
        checked += 1;
    }
    ensure!(checked >= 18, "only {checked} tables in the index");
    let tracks = open(folder, "27/VM-Tracker__Regions-Map")?;
    ensure!(tracks.tables().map(|table| table.rows).eq([3]), "the rows of the ill-formed track");
    Ok(())
}

/// On arm64 every instruction is 4 bytes: an exact lookup address is 0 modulo 4 in a leaf, and one inside a call (its
/// last byte, or in its middle in Xcode 12) is 3 or 2 in a caller.
fn lookup_addresses_are_instructions(folder: &Path) -> Result<(), Failed> {
    for (file, caller) in [
        ("12.5/time-profile", 2),
        ("14.0.1/cpu-profile", 3),
        ("14-16/time-profile", 3),
        ("26.2/finder_cpu_profile", 3),
        ("26.4/time-sample", 3),
        ("26.4.1/time-profile", 3),
        ("26.5/cpu-profile", 3),
        ("27/cpu-profile", 3),
    ] {
        let export = open(folder, file)?;
        let profile = &export.profile;
        for sample in profile.samples() {
            let mut frames = profile.frames_leaf_first(sample.stack);
            let leaf = frames.next().ok_or("a stack without frames")?;
            ensure!(leaf.lookup_address.get() % 4 == 0, "{file}: leaf {}", leaf.address);
            for frame in frames {
                ensure!(frame.lookup_address.get() % 4 == caller, "{file}: caller {}", frame.address);
            }
        }
        for id in profile.frame_ids() {
            let frame = profile.frame(id);
            let Some(binary) = frame.binary else { continue };
            let load_address = profile.binary(binary).load_address;
            let is_near = (load_address.get()..load_address.get() + (1 << 32)).contains(&frame.lookup_address.get());
            ensure!(is_near, "{file}: {} is not in the binary at {load_address}", frame.address);
        }
    }
    Ok(())
}

fn tables_of_contents_are_read(folder: &Path) -> Result<(), Failed> {
    for (file, version, nanos, tables, pid) in [
        ("14.3.1/time-prof-toc", "14.3.1 (14E300c)", 348_425_000, 19, Some("12968")),
        ("26.2/finder_toc", "26.0 (17C529)", 0, 0, None),
        ("26.4/sample-toc", "16.0 (17E192)", 0, 0, None),
        ("26.5/toc", "16.0 (17F42)", 3_450_364_000, 0, Some("37476")),
    ] {
        let export = open(folder, file)?;
        let DocumentContent::Toc(toc) = &export.documents[0].content else {
            return Err(format!("{file}: not a table of contents").into());
        };
        let run = toc.runs.first().ok_or("no run")?;
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
