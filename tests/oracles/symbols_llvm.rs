//! Frames of every dSYM of the fixtures and of the corpus, compared with the results of `llvm-symbolizer-19` and the crate `addr2line`; and the
//! frames of MetricKit's diagnostics with these addresses, in the layout of every version, compared with these frames.
//!
//! `TRACEPARSE_CORPUS` names the folder of the corpus. Without this variable, or without the tool, the tests report themselves as
//! ignored.
//!
//! # Where answers may differ
//!
//! If both have an answer, file, line and number of inlined functions are equal. A [`Rule`] gives the reason for each kind of name that
//! may differ; a difference without a rule fails the test.

use support::dsym;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dsym::Frame;
use libtest_mimic::{Failed, Trial};
use object::{Object, ObjectSection, ObjectSymbol};
use serde_json::{Value, json};
use traceparse::files::FileSystem;
use traceparse::recording::Options;
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator, Slice};
use traceparse::{CrashReport, read};

use crate::programs::{corpus, repository, runs};

const TOOL: &str = "llvm-symbolizer-19";
const ADDRESSES: usize = 2000;

pub(crate) fn trials() -> Vec<Trial> {
    let has_tool = runs(Command::new(TOOL).arg("--version"));
    let mut trials = Vec::new();
    for folder in corpus().map(|corpus| corpus.join("dsym")).into_iter().chain([repository("fixtures/symbols/built")]) {
        // In a binary without symbols, llvm names the Mach-O header for every address. It refuses a truncated file.
        let is_comparable = |path: &PathBuf| !path.to_string_lossy().ends_with("-stripped") && !path.ends_with("Cut");
        for path in dsym::files(&folder).into_iter().filter(is_comparable) {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            trials.push(trial!(name, move || both_say_the_same(&path)).with_ignored_flag(!has_tool));
        }
    }
    trials
}

fn both_say_the_same(path: &Path) -> Result<(), Failed> {
    let file = fs::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for slice in Slice::all(&file)? {
        let addresses = dsym::addresses(&file, &slice, ADDRESSES);
        let (ours, notes) = dsym::look_up(&file, &slice, &addresses)?;
        ensure!(notes.is_empty(), "notes: {notes:?}");
        equals_llvm(&name, &file, &slice, &addresses, &ours)?;
        equals_addr2line(&name, &file, &slice, &addresses, &ours)?;
        diagnostics_have_these_frames(path, &slice, &addresses, &ours)?;
        crash_reports_have_these_frames(path, &slice, &addresses, &ours)?;
    }
    Ok(())
}

/// How the frames of MetricKit's diagnostics are written.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Up to iOS 15: the offset is the load address.
    LoadAddress,
    /// From iOS 16 on, sampled: the return address minus one.
    Adjusted,
    /// Crashes, and sampled trees of iOS 27: the return address.
    Raw,
}

/// Names the addresses as leaves and as callers of diagnostics, and compares their frames with the results of lookups.
fn diagnostics_have_these_frames(
    path: &Path,
    slice: &Slice,
    addresses: &[u64],
    expected: &[Vec<Frame>],
) -> Result<(), Failed> {
    let Some(uuid) = slice.uuid else { return Ok(()) };
    let mut locator = Locator::new(&FileSystem);
    locator.add(path, &mut Index::default())?;
    let expected: HashMap<u64, &Vec<Frame>> = addresses.iter().copied().zip(expected).collect();
    for layout in [Layout::LoadAddress, Layout::Adjusted, Layout::Raw] {
        let text = diagnostic(&uuid.to_string(), &slice.architecture(), addresses, layout);
        let recording = read(text.as_bytes(), "", &Options::default())?;
        let (profile, _) = recording.profile.symbolicate(&locator, &SymbolicateOptions::default())?;
        // The shown form of a name, which depends only on the name.
        let mut shown: HashMap<String, String> = HashMap::new();
        let mut compared = 0;
        for sum in profile.sums() {
            let frames: Vec<_> = profile.frames_leaf_first(sum.stack).collect();
            for frames in frames.chunk_by(|a, b| a.lookup_address == b.lookup_address) {
                let address = frames[0].lookup_address.get();
                let wanted =
                    expected.get(&address).ok_or_else(|| format!("{layout:?}: {address:#x} was not asked for"))?;
                ensure!(
                    frames.len() == wanted.len().max(1),
                    "{layout:?} {address:#x}: {} frames, {wanted:?}",
                    frames.len()
                );
                for (frame, wanted) in frames.iter().zip(*wanted) {
                    let line = frame.source.map(|source| source.line);
                    ensure!(
                        line.unwrap_or_default() == wanted.line.unwrap_or_default(),
                        "{layout:?} {address:#x}: {line:?}, {wanted:?}"
                    );
                    let name = profile.function_name(frame.function);
                    let known = wanted.linkage_name.as_ref().or(wanted.function.as_ref());
                    let before = known.map(|known| shown.entry(known.clone()).or_insert_with(|| name.to_owned()));
                    ensure!(before.is_none_or(|before| before == name), "{layout:?} {address:#x}: {name}, {wanted:?}");
                }
                compared += 1;
            }
        }
        ensure!(compared >= addresses.len(), "{layout:?}: {compared} of {} addresses", addresses.len());
    }
    Ok(())
}

