//! The same samples, written by the crate `fxprof-processed-profile`, which others wrote.
//!
//! It has no room for files, lines, depth of inlining, and weights of more than 32 bits; names of functions it takes from a table of
//! addresses. So threads are compared in which no address has two names, and what it cannot say is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use debugid::DebugId;
use fxprof_processed_profile as fxprof;
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, LibraryHandle, LibraryInfo, ReferenceTimestamp,
    SamplingInterval, Symbol, SymbolTable, ThreadHandle, Timestamp, WeightType,
};
use libtest_mimic::Failed;
use serde_json::Value;
use traceparse::output::{self, Format, Markers};
use traceparse::profile::{self, Binary, Id, Process, Profile, Sample, Series};
use traceparse::read;
use traceparse::recording::Options;
use traceparse::report::NO_STACK;
use traceparse::report::{Report, ReportOptions, View};
use traceparse::units::Unit;

use support::firefox_file::{self as resolved, Thread};

pub(crate) fn writes_the_same() -> Result<(), Failed> {
    let (mut threads, mut samples) = (0, 0);
    for input in inputs() {
        let name = input.display().to_string();
        let export = read(fs::File::open(&input)?, &name, &Options::default())?;
        let report = export.report(&ReportOptions { view: View::Tree, ..ReportOptions::default() });
        let mut text = Vec::new();
        output::write(&report, &Format::Firefox(&Markers::default()), &mut text)?;
        let ours: Value = serde_json::from_slice(&text)?;
        let (theirs, comparable) = write_by_crate(&report);
        let theirs: Value = serde_json::from_str(&serde_json::to_string(&theirs)?)?;
        ensure_same_libraries(&name, &ours, &theirs)?;
        let mut ours: Vec<Thread> = resolved::threads(&ours);
        let mut theirs: Vec<Thread> = resolved::threads(&theirs);
        if ours.len() != theirs.len() {
            return Err(format!("{name}: {} threads and {}", ours.len(), theirs.len()).into());
        }
        let key = |thread: &Thread| (thread.pid.clone(), thread.tid.clone());
        ours.sort_by_key(key);
        theirs.sort_by_key(key);
        for (ours, theirs) in ours.into_iter().zip(theirs).filter(|(ours, _)| comparable.contains(&key(ours))) {
            threads += 1;
            samples += ours.samples.len();
            let (ours, theirs) = (known_to_both(ours), known_to_both(theirs));
            if ours != theirs {
                return Err(format!("{name}: {ours:#?}\nand {theirs:#?}").into());
            }
        }
    }
    if threads < 20 || samples < 500 {
        return Err(format!("only {threads} threads with {samples} samples were compared").into());
    }
    Ok(())
}

/// Each library of ours is one of theirs. They have more rows: one for each thread, for the sake of its table of names, and for
/// each way in which documents tell of one UUID.
fn ensure_same_libraries(name: &str, ours: &Value, theirs: &Value) -> Result<(), Failed> {
    let [ours, theirs] = [ours, theirs].map(|file| file["libs"].as_array().expect("libraries"));
    let is_known = |library: &Value| ours.iter().any(|other| other["breakpadId"] == library["breakpadId"]);
    let missing = theirs.iter().find(|library| !is_known(library));
    match ours.iter().find(|library| !theirs.contains(library)).or(missing) {
        Some(library) => Err(format!("{name}: only one has {library}").into()),
        None => Ok(()),
    }
}

fn inputs() -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the fixtures are there").flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let versions = list(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"));
    let versions = versions.into_iter().filter(|version| !version.ends_with("symbols") && !version.ends_with("toc"));
    let mut inputs: Vec<PathBuf> =
        versions.flat_map(|version| list(&version)).map(|case| case.join("input.xml")).collect();
    inputs.sort();
    inputs
}

/// Without what only one of them says.
fn known_to_both(mut thread: Thread) -> Thread {
    if thread.is_main {
        // The crate calls it as the process.
        thread.name = thread.process.clone();
    }
    for frame in thread.samples.iter_mut().flat_map(|sample| &mut sample.stack) {
        frame.source = None;
        frame.category.clear();
    }
    thread
}

/// The names at each address of each library; the key of a library is its UUID or path.
type Names = HashMap<(Id<profile::Thread>, String), BTreeMap<u32, BTreeSet<String>>>;

/// The profile, and which threads of it can be compared, by pid and tid.
fn write_by_crate(report: &Report<'_>) -> (fxprof::Profile, BTreeSet<(String, String)>) {
    let profile = &report.recording.profile;
    let mut writer = Writer {
        profile,
        out: fxprof::Profile::new(
            "Orchard",
            ReferenceTimestamp::from_millis_since_unix_epoch(0.0),
            SamplingInterval::from_millis(1),
        ),
        libraries: HashMap::new(),
        processes: HashMap::new(),
        has_main: BTreeSet::new(),
    };
    let (names, mut comparable) = (names(report), BTreeSet::new());
    let labels = report.series.iter().filter(|series| series.counted.samples > 0).count() > 1;
    for series in &report.series {
        for row in &series.threads {
            let samples = counted(report, series.series, row.thread);
            let handle = writer.add_thread(series.series, row.thread);
            let is_time = series.unit == Unit::Nanoseconds;
            writer.out.set_thread_samples_weight_type(
                handle,
                if is_time { WeightType::TracingMs } else { WeightType::Samples },
            );
            let mut fits = true;
            for sample in &samples {
                let weight = if is_time { sample.weight / 1_000_000 } else { sample.weight };
                fits &= !is_time || sample.weight % 1_000_000 == 0;
                fits &= i32::try_from(weight).is_ok();
                let frames = writer.frames(row.thread, sample, &names);
                let stack = writer.out.intern_stack_frames(handle, frames.into_iter());
                let time = Timestamp::from_nanos_since_reference(sample.time.as_nanos());
                writer.out.add_sample(handle, time, stack, CpuDelta::ZERO, i32::try_from(weight).unwrap_or(0));
            }
            let has_one_name = names.iter().filter(|((thread, _), _)| *thread == row.thread);
            let has_one_name = has_one_name.flat_map(|(_, names)| names.values()).all(|names| names.len() == 1);
            // Which of several series a thread is of stands in the name of its process, in words of our own.
            if fits && has_one_name && !labels {
                let thread = profile.thread(row.thread);
                let pid = profile.process(thread.process).pid.map(|pid| pid.to_string());
                if let (Some(pid), Some(tid)) = (pid, thread.tid) {
                    comparable.insert((pid, tid.to_string()));
                }
            }
        }
    }
    (writer.out, comparable)
}

