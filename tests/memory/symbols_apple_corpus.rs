//! Real `.symbols` and `.symbolsarchive` files.
//!
//! The files are not part of the project: `TRACEPARSE_CORPUS` names the folder that holds them, and without it every
//! test here reports itself as ignored. The runner is libtest-mimic, since the standard one cannot do that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::apple_mutations::try_mutations;
use libtest_mimic::{Failed, Trial};
use traceparse::demangle::display_name;
use traceparse::read;
use traceparse::recording::Options;
use traceparse::symbols::{AppleImage, AppleSymbols, Symbols};

type Test = fn(&Path) -> Result<(), Failed>;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+).into());
        }
    };
}

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from);
    let is_missing = corpus.is_none();
    let folder = corpus.unwrap_or_default();
    let tests: [(&str, Test); 5] = [
        ("functions_cover_their_text", functions_cover_their_text),
        ("two_tools_wrote_the_same_symbols", two_tools_wrote_the_same_symbols),
        ("the_fuzzed_file_is_an_error", the_fuzzed_file_is_an_error),
        ("finder_is_named_as_instruments_did", finder_is_named_as_instruments_did),
        ("mutations_are_read_or_refused", mutations_are_read_or_refused),
    ];
    let trials = tests.map(|(name, test)| {
        let folder = folder.clone();
        trial!(name, move || test(&folder)).with_ignored_flag(is_missing)
    });
    trials.into()
}

/// The `.symbols` of the corpus: UUID, arch, bytes of `__text`, functions there, lines.
const SYMBOLS: [(&str, &str, u64, usize, usize); 3] = [
    ("D9A37B67-F10A-35AA-A852-ABFBBECC03AE.symbols", "arm64", 0x19c, 14, 32),
    ("D9A37B67-F10A-35AA-A852-ABFBBECC03AE-new.symbols", "arm64", 0x19c, 14, 32),
    ("E0055E1F-DFC2-3F7D-AC52-A3B1DCF6A1C7.symbols", "arm64e", 2036, 28, 104),
];

fn functions_cover_their_text(folder: &Path) -> Result<(), Failed> {
    for (name, arch, text_size, function_count, line_count) in SYMBOLS {
        let file = fs::read(folder.join("symbols").join(name))?;
        ensure!(AppleImage::is_start_of_file(&file, file.len() as u64), "{name} is not recognised");
        let images = AppleImage::all(&file)?;
        ensure!(images.len() == 1, "{name}: {} images", images.len());
        let image = &images[0];
        ensure!(name.starts_with(&image.uuid.to_string()), "{name}: UUID {}", image.uuid);
        ensure!(image.arch() == Some(arch), "{name}: {:?}", image.arch());
        ensure!(image.path.is_some_and(|path| path.ends_with("DWARF/TestRTTI")), "{name}: {:?}", image.path);
        let symbols = image.symbols.as_ref().ok_or("no symbols")?;
        ensure!(symbols.inlined_call_count() == 0, "{name}: inlined calls");
        let mut sections = symbols.sections();
        let text = sections.find(|(name, _)| *name == Some("__TEXT __text")).ok_or("no __text")?.1;
        ensure!(text.end - text.start == text_size, "{name}: {text:x?}");

        let functions: Vec<_> = symbols.symbol_ranges().filter(|range| text.contains(&range.start)).collect();
        ensure!(functions.len() == function_count, "{name}: {} functions", functions.len());
        ensure!(functions[0].start == text.start, "{name}: {:x?}", functions[0]);
        ensure!(functions.windows(2).all(|two| two[0].end == two[1].start), "{name}: a gap or an overlap");
        ensure!(functions[function_count - 1].end == text.end, "{name}: {:x?}", functions.last());

        ensure!(symbols.line_ranges().len() == line_count, "{name}: {} lines", symbols.line_ranges().len());
        for line in symbols.line_ranges() {
            let is_inside = functions.iter().any(|function| function.start <= line.start && line.end <= function.end);
            ensure!(is_inside, "{name}: line {line:x?} is in no function");
        }

        let addresses: Vec<u64> = text.clone().collect();
        let mut answered = 0;
        let mut failure = None;
        let notes = symbols.look_up(&addresses, &mut |index, frames| {
            answered += 1;
            let frame = frames[0];
            let has_line = symbols.line_ranges().any(|line| line.contains(&addresses[index]));
            let name = frame.function.unwrap_or_default();
            let is_good = frames.len() == 1
                && (name.starts_with("-[") || name.contains("::") || name == "main")
                && frame.linkage_name.is_none_or(|linkage| linkage.starts_with("_Z") && name.contains("::"))
                && frame.file.is_some() == has_line
                && frame.file.is_none_or(|file| file.starts_with("/Users/ftamagni/src/TestRTTI/"));
            if !is_good {
                failure.get_or_insert(format!("{:#x}: {frames:?}", addresses[index]));
            }
        });
        ensure!(notes.is_empty(), "{name}: {notes:?}");
        ensure!(failure.is_none(), "{name}: {failure:?}");
        ensure!(answered == addresses.len(), "{name}: {answered} of {} addresses are named", addresses.len());
    }
    Ok(())
}

