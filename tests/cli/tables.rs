//! `traceparse tables` and `traceparse table`: queries, formats and messages. `tests/oracles/tables.rs` compares values with other readers.

use serde_json::{Value, json};

use crate::command::{Folder, csv, fails, finish, fixture, json, ok, orchard, read_text, stdout_of, traceparse, warns};
use crate::symbols_case::{Case, dwarf_file};

/// A table of hangs with invented columns. A cell is an element, or "-" for none.
fn hangs(run: u32, rows: &[[&str; 5]]) -> String {
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("hang-type", "hang-type"),
        ("size", "size-in-bytes"),
        ("flux", "invented-type"),
    ];
    let cell = |text: &&str, (_, kind): &(&str, &str)| match *text {
        "-" => "<sentinel/>".to_owned(),
        text => format!("<{kind} fmt=\"shown\">{text}</{kind}>"),
    };
    let row = |row: &[&str; 5]| {
        let cells: String = row.iter().zip(&columns).map(|(text, column)| cell(text, column)).collect();
        format!("<row>{cells}</row>\n")
    };
    let column = |(name, kind): &(&str, &str)| {
        format!("<col><mnemonic>{name}</mnemonic><name>x</name><engineering-type>{kind}</engineering-type></col>")
    };
    let columns: String = columns.iter().map(column).collect();
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[1]'><schema name=\"hangs\">{columns}</schema>{rows}</node>"
    )
}

fn export(nodes: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<trace-query-result>\n{nodes}</trace-query-result>\n")
}

const ROWS: [[&str; 5]; 5] = [
    ["1000000", "5000000", "Hang", "4096", "7"],
    ["2000000", "250000000", "=Severe", "-", "8"],
    ["3000000", "-", "Hang", "1048576", "-"],
    ["4000000", "5000000", "Brief, \"quoted\"", "0", "9"],
    ["5000000", "900000000", "Hang", "10", "18446744073709551615"],
];

fn file(folder: &Folder) -> String {
    folder.file("a.xml", export(&hangs(1, &ROWS)))
}

/// The values of a column.
fn values(answer: &Value, name: &str) -> Vec<Value> {
    answer["rows"].as_array().expect("there are rows").iter().map(|row| row[name].clone()).collect()
}

fn starts(path: &str, options: &[&str]) -> Vec<u64> {
    let answer = json(&[&["table", path, "hangs"], options].concat());
    values(&answer, "start").iter().map(|start| start.as_u64().unwrap() / 1_000_000).collect()
}

#[test]
fn lists_tables_with_rows_and_times() {
    let folder = Folder::new();
    let path = folder.file("a.xml", export(&(hangs(1, &ROWS) + &hangs(2, &ROWS[..1]))));
    let text = ok(&["tables", &path]);
    let lines: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines,
        [["1", "5", "00:00.001.000", "00:00.905.000", "hangs"], ["2", "1", "00:00.001.000", "00:00.006.000", "hangs"]]
    );
    let table = &json(&["tables", &path])["inputs"][0]["tables"][0];
    assert_eq!([&table["run"], &table["rows"], &table["start_ns"]], [1, 5, 1_000_000]);
    assert_eq!(table["columns"][1], json!({"name": "duration", "type": "duration", "kind": "duration", "unit": "ns"}));
    assert_eq!([&table["columns"][4]["kind"], &table["columns"][4]["type"]], ["number", "invented-type"]);
    assert_eq!(table["rejected"]["total"], 0);
}

#[test]
fn selects_sorts_and_limits_rows() {
    let folder = Folder::new();
    let path = file(&folder);
    for (options, expected) in [
        (&["--where", "duration > 5ms"][..], &[2, 5][..]),
        (&["--where", "duration >= 5ms and hang-type = Hang"], &[1, 5]),
        (&["--where", "duration = none"], &[3]),
        (&["--where", "size != none and size < 4KiB"], &[4, 5]),
        (&["--where", "hang-type = 'Brief, \"quoted\"'"], &[4]),
        (&["--where", "flux > 0xff"], &[5]),
        (&["--where", "start < 0.0025s"], &[1, 2]),
        // Equal durations keep their order, and a missing one is last.
        (&["--sort", "duration"], &[1, 4, 2, 5, 3]),
        (&["--sort", "duration:desc"], &[5, 2, 1, 4, 3]),
        (&["--sort", "hang-type", "--top", "2"], &[2, 4]),
        (&["--top", "2"], &[1, 2]),
        (&["--top", "1", "--where", "hang-type = Hang and start > 2ms"], &[3]),
        (&["--run", "1", "--top", "0"], &[1, 2, 3, 4, 5]),
    ] {
        assert_eq!(starts(&path, options), expected, "{options:?}");
    }
    let rows = csv(&["table", &path, "hangs", "--columns", "hang-type,start", "--top", "1"]);
    assert_eq!(rows, [["file", "run", "hang-type", "start"], [&path, "1", "Hang", "1000000"]]);
}

