//! Intervals by name and hangs, compared with the results of `tests/oracle/stretches.py`, which uses ElementTree and numpy.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::profile::{Selection, StateFilter};
use traceparse::recording::{Options, TableChoice};
use traceparse::report::{NamedFunction, ReportOptions, View};

use crate::programs::{corpus, files, has_python, in_corpus, oracle, traceparse};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if has_python(); random_recordings_agree];
    trials.extend(trials![if corpus().is_some(); cpu_tables_are_tables]);
    trials
}

const STATES: [&str; 3] = ["Running", "Blocked", ""];
const FUNCTIONS: [&str; 6] = ["main", "run", "load", "layout", "write", "wait"];

fn between(rng: &mut Rng, least: u64, most: u64) -> u64 {
    least + rng.below(most - least + 1)
}

/// A table of intervals: its schema, the column and type of its name, the column of its thread, and names.
struct IntervalTable {
    schema: &'static str,
    name: (&'static str, &'static str),
    thread: &'static str,
    names: &'static [&'static str],
}

const TABLES: [IntervalTable; 5] = [
    IntervalTable {
        schema: "potential-hangs",
        name: ("hang-type", "hang-type"),
        thread: "thread",
        names: &["Hang", "Severe Hang"],
    },
    IntervalTable {
        schema: "os-signpost-interval",
        name: ("name", "string"),
        thread: "start-thread",
        names: &["Checkout", "Load", "42"],
    },
    IntervalTable {
        schema: "runloop-intervals",
        name: ("interval-type", "short-string"),
        thread: "thread",
        names: &["Busy", "Runloop Run"],
    },
    IntervalTable {
        schema: "swiftui-update-groups",
        name: ("label", "string"),
        thread: "thread",
        names: &["", "A &lt;b&gt; &amp; &quot;c&quot;"],
    },
    IntervalTable { schema: "fs-syscall", name: ("syscall", "syscall"), thread: "thread", names: &["fsync", "read"] },
];

/// A recording of three threads, with random intervals in four tables. Every element is written anew, without references.
struct Recording<'r> {
    rng: &'r mut Rng,
    xml: String,
    id: u64,
    /// The length of the recording.
    span: u64,
}

impl Recording<'_> {
    fn id(&mut self) -> u64 {
        self.id += 1;
        self.id
    }

    /// An element with an id.
    fn element(&mut self, kind: &str, attributes: &str, content: &str) -> String {
        format!("<{kind} id=\"{}\"{attributes}>{content}</{kind}>", self.id())
    }

    fn thread(&mut self) -> String {
        let tid = between(self.rng, 1, 3);
        let name = if tid == 1 { "Main Thread".to_owned() } else { format!("worker {tid}") };
        let pid = self.element("pid", "", "7");
        let process = self.element("process", " fmt=\"Orchard (7)\"", &pid);
        let number = self.element("tid", "", &tid.to_string());
        self.element("thread", &format!(" fmt=\"{name} {tid:#x} (Orchard, pid: 7)\""), &(number + &process))
    }

    fn table(&mut self, position: usize, schema: &str, columns: &[(&str, &str)]) {
        let xpath = format!("//trace-toc[1]/run[1]/data[1]/table[{position}]");
        let _ = write!(self.xml, "<node xpath='{xpath}'><schema name=\"{schema}\">");
        for (mnemonic, kind) in columns {
            let _ = write!(
                self.xml,
                "<col><mnemonic>{mnemonic}</mnemonic><engineering-type>{kind}</engineering-type></col>"
            );
        }
        self.xml.push_str("</schema>\n");
    }

    fn samples(&mut self) {
        let kinds = ["sample-time", "thread", "thread-state", "weight", "backtrace"];
        let columns = ["time", "thread", "thread-state", "weight", "stack"];
        let columns: Vec<_> = columns.into_iter().zip(kinds).collect();
        self.table(1, "time-profile", &columns);
        for _ in 0..between(self.rng, 50, 400) {
            let (time, weight) = (self.rng.below(self.span), 1_000_000 * between(self.rng, 1, 3));
            let time = self.element("sample-time", "", &time.to_string());
            let thread = self.thread();
            let state = match *self.rng.pick(&STATES) {
                "" => "<sentinel/>".to_owned(),
                state => self.element("thread-state", &format!(" fmt=\"{state}\""), state),
            };
            let weight = self.element("weight", "", &weight.to_string());
            let frames: String = (0..between(self.rng, 1, 5)).map(|_| self.frame()).collect();
            let stack = self.element("backtrace", "", &frames);
            let _ = writeln!(self.xml, "<row>{time}{thread}{state}{weight}{stack}</row>");
        }
        self.xml.push_str("</node>\n");
    }

    fn frame(&mut self) -> String {
        let place = self.rng.index(FUNCTIONS.len());
        let attributes = format!(" name=\"{}\" addr=\"{:#x}\"", FUNCTIONS[place], 0x1000 + place);
        self.element("frame", &attributes, "")
    }

    fn intervals(&mut self, position: usize, table: &IntervalTable) {
        let columns = [("start", "start-time"), ("duration", "duration"), table.name, (table.thread, "thread")];
        self.table(position, table.schema, &columns);
        // Hangs are compared in the order of their starts.
        let starts: BTreeSet<u64> = (0..=self.rng.below(40)).map(|_| self.rng.below(self.span)).collect();
        let is_of_hangs = table.schema == "potential-hangs";
        for (index, start) in starts.into_iter().enumerate() {
            let start = self.element("start-time", "", &start.to_string());
            let length = self.rng.below(self.span / 10);
            let duration = match self.rng.one_in(8) && !is_of_hangs {
                true => "<sentinel/>".to_owned(),
                false => self.element("duration", "", &length.to_string()),
            };
            let name = *self.rng.pick(table.names);
            let name = self.element(table.name.1, &format!(" fmt=\"{name}\""), name);
            let thread = match self.rng.one_in(6) && !is_of_hangs && index > 0 {
                true => "<sentinel/>".to_owned(),
                false => self.thread(),
            };
            let _ = writeln!(self.xml, "<row>{start}{duration}{name}{thread}</row>");
        }
        self.xml.push_str("</node>\n");
    }
}