/// Names the addresses in a crash report, as the first frame of a thread and as the call of its caller, and compares the written frames with those
/// that were looked up.
fn crash_reports_have_these_frames(
    path: &Path,
    slice: &Slice,
    addresses: &[u64],
    expected: &[Vec<Frame>],
) -> Result<(), Failed> {
    let Some(uuid) = slice.uuid else { return Ok(()) };
    let mut locator = Locator::new(&FileSystem);
    locator.add(path, &mut Index::default())?;
    let frame = |offset: u64| json!({"imageOffset": offset, "imageIndex": 0});
    let thread = |&address: &u64| json!({"frames": [frame(address), frame(address + 1)]});
    let threads: Vec<Value> = addresses.iter().map(thread).collect();
    let image = json!({"uuid": uuid.to_string(), "name": "App", "base": 0x1_02af_4000_u64});
    let report = json!({"bug_type": "309", "threads": threads, "usedImages": [image]}).to_string();
    let report = CrashReport::parse(report.into_bytes(), "", &Options::default())?;
    let (written, _) = report.symbolicate(&locator, &SymbolicateOptions::default())?;
    let written: Value = serde_json::from_slice(&written)?;
    let mut shown: HashMap<&str, &str> = HashMap::new();
    for (thread, (address, wanted)) in
        written["threads"].as_array().into_iter().flatten().zip(addresses.iter().zip(expected))
    {
        let frames = thread["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
        let groups: Vec<&[Value]> = frames.chunk_by(|frame, _| frame["inline"] == true).collect();
        ensure!(groups.len() == 2, "{address:#x}: {frames:?}");
        for group in groups {
            let has_name = |frame: &Frame| frame.function.is_some() || frame.linkage_name.is_some();
            if group.len() == 1 && group[0]["symbol"].is_null() {
                ensure!(!wanted.iter().any(has_name), "{address:#x} has no name, {wanted:?}");
                continue;
            }
            ensure!(group.len() == wanted.len(), "{address:#x}: {group:?}, {wanted:?}");
            for (frame, wanted) in group.iter().zip(wanted) {
                let file = wanted.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
                ensure!(frame["sourceFile"].as_str() == file, "{address:#x}: {frame}, {wanted:?}");
                let line = frame["sourceLine"].as_u64().unwrap_or_default();
                ensure!(line == u64::from(wanted.line.unwrap_or_default()), "{address:#x}: {frame}, {wanted:?}");
                let name = frame["symbol"].as_str().unwrap_or_default();
                let known = wanted.linkage_name.as_deref().or(wanted.function.as_deref());
                let before = known.map(|known| *shown.entry(known).or_insert(name));
                ensure!(before.is_none_or(|before| before == name), "{address:#x}: {name}, {wanted:?}");
            }
        }
    }
    Ok(())
}

/// A diagnostic in which each address is once a leaf, and once the call in a caller.
fn diagnostic(uuid: &str, architecture: &str, addresses: &[u64], layout: Layout) -> String {
    const LOAD: u64 = 0x1_02af_4000;
    let frame = |address: u64, is_caller: bool, callees: Vec<Value>| {
        let offset = match layout {
            Layout::LoadAddress => LOAD,
            Layout::Adjusted => address,
            Layout::Raw => address + u64::from(is_caller),
        };
        json!({"binaryUUID": uuid, "binaryName": "App", "address": LOAD + address + u64::from(is_caller),
               "offsetIntoBinaryTextSegment": offset, "sampleCount": 1, "subFrames": callees})
    };
    let half = addresses.len() / 2;
    let stack = |(index, &caller): (usize, &u64)| {
        let leaf = addresses[(index + half) % addresses.len()];
        frame(caller, true, if leaf == caller { Vec::new() } else { vec![frame(leaf, false, Vec::new())] })
    };
    let roots: Vec<Value> = addresses.iter().enumerate().map(stack).collect();
    json!({"hangDiagnostics": [{
        "callStackTree": {"callStackPerThread": true, "callStacks": [{"threadAttributed": true, "callStackRootFrames": roots}]},
        "diagnosticMetaData": {"platformArchitecture": architecture},
    }]})
    .to_string()
}

/// The reason why a name differs, or why one side has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// For an address outside of code (data, headers, the gap after the last section), llvm returns the nearest preceding symbol. We
    /// return only code symbols, and only within their section.
    NotInCode,
    /// Bitcode hid the name: llvm removes an underscore from `__hidden#12_`; we keep the key of a BCSymbolMap unchanged.
    Hidden,
    /// Several symbols start at one address (aliases, folded functions): both names are symbols that start there.
    Alias,
}

