//! Documents of any size, streamed, for benchmarks and memory tests.
//!
//! Stacks are paths through a call tree. Each new one keeps most of its thread's last path and branches off near the leaf, so stacks share
//! prefixes and frames like real ones. Depths are from 12 to 62, with a mean of 37 ([`DEPTHS`]). With 1,200,000 rows and 300,000 distinct
//! stacks, the document has about 450 MB and 20 million elements.
//!
//! Rows are not kept. Only the ids of distinct stacks and frames are, with about 30 bytes per stack.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use super::large_code::{FUNCTIONS, Function, IMAGES, PATHS, SITES, Step, binary_attributes, source_path};
use super::large_model::{CORES, EFFICIENCY_CORES, LargeModel, LargeRow, LargeSize, LargeStack, PID, THREADS, WEIGHTS};
use super::shape::{Shape, Table};

/// The number of frames in a stack by default.
pub const DEPTHS: RangeInclusive<usize> = 12..=62;

/// Writes a time-profile document of Xcode 14.3; see [`write_large_as`].
pub fn write_large(out: &mut dyn Write, rows: u64, distinct_stacks: u64, seed: u64) -> io::Result<()> {
    write_large_as(out, Shape::Xcode14_3, rows, distinct_stacks, seed)
}

/// Writes a time-profile document with `rows` rows and `distinct_stacks` stacks (no more than rows).
///
/// About one row in 256 has no stack. The same arguments always produce the same bytes.
///
/// # Errors
///
/// If writing to `out` fails.
///
/// # Panics
///
/// For shapes without `frame` elements (12, 14.0 and raw samples).
pub fn write_large_as(out: &mut dyn Write, shape: Shape, rows: u64, distinct_stacks: u64, seed: u64) -> io::Result<()> {
    write_large_deep(out, shape, rows, distinct_stacks, seed, DEPTHS)
}

/// The same with other stack depths, each of them equally frequent.
///
/// There must be enough different paths, as with stacks of 12 frames and more.
///
/// # Errors
///
/// If writing to `out` fails.
///
/// # Panics
///
/// For shapes without `frame` elements, and if `depths` contains 0 or is empty.
pub fn write_large_deep(
    out: &mut dyn Write,
    shape: Shape,
    rows: u64,
    distinct_stacks: u64,
    seed: u64,
    depths: RangeInclusive<usize>,
) -> io::Result<()> {
    assert!(
        !matches!(shape, Shape::Xcode12 | Shape::Xcode14_0 | Shape::TimeSample),
        "a shape with frame elements, please"
    );
    let mut writer = Large::new(shape, LargeSize { rows, distinct_stacks, seed, depths });
    writer.envelope();
    while let Some(row) = writer.model.next() {
        writer.row(row);
        if writer.buffer.len() > 1 << 16 {
            out.write_all(&writer.buffer)?;
            writer.buffer.clear();
        }
    }
    writer.put("</node></trace-query-result>\n");
    out.write_all(&writer.buffer)?;
    out.flush()
}

struct Large {
    shape: Shape,
    model: LargeModel,
    buffer: Vec<u8>,
    last_id: u64,
    binaries: Vec<String>,
    binary_ids: [u64; IMAGES],
    path_ids: [u64; PATHS],
    /// Ids by function and site, 0 if undefined; leaves and callers have different addresses.
    caller_ids: Vec<u64>,
    leaf_ids: Vec<u64>,
    /// The id of every stack so far.
    stacks: Vec<u64>,
    thread_ids: [u64; THREADS],
    core_ids: [u64; CORES],
    weight_ids: [u64; WEIGHTS.len()],
    process_id: u64,
    state_id: u64,
    zero_id: u64,
}

impl Large {
    fn new(shape: Shape, size: LargeSize) -> Large {
        Large {
            shape,
            model: LargeModel::new(size),
            binaries: (0..IMAGES).map(binary_attributes).collect(),
            buffer: Vec::with_capacity(1 << 17),
            last_id: 0,
            binary_ids: [0; IMAGES],
            path_ids: [0; PATHS],
            caller_ids: vec![0; FUNCTIONS * SITES],
            leaf_ids: vec![0; FUNCTIONS * SITES],
            stacks: Vec::new(),
            thread_ids: [0; THREADS],
            core_ids: [0; CORES],
            weight_ids: [0; WEIGHTS.len()],
            process_id: 0,
            state_id: 0,
            zero_id: 0,
        }
    }

