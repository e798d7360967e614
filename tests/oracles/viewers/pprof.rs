//! `--format pprof`, read back by other programs: `protoc` decodes the message with its schema (`tests/support/pprof.proto`), and
//! `go tool pprof` must not print warnings.
//!
//! If one of these programs is not on PATH, its tests report themselves as ignored; without `TRACEPARSE_CORPUS`, so do tests on real exports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use traceparse::calltree::{Label, Metric};
use traceparse::files::FileSystem;
use traceparse::output::{self, Format};
use traceparse::profile::{Id, Selection, StateFilter, Thread};
use traceparse::read;
use traceparse::recording::{Options, Recording, RecordingBuilder, SampleDetail};
use traceparse::report::{Report, ReportOptions, View};
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator};

use super::{inputs, name_of};
use crate::programs::{repository, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let has_protoc = runs(Command::new("protoc").arg("--version"));
    let mut trials = trials![if has_protoc;
        inlined_functions_are_lines_of_one_location,
        durations_are_those_of_the_table_of_contents,
        starts_and_programs_are_those_of_the_table_of_contents,
        tables_that_do_not_add_up_are_refused,
    ];
    trials.extend(trials![if runs(Command::new("go").arg("version")); pprof_does_not_complain]);
    for path in inputs() {
        let name = format!("protoc::{}", name_of(&path));
        trials.push(trial!(name, move || on_reports(&path)).with_ignored_flag(!has_protoc));
    }
    trials
}

/// Both metrics, states, and each series alone if the series cannot be combined.
fn on_reports(path: &Path) -> Result<(), Failed> {
    let text = fs::read(path)?;
    let open = |samples| read(text.as_slice(), "input.xml", &Options { samples, ..Options::default() });
    let (each, summed) = (open(SampleDetail::Each)?, open(SampleDetail::Summed)?);
    for (metric, states) in [
        (Metric::Weight, StateFilter::Running),
        (Metric::Samples, StateFilter::Running),
        (Metric::Weight, StateFilter::All),
    ] {
        let selection = Selection { states, ..Selection::default() };
        let mut options = ReportOptions { metric, selection, view: View::Functions, ..ReportOptions::default() };
        let profile = &each.profile;
        if each.report(&options).check_one_measurement().is_err() {
            let first = profile.series_ids().next().ok_or("no series")?;
            options.schemas = vec![profile.string(profile.series(first).schema).to_owned()];
            options.selection.runs = vec![profile.run(profile.series(first).run).number];
        }
        let report_of_each = each.report(&options);
        if report_of_each.check_one_measurement().is_err() {
            continue;
        }
        let bytes = written(&report_of_each)?;
        ensure!(bytes == written(&summed.report(&options))?, "sums give other bytes");
        equals_protoc(&report_of_each)?;
    }
    Ok(())
}

fn written(report: &Report<'_>) -> Result<Vec<u8>, Failed> {
    let mut out = Vec::new();
    output::write(report, &Format::Pprof, &mut out)?;
    Ok(out)
}

/// A message as `protoc --decode` prints it.
#[derive(Debug, Default)]
struct Message {
    numbers: BTreeMap<String, Vec<u64>>,
    texts: BTreeMap<String, Vec<String>>,
    messages: BTreeMap<String, Vec<Message>>,
}

impl Message {
    fn number(&self, field: &str) -> u64 {
        self.numbers(field).first().copied().unwrap_or(0)
    }

    fn numbers(&self, field: &str) -> &[u64] {
        self.numbers.get(field).map_or(&[], Vec::as_slice)
    }

    fn messages(&self, field: &str) -> &[Message] {
        self.messages.get(field).map_or(&[], Vec::as_slice)
    }

    /// The string that a field of this message refers to.
    fn text<'p>(&self, field: &str, profile: &'p Message) -> &'p str {
        &profile.texts["string_table"][self.number(field) as usize]
    }
}

