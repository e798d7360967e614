//! Damaged and unusual tables: all readable rows are read, and all others are counted.

use libtest_mimic::Trial;
use traceparse::ErrorKind;
use traceparse::recording::{Intervals, Options, RejectReason};

use super::{find, invented};

pub(crate) fn trials() -> Vec<Trial> {
    panicking![
        every_prefix_is_an_error_or_what_is_whole,
        a_missing_column_rejects_every_row,
        rows_that_cannot_be_read_are_counted,
        ends_and_beginnings_without_a_partner,
        the_innermost_beginning_ends_first,
        the_scope_says_who_may_end_an_interval,
        ids_are_those_of_a_document,
        definitions_may_stand_in_other_tables,
        what_is_no_export_is_refused,
    ]
}

/// A document with one table of these columns.
fn document(schema: &str, columns: &[&str], rows: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{}</trace-query-result>\n", node(1, schema, columns, rows))
}

fn node(run: u32, schema: &str, columns: &[&str], rows: &str) -> String {
    let columns: String = columns.iter().map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).collect();
    format!(
        "<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[1]'><schema name=\"{schema}\">{columns}</schema>{rows}</node>\n"
    )
}

const INTERVAL: [&str; 3] = ["start", "duration", "name"];
const EVENT: [&str; 5] = ["time", "thread", "event-type", "scope", "name"];

fn interval(start: &str, duration: &str, name: &str) -> String {
    format!("<row><start-time>{start}</start-time><duration>{duration}</duration><string>{name}</string></row>")
}

fn event(time: u64, kind: &str, (pid, tid): (u64, u64), scope: &str) -> String {
    format!(
        "<row><event-time>{time}</event-time><thread fmt=\"t ({tid:#x}) (p, pid: {pid})\"><tid>{tid}</tid><process \
         fmt=\"p ({pid})\"><pid>{pid}</pid></process></thread><event-type>{kind}</event-type><string>{scope}</string>\
         <signpost-name>A</signpost-name></row>"
    )
}

/// Starts and ends.
fn times(found: &Intervals) -> Vec<(u64, Option<u64>)> {
    let times = found.intervals.iter().map(|row| (row.start.as_nanos(), row.end.map(|end| end.as_nanos())));
    times.collect()
}

fn reasons(found: &Intervals) -> Vec<(RejectReason, u64)> {
    found.tables.iter().flat_map(|table| table.rejected.iter()).collect()
}

fn every_prefix_is_an_error_or_what_is_whole() {
    let xml = invented(11);
    let whole = find(xml.as_bytes());
    let end = xml.trim_end().len();
    for length in (0..end).step_by(59) {
        let prefix = &xml.as_bytes()[..length];
        let error = Intervals::read(prefix, "cut.xml", &Options::default()).unwrap_err();
        let is_fitting = matches!(error.kind, ErrorKind::Truncated { .. } | ErrorKind::NotAnExport(_));
        assert!(is_fitting, "{length}: {error}");
        let options = Options { allow_truncated: true, ..Options::default() };
        let Ok(cut) = Intervals::read(prefix, "cut.xml", &options) else { continue };
        assert!(cut.tables.len() <= whole.tables.len());
        assert_eq!(cut.diagnostics.len(), 1, "{length}: that it is cut is said: {:?}", cut.diagnostics);
        for (table, all) in cut.tables.iter().zip(&whole.tables) {
            assert_eq!(table.rows, table.used + table.unused + table.rejected.total());
            assert!(table.rows <= all.rows && table.rejected.total() <= 1, "only the row that is cut is rejected");
        }
    }
}

fn a_missing_column_rejects_every_row() {
    for (schema, columns) in [
        ("os-signpost-interval", vec!["start", "duration"]),
        ("os-signpost-interval", vec!["duration", "name"]),
        ("os-signpost", vec!["time", "name"]),
        ("os-signpost", vec!["event-type", "name"]),
        ("potential-hangs", vec!["start", "hang-type"]),
        ("potential-hangs", vec![]),
    ] {
        let row = "<row><start-time>1</start-time><string>A</string></row>";
        let found = find(document(schema, &columns, &row.repeat(3)).as_bytes());
        assert_eq!((found.intervals.len(), found.tables[0].rows), (0, 3), "{schema} {columns:?}");
        // Without columns, cells are too many.
        let reason = if columns.is_empty() { RejectReason::CellCount } else { RejectReason::MissingColumn };
        assert_eq!(reasons(&found), [(reason, 3)]);
        let message = &found.diagnostics[0].message;
        let words = if columns.is_empty() { "number of cells" } else { "has no column" };
        assert!(message.contains(words) && found.diagnostics[0].count == 3, "{message}");
    }
}

