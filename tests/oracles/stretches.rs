//! Intervals by name and hangs, compared with what `tests/oracle/stretches.py` computes with ElementTree and numpy; the first in real
//! exports, too.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::profile::{Selection, StateFilter};
use traceparse::recording::{Options, TableChoice};
use traceparse::report::{ReportOptions, View};

use crate::programs::{corpus, files, has_python, in_corpus, oracle, traceparse};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python(); random_recordings_agree];
    trials.extend(trials![if has_python() && corpus().is_some(); real_exports_agree]);
    trials.extend(trials![if corpus().is_some(); cpu_tables_are_tables]);
    trials
}

const STATES: [&str; 3] = ["Running", "Blocked", ""];
const FUNCTIONS: [&str; 6] = ["main", "run", "load", "layout", "write", "wait"];

fn between(rng: &mut Rng, least: u64, most: u64) -> u64 {
    least + rng.below(most - least + 1)
}

/// A recording of three threads, with random intervals in four tables. Every element is written anew, without references.
fn recording(rng: &mut Rng) -> String {
    let mut xml = "<?xml version=\"1.0\"?>\n<trace-query-result>\n".to_owned();
    let mut id = 0;
    let mut next = || {
        id += 1;
        id
    };
    let mut thread = |tid: u64| {
        let name = if tid == 1 {
            "Main Thread 0x1 (Orchard, pid: 7)".to_owned()
        } else {
            format!("worker {tid:#x} (Orchard, pid: 7)")
        };
        format!(
            "<thread id=\"{}\" fmt=\"{name}\"><tid id=\"{}\">{tid}</tid><process id=\"{}\" fmt=\"Orchard (7)\"><pid id=\"{}\">7</pid></process></thread>",
            next(),
            next(),
            next(),
            next()
        )
    };
    let span = 10_000_000 * between(rng, 20, 200);
    table(
        &mut xml,
        1,
        "time-profile",
        &[
            ("time", "sample-time"),
            ("thread", "thread"),
            ("thread-state", "thread-state"),
            ("weight", "weight"),
            ("stack", "backtrace"),
        ],
    );
    let mut number = 1_000_000;
    let mut own = || {
        number += 1;
        number
    };
    for _ in 0..between(rng, 50, 400) {
        let (time, weight) = (rng.below(span), 1_000_000 * between(rng, 1, 3));
        let state = match STATES[rng.below(3) as usize] {
            "" => "<sentinel/>".to_owned(),
            state => format!("<thread-state id=\"{}\" fmt=\"{state}\">{state}</thread-state>", own()),
        };
        let depth = between(rng, 1, 5);
        let frames: String = (0..depth)
            .map(|_| {
                let place = rng.below(FUNCTIONS.len() as u64);
                format!(
                    "<frame id=\"{}\" name=\"{}\" addr=\"{:#x}\"/>",
                    own(),
                    FUNCTIONS[place as usize],
                    0x1000 + place
                )
            })
            .collect();
        let _ = writeln!(
            xml,
            "<row><sample-time id=\"{}\">{time}</sample-time>{}{state}<weight id=\"{}\">{weight}</weight><backtrace id=\"{}\">{frames}</backtrace></row>",
            own(),
            thread(between(rng, 1, 3)),
            own(),
            own()
        );
    }
    xml.push_str("</node>\n");
    let tables: [(&str, &[(&str, &str)], &[&str]); 4] = [
        (
            "potential-hangs",
            &[("start", "start-time"), ("duration", "duration"), ("hang-type", "hang-type"), ("thread", "thread")],
            &["Hang", "Severe Hang"],
        ),
        (
            "os-signpost-interval",
            &[("start", "start-time"), ("duration", "duration"), ("name", "string"), ("start-thread", "thread")],
            &["Checkout", "Load", "42"],
        ),
        (
            "runloop-intervals",
            &[
                ("start", "start-time"),
                ("duration", "duration"),
                ("interval-type", "short-string"),
                ("thread", "thread"),
            ],
            &["Busy", "Runloop Run"],
        ),
        (
            "swiftui-update-groups",
            &[("start", "start-time"), ("duration", "duration"), ("label", "string"), ("thread", "thread")],
            &["", "A <b> & \"c\""],
        ),
    ];
    for (position, (schema, columns, names)) in (2..).zip(tables) {
        table(&mut xml, position, schema, columns);
        let mut starts: Vec<u64> = (0..rng.below(40)).map(|_| rng.below(span)).collect();
        starts.sort_unstable();
        // Equal rows would be one interval.
        starts.dedup();
        for start in starts {
            let duration = match rng.below(8) {
                0 if schema != "potential-hangs" => "<sentinel/>".to_owned(),
                _ => format!("<duration id=\"{}\">{}</duration>", own(), rng.below(span / 10)),
            };
            let kind = columns[2].1;
            let name = names[rng.below(names.len() as u64) as usize]
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('"', "&quot;");
            let thread = if rng.below(6) == 0 && schema != "potential-hangs" {
                "<sentinel/>".to_owned()
            } else {
                thread(between(rng, 1, 3))
            };
            let _ = writeln!(
                xml,
                "<row><start-time id=\"{}\">{start}</start-time>{duration}<{kind} id=\"{}\" fmt=\"{name}\">{name}</{kind}>{thread}</row>",
                own(),
                own()
            );
        }
        xml.push_str("</node>\n");
    }
    xml + "</trace-query-result>\n"
}