fn decode(report: &Report<'_>) -> Result<Message, Failed> {
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(written(report)?.as_slice()).read_to_end(&mut message)?;
    let folder = repository("tests/support");
    let mut protoc = Command::new("protoc")
        .arg("--decode=perftools.profiles.Profile")
        .arg("-I")
        .arg(&folder)
        .arg(folder.join("pprof.proto"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = protoc.stdin.take().ok_or("no input")?;
    let writer = std::thread::spawn(move || input.write_all(&message));
    let output = protoc.wait_with_output()?;
    writer.join().map_err(|_| "the writer failed")??;
    ensure!(output.status.success(), "protoc: {}", output.status);
    parse(&mut String::from_utf8(output.stdout)?.lines())
}

fn parse<'t>(lines: &mut impl Iterator<Item = &'t str>) -> Result<Message, Failed> {
    let mut message = Message::default();
    while let Some(line) = lines.next().map(str::trim).filter(|line| *line != "}") {
        if let Some(field) = line.strip_suffix(" {") {
            message.messages.entry(field.to_owned()).or_default().push(parse(lines)?);
            continue;
        }
        let (field, value) = line.split_once(": ").ok_or_else(|| format!("not a field: {line}"))?;
        // A field that the schema does not know is printed by its number.
        ensure!(field.parse::<u64>().is_err(), "the schema has no field {field}");
        match value.strip_prefix('"') {
            Some(text) => {
                let text = unescaped(text.strip_suffix('"').ok_or("a text without end")?)?;
                message.texts.entry(field.to_owned()).or_default().push(text);
            }
            None => {
                let number = match value {
                    "true" => 1,
                    other => other.parse()?,
                };
                message.numbers.entry(field.to_owned()).or_default().push(number);
            }
        }
    }
    Ok(message)
}

/// Octal escapes are bytes.
fn unescaped(text: &str) -> Result<String, Failed> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let length = if rest[0].is_ascii_digit() { 3 } else { 1 };
        let (code, after) = rest.split_at(length);
        rest = after;
        bytes.push(match code {
            b"n" => b'\n',
            b"r" => b'\r',
            b"t" => b'\t',
            [other] => *other,
            digits => u8::from_str_radix(std::str::from_utf8(digits)?, 8)?,
        });
    }
    Ok(String::from_utf8(bytes)?)
}

/// The owner that a sample names.
type Owner = (String, Option<u64>, String, Option<u64>);

/// Compares totals by type and thread, and the self and all weight of every function, with the report.
fn equals_protoc(report: &Report<'_>) -> Result<(), Failed> {
    let decoded = decode(report)?;
    check_references(&decoded)?;
    let mut threads: BTreeMap<Owner, [u64; 2]> = BTreeMap::new();
    let mut functions: BTreeMap<(String, String), [u64; 4]> = BTreeMap::new();
    for sample in decoded.messages("sample") {
        let values = sample.numbers("value");
        let (samples, weight) = (values[0], *values.last().ok_or("no value")?);
        let sums = threads.entry(owner(sample, &decoded)).or_default();
        *sums = [sums[0] + samples, sums[1] + weight];
        let stack = stack_of(sample, &decoded);
        let leaf = functions.entry(stack[0].clone()).or_default();
        *leaf = [leaf[0] + samples, leaf[1] + weight, leaf[2], leaf[3]];
        for function in stack.into_iter().collect::<BTreeSet<_>>() {
            let all = functions.entry(function).or_default();
            *all = [all[0], all[1], all[2] + samples, all[3] + weight];
        }
    }
    ensure!(threads == expected_threads(report), "{threads:#?}\nexpected {:#?}", expected_threads(report));
    let expected = expected_functions(report);
    ensure!(functions == expected, "{functions:#?}\nexpected {expected:#?}");
    Ok(())
}

fn owner(sample: &Message, decoded: &Message) -> Owner {
    let mut owner = Owner::default();
    for label in sample.messages("label") {
        let (text, number) = (label.text("str", decoded).to_owned(), label.number("num"));
        match label.text("key", decoded) {
            "thread" => owner.0 = text,
            "tid" => owner.1 = Some(number),
            "process" => owner.2 = text,
            "pid" => owner.3 = Some(number),
            _ => {}
        }
    }
    owner
}

