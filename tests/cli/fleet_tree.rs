//! `fleet tree`: summed trees, compared with the sum of each recording's folded stacks.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::command::{Folder, fails, finish, ok, stdout_of, traceparse, warns};
use crate::fleet_case::{export, run, says, write};
use support::fleet_exports::{file_name, fleet_export, manifest};

const SEED: u64 = 7;
const RUNS: u32 = 24;

/// Weights of folded stacks.
type Folded = BTreeMap<String, u64>;

/// The exports of a fleet and their manifest.
fn fleet() -> (Folder, String) {
    let folder = Folder::new();
    for index in 0..RUNS {
        // Each takes longer than the last, and is about as busy.
        let run = fleet_export(SEED, index, 40 + index);
        write(&folder, &(file_name(index) + ".xml"), run.export);
        write(&folder, &(file_name(index) + "-toc.xml"), run.toc);
    }
    let manifest = write(&folder, "manifest.csv", manifest(SEED, RUNS));
    (folder, manifest)
}

/// Adds up folded stacks, without the numbers of processes and threads, and with one name for addresses.
fn add(sums: &mut Folded, text: &str) {
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let mut names: Vec<&str> = stack.split(';').collect();
        for name in &mut names[..2] {
            *name = name.rsplit_once(" (").map_or(*name, |(name, _)| name);
        }
        for name in &mut names[2..] {
            let is_address = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            // Summed trees have no addresses, and name the binary instead.
            if name.strip_prefix("0x").is_some_and(is_address) || name.starts_with("(unnamed) (in ") {
                *name = "(unnamed)";
            }
        }
        *sums.entry(names.join(";")).or_default() += weight.parse::<u64>().unwrap();
    }
}

fn folded(text: &str) -> Folded {
    let mut sums = Folded::new();
    add(&mut sums, text);
    sums
}

/// The sum of the trees of some runs, each from its export.
fn sum_of(folder: &Folder, runs: impl IntoIterator<Item = u32>) -> Folded {
    let mut sums = Folded::new();
    for index in runs {
        add(&mut sums, &ok(&[&folder.path(&(file_name(index) + ".xml")), "--format", "folded"]));
    }
    sums
}

fn extract(args: &[&str]) {
    finish(&mut traceparse(&[&["fleet", "extract"], args].concat())).success();
}

#[test]
fn trees_are_the_sums_of_recorded_trees() {
    let (folder, manifest) = fleet();
    let tree = |args: &[&str]| folded(&ok(&[&["fleet", "tree", &manifest, "--format", "folded"], args].concat()));
    let one = folder.path("run-00003.xml");
    assert_eq!(folded(&ok(&["fleet", "tree", &one, "--format", "folded"])), sum_of(&folder, [3]));
    assert_eq!(tree(&[]), sum_of(&folder, 0..RUNS));
    let of_version = |version| (0..RUNS).filter(move |index| index % 4 == version);
    assert_eq!(tree(&["--where", "app_version=1.2"]), sum_of(&folder, of_version(2)));
    // The runs at or beyond a percentile, by the numbers of the report.
    let report: Value = serde_json::from_str(&ok(&["fleet", "report", &manifest, "--format", "json"])).unwrap();
    let rate = |run: &Value| {
        let name = run["source"].as_str().unwrap();
        let index: u32 = name[name.len() - 9..name.len() - 4].parse().unwrap();
        (run["value"].as_f64().unwrap(), index)
    };
    let mut rates: Vec<(f64, u32)> = report["runs"].as_array().unwrap().iter().map(rate).collect();
    rates.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let rank = (0.8 * f64::from(RUNS)).ceil() as usize;
    let least = rates[rank - 1].0;
    let beyond = rates.iter().filter(|(rate, _)| *rate >= least).map(|&(_, index)| index);
    assert_eq!(tree(&["--beyond", "p80"]), sum_of(&folder, beyond));
}

#[test]
fn recordings_and_datasets_have_the_same_trees() {
    let (folder, manifest) = fleet();
    let [dataset, halves] = ["dataset", "halves"].map(|name| folder.path(name));
    extract(&[&manifest, "-o", &dataset, "--stacks"]);
    for shard in ["1/2", "2/2"] {
        let part = format!("{halves}/{}", &shard[..1]);
        extract(&[&manifest, "--shard", shard, "-o", &part, "--stacks"]);
    }
    let merged = folder.path("merged");
    finish(&mut traceparse(&["fleet", "merge", &halves, "-o", &merged])).success();
    let questions: [&[&str]; 8] = [
        &["--view", "tree"],
        &["--view", "bottom-up", "--no-threads", "--depth", "4"],
        &["--view", "functions", "--thread", "/render/"],
        &["--view", "binaries", "--only-main-thread"],
        &["--where", "app_version=1.1", "--beyond", "p50"],
        &["--against", "app_version=1.3", "--where", "app_version=1.0", "--view", "tree"],
        &["--process", "Orchard", "--format", "svg"],
        &["--against", "app_version=1.3", "--where", "app_version=1.0", "--format", "svg", "--beyond", "p75"],
    ];
    for question in questions {
        let format: &[&str] = if question.contains(&"--format") { &[] } else { &["--format", "json"] };
        let answer = |input: &str| {
            // A warning reports a run without a matching thread.
            let answer = stdout_of(&run(&[&["tree", input], question, format].concat()).success());
            answer.replace(&format!("runs of {input}"), "runs of it").replace(&format!("run of {input}"), "run of it")
        };
        let recordings = answer(&manifest);
        for dataset in [&dataset, &halves, &merged] {
            assert!(answer(dataset) == recordings, "{question:?}");
        }
    }
}

