//! Bundles: edit scripts on the inflated files of small invented recordings.
//!
//! ```text
//! base form [script]      which recording; how files are packed (bits 0 and 1), what is read; then edits (`edits.rs`)
//! 05 e3                    recording 5, everything packed, and compared with the same that is not (bits 5 to 7)
//! ```
//!
//! Files are packed with zlib *stored* blocks, which have all checks of zlib and cost almost nothing. A bundle has four rows, no files are on
//! disk, and there are no other threads. Blocks are not padded to 1 MiB with zeros, as in real bundles, since that was slow.

use std::path::Path;
use std::sync::LazyLock;

use traceparse::Error;
use traceparse::bundle::Bundle;
use traceparse::recording::{Intervals, Limits, Options, Recording, RecordingBuilder};

use super::{edits, reports};
use support::bundle::unpacked::inflated;
use support::bundle::{BUNDLE, BundleOptions, ChunkedVec, Compression, Files, Memory, nodes_of_marks, write_bundle};
use support::{Invented, Size, Table};

/// The files of a recording before they are packed.
struct Base {
    paths: Vec<String>,
    parts: Vec<Vec<u8>>,
}

/// One recording of each table and form.
static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| (0..BASE_COUNT).map(base).collect());

pub(crate) const BASE_COUNT: u64 = 8;

const TABLES: [Table; 4] =
    [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample];

fn base(seed: u64) -> Base {
    let size = Size {
        processes: 1,
        threads_per_process: 2,
        images: 1,
        functions_per_image: 2,
        rows: 4,
        depth: 3,
        runs: 1 + u32::from(seed == 5),
        ..Size::small()
    };
    let recording = Invented::random(seed, &size);
    let mut nodes = BundleOptions::new(TABLES[seed as usize % TABLES.len()], &recording).nodes;
    if seed.is_multiple_of(3) {
        nodes.extend(nodes_of_marks());
    }
    let options = BundleOptions {
        compression: Compression::Plain,
        rows_per_block: 3,
        array_block_size: 128,
        spare_blocks: usize::from(seed == 2),
        chunks: [ChunkedVec::One, ChunkedVec::Several, ChunkedVec::SeveralWithEnd][seed as usize % 3],
        tagged: seed % 2 == 1,
        signed: seed == 3,
        shared_cache: seed % 4 != 1,
        other_device: seed == 6,
        long_process_arrays: seed == 7,
        binary_strings: seed.is_multiple_of(2),
        packed: seed == 4,
        symbols: None,
        ..BundleOptions::with_nodes(nodes)
    };
    let files = write_bundle(&recording, &options);
    let (paths, parts) = files.into_iter().map(|(path, bytes)| (path, inflated(&bytes).expect("a whole file"))).unzip();
    Base { paths, parts }
}

/// # Panics
/// If a check fails.
pub(crate) fn check(input: &[u8]) {
    let [base, form, script @ ..] = input else { return };
    let (base, parts) = changed(*base, script);
    let files = packed(base, &parts, form & 3);
    let found = read(&files, *form, 1);
    assert!(!script.is_empty() || found.is_ok(), "{:?}", found.err());
    match form >> 4 {
        0xe if form & 3 != 0 => check_same(&found, &read(&packed(base, &parts, 0), *form, 1), "not packed"),
        0xf => check_same(&found, &read(&files, *form, 2), "in two threads"),
        _ => {}
    }
    if let Ok((export, _)) = &found {
        reports::check_one(export, usize::from(form >> 2) + input.len());
    }
}

/// The files of a recording after a script has changed them, packed in this form.
pub(super) fn files(base: u8, script: &[u8], form: u8) -> Files {
    let (base, parts) = changed(base, script);
    packed(base, &parts, form)
}

fn changed(base: u8, script: &[u8]) -> (&'static Base, Vec<Vec<u8>>) {
    let base = &BASES[usize::from(base) % BASES.len()];
    let mut parts = base.parts.clone();
    edits::apply(script, &mut parts);
    (base, parts)
}