/// Functions and the paths of their binaries, leaf first.
fn stack_of(sample: &Message, decoded: &Message) -> Vec<(String, String)> {
    let mut stack = Vec::new();
    for &id in sample.numbers("location_id") {
        let location = &decoded.messages("location")[id as usize - 1];
        let mapping = location.number("mapping_id").checked_sub(1).map(|at| &decoded.messages("mapping")[at as usize]);
        let build_id = mapping.map_or("", |mapping| mapping.text("build_id", decoded));
        for line in location.messages("line") {
            let function = &decoded.messages("function")[line.number("function_id") as usize - 1];
            stack.push((function.text("name", decoded).to_owned(), build_id.to_owned()));
        }
    }
    stack
}

/// Ids start at 1 and refer to existing messages; addresses are within their mappings.
fn check_references(decoded: &Message) -> Result<(), Failed> {
    for list in ["mapping", "location", "function"] {
        let ids: Vec<u64> = decoded.messages(list).iter().map(|row| row.number("id")).collect();
        ensure!(ids.iter().copied().eq(1..=ids.len() as u64), "{list}: {ids:?}");
    }
    ensure!(decoded.texts["string_table"][0].is_empty(), "the first text is not empty");
    let texts = &decoded.texts["string_table"];
    ensure!(texts.iter().collect::<BTreeSet<_>>().len() == texts.len(), "a text stands there twice");
    let types = decoded.messages("sample_type");
    let default = decoded.text("default_sample_type", decoded);
    ensure!(types.iter().any(|row| row.text("type", decoded) == default), "no type is {default}");
    for location in decoded.messages("location") {
        let (mapping, address) = (location.number("mapping_id"), location.number("address"));
        let Some(mapping) = mapping.checked_sub(1) else { continue };
        let mapping = decoded.messages("mapping").get(mapping as usize).ok_or("no such mapping")?;
        let (start, limit) = (mapping.number("memory_start"), mapping.number("memory_limit"));
        ensure!((start..limit).contains(&address), "{address:#x} is not in {start:#x}..{limit:#x}");
    }
    let period = decoded.number("period");
    for sample in decoded.messages("sample") {
        ensure!(sample.numbers("value").len() == types.len(), "{sample:?}");
        if period > 0 {
            let values = sample.numbers("value");
            ensure!(values[1] == 0 || values[1] == values[0] * period, "a period of {period}: {values:?}");
        }
    }
    Ok(())
}

fn expected_threads(report: &Report<'_>) -> BTreeMap<Owner, [u64; 2]> {
    let profile = &report.recording.profile;
    let owner = |id: Id<Thread>| {
        let thread = profile.thread(id);
        let process = profile.process(thread.process);
        (profile.string(thread.name).to_owned(), thread.tid, profile.string(process.name).to_owned(), process.pid)
    };
    let mut threads: BTreeMap<Owner, [u64; 2]> = BTreeMap::new();
    for series in &report.series {
        let is_weighed = series.unit.name() != "samples";
        for row in &series.threads {
            let weight = row.counted.weight.value;
            let samples = if is_weighed { row.counted.samples } else { weight };
            if samples > 0 {
                let sums = threads.entry(owner(row.thread)).or_default();
                *sums = [sums[0] + samples, sums[1] + weight];
            }
        }
    }
    threads
}

fn expected_functions(report: &Report<'_>) -> BTreeMap<(String, String), [u64; 4]> {
    let profile = &report.recording.profile;
    let mut functions: BTreeMap<(String, String), [u64; 4]> = BTreeMap::new();
    for series in &report.series {
        let is_weighed = series.unit.name() != "samples";
        for row in &series.functions {
            let key = match row.label {
                Label::Function(id) => {
                    let uuid = profile.function(id).binary.and_then(|binary| profile.binary(binary).uuid);
                    (profile.function_name(id).to_owned(), uuid.map(|uuid| uuid.to_string()).unwrap_or_default())
                }
                _ => (Report::NO_STACK.to_owned(), String::new()),
            };
            let own = row.sums;
            let samples =
                if is_weighed { [own.self_samples, own.all_samples] } else { [own.self_weight, own.all_weight] };
            if samples[1] > 0 {
                let sums = functions.entry(key).or_default();
                let own = [samples[0], own.self_weight, samples[1], own.all_weight];
                own.iter().zip(sums).for_each(|(own, sum)| *sum += own);
            }
        }
    }
    functions
}

