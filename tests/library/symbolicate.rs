//! Recordings whose stacks hit known functions of the symbol fixtures, in every address convention, compared with the
//! results that the fixtures list. `fixtures/symbols/recording.tsv` and the tables `expected.tsv` were made with
//! llvm-symbolizer, not with this crate.

mod cache;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use traceparse::demangle::Demangler;
use traceparse::files::FileSystem;
use traceparse::memory::MemoryBudget;
use traceparse::profile::{Frame, Profile};
use traceparse::read;
use traceparse::recording::Options;
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Found, Index, Locator, SymbolFinder, SymbolFrame};
use traceparse::units::Uuid;

pub(crate) fn built() -> PathBuf {
    support::repository("fixtures/symbols/built")
}

pub(crate) fn locator(path: &Path) -> Locator<'static> {
    let mut locator = Locator::new(&FileSystem);
    assert!(locator.add(path, &mut Index::default()).unwrap() > 0, "{}", path.display());
    locator
}

/// The rows of a table with a header, as maps.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row =
        |line: &str| header.iter().map(|name| (*name).to_owned()).zip(line.split('\t').map(str::to_owned)).collect();
    lines.map(row).collect()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// A frame of an answer as the tables write it.
type Row = (String, String, u32);

fn answer(finder: &dyn SymbolFinder, found: &Found, address: u64) -> Vec<Row> {
    let mut answer = Vec::new();
    found
        .with_symbols(finder.files(found).unwrap(), &MemoryBudget::unlimited(), |symbols| {
            symbols.look_up(&[address], &mut |_, frames| {
                // The start of the function is not a name.
                let is_nameless = |frame: &SymbolFrame<'_>| frame.function.is_none() && frame.file.is_none();
                if !frames.iter().all(is_nameless) {
                    answer = frames.iter().map(as_row).collect();
                }
            })
        })
        .unwrap();
    answer
}

fn as_row(frame: &SymbolFrame<'_>) -> Row {
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    (text(frame.function), text(frame.file), frame.line.unwrap_or(0))
}

/// Every address of the tables, in every file of the fixtures.
#[test]
fn files_answer_as_their_tables_say() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in fs::read_dir(built()).unwrap().flatten().filter(|case| case.path().join("expected.tsv").is_file()) {
        let mut by_address: BTreeMap<(String, String, u64), Vec<BTreeMap<String, String>>> = BTreeMap::new();
        for row in rows(&case.path().join("expected.tsv")) {
            let key = (row["symbols"].clone(), row["uuid"].clone(), hex(&row["address"]));
            by_address.entry(key).or_default().push(row);
        }
        for ((file, uuid, address), expected) in by_address {
            let locator = locator(&case.path().join(&file));
            let found = locator.find(Uuid::parse(&uuid).unwrap());
            let found = answer(&locator, found.first().expect("the file has the UUID"), address);
            checked += 1;
            if !is_right(&found, &expected) {
                wrong.push(format!(
                    "{} {file} {address:#x}: {found:?}, expected {expected:?}",
                    case.file_name().display()
                ));
            }
        }
    }
    assert!(checked > 500, "only {checked} addresses");
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// True if an answer equals the table or, if `note` marks an answer of llvm-symbolizer as wrong, if it is correct.
fn is_right(found: &[Row], expected: &[BTreeMap<String, String>]) -> bool {
    let rows: Vec<Row> = expected
        .iter()
        .map(|row| (row["function"].clone(), row["file"].clone(), row["line"].parse().unwrap()))
        .collect();
    let note = expected[0]["note"].as_str();
    if note == "outside" || note.starts_with("unnamed") {
        return found.is_empty() || found.iter().all(|frame| frame.0 == "-");
    }
    if let Some(function) = note.strip_prefix("padding after ") {
        return found.is_empty() || (found.len() == 1 && same_name(&found[0].0, function));
    }
    found.len() == rows.len()
        && found
            .iter()
            .zip(&rows)
            .all(|(a, b)| same_name(&a.0, &b.0) && a.2 == b.2 && (a.1 == b.1 || (a.1 == "-" && b.1 == "-")))
}

