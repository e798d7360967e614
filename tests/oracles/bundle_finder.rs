//! A real recording against what `xctrace export` made of it: the samples, and the reports.
//!
//! The files are those of `TRACEPARSE_CORPUS`; without it the tests report themselves as ignored.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use traceparse::bundle::{Bundle, BundleFiles};
use traceparse::files::{FileSystem, Files};
use traceparse::profile::Profile;
use traceparse::recording::{DocumentContent, Options, Recording, RecordingBuilder, Toc, TocProcess};
use traceparse::report::{ReportOptions, View};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{AppleSymbols, Index, Locator};

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let (is_missing, folder) = (corpus.is_none(), corpus.unwrap_or_default().join("xctrace/26.2"));
    let trial = |name: &str, test: fn(&Path) -> Result<(), Failed>| {
        let folder = folder.clone();
        trial!(name, move || test(&folder)).with_ignored_flag(is_missing)
    };
    let trials = vec![
        trial("rows_are_those_of_the_export", rows_are_those_of_the_export),
        trial("names_are_those_of_the_export", names_are_those_of_the_export),
        trial("contents_are_those_of_the_export", contents_are_those_of_the_export),
        trial("reports_are_those_of_the_export", reports_are_those_of_the_export),
        trial("four_runs_of_16_0_have_one_main_thread_each", four_runs_of_16_0_have_one_main_thread_each),
    ];
    trials
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

