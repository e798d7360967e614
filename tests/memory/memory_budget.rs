//! Small inputs that would need much memory end in an error below the budget. A single test, since the peak is measured for the whole process.

use std::fmt::Write as _;
use std::io::Read as _;

use traceparse::ErrorKind;
use traceparse::bundle::{ArchiveLimits, BundleFiles};
use traceparse::decompress;
use traceparse::demangle::Demangler;
use traceparse::files::FileSystem;
use traceparse::memory::MemoryBudget;
use traceparse::read;
use traceparse::recording::{Intervals, Options};

use crate::peak;

const BUDGET: u64 = 32 << 20;
/// Memory that is not counted: blocks and their tapes, buffers, the window of a decompressor.
const BESIDE: u64 = 24 << 20;
/// Address space for a long token (`readers/export/position.rs`). The counting allocator takes it for memory, but its pages are not touched
/// before bytes arrive.
const MAPPED: u64 = 33 << 20;

fn zstd(write: impl FnOnce(&mut dyn std::io::Write)) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    write(&mut encoder);
    encoder.finish().unwrap()
}

/// A compressed tar with one file of zeros.
fn tar_of_zeros(bytes: u64) -> Vec<u8> {
    zstd(|out| {
        let mut header = tar::Header::new_gnu();
        header.set_path("zeros").unwrap();
        header.set_size(bytes);
        header.set_cksum();
        out.write_all(header.as_bytes()).unwrap();
        (0..bytes >> 20).for_each(|_| out.write_all(&[0; 1 << 20]).unwrap());
    })
}

const HEAD: &str = "<trace-query-result><node><schema name=\"time-profile\"><col><mnemonic>time</mnemonic></col>\
    <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>";

/// An export of rows that all differ in what `stack` writes, compressed.
fn export(rows: u64, stack: impl Fn(&mut String, u64)) -> Vec<u8> {
    zstd(|out| {
        out.write_all(HEAD.as_bytes()).unwrap();
        let mut row = String::new();
        for index in 0..rows {
            row.clear();
            write!(row, "<row><sample-time>{index}</sample-time><weight>1</weight><backtrace>").unwrap();
            stack(&mut row, index);
            row += "</backtrace></row>";
            out.write_all(row.as_bytes()).unwrap();
        }
        out.write_all(b"</node></trace-query-result>").unwrap();
    })
}

/// A Rust name of about 200 bytes that refers to itself: each of its tuples contains the previous tuple twice.
fn name_that_explodes() -> String {
    let mut name = "_RINvC1a1f".to_owned();
    let mut last = name.len() - 2;
    name += "TuuE";
    for _ in 0..30 {
        let start = name.len() - 2;
        let reference = format!("B{}_", base_62(last as u64));
        name += &format!("T{reference}{reference}E");
        last = start;
    }
    name + "E"
}

fn base_62(number: u64) -> String {
    let digits = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let (mut left, mut text) = (number - 1, String::new());
    loop {
        text.insert(0, char::from(digits[(left % 62) as usize]));
        left /= 62;
        if left == 0 {
            return text;
        }
    }
}

pub(crate) fn bombs_stay_below_the_budget() {
    a_name_stays_mangled_where_it_would_explode();
    an_archive_is_inflated_as_far_as_there_is_memory();
    tables_grow_as_far_as_there_is_memory();
    long_tokens_are_counted();
    windows_are_counted();
    what_was_read_is_given_back();
}

fn a_name_stays_mangled_where_it_would_explode() {
    let name = name_that_explodes();
    let unbounded = format!("{:#}", rustc_demangle::demangle(&name));
    assert!(name.len() < 400 && unbounded.len() > 500_000, "{} {}", name.len(), unbounded.len());
    drop(unbounded);
    let (shown, peak) = peak(|| Demangler::default().display_name(&name).into_owned());
    assert_eq!(shown, name, "it is not cut, so that names which differ do not become one");
    assert!(peak < 3 * Demangler::MAX_DEMANGLED as u64, "{peak}");
    assert_eq!(Demangler::default().display_name("_RNvCs1234_7orchard3foo"), "orchard::foo");
}

