//! Files that were cut, and rows that cannot be read.

use crate::command::{Folder, all_exports, csv, fails, json, ok, orchard, read_text, warns};

const CUT_AT: usize = 60_000;

/// The first bytes of the fixture, and the number of complete rows in them.
fn cut(folder: &Folder) -> (String, usize) {
    let text = read_text(&orchard());
    let head = &text[..CUT_AT];
    (folder.file("cut.xml", head), head.matches("</row>").count())
}

/// The second of six rows defines a state that the fourth refers to; here it does not.
fn with_a_rejected_row(folder: &Folder) -> String {
    folder.edited("27/time-profile-waiting", &[("<thread-state id=\"27\" ", "<thread-state ")])
}

#[test]
fn a_cut_file_is_refused_with_its_byte_and_rows() {
    let folder = Folder::new();
    let (path, rows) = cut(&folder);
    let row_start = read_text(&path).rfind("<row>").expect("a row is open");
    let message = fails(1, &[&path]);
    assert!(message.contains(&format!("cut.xml:{}:{row_start}: ", rows + 3)), "the open row is named: {message}");
    assert!(message.contains(&format!("ends at byte {CUT_AT}")), "{message}");
    assert!(message.contains(&format!("after {rows} complete rows")), "{message}");
    assert!(message.contains("--allow-truncated"), "the message says what to do: {message}");
}

#[test]
fn allow_truncated_uses_the_complete_rows_and_says_so() {
    let folder = Folder::new();
    let (path, rows) = cut(&folder);
    let (text, warning) = warns(&[&path, "--allow-truncated"]);
    assert!(warning.contains("cut.xml") && warning.contains(&format!("truncated at byte {CUT_AT}")), "{warning}");
    assert!(text.contains(&format!("cut.xml is truncated at byte {CUT_AT}: only complete rows count")), "{text}");
    assert!(text.contains(&format!("{rows}.00 ms in {rows} samples")), "{text}");
    assert!(text.contains("1 of 200 rows rejected: the input ends inside the row"), "{text}");
}

#[test]
fn allow_truncated_says_so_in_json() {
    let folder = Folder::new();
    let (path, rows) = cut(&folder);
    let (text, _) = warns(&[&path, "--allow-truncated", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("the output is JSON");
    assert_eq!(answer["documents"][0]["cut_at"], CUT_AT);
    assert_eq!(answer["series"][0]["samples"], rows);
    assert_eq!(answer["tables"][0]["rejected"]["reasons"]["cut"], 1);
}

#[test]
fn allow_truncated_does_not_matter_to_a_whole_file() {
    let full = [&orchard(), "--view", "full"];
    assert_eq!(ok(&[&full[..], &["--allow-truncated"]].concat()), ok(&full));
}

#[test]
fn a_cut_between_rows_is_a_cut_too() {
    let folder = Folder::new();
    let text = read_text(&orchard());
    let end = text.rfind("</row>").expect("a last row") + "</row>".len();
    let path = folder.file("cut.xml", &text[..end]);
    assert!(fails(1, &[&path]).contains("after 485 complete rows"));
    let (text, _) = warns(&[&path, "--allow-truncated", "--view", "summary"]);
    assert!(text.contains("485.00 ms in 485 samples"), "{text}");
}

#[test]
fn advice_about_a_cut_file_can_be_followed() {
    let folder = Folder::new();
    let (path, _) = cut(&folder);
    let message = fails(1, &["toc", &path]);
    if message.contains("--allow-truncated") {
        warns(&["toc", &path, "--allow-truncated"]);
    }
}

#[test]
fn a_rejected_row_is_a_warning_and_in_the_summary() {
    let folder = Folder::new();
    let path = with_a_rejected_row(&folder);
    let (text, warning) = warns(&[&path, "--state", "all", "--view", "full"]);
    assert!(warning.contains("ref 27 is not defined"), "{warning}");
    assert!(warning.contains(&format!("{path}:6:")), "the row is the fourth, on line 6: {warning}");
    assert!(text.contains("6 rows = 5 samples + 1 rejected"), "{text}");
    assert!(text.contains("1 rejected: the row refers to an id that is not defined"), "{text}");
    assert!(text.contains("5.00 ms in 5 samples"), "{text}");
}

#[test]
fn a_rejected_row_is_in_the_machine_formats() {
    let folder = Folder::new();
    let path = with_a_rejected_row(&folder);
    let (text, _) = warns(&[&path, "--format", "json", "--view", "summary"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("the output is JSON");
    let table = &answer["tables"][0];
    assert_eq!((table["rows"].as_u64(), table["samples"].as_u64()), (Some(6), Some(5)));
    assert_eq!(table["rejected"], serde_json::json!({"total": 1, "reasons": {"undefined-ref": 1}}));
    assert_eq!(answer["diagnostics"][0]["line"], 6);
    let (text, _) = warns(&[&path, "--format", "csv", "--view", "summary"]);
    assert!(text.ends_with(",time-profile,cpu,6,5,1\n"), "{text}");
    let (text, _) = warns(&[&path, "--format", "csv", "--view", "samples"]);
    assert_eq!(text.lines().count(), 1 + 5);
}

#[test]
fn strict_refuses_a_file_with_a_rejected_row() {
    let folder = Folder::new();
    let path = with_a_rejected_row(&folder);
    let message = fails(1, &[&path, "--strict"]);
    assert!(message.contains("1 of 6 rows could not be read") && message.contains("--strict"), "{message}");
    assert!(message.contains("ref 27 is not defined"), "the reason is told, too: {message}");
    assert_eq!(
        ok(&[&orchard(), "--strict", "--view", "full"]),
        ok(&[&orchard(), "--view", "full"]),
        "whole files do not mind"
    );
}

#[test]
fn a_file_without_a_single_readable_row_is_refused() {
    let folder = Folder::new();
    let path = folder.edited("27/time-profile-waiting", &[(">1000000</weight>", ">heavy</weight>")]);
    let message = fails(1, &[&path]);
    assert!(message.contains("none of the 6 rows of CPU tables could be read"), "{message}");
    assert!(message.contains("a number in the row is missing, not a number, or out of range"), "{message}");
}

#[test]
fn tables_and_series_agree_on_what_was_read() {
    for export in all_exports() {
        let tables = csv(&[&export, "--view", "summary"]);
        for row in &tables[1..] {
            let [rows, samples, rejected] =
                [5, 6, 7].map(|column: usize| row[column].parse::<u64>().expect("a number"));
            assert!(row[4] != "cpu" || rows == samples + rejected, "{row:?}");
        }
        let counted_rows: u64 = tables[1..].iter().map(|row| row[6].parse::<u64>().expect("a number")).sum();
        let answer = json(&[&export, "--view", "summary", "--state", "all"]);
        let counted = answer["series"].as_array().expect("series").iter();
        assert_eq!(counted.map(|series| series["samples"].as_u64().unwrap()).sum::<u64>(), counted_rows, "{export}");
    }
}
