//! dotTrace reports, compared with `tests/oracle/dottrace.py`.

use std::collections::BTreeMap;
use std::fmt::Write;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use support::mutations::change_known_of;

use crate::call_trees;
use crate::programs::{corpus, has_python};

const SCRIPT: &str = "dottrace.py";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python();
        changed_reports_are_those_of_the_oracle_or_refused, reports_with_other_words_are_those_of_the_oracle_or_refused];
    trials.extend(trials![if has_python() && corpus().is_some(); real_reports_are_those_of_the_oracle]);
    trials
}

fn real_reports_are_those_of_the_oracle() -> Result<(), Failed> {
    call_trees::real_files(SCRIPT, &["inputs/dottrace", "other/dottrace"], 1)
}

fn changed_reports_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    call_trees::changed_documents(SCRIPT, document)
}

fn reports_with_other_words_are_those_of_the_oracle_or_refused() -> Result<(), Failed> {
    const WORDS: [&str; 12] = [
        "Report",
        "Function",
        "Instance",
        "CallStack",
        "FQN",
        "TotalTime",
        "OwnTime",
        "Samples",
        "Calls",
        "Instances",
        "/",
        "Main",
    ];
    call_trees::changed_documents(SCRIPT, |rng| {
        let mut report = document(rng);
        (0..rng.below(2)).for_each(|_| change_known_of(rng, &mut report, &WORDS));
        report
    })
}

/// By stack: total and own time in units of half a millisecond.
type Tree = BTreeMap<Vec<&'static str>, (u64, u64)>;

/// A report of a random tree, with up to two changes.
fn document(rng: &mut Rng) -> Vec<u8> {
    let mut names = vec!["Main", "Shop.Store.Find", "Shop.Cache`1+Row.Get", "System.Linq.Any<T>", "é"];
    if rng.one_in(4) {
        names.extend(["Outer/Inner.Run", "Main/Shop.Store.Find"]);
    }
    let mut tree = Tree::new();
    for _ in 0..1 + rng.below(8) {
        let stack: Vec<&str> = (0..1 + rng.below(5)).map(|_| *rng.pick(&names)).collect();
        let own = *rng.pick(&[0, 1, 15, 100, 2_668]);
        for depth in 1..=stack.len() {
            let node = tree.entry(stack[..depth].to_vec()).or_default();
            *node = (node.0 + own, node.1 + if depth == stack.len() { own } else { 0 });
        }
    }
    let mut report = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Report>\n");
    for name in names.into_iter().filter(|_| !rng.one_in(12)) {
        function(name, &tree, &mut report);
    }
    report.push_str("</Report>\n");
    for _ in 0..rng.below(3) {
        change(rng, &mut report);
    }
    report.into_bytes()
}

fn function(name: &str, tree: &Tree, report: &mut String) {
    let instances: Vec<_> = tree.iter().filter(|(stack, _)| stack.last() == Some(&name)).collect();
    let [total, own] =
        [instances.iter().map(|(_, node)| node.0).sum::<u64>(), instances.iter().map(|(_, node)| node.1).sum()];
    let times = |total: u64, own: u64| format!("TotalTime=\"{}\" OwnTime=\"{}\"", time(total), time(own));
    let (fqn, count) = (escaped(name), instances.len());
    let _ =
        write!(report, "<Function Id=\"1\" FQN=\"{fqn}\" {} Samples=\"1\" Instances=\"{count}\">", times(total, own));
    for (stack, &(total, own)) in instances {
        let stack = escaped(&stack.join("/"));
        let _ = write!(report, "\n<Instance CallStack=\"{stack}\" {} Samples=\"1\"/>", times(total, own));
    }
    report.push_str("</Function>\n");
}

fn time(halves: u64) -> String {
    let (whole, half) = (halves / 2, if halves % 2 == 1 { ".5" } else { "" });
    if whole < 1_000 { format!("{whole}{half}") } else { format!("{},{:03}{half}", whole / 1_000, whole % 1_000) }
}

fn escaped(name: &str) -> String {
    name.replace('<', "&lt;").replace('>', "&#62;")
}

/// Changes one place.
fn change(rng: &mut Rng, report: &mut String) {
    let edits = [
        ("OwnTime=\"0\"", "OwnTime=\"1\""),
        ("OwnTime=\"7", "OwnTime=\"8"),
        (" Instances=\"1\"", ""),
        ("Instances=\"1\"", "Instances=\"2\""),
        ("CallStack=\"Main/", "CallStack=\""),
        ("CallStack=\"", "CallStack=\"Root/"),
        ("Samples=\"1\" Instances", "Calls=\"1\" Instances"),
        ("FQN=\"Main\"", "FQN=\"Mein\""),
        (".5\"", ",5\""),
        (".5\"", ".25\""),
        ("TotalTime=\"1", "TotalTime=\""),
        ("<Instance", "<!-- --><Instance"),
        ("Find\"", "Get\""),
        ("Report>", "Reports>"),
        ("\n", "\r\n"),
        ("Id=\"1\" ", ""),
    ];
    let &(from, to) = rng.pick(&edits);
    let places: Vec<usize> = report.match_indices(from).map(|(at, _)| at).collect();
    if !places.is_empty() {
        let at = *rng.pick(&places);
        report.replace_range(at..at + from.len(), to);
    }
}