/// The two files of one UUID: the same functions and files at every address; lines differ where the versions of the tool
/// split them differently, which is stated in the reference: 23 of 32 entries are equal.
fn two_tools_wrote_the_same_symbols(folder: &Path) -> Result<(), Failed> {
    let mut all = Vec::new();
    for (name, ..) in &SYMBOLS[..2] {
        let file = fs::read(folder.join("symbols").join(name))?;
        let images = AppleImage::all(&file)?;
        let symbols = images[0].symbols.as_ref().ok_or("no symbols")?;
        let addresses: Vec<u64> = (0..0x20_000).collect();
        let mut answers = BTreeMap::new();
        symbols.look_up(&addresses, &mut |index, frames| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            answers.insert(addresses[index], (owned(frames[0].function), owned(frames[0].file)));
        });
        let ranges: Vec<_> = symbols.symbol_ranges().collect();
        let sections: Vec<_> = symbols.sections().map(|(name, range)| (name.map(str::to_owned), range)).collect();
        all.push((answers, ranges, sections));
    }
    ensure!(all[0] == all[1], "the files differ");
    ensure!(all[0].0.len() == 0x19c, "{} addresses have an answer: data is no function", all[0].0.len());
    Ok(())
}

fn the_fuzzed_file_is_an_error(folder: &Path) -> Result<(), Failed> {
    let file = fs::read(folder.join("symbols/symbols-crash"))?;
    let error = AppleImage::all(&file).err().ok_or("the fuzzed file was read")?;
    println!("symbols-crash: {error}");
    ensure!(error.message == "path of image 0 at 0x93: it is not UTF-8", "{error}");
    // What was done to the record shows as well, once the path is mended.
    let mut mended = file;
    mended[0x93] = b'I';
    mended[0xa1] = b'1';
    let error = AppleImage::all(&mended).err().ok_or("the fuzzed record was read")?;
    println!("symbols-crash, path mended: {error}");
    ensure!(error.message.contains("segments at 0x218: "), "{error}");
    Ok(())
}

/// The archives inside of `finder.trace`, by file name.
fn archives(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failed> {
    let mut zip = zip::ZipArchive::new(File::open(folder.join("xctrace/26.2/finder.trace.zip"))?)?;
    let mut archives = BTreeMap::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let path = entry.name()?.into_owned();
        if let Some(path) = path.strip_suffix(".symbolsarchive") {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            archives.insert(name, bytes);
        }
    }
    Ok(archives)
}

/// The way in which a name of ours equals the one that Instruments gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Equal {
    /// The same text, without demangling.
    AsItIs,
    /// The same text, of a stub.
    Stub,
    /// The same text, of a function without name.
    Hex,
    /// The same text, of folded functions.
    Deduplicated,
    /// The same text, after demangling.
    Demangled,
    /// None of these.
    No,
}

/// Compares our name with that of Instruments.
fn equal(ours: &str, theirs: &str) -> Equal {
    if ours == theirs {
        return match () {
            () if ours.starts_with("DYLD-STUB$$") => Equal::Stub,
            () if ours.starts_with("0x") => Equal::Hex,
            () if ours == AppleSymbols::DEDUPLICATED => Equal::Deduplicated,
            () => Equal::AsItIs,
        };
    }
    let demangled = display_name(ours);
    if demangled == theirs {
        return Equal::Demangled;
    }
    println!("differs: {ours}\n  ours:   {demangled}\n  theirs: {theirs}");
    Equal::No
}