/// The files of a bundle: unpacked, all packed with zlib, or half of them packed (1 to 3).
fn packed(base: &Base, parts: &[Vec<u8>], form: u8) -> Files {
    let packed = |(index, bytes): (usize, &Vec<u8>)| {
        if form == 3 || form > 0 && index % 2 == usize::from(form - 1) { stored(bytes) } else { bytes.clone() }
    };
    base.paths.iter().cloned().zip(parts.iter().enumerate().map(packed)).collect()
}

/// A zlib stream without compression: blocks of up to 65,535 verbatim bytes.
pub(crate) fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(0xffff).peekable();
    if blocks.peek().is_none() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes().into_iter().chain((!length).to_le_bytes()));
        out.extend_from_slice(block);
    }
    out.extend(adler32(bytes).to_be_bytes());
    out
}

/// The checksum of zlib.
fn adler32(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (1_u32, 0_u32);
    // The largest number for which no sum overflows.
    for piece in bytes.chunks(5_552) {
        for &byte in piece {
            one += u32::from(byte);
            two += one;
        }
        (one, two) = (one % 65_521, two % 65_521);
    }
    two << 16 | one
}

/// The samples and intervals that were read.
type Found = Result<(Recording, Intervals), Error>;

/// Reads samples, intervals where bit 2 of the form is not set, and what there is where bit 3 is: each reads the template anew.
fn read(files: &Files, form: u8, jobs: usize) -> Found {
    let limits = Limits { file_bytes: 4 << 20, ..Limits::default() };
    let options = Options { limits, jobs, ..Options::default() };
    let memory = Memory::of_bundle(files);
    let bundle = Bundle::open(&memory, Path::new(BUNDLE), &options)?;
    let toc = (form & 8 != 0).then(|| bundle.toc());
    let mut recording = RecordingBuilder::new(options.clone());
    bundle.read_into(&mut recording, "fuzz")?;
    let export = recording.finish()?;
    let intervals = if form & 4 == 0 { bundle.intervals("fuzz", &options)? } else { Intervals::default() };
    assert!(toc.is_none_or(|toc| toc.is_ok()), "a table of contents that cannot be read, of a recording that can");
    check_rows(&export, &intervals);
    Ok((export, intervals))
}

fn check_rows(export: &Recording, intervals: &Intervals) {
    reports::check_rows(export);
    let is_told = !export.diagnostics.is_empty() || !intervals.diagnostics.is_empty();
    let is_lost = export.unread_runs().next().is_some() || !intervals.unread_runs.is_empty();
    assert!(is_told || !is_lost, "a run is lost without a word");
    for sample in export.profile.samples() {
        let process = export.profile.thread(sample.thread).process;
        let run = export.profile.run(export.profile.process(process).run).number;
        assert!(export.unread_runs().all(|unread| unread.number != run), "samples of run {run}, which was not read");
    }
    for interval in &intervals.intervals {
        assert!(!intervals.unread_runs.contains(&interval.run), "{interval:?}");
        assert!(interval.end.is_none_or(|end| interval.start <= end), "{interval:?}");
    }
    for table in &intervals.tables {
        assert_eq!(table.rows, table.used + table.unused + table.rejected.total(), "{table:?}");
    }
}

/// Checks that two readings are the same, regardless of packing and the number of threads.
fn check_same(one: &Found, other: &Found, how: &str) {
    match (one, other) {
        (Ok((export, intervals)), Ok((other, other_intervals))) => {
            assert_eq!(export.profile.samples(), other.profile.samples(), "samples, {how}");
            assert_eq!(export.diagnostics, other.diagnostics, "diagnostics, {how}");
            assert_eq!(export.documents, other.documents, "documents, {how}");
            assert_eq!(intervals.intervals, other_intervals.intervals, "intervals, {how}");
            assert_eq!(intervals.hang_risks, other_intervals.hang_risks, "hang risks, {how}");
        }
        (Err(one), Err(other)) => assert_eq!(one.kind, other.kind, "errors, {how}"),
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("an error of one way only, {how}: {error}"),
    }
}
