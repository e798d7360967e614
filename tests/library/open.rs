//! `open`: anything at a path, by its content; and the order of the steps of an analysis.

use std::fs;
use std::path::PathBuf;

use support::bundle::{BundleOptions, write_bundle};
use support::{Invented, Size, Table};
use traceparse::calltree::{Action, FunctionSet, Operation};
use traceparse::files::FileSystem;
use traceparse::open;
use traceparse::profile::RebuildError;
use traceparse::recording::Options;
use traceparse::report::{ReportOptions, View};
use traceparse::symbolicate::{BinarySummary, SymbolicateOptions};
use traceparse::symbols::{Index, Locator};
use traceparse::tables::{Conditions, TableQuery};
use traceparse::{Analysis, Error, ErrorKind, Position};

fn fixture(path: &str) -> PathBuf {
    support::repository("fixtures").join(path)
}

/// The self weights of the functions of all series.
fn functions(analysis: &Analysis) -> Vec<(Option<String>, u64)> {
    let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
    let named = report.series.iter().flat_map(|series| report.named_functions(series));
    named.map(|function| (function.name.map(str::to_owned), function.self_weight.value)).collect()
}

#[cfg(feature = "compression")]
#[test]
fn the_content_tells_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let export = fixture("27/orchard/input.xml");
    let plain = functions(&open(&export).unwrap());
    assert!(plain.len() > 20);
    let packed = folder.path().join("no-name");
    let mut encoder = flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    std::io::copy(&mut fs::File::open(&export).unwrap(), &mut encoder).unwrap();
    encoder.finish().unwrap();
    assert_eq!(functions(&open(&packed).unwrap()), plain);
    let report = open(fixture("sample/demo.sample.txt")).unwrap();
    assert_eq!(functions(&report)[0], (Some("__psynch_cvwait".to_owned()), 1998));
}

#[test]
fn a_bundle_is_read_with_its_runs() {
    let recording = Invented::random(3, &Size { rows: 30, depth: 5, runs: 2, ..Size::small() });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orchard.trace");
    for (name, bytes) in write_bundle(&recording, &BundleOptions::new(Table::TimeProfile, &recording)) {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let analysis = open(&path).unwrap();
    assert_eq!(analysis.recording().profile.run_ids().len(), 2);
    assert!(!functions(&analysis).is_empty());
    let summary = analysis.report(&ReportOptions::default()).symbolication.expect("it keeps names");
    let named = |binary: &BinarySummary| binary.named_before == 0 && binary.named_now > 0;
    assert!(summary.binaries.iter().any(named), "{summary:?}");
}

#[test]
fn errors_name_the_file() {
    let error = open("nowhere.trace").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Unreadable { file } if file == "nowhere.trace"), "{error}");
    let error = open(fixture("symbols")).unwrap_err();
    assert!(error.to_string().contains("is a folder; name the exports or recordings in it"), "{error}");
}

#[test]
fn prints_the_sentence_and_its_causes_if_main_returns_the_error() {
    let position = Position { input: "a.xml".to_owned(), line: 3, byte: 70 };
    let inner = Error::io(std::io::Error::other("the disk was removed"), None);
    let error = Error::io(std::io::Error::other(inner), Some(position));
    assert_eq!(format!("{error:?}"), "a.xml:3:70: reading failed: reading failed: the disk was removed");
    let error = Error::new(ErrorKind::Malformed("line 3 has no weight".to_owned()), None);
    assert_eq!(format!("{error:?}"), "line 3 has no weight");
}

#[test]
fn names_come_before_operations() {
    let mut analysis = open(fixture("27/orchard/input.xml")).unwrap();
    let options = ReportOptions::default();
    let is_press = |name: &str| name.contains("Press::grind");
    let summaries = analysis.operate(&options, |profile| {
        let action = Action::Focus(FunctionSet::of_names(profile, is_press));
        vec![Operation { action, text: "focus".to_owned() }]
    });
    assert!(summaries.unwrap()[0].changes.iter().any(|(_, change)| change.removed_samples > 0));
    assert_eq!(analysis.report(&options).operations.len(), 1, "a report says what was done");
    let error = analysis.symbolicate(&Locator::new(&FileSystem), &SymbolicateOptions::default()).unwrap_err();
    assert_eq!(error, RebuildError::OutOfOrder);
}

#[test]
fn notes_the_files_next_to_symbols_that_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("symbols/built/bare/Demo"), folder.path().join("Demo")).unwrap();
    std::fs::write(folder.path().join("libdemo.so"), b"\x7fELF\x02\x01\x01").unwrap();
    let mut analysis = open(fixture("27/orchard/input.xml")).unwrap();
    let summary = analysis.add_symbols(folder.path()).unwrap();
    assert_eq!(summary.images, Some(1));
    assert!(summary.notes.iter().any(|note| note.to_string().contains("an ELF file")), "{summary:?}");
    let error = analysis.add_symbols(folder.path().join("libdemo.so")).unwrap_err();
    assert!(error.to_string().contains("an ELF file"), "{error}");
}