/// By default, the tool searches for the files of binaries, and prints warnings if it would use them.
fn pprof_does_not_complain() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for case in ["27/orchard", "27/cpu-profile", "12/time-profile"] {
        let input = fs::File::open(repository("fixtures").join(case).join("input.xml"))?;
        let export = read(input, "input.xml", &Options::default())?;
        let report = export.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
        let path = folder.path().join("profile.pb.gz");
        fs::write(&path, written(&report)?)?;
        let output =
            Command::new("go").args(["tool", "pprof", "-top"]).arg(&path).env("HOME", folder.path()).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && complaint.is_empty(), "{complaint}");
        // The output has one total, which it computed.
        let total: u64 = report.series.iter().map(|series| series.counted.weight.value).sum();
        ensure!(total > 0 && String::from_utf8_lossy(&output.stdout).contains("100% of"), "{output:?}");
    }
    Ok(())
}

/// An export of one stack, leaf first: addresses relative to the header of the built fixture `inlining`.
fn inlining_export(addresses: &[u64]) -> String {
    let frame = |address: &u64| {
        let address = 0x1_02a4_0000 + address;
        format!(
            "<frame name=\"{address:#x}\" addr=\"{address:#x}\"><binary name=\"Inlining\" \
             UUID=\"4C4C446D-5555-3144-A14C-ADA0C4848C5D\" arch=\"arm64\" load-addr=\"0x102a40000\" \
             path=\"/Inlining\"/></frame>"
        )
    };
    let frames: String = addresses.iter().map(frame).collect();
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    format!(
        "<trace-query-result><node><schema name=\"time-profile\">{columns}</schema><row><sample-time>7</sample-time>\
         <weight>5</weight><tagged-backtrace>{frames}</tagged-backtrace></row></node></trace-query-result>"
    )
}

/// Four functions at one address, as in `fixtures/symbols/built/inlining/expected.tsv` (made with llvm-symbolizer).
fn inlined_functions_are_lines_of_one_location() -> Result<(), Failed> {
    let mut export = read(inlining_export(&[0x3c9, 0x3c9]).as_bytes(), "input.xml", &Options::default())?;
    let folder = repository("fixtures/symbols/built/inlining/Inlining.dSYM");
    let mut locator = Locator::new(&FileSystem);
    locator.add(&folder, &mut Index::default())?;
    let (profile, _) = export.profile.symbolicate(&locator, &SymbolicateOptions::default())?;
    export.profile = profile;
    let report = export.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
    equals_protoc(&report)?;
    let decoded = decode(&report)?;
    let sample = &decoded.messages("sample")[0];
    ensure!(sample.numbers("location_id").len() == 2, "two addresses are two locations: {sample:?}");
    let location = &decoded.messages("location")[sample.number("location_id") as usize - 1];
    ensure!(location.number("address") == 0x1_02a4_03c8, "{:#x}", location.number("address"));
    let lines = location.messages("line").iter().map(|line| {
        let function = &decoded.messages("function")[line.number("function_id") as usize - 1];
        let file = Path::new(function.text("filename", &decoded)).file_name().unwrap_or_default();
        (function.text("name", &decoded).to_owned(), file.to_string_lossy().into_owned(), line.number("line"))
    });
    let table = fs::read_to_string(folder.parent().ok_or("no folder")?.join("expected.tsv"))?;
    let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().ok_or("no header")?;
    let column = |name: &str| header.iter().position(|field| *field == name).ok_or(format!("no column {name}"));
    let [symbols, address, function, file, line] = ["symbols", "address", "function", "file", "line"].map(column);
    let (symbols, address, function, file, line) = (symbols?, address?, function?, file?, line?);
    let expected = rows.filter(|row| row[symbols].starts_with("Inlining.dSYM") && row[address] == "0x3c8").map(|row| {
        let file = Path::new(row[file]).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = traceparse::demangle::Demangler::default().display_name(row[function]).into_owned();
        (name, file, row[line].parse().unwrap_or(0))
    });
    let (lines, expected): (Vec<_>, Vec<_>) = (lines.collect(), expected.collect());
    ensure!(lines.len() == 4 && lines == expected, "{lines:#?}\nexpected {expected:#?}");
    let mapping = &decoded.messages("mapping")[0];
    for flag in ["has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"] {
        ensure!(mapping.number(flag) == 1, "{flag}: {mapping:?}");
    }
    Ok(())
}