/// Opens the recording and gives it to `test`, with the files that it is in.
fn with_bundle<T>(folder: &Path, test: impl FnOnce(&Bundle<'_>, &dyn Files) -> Result<T, Failed>) -> Result<T, Failed> {
    let mut files = BundleFiles::new(&FileSystem);
    let path = files.mount(&folder.join("finder.trace.zip"))?.ok_or("no bundle in the archive")?;
    let bundle = Bundle::open(&files, &path, &Options::default())?;
    test(&bundle, &files)
}

fn read_bundle(bundle: &Bundle<'_>) -> Result<Recording, Failed> {
    let mut recording = RecordingBuilder::new(Options::default());
    bundle.read_into(&mut recording, "finder")?;
    Ok(recording.finish()?)
}

fn read_export(folder: &Path) -> Result<Recording, Failed> {
    let mut recording = RecordingBuilder::new(Options::default());
    for name in ["finder_cpu_profile.xml", "finder_toc.xml"] {
        recording.read(std::fs::File::open(folder.join(name))?, "finder")?;
    }
    Ok(recording.finish()?)
}

/// The contents of each row, but for the names of functions: the place of each frame stands for its name.
fn rows(profile: &Profile) -> Vec<String> {
    let text = |id| profile.string(id);
    let row = |sample: &traceparse::profile::Sample| {
        let thread = profile.thread(sample.thread);
        let process = profile.process(thread.process);
        let frames: Vec<String> = profile
            .frames_leaf_first(sample.stack)
            .map(|frame| {
                let binary = frame.binary.map(|id| {
                    let binary = profile.binary(id);
                    let (name, path) = (text(binary.name), text(binary.path));
                    format!("{name} {path} {:?} {:?} {}", binary.uuid, binary.arch.map(text), binary.load_address)
                });
                format!("{} {} {binary:?} {:?} {}", frame.address, frame.lookup_address, frame.source, frame.is_inlined)
            })
            .collect();
        format!(
            "{:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}\n  {}",
            sample.time,
            profile.weight(sample),
            thread.tid,
            text(thread.name),
            process.pid,
            text(process.name),
            sample.core.map(|core| (profile.core(core).index, profile.core(core).kind.map(text))),
            sample.state.map(text),
            sample.kind,
            profile.series(sample.series).unit,
            frames.join("\n  ")
        )
    };
    profile.samples().iter().map(row).collect()
}

fn rows_are_those_of_the_export(folder: &Path) -> Result<(), Failed> {
    let export = read_export(folder)?;
    let read = with_bundle(folder, |bundle, _| read_bundle(bundle))?;
    ensure!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let (ours, given) = (rows(&read.profile), rows(&export.profile));
    ensure!(given.len() == 91 && ours.len() == 91, "{} rows, {} in the export", ours.len(), given.len());
    let frames: usize = given.iter().map(|row| row.lines().count() - 1).sum();
    ensure!(frames == 2_292, "{frames} frames");
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

fn named(bundle: &Bundle<'_>, files: &dyn Files) -> Result<Recording, Failed> {
    let mut export = read_bundle(bundle)?;
    let mut locator = Locator::new(files);
    let found = locator.add(&bundle.symbol_stores(), &mut Index::default())?;
    ensure!(found == 19, "{found} archives");
    export.profile = export.profile.symbolicate(&locator, &SymbolicateOptions::default())?.0;
    Ok(export)
}

/// Every name is that of the export.
fn names_are_those_of_the_export(folder: &Path) -> Result<(), Failed> {
    let given = names(&read_export(folder)?.profile);
    let ours = names(&with_bundle(folder, named)?.profile);
    ensure!(given.len() == 2_292 && ours.len() == 2_292, "{} and {}", ours.len(), given.len());
    let others: Vec<_> = given.iter().zip(&ours).filter(|(given, ours)| given != ours).collect();
    ensure!(others.is_empty(), "{} differ: {others:#?}", others.len());
    let folded = given.iter().filter(|name| name.as_str() == AppleSymbols::DEDUPLICATED).count();
    ensure!(folded == 7, "{folded} folded");
    Ok(())
}

/// The table of contents, without what a bundle does not have: see the docs of the module.
fn contents_are_those_of_the_export(folder: &Path) -> Result<(), Failed> {
    let export = read_export(folder)?;
    let given = export.tocs().next().ok_or("no table of contents")?;
    let ours = with_bundle(folder, |bundle, _| Ok(bundle.toc()?))?;
    let (ours, given) = (&ours.runs[0], &given.runs[0]);
    ensure!(ours.number == given.number && ours.device == given.device, "{:?}\n{:?}", ours.device, given.device);
    ensure!(ours.summary == given.summary, "{:?}\n{:?}", ours.summary, given.summary);
    ensure!(ours.duration() == given.duration(), "{:?}", ours.duration());
    let process: Vec<_> = given.process.iter().filter(|(name, _)| name != "termination-reason").cloned().collect();
    ensure!(ours.process == process, "{:?}\n{process:?}", ours.process);
    // xctrace has its own order of processes and tables, which the bundle does not tell.
    let by_number = |processes: &[TocProcess]| {
        let mut processes = processes.to_vec();
        processes.sort_by_key(|process| process.pid);
        processes
    };
    let (listed, given_list) = (by_number(&ours.processes), by_number(&given.processes));
    ensure!(listed == given_list, "{listed:?}\n{given_list:?}");
    let sorted = |tables: &[traceparse::recording::TocTable]| {
        let mut tables: Vec<_> = tables.iter().map(|table| (table.schema.clone(), table.attributes.clone())).collect();
        tables.sort();
        tables
    };
    ensure!(sorted(&ours.tables) == sorted(&given.tables), "{:#?}\n{:#?}", sorted(&ours.tables), sorted(&given.tables));
    let rows: u64 =
        ours.tables.iter().filter(|table| table.schema == "thread-info").filter_map(|table| table.rows).sum();
    ensure!(rows == 4_749, "{rows} rows of thread-info");
    Ok(())
}

/// Both as inputs of one name, with one table of contents: what is left to differ is what was read.
fn alike(mut export: Recording, toc: &Toc) -> Recording {
    for document in &mut export.documents {
        match &mut document.content {
            DocumentContent::Toc(content) => content.clone_from(toc),
            // Where it stands among the recording's tables is not in a bundle.
            DocumentContent::Tables(tables) => tables.iter_mut().for_each(|table| table.position = None),
        }
    }
    export
}

fn reports_are_those_of_the_export(folder: &Path) -> Result<(), Failed> {
    let toc = with_bundle(folder, |bundle, _| Ok(bundle.toc()?))?;
    let (ours, given) = (alike(with_bundle(folder, named)?, &toc), alike(read_export(folder)?, &toc));
    for view in [View::Tree, View::Functions, View::Cores, View::Binaries, View::Processes, View::States, View::Samples]
    {
        let options = ReportOptions { view, ..ReportOptions::default() };
        let written = |export: &Recording| -> Result<Vec<u8>, Failed> {
            let mut out = Vec::new();
            traceparse::output::write(
                &export.report(&options),
                &traceparse::output::Format::Csv(traceparse::output::Cells::AsTheyAre),
                &mut out,
            )?;
            Ok(out)
        };
        let (ours, given) = (String::from_utf8(written(&ours)?)?, String::from_utf8(written(&given)?)?);
        ensure!(ours == given, "{view:?}:\n{ours}\n---\n{given}");
    }
    Ok(())
}

/// Instruments 16.0 writes the number of a thread behind its name, and makes a folder for a run that nobody began.
fn four_runs_of_16_0_have_one_main_thread_each(folder: &Path) -> Result<(), Failed> {
    let mut files = BundleFiles::new(&FileSystem);
    let path = files.mount(&folder.join("../16.0/four-runs.trace.zip"))?.ok_or("no bundle in the archive")?;
    let export = read_bundle(&Bundle::open(&files, &path, &Options::default())?)?;
    ensure!(export.diagnostics.is_empty(), "{:?}", export.diagnostics);
    let profile = &export.profile;
    let names: Vec<&str> = profile.thread_ids().map(|id| profile.string(profile.thread(id).name)).collect();
    ensure!(!names.is_empty() && names.iter().all(|&name| name == "Main Thread"), "{names:?}");
    Ok(())
}