fn rows_that_cannot_be_read_are_counted() {
    let max = u64::MAX.to_string();
    let rows = [
        interval("5", "10", "A"),
        // A length cannot be negative, and ends of what is too long have no number.
        interval("5", "-10", "A"),
        interval(&max, "1", "A"),
        interval("", "1", "A"),
        interval("1.5", "1", "A"),
        "<row><start-time>1</start-time><duration>1</duration></row>".to_owned(),
        "<row><sentinel/><duration>1</duration><string>A</string></row>".to_owned(),
        "<row><start-time>1</start-time><duration ref=\"99\"/><string>A</string></row>".to_owned(),
        "<row><start-time>1</start-time><thread fmt=\"t\"><tid>1</tid></thread><string>A</string></row>".to_owned(),
        // An interval that is open at the end of the recording, and an interval that ends immediately.
        "<row><start-time>7</start-time><sentinel/><string>A</string></row>".to_owned(),
        interval("9", "0", "A"),
    ];
    let found = find(document("os-signpost-interval", &INTERVAL, &rows.concat()).as_bytes());
    assert_eq!(times(&found), [(5, Some(15)), (7, None), (9, Some(9))]);
    assert_eq!(
        reasons(&found),
        [
            (RejectReason::CellCount, 1),
            (RejectReason::NoTime, 1),
            (RejectReason::UndefinedRef, 1),
            (RejectReason::BadNumber, 4),
            (RejectReason::WrongType, 1)
        ]
    );
    assert_eq!(found.diagnostics.iter().map(|diagnostic| diagnostic.count).sum::<u64>(), 8);
}

fn ends_and_beginnings_without_a_partner() {
    let who = (7, 1);
    let rows = [
        event(10, "End", who, "Process"),
        event(20, "Begin", who, "Process"),
        event(25, "Event", who, "Process"),
        event(30, "End", who, "Process"),
        event(40, "End", who, "Process"),
        event(50, "Begin", who, "Process"),
        event(60, "Pause", who, "Process"),
    ];
    let found = find(document("os-signpost", &EVENT, &rows.concat()).as_bytes());
    assert_eq!(times(&found), [(20, Some(30)), (50, None)]);
    let lone: Vec<(u64, Option<&str>)> =
        found.lone_ends.iter().map(|end| (end.time.as_nanos(), end.name.as_deref())).collect();
    assert_eq!(lone, [(10, Some("A")), (40, Some("A"))]);
    let table = &found.tables[0];
    assert_eq!((table.rows, table.used, table.unused, table.rejected.total()), (7, 3, 3, 1));
    // The order of rows does not matter, but the order of times does.
    let turned: String = rows.iter().rev().map(String::as_str).collect();
    let turned = find(document("os-signpost", &EVENT, &turned).as_bytes());
    assert_eq!(times(&turned), times(&found));
}

fn the_innermost_beginning_ends_first() {
    let row = |time, kind| event(time, kind, (7, 1), "Process");
    let rows = [row(1, "Begin"), row(2, "Begin"), row(3, "End"), row(4, "Begin"), row(5, "End"), row(5, "End")];
    let found = find(document("os-signpost", &EVENT, &rows.concat()).as_bytes());
    assert_eq!(times(&found), [(1, Some(5)), (2, Some(3)), (4, Some(5))]);
}