/// llvm strips one more underscore from names that are only in the symbol table.
fn same_name(ours: &str, theirs: &str) -> bool {
    ours == theirs || ours.trim_start_matches('_') == theirs.trim_start_matches('_')
}

/// How a generation of Xcode writes the addresses of calls and leaves.
#[derive(Clone, Copy, Debug)]
enum Convention {
    /// Up to 26.5: the return address, and the leaf's address + 1.
    ReturnAddress,
    /// Since 27: the return address − 1.
    InsideCall,
    /// The same as up to 26.5, but with authentication bits in callers.
    Signed,
}

/// A stack of `recording.tsv`: its frames from the root on, each with the expected functions, outermost first.
struct Stack {
    name: String,
    uuid: String,
    arch: String,
    frames: Vec<(u64, bool, Vec<String>)>,
    /// The file and line of every function, outermost first. Frames without a function have neither.
    lines: Vec<Option<(String, u32)>>,
}

fn stacks() -> Vec<Stack> {
    let mut stacks: Vec<Stack> = Vec::new();
    for row in rows(&built().parent().unwrap().join("recording.tsv")) {
        let name = format!("{}/{}", row["case"], row["stack"]);
        if stacks.last().is_none_or(|last| last.name != name || last.uuid != row["uuid"]) {
            let (uuid, arch) = (row["uuid"].clone(), row["arch"].clone());
            stacks.push(Stack { name, uuid, arch, frames: Vec::new(), lines: Vec::new() });
        }
        let mut functions: Vec<String> = row["frames"]
            .split("; ")
            .filter(|frame| *frame != "-")
            .map(|frame| Demangler::default().display_name(frame.split('|').next().unwrap()).into_owned())
            .collect();
        functions.reverse();
        let line = |frame: &str| {
            let [_, file, line] = frame.split('|').take(3).collect::<Vec<_>>()[..] else { return None };
            (!file.is_empty()).then(|| (file.to_owned(), line.parse().unwrap()))
        };
        let lines: Vec<_> = row["frames"].split("; ").map(line).collect();
        stacks.last_mut().unwrap().lines.extend(lines.into_iter().rev());
        let is_leaf = row["role"] == "leaf";
        let recorded = hex(&row["address"]);
        stacks.last_mut().unwrap().frames.push((recorded, is_leaf, functions));
    }
    assert!(stacks.len() > 20, "only {} stacks", stacks.len());
    stacks
}

/// An export with one row, which has this stack, and without any names.
fn export(stack: &Stack, convention: Convention, load_address: u64) -> String {
    let mut frames = String::new();
    for (address, is_leaf, _) in stack.frames.iter().rev() {
        let address = load_address + address;
        let address = match convention {
            _ if *is_leaf => address,
            Convention::ReturnAddress => address,
            Convention::InsideCall => address - 1,
            Convention::Signed => address | 0x6b59_0000_0000_0000,
        };
        let (uuid, arch) = (&stack.uuid, &stack.arch);
        frames += &format!(
            "<frame name=\"{address:#x}\" addr=\"{address:#x}\"><binary name=\"Demo\" UUID=\"{uuid}\" arch=\"{arch}\" \
             load-addr=\"{load_address:#x}\" path=\"/Demo\"/></frame>"
        );
    }
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    format!(
        "<trace-query-result><node><schema name=\"time-profile\">{columns}</schema><row><sample-time>1</sample-time>\
         <weight>1</weight><tagged-backtrace>{frames}</tagged-backtrace></row></node></trace-query-result>"
    )
}

/// The frames of the only stack.
fn frames(profile: &Profile) -> impl Iterator<Item = &Frame> {
    let stack = profile.samples().first().map_or_else(|| profile.sums().next().unwrap().stack, |sample| sample.stack);
    profile.frames_leaf_first(stack)
}

