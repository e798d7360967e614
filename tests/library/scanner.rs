//! The scanner reads the same as an XML reader, in the same order, with every block size and any number of threads.

use std::fmt::Write as _;
use std::io::Read;

use support::{RenderOptions, Rng, Shape, Size, Table, concatenate, documents, mutate, render, respell};
use traceparse::Error;
use traceparse::profile::Profile;
use traceparse::read;
use traceparse::recording::{Options, Recording};

const SIZES: [usize; 9] = [1, 7, 64, 300, 1_000, 4_096, 16_384, 65_536, 1 << 20];

/// Every row of every table, with names and unchanged ids.
fn describe(profile: &Profile) -> String {
    let mut all = String::new();
    macro_rules! rows {
        ($ids:ident, $get:ident, $($name:expr),*) => {
            for id in profile.$ids() {
                let row = profile.$get(id);
                let names: Vec<Option<&str>> = vec![$($name(row).map(|name| profile.string(name))),*];
                writeln!(all, "{row:?} {names:?}").unwrap();
            }
        };
    }
    use traceparse::profile::{Binary, Core, Frame, Function, Process, Run, Series, Thread};
    rows!(run_ids, run, |row: &Run| Some(row.input));
    rows!(series_ids, series, |row: &Series| Some(row.schema));
    rows!(process_ids, process, |row: &Process| Some(row.name));
    rows!(thread_ids, thread, |row: &Thread| Some(row.name));
    rows!(core_ids, core, |row: &Core| row.kind);
    rows!(binary_ids, binary, |row: &Binary| Some(row.name), |row: &Binary| row.arch, |row: &Binary| Some(row.path));
    rows!(function_ids, function, |row: &Function| Some(row.name));
    rows!(frame_ids, frame, |row: &Frame| row.source.map(|source| source.path));
    for id in profile.stack_ids() {
        writeln!(all, "{:?}", profile.stack(id)).unwrap();
    }
    for (index, sample) in profile.samples().iter().enumerate() {
        let state = sample.state.map(|state| profile.string(state));
        writeln!(all, "{sample:?} {state:?} {:?}", profile.counters(index)).unwrap();
    }
    all
}

/// The outcome, with the text of errors and their places, but without the lines of diagnostics and errors: if a byte is no
/// longer in memory, its line is known only within its element.
fn outcome(result: Result<Recording, Error>) -> Result<String, String> {
    match result {
        Ok(mut export) => {
            for at in export.diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.at.as_mut()) {
                at.line = 0;
            }
            Ok(format!("{:#?}\n{:#?}\n{}", export.documents, export.diagnostics, describe(&export.profile)))
        }
        Err(error) => Err(format!("{:?} {:?}", error.kind, error.at.map(|at| at.byte))),
    }
}

fn options(buffer_size: usize, jobs: usize, uses_scanner: bool, allow_truncated: bool) -> Options {
    Options { buffer_size, jobs, uses_scanner, allow_truncated, ..Options::default() }
}

/// Compares several ways of scanning with the XML reader, which reads the document in one piece.
fn assert_same(document: &[u8], sizes: &[usize], jobs: usize, allow_truncated: bool) {
    let whole = document.len() + 1;
    let expected = outcome(read(document, "test.xml", &options(whole, 1, false, allow_truncated)));
    for &size in sizes.iter().chain([&whole]) {
        let found = outcome(read(document, "test.xml", &options(size, jobs, true, allow_truncated)));
        if found != expected {
            let (found, expected) = (found.unwrap_or_else(|error| error), expected.unwrap_or_else(|error| error));
            let line = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
            let at = line.unwrap_or(found.lines().count().min(expected.lines().count()));
            let part = |text: &str| text.lines().skip(at.saturating_sub(2)).take(14).collect::<Vec<_>>().join("\n");
            std::fs::write(std::env::temp_dir().join("traceparse-scanner-differs.xml"), document).unwrap();
            panic!("blocks of {size}, {jobs} jobs:\nscanner {}\nXML     {}", part(&found), part(&expected));
        }
    }
}

#[test]
fn every_shape_is_read_the_same_at_every_size() {
    for (index, document) in documents().iter().enumerate() {
        assert_same(document.as_bytes(), &SIZES, 1 + index % 3, false);
    }
}

