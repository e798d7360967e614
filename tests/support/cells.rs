//! Writes the cells of a row, and the ids with which equal cells are written only once.
//!
//! Ids count up from 1 through the complete document, in the order in which elements open. If an element's content was written before with
//! the same tag, it becomes `<tag ref="N"/>`. Because the content decides, a `process` is first defined inside the `thread` that refers to
//! it, a `binary` inside the first frame that uses it, and two samples at the same time share even their `sample-time`.

use std::collections::HashMap;

use super::recording::{CoreKind, Invented, Row};
use super::shape::{Shape, Table};
use super::stacks::StackKey;
use super::xml::{Layout, Xml, counters_label, duration_label, time_label};

/// A document being written.
pub struct Document<'a> {
    pub recording: &'a Invented,
    pub shape: Shape,
    /// Whether pointer authentication bits leak into the addresses of callers.
    pub pointer_authentication: bool,
    pub xml: Xml,
    /// The number of the last address fragment; raw stacks and stacks before 14.3 number them.
    pub fragments: u64,
    /// The ids of written stacks, by the recorded stack.
    pub stacks: HashMap<StackKey, String>,
    ids: HashMap<String, u64>,
    last_id: u64,
}

impl<'a> Document<'a> {
    pub fn new(recording: &'a Invented, shape: Shape, layout: Layout) -> Document<'a> {
        Document {
            recording,
            shape,
            pointer_authentication: false,
            xml: Xml::new(layout),
            fragments: 0,
            stacks: HashMap::new(),
            ids: HashMap::new(),
            last_id: 0,
        }
    }

    /// Returns the id of an element: a new one in `Ok` if `content` is new for `tag`, the earlier one in `Err` otherwise.
    fn id_for(&mut self, tag: &str, content: &str) -> Result<String, String> {
        let key = format!("{tag}\u{0}{content}");
        if let Some(id) = self.ids.get(&key) {
            return Err(id.to_string());
        }
        self.last_id += 1;
        self.ids.insert(key, self.last_id);
        Ok(self.last_id.to_string())
    }

    /// Writes an element with children, or a `ref` to an equal earlier one. `content` must identify the element. Returns the id.
    pub fn element(
        &mut self,
        tag: &str,
        content: &str,
        attributes: &[(&str, &str)],
        children: impl FnOnce(&mut Self),
    ) -> String {
        match self.id_for(tag, content) {
            Err(id) => {
                self.xml.empty(tag, &[("ref", &id)]);
                id
            }
            Ok(id) => {
                self.xml.start(tag, &with_id(&id, attributes));
                children(self);
                self.xml.end(tag);
                id
            }
        }
    }

    /// Writes an element that contains only text, or a `ref`.
    pub fn value(&mut self, tag: &str, label: &str, text: &str) {
        match self.id_for(tag, &format!("{label}\u{0}{text}")) {
            Err(id) => self.xml.empty(tag, &[("ref", &id)]),
            Ok(id) => self.xml.leaf(tag, &[("id", &id), ("fmt", label)], text),
        }
    }

    /// Like [`Document::value`], for a label that is not part of the identity.
    pub fn text_with_content(&mut self, tag: &str, content: &str, label: &str, text: &str) {
        match self.id_for(tag, content) {
            Err(id) => self.xml.empty(tag, &[("ref", &id)]),
            Ok(id) => self.xml.leaf(tag, &[("id", &id), ("fmt", label)], text),
        }
    }

    /// Writes text without a display string, such as the `path` of a source.
    pub fn plain_value(&mut self, tag: &str, text: &str) {
        match self.id_for(tag, text) {
            Err(id) => self.xml.empty(tag, &[("ref", &id)]),
            Ok(id) => self.xml.leaf(tag, &[("id", &id)], text),
        }
    }

    /// Writes an element that has only attributes, or a `ref`.
    pub fn attributes_only(&mut self, tag: &str, content: &str, attributes: &[(&str, &str)]) {
        match self.id_for(tag, content) {
            Err(id) => self.xml.empty(tag, &[("ref", &id)]),
            Ok(id) => self.xml.empty(tag, &with_id(&id, attributes)),
        }
    }

    /// True if an equal element was written before.
    pub fn knows(&self, tag: &str, content: &str) -> bool {
        self.ids.contains_key(&format!("{tag}\u{0}{content}"))
    }

    pub fn sentinel(&mut self) {
        self.xml.empty("sentinel", &[]);
    }

    /// Writes one row of a table with samples.
    pub fn sample_row(&mut self, table: Table, row: &Row) {
        self.xml.start("row", &[]);
        self.time("sample-time", row.time_ns);
        self.thread(row);
        match table {
            Table::TimeProfile | Table::CpuProfile => {
                self.process(self.recording.thread_of(row).process);
                self.core(row.core);
                self.value("thread-state", row.state, row.state);
                self.weight(table, row.weight);
                self.stack(row);
            }
            Table::CountersProfile { .. } => {
                self.process(self.recording.thread_of(row).process);
                self.core(row.core);
                self.value("thread-state", row.state, row.state);
                self.stack(row);
                self.weight(table, row.weight);
                self.counters(&row.counters);
            }
            Table::TimeSample => {
                self.core(row.core);
                self.value("thread-state", row.state, row.state);
                self.sentinel();
                self.kperf_stack(row);
                self.value("time-sample-kind", row.kind.label(), &row.kind.code().to_string());
            }
        }
        self.xml.end("row");
    }

    pub fn time(&mut self, tag: &str, nanoseconds: u64) {
        self.value(tag, &time_label(nanoseconds), &nanoseconds.to_string());
    }

    pub fn duration(&mut self, nanoseconds: u64) {
        self.value("duration", &duration_label(nanoseconds), &nanoseconds.to_string());
    }

    pub fn thread(&mut self, row: &Row) {
        let thread = self.recording.thread_of(row);
        let process = self.recording.process_of(row);
        let name = self.recording.thread_name_of(row);
        let label = self.shape.thread_label(name, thread.tid, &process.name, process.pid);
        self.element("thread", &label, &[("fmt", &label)], |document| {
            document.value("tid", &format!("{:#x}", thread.tid), &thread.tid.to_string());
            document.process(thread.process);
        });
    }

    pub fn process(&mut self, index: usize) {
        let process = &self.recording.processes[index];
        let label = format!("{} ({})", process.name, process.pid);
        let pid = process.pid.to_string();
        self.element("process", &label, &[("fmt", &label)], |document| {
            document.value("pid", &pid, &pid);
            document.value("device-session", "TODO", "TODO");
        });
    }

    fn core(&mut self, core: Option<(u32, CoreKind)>) {
        match core {
            Some((index, kind)) => self.value("core", &self.shape.core_label(index, kind), &index.to_string()),
            None => self.sentinel(),
        }
    }

    fn weight(&mut self, table: Table, weight: u64) {
        let (tag, label) = match table {
            Table::CpuProfile => ("cycle-weight", self.shape.count_label(weight)),
            // Events have no unit in any version, so this uses the spelling of the versions without units.
            Table::CountersProfile { pmi: true } => ("pmc-event", Shape::Xcode27.count_label(weight)),
            _ => ("weight", duration_label(weight)),
        };
        self.value(tag, &label, &weight.to_string());
    }

    fn counters(&mut self, counters: &[u64]) {
        let values: Vec<String> = counters.iter().map(u64::to_string).collect();
        self.value("pmc-events", &counters_label(counters), &values.join(" "));
    }
}

fn with_id<'a>(id: &'a str, attributes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("id", id)];
    all.extend_from_slice(attributes);
    all
}