#[test]
fn sorting_many_rows_with_a_limit_is_sorting_all() {
    let folder = Folder::new();
    let numbers: Vec<[String; 5]> = (0..5_000_u64)
        .map(|row| [row.to_string(), (row * 7_919 % 613).to_string(), "x".into(), "1".into(), "1".into()])
        .collect();
    let rows: Vec<[&str; 5]> = numbers.iter().map(|row| row.each_ref().map(String::as_str)).collect();
    let path = folder.file("a.xml", export(&hangs(1, &rows)));
    let all = csv(&["table", &path, "hangs", "--sort", "duration:desc"]);
    for top in [1, 7, 1_500] {
        let some = csv(&["table", &path, "hangs", "--sort", "duration:desc", "--top", &top.to_string()]);
        assert_eq!(some, all[..=top], "{top}");
    }
    let mut expected: Vec<&[String; 5]> = numbers.iter().collect();
    expected.sort_by_key(|row| std::cmp::Reverse(row[1].parse::<u64>().unwrap()));
    assert!(all[1..].iter().map(|row| &row[2]).eq(expected.iter().map(|row| &row[0])));
}

#[test]
fn text_shows_the_first_rows_and_their_number() {
    let folder = Folder::new();
    let rows: Vec<[&str; 5]> = ROWS.iter().cycle().take(1_000).copied().collect();
    let path = folder.file("a.xml", export(&hangs(1, &rows)));
    let text = ok(&["table", &path, "hangs"]);
    assert_eq!(text.lines().count(), 22, "{text}");
    assert!(text.starts_with("        start   duration  hang-type        "), "{text}");
    assert!(text.ends_with("\n20 of 1,000 rows; --top 0 shows all\n"), "{text}");
    assert!(text.contains("00:00.001.000    5.00 ms  Hang             4.10 kB"), "{text}");
    let found = ok(&["table", &path, "hangs", "--where", "duration > 800ms", "--top", "3"]);
    assert!(found.ends_with("\n3 of 200 rows; --top 0 shows all\n"), "{found}");
    let none = ok(&["table", &path, "hangs", "--where", "duration > 1min"]);
    assert!(none.ends_with("\n0 rows\n"), "{none}");
}