    fn envelope(&mut self) {
        self.put("<?xml version=\"1.0\"?>\n<trace-query-result>\n");
        self.put("<node xpath='//trace-toc[1]/run[1]/data[1]/table[11]'><schema name=\"time-profile\"");
        if self.shape.documents_schema() {
            self.put(&format!(" documentation=\"{}\"", Table::TimeProfile.documentation()));
        }
        self.put(">");
        for (mnemonic, name, kind) in Table::TimeProfile.columns(self.shape) {
            self.put(&format!(
                "<col><mnemonic>{mnemonic}</mnemonic><name>{name}</name><engineering-type>{kind}</engineering-type></col>"
            ));
        }
        self.put("</schema>");
    }

    fn row(&mut self, row: LargeRow) {
        self.put("<row>");
        self.time(row.time_ns);
        self.thread(row.thread);
        self.reference("process", self.process_id);
        self.core(row.core);
        self.state();
        self.weight(row.weight);
        match row.stack {
            LargeStack::Earlier(stack) => self.reference(self.stack_tag(), self.stacks[stack]),
            LargeStack::None => self.put("<sentinel/>"),
            LargeStack::New(path) => self.new_stack(&path),
        }
        self.put("</row>\n");
    }

    fn time(&mut self, time_ns: u64) {
        self.open_with_id("sample-time");
        let micros = time_ns / 1_000;
        let seconds = micros / 1_000_000;
        self.put(" fmt=\"");
        self.padded(seconds / 60, 2);
        self.put(":");
        self.padded(seconds % 60, 2);
        self.put(".");
        self.padded(micros / 1_000 % 1_000, 3);
        self.put(".");
        self.padded(micros % 1_000, 3);
        self.put("\">");
        self.decimal(time_ns);
        self.put("</sample-time>");
    }

    fn thread(&mut self, thread: usize) {
        if self.thread_ids[thread] > 0 {
            return self.reference("thread", self.thread_ids[thread]);
        }
        let (tid, name) = (LargeModel::tid(thread), LargeModel::thread_name(thread));
        let label = self.shape.thread_label(&name, tid, "Orchard", PID);
        self.thread_ids[thread] = self.open_with_id("thread");
        self.put(&format!(" fmt=\"{label}\">"));
        self.simple("tid", &format!("{tid:#x}"), tid);
        if self.process_id > 0 {
            self.reference("process", self.process_id);
        } else {
            self.process_id = self.open_with_id("process");
            self.put(&format!(" fmt=\"Orchard ({PID})\">"));
            self.simple("pid", &PID.to_string(), u64::from(PID));
            self.open_with_id("device-session");
            self.put(" fmt=\"TODO\">TODO</device-session></process>");
        }
        self.put("</thread>");
    }

    fn core(&mut self, core: usize) {
        if self.core_ids[core] > 0 {
            return self.reference("core", self.core_ids[core]);
        }
        let kind = if core < EFFICIENCY_CORES { "E Core" } else { "P Core" };
        self.core_ids[core] = self.simple("core", &format!("CPU {core} ({kind})"), core as u64);
    }

    fn state(&mut self) {
        if self.state_id > 0 {
            return self.reference("thread-state", self.state_id);
        }
        self.state_id = self.open_with_id("thread-state");
        self.put(" fmt=\"Running\">Running</thread-state>");
    }

    fn weight(&mut self, kind: usize) {
        if self.weight_ids[kind] > 0 {
            return self.reference("weight", self.weight_ids[kind]);
        }
        let (weight, label) = WEIGHTS[kind];
        self.weight_ids[kind] = self.simple("weight", label, weight);
    }