/// The duration comes from the run's table of contents, or from several equal tables. Without a usable table, it is the time that the only
/// sample covers, which is its weight.
fn durations_are_those_of_the_table_of_contents() -> Result<(), Failed> {
    let toc = "<trace-toc><run number=\"1\"><info><summary><duration>3.5</duration></summary></info></run></trace-toc>";
    let windowed = toc.replace("</duration>", "</duration><recording-mode>Windowed (5 seconds)</recording-mode>");
    let other = toc.replace("number=\"1\"", "number=\"2\"");
    let samples = inlining_export(&[0x3c9]);
    for (contents, expected) in [
        (vec![], 5),
        (vec![toc], 3_500_000_000),
        (vec![windowed.as_str()], 5),
        (vec![other.as_str()], 5),
        (vec![toc, toc], 3_500_000_000),
        (vec![other.as_str(), toc], 3_500_000_000),
    ] {
        let mut recording = RecordingBuilder::new(Options::default());
        for document in contents.iter().copied().chain([samples.as_str()]) {
            recording.read(document.as_bytes(), "input.xml")?;
        }
        let export: Recording = recording.finish()?;
        let decoded = decode(&export.report(&ReportOptions::default()))?;
        ensure!(decoded.number("duration_nanos") == expected, "{contents:?}: {}", decoded.number("duration_nanos"));
        ensure!(decoded.number("time_nanos") == 0, "nobody knows the time of day");
        ensure!(decoded.messages("mapping").len() == 1, "no program is known");
        ensure!(decoded.number("period") == 5 && !decoded.messages("period_type").is_empty(), "one sample, one weight");
    }
    Ok(())
}

/// A table of contents records the start and the program. The program comes first, even if it has no samples.
fn starts_and_programs_are_those_of_the_table_of_contents() -> Result<(), Failed> {
    let toc = |pid: &str, path: &str| {
        format!(
            "<trace-toc><run number=\"1\"><info><summary><start-date>2026-03-05T17:27:38.879Z</start-date></summary></info>\
             <processes><process name=\"Press\" pid=\"{pid}\" path=\"{path}\"/></processes></run></trace-toc>"
        )
    };
    let samples =
        inlining_export(&[0x3c9]).replace("<weight>5", "<process fmt=\"Press (7)\"><pid>7</pid></process><weight>5");
    let samples =
        samples.replace("<col><mnemonic>weight", "<col><mnemonic>process</mnemonic></col><col><mnemonic>weight");
    for (contents, expected) in [
        (toc("7", "/Applications/Press.app/Press"), vec!["/Applications/Press.app/Press", "/Inlining"]),
        (toc("7", "/Inlining"), vec!["/Inlining"]),
        // From another process.
        (toc("8", "/Inlining"), vec!["Press", "/Inlining"]),
    ] {
        let mut recording = RecordingBuilder::new(Options::default());
        for document in [contents.as_str(), samples.as_str()] {
            recording.read(document.as_bytes(), "input.xml")?;
        }
        let export: Recording = recording.finish()?;
        let report = export.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
        equals_protoc(&report)?;
        let decoded = decode(&report)?;
        ensure!(decoded.number("time_nanos") == 1_772_731_658_879_000_000, "{}", decoded.number("time_nanos"));
        let files: Vec<&str> = decoded.messages("mapping").iter().map(|row| row.text("filename", &decoded)).collect();
        ensure!(files == expected, "{files:?}, not {expected:?}");
    }
    Ok(())
}

/// Series whose weights cannot be added up.
fn tables_that_do_not_add_up_are_refused() -> Result<(), Failed> {
    let mut recording = RecordingBuilder::new(Options::default());
    for table in ["time-profile-waiting", "cpu-profile"] {
        let path = repository("fixtures/27").join(table).join("input.xml");
        recording.read(fs::File::open(path)?, "input.xml")?;
    }
    let export = recording.finish()?;
    let error = output::write(&export.report(&ReportOptions::default()), &Format::Pprof, &mut Vec::new()).err();
    let error = error.ok_or("no error")?.to_string();
    ensure!(error.contains("--schema"), "{error}");
    Ok(())
}
