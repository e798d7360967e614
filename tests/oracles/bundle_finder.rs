//! Compares a real recording with its export by `xctrace`: the samples, and the names from the archives in the recording.
//!
//! The files are in `TRACEPARSE_CORPUS`; without this variable, the tests report themselves as ignored.

use libtest_mimic::{Failed, Trial};
use traceparse::bundle::{Bundle, BundleFiles};
use traceparse::files::{FileSystem, Files};
use traceparse::profile::{Profile, Sample};
use traceparse::recording::{Options, Recording, RecordingBuilder, TocProcess, TocTable};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{AppleSymbols, Index, Locator, SourceKind};

use crate::programs::{corpus, in_corpus};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if corpus().is_some();
        rows_are_those_of_the_export,
        names_are_those_of_the_export,
        contents_are_those_of_the_export,
        four_runs_of_16_0_have_one_main_thread_each]
}

/// Opens a recording and passes it to `test`, with its files.
fn with_bundle<T>(path: &str, test: impl FnOnce(&Bundle<'_>, &dyn Files) -> Result<T, Failed>) -> Result<T, Failed> {
    let mut files = BundleFiles::new(&FileSystem);
    let path = files.mount(&in_corpus(path))?.ok_or("no bundle in the archive")?;
    test(&Bundle::open(&files, &path, &Options::default())?, &files)
}

fn read_bundle(bundle: &Bundle<'_>) -> Result<Recording, Failed> {
    let mut recording = RecordingBuilder::new(Options::default());
    bundle.read_into(&mut recording, "finder")?;
    let recording = recording.finish()?;
    ensure!(recording.diagnostics.is_empty(), "{:?}", recording.diagnostics);
    Ok(recording)
}

const FINDER: &str = "xctrace/26.2/finder.trace.zip";

fn read_export() -> Result<Recording, Failed> {
    let mut recording = RecordingBuilder::new(Options::default());
    for name in ["xctrace/26.2/finder_cpu_profile.xml", "xctrace/26.2/finder_toc.xml"] {
        recording.read(std::fs::File::open(in_corpus(name))?, "finder")?;
    }
    Ok(recording.finish()?)
}

/// The contents of each row, with the position of each frame in place of its function name.
fn rows(profile: &Profile) -> Vec<String> {
    let text = |id| profile.string(id);
    let row = |sample: &Sample| {
        let thread = profile.thread(sample.thread);
        let process = profile.process(thread.process);
        let frames = profile.frames_leaf_first(sample.stack).map(|frame| {
            let binary = frame.binary.map(|id| {
                let binary = profile.binary(id);
                let (name, path) = (text(binary.name), text(binary.path));
                format!("{name} {path} {:?} {:?} {}", binary.uuid, binary.arch.map(text), binary.load_address)
            });
            format!("\n  {} {} {binary:?} {:?} {}", frame.address, frame.lookup_address, frame.source, frame.is_inlined)
        });
        let core = sample.core.map(|core| (profile.core(core).index, profile.core(core).kind.map(text)));
        let (whose, state) = ((thread.tid, text(thread.name), process.pid, text(process.name)), sample.state.map(text));
        let what = (sample.time, profile.weight(sample), sample.kind, profile.series(sample.series).unit);
        format!("{what:?} {whose:?} {core:?} {state:?}{}", frames.collect::<String>())
    };
    profile.samples().iter().map(row).collect()
}

fn rows_are_those_of_the_export() -> Result<(), Failed> {
    let export = read_export()?;
    let read = with_bundle(FINDER, |bundle, _| read_bundle(bundle))?;
    let (ours, given) = (rows(&read.profile), rows(&export.profile));
    ensure!(given.len() == 91 && ours.len() == 91, "{} rows, {} in the export", ours.len(), given.len());
    for (ours, given) in ours.iter().zip(&given) {
        ensure!(ours == given, "of the bundle:\n{ours}\nof the export:\n{given}");
    }
    let table = |export: &Recording| export.tables().next().cloned();
    let (Some(ours), Some(given)) = (table(&read), table(&export)) else { return Err("no table".into()) };
    ensure!(ours.columns == given.columns, "{:?}\n{:?}", ours.columns, given.columns);
    ensure!((ours.rows, ours.samples, ours.run) == (91, 91, 1), "{ours:?}");
    Ok(())
}

/// The names of all frames of all stacks, leaf first.
fn names(profile: &Profile) -> Vec<String> {
    let frames = profile.samples().iter().flat_map(|sample| profile.frames_leaf_first(sample.stack));
    frames.map(|frame| profile.function_name(frame.function).to_owned()).collect()
}

/// The recording has the same function names as the export for 430 of the 433 distinct frames. The other 3 frames have the start address of
/// their function as a name.
fn names_are_those_of_the_export() -> Result<(), Failed> {
    let export = read_export()?.profile;
    let given = names(&export);
    ensure!(given.len() == 2_292, "{} frames", given.len());
    let folded = given.iter().filter(|name| name.as_str() == AppleSymbols::DEDUPLICATED).count();
    ensure!(folded == 7, "{folded} folded");
    with_bundle(FINDER, |bundle, files| {
        let mut locator = Locator::new(files);
        let found = locator.add(&bundle.symbol_stores(), &mut Index::default())?;
        let is_archive = locator.found().iter().all(|found| found.kind == SourceKind::SymbolsArchive);
        ensure!(found == 19 && is_archive, "{found} archives: {:?}", locator.found());
        for nameless_or_named in [read_bundle(bundle)?.profile, export] {
            let (named, summary) = nameless_or_named.symbolicate(&locator, &SymbolicateOptions::default())?;
            let others: Vec<_> = names(&named).into_iter().zip(&given).filter(|(ours, given)| ours != *given).collect();
            ensure!(named.samples().len() == 91 && others.is_empty(), "{} differ: {others:#?}", others.len());
            let counts = summary.binaries.iter().map(|binary| [binary.frames, binary.named_now, binary.disagreements]);
            let sums = counts.fold([0; 3], |sums, row| [sums[0] + row[0], sums[1] + row[1], sums[2] + row[2]]);
            ensure!(sums == [433, 430, 0], "frames, named ones and disagreements: {sums:?}");
        }
        Ok(())
    })
}

/// The table of contents, without the parts that a bundle does not record (see the module documentation).
fn contents_are_those_of_the_export() -> Result<(), Failed> {
    let export = read_export()?;
    let given = export.tocs().next().ok_or("no table of contents")?;
    let ours = with_bundle(FINDER, |bundle, _| Ok(bundle.toc()?))?;
    let (ours, given) = (&ours.runs[0], &given.runs[0]);
    ensure!(ours.number == given.number && ours.device == given.device, "{:?}\n{:?}", ours.device, given.device);
    ensure!(ours.summary == given.summary, "{:?}\n{:?}", ours.summary, given.summary);
    ensure!(ours.duration() == given.duration(), "{:?}", ours.duration());
    let process: Vec<_> = given.process.iter().filter(|(name, _)| name != "termination-reason").cloned().collect();
    ensure!(ours.process == process, "{:?}\n{process:?}", ours.process);
    // xctrace sorts processes and tables in an order that the bundle does not record.
    let by_number = |processes: &[TocProcess]| {
        let mut processes = processes.to_vec();
        processes.sort_by_key(|process| process.pid);
        processes
    };
    let (listed, given_list) = (by_number(&ours.processes), by_number(&given.processes));
    ensure!(listed == given_list, "{listed:?}\n{given_list:?}");
    let sorted = |tables: &[TocTable]| {
        let mut tables: Vec<_> = tables.iter().map(|table| (table.schema.clone(), table.attributes.clone())).collect();
        tables.sort();
        tables
    };
    ensure!(sorted(&ours.tables) == sorted(&given.tables), "{:#?}\n{:#?}", sorted(&ours.tables), sorted(&given.tables));
    let of_threads = ours.tables.iter().filter(|table| table.schema == "thread-info");
    let rows: u64 = of_threads.filter_map(|table| table.rows).sum();
    ensure!(rows == 4_749, "{rows} rows of thread-info");
    Ok(())
}

/// Instruments 16.0 appends the number of a thread to its name, and creates a folder for a run that was never started.
fn four_runs_of_16_0_have_one_main_thread_each() -> Result<(), Failed> {
    let profile = with_bundle("xctrace/16.0/four-runs.trace.zip", |bundle, _| read_bundle(bundle))?.profile;
    let names: Vec<&str> = profile.thread_ids().map(|id| profile.string(profile.thread(id).name)).collect();
    ensure!(!names.is_empty() && names.iter().all(|&name| name == "Main Thread"), "{names:?}");
    Ok(())
}