fn finder_is_named_as_instruments_did(folder: &Path) -> Result<(), Failed> {
    let archives = archives(folder)?;
    ensure!(archives.len() == 19, "{} archives", archives.len());
    let mut by_uuid: BTreeMap<String, AppleImage<'_>> = BTreeMap::new();
    for (name, bytes) in &archives {
        ensure!(AppleImage::is_start_of_file(bytes, bytes.len() as u64), "{name} is not recognised");
        let mut images = AppleImage::all(bytes)?;
        let image = images.pop().ok_or("no image")?;
        ensure!(image.uuid.to_string() == *name, "{name}: UUID {}", image.uuid);
        ensure!(image.arch() == Some("arm64e"), "{name}: {:?}", image.arch());
        by_uuid.insert(name.clone(), image);
    }
    // The names in the archives against those in the export of the same recording.
    let file = "xctrace/26.2/finder_cpu_profile.xml";
    let export = read(File::open(folder.join(file))?, file, &Options::default())?;
    let profile = &export.profile;

    // UUID → relative address → the name that Instruments gave.
    let mut wanted: BTreeMap<String, BTreeMap<u64, String>> = BTreeMap::new();
    let mut without_binary = BTreeSet::new();
    let mut distinct = BTreeSet::new();
    for sample in profile.samples() {
        for frame in profile.frames_leaf_first(sample.stack) {
            let name = profile.function_name(frame.function).to_owned();
            let Some(binary) = frame.binary.map(|binary| profile.binary(binary)) else {
                without_binary.insert(name);
                continue;
            };
            let uuid = binary.uuid.ok_or("a binary without UUID")?.to_string();
            let relative = frame.lookup_address.get() - binary.load_address.get();
            distinct.insert((uuid.clone(), frame.address));
            wanted.entry(uuid).or_default().insert(relative, name);
        }
    }
    let count: usize = wanted.values().map(BTreeMap::len).sum();
    println!(
        "{count} distinct frames ({} by recorded address), {} without binary",
        distinct.len(),
        without_binary.len()
    );
    let (mut named, mut kinds) = (0, BTreeMap::new());
    let mut candidates = Vec::new();
    for (uuid, wanted) in &wanted {
        let Some(symbols) = by_uuid.get(uuid).and_then(|image| image.symbols.as_ref()) else {
            println!("no archive for {uuid}: {} frames", wanted.len());
            continue;
        };
        let addresses: Vec<u64> = wanted.keys().copied().collect();
        let notes = symbols.look_up(&addresses, &mut |index, frames| {
            let ours = frames[0].function.unwrap_or_default();
            named += usize::from(!ours.is_empty());
            let kind = equal(ours, &wanted[&addresses[index]]);
            if kind == Equal::Deduplicated {
                candidates.push(symbols.candidates(addresses[index]).len());
            }
            *kinds.entry(kind).or_insert(0) += 1;
        });
        ensure!(notes.is_empty(), "{notes:?}");
    }
    println!("{named} named; {kinds:?}; candidates {candidates:?}");
    ensure!(count == 433 && named > 430, "{named} of {count} are named");
    ensure!(!kinds.contains_key(&Equal::No), "{kinds:?}");
    let expected =
        [(Equal::AsItIs, 222), (Equal::Stub, 4), (Equal::Hex, 3), (Equal::Deduplicated, 3), (Equal::Demangled, 201)];
    ensure!(kinds == BTreeMap::from(expected), "{kinds:?}");
    ensure!(candidates == [41, 5, 5], "{candidates:?}");
    Ok(())
}

fn mutations_are_read_or_refused(folder: &Path) -> Result<(), Failed> {
    let symbols = SYMBOLS.iter().map(|(name, ..)| fs::read(folder.join("symbols").join(name)));
    let mut files = symbols.collect::<Result<Vec<_>, _>>()?;
    files.push(fs::read(folder.join("symbols/symbols-crash"))?);
    files.extend(archives(folder)?.into_values());
    let outcome = try_mutations(&files, 10_000, 2);
    println!("{outcome:?}");
    ensure!(outcome.read > 1_000 && outcome.refused > 1_000, "{outcome:?}");
    ensure!(outcome.peak < 400, "{outcome:?}");
    ensure!(outcome.slowest < Duration::from_secs(5), "{outcome:?}");
    Ok(())
}
