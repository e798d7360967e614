//! `docs/formats.md` names the JSON fields and CSV columns of every view.

use std::collections::BTreeSet;

use crate::command::{json, ok, orchard, read_text};

/// Sections of the document, and the JSON fields that they describe.
type Sections = &'static [(&'static str, &'static str)];

/// The views of rows, and their sections.
const VIEWS: [(&str, Sections); 10] = [
    ("functions", &[("`functions[]`", "functions")]),
    ("binaries", &[("`binaries[]`", "binaries")]),
    ("heaviest", &[("`heaviest[]`", "heaviest")]),
    ("categories", &[("`categories[]`", "categories"), ("`transitions[]`", "transitions")]),
    ("lines", &[("`lines[]`", "lines")]),
    ("processes", &[("`processes[]` of `--view processes`", "processes")]),
    ("states", &[("`states[]` of `--view states`", "states")]),
    ("cores", &[("`cores[]`", "cores")]),
    ("timeline", &[("`timeline[]`", "timeline")]),
    ("samples", &[("`samples[]`", "samples")]),
];
/// Fields that only some tables have rows with.
const OPTIONAL: [&str; 1] = ["counters"];

fn document() -> String {
    read_text(&support::repository("docs/formats.md").into_os_string().into_string().unwrap())
}

/// The part of the document below a heading, up to the next one.
fn section<'d>(document: &'d str, heading: &str) -> &'d str {
    let start = format!("\n### {heading}\n");
    let (_, below) = document.split_once(&start).unwrap_or_else(|| panic!("there is no section {heading}"));
    below.split("\n## ").next().and_then(|part| part.split("\n### ").next()).unwrap()
}

/// The strings between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The fields of the first table of a section.
fn documented_fields(section: &str) -> BTreeSet<String> {
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).flat_map(|row| quoted(row.split('|').nth(1).unwrap())).map(str::to_owned).collect()
}

#[test]
fn json_has_the_fields_that_its_document_names() {
    let document = document();
    for (view, sections) in VIEWS {
        let answer = json(&[orchard().as_str(), "--view", view]);
        for (heading, field) in sections {
            let rows = answer[field].as_array().unwrap_or_else(|| panic!("{field} is an array"));
            let fields: BTreeSet<String> =
                rows.iter().flat_map(|row| row.as_object().unwrap().keys().cloned()).collect();
            assert!(!fields.is_empty(), "{field} has rows");
            let mut documented = documented_fields(section(&document, heading));
            documented.retain(|field| fields.contains(field) || !OPTIONAL.contains(&field.as_str()));
            assert_eq!(documented, fields, "{heading}");
        }
    }
}

#[test]
fn the_overview_and_its_functions_have_documented_fields() {
    let document = document();
    let (overview, function) = section(&document, "`overview[]`").split_once("A function in `answers` has").unwrap();
    let answer = &json(&[orchard().as_str(), "--view", "overview"])["overview"][0];
    for (value, part) in [(answer, overview), (&answer["answers"][0], function)] {
        let fields: BTreeSet<String> = value.as_object().unwrap().keys().cloned().collect();
        let mut documented = documented_fields(part);
        documented.retain(|field| !field.contains('.'));
        assert_eq!(documented, fields);
    }
}

#[test]
fn csv_has_the_columns_that_its_document_names() {
    let document = document();
    let (_, csv) = document.split_once("\n## CSV\n").unwrap();
    let csv = csv.split("\n## ").next().unwrap();
    let mut views = BTreeSet::new();
    for part in csv.split("\n**`").skip(1) {
        let (view, text) = part.split_once('`').unwrap();
        let columns = quoted(text).find(|text| text.contains(',')).unwrap_or_else(|| panic!("{view} has columns"));
        let answer = ok(&[orchard().as_str(), "--view", view, "--format", "csv"]);
        assert_eq!(answer.lines().next(), Some(columns), "{view}");
        views.insert(view);
    }
    let named = VIEWS.iter().map(|(view, _)| *view);
    let others = ["flame-chart", "summary", "threads", "transitions", "tree"];
    assert_eq!(views, named.chain(others).collect(), "every view is there");
}
