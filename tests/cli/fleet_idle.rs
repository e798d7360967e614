//! Idle runs: their CPU table is empty, and their recorded time is known.

use serde_json::{Value, json};

use crate::bundle_case;
use crate::command::Folder;
use crate::fleet_case::{self, of_runs, report, report_with, says, write};
use support::builder::Builder;
use support::bundle::{BundleOptions, to_folder, write_bundle};
use support::{Content, Node, RenderOptions, Shape, Table, render};

/// A table without rows.
fn no_rows() -> Vec<Node> {
    let content = Content::Samples { table: Table::TimeProfile, rows: Vec::new() };
    vec![Node { run: 1, table_index: Table::TimeProfile.usual_index(), content }]
}

/// An idle export; the number makes it another file.
fn idle(number: u64) -> String {
    let recording = bundle_case::recording();
    let export = render(&recording, &RenderOptions::with_nodes(Shape::Xcode26_4, no_rows()));
    export.replace("</schema>", &format!("</schema><!-- {number} -->"))
}

/// An export of a thread that runs for this many milliseconds.
fn busy(milliseconds: u64) -> String {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard");
    let thread = builder.thread(process, 0x101, &["Main Thread"]);
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    builder.function("work", app, Some("work"), None);
    for time in 0..milliseconds {
        builder.row(time * 1_000_000, thread, "work");
    }
    render(&builder.recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &builder.recording))
}

fn toc(seconds: u64) -> String {
    format!(
        "<?xml version=\"1.0\"?><trace-toc><run number=\"1\"><info><summary><duration>{seconds}</duration></summary></info></run>\
         </trace-toc>"
    )
}

/// A percentile of sorted values by nearest rank, like numpy's method `inverted_cdf`.
fn nearest_rank(sorted: &[f64], quantile: f64) -> f64 {
    sorted[((quantile * sorted.len() as f64).ceil() as usize).max(1) - 1]
}

#[test]
fn counts_idle_runs_as_zero() {
    let folder = Folder::new();
    for number in 0..99 {
        write(&folder, &format!("fleet/{number}.xml"), idle(number));
        write(&folder, &format!("fleet/{number}-toc.xml"), toc(10));
    }
    write(&folder, "fleet/busy.xml", busy(990));
    write(&folder, "fleet/busy-toc.xml", toc(1));
    let (fleet, dataset) = (folder.path("fleet"), folder.path("dataset"));
    says(0, &["extract", &fleet, "-o", &dataset]);
    let mut values = vec![0.0; 99];
    values.push(99.0);
    for input in [&fleet, &dataset] {
        let report = report(&[input]);
        assert_eq!((&report["inputs"]["runs"], &report["inputs"]["idle"]), (&json!(100), &json!(99)));
        let across = &report["cohorts"][0]["across_runs"];
        assert_eq!((&across["count"], &across["zeros"], &across["mean"]), (&json!(100), &json!(99), &json!(0.99)));
        for percentile in across["percentiles"].as_array().unwrap() {
            let quantile = percentile["quantile"].as_f64().unwrap();
            assert_eq!(percentile["value"].as_f64(), Some(nearest_rank(&values, quantile)), "{percentile}");
        }
        for (rule, code) in [("cpu.mean > 50", 0), ("cpu.mean > 0.98", 3), ("cpu.p50 > 0", 0), ("cpu.max > 98", 3)] {
            assert_eq!(report_with(code, &[input, "--alert", rule]).1["inputs"]["failed"], json!([]), "{rule}");
        }
    }
}