fn table(xml: &mut String, position: u32, schema: &str, columns: &[(&str, &str)]) {
    let _ = write!(xml, "<node xpath='//trace-toc[1]/run[1]/data[1]/table[{position}]'><schema name=\"{schema}\">");
    for (mnemonic, kind) in columns {
        let _ = write!(xml, "<col><mnemonic>{mnemonic}</mnemonic><engineering-type>{kind}</engineering-type></col>");
    }
    xml.push_str("</schema>\n");
}

/// Compares the intervals of an export, and its hangs.
fn compare(export: &Path, has_samples: bool) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let paths = ["intervals", "hangs"].map(|command| folder.path().join(format!("{command}.json")));
    let mut arguments = vec![export.as_os_str()];
    for (command, path) in ["intervals", "hangs"].into_iter().zip(&paths) {
        traceparse([OsStr::new(command), export.as_os_str(), OsStr::new("-o"), path.as_os_str()])?;
        arguments.push(path.as_os_str());
    }
    arguments.truncate(if has_samples { 3 } else { 2 });
    oracle("stretches.py", arguments).map(drop)
}

fn random_recordings_agree() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let export = folder.path().join("export.xml");
    for seed in 1..=40 {
        std::fs::write(&export, recording(&mut Rng::new(seed)))?;
        let failed = |failed: Failed| format!("seed {seed}: {}", failed.message().unwrap_or_default());
        compare(&export, true).map_err(failed)?;
    }
    Ok(())
}

fn real_exports_agree() -> Result<(), Failed> {
    let files = ["27/potential-hangs", "26.2/hangs_potential_hangs", "27/runloop-intervals", "27/fs-syscall"];
    files.iter().try_for_each(|file| compare(&in_corpus(&format!("xctrace/{file}.xml")), false))
}

/// The functions of a recording with their weights and samples, whatever the unit.
fn functions(xml: &[u8], table: Option<&str>) -> Result<Vec<(String, Option<String>, u64, u64, u64)>, Failed> {
    let table = table.map(|schema| TableChoice { schema: schema.to_owned(), weight: None });
    let recording = traceparse::read(xml, "export.xml", &Options { table, ..Options::default() })?;
    ensure!(recording.rejected() == 0, "{} rows are rejected", recording.rejected());
    let selection = Selection { states: StateFilter::All, ..Selection::default() };
    let report = recording.report(&ReportOptions { view: View::Functions, selection, ..ReportOptions::default() });
    let text = |text: Option<&str>| text.map(str::to_owned);
    let mut rows: Vec<_> = report
        .series
        .iter()
        .flat_map(|series| report.named_functions(series))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|row| {
            (
                row.name.unwrap_or_default().to_owned(),
                text(row.binary),
                row.self_weight,
                row.all_weight,
                row.all_samples,
            )
        })
        .collect();
    rows.sort();
    Ok(rows)
}

/// The reader of any table makes the same samples of CPU time as the reader of CPU tables, of every version.
fn cpu_tables_are_tables() -> Result<(), Failed> {
    let exports = files(&in_corpus("xctrace"), "time-profile.xml");
    ensure!(exports.len() >= 4, "only {} exports", exports.len());
    for path in exports {
        let xml = std::fs::read(&path)?;
        let (expected, found) = (functions(&xml, None)?, functions(&xml, Some("time-profile"))?);
        ensure!(
            !found.is_empty() && expected == found,
            "{}: {} functions, and {} as a table",
            path.display(),
            expected.len(),
            found.len()
        );
    }
    Ok(())
}