#[test]
fn random_recordings_are_read_the_same() {
    for seed in 0..60 {
        let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
        let table = [Table::TimeProfile, Table::CpuProfile, Table::CountersProfile { pmi: false }, Table::TimeSample]
            [seed as usize / 7 % 4];
        let shape = shape.for_table(table);
        let recording = support::Invented::random(seed, &Size::small());
        let document = render(&recording, &RenderOptions::new(shape, table, &recording));
        let document = if seed % 5 == 0 { concatenate(&[document.clone(), document]) } else { document };
        assert_same(document.as_bytes(), &[1_000, 5_000, 30_000], 1 + seed as usize % 4, false);
    }
}

/// Thousands of blocks of one row each and some of many, on more threads than there are cores.
#[test]
fn many_threads_read_the_same() {
    let mut document = Vec::new();
    support::write_large_as(&mut document, Shape::Xcode26_4, 3_000, 700, 5).unwrap();
    for jobs in [2, 3, 8] {
        assert_same(&document, &[10, 700, 20_000, 300_000], jobs, false);
    }
}

/// With a slow source, the reading thread continues to read, the other threads wait, and any thread scans blocks.
#[test]
fn a_slow_source_is_read_the_same() {
    struct Slow<'a>(&'a [u8], u64);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            // Sometimes faster than the other threads, so the maximum number of blocks waits.
            self.1 += 1;
            if self.1 % 50 < 40 {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            // Short reads, sometimes of a single byte.
            let most = buffer.len().min(1 + self.1 as usize * 37 % 5_000);
            self.0.read(&mut buffer[..most])
        }
    }
    let mut document = Vec::new();
    support::write_large_as(&mut document, Shape::Xcode26_2, 2_000, 500, 6).unwrap();
    let expected = outcome(read(document.as_slice(), "test.xml", &options(20_000, 1, true, false)));
    for jobs in [2, 3, 8] {
        let found = outcome(read(Slow(&document, 0), "test.xml", &options(2_000, jobs, true, false)));
        assert!(found == expected, "{jobs} jobs");
    }
}

#[test]
fn mutated_documents_are_read_the_same() {
    let documents = documents();
    let mut rng = Rng::new(51);
    let mut results = 0;
    let rounds = support::rounds(12_000) as usize;
    for round in 0..rounds {
        let mut text = rng.pick(&documents).clone();
        for _ in 0..rng.below(3) {
            respell(&mut text, &mut rng);
        }
        let mut bytes = text.into_bytes();
        for _ in 0..rng.below(3) {
            mutate(&mut bytes, &mut rng);
        }
        let size = *rng.pick(&SIZES);
        results += u32::from(read(bytes.as_slice(), "", &Options::default()).is_ok());
        assert_same(&bytes, &[size], 1 + round % 2, round % 3 == 0);
    }
    assert!(results as usize > rounds / 12, "{results} results: mutations that show nothing");
}

/// The cells of a table's first row, which define the ids that other rows refer to: up to id 10, including the time.
const FIRST_CELLS: &str = r#"<thread id="2" fmt="main (0x51) (app, pid: 7)"><tid id="3" fmt="0x51">81</tid><process id="4" fmt="app (7)"><pid id="5" fmt="7">7</pid></process></thread><process ref="4"/><core id="6" fmt="CPU 1">1</core><thread-state id="7" fmt="Running">Running</thread-state><weight id="8" fmt="1 ms">1000000</weight><backtrace id="9"><frame id="10" name="f" addr="0x1001"/></backtrace>"#;
/// The cells of other rows, without the stack.
const CELLS: &str = r#"<thread ref="2"/><process ref="4"/><core ref="6"/><thread-state ref="7"/><weight ref="8"/>"#;

