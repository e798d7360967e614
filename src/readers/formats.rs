//! The registry of formats. Formats are recognised by their first bytes, including known formats that this crate cannot read.
//!
//! The order matters: the most reliable tests come first. File names are not used, since people rename files.

use std::path::Path;

use memchr::memmem;
#[cfg(feature = "bundle")]
use quick_xml::events::Event;

use crate::error::add_feature;
use crate::files::{Entry, Files};
use crate::readers::deep_copy::is_row;
use crate::readers::lines::Encoding;
use crate::settings::for_command;

/// The number of bytes at the start of an input that are examined.
pub(crate) const HEAD: usize = 64 << 10;

/// The readers of inputs that are not bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Crash,
    Dart,
    DeepCopy,
    DotTrace,
    /// Also reports inputs that no other reader recognises.
    Export,
    MetricKit,
    Sample,
    Spindump,
}

impl Reader {
    /// Returns the reader for an input with this head: the first [`HEAD`] bytes, or the complete input.
    pub(super) fn of(head: &[u8]) -> Self {
        recognise(head).and_then(|known| known.use_of.ok()).unwrap_or(Self::Export)
    }
}

/// True if a reader reads inputs with this head.
pub(super) fn is_readable(head: &[u8]) -> bool {
    recognise(head).map_or_else(|| is_toc(head) || has_tables(head), |known| known.use_of.is_ok())
}

/// True if an input with this head is a table of contents.
pub(super) fn is_toc(head: &[u8]) -> bool {
    memmem::find(head, b"<trace-toc").is_some() && !has_tables(head)
}

/// True if the text of a head starts like XML.
#[cfg(feature = "bundle")]
pub(super) fn is_xml(head: &[u8]) -> bool {
    text(head).trim_start().starts_with('<')
}

pub(super) fn has_tables(head: &[u8]) -> bool {
    memmem::find(head, b"<trace-query-result").is_some()
}

/// True if a head is the start of an XML file with another root. A file whose start is lost has no declaration.
#[cfg(feature = "bundle")]
pub(super) fn is_other_xml(head: &[u8]) -> bool {
    let text = text(head);
    let mut reader = quick_xml::Reader::from_str(text.trim_start());
    let mut is_declared = false;
    loop {
        match reader.read_event() {
            Ok(Event::Decl(_)) => is_declared = true,
            Ok(Event::Comment(_) | Event::DocType(_) | Event::PI(_)) => {}
            Ok(Event::Text(text)) if text.trim_ascii().is_empty() => {}
            Ok(Event::Start(root) | Event::Empty(root)) => {
                let name = root.name();
                let is_like_ours = name.as_ref().contains("trace") || name.as_ref().contains("query");
                return is_declared && !is_like_ours && name.as_ref() != "Report";
            }
            _ => return false,
        }
    }
}

/// True if a head that should be text has a byte that no text has.
#[cfg(feature = "bundle")]
pub(super) fn is_damaged_text(head: &[u8]) -> bool {
    text(head).contains('\0')
}

/// Returns advice for a compressed or packed input. Archives have separate messages.
pub(super) fn packed(head: &[u8]) -> Option<String> {
    let is = |magic: &[u8]| head.starts_with(magic);
    let is_compressed = is(b"\x1f\x8b") || is(b"\x28\xb5\x2f\xfd");
    let is_bzip2 = is(b"BZh") && head.get(4..10) == Some(b"1AY&SY");
    let is_archive = is(b"PK\x03\x04") || head.get(257..262) == Some(b"ustar");
    let other = |name: &str, command: &str| {
        format!(
            "the file is compressed with {name}, which is not supported; unpack it first ({command}), or compress it with gzip or zstd"
        )
    };
    if is_compressed && cfg!(feature = "compression") {
        Some("the file is compressed twice, or was not decompressed; unpack it first".to_owned())
    } else if is(b"\xfd7zXZ\0") {
        Some(other("xz", "xz -d"))
    } else if is_bzip2 {
        Some(other("bzip2", "bzip2 -d"))
    } else if is_compressed {
        Some(format!("the file is compressed; unpack it first, or {}", add_feature("compression")))
    } else if is_archive && cfg!(not(feature = "bundle")) {
        Some(format!("this is an archive, not an export; to read a recording in it, {}", add_feature("bundle")))
    } else {
        None
    }
}