/// An export with a nameless and a named frame at addresses of two functions of `Demo`, in a binary with this name and UUID.
fn export_of_demo(name: &str, uuid: &str) -> Analysis {
    export_of_demo_at(name, uuid, 0x564)
}

/// An export with a frame without a name at an offset, and one with a name.
fn export_of_demo_at(name: &str, uuid: &str, offset: u64) -> Analysis {
    let row = |id: u32, name: &str, address: u64| {
        format!(
            "<row><sample-time>{id}000000</sample-time><weight>1000000</weight><backtrace><frame name=\"{name}\" addr=\"{address:#x}\">\
             <binary ref=\"1\"/></frame></backtrace></row>"
        )
    };
    let binary = format!(
        "<binary id=\"1\" name=\"{name}\" UUID=\"{uuid}\" arch=\"arm64\" load-addr=\"0x102a40000\" path=\"/{name}\"/>"
    );
    let address = 0x1_02a4_0000 + offset;
    let rows = row(1, &format!("{address:#x}"), address + 1).replace("<binary ref=\"1\"/>", &binary)
        + &row(2, "recorded", address - 0x5b);
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"time-profile\">{columns}</schema>{rows}</node></trace-query-result>"
    );
    Analysis::new(traceparse::read(xml.as_bytes(), "export.xml", &Options::default()).unwrap())
}

#[test]
fn counts_the_names_from_symbols_and_says_why_they_name_nothing() {
    let symbols = fixture("symbols/built/bare/Demo");
    let mut locator = Locator::new(&FileSystem);
    locator.add(&symbols, &mut Index::default()).unwrap();
    let uuid = locator.found()[0].uuid.to_string();
    let added = |name: &str, uuid: &str| export_of_demo(name, uuid).add_symbols(&symbols).unwrap().to_string();
    let found = added("Demo", &uuid);
    assert!(found.starts_with("symbols: 2 of 2 frames in known binaries have names, 1 had one before"), "{found}");
    let other = "00000000-0000-0000-0000-000000000001";
    let nothing = "symbols: 1 of 2 frames in known binaries have names, 1 had one before\n";
    let path = symbols.display();
    assert_eq!(
        added("Other", other),
        format!("{nothing}no frame is named by {path}: UUIDs there: {uuid}; the recording wants {other} (Other)")
    );
    let outside = export_of_demo_at("Demo", &uuid, 0x9_0000).add_symbols(&symbols).unwrap().to_string();
    let why = format!("the symbols of Demo ({uuid}) contain no function at the recorded addresses");
    assert_eq!(outside, format!("{nothing}no frame is named by {path}: {why}"));
    let renamed = added("Demo", other);
    let advice = format!("{nothing}no symbols for Demo {other} arm64; {path} has ");
    assert!(renamed.starts_with(&advice) && renamed.contains(&uuid) && renamed.lines().count() == 2, "{renamed}");
}

#[test]
fn reads_the_rows_of_a_table_that_satisfy_the_conditions() {
    let columns = [("start", "start-time"), ("duration", "duration"), ("name", "syscall")];
    let columns = columns.map(|(name, kind)| {
        format!("<col><mnemonic>{name}</mnemonic><engineering-type>{kind}</engineering-type></col>")
    });
    let row = |(start, duration, name): &(u64, u64, &str)| {
        format!("<row><start-time>{start}</start-time><duration>{duration}</duration><syscall>{name}</syscall></row>")
    };
    let rows = [(3, 5_000, "read"), (9_000, 1, "write"), (9_500, 5_001, "fsync")];
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"fs-syscall\">{}</schema>{}</node></trace-query-result>",
        columns.concat(),
        rows.iter().map(row).collect::<String>()
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, xml).unwrap();
    let read = |conditions: &str, columns: &[&str], sort: Option<(String, bool)>| {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let conditions = if conditions.is_empty() { Conditions::default() } else { conditions.parse().unwrap() };
        let schema = "fs-syscall".to_owned();
        let mut rows = Vec::new();
        TableQuery { schema, conditions, columns, sort, ..TableQuery::default() }
            .read(&file, |row| {
                rows.push(row.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>())
            })
            .map(|notes| (rows, notes.len()))
            .map_err(|error| (matches!(error.kind, ErrorKind::Query(_)), error.to_string()))
    };
    let long = vec![vec!["name=read".to_owned()], vec!["name=fsync".to_owned()]];
    assert_eq!(read("duration > 1us", &["name"], None).unwrap(), (long, 0));
    assert_eq!(read("", &[], None).unwrap().0[1], ["start=9000", "duration=1", "name=write"]);
    let (is_query, text) = read("", &["nam"], None).unwrap_err();
    assert!(is_query && text.contains("fs-syscall has no field \"nam\""), "{text}");
    let (is_query, text) = read("", &[], Some(("start".to_owned(), false))).unwrap_err();
    assert!(is_query && text.contains("sort or limit them afterwards"), "{text}");
}
