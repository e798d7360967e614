//! What comes out of a fleet besides JSON: text, CSV, HTML, SQL; and the names that symbol files give.

use serde_json::Value;

use crate::command::{Folder, fails, finish, read_text, stdout_of};
use crate::fleet_case::{export_of_functions, fleet, run, says, write};
use crate::symbols_case::{Case, DRAW_NAMES, built};

#[test]
fn every_format_is_written() {
    let folder = Folder::new();
    let path = fleet(&folder, "x", 3);
    let text = |args: &[&str]| stdout_of(&run(&[&["report", &path], args].concat()).success().stderr(""));
    assert!(text(&[]).contains("work"));
    let csv = text(&["--format", "csv"]);
    let lines = csv.lines().filter(|line| line.contains(",work,")).count();
    assert_eq!(lines, 1, "{csv}");
    let page = folder.path("fleet.html");
    assert_eq!(text(&["--format", "html", "-o", &page]), "");
    assert!(read_text(&page).starts_with("<!") && read_text(&page).contains("<svg"));
    let said = fails(1, &["fleet", "report", &path, "-o", &folder.path("no/such/folder")]);
    assert!(said.contains("the folder does not exist"), "{said}");
}

#[test]
fn text_has_fifteen_rows_if_nothing_else_is_said() {
    let folder = Folder::new();
    let path = write(&folder, "a.xml", export_of_functions(20));
    let count = |args: &[&str]| {
        let text = stdout_of(&run(&[&["report", &path, "--scope", "function"], args].concat()).success());
        text.lines().filter(|line| line.contains("job_")).count()
    };
    assert_eq!((count(&[]), count(&["--top", "0"]), count(&["--top", "3"])), (15, 20, 3));
}

#[test]
fn symbol_files_name_what_is_compared() {
    let case = Case::new();
    let manifest = case.folder.file("fleet.csv", "path,duration\nexport.xml,1\n");
    case.draw();
    let functions = |args: &[&str]| -> Vec<String> {
        let report: Value = {
            let options = ["--format", "json", "--scope", "function", "--measure", "all"];
            let args = [&["fleet", "report", &manifest], &options[..], args].concat();
            serde_json::from_str(&case.answer(&args)).expect("the report is JSON")
        };
        let rows = report["cohorts"][0]["tables"][0]["rows"].as_array().expect("rows").clone();
        let mut names: Vec<String> =
            rows.iter().map(|row| row["function"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(functions(&[]), ["(unnamed)"]);
    let mut names = DRAW_NAMES.map(str::to_owned).to_vec();
    names.sort();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    assert_eq!(functions(&["--dsym", &dsym]), names);
    // Other symbols are another measure of the same file.
    let dataset = case.folder.path("ds");
    let extract = |args: &[&str]| {
        let assert = finish(&mut case.command(&[&["fleet", "extract", &manifest, "-o", &dataset], args].concat()));
        String::from_utf8(assert.success().get_output().stderr.clone()).expect("UTF-8")
    };
    assert!(extract(&[]).ends_with("extracted 1 new, 0 changed, 0 unchanged, 0 failed\n"));
    assert!(extract(&["--dsym", &dsym]).ends_with("extracted 0 new, 1 changed, 0 unchanged, 0 failed\n"));
    assert!(extract(&["--dsym", &dsym]).ends_with("extracted 0 new, 0 changed, 1 unchanged, 0 failed\n"));
    assert!(
        extract(&["--dsym", &dsym, "--no-inlines"]).ends_with("extracted 0 new, 1 changed, 0 unchanged, 0 failed\n")
    );
}

#[test]
fn sql_asks_what_the_report_asked() {
    let folder = Folder::new();
    let (path, dataset, report) = (fleet(&folder, "x", 2), folder.path("ds"), folder.path("report.json"));
    let options = ["--by", "ring,device", "--percentiles", "75,99.9", "--scope", "thread", "--measure", "all"];
    run(&["extract", &path, "-o", &dataset]).success();
    run(&[&["report", &dataset, "--format", "json", "-o", &report, "--top", "0"], &options[..]].concat()).success();
    let sql = |args: &[&str]| stdout_of(&run(&[&["sql"], args].concat()).success().stderr(""));
    let typed = sql(&[&[dataset.as_str()], &options[..]].concat());
    assert!(typed.contains("p99.9") && typed.contains(&dataset) && typed.contains("ring"), "{typed}");
    assert_eq!(sql(&[&report, "--dataset", &dataset]), typed);
    assert_ne!(sql(&[&report, "--dataset", &dataset, "--engine", "spark"]), typed);
    assert!(sql(&["s3://bucket/fleet", "--engine", "spark"]).contains("s3://bucket/fleet/runs"));
    for (args, words) in [
        (&["sql", &report][..], "--dataset"),
        (&["sql", &report, "--dataset", "ds", "--by", "os"], "cannot be used with"),
        (&["sql"], "<DIR|REPORT.json>"),
    ] {
        let said = says(2, args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    assert!(fails(1, &["fleet", "sql", &path]).contains("is not a dataset"));
    assert!(fails(1, &["fleet", "sql", &folder.path("x/00.xml"), "--dataset", "ds"]).contains("not JSON"));
}