/// A recognised format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// A description of the format, such as `a Linux perf recording (perf.data)`.
    what: &'static str,
    /// The reader for the format, or advice on what to do with such a file, such as the command that reads it.
    use_of: Result<Reader, &'static str>,
}

const fn known(what: &'static str, advice: &'static str) -> Known {
    Known { what, use_of: Err(advice) }
}

const fn readable(what: &'static str, reader: Reader) -> Known {
    Known { what, use_of: Ok(reader) }
}

const SAMPLE: Known = readable("a `sample` report (macOS)", Reader::Sample);

/// Describes an input that is not an export, in one sentence.
pub(super) fn describe(head: &[u8]) -> Option<String> {
    if let Some(what) = packed(head) {
        return Some(what);
    }
    let Known { what, use_of } = recognise(head)?;
    Some(match use_of {
        Ok(_) => format!("this is {what}, which has samples but no other tables, such as signposts or hangs"),
        Err(advice) => {
            let has_addresses = advice == CONSOLE;
            let more = if has_addresses { for_command("; traceparse symbolicate -o names its addresses") } else { "" };
            format!("this is {what}, which traceparse cannot read; {advice}{more}")
        }
    })
}

/// Names the format of an input that is not an export, such as `a dotTrace report`.
pub(super) fn what(head: &[u8]) -> Option<&'static str> {
    recognise(head).map(|known| known.what)
}

/// Recognises the format of an input that is not an export.
fn recognise(head: &[u8]) -> Option<Known> {
    binary(head).or_else(|| {
        let text = text(head);
        let start = text.trim_start();
        match start.as_bytes().first()? {
            b'{' | b'[' => json(start),
            b'<' if start.contains("<Report") && start.contains("<Function ") => {
                Some(readable("a dotTrace report", Reader::DotTrace))
            }
            b'<' => None,
            _ => lines(&text),
        }
    })
}

fn binary(head: &[u8]) -> Option<Known> {
    if head.starts_with(b"SIMPLEPERF") {
        return Some(known("a simpleperf profile (Android)", "simpleperf report -i FILE reads it"));
    }
    if head.starts_with(b"PERFILE2") {
        return Some(known("a Linux perf recording (perf.data)", "perf report -i FILE reads it"));
    }
    if head.starts_with(b"\0\x05\x16\x07") {
        let what = "an AppleDouble file (._), in which macOS keeps the attributes of another file";
        return Some(known(what, "pass the file without ._ in its name"));
    }
    // The header has five words: 0, the number of words that follow (3), 0, …
    if head.len() >= 24 && head[..8] == [0; 8] && head[8] == 3 && head[9..24] == [0; 15] {
        return Some(known("a gperftools CPU profile", PPROF));
    }
    is_pprof(head).then_some(known("a profile for pprof", PPROF))
}

/// True if these are fields of a pprof message, in any order, that include a sample type.
fn is_pprof(head: &[u8]) -> bool {
    /// The field with the sample types, whose numbers are string indices.
    const SAMPLE_TYPE: u64 = 1;
    let (mut rest, mut has_type) = (head, false);
    while let Some((key, value)) = varint(rest) {
        let (field, wire) = (key >> 3, key & 7);
        let is_number = matches!(field, 7..=10 | 12..=14);
        rest = match wire {
            0 if is_number => match varint(value) {
                Some((_, rest)) => rest,
                None => break,
            },
            2 if matches!(field, 1..=6 | 11 | 13 | 15) => {
                let Some((length, value)) = varint(value) else { break };
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                // The head ends inside this message.
                let Some((message, rest)) = value.split_at_checked(length) else { break };
                if field == SAMPLE_TYPE && !is_value_type(message) {
                    return false;
                }
                has_type |= field == SAMPLE_TYPE;
                rest
            }
            _ => return false,
        };
    }
    has_type
}