/// Exports of idle recordings are equal, byte for byte.
#[test]
fn idle_runs_are_never_copies() {
    let folder = Folder::new();
    let mut manifest = "path,user,duration\n".to_owned();
    for user in 0..4 {
        write(&folder, &format!("with/{user}.xml"), if user == 0 { busy(500) } else { idle(0) });
        write(&folder, &format!("with/{user}-toc.xml"), toc(10));
        write(&folder, &format!("without/{user}.xml"), if user == 0 { busy(500) } else { idle(0) });
        manifest += &format!("without/{user}.xml,{user},10\n");
    }
    let inputs = [folder.path("with"), write(&folder, "users.csv", manifest)];
    for (index, input) in inputs.iter().enumerate() {
        let (dataset, merged) = (folder.path(&format!("dataset {index}")), folder.path(&format!("merged {index}")));
        let said = says(0, &["extract", input, "-o", &dataset]);
        assert!(said.contains("extracted 4 new, 0 changed, 0 unchanged, 0 failed"), "{said}");
        let said = says(0, &["extract", input, "-o", &dataset]);
        assert!(said.contains("extracted 0 new, 0 changed, 4 unchanged, 0 failed"), "{said}");
        says(0, &["merge", "-o", &merged, &dataset]);
        for input in [input, &dataset, &merged] {
            let report = report(&[input]);
            assert_eq!(of_runs(&report, "value").len(), 4, "{input}");
            assert_eq!(report["cohorts"][0]["across_runs"]["zeros"], json!(3), "{input}");
            let ids: std::collections::BTreeSet<String> =
                of_runs(&report, "run_id").into_iter().map(|(_, id)| id.to_string()).collect();
            assert_eq!(ids.len(), 4, "{input}");
        }
    }
}

/// Another launch with the same samples is a separate run; a copy is not.
#[test]
fn runs_differ_by_content_table_of_contents_and_labels() {
    let folder = Folder::new();
    for name in ["first", "copy", "launch", "labelled"] {
        write(&folder, &format!("fleet/{name}.xml"), busy(20));
        let start = if name == "launch" { 12 } else { 10 };
        write(&folder, &format!("fleet/{name}-toc.xml"), toc(start));
    }
    let manifest = write(&folder, "labels.csv", "path,ring\nfleet/labelled.xml,beta\n");
    let (fleet, dataset) = (folder.path("fleet"), folder.path("dataset"));
    says(0, &["extract", &fleet, "--manifest", &manifest, "-o", &dataset]);
    for args in [&[fleet.as_str(), "--manifest", &manifest][..], &[dataset.as_str()]] {
        let report = report_with(0, args).1;
        assert_eq!(fleet_case::sources(&report), ["copy.xml", "labelled.xml", "launch.xml"]);
        assert_eq!(fleet_case::failures(&report), [("first.xml".to_owned(), "duplicate".to_owned())]);
    }
}

#[test]
fn counts_idle_recordings_as_zero() {
    let folder = Folder::new();
    let files = write_bundle(&bundle_case::recording(), &BundleOptions::with_nodes(no_rows()));
    to_folder(&files, std::path::Path::new(&folder.path("idle.trace")));
    let runs = of_runs(&report(&[&folder.path("idle.trace")]), "value");
    assert_eq!(runs, [("idle.trace".to_owned(), json!(0.0))]);
}

/// Without a recorded time, CPU use is unknown.
#[test]
fn rejects_idle_runs_of_unknown_length() {
    let folder = Folder::new();
    let path = write(&folder, "idle.xml", idle(0));
    assert!(says(1, &["report", &path]).contains("There are no rows in time-profile"));
}

#[test]
fn the_overview_of_an_idle_run_is_zero_percent() {
    let folder = Folder::new();
    let (export, toc) = (write(&folder, "idle.xml", idle(0)), write(&folder, "toc.xml", toc(10)));
    let run = |options: &[&str]| {
        crate::command::stdout_of(&crate::command::finish(&mut crate::command::traceparse(
            &[&[&*export, &*toc], options].concat(),
        )))
    };
    let text = run(&[]);
    assert!(
        text.contains("0.0% of one core: 0 ns in 0 samples over 10.00 s recorded")
            && text.contains("no thread ran on the CPU"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&run(&["--view", "summary", "--format", "json"])).unwrap();
    assert_eq!(json["series"][0]["cpu_percent"], 0.0);
}
