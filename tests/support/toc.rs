//! The table of contents as `xctrace export --toc` prints it: four spaces per level, attributes in any order.

use super::names::uuid;
use super::random::Rng;
use super::recording::Invented;
use super::shape::{Shape, Table};
use super::xml::{escape_attribute, escape_text};

/// The target of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Attached,
    Launched,
    AllProcesses,
}

#[derive(Clone, Debug)]
pub struct TocOptions {
    pub shape: Shape,
    /// The tables of every run, each at its usual index with others before it.
    pub tables: Vec<Table>,
    pub target: Target,
    pub device_name: String,
    pub template: String,
    /// `record-waiting-threads` of time-profile tables.
    pub waiting_threads: bool,
    /// The counter names of counters-profile tables.
    pub counters: Vec<String>,
    /// Determines the order of attributes.
    pub seed: u64,
}

impl TocOptions {
    pub fn new(shape: Shape, tables: Vec<Table>) -> TocOptions {
        TocOptions {
            shape,
            tables,
            target: Target::Launched,
            device_name: "Dev’s MacBook Pro".to_owned(),
            template: "Time Profiler".to_owned(),
            waiting_threads: false,
            counters: vec!["INST_ALL".to_owned(), "CORE_ACTIVE_CYCLE".to_owned()],
            seed: 1,
        }
    }
}

type Attributes = Vec<(&'static str, String)>;

struct Toc<'a> {
    recording: &'a Invented,
    options: &'a TocOptions,
    rng: Rng,
    out: String,
    depth: usize,
}

/// Writes the table of contents of a recording.
pub fn render_toc(recording: &Invented, options: &TocOptions) -> String {
    let out = "<?xml version=\"1.0\"?>\n\n".to_owned();
    let mut toc = Toc { recording, options, rng: Rng::new(options.seed), out, depth: 0 };
    toc.start("trace-toc", &[]);
    recording.runs().into_iter().for_each(|run| toc.run(run));
    toc.end("trace-toc");
    toc.out.trim_end().to_owned()
}