/// True if a message consists of at most two numbers.
fn is_value_type(mut message: &[u8]) -> bool {
    while let [0x08 | 0x10, number @ ..] = message {
        let Some((_, rest)) = varint(number) else { return false };
        message = rest;
    }
    message.is_empty()
}

/// Parses a varint. Returns it with the remaining bytes.
fn varint(mut bytes: &[u8]) -> Option<(u64, &[u8])> {
    Some((crate::varint::read(&mut bytes)?, bytes))
}

/// Decodes the head as text: UTF-8, or UTF-16 with a byte order mark.
fn text(head: &[u8]) -> String {
    let (encoding, mark) = Encoding::of(head);
    encoding.decode(&head[mark..])
}

/// Keys that occur only in MetricKit diagnostics, or in call trees extracted from them.
const DIAGNOSTICS: [&str; 11] = [
    "\"appLaunchDiagnostics\"",
    "\"callStackPerThread\"",
    "\"callStackRootFrames\"",
    "\"callStackThreads\"",
    "\"callStackTree\"",
    "\"cpuExceptionDiagnostics\"",
    "\"crashDiagnostics\"",
    "\"diagnosticLogs\"",
    "\"diskWriteExceptionDiagnostics\"",
    "\"hangDiagnostics\"",
    "\"offsetIntoBinaryTextSegment\"",
];

const PPROF: &str = "go tool pprof FILE reads it";
const CONSOLE: &str = "Console on a Mac shows it, and so does Xcode";
const FIREFOX: &str = "profiler.firefox.com reads it";
const SPEEDSCOPE: &str = "www.speedscope.app reads it";

fn json(start: &str) -> Option<Known> {
    let first = start.lines().next().unwrap_or(start);
    if start.len() > first.len() && first.contains("\"bug_type\"") {
        return Some(problem_report(first));
    }
    // This also removes white space inside strings, but the keys contain none.
    let dense: String = start.split_ascii_whitespace().collect();
    let any = |keys: &[&str]| keys.iter().any(|key| dense.contains(key));
    match () {
        () if any(&["\"bug_type\":\"109\"", "\"bug_type\":\"309\""]) => Some(CRASH),
        // A report without the header.
        () if any(&["\"procName\""]) && any(&["\"faultingThread\"", "\"usedImages\""]) => Some(CRASH),
        () if any(&["\"parent_index\""]) => {
            let advice = "it may have been cut at 250 frames; pass the payload as MetricKit wrote it";
            Some(known("a call tree from Sentry", advice))
        }
        () if any(&DIAGNOSTICS) || (any(&["\"environment\""]) && any(&["Diagnostic\""])) => {
            Some(readable("a MetricKit diagnostic", Reader::MetricKit))
        }
        () if any(&["\"metricCategories\""]) || (any(&["\"insights\""]) && any(&["\"metricCategory\""])) => {
            Some(readable("App Store Connect metrics", Reader::MetricKit))
        }
        () if any(&["\"intervalEntries\"", "\"stateEntries\""]) && any(&["\"environment\"", "\"timeRange\""]) => {
            Some(readable("a MetricKit metrics report", Reader::MetricKit))
        }
        () if any(&["\"timeStampBegin\""]) && any(&["\"metaData\""]) && any(&["Metrics\":"]) => {
            Some(readable("a MetricKit metrics payload", Reader::MetricKit))
        }
        () if any(&["\"type\":\"CpuSamples\"", "\"type\":\"_CpuProfileTimeline\"", "\"devToolsSnapshot\""]) => {
            Some(readable("a Dart CPU profile", Reader::Dart))
        }
        () if any(&["speedscope.app/file-format-schema", "\"speedscope@"]) => {
            Some(known("a profile for speedscope", SPEEDSCOPE))
        }
        () if any(&["\"preprocessedProfileVersion\""]) => Some(known("a profile of the Firefox Profiler", FIREFOX)),
        () if any(&["\"meta\""]) && any(&["\"samples\":{\"schema\""]) => Some(known("a raw Firefox profile", FIREFOX)),
        () if any(&["\"traceEvents\"", "\"ph\":\""]) => {
            Some(known("a trace for Chrome or Perfetto", "ui.perfetto.dev reads it"))
        }
        () => None,
    }
}