#[test]
fn differences_are_scaled_to_the_recorded_time() {
    let (folder, manifest) = fleet();
    let args = ["--where", "app_version=1.0", "--against", "app_version=1.3", "--format", "json"];
    let diff: Value = serde_json::from_str(&ok(&[&["fleet", "tree", &manifest], &args[..]].concat())).unwrap();
    let weight = |version| -> u64 { sum_of(&folder, (0..RUNS).filter(|index| index % 4 == version)).values().sum() };
    let total = &diff["total"];
    let found = ["before", "after"].map(|side| total[side]["all_weight"].as_u64());
    assert_eq!(found, [Some(weight(0)), Some(weight(3))], "{total}");
    assert_eq!(diff["normalize"], "duration");
    let text = ok(&[&["fleet", "tree", &manifest], &args[..4]].concat());
    assert!(text.contains("6 runs of") && text.contains("app_version=1.3"), "{text}");
}

#[test]
fn runs_without_stacks_are_refused() {
    let (folder, manifest) = fleet();
    let dataset = folder.path("dataset");
    extract(&[&manifest, "-o", &dataset]);
    let said = fails(1, &["fleet", "tree", &dataset]);
    assert!(said.contains("24 of 24 runs have no stacks") && said.contains("--stacks"), "{said}");
    // Only the new run has stacks.
    let more = write(&folder, "more/new.xml", export(50));
    extract(&[&more, "-o", &dataset, "--stacks"]);
    let said = fails(1, &["fleet", "tree", &dataset]);
    assert!(said.contains("24 of 25 runs have no stacks"), "{said}");
    // An extract does not drop stacks.
    let said = says(1, &["extract", &more, "-o", &dataset]);
    assert!(said.contains("repeat --stacks"), "{said}");
    extract(&[&manifest, &more, "-o", &dataset, "--stacks"]);
    assert!(ok(&["fleet", "tree", &dataset]).starts_with("time-profile · 25 runs of"));
    // Reports do not depend on stacks.
    let without = folder.path("without");
    extract(&[&manifest, &more, "-o", &without]);
    let report = |dataset: &str| ok(&["fleet", "report", dataset, "--format", "csv"]);
    assert_eq!(report(&dataset), report(&without));
    let said = says(1, &["report", &dataset, &without]);
    assert!(said.contains("--stacks"), "{said}");
}

#[test]
fn other_units_are_refused_unless_a_table_is_chosen() {
    let folder = Folder::new();
    let fixtures = |case: &str| fs::read(support::repository(&format!("fixtures/{case}/input.xml"))).unwrap();
    write(&folder, "runs/a.xml", fixtures("26.4/time-profile"));
    write(&folder, "runs/b.xml", fixtures("26.2/cpu-profile"));
    let (runs, dataset) = (folder.path("runs"), folder.path("dataset"));
    extract(&[&runs, "-o", &dataset, "--stacks"]);
    for input in [&runs, &dataset] {
        let said = fails(1, &["fleet", "tree", input]);
        assert!(said.contains("cpu-profile in cycles") && said.contains("--schema"), "{said}");
        let args = ["fleet", "tree", input, "--schema", "cpu-profile", "--format", "folded"];
        let text = if input == &runs { warns(&args).0 } else { ok(&args) };
        let own = ok(&[&folder.path("runs/b.xml"), "--format", "folded"]);
        assert_eq!(folded(&text), folded(&own));
    }
}

#[test]
fn wrong_questions_are_refused() {
    let (folder, manifest) = fleet();
    let tree = |args: &[&str]| fails(2, &[&["fleet", "tree", &manifest], args].concat());
    for (args, expected) in [
        (&["--format", "csv", "--view", "tree"][..], "CSV is a table"),
        (&["--format", "folded", "--view", "functions"], "call trees only"),
        (&["--view", "functions", "--depth", "3"], "--depth only applies to trees"),
        (&["--normalize", "samples"], "--against"),
        (&["--normalize", "duration"], "--against"),
        (&["--format", "csv", "--min-percent", "3"], "--min-percent only applies"),
        (&["--against", "app_version=1.1", "--format", "json", "--min-percent", "3"], "--min-percent only applies"),
        (&["--against", "app_version=1.1", "--top", "3"], "--top only applies to tables"),
        (&["--format", "html", "--view", "bottom-up"], "leave out --view"),
        (&["--format", "html", "--depth", "3"], "leave out --depth"),
        (&["--against", "app_version=1.1", "--format", "folded"], "cannot show a difference"),
        (&["--against", "app_version=1.1", "--no-threads"], "a difference has no --no-threads"),
        (&["--invert"], "--view bottom-up"),
        (&["-o", "tree.pprof"], "cannot write PPROF here"),
    ] {
        let said = tree(args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let said = fails(1, &["fleet", "tree", &manifest, "--where", "app_version=9"]);
    assert!(said.contains("none of 24 runs has app_version=9"), "{said}");
    let said = fails(1, &["fleet", "tree", &manifest, "--against", "app_version=9", "--where", "app_version=1.0"]);
    assert!(said.contains("none of 24 runs has app_version=9"), "{said}");
    let page = folder.path("page.html");
    run(&["tree", &manifest, "-o", &page]).success().stderr("");
    assert!(fs::read_to_string(page).unwrap().contains("</html>"));
}