fn sample_time(id: u64) -> String {
    format!(r#"<sample-time id="{id}" fmt="00:00.001.000">{}</sample-time>"#, id * 1_000)
}

fn document_of(rows: &str) -> String {
    let columns = ["time", "thread", "process", "core", "thread-state", "weight", "stack"];
    let columns = columns.map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let table = format!(
        "<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name=\"time-profile\">{columns}</schema>\n{rows}</node>"
    );
    format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{table}</trace-query-result>\n")
}

/// Cells known from earlier rows must not get lost if the rest of the row is different.
#[test]
fn rows_of_another_shape_are_read_the_same() {
    let (stack, absent) = (r#"<backtrace ref="9"/>"#, "<sentinel/>");
    let usual = format!("{CELLS}{stack}");
    let others = [
        format!("{CELLS}{}{CELLS}{stack}", sample_time(99)),
        format!("{CELLS}{}{stack}", sample_time(99)),
        format!("{CELLS}{}{CELLS}", sample_time(99)),
        format!("{CELLS}{stack}{stack}"),
        CELLS.to_owned(),
        format!("{CELLS}{absent}"),
        stack.to_owned(),
        String::new(),
    ];
    for other in others {
        let mut rows = format!("<row>{}{FIRST_CELLS}</row>\n", sample_time(1));
        let mut id = 11;
        for row in [&usual, &usual, &other, &usual, &other, &usual] {
            let behind = row.replace(r#"id="99""#, &format!(r#"id="{}""#, id + 1));
            rows += &format!("<row>{}{behind}</row>\n", sample_time(id));
            id += if row.contains("99") { 2 } else { 1 };
        }
        let document = document_of(&rows);
        assert_same(document.as_bytes(), &SIZES, 1, false);
        assert_same(document.as_bytes(), &SIZES, 3, false);
    }
}

/// A stack may contain the text of the last stack with another meaning, or no frames.
#[test]
fn odd_stacks_are_read_the_same() {
    // ID is the next defined id. The second frame is defined once, and then available by `ref`.
    let frame = r#"<frame id="ID" name="g" addr="0x2001"/>"#;
    let usual = r#"<frame ref="10"/>"#.repeat(3);
    let odd = [
        format!(r#"<frame ref="15"/>{usual}"#),
        format!(r#"<frame ref="15"/><frame ref="15"/>{usual}{usual}"#),
        r#"<frame ref="10"/>"#.to_owned(),
        // Repeating the same bytes would define the frame twice.
        format!(r#"<frame ref="10"/>{frame}{usual}"#),
        format!(r#"<frame ref="10"/><frame id="15" name="g" addr="0x2001"/>{usual}"#),
        format!(r#"<frame id="ID" name="h" addr="0x3001"><backtrace id="ID">{usual}</backtrace></frame>{usual}"#),
        format!(r#"<backtrace id="ID">{usual}</backtrace>{usual}"#),
        format!(r#"<frame ref="010"/>{usual}"#),
        format!(r#"<frame ref="0"/>{usual}"#),
        format!(r#"{usual}<frame ref="2"/>"#),
        format!("{usual} {usual}"),
        usual.repeat(200),
        usual.repeat(900),
    ];
    for odd in odd {
        let mut rows = format!("<row>{}{FIRST_CELLS}</row>\n", sample_time(1));
        let mut id = 11;
        for stack in [&usual, &format!("{frame}{usual}"), &odd, &usual, &odd, &usual] {
            let row = format!(r#"<row>{}{CELLS}<backtrace id="ID">{stack}</backtrace></row>"#, sample_time(id));
            id += 1;
            let mut parts = row.split("\"ID\"");
            rows += parts.next().unwrap();
            for part in parts {
                rows += &format!("\"{id}\"{part}");
                id += 1;
            }
            rows += "\n";
        }
        assert!(rows.contains(r#"<frame id="15" name="g""#), "{rows}");
        let document = document_of(&rows);
        assert_same(document.as_bytes(), &SIZES, 1, false);
        assert_same(document.as_bytes(), &SIZES, 3, false);
    }
}

/// A source that returns some bytes and then fails.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("the cable was pulled")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_source_that_fails_is_an_error_with_its_place_on_any_number_of_threads() {
    let mut document = Vec::new();
    support::write_large_as(&mut document, Shape::Xcode27, 500, 50, 1).unwrap();
    let part = &document[..document.len() * 2 / 3];
    for jobs in [1, 2, 5] {
        let error = read(Failing(part), "far.xml", &options(5_000, jobs, true, true)).unwrap_err();
        assert!(error.to_string().contains("far.xml"), "{error}");
        assert_eq!(error.at.as_ref().map(|at| at.byte), Some(part.len() as u64), "{jobs} jobs");
        assert_eq!(
            error.at.as_ref().map(|at| at.line),
            Some(1 + part.iter().filter(|&&byte| byte == b'\n').count() as u64)
        );
    }
}

/// If a source panics, the panic reaches the caller, and no thread hangs.
#[test]
fn a_source_that_panics_does_not_hang() {
    struct Panicking<'a>(&'a [u8]);
    impl Read for Panicking<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.read(buffer)?;
            assert!(count > 0, "a source that panics");
            Ok(count)
        }
    }
    let mut document = Vec::new();
    support::write_large_as(&mut document, Shape::Xcode27, 500, 50, 1).unwrap();
    let part = &document[..document.len() / 2];
    for jobs in [1, 3] {
        let result = std::panic::catch_unwind(|| read(Panicking(part), "", &options(5_000, jobs, true, false)).is_ok());
        assert!(result.is_err(), "{jobs} jobs");
    }
}