const CRASH: Known = readable("a crash report (macOS, iOS)", Reader::Crash);
const SPINDUMP: Known = readable("a spindump report, or a hang or resource report (macOS, iOS)", Reader::Spindump);

/// Recognises the kind of an `.ips` file by the `bug_type` in its first line.
fn problem_report(first: &str) -> Known {
    let line = serde_json::from_str::<serde_json::Value>(first).ok();
    // `bug_type` is a string in all known reports.
    match line.as_ref().and_then(|line| line.get("bug_type")?.as_str()).unwrap_or_default() {
        "142" | "144" | "145" | "157" | "174" | "202" | "206" | "207" | "220" | "222" | "223" | "228" | "239"
        | "243" | "302" | "310" => SPINDUMP,
        "98" | "198" | "298" => {
            known("a Jetsam report (.ips) about memory, without stacks", "Console on a Mac shows it")
        }
        "109" | "309" => CRASH,
        "210" => known("a report of a kernel panic (.ips)", CONSOLE),
        "288" | "509" => known("a stackshot (.ips) with one stack for each thread", CONSOLE),
        _ => known("a macOS or iOS report (.ips)", CONSOLE),
    }
}

fn lines(text: &str) -> Option<Known> {
    const NEAR: usize = 4 << 10;
    const MOST_LINES_BEFORE: usize = 100;
    let has_line = |within: usize, start: &str| {
        let within = text.char_indices().find(|&(at, _)| at >= within).map_or(text, |(at, _)| &text[..at]);
        within.lines().any(|line| line.starts_with(start))
    };
    if has_line(NEAR, "Analysis of sampling ") || has_line(NEAR, "Call graph:") {
        return Some(SAMPLE);
    }
    let is_quoted =
        |line: &str| line.trim_start_matches([' ', '\t', '>', '|', '#', '*', '/']).starts_with("Analysis of sampling ");
    if text.lines().take(MOST_LINES_BEFORE).any(is_quoted) {
        let advice = "remove what is before each line, so that the first one begins with Analysis of sampling";
        return Some(known("a `sample` report (macOS) whose lines are indented or quoted", advice));
    }
    if text.starts_with("version https://git-lfs.github.com/") {
        let what = "a Git LFS pointer, which a repository has in place of a large file";
        return Some(known(what, "download the file itself: git lfs pull"));
    }
    let has_crash = |line: &str| line.starts_with("Thread ") && line.contains(" Crashed:");
    if has_line(HEAD, "Exception Type:") || (has_line(HEAD, "Process:") && text.lines().any(has_crash)) {
        return Some(CRASH);
    }
    if has_line(HEAD, "Date/Time:") && ["Data Source:", "Steps:", "Event:"].iter().any(|start| has_line(HEAD, start)) {
        return Some(SPINDUMP);
    }
    let line = text.lines().next().unwrap_or_default();
    let first: Vec<&str> = line.split('\t').collect();
    if first.len() >= 3 && (first.last().is_some_and(|last| last.trim().starts_with("Symbol Name")) || is_row(line)) {
        return Some(readable("a call tree that was copied out of Instruments (Deep Copy)", Reader::DeepCopy));
    }
    if is_perf_script(text) {
        return Some(known("the output of perf script (Linux)", "profiler.firefox.com and www.speedscope.app read it"));
    }
    if is_jmh(text) {
        return Some(known("a table of JMH results", "any spreadsheet reads it"));
    }
    is_folded(text).then_some(known("a file of folded stacks", "www.speedscope.app and inferno-flamegraph read it"))
}

