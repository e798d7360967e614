//! `--format html`: the content of the page, read without the code that wrote it. `web/test/equality.mjs` compares what the page shows
//! with the command's JSON.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use support::page::{decoded, payload};

use crate::command::{Folder, fails, finish, fixture, json, ok, orchard, stderr_of, stdout_of, traceparse};
use crate::fleet_case::irregular_export;

/// A payload: its head, and the values of each column.
pub(crate) struct Payload {
    pub(crate) head: Value,
    columns: Vec<(String, Vec<u64>)>,
    texts: Vec<String>,
}

impl Payload {
    pub(crate) fn of(page: &str) -> Self {
        Self::named("profile", page)
    }

    /// The payload in the element of an id.
    pub(crate) fn named(id: &str, page: &str) -> Self {
        let bytes = payload(id, page);
        let mut rest = bytes.strip_prefix(b"TPWB").expect("its first bytes");
        let length = varint(&mut rest) as usize;
        let (head, mut rest) = rest.split_at(length);
        let head: Value = serde_json::from_slice(head).unwrap();
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for column in head["columns"].as_array().unwrap() {
            let values = values(column, &mut rest);
            if column["name"] == "texts.length" {
                for &length in &values {
                    let (text, behind) = rest.split_at(length as usize);
                    texts.push(String::from_utf8(text.to_vec()).unwrap());
                    rest = behind;
                }
            }
            columns.push((column["name"].as_str().unwrap().to_owned(), values));
        }
        assert!(rest.is_empty(), "{} bytes behind the columns", rest.len());
        Self { head, columns, texts }
    }

    /// The functions as links name them: `NAME@BINARY`.
    pub(crate) fn functions(&self) -> Vec<String> {
        let binary = |index: u64| self.head["binaries"][index as usize]["name"].as_str().expect("a name");
        let rows = self.column("functions.name").iter().zip(self.column("functions.binary"));
        let named = rows.map(|(&name, &owner)| match owner.checked_sub(1) {
            Some(owner) => format!("{}@{}", self.texts[name as usize], binary(owner)),
            None => self.texts[name as usize].clone(),
        });
        named.collect()
    }

    pub(crate) fn column(&self, name: &str) -> &[u64] {
        &self.columns.iter().find(|(column, _)| column == name).unwrap_or_else(|| panic!("a column {name}")).1
    }
}

