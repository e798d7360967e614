//! Signposts in the two tables that contain them: intervals as rows, and their ends as rows.

use super::cells::Document;
use super::shape::Column;
use super::xml::time_label;

/// A time range that a program marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Signpost {
    pub name: String,
    pub subsystem: String,
    pub category: String,
    /// Real identifiers may exceed signed 64-bit numbers: `OS_SIGNPOST_ID_EXCLUSIVE`.
    pub identifier: u64,
    /// `Thread`, `Process` or `System`.
    pub scope: &'static str,
    /// `None` if the recording contains only the end.
    pub start_ns: Option<u64>,
    /// `None` if the recording ended earlier.
    pub end_ns: Option<u64>,
    /// Any rows of the threads on which it began and ended.
    pub rows: (usize, usize),
}

impl Signpost {
    /// An interval that begins and ends on one thread.
    pub fn new(name: &str, start_ns: u64, end_ns: u64, row: usize) -> Signpost {
        Signpost {
            name: name.to_owned(),
            subsystem: "com.example.orchard".to_owned(),
            category: "work".to_owned(),
            identifier: 0xeeee_b0b5_b2b2_eeee,
            scope: "Process",
            start_ns: Some(start_ns),
            end_ns: Some(end_ns),
            rows: (row, row),
        }
    }

    /// One event for each end of an interval, in order of time, and a single point with every third beginning. Returns the time, the type
    /// and the row of the thread.
    pub fn events(signposts: &[Signpost]) -> Vec<(u64, &'static str, usize, &Signpost)> {
        let mut events = Vec::new();
        for (index, signpost) in signposts.iter().enumerate() {
            events.extend(signpost.start_ns.map(|time| (time, "Begin", signpost.rows.0, signpost)));
            events.extend(
                signpost.start_ns.filter(|_| index % 3 == 0).map(|time| (time, "Event", signpost.rows.0, signpost)),
            );
            events.extend(signpost.end_ns.map(|time| (time, "End", signpost.rows.1, signpost)));
        }
        events.sort_by_key(|(time, ..)| *time);
        events
    }
}

const INTERVAL_COLUMNS: [Column; 18] = [
    ("start", "Start", "start-time"),
    ("duration", "Duration", "duration"),
    ("layout-qualifier", "Layout ID", "layout-id"),
    ("name", "Name", "string"),
    ("category", "Category", "category"),
    ("subsystem", "Subsystem", "subsystem"),
    ("identifier", "Identifier", "os-signpost-identifier"),
    ("process", "Start Process", "process"),
    ("end-process", "End Process", "process"),
    ("start-thread", "Start Thread", "thread"),
    ("end-thread", "End Thread", "thread"),
    ("start-message", "Start Message", "os-log-metadata"),
    ("end-message", "End Message", "os-log-metadata"),
    ("start-backtrace", "Start Backtrace", "text-backtrace"),
    ("end-backtrace", "End Backtrace", "text-backtrace"),
    ("start-emit-location", "Start Emit Location", "return-location"),
    ("end-emit-location", "End Emit Location", "return-location"),
    ("signature", "Signature", "os-log-metadata"),
];

const EVENT_COLUMNS: [Column; 13] = [
    ("time", "Timestamp", "event-time"),
    ("thread", "Thread", "thread"),
    ("process", "Process", "process"),
    ("event-type", "Event Type", "event-type"),
    ("scope", "Scope", "string"),
    ("identifier", "Signpost identifier", "os-signpost-identifier"),
    ("name", "Name", "signpost-name"),
    ("format-string", "Format String", "format-string"),
    ("backtrace", "Backtrace", "text-backtrace"),
    ("subsystem", "Subsystem", "subsystem"),
    ("category", "Category", "category"),
    ("message", "Message", "os-log-metadata"),
    ("emit-location", "Emit Location", "return-location"),
];

impl Document<'_> {
    /// Writes a row for each interval with both ends, in the order they began. `is_recent` selects the table of Xcode 27.
    pub fn signpost_intervals(&mut self, signposts: &[Signpost], is_recent: bool) {
        let (table, name) =
            if is_recent { ("OSSignpostIntervals", "signpost-name") } else { ("os-signpost-interval", "string") };
        let mut columns = INTERVAL_COLUMNS;
        columns[3].2 = name;
        self.schema(table, None, &columns);
        let mut whole: Vec<(u64, u64, &Signpost)> =
            signposts.iter().filter_map(|signpost| Some((signpost.start_ns?, signpost.end_ns?, signpost))).collect();
        whole.sort_by_key(|(start, end, _)| (*start, *end));
        for (start, end, signpost) in whole {
            let rows = [signpost.rows.0, signpost.rows.1].map(|row| &self.recording.rows[row]);
            let processes = rows.map(|row| self.recording.thread_of(row).process);
            self.xml.start("row", &[]);
            self.time("start-time", start);
            self.duration(end - start);
            self.value("layout-id", "0", "0");
            self.value(name, &signpost.name, &signpost.name);
            self.value("category", &signpost.category, &signpost.category);
            self.value("subsystem", &signpost.subsystem, &signpost.subsystem);
            self.identifier(signpost.identifier);
            processes.into_iter().for_each(|process| self.process(process));
            rows.into_iter().for_each(|row| self.thread(row));
            self.message(&signpost.name);
            (0..5).for_each(|_| self.sentinel());
            self.message(&signpost.name);
            self.xml.end("row");
        }
    }

    /// Writes a row for each event.
    pub fn signpost_events(&mut self, signposts: &[Signpost]) {
        self.schema("os-signpost", None, &EVENT_COLUMNS);
        for (time, kind, row, signpost) in Signpost::events(signposts) {
            let row = &self.recording.rows[row];
            self.xml.start("row", &[]);
            self.time("event-time", time);
            self.thread(row);
            self.process(self.recording.thread_of(row).process);
            self.value("event-type", kind, kind);
            self.value("string", signpost.scope, signpost.scope);
            self.identifier(signpost.identifier);
            self.value("signpost-name", &signpost.name, &signpost.name);
            self.value("format-string", "%{public}s", "%{public}s");
            self.sentinel();
            self.value("subsystem", &signpost.subsystem, &signpost.subsystem);
            self.value("category", &signpost.category, &signpost.category);
            self.message(&time_label(time));
            self.sentinel();
            self.xml.end("row");
        }
    }

    fn identifier(&mut self, identifier: u64) {
        let label = match identifier {
            0xeeee_b0b5_b2b2_eeee => "OS_SIGNPOST_ID_EXCLUSIVE".to_owned(),
            number => format!("{number:#x}"),
        };
        self.value("os-signpost-identifier", &label, &identifier.to_string());
    }

    /// Writes the message logged with a signpost: words and numbers, each with an id.
    fn message(&mut self, text: &str) {
        self.element("os-log-metadata", text, &[("fmt", text)], |document| {
            document.value("narrative-text", text, text);
            document.value("uint64", "7", "7");
            document.value("string", text, text);
        });
    }
}
