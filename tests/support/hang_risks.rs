//! Moments that may lead to hangs, with messages that consist of parts.

use super::cells::Document;

use super::shape::Column;
use super::xml::{duration_label, with_separators};

/// A moment at which a thread did something that may lead to a hang.
#[derive(Clone, Debug, PartialEq)]
pub struct HangRisk {
    pub time_ns: u64,
    pub message: Vec<Part>,
    pub severity: &'static str,
    pub event_type: &'static str,
    /// Any row of the thread.
    pub row: usize,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    /// The name of a signpost.
    Name(String),
    Number(u64),
    /// In nanoseconds.
    Duration(u64),
    /// A log message: parts with spaces between them.
    Log(Vec<Part>),
    None,
}

impl Part {
    /// The part as text.
    pub fn label(&self) -> String {
        match self {
            Part::Text(text) | Part::Name(text) => text.clone(),
            Part::Number(number) => with_separators(*number),
            Part::Duration(nanoseconds) => duration_label(*nanoseconds),
            Part::Log(parts) => parts.iter().map(Part::label).collect::<Vec<_>>().join(" "),
            Part::None => String::new(),
        }
    }
}

impl HangRisk {
    /// The message as text.
    pub fn label(&self) -> String {
        self.message.iter().map(Part::label).collect()
    }
}

const COLUMNS: [Column; 7] = [
    ("time", "Timestamp", "event-time"),
    ("process", "Process", "process"),
    ("message", "Message", "narrative"),
    ("severity", "Severity", "short-string"),
    ("event-type", "Event Type", "event-type"),
    ("backtrace", "Backtrace", "text-backtrace"),
    ("thread", "Thread", "thread"),
];

impl Document<'_> {
    pub fn hang_risks(&mut self, risks: &[HangRisk]) {
        self.schema("hang-risks", None, &COLUMNS);
        for risk in risks {
            let row = &self.recording.rows[risk.row];
            let label = risk.label();
            self.xml.start("row", &[]);
            self.time("event-time", risk.time_ns);
            self.process(self.recording.thread_of(row).process);
            self.element("narrative", &label, &[("fmt", &label)], |document| document.parts(&risk.message));
            self.value("short-string", risk.severity, risk.severity);
            self.value("event-type", risk.event_type, risk.event_type);
            self.sentinel();
            self.thread(row);
            self.xml.end("row");
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            let label = part.label();
            match part {
                Part::Text(text) => self.value("narrative-text", text, text),
                Part::Name(name) => self.value("signpost-name", name, name),
                Part::Number(number) => self.value("uint64", &label, &number.to_string()),
                Part::Duration(nanoseconds) => self.value("duration", &label, &nanoseconds.to_string()),
                Part::Log(parts) => {
                    // A log of an empty log has the same label, and must not refer to itself.
                    let content = format!("{parts:?}");
                    self.element("os-log-metadata", &content, &[("fmt", &label)], |document| document.parts(parts));
                }
                Part::None => self.sentinel(),
            }
        }
    }
}