/// True if the first event, `COMM PID TIME: EVENT:`, is followed by a frame, `    ADDRESS SYMBOL (MODULE)`.
fn is_perf_script(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).skip_while(|line| line.trim().is_empty());
    let (Some(event), Some(frame)) = (lines.next(), lines.next()) else { return false };
    let has_time = event.split_ascii_whitespace().any(|word| {
        let seconds = word.strip_suffix(':').and_then(|time| time.split_once('.'));
        seconds.is_some_and(|(whole, part)| is_number(whole) && is_number(part))
    });
    let address = frame.split_ascii_whitespace().next().unwrap_or_default();
    let is_frame = frame.starts_with(['\t', ' ']) && frame.trim_end().ends_with(')');
    has_time && is_frame && !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True if the first line has the columns of JMH results: as text, as CSV, or as semicolon-separated values, which look like folded stacks.
fn is_jmh(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let mut words = first.split([' ', ',', ';', '\t', '"']).filter(|word| !word.is_empty());
    words.next() == Some("Benchmark") && words.any(|word| word == "Mode")
}

/// True if nearly all lines look like `a;b;c 12`. Some writers leave lines without a count.
fn is_folded(text: &str) -> bool {
    let complete = text.rsplit_once('\n').map_or(text, |(complete, _)| complete);
    let (mut all, mut counted, mut has_stack) = (0, 0, false);
    for line in complete.lines().filter(|line| !line.trim().is_empty()) {
        let count = line.trim_end().rsplit_once(' ').filter(|(_, count)| is_number(count));
        all += 1;
        counted += usize::from(count.is_some());
        has_stack |= count.is_some_and(|(stack, _)| stack.contains(';'));
    }
    has_stack && 2 * counted > all
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if a folder is a recording. Old and empty recordings can be recognised only by their name.
pub(super) fn is_bundle(files: &dyn Files, folder: &Path) -> bool {
    folder.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("trace"))
        || has_bundle_parts(files, folder)
}

/// True if a folder contains a part that every saved recording has.
pub(super) fn has_bundle_parts(files: &dyn Files, folder: &Path) -> bool {
    is_folder(files, &folder.join("corespace")) || files.entry(&folder.join("form.template")).is_ok()
}

