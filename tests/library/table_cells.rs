//! Tables of exports with cells that contradict their columns, and with more than rows: every such row is rejected, and the rest is reported.
//! Found by `tests/oracles/table_mutants.rs`.

use support::all_tables::{self, Reading};
use traceparse::recording::Options;

/// A table with two columns: a time, and one of this type.
fn export(engineering_type: &str, rows: &str) -> String {
    let column = |mnemonic: &str, kind: &str| {
        format!("<col><mnemonic>{mnemonic}</mnemonic><name>x</name><engineering-type>{kind}</engineering-type></col>")
    };
    let columns = column("time", "event-time") + &column("value", engineering_type);
    format!(
        "<?xml version=\"1.0\"?><trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
         <schema name=\"table\">{columns}</schema>{rows}</node></trace-query-result>"
    )
}

fn read(document: &str) -> Reading {
    all_tables::read(
        &Options::default(),
        |recording, reading| recording.read_tables(document.as_bytes(), "test", reading),
        |_, _| Vec::new(),
    )
    .unwrap()
}

/// The value of a row with this cell; an error if the row was rejected.
fn value(engineering_type: &str, cell: &str) -> Result<String, u64> {
    let reading = read(&export(engineering_type, &format!("<row><event-time>1</event-time>{cell}</row>")));
    let table = &reading.tables[0];
    table.rows.first().map(|row| row[1].to_string()).ok_or(table.rejected)
}

#[test]
fn rejects_numbers_of_another_unit() {
    let number = |name: &str| format!("<{name} fmt=\"x\">7</{name}>");
    for (column, other) in [
        ("duration", "size-in-bytes"),
        ("duration", "event-time"),
        ("size-in-bytes", "uint64"),
        ("weight", "cycle-weight"),
        ("uint64", "duration"),
        ("string", "duration"),
        ("swift-task", "uint64"),
        ("boolean", "uint32"),
        ("duration", "string"),
    ] {
        assert_eq!(value(column, &number(other)), Err(1), "{other} in a column of {column}");
    }
    for (column, same) in [
        ("duration", "duration"),
        ("weight", "duration"),
        ("uint64", "tid"),
        ("string", "string"),
        ("invented", "weight"),
    ] {
        assert_eq!(value(column, &number(same)), Ok("7".to_owned()), "{same} in a column of {column}");
    }
    assert_eq!(value("uint64", "<uint64>7<string>8</string></uint64>"), Err(1), "which part is the number?");
}

#[test]
fn rejects_parts_that_cannot_be_read() {
    let task = |parts: &str| format!("<swift-task fmt=\"0x9 (1)\">{parts}</swift-task>");
    let good = task("<swift-task-id>1</swift-task-id><uint64>9</uint64>");
    assert_eq!(value("swift-task", &good), Ok(r#"["named",1,"0x9 (1)"]"#.to_owned()));
    // The address is not the number of the task.
    assert_eq!(value("swift-task", &task("<swift-task-id ref=\"5\"/><uint64>9</uint64>")), Err(1));
    assert_eq!(value("uuid", "<uuid><eight-byte-array>1</eight-byte-array></uuid>"), Err(1), "halves are no name");
    let empty = "<view-hierarchy id=\"90\" fmt=\"\"><pid>7</pid></view-hierarchy>";
    assert_eq!(value("view-hierarchy", empty), Ok("\"\"".to_owned()));
    assert_eq!(value("formatted-label", "<formatted-label><pid>7</pid></formatted-label>"), Ok("\"7\"".to_owned()));
    assert_eq!(value("invented", "<row/>"), Err(1));
}

/// A stack without frames is neither a string, nor a number, nor a missing value.
#[test]
fn rejects_an_empty_stack_in_another_column() {
    let stack = r#"<backtrace id="9" fmt="a, b"><string>a</string><string>b</string></backtrace>"#;
    for column in ["typed-array", "string", "uint64", "process"] {
        assert_eq!(value(column, stack), Err(1), "{column}");
    }
}

#[test]
fn reports_what_is_neither_a_row_nor_a_column() {
    let row = "<row><event-time>1</event-time><uint64>2</uint64></row>";
    let good = export("uint64", row);
    assert!(read(&good).notes.is_empty());
    let two_types = good.replace("<engineering-type>uint64", "<engineering-type>duration</engineering-type>$&");
    for (document, message) in [
        (export("uint64", &row.replace("row>", "raw>")), "<raw> where a row should be"),
        (good.replace("node", "nude"), "<nude> where a table should be"),
        (good.replace("<mnemonic>value", "<mnemonic>val<a/>ue"), "a column has two names or types"),
        (two_types.replace("$&", "<engineering-type>uint64"), "a column has two names or types"),
    ] {
        let notes = read(&document).notes;
        assert!(notes.iter().any(|note| note.message.contains(message)), "{message}: {notes:?}");
    }
    let twice = row.replace("<uint64>2", "<uint64 id=\"1\">2") + &row.replace("<uint64>2</uint64>", "<row id=\"1\"/>");
    let reading = read(&export("uint64", &twice));
    assert!(reading.notes.iter().any(|note| note.message.contains("id 1 is defined twice")), "{:?}", reading.notes);
}

/// A name of this length would be refused, but a cell contains whatever an app logs.
#[test]
fn long_texts_are_read() {
    let text = "x".repeat(Options::default().limits.name_bytes + 1);
    for content in [String::new(), text.clone()] {
        let cell = format!("<string id=\"9\" fmt=\"{text}\">{content}</string>");
        assert_eq!(value("string", &cell), Ok(format!("{text:?}")));
    }
}