fn functions(profile: &Profile) -> Vec<String> {
    let mut names: Vec<String> =
        frames(profile).map(|frame| profile.function_name(frame.function).to_owned()).collect();
    names.reverse();
    names
}

fn lines(profile: &Profile) -> Vec<Option<(String, u32)>> {
    let line = |frame: &Frame| frame.source.map(|source| (profile.string(source.path).to_owned(), source.line));
    let mut lines: Vec<_> = frames(profile).map(line).collect();
    lines.reverse();
    lines
}

#[test]
fn stacks_show_the_functions_they_hit_in_every_convention() {
    let locator = locator(&built());
    for stack in stacks() {
        for convention in [Convention::ReturnAddress, Convention::InsideCall, Convention::Signed] {
            let is_x86 = stack.arch.starts_with("x86");
            if is_x86 && matches!(convention, Convention::Signed) {
                continue;
            }
            // At the address chosen by the linker, and at a different one.
            for load_address in [0x1_0000_0000, 0x1_02af_4000] {
                let export =
                    read(export(&stack, convention, load_address).as_bytes(), "", &Options::default()).unwrap();
                let (profile, summary) = export.profile.symbolicate(&locator, &SymbolicateOptions::default()).unwrap();
                assert_eq!(
                    functions(&profile),
                    expected(&stack, &export.profile),
                    "{} {convention:?} at {load_address:#x}",
                    stack.name
                );
                assert_eq!(lines(&profile), stack.lines, "{} {convention:?} at {load_address:#x}", stack.name);
                assert_eq!(summary.binaries.len(), 1);
                let named = stack.frames.iter().filter(|(_, _, functions)| !functions.is_empty()).count() as u64;
                assert_eq!((summary.binaries[0].named_before, summary.binaries[0].named_now), (0, named));
            }
        }
    }
}

/// The layout of a call tree of MetricKit.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Up to iOS 15, the offset is the load address.
    LoadAddress,
    /// A crash, whose first frame is the innermost one.
    Crash,
    /// A hang, in which 1 was subtracted from offsets of callers.
    Hang,
    /// A hang with raw offsets.
    RawHang,
}

/// A diagnostic with this stack, without any names.
fn diagnostic(stack: &Stack, layout: Layout, load_address: u64) -> String {
    let is_stop = matches!(layout, Layout::LoadAddress | Layout::Crash);
    let mut frames: Vec<String> = stack.frames.iter().map(|&(recorded, is_leaf, _)| {
        let offset = recorded - u64::from(is_leaf);
        let written = match layout {
            Layout::LoadAddress => load_address,
            Layout::Hang if !is_leaf => offset - 1,
            Layout::Crash | Layout::Hang | Layout::RawHang => offset,
        };
        let (uuid, address) = (&stack.uuid, load_address + offset);
        format!("\"binaryUUID\":\"{uuid}\",\"address\":{address},\"offsetIntoBinaryTextSegment\":{written},\"sampleCount\":1")
    }).collect();
    if !is_stop {
        frames.reverse();
    }
    let tree = frames.into_iter().reduce(|inner, frame| format!("{frame},\"subFrames\":[{{{inner}}}]")).unwrap();
    let (kind, arch) = (if is_stop { "crash" } else { "hang" }, &stack.arch);
    format!(
        "{{\"{kind}Diagnostics\":[{{\"callStackTree\":{{\"callStacks\":[{{\"callStackRootFrames\":[{{{tree}}}]}}]}},\
         \"diagnosticMetaData\":{{\"platformArchitecture\":\"{arch}\"}}}}]}}"
    )
}