/// The answer of llvm-symbolizer for one frame.
#[derive(Debug)]
struct Theirs {
    function: String,
    file: String,
    line: u64,
    column: u64,
}

/// Runs llvm-symbolizer on a slice: mangled names, functions and inlined functions, innermost first.
fn llvm(file: &[u8], slice: &Slice, addresses: &[u64]) -> Result<Vec<Vec<Theirs>>, Failed> {
    let mut object = tempfile::NamedTempFile::new()?;
    object.write_all(dsym::bytes_of(file, slice))?;
    let mut input = tempfile::NamedTempFile::new()?;
    for address in addresses {
        writeln!(input, "{:#x}", address + slice.text_address)?;
    }
    let output = Command::new(TOOL)
        .arg(format!("--obj={}", object.path().display()))
        .args(["--no-demangle", "--inlines", "--output-style=JSON"])
        .stdin(Stdio::from(fs::File::open(input.path())?))
        .output()?;
    ensure!(output.status.success(), "{TOOL}: {}", String::from_utf8_lossy(&output.stderr));
    let mut answers = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let answer: serde_json::Value = serde_json::from_str(line)?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let frame = |frame: &serde_json::Value| Theirs {
            function: text(&frame["FunctionName"]),
            file: text(&frame["FileName"]),
            line: frame["Line"].as_u64().unwrap_or_default(),
            column: frame["Column"].as_u64().unwrap_or_default(),
        };
        let frames = answer["Symbol"].as_array().into_iter().flatten().map(frame);
        answers.push(frames.filter(|frame| !(frame.function.is_empty() && frame.file.is_empty())).collect());
    }
    ensure!(answers.len() == addresses.len(), "{} answers to {} addresses", answers.len(), addresses.len());
    Ok(answers)
}

/// Symbol names by address, and whether an address is in code.
struct Known {
    symbols: HashMap<u64, Vec<String>>,
    code: Vec<std::ops::Range<u64>>,
}

impl Known {
    fn new(file: &[u8], slice: &Slice) -> Result<Self, Failed> {
        let object = object::File::parse(dsym::bytes_of(file, slice))?;
        let mut symbols: HashMap<u64, Vec<String>> = HashMap::new();
        for symbol in object.symbols() {
            symbols.entry(symbol.address()).or_default().push(symbol.name()?.to_owned());
        }
        let code = object.sections().filter(|section| {
            matches!(section.flags(), object::SectionFlags::MachO { flags, .. } if flags.0 & 0x8000_0400 != 0)
        });
        Ok(Self { symbols, code: code.map(|s| s.address()..s.address() + s.size()).collect() })
    }

    fn is_in_code(&self, address: u64) -> bool {
        self.code.iter().any(|section| section.contains(&address))
    }
}

/// The reason why two names of the outermost function at an address differ; `None` if no rule explains it.
fn explain(known: &Known, ours: &str, theirs: &str) -> Option<Rule> {
    if ours.starts_with("__hidden#") && ours.strip_prefix('_') == Some(theirs) {
        return Some(Rule::Hidden);
    }
    let is = |symbol: &String, name: &str| symbol.strip_prefix('_').unwrap_or(symbol) == name;
    let has = |symbols: &Vec<String>, name: &str| symbols.iter().any(|symbol| is(symbol, name));
    known.symbols.values().any(|symbols| has(symbols, ours) && has(symbols, theirs)).then_some(Rule::Alias)
}

#[derive(Default)]
struct Tally {
    both: usize,
    neither: usize,
    located: usize,
    frames: usize,
    equal_names: usize,
    rules: BTreeMap<Rule, usize>,
    unexplained: Vec<String>,
}

fn equals_llvm(name: &str, file: &[u8], slice: &Slice, addresses: &[u64], ours: &[Vec<Frame>]) -> Result<(), Failed> {
    let theirs = llvm(file, slice, addresses)?;
    let known = Known::new(file, slice)?;
    let mut tally = Tally::default();
    for ((address, ours), theirs) in addresses.iter().zip(ours).zip(&theirs) {
        compare(&known, address + slice.text_address, ours, theirs, &mut tally);
    }
    let Tally { both, neither, located, frames, equal_names, rules, unexplained } = &tally;
    println!(
        "{name} {}: {} addresses, {both} answered by both, {neither} by neither, {located} with file, line and depth \
         equal, {equal_names} of {frames} names equal, {rules:?}",
        slice.architecture(),
        addresses.len()
    );
    ensure!(
        unexplained.is_empty(),
        "{} unexplained:\n{}",
        unexplained.len(),
        unexplained[..unexplained.len().min(8)].join("\n")
    );
    Ok(())
}