/// The samples of a thread that count: those that ran, in order of time.
fn counted<'p>(report: &Report<'p>, series: Id<Series>, thread: Id<profile::Thread>) -> Vec<&'p Sample> {
    let profile = &report.recording.profile;
    let runs = |sample: &&Sample| sample.state.is_none_or(|state| profile.string(state) == "Running");
    let is_of = |sample: &&Sample| sample.series == series && sample.thread == thread;
    let mut samples: Vec<&Sample> = profile.samples().iter().filter(is_of).filter(runs).collect();
    samples.sort_by_key(|sample| sample.time);
    samples
}

fn library_key(profile: &Profile, binary: Id<Binary>) -> String {
    let binary = profile.binary(binary);
    binary.uuid.map_or_else(|| profile.string(binary.path).to_owned(), |uuid| uuid.to_string())
}

fn offset(profile: &Profile, frame: &profile::Frame) -> Option<u32> {
    let load_address = profile.binary(frame.binary?).load_address.get();
    u32::try_from(frame.lookup_address.get().checked_sub(load_address)?).ok()
}

fn names(report: &Report<'_>) -> Names {
    let profile = &report.recording.profile;
    let mut names = Names::new();
    for sample in profile.samples() {
        for frame in profile.frames_leaf_first(sample.stack) {
            let (Some(binary), Some(offset)) = (frame.binary, offset(profile, frame)) else { continue };
            let names = names.entry((sample.thread, library_key(profile, binary))).or_default();
            names.entry(offset).or_default().insert(profile.function_name(frame.function).to_owned());
        }
    }
    names
}

struct Writer<'p> {
    profile: &'p Profile,
    out: fxprof::Profile,
    libraries: HashMap<(Id<profile::Thread>, String), LibraryHandle>,
    processes: HashMap<(Id<Series>, Id<Process>), fxprof::ProcessHandle>,
    has_main: BTreeSet<(Id<Series>, Id<Process>)>,
}

impl Writer<'_> {
    fn add_thread(&mut self, series: Id<Series>, id: Id<profile::Thread>) -> ThreadHandle {
        let start = Timestamp::from_nanos_since_reference(0);
        let thread = self.profile.thread(id);
        let process = self.profile.process(thread.process);
        let number = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let (out, profile) = (&mut self.out, self.profile);
        let key = (series, thread.process);
        let handle = *self
            .processes
            .entry(key)
            .or_insert_with(|| out.add_process(profile.string(process.name), number(process.pid), start));
        let name = profile.string(thread.name);
        let is_main = ["Main Thread", "main"].contains(&name) && self.has_main.insert(key);
        let thread = out.add_thread(handle, number(thread.tid), start, is_main);
        out.set_thread_name(thread, name);
        thread
    }

    fn frames(&mut self, thread: Id<profile::Thread>, sample: &Sample, names: &Names) -> Vec<FrameInfo> {
        let profile = self.profile;
        let mut frames: Vec<FrameInfo> = profile
            .frames_leaf_first(sample.stack)
            .map(|frame| {
                let name = profile.function_name(frame.function);
                match (frame.binary, offset(profile, frame)) {
                    (Some(binary), Some(offset)) => {
                        let library = self.library(thread, binary, names);
                        Frame::RelativeAddressFromInstructionPointer(library, offset)
                    }
                    _ => Frame::Label(self.out.intern_string(name)),
                }
            })
            .map(info)
            .collect();
        if frames.is_empty() {
            frames.push(info(Frame::Label(self.out.intern_string(NO_STACK))));
        }
        frames.reverse();
        frames
    }

    fn library(&mut self, thread: Id<profile::Thread>, id: Id<Binary>, names: &Names) -> LibraryHandle {
        let profile = self.profile;
        let key = (thread, library_key(profile, id));
        if let Some(&known) = self.libraries.get(&key) {
            return known;
        }
        let binary = profile.binary(id);
        let text = |id| profile.string(id).to_owned();
        let symbol = |(&address, names): (&u32, &BTreeSet<String>)| {
            let name = names.first().cloned().unwrap_or_default();
            Symbol { address, size: Some(1), name }
        };
        let symbols = names[&key].iter().map(symbol).collect();
        let handle = self.out.add_lib(LibraryInfo {
            name: text(binary.name),
            debug_name: text(binary.name),
            path: text(binary.path),
            debug_path: text(binary.path),
            debug_id: binary.uuid.map_or_else(DebugId::nil, |uuid| uuid.to_string().parse().expect("a UUID")),
            code_id: None,
            arch: binary.arch.map(text),
            symbol_table: Some(Arc::new(SymbolTable::new(symbols))),
        });
        self.libraries.insert(key, handle);
        handle
    }
}

fn info(frame: Frame) -> FrameInfo {
    FrameInfo { frame, category_pair: CategoryHandle::OTHER.into(), flags: FrameFlags::empty() }
}
