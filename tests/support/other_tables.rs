//! Tables without CPU samples. A reader must skip them, but record the threads, processes, images, frames and stacks that they define,
//! because a later table may refer to them.

use super::cells::Document;
use super::recording::Row;
use super::shape::Column;

/// A time in which a thread did not respond.
#[derive(Clone, Debug, PartialEq)]
pub struct Hang {
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Any row of the thread that hung.
    pub row: usize,
}

const HANG_COLUMNS: [Column; 5] = [
    ("start", "Start", "start-time"),
    ("duration", "Duration", "duration"),
    ("hang-type", "Hang Type", "hang-type"),
    ("thread", "Thread", "thread"),
    ("process", "Process", "process"),
];

const FILE_CALL_COLUMNS: [Column; 25] = [
    ("start", "Start", "start-time"),
    ("duration", "Duration", "duration"),
    ("end", "End", "event-time"),
    ("syscall", "Syscall", "syscall"),
    ("signature", "Signature", "narrative"),
    ("type", "Type", "string"),
    ("arg1", "First Argument", "syscall-arg"),
    ("arg2", "Second Argument", "syscall-arg"),
    ("arg3", "Third Argument", "syscall-arg"),
    ("arg4", "Fourth Argument", "syscall-arg"),
    ("return", "Return", "syscall-return"),
    ("process", "Process", "process"),
    ("backtrace", "Backtrace", "backtrace"),
    ("thread", "Thread", "thread"),
    ("file-created", "Create", "boolean"),
    ("file-deleted", "Delete", "boolean"),
    ("vnode", "Vnode", "vnode"),
    ("path", "Path", "file-path"),
    ("narrative", "Narrative", "narrative"),
    ("fd", "File Descriptor", "fd"),
    ("file-mode", "File Mode", "string"),
    ("lwrites", "Logical Writes", "size-in-bytes"),
    ("lreads", "Logical Reads", "size-in-bytes"),
    ("bytes", "Other Filesystem Bytes", "size-in-bytes"),
    ("errno", "Error", "syscall-return"),
];

impl Document<'_> {
    pub fn schema(&mut self, name: &str, documentation: Option<&str>, columns: &[Column]) {
        let mut attributes = vec![("name", name)];
        attributes.extend(documentation.map(|text| ("documentation", text)));
        self.xml.start("schema", &attributes);
        for (mnemonic, title, kind) in columns {
            self.xml.start("col", &[]);
            self.xml.leaf("mnemonic", &[], mnemonic);
            self.xml.leaf("name", &[], title);
            self.xml.leaf("engineering-type", &[], kind);
            self.xml.end("col");
        }
        self.xml.end("schema");
    }

    pub fn potential_hangs(&mut self, hangs: &[Hang]) {
        self.schema("potential-hangs", None, &HANG_COLUMNS);
        for hang in hangs {
            let row = &self.recording.rows[hang.row];
            let kind = if hang.duration_ns > 500_000_000 { "Hang" } else { "Potential Interaction Delay" };
            self.xml.start("row", &[]);
            self.time("start-time", hang.start_ns);
            self.duration(hang.duration_ns);
            self.value("hang-type", kind, kind);
            self.thread(row);
            self.process(self.recording.thread_of(row).process);
            self.xml.end("row");
        }
    }

    /// File system calls with the times and stacks of these samples.
    pub fn file_calls(&mut self, rows: &[usize]) {
        self.schema("fs-syscall", None, &FILE_CALL_COLUMNS);
        for &index in rows {
            let row = &self.recording.rows[index];
            self.xml.start("row", &[]);
            self.file_call(row);
            self.xml.end("row");
        }
    }

    fn file_call(&mut self, row: &Row) {
        self.time("start-time", row.time_ns);
        self.duration(7_500 + row.time_ns % 9_000);
        self.sentinel();
        self.value("syscall", "read", "BSC_read");
        self.element("narrative", "read()", &[("fmt", "read()")], |document| {
            document.value("syscall", "read", "BSC_read");
            document.value("narrative-text", "()", "()");
        });
        self.value("string", "Data Read", "Data Read");
        for argument in [4, row.time_ns, 4_096] {
            self.value("syscall-arg", &format!("{argument:#x}"), &argument.to_string());
        }
        self.sentinel();
        self.value("syscall-return", "0x1000", "4096");
        self.process(self.recording.thread_of(row).process);
        self.plain_stack(row);
        self.thread(row);
        self.value("boolean", "No", "0");
        self.value("boolean", "No", "0");
        (0..9).for_each(|_| self.sentinel());
    }

    /// Another table that readers do not use, with columns but no rows.
    pub fn table_without_rows(&mut self, schema: &str) {
        self.schema(schema, None, &[("time", "Timestamp", "event-time"), ("process", "Process", "process")]);
    }

    /// A track detail: it has attributes instead of cells, no schema, and one attribute name that XML parsers reject.
    pub fn track_detail(&mut self) {
        for (path, range, resident, percent) in [
            ("Orchard", "0x100c40000 - 0x100c5c000", "114688", "100.00"),
            ("", "0x600001c00000 - 0x600001d00000", "81920", "7.81"),
        ] {
            let attributes = [
                ("path", path),
                ("address-range", range),
                ("resident-size", resident),
                ("protections", "rw-/rwx"),
                ("resident-%", percent),
            ];
            self.xml.empty("row", &attributes);
        }
    }
}