fn an_archive_is_inflated_as_far_as_there_is_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.tar.zst");
    std::fs::write(&path, tar_of_zeros(512 << 20)).unwrap();
    let budget = MemoryBudget::new(BUDGET);
    let limits = ArchiveLimits { memory: budget.clone(), ..ArchiveLimits::default() };
    let mut files = BundleFiles::with_limits(&FileSystem, limits);
    let (mounted, peak) = peak(|| files.mount(&path));
    let error = mounted.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
    assert!(error.to_string().contains("bomb.tar.zst") && error.to_string().contains("--memory 128M"), "{error}");
    assert!(peak < BUDGET + BESIDE, "{peak}");
    assert_eq!(budget.used(), 0, "and is given back");
    println!("archive: {peak} bytes at most");
}

fn tables_grow_as_far_as_there_is_memory() {
    let long = "x".repeat(2_000);
    let bombs: [(&str, Vec<u8>); 4] = [
        (
            "names",
            export(100_000, |row, index| {
                write!(row, "<frame name=\"{long}{index}\" addr=\"{index:#x}\"/>").unwrap();
            }),
        ),
        ("frames", export(600_000, |row, index| write!(row, "<frame addr=\"{index:#x}\"/>").unwrap())),
        ("ids", export(5_000_000, |row, index| write!(row, "<frame id=\"{}\" addr=\"0x1\"/>", index + 1).unwrap())),
        (
            "far ids",
            export(1_500_000, |row, index| {
                write!(row, "<frame id=\"{}\" addr=\"0x1\"/>", index * 1_000_000 + 7).unwrap();
            }),
        ),
    ];
    for (what, bomb) in bombs {
        for jobs in [1, 3] {
            let options = Options { memory: MemoryBudget::new(BUDGET), jobs, ..Options::default() };
            let (result, peak) =
                peak(|| read(decompress(&bomb[..], &options.memory).unwrap(), "bomb.xml", &options).map(drop));
            let error = result.expect_err(what);
            assert!(matches!(error.kind, ErrorKind::Memory(_)) && error.at.is_some(), "{what}: {error}");
            // Hash tables double their size, and are copied when they do.
            assert!(peak < 2 * BUDGET + BESIDE, "{what}, {jobs} jobs: {peak}");
            assert_eq!(options.memory.used(), 0, "{what}");
            println!("{what}, {jobs} jobs: {} bytes compressed, {peak} bytes at most", bomb.len());
        }
    }
    let head = HEAD.replace("time-profile", "os-signpost-interval");
    let bomb = zstd(|out| {
        out.write_all(head.as_bytes()).unwrap();
        for index in 0..1_500_000_u64 {
            let (id, row) = (index * 1_000 + 1, index);
            write!(out, "<row><start-time id=\"{id}\">{row}</start-time></row>").unwrap();
        }
        out.write_all(b"</node></trace-query-result>").unwrap();
    });
    let options = Options { memory: MemoryBudget::new(BUDGET), ..Options::default() };
    let error = Intervals::read(decompress(&bomb[..], &options.memory).unwrap(), "bomb.xml", &options).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Memory(_)), "{error}");
}

/// This many tokens of 6 MiB, at every place in an export.
fn long_tokens(place: &str, count: u64) -> Vec<u8> {
    let long = "x".repeat(6 << 20);
    let spaces = " ".repeat(6 << 20);
    let tokens: Vec<String> = (0..count)
        .map(|index| match place {
            "comment" => format!("<!--{long}-->"),
            // Every block ends after a row here.
            "comment of rows" => format!("<!--{}-->", "x</row>".repeat(3 << 18)),
            "instruction" => format!("<?a {long}?>"),
            "white space" => format!("{spaces}<!-- -->"),
            "attribute" => format!("<row><sample-time a=\"{long}\">{index}</sample-time></row>"),
            "text" => format!("<row><sample-time>{index}{spaces}</sample-time></row>"),
            _ => String::new(),
        })
        .collect();
    let after =
        if place == "after the root" { format!("{spaces}<!--{long}-->").repeat(count as usize) } else { String::new() };
    format!("{HEAD}{}</node></trace-query-result>{after}", tokens.concat()).into_bytes()
}