pub(super) fn is_folder(files: &dyn Files, path: &Path) -> bool {
    matches!(files.entry(path), Ok(Entry::Folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        let utf16: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("a;b 1\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let gperftools = [[0_u8; 8], [3, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat();
        for (head, word) in [
            (&b"SIMPLEPERF\x01"[..], "simpleperf"),
            (b"PERFILE2xxxxxxxx", "perf.data"),
            (&gperftools, "gperftools"),
            (b"\x0a\x04\x08\x01\x10\x02\x0a\x04", "pprof"),
            (b"\x48\xd6\xdd\xe5\x92\x85\x8c\xbf\xaa\x15\x0a\x04\x08\x01\x10\x02", "pprof"),
            (b"{\"bug_type\":\"202\"}\nDate/Time: x", "spindump"),
            (b"{\"name\":\"a\", \"bug_type\": \"228\"}\nDate/Time: x", "spindump"),
            (b"{\"bug_type\":\"298\"}\n{}", "Jetsam"),
            (b"{\"bug_type\":\"309\"}\n{}", "crash report"),
            (b"{\n  \"bug_type\" : \"309\"\n}\n{}", "crash report"),
            (b"{\n  \"procName\" : \"App\",\n  \"faultingThread\" : 0\n}", "crash report"),
            (b"{\"bug_type\":\"288\"}\n{}", "one stack for each thread"),
            (b"{\"bug_type\":\"509\"}\n{}", "one stack for each thread"),
            (b"{\"bug_type\":\"385\"}\n{}", ".ips"),
            (b"{\"bug_type\":309}\n{}", "macOS or iOS report (.ips)"),
            (b"{\"bug_type\", damaged}\n{}", "macOS or iOS report (.ips)"),
            (b"chatter\nAnalysis of sampling app (pid 1) every 1 millisecond\n", "sample"),
            (b"Date/Time: 2026\nOS: x\nData Source: Stackshots\n", "spindump"),
            (b"{\n \"callStacks\" : [], \"callStackPerThread\" : true}", "MetricKit"),
            (b"{\"timeStampBegin\":1,\"metaData\":{},\"cpuMetrics\":{}}", "MetricKit metrics"),
            (b"{ \"type\": \"CpuSamples\" }", "Dart"),
            (b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}", "speedscope"),
            (b"{\"meta\":{\"preprocessedProfileVersion\":24}}", "Firefox Profiler"),
            (b"{\"meta\":{},\"threads\":[{\"samples\":{ \"schema\":{}}}]}", "raw Firefox profile"),
            (b"[{\"ph\":\"X\"}]", "Chrome"),
            (b"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<Report Info=\"\">\n<Function FQN=\"a\"/>", "dotTrace"),
            (b"Weight\tSelf Weight\t\tSymbol Name\n", "Deep Copy"),
            (b"33.00 s  100.0%\t0 s\t \tOrchard (53375)\n", "Deep Copy"),
            (b"# x\napp 12/13 4.5: 100 cycles:\n\tffff f+0x1 (lib.so)\n", "perf script"),
            (b"a;b 12\nc 1\nno count\nd;e 7", "folded"),
            (b"\"Benchmark\";\"Mode\";\"Param: text\"\n\"a.B.c\";\"thrpt\";x 1\n", "JMH"),
            (b"Benchmark  (text)  Mode  Cnt\nB.c  a;b  avgt  5\nB.c  a;c  avgt  5\n", "JMH"),
            (b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ", "AppleDouble"),
            (b"Hello,\n> Analysis of sampling app (pid 1) every 1 millisecond\n> Call graph:\n", "indented or quoted"),
            (b"    Analysis of sampling app (pid 1) every 1 millisecond\n", "indented or quoted"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n", "Git LFS"),
            (b"Process: a [1]\n\nThread 0 Crashed:\n0 a 0x1 <deduplicated_symbol> + 12\n", "crash report"),
            (b"Incident Identifier: 1\nException Type:  EXC_CRASH (SIGABRT)\n", "crash report"),
            (&utf16, "folded"),
        ] {
            let found = recognise(head);
            assert!(found.is_some_and(|found| found.what.contains(word)), "{word}: {found:?}");
        }
    }

    #[test]
    fn packed_inputs_are_told_apart() {
        for (head, word) in
            [(&b"\xfd7zXZ\0\0\x04"[..], "xz"), (b"BZh91AY&SY\x01", "bzip2"), (b"\x1f\x8b\x08", "compressed")]
        {
            let sentence = describe(head).expect("it is known");
            assert!(sentence.contains(word) && sentence.contains("unpack it first"), "{sentence}");
        }
        assert_eq!((packed(b"BZh9 is no magic"), packed(b"<?xml")), (None, None));
    }

    #[test]
    fn others_are_not() {
        for head in [
            &b""[..],
            b"hello world",
            b"<?xml version=\"1.0\"?><trace-query-result>",
            b"<Report>",
            b"{\"a\": 1}",
            b"[1, 2]",
            b"\x0a\x02hi",
            b"\x0a\x0c",
            b"a b 1\nc d 2\n",
            b"app 12 4.5: cycles:\nno frame",
            &[0; 64],
            "é".repeat(40_000).as_bytes(),
        ] {
            assert_eq!(recognise(head), None, "{:?}", String::from_utf8_lossy(&head[..head.len().min(40)]));
        }
    }
}