#[test]
fn diagnostics_of_metrickit_show_the_functions_they_hit_in_every_layout() {
    let locator = locator(&built());
    for stack in stacks() {
        for layout in [Layout::LoadAddress, Layout::Crash, Layout::Hang, Layout::RawHang] {
            let text = diagnostic(&stack, layout, 0x1_02af_4000);
            let recording = read(text.as_bytes(), "", &Options::default()).unwrap();
            let (profile, summary) = recording.profile.symbolicate(&locator, &SymbolicateOptions::default()).unwrap();
            let name = format!("{} {layout:?}", stack.name);
            assert_eq!(functions(&profile), expected(&stack, &recording.profile), "{name}");
            assert_eq!(lines(&profile), stack.lines, "{name}");
            assert_eq!(summary.binaries.len(), 1, "{name}");
        }
    }
}

/// The functions that a stack must show. Functions without a name appear as without symbols.
fn expected(stack: &Stack, unnamed: &Profile) -> Vec<String> {
    let frames = stack.frames.iter().zip(functions(unnamed));
    frames
        .flat_map(|((_, _, functions), unnamed)| if functions.is_empty() { vec![unnamed] } else { functions.clone() })
        .collect()
}

#[test]
fn without_inlines_the_function_that_holds_the_code_is_left() {
    let locator = locator(&built());
    let options = SymbolicateOptions { with_inlines: false, ..SymbolicateOptions::default() };
    for stack in stacks().iter().filter(|stack| stack.arch == "arm64") {
        let export = export(stack, Convention::ReturnAddress, 0x1_0000_0000);
        let export = read(export.as_bytes(), "", &Options::default()).unwrap();
        let (profile, _) = export.profile.symbolicate(&locator, &options).unwrap();
        let outermost = stack.frames.iter().zip(functions(&export.profile));
        let expected = outermost.map(|((_, _, functions), unnamed)| functions.first().cloned().unwrap_or(unnamed));
        assert_eq!(functions(&profile), expected.collect::<Vec<_>>(), "{}", stack.name);
    }
}

#[test]
fn names_of_the_recording_stay_unless_the_symbols_say_otherwise() {
    let locator = locator(&built());
    let stacks = stacks();
    let stack = stacks.iter().find(|stack| stack.name == "arm64-dwarf4/draw").unwrap();
    let export_of = |name: &str| {
        let xml = export(stack, Convention::ReturnAddress, 0x1_0000_0000);
        // The first frame in the document is the leaf.
        let at = xml.find("name=\"0x").unwrap();
        let end = at + xml[at..].find("\" addr").unwrap();
        let xml = format!("{}name=\"{name}{}", &xml[..at], &xml[end..]);
        read(xml.as_bytes(), "", &Options::default()).unwrap()
    };
    for (recorded, shown, disagreements) in
        [("fill_span", "fill_span", 0), ("void fill_span(int)", "void fill_span(int)", 0), ("other", "fill_span", 1)]
    {
        let (profile, summary) =
            export_of(recorded).profile.symbolicate(&locator, &SymbolicateOptions::default()).unwrap();
        assert_eq!(functions(&profile).last().map(String::as_str), Some(shown));
        assert_eq!(summary.binaries[0].disagreements, disagreements, "{recorded}");
    }
}

/// Xcode 27 lists some inlined functions as frames with the same address, and marks all except the innermost.
#[test]
fn inlined_frames_of_the_recording_are_replaced_once() {
    let stacks = stacks();
    let stack = stacks.iter().find(|stack| stack.name == "fat/leaf-inlined" && stack.arch == "x86_64").unwrap();
    let expected: Vec<String> = stack.frames.iter().flat_map(|(_, _, functions)| functions.clone()).collect();
    let [.., outer, inner] = expected.as_slice() else { panic!("{expected:?}") };
    let xml = export(stack, Convention::ReturnAddress, 0x1_0000_0000);
    // The leaf, and again for the function into which it is inlined.
    let start = xml.find("<frame ").unwrap();
    let end = start + xml[start..].find("</frame>").unwrap() + "</frame>".len();
    let leaf = &xml[start..end];
    let (name_start, name_end) = (leaf.find("0x").unwrap(), leaf.find("\" addr").unwrap());
    let named = |name: &str| format!("{}{name}{}", &leaf[..name_start], &leaf[name_end..]);
    let caller = named(outer).replacen("<frame ", "<frame inlined=\"true\" ", 1);
    let xml = format!("{}{}{caller}{}", &xml[..start], named(inner), &xml[end..]);
    let export = read(xml.as_bytes(), "", &Options::default()).unwrap();

    let shown = |path: &str, with_inlines: bool| {
        let options = SymbolicateOptions { with_inlines, ..SymbolicateOptions::default() };
        let (profile, summary) = export.profile.symbolicate(&locator(&built().join(path)), &options).unwrap();
        assert_eq!(summary.binaries[0].disagreements, 0, "{path}");
        functions(&profile)
    };
    assert_eq!(shown("fat/FatDemo.dSYM", true), expected);
    assert_eq!(shown("fat/FatDemo.dSYM", false), expected[..expected.len() - 1]);
    // A symbol table contains only one function, which is less than the recording contains.
    assert_eq!(shown("fat/FatDemo", true), expected);
}

