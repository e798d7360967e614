//! Real `.symbols` files, compared with known facts about them. `bundle_finder.rs` tests the files in a recording.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::{Failed, Trial};
use traceparse::symbols::{AppleImage, Symbols};

use crate::programs::{corpus, in_corpus};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if corpus().is_some();
        functions_cover_their_text, two_tools_wrote_the_same_symbols, the_fuzzed_file_is_an_error]
}

/// The `.symbols` of the corpus: UUID, arch, bytes of `__text`, functions there, lines.
const SYMBOLS: [(&str, &str, u64, usize, usize); 3] = [
    ("D9A37B67-F10A-35AA-A852-ABFBBECC03AE.symbols", "arm64", 0x19c, 14, 32),
    ("D9A37B67-F10A-35AA-A852-ABFBBECC03AE-new.symbols", "arm64", 0x19c, 14, 32),
    ("E0055E1F-DFC2-3F7D-AC52-A3B1DCF6A1C7.symbols", "arm64e", 2036, 28, 104),
];

fn functions_cover_their_text() -> Result<(), Failed> {
    for (name, arch, text_size, function_count, line_count) in SYMBOLS {
        let file = fs::read(in_corpus("symbols").join(name))?;
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
fn two_tools_wrote_the_same_symbols() -> Result<(), Failed> {
    let mut all = Vec::new();
    for (name, ..) in &SYMBOLS[..2] {
        let file = fs::read(in_corpus("symbols").join(name))?;
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

fn the_fuzzed_file_is_an_error() -> Result<(), Failed> {
    let file = fs::read(in_corpus("symbols/symbols-crash"))?;
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