fn recording(rng: &mut Rng) -> String {
    let span = 10_000_000 * between(rng, 20, 200);
    let xml = "<?xml version=\"1.0\"?>\n<trace-query-result>\n".to_owned();
    let mut recording = Recording { rng, xml, id: 0, span };
    recording.samples();
    for (position, table) in (2..).zip(&TABLES) {
        recording.intervals(position, table);
    }
    recording.xml + "</trace-query-result>\n"
}

/// Compares the intervals of an export, and its hangs.
fn compare(export: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let paths = ["intervals", "hangs", "trees"].map(|name| folder.path().join(format!("{name}.json")));
    let commands = [&["intervals"][..], &["hangs"], &["--separate-by", "interval", "--view", "tree"]];
    let mut arguments = vec![export.as_os_str()];
    for (command, path) in commands.iter().zip(&paths) {
        let output = [export.as_os_str(), OsStr::new("-o"), path.as_os_str()];
        traceparse(command.iter().map(OsStr::new).chain(output))?;
        arguments.push(path.as_os_str());
    }
    oracle("stretches.py", arguments).map(drop)
}

fn random_recordings_agree() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let export = folder.path().join("export.xml");
    for seed in 1..=40 {
        std::fs::write(&export, recording(&mut Rng::new(seed)))?;
        let failed = |failed: Failed| format!("seed {seed}: {}", failed.message().unwrap_or_default());
        compare(&export).map_err(failed)?;
    }
    Ok(())
}

/// The functions of a recording with their binaries, weights and samples, regardless of the unit.
fn functions(xml: &[u8], table: Option<&str>) -> Result<Vec<String>, Failed> {
    let table = table.map(|schema| TableChoice { schema: schema.to_owned(), weight: None });
    let recording = traceparse::read(xml, "export.xml", &Options { table, ..Options::default() })?;
    ensure!(recording.rejected() == 0, "{} rows are rejected", recording.rejected());
    let selection = Selection { states: StateFilter::All, ..Selection::default() };
    let report = recording.report(&ReportOptions { view: View::Functions, selection, ..ReportOptions::default() });
    let row = |row: NamedFunction<'_>| {
        let sums = [row.self_weight.value, row.all_weight.value, row.self_samples, row.all_samples];
        format!("{:?} {:?} {sums:?}", row.name, row.binary)
    };
    let mut rows: Vec<String> =
        report.series.iter().flat_map(|series| report.named_functions(series).map(row).collect::<Vec<_>>()).collect();
    rows.sort();
    Ok(rows)
}

/// The reader of any table makes the same samples of CPU time as the reader of CPU tables, of every version.
fn cpu_tables_are_tables() -> Result<(), Failed> {
    let exports = files(&in_corpus("xctrace"), "/time-profile.xml");
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