#[test]
fn files_share_fields_by_name() {
    let folder = Folder::new();
    let one = file(&folder);
    let other = hangs(3, &[["7000000", "1", "Hang", "5", "text"]]).replace("<mnemonic>size", "<mnemonic>extent");
    let other = folder.file("b.xml", export(&other));
    let answer = json(&["table", &one, &other, "hangs"]);
    let names: Vec<&str> =
        answer["table"]["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["file", "run", "start", "duration", "hang-type", "size", "flux", "extent"]);
    // Numbers in one file, and strings in the other.
    assert_eq!(
        values(&answer, "flux"),
        [json!("7"), json!("8"), json!(null), json!("9"), json!("18446744073709551615"), json!("text")]
    );
    assert_eq!(values(&answer, "extent")[4..], [json!(null), json!(5)]);
    assert_eq!(values(&answer, "run")[4..], [1, 3]);
    assert_eq!(values(&answer, "file")[4..], [one.as_str(), &other]);
    assert!(ok(&["table", &one, &other, "hangs"]).starts_with("file "));
}

#[test]
fn stacks_are_names_and_a_second_table() {
    let folder = Folder::new();
    let answer = json(&["table", &orchard(), "time-profile"]);
    let (row, stacks) = (&answer["rows"][0], answer["stacks"].as_array().unwrap());
    let of_row: Vec<&Value> = stacks.iter().filter(|frame| frame["stack.id"] == row["stack.id"]).collect();
    assert_eq!(row["stack.id"], 1);
    assert!(of_row.iter().map(|frame| &frame["function"]).eq(row["stack"].as_array().unwrap()));
    assert!(of_row.iter().enumerate().all(|(depth, frame)| frame["depth"] == depth));
    let out = folder.path("rows.ndjson");
    ok(&["table", &orchard(), "time-profile", "-o", &out]);
    let lines =
        |path: &str| -> Vec<Value> { read_text(path).lines().map(|l| serde_json::from_str(l).unwrap()).collect() };
    assert_eq!(&lines(&out), answer["rows"].as_array().unwrap());
    assert_eq!(&lines(&folder.path("rows.stacks.ndjson")), stacks);
    // The same rows, kept in memory and not streamed.
    let kept = json(&["table", &orchard(), "time-profile", "--top", "100000"]);
    assert_eq!(kept, answer);
}

/// The leaves equal the leaves of samples from the same rows, including inlined functions.
#[test]
fn stacks_get_names_from_symbol_files() {
    let case = Case::new();
    let (export, dsym) = (case.draw(), dwarf_file("arm64-dwarf4", "Demo"));
    let ask = |args: &[&str]| stdout_of(&finish(&mut case.command(args)).success());
    let samples = ask(&[&export, "--dsym", &dsym, "--view", "samples", "--format", "csv"]);
    let mut samples = ::csv::Reader::from_reader(samples.as_bytes());
    let column = samples.headers().unwrap().iter().position(|name| name == "function").unwrap();
    let leaves: Vec<String> = samples.records().map(|row| row.unwrap()[column].to_owned()).collect();
    for limit in [&["--top", "1000"][..], &[]] {
        let answer = ask(&[&["table", &export, "time-profile", "--dsym", &dsym, "--format", "json"], limit].concat());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let stacks = values(&answer, "stack");
        assert!(stacks.iter().map(|stack| stack[0].as_str().unwrap_or_default()).eq(leaves.iter()));
        assert!(leaves.iter().any(|leaf| !leaf.starts_with("0x")), "{leaves:?}");
    }
}

#[test]
fn standard_input_is_read_like_a_file() {
    let of_file = json(&["table", &orchard(), "time-profile"]);
    let piped =
        finish(traceparse(&["table", "-", "time-profile", "--format", "json"]).write_stdin(read_text(&orchard())));
    let piped: Value = serde_json::from_str(&stdout_of(&piped.success())).unwrap();
    assert_eq!([&piped["stacks"], &piped["table"]], [&of_file["stacks"], &of_file["table"]]);
    assert_eq!(values(&piped, "thread"), values(&of_file, "thread"));
}

#[test]
fn csv_and_sql_escape_texts() {
    let folder = Folder::new();
    let path = file(&folder);
    let select = ["--columns", "hang-type"];
    let plain = csv(&[&["table", &path, "hangs"], &select[..]].concat());
    assert_eq!([&plain[2][2], &plain[4][2]], ["=Severe", "Brief, \"quoted\""]);
    assert_eq!(csv(&[&["table", &path, "hangs", "--csv-safe"], &select[..]].concat())[2][2], "'=Severe");
    let quoted = folder.file("q.xml", read_text(&path).replace("=Severe", "it's"));
    let sql = ok(&["table", &quoted, "hangs", "--format", "sql"]);
    assert!(
        sql.starts_with("CREATE TABLE \"hangs\" (\n  \"file\" TEXT NOT NULL,\n  \"run\" BIGINT NOT NULL,\n"),
        "{sql}"
    );
    assert!(sql.contains("\n  \"flux\" DECIMAL(20,0)\n") && sql.contains(",'it''s',NULL,8)"), "{sql}");
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = Folder::new();
    let path = file(&folder);
    let table = |options: &[&str]| fails(2, &[&["table", &path, "hangs"], options].concat());
    let message = fails(1, &["table", &path, "hang"]);
    assert!(message.contains("there is no table \"hang\". The tables are: hangs"), "{message}");
    assert!(fails(1, &["table", &path, "hangs", "--run", "4"]).contains("run 4 has no table hangs"), "run");
    let message = table(&["--where", "durations > 5ms"]);
    let fields = "similar: duration. Its fields: start, duration, hang-type, size, flux";
    assert!(message.contains("hangs has no field \"durations\"") && message.contains(fields), "{message}");
    for (condition, part) in [
        ("hang-type < 5ms", "hang-type is a text, which can only be compared by = and !="),
        ("duration > 5", "duration is a duration, so \"5\" is not a value"),
        ("size > 5ms", "write bytes, or a number with B, kB, KiB"),
        ("flux = 1 or flux = 2", "only comparisons joined by `and` are supported"),
    ] {
        let message = table(&["--where", condition]);
        assert!(message.contains(part), "{condition}: {message}");
    }
    assert!(table(&["--columns", "nothing"]).contains("--columns: hangs has no field \"nothing\""));
    assert!(table(&["--columns", "start,size,START"]).contains("--columns: START was requested twice"));
    assert!(table(&["--sort", "start:down"]).contains("\"down\" is not an order"));
    assert!(table(&["-o", "x.svg"]).contains("name a file .txt, .json, .csv"));
    let message = fails(2, &["table", &orchard(), "time-profile", "--where", "stack.id = 1"]);
    assert!(message.contains("stack.id numbers the stacks of the output"), "{message}");
}

/// Decimals of an unknown type are strings, but numbers among them are sorted by value.
#[test]
fn decimals_sort_and_compare_as_numbers() {
    let folder = Folder::new();
    let flux = ["9.5", "10.2", "-", "120.0", "idle", "60.0", "-3", "9"];
    let starts_of: Vec<String> = (1..=flux.len()).map(|index| (index * 1_000_000).to_string()).collect();
    let rows: Vec<[&str; 5]> = starts_of.iter().zip(flux).map(|(start, flux)| [start, "1", "x", "1", flux]).collect();
    let path = folder.file("a.xml", export(&hangs(1, &rows)));
    for (options, expected) in [
        (["--sort", "flux:desc"], &[5, 4, 6, 2, 1, 8, 7, 3][..]),
        (["--sort", "flux"], &[7, 8, 1, 2, 6, 4, 5, 3]),
        (["--where", "flux > 9.5"], &[2, 4, 6]),
        (["--where", "flux = 60"], &[6]),
        (["--where", "flux = '60'"], &[]),
        (["--where", "flux <= 9"], &[7, 8]),
        (["--where", "flux != 9"], &[1, 2, 4, 5, 6, 7]),
        (["--where", "flux = idle"], &[5]),
    ] {
        assert_eq!(starts(&path, &options), expected, "{options:?}");
    }
    let message = fails(2, &["table", &path, "hangs", "--where", "flux > idle"]);
    assert!(message.contains("can only be compared by = and !=, unless the value is a number"), "{message}");
}

/// Rows of attributes, without a schema, as Leaks writes them.
#[test]
fn details_of_a_track_are_not_zero_rows() {
    let folder = Folder::new();
    let row = "<row leaked-object=\"CFSet\" size=\"48\" count=\"1\"/>\n";
    let details =
        format!("<node xpath='//trace-toc[1]/run[1]/tracks[1]/track[1]/details[1]/detail[1]'>{}</node>", row.repeat(7));
    let path = folder.file("a.xml", export(&details));
    let message = fails(1, &["table", &path, ""]);
    assert!(message.contains("of run 1 cannot be read: it has no schema, so its 7 rows cannot be read"), "{message}");
    let both = folder.file("b.xml", export(&(hangs(1, &ROWS) + &details)));
    assert!(fails(1, &["table", &both, ""]).contains("7 rows"));
    assert_eq!(starts(&both, &[]), [1, 2, 3, 4, 5]);
}

#[test]
fn rejected_rows_are_counted() {
    let folder = Folder::new();
    let broken =
        read_text(&file(&folder)).replacen("<duration fmt=\"shown\">5000000<", "<duration fmt=\"shown\">soon<", 1);
    let path = folder.file("broken.xml", broken);
    let (text, said) = warns(&["table", &path, "hangs", "--format", "csv"]);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(said.contains("hangs of run 1: 1 of 5 rows left out (1: a number in the row is missing"), "{said}");
    let (text, _) = warns(&["tables", &path]);
    assert!(text.contains("1 rejected: a number in the row"), "{text}");
}

#[test]
fn a_redacted_list_has_no_file_name() {
    let answer = json_of_redacted(&fixture("27/several-tables"));
    assert!(!answer.to_string().contains("several-tables"), "{answer}");
}

fn json_of_redacted(path: &str) -> Value {
    let said = finish(&mut traceparse(&["tables", path, "--redact", "--format", "json"])).success();
    serde_json::from_str(&stdout_of(&said)).unwrap()
}