#[test]
fn another_build_is_named_as_such() {
    use traceparse::symbolicate::Missing;
    let stacks = stacks();
    let stack = stacks.iter().find(|stack| stack.name == "arm64-dwarf4/draw").unwrap();
    let locator = locator(&built().join("x86_64-dwarf4"));
    let export = export(stack, Convention::ReturnAddress, 0x1_0000_0000);
    let export = read(export.as_bytes(), "", &Options::default()).unwrap();
    let (profile, summary) = export.profile.symbolicate(&locator, &SymbolicateOptions::default()).unwrap();
    assert_eq!(functions(&profile), functions(&export.profile));
    let Some(Missing::NoFile { same_name }) = &summary.binaries[0].missing else { panic!("{summary:?}") };
    assert!(same_name.iter().all(|found| found.name == "Demo" && found.arch == "x86_64") && !same_name.is_empty());
}

/// Xcode 12 to 14.2 write only addresses, so users pass the images.
#[test]
fn images_that_the_user_names_hold_the_addresses_of_fragments() {
    let locator = locator(&built());
    let stacks = stacks();
    let stack = stacks.iter().find(|stack| stack.name == "arm64-dwarf4/noreturn").unwrap();
    let load_address = 0x1_0123_4000;
    let mut addresses: Vec<String> =
        stack.frames.iter().map(|(address, ..)| (load_address + address).to_string()).collect();
    addresses.reverse();
    let (leaf, callers) = addresses.split_first().unwrap();
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let xml = format!(
        "<trace-query-result><node><schema name=\"time-profile\">{columns}</schema><row><sample-time>1</sample-time>\
         <weight>1</weight><backtrace fmt=\"0x1 ← (4 other frames)\"><text-addresses>{leaf}</text-addresses>\
         <text-addresses>{}</text-addresses></backtrace></row></node></trace-query-result>",
        callers.join(" ")
    );
    let export = read(xml.as_bytes(), "", &Options::default()).unwrap();
    let image = format!("{}@{load_address:#x}", stack.uuid).parse().unwrap();
    let options = SymbolicateOptions { images: vec![image], ..SymbolicateOptions::default() };
    let (profile, summary) = export.profile.symbolicate(&locator, &options).unwrap();
    let expected: Vec<String> = stack.frames.iter().flat_map(|(_, _, functions)| functions.clone()).collect();
    assert_eq!(functions(&profile), expected);
    assert_eq!((summary.frames_without_binary, summary.binaries[0].name.as_str()), (0, "Demo"));

    // The end of an image without a file is unknown. The image must not cover the rest of the process.
    let options = SymbolicateOptions {
        images: vec![format!("11111111-2222-3333-4444-555555555555@{load_address:#x}").parse().unwrap()],
        ..SymbolicateOptions::default()
    };
    let (_, summary) = export.profile.symbolicate(&locator, &options).unwrap();
    assert_eq!(summary.frames_without_binary, addresses.len() as u64);
}