fn compare(known: &Known, address: u64, ours: &[Frame], theirs: &[Theirs], tally: &mut Tally) {
    let explain_by = |tally: &mut Tally, rule: Option<Rule>| match rule {
        Some(rule) => *tally.rules.entry(rule).or_default() += 1,
        None => tally.unexplained.push(format!("{address:#x}\n  ours   {ours:?}\n  theirs {theirs:?}")),
    };
    match (ours.is_empty(), theirs.is_empty()) {
        (true, true) => return tally.neither += 1,
        (true, false) => {
            let is_symbol_only = theirs.len() == 1 && theirs[0].file.is_empty();
            let rule = (is_symbol_only && !known.is_in_code(address)).then_some(Rule::NotInCode);
            return explain_by(tally, rule);
        }
        (false, true) => return explain_by(tally, None),
        (false, false) => tally.both += 1,
    }
    let has_file = |ours: &Frame, theirs: &Theirs| ours.file.is_some() && !theirs.file.is_empty();
    if ours.len() != theirs.len() {
        return explain_by(tally, None);
    }
    let mut is_equal = true;
    for (ours, theirs) in ours.iter().zip(theirs) {
        is_equal &= ours.file.as_deref().unwrap_or_default() == theirs.file
            && u64::from(ours.line.unwrap_or_default()) == theirs.line
            && (u64::from(ours.column.unwrap_or_default()) == theirs.column || theirs.line == 0);
    }
    if !is_equal {
        return explain_by(tally, None);
    }
    tally.located += usize::from(ours.iter().zip(theirs).any(|(ours, theirs)| has_file(ours, theirs)));
    for (ours, theirs) in ours.iter().zip(theirs) {
        tally.frames += 1;
        let name = ours.function.as_deref().unwrap_or_default();
        let their_name = if theirs.function == "??" { "" } else { &theirs.function };
        if name == their_name {
            tally.equal_names += 1;
        } else if ours.is_inlined {
            explain_by(tally, None);
        } else {
            explain_by(tally, explain(known, name, their_name));
        }
    }
}

/// The crate addr2line reads the same tables: file, line, depth and the names of inlined functions are equal.
fn equals_addr2line(
    name: &str,
    file: &[u8],
    slice: &Slice,
    addresses: &[u64],
    ours: &[Vec<Frame>],
) -> Result<(), Failed> {
    let object = object::File::parse(dsym::bytes_of(file, slice))?;
    let dwarf = gimli::Dwarf::load(|id| -> Result<_, gimli::Error> {
        let contents = object.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(gimli::EndianSlice::new(contents, gimli::LittleEndian))
    })?;
    let context = addr2line::Context::from_dwarf(dwarf)?;
    let (mut answered, mut renamed) = (0, 0);
    for (address, ours) in addresses.iter().zip(ours) {
        let mut theirs = Vec::new();
        let mut frames = context.find_frames(address + slice.text_address).skip_all_loads()?;
        while let Some(frame) = frames.next()? {
            let name = frame.function.map(|function| function.raw_name().map(|name| name.into_owned())).transpose()?;
            let location = frame.location;
            let file = location.as_ref().and_then(|location| location.file).map(str::to_owned);
            // addr2line returns no line if the line is 0.
            theirs.push((name, file, location.and_then(|location| location.line).unwrap_or_default()));
        }
        if theirs.is_empty() {
            ensure!(ours.iter().all(|frame| frame.file.is_none()), "{address:#x}: {ours:?}");
            continue;
        }
        answered += 1;
        let located: Vec<_> = ours.iter().map(|frame| (frame.file.clone(), frame.line.unwrap_or_default())).collect();
        let wanted: Vec<_> = theirs.iter().map(|frame| (frame.1.clone(), frame.2)).collect();
        ensure!(located == wanted, "{address:#x}\n  ours   {ours:?}\n  theirs {theirs:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            // addr2line stops at the first name; we continue to search for a linkage name.
            if ours.is_inlined && ours.function != theirs.0 {
                renamed += 1;
            }
        }
    }
    println!(
        "{name} {}: {answered} of {} as addr2line, {renamed} inlined names differ",
        slice.architecture(),
        addresses.len()
    );
    Ok(())
}