impl Toc<'_> {
    fn run(&mut self, run: u32) {
        self.start("run", &[("number", run.to_string())]);
        self.start("info", &[]);
        self.target();
        self.summary(run);
        self.end("info");
        self.processes();
        self.start("data", &[]);
        for index in 1..=self.options.tables.iter().map(|table| table.usual_index()).max().unwrap_or(0) {
            self.table(index);
        }
        self.end("data");
        self.empty("tracks", vec![]);
        self.end("run");
    }

    fn target(&mut self) {
        self.start("target", &[]);
        let device = vec![
            ("platform", "macOS".to_owned()),
            ("model", "MacBook Pro".to_owned()),
            ("name", self.options.device_name.clone()),
            ("os-version", "27.0 (26A101)".to_owned()),
            ("uuid", uuid(0x0012_34ab_cdef_5678, 0x9abc_def0_1234_5678)),
        ];
        self.empty("device", device);
        let main = &self.recording.processes[0];
        let process = |kind: &str| {
            vec![
                ("type", kind.to_owned()),
                ("return-exit-status", "0".to_owned()),
                ("name", main.name.clone()),
                ("pid", main.pid.to_string()),
                ("termination-reason", "exit(0)".to_owned()),
            ]
        };
        match self.options.target {
            Target::Attached => self.empty("process", process("attached")),
            Target::Launched => {
                let mut attributes = process("launched");
                attributes.push(("arguments", "--trees 40 --label \"late & ripe\"".to_owned()));
                self.empty("process", attributes);
            }
            Target::AllProcesses => self.empty("all-processes", vec![]),
        }
        self.end("target");
    }

    fn summary(&mut self, run: u32) {
        let last = self.recording.rows.iter().filter(|row| row.run == run).map(|row| row.time_ns).max().unwrap_or(0);
        let duration_ns = last + 12_345_678;
        let minute = 10 * run;
        let end_ms = 125 + duration_ns / 1_000_000;
        let at = |ms: u64| {
            format!(
                "2031-05-06T09:{:02}:{:02}.{:03}+02:00",
                u64::from(minute) + ms / 60_000,
                ms / 1_000 % 60,
                ms % 1_000
            )
        };
        self.start("summary", &[]);
        self.leaf("start-date", &at(125));
        self.leaf("end-date", &at(end_ms));
        self.leaf("duration", &format!("{}.{:06}", duration_ns / 1_000_000_000, duration_ns / 1_000 % 1_000_000));
        self.leaf("end-reason", "Target app exited");
        self.leaf("instruments-version", self.options.shape.instruments_version());
        self.leaf("template-name", &self.options.template);
        self.leaf("recording-mode", "Deferred");
        self.leaf("time-limit", "12 hours");
        if matches!(self.options.shape, Shape::Xcode26_4 | Shape::Xcode27 | Shape::TimeSample) {
            // The misspelling is in real exports.
            self.start("intruments-recording-settings", &[]);
            self.start("instrument", &[("name", "Hangs".to_owned())]);
            self.empty("array", vec![]);
            self.end("instrument");
            self.end("intruments-recording-settings");
        }
        self.end("summary");
    }

    fn processes(&mut self) {
        self.start("processes", &[]);
        for process in &self.recording.processes {
            self.empty(
                "process",
                vec![("name", process.name.clone()), ("pid", process.pid.to_string()), ("path", process.path.clone())],
            );
        }
        self.end("processes");
    }

    /// The table at an index: a requested one, or one of the many that every recording contains.
    fn table(&mut self, index: u32) {
        let wanted = self.options.tables.iter().copied().find(|table| table.usual_index() == index);
        let mut attributes = match wanted {
            Some(table) => self.wanted_table(table),
            None if index.is_multiple_of(4) => vec![("schema", "tick".to_owned()), ("frequency", "10".to_owned())],
            None => vec![
                ("schema", "kdebug".to_owned()),
                ("target", self.scope().to_owned()),
                ("codes", format!("\"0x2d,*\" \"0x1f,{index:#04x}\"")),
            ],
        };
        self.rng.shuffle(&mut attributes);
        if let Some(table) = wanted.filter(|_| self.options.shape.documents_schema()) {
            attributes.push(("documentation", table.documentation().to_owned()));
        }
        self.empty("table", attributes);
    }

    fn wanted_table(&mut self, table: Table) -> Attributes {
        let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
        let mut attributes = vec![("schema", table.schema().to_owned())];
        match table {
            Table::TimeProfile => attributes.extend([
                ("target-pid", self.scope().to_owned()),
                ("context-switch-sampling", flag(false)),
                ("high-frequency-sampling", flag(false)),
                ("needs-kernel-callstack", flag(false)),
                ("record-waiting-threads", flag(self.options.waiting_threads)),
            ]),
            Table::CpuProfile => attributes.extend([
                ("target-pid", self.scope().to_owned()),
                ("high-frequency-sampling", flag(false)),
                ("needs-kernel-callstack", flag(false)),
            ]),
            Table::CountersProfile { pmi } => {
                let events: Vec<String> = self.options.counters.iter().map(|name| format!("\"{name}\"")).collect();
                attributes.extend([
                    ("target-pid", self.scope().to_owned()),
                    ("trigger", if pmi { "pmi" } else { "time" }.to_owned()),
                    ("pmc-events", events.join(" ")),
                ]);
                if pmi {
                    attributes.push(("pmi-event", "\"CORE_ACTIVE_CYCLE\"".to_owned()));
                    attributes.push(("pmi-threshold", "1000000".to_owned()));
                }
            }
            Table::TimeSample => attributes.extend([
                ("target", self.scope().to_owned()),
                ("callstack", "user".to_owned()),
                ("all-thread-states", "NO".to_owned()),
                ("sample-rate-micro-seconds", "1000".to_owned()),
            ]),
        }
        attributes
    }

    fn scope(&self) -> &'static str {
        if self.options.target == Target::AllProcesses { "ALL" } else { "SINGLE" }
    }

    fn start(&mut self, tag: &str, attributes: &[(&str, String)]) {
        self.line_start(tag, attributes);
        self.out.push_str(">\n");
        self.depth += 1;
    }

    fn end(&mut self, tag: &str) {
        self.depth -= 1;
        self.indent();
        self.out.push_str(&format!("</{tag}>\n"));
    }

    fn leaf(&mut self, tag: &str, text: &str) {
        self.line_start(tag, &[]);
        self.out.push('>');
        escape_text(text, &mut self.out);
        self.out.push_str(&format!("</{tag}>\n"));
    }

    fn empty(&mut self, tag: &str, attributes: Attributes) {
        self.line_start(tag, &attributes);
        self.out.push_str("/>\n");
    }

    fn line_start(&mut self, tag: &str, attributes: &[(&str, String)]) {
        self.indent();
        self.out.push_str(&format!("<{tag}"));
        for (name, value) in attributes {
            self.out.push_str(&format!(" {name}=\""));
            escape_attribute(value, &mut self.out);
            self.out.push('"');
        }
    }

    fn indent(&mut self) {
        (0..self.depth).for_each(|_| self.out.push_str("    "));
    }
}