    fn new_stack(&mut self, path: &[Step]) {
        let tag = self.stack_tag();
        let id = self.open_with_id(tag);
        self.stacks.push(id);
        if self.shape == Shape::Xcode26_4 {
            self.stack_label(path);
            self.put(">");
            self.open_with_id("backtrace");
        }
        self.put(">");
        for (distance, &step) in path.iter().rev().enumerate() {
            self.frame(step, distance == 0);
        }
        if self.shape != Shape::Xcode27 {
            self.put("</backtrace>");
        }
        if self.shape == Shape::Xcode26_4 {
            if self.zero_id > 0 {
                self.reference("uint64", self.zero_id);
            } else {
                self.zero_id = self.simple("uint64", "0", 0);
            }
        }
        if tag == "tagged-backtrace" {
            self.put("</tagged-backtrace>");
        }
    }

    fn stack_label(&mut self, path: &[Step]) {
        let &(function, site) = path.last().expect("paths are not empty");
        let name = self.name(function as usize, self.model.leaf_pc((function, site)) + 1);
        self.put(" fmt=\"");
        self.put(&name);
        self.put(&format!(" ← ({} other frames)\"", path.len() - 1));
    }

    fn frame(&mut self, step: Step, leaf: bool) {
        let (function, site) = (step.0 as usize, step.1);
        let slot = function * SITES + usize::from(site);
        let known = if leaf { self.leaf_ids[slot] } else { self.caller_ids[slot] };
        if known > 0 {
            return self.reference("frame", known);
        }
        let id = self.open_with_id("frame");
        let address = if leaf {
            self.leaf_ids[slot] = id;
            self.model.leaf_pc(step) + 1
        } else {
            self.caller_ids[slot] = id;
            self.model.caller_pc(step) + if self.shape == Shape::Xcode27 { 3 } else { 4 }
        };
        let name = self.name(function, address);
        self.put(" name=\"");
        self.put(&name);
        self.put(&format!("\" addr=\"{address:#x}\">"));
        self.binary(self.model.functions[function].image);
        if let Some((path, line)) = self.model.functions[function].source {
            self.source(path, line + u64::from(site));
        }
        self.put("</frame>");
    }

    fn name(&self, function: usize, address: u64) -> String {
        let Function { name, start, .. } = &self.model.functions[function];
        let unnamed = if self.shape == Shape::Xcode14_3 { address } else { *start };
        name.clone().unwrap_or_else(|| format!("{unnamed:#x}"))
    }

    fn binary(&mut self, image: usize) {
        if self.binary_ids[image] > 0 {
            return self.reference("binary", self.binary_ids[image]);
        }
        self.binary_ids[image] = self.open_with_id("binary");
        self.buffer.extend_from_slice(self.binaries[image].as_bytes());
    }

    fn source(&mut self, path: usize, line: u64) {
        self.put(&format!("<source line=\"{line}\">"));
        if self.path_ids[path] > 0 {
            self.reference("path", self.path_ids[path]);
        } else {
            self.path_ids[path] = self.open_with_id("path");
            self.put(&format!(">{}</path>", source_path(path)));
        }
        self.put("</source>");
    }

    fn stack_tag(&self) -> &'static str {
        match self.shape {
            Shape::Xcode26_4 | Shape::Xcode27 => "tagged-backtrace",
            _ => "backtrace",
        }
    }

    /// `<tag id="N" fmt="label">number</tag>`
    fn simple(&mut self, tag: &str, label: &str, number: u64) -> u64 {
        let id = self.open_with_id(tag);
        self.put(&format!(" fmt=\"{label}\">{number}</{tag}>"));
        id
    }

    /// `<tag id="N"`
    fn open_with_id(&mut self, tag: &str) -> u64 {
        self.last_id += 1;
        self.put("<");
        self.put(tag);
        self.put(" id=\"");
        self.decimal(self.last_id);
        self.put("\"");
        self.last_id
    }

    fn reference(&mut self, tag: &str, id: u64) {
        self.put("<");
        self.put(tag);
        self.put(" ref=\"");
        self.decimal(id);
        self.put("\"/>");
    }

    fn put(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn decimal(&mut self, number: u64) {
        self.padded(number, 1);
    }

    /// Formats the digits directly, since the general formatter would take most of the time.
    fn padded(&mut self, mut number: u64, width: usize) {
        let mut digits = [b'0'; 20];
        let mut first = digits.len();
        while number > 0 || digits.len() - first < width {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.buffer.extend_from_slice(&digits[first..]);
    }
}