fn long_tokens_are_counted() {
    let places = ["comment", "comment of rows", "instruction", "white space", "attribute", "text", "after the root"];
    for (place, jobs) in places.into_iter().zip([1, 3].into_iter().cycle()) {
        let with = |count, budget| {
            let options = Options { memory: MemoryBudget::new(budget), jobs, ..Options::default() };
            let input = long_tokens(place, count);
            let (result, peak) = peak(|| read(&input[..], "long.xml", &options).map(drop));
            // The text of an element is kept until the next one.
            assert!(peak < budget + BESIDE + MAPPED, "{place}, {jobs} jobs, {budget}: {peak}");
            assert_eq!(options.memory.used(), 0, "{place}");
            (result, peak)
        };
        let ((few, small), (many, large)) = (with(2, BUDGET), with(6, BUDGET));
        few.and(many).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(large < small + (12 << 20), "{place}, {jobs} jobs: {small} bytes for 2, {large} for 6");
        let error = with(2, 4 << 20).0.expect_err(place);
        assert!(matches!(error.kind, ErrorKind::Memory(_)) && error.at.is_some(), "{place}: {error}");
        println!("{place}, {jobs} jobs: {large} bytes at most");
    }
}

/// A zstd frame with a window of 2 to this power.
fn frame(window_log: u32, content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(window_log).unwrap();
    std::io::Write::write_all(&mut encoder, content).unwrap();
    encoder.finish().unwrap()
}

fn windows_are_counted() {
    let document = format!("{HEAD}</node></trace-query-result>");
    let (start, rest) = document.as_bytes().split_at(20);
    // Many frames; the shortest takes 3 bytes, one of which is skipped.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let input = [frame(10, start), skipped, frame(10, b""), frame(26, rest), frame(12, b"\n")].concat();
    for (budget, fits) in [(80 << 20, true), (BUDGET, false)] {
        let options = Options { memory: MemoryBudget::new(budget), ..Options::default() };
        let mut text = Vec::new();
        let (inflated, peak) =
            peak(|| decompress(&input[..], &options.memory).unwrap().read_to_end(&mut text).map(|_| ()));
        assert_eq!(inflated.is_ok(), fits, "{inflated:?}");
        assert!(!fits || text == [document.as_bytes(), b"\n"].concat());
        assert!(peak < BESIDE, "{peak}: the allocator of C is not measured");
        let result = read(decompress(&input[..], &options.memory).unwrap(), "window.xml", &options);
        match result {
            Err(error) => assert!(!fits && matches!(error.kind, ErrorKind::Memory(_)), "{error}"),
            Ok(recording) => assert!(fits && recording.documents.len() == 1),
        }
        assert_eq!(options.memory.used(), 0);
    }
    let cut = &input[..input.len() - 3];
    assert!(decompress(cut, &MemoryBudget::unlimited()).unwrap().read_to_end(&mut Vec::new()).is_err());
}

fn what_was_read_is_given_back() {
    let small = export(1_000, |row, index| write!(row, "<frame addr=\"{index:#x}\"/>").unwrap());
    let budget = MemoryBudget::new(BUDGET);
    let options = Options { memory: budget.clone(), ..Options::default() };
    let export = read(decompress(&small[..], &options.memory).unwrap(), "small.xml", &options).unwrap();
    let copy = export.profile.clone();
    let tables = budget.used() - export.profile.memory();
    assert!((100..1_000).contains(&tables), "as long as it lives, and clones of it: {tables} for what tables are");
    let frames = export.profile.with_stacks(|_, _, _| true).unwrap();
    assert_eq!(budget.used(), export.profile.memory() + tables + frames.memory());
    drop((export, frames));
    assert!(budget.used() > 0);
    drop(copy);
    assert_eq!(budget.used(), 0);
}