fn values(column: &Value, bytes: &mut &[u8]) -> Vec<u64> {
    let mut before = 0_u64;
    let values = (0..column["rows"].as_u64().unwrap()).map(|_| match column["encoding"].as_str().unwrap() {
        "constant" => column["value"].as_u64().unwrap(),
        "varint" => varint(bytes),
        "delta" => {
            let number = varint(bytes);
            let half = number >> 1;
            before = if number & 1 == 0 { before.wrapping_add(half) } else { before.wrapping_sub(half + 1) };
            before
        }
        other => panic!("{other} is no encoding"),
    });
    values.collect()
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0.. {
        let (&byte, rest) = bytes.split_first().expect("another byte");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    value
}

#[test]
fn the_page_has_every_sample_of_every_state() {
    for path in
        [orchard(), fixture("27/time-profile-waiting"), fixture("27/several-tables"), fixture("26.4/time-sample")]
    {
        let payload = Payload::of(&ok(&[&path, "--format", "html"]));
        let samples = json(&[&path, "--view", "samples"]);
        let mut expected: Vec<(u64, u64, u64, bool)> = Vec::new();
        for (series, row) in
            samples["samples"].as_array().unwrap().iter().map(|row| (row["series"].as_u64().unwrap(), row))
        {
            expected.push((
                series,
                row["time_ns"].as_u64().unwrap(),
                row["weight"].as_u64().unwrap(),
                row["stack"].is_null(),
            ));
        }
        expected.sort_by_key(|&(series, time, ..)| (series, time));
        let mut series_of_rows = Vec::new();
        for (index, series) in payload.head["series"].as_array().unwrap().iter().enumerate() {
            let weight: u64 = expected.iter().filter(|row| row.0 == index as u64).map(|row| row.2).sum();
            assert_eq!(series["weight"], weight.to_string(), "{path}");
            series_of_rows.extend(vec![index as u64; series["rows"].as_u64().unwrap() as usize]);
        }
        let [times, weights, stacks] =
            ["time", "weight", "stack"].map(|name| payload.column(&format!("samples.{name}")));
        let rows = series_of_rows.into_iter().zip(times).zip(weights).zip(stacks);
        let found: Vec<_> =
            rows.map(|(((series, &time), &weight), &stack)| (series, time, weight, stack == 0)).collect();
        assert_eq!(found, expected, "{path}");
        assert!(!found.is_empty());
    }
}

#[test]
fn functions_have_their_names() {
    let payload = Payload::of(&ok(&[&orchard(), "--format", "html"]));
    let name = |&index: &u64| payload.texts[index as usize].as_str();
    let names: Vec<&str> = payload.column("functions.name").iter().map(name).collect();
    let functions = json(&[&orchard(), "--view", "functions", "--state", "all"]);
    let functions = functions["functions"].as_array().unwrap();
    assert!(functions.len() > 30);
    for function in functions.iter().filter(|row| row["function"] != "[no stack recorded]") {
        assert!(names.contains(&function["function"].as_str().unwrap()), "{function}");
    }
    assert_eq!(payload.column("frames.function").len(), payload.column("frames.address").len());
}

#[test]
fn filters_choose_what_is_in_the_page() {
    let all = Payload::of(&ok(&[&orchard(), "--format", "html"]));
    let part = Payload::of(&ok(&[&orchard(), "--format", "html", "--thread", "Main Thread", "--time", "0.4..0.5"]));
    let samples = json(&[&orchard(), "--view", "samples", "--thread", "Main Thread", "--time", "0.4..0.5"]);
    let count = samples["samples"].as_array().unwrap().len();
    assert_eq!(part.column("samples.time").len(), count);
    assert!(count > 0 && count < all.column("samples.time").len());
    assert_eq!(part.head["summary"]["asked"]["threads"][0], "Main Thread");
    let operated = Payload::of(&ok(&[&orchard(), "--format", "html", "--hide-system"]));
    assert_eq!(operated.head["summary"]["operations"][0]["operation"], "--hide-system");
}

#[test]
fn reports_of_sample_are_sums() {
    let folder = Folder::new();
    let report = &support::repository("fixtures/sample/demo.sample.txt").display().to_string();
    let page = folder.path("page.html");
    ok(&[report, "-o", &page]);
    let payload = Payload::of(&fs::read_to_string(&page).unwrap());
    assert_eq!(payload.head["form"], "sums");
    let threads = json(&[report, "--view", "threads", "--state", "all"]);
    let expected: u64 = threads["threads"].as_array().unwrap().iter().map(|row| row["samples"].as_u64().unwrap()).sum();
    assert_eq!(payload.column("samples.count").iter().sum::<u64>(), expected);
    assert!(expected > payload.column("samples.count").len() as u64);
}

/// The properties that samples in one bin share, as the command lists them; without a bin, they may have any time and core.
fn key(row: &Value, bin: Option<u64>) -> String {
    let place = bin.map(|bin| (row["time_ns"].as_u64().unwrap() / bin, row["core"].to_string()));
    format!("{} {place:?} {} {} {} {}", row["series"], row["tid"], row["pid"], row["stack"], row["state"])
}

#[test]
fn larger_pages_join_samples_that_are_close_in_time() {
    let folder = Folder::new();
    let path = folder.file("busy.xml", irregular_export(20_000));
    let whole = ok(&[&path, "--format", "html"]);
    let all = Payload::of(&whole);
    assert_eq!((all.column("samples.time").len(), &all.head["reduction"]), (20_000, &Value::Null));
    let samples = json(&[&path, "--view", "samples"]);
    let samples = samples["samples"].as_array().unwrap();
    let mut seen = Vec::new();
    // In percent of the payload.
    for percent in [90, 60, 20, 5] {
        let rest = whole.len() - payload_length(&whole);
        let size = rest + 4_096 + payload_length(&whole) * percent / 100;
        let done = finish(&mut traceparse(&[&path, "--format", "html", "--max-size", &size.to_string()])).success();
        let (page, said) = (stdout_of(&done), stderr_of(&done));
        assert!(page.len() <= size, "{} > {size}", page.len());
        assert!(said.contains("the page would be larger than") && said.contains("are joined"), "{said}");
        let reduced = Payload::of(&page);
        let reduction = &reduced.head["reduction"];
        let bin = reduction["bin_ns"].as_u64();
        assert_eq!(reduced.head["form"] == "sums", reduction["kind"] == "sums");
        let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for row in samples {
            let sum = expected.entry(key(row, bin)).or_default();
            *sum = (sum.0 + row["weight"].as_u64().unwrap(), sum.1 + 1);
        }
        let mut expected: Vec<(u64, u64)> = expected.into_values().collect();
        let [weights, counts] = ["weight", "count"].map(|name| reduced.column(&format!("samples.{name}")));
        let mut found: Vec<(u64, u64)> = weights.iter().copied().zip(counts.iter().copied()).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{reduction}");
        assert!(reduced.column("samples.time").is_sorted());
        assert_eq!(reduced.head["series"][0]["weight"], all.head["series"][0]["weight"]);
        seen.push(reduction.to_string());
    }
    seen.dedup();
    assert!(seen.len() > 1, "several rules: {seen:?}");
    let error = fails(1, &[&path, "--format", "html", "--max-size", "1kB"]);
    assert!(error.contains("even if no times were kept") && error.contains("--max-size is 1kB"), "{error}");
    let error = fails(2, &[&path, "--view", "tree", "--max-size", "1kB"]);
    assert!(error.contains("--max-size only applies to --format html"), "{error}");
}

fn payload_length(page: &str) -> usize {
    page.split_once("<script id=\"profile\" type=\"application/octet-stream\">")
        .unwrap()
        .1
        .split_once("</script>")
        .unwrap()
        .0
        .len()
}

#[test]
fn names_run_nothing() {
    let folder = Folder::new();
    let attack = "&lt;/script>&lt;script>alert(1)&lt;/script>&lt;!--";
    let named = folder.edited("27/orchard", &[("orchard::checksum", attack)]);
    let path = folder.path("</title><script>x.xml");
    // A slash would be a folder.
    let path = path.replace("</title>", "<title>");
    fs::copy(named, &path).unwrap();
    let page = ok(&[&path, "--format", "html"]);
    assert!(!page.contains("alert(1)") && !page.contains("<title><script>x"), "names stand in the payload only");
    assert!(page.contains("<title>&lt;title&gt;&lt;script&gt;x.xml"));
    // The engine, the payload, and the page's own script.
    assert_eq!(page.matches("<script").count(), 3 + SCRIPT.matches("<script").count());
    assert!(Payload::of(&page).texts.iter().any(|text| text.contains("</script><script>alert(1)")));
}

const SCRIPT: &str = include_str!("../../src/output/workbench/workbench.js");

#[test]
fn the_policy_lets_the_page_run_its_own_script_only() {
    let page = ok(&[&orchard(), "--format", "html"]);
    let (_, policy) = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
    let policy: Vec<&str> = policy.split_once('"').unwrap().0.split("; ").collect();
    assert_eq!(policy[0], "default-src 'none'");
    let script = policy[1].strip_suffix(" 'wasm-unsafe-eval'").expect("the engine is WebAssembly");
    for (directive, rule) in [("script-src", script), ("style-src", policy[2])] {
        let hash = rule.strip_prefix(directive).unwrap().trim().strip_prefix("'sha256-").unwrap();
        assert_eq!(decoded(hash.strip_suffix('\'').unwrap()).len(), 32, "{rule}");
    }
    assert_eq!(policy[3], "img-src data: blob:");
    assert_eq!(page, ok(&[&orchard(), "--format", "html"]), "equal input gives an equal page");
}