fn the_scope_says_who_may_end_an_interval() {
    for (scope, ends) in [("Thread", [true, false, false]), ("Process", [true, true, false]), ("System", [true; 3])] {
        for (who, is_ended) in [(7, 1), (7, 2), (8, 1)].into_iter().zip(ends) {
            let rows = event(1, "Begin", (7, 1), scope) + &event(2, "End", who, scope);
            let found = find(document("os-signpost", &EVENT, &rows).as_bytes());
            let expected = if is_ended { Some(2) } else { None };
            assert_eq!(times(&found), [(1, expected)], "{scope}, ended by {who:?}");
            assert_eq!((found.intervals[0].pid, found.intervals[0].tid), (Some(7), Some(1)), "who began it");
        }
    }
    let other_scope = event(1, "Begin", (7, 1), "Thread") + &event(2, "End", (7, 1), "Process");
    assert_eq!(times(&find(document("os-signpost", &EVENT, &other_scope).as_bytes())), [(1, None)]);
}

fn ids_are_those_of_a_document() {
    let defined =
        "<row><start-time id=\"1\">1</start-time><duration id=\"2\">2</duration><string id=\"3\">A</string></row>";
    let referred = "<row><start-time ref=\"1\"/><duration ref=\"2\"/><string ref=\"3\"/></row>";
    let first = document("os-signpost-interval", &INTERVAL, &format!("{defined}{referred}"));
    let second = document("os-signpost-interval", &INTERVAL, referred);
    let both = format!("{first}{}", second.split_once('\n').unwrap().1);
    let found = find(both.as_bytes());
    assert_eq!(times(&found), [(1, Some(3)), (1, Some(3))]);
    assert_eq!(reasons(&found), [(RejectReason::UndefinedRef, 1)], "of the second document");
    // In one document, ids continue from run to run.
    let nodes =
        node(1, "os-signpost-interval", &INTERVAL, defined) + &node(3, "os-signpost-interval", &INTERVAL, referred);
    let found = find(format!("<trace-query-result>{nodes}</trace-query-result>").as_bytes());
    assert_eq!(found.intervals.iter().map(|interval| interval.run).collect::<Vec<_>>(), [1, 3]);
}

fn definitions_may_stand_in_other_tables() {
    let cpu = "<row><sample-time id=\"1\">5</sample-time><thread id=\"2\" fmt=\"m (0x51) (app, pid: 7)\"><tid id=\"3\">81</tid>\
               <process id=\"4\" fmt=\"app (7)\"><pid id=\"5\">7</pid></process></thread><string id=\"6\">Layout</string></row>";
    // Rows of a track detail are not well-formed: the name of an attribute contains a percent sign.
    let detail = "<node xpath='//trace-toc[1]/run[1]/tracks[1]/track[1]'><row resident-%=\"1\" path=\"a & b\"/></node>";
    let hang = "<row><start-time id=\"7\">1</start-time><duration id=\"8\">2</duration><thread ref=\"2\"/><process ref=\"4\"/></row>";
    let named = "<row><start-time ref=\"7\"/><duration ref=\"8\"/><string ref=\"6\"/></row>";
    let nodes = [
        node(1, "time-profile", &["time", "thread", "note"], cpu),
        detail.to_owned(),
        node(1, "potential-hangs", &["start", "duration", "thread", "process"], hang),
        node(1, "os-signpost-interval", &INTERVAL, named),
    ];
    let found = find(format!("<trace-query-result>{}</trace-query-result>", nodes.concat()).as_bytes());
    assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    let [hang, signpost] = found.intervals.as_slice() else { panic!("{:?}", found.intervals) };
    assert!(hang.is_hang() && !signpost.is_hang());
    assert_eq!((hang.process.as_deref(), hang.pid, hang.tid), (Some("app"), Some(7), Some(81)));
    assert_eq!(signpost.name.as_deref(), Some("Layout"));
}

fn what_is_no_export_is_refused() {
    for bytes in
        [&b""[..], b"{\"a\": 1}", b"<html><body/></html>", b"<?xml version=\"1.0\"?>\n<plist/>", b"\x1f\x8b\x08"]
    {
        let error = Intervals::read(bytes, "no.xml", &Options::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotAnExport(_)), "{error}");
        let theirs = traceparse::read(bytes, "no.xml", &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), theirs.to_string());
    }
    let toc = find(b"<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\"><data><table schema=\"os-signpost\"/></data></run></trace-toc>");
    assert_eq!(toc, Intervals::default(), "a table of contents has none");
}
