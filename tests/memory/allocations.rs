//! The memory of a profile, compared with `docs/architecture.md` and the documentation of `profile`. A single test, since memory is
//! counted for the whole process.

use std::io::Read;

use traceparse::profile::{
    Frame, FrameKey, Id, Profile, ProfileBuilder, Run, Sample, SampleKind, Series, Stack, Thread,
};
use traceparse::read;
use traceparse::recording::{Options, SampleDetail};
use traceparse::units::{Address, Nanos, Unit};

use crate::{MEMORY, peak};

/// The result of `make`, the bytes that it holds, and the peak while it ran.
fn measured<T>(make: impl FnOnce() -> T) -> (T, i64, i64) {
    let before = MEMORY.current_usage();
    let (made, peak) = peak(make);
    (made, MEMORY.current_usage() as i64 - before as i64, peak as i64)
}

fn assert_near(found: f64, expected: f64, what: &str) {
    println!("{what}: {found:.2} bytes");
    assert!((found / expected - 1.0).abs() < 0.03, "{what}: {found:.2} bytes, expected {expected}");
}

/// A builder with one thread and some frames.
struct Start {
    builder: ProfileBuilder,
    series: Id<Series>,
    thread: Id<Thread>,
    frames: Vec<Id<Frame>>,
}

fn start(detail: SampleDetail) -> Start {
    let mut builder = ProfileBuilder::with_detail(detail);
    let name = builder.string("time-profile").unwrap();
    let run = builder.run(Run { input: name, document: 0, number: 1 }).unwrap();
    let series = builder.series(Series::new(run, name, 0, Unit::Nanoseconds)).unwrap();
    let process = builder.process(run, Some(1), name).unwrap();
    let thread = builder.thread(process, Some(2), name).unwrap();
    let frame = |number: u64| {
        let name = builder.string(&format!("function {number}")).unwrap();
        let function = builder.function(name, None, true).unwrap();
        let (address, source) = (Address::new(number), None);
        builder.frame(FrameKey { function, binary: None, address, source, is_inlined: false, group: 0 }).unwrap()
    };
    let frames = (0..1_000).map(frame).collect();
    Start { builder, series, thread, frames }
}

impl Start {
    /// `count` stacks of 40 frames that part at the second one from the root.
    fn stacks(&mut self, count: usize) -> Vec<Option<Id<Stack>>> {
        assert!(count <= 1_000_000);
        let frame = |number: usize| self.frames[number % 1_000];
        let stacks = (0..count).map(|number| {
            let path =
                std::array::from_fn::<_, 40, _>(|at| frame([number, number / 1_000].get(at).copied().unwrap_or(at)));
            self.builder.stack_path(None, path).unwrap()
        });
        stacks.collect()
    }

    fn sample(&mut self, time: u64, stack: Option<Id<Stack>>) {
        let time = Nanos::from_nanos(time);
        let (series, thread, kind) = (self.series, self.thread, SampleKind::Periodic);
        let sample = Sample { time, weight: 1, series, thread, stack, core: None, state: None, kind, samples: 1 };
        self.builder.add_sample(sample).unwrap();
    }
}

fn profile(detail: SampleDetail, stack_count: usize, rows: usize) -> Profile {
    let mut start = start(detail);
    let stacks = start.stacks(stack_count);
    (0..rows).for_each(|row| start.sample(row as u64, stacks[row % stack_count]));
    start.builder.finish()
}

fn finished_profiles_take_what_the_documentation_says() {
    let bytes = |detail, stack_count, rows| measured(|| profile(detail, stack_count, rows)).1 as f64;
    let (each, summed) = (SampleDetail::Each, SampleDetail::Summed);
    let a_sample = (bytes(each, 1_000, 300_000) - bytes(each, 1_000, 100_000)) / 200_000.0;
    assert_near(a_sample, 40.0, "a sample");
    let entries = |stack_count| {
        let (profile, bytes, _) = measured(|| profile(each, stack_count, 0));
        (profile.stack_ids().len() as f64, bytes as f64)
    };
    let (few, many) = (entries(20_000), entries(50_000));
    assert_near((many.1 - few.1) / (many.0 - few.0), 4.0 + 4.0 / 39.0 + 0.25, "a distinct stack entry");
    let a_sum = (bytes(summed, 50_000, 50_000) - bytes(summed, 50_000, 20_000)) / 30_000.0;
    assert_near(a_sum, 24.0, "a sum");
    let more_rows = bytes(summed, 1_000, 300_000) - bytes(summed, 1_000, 1_000);
    assert_eq!(more_rows, 0.0, "more samples of the same stacks");
}

/// During building, stacks that directly follow their parent take no more memory than in the finished profile.
fn building_stacks_takes_little_more() {
    let mut start = start(SampleDetail::Each);
    let (stacks, _, peak) = measured(|| start.stacks(50_000));
    let ids = (stacks.capacity() * size_of::<Option<Id<Stack>>>()) as f64;
    // One entry of 39 turns off and stands in the hash table, whose growing holds the old one and the new one for a moment. Of
    // a table of 1 MiB allocations up to one is not used yet.
    let an_entry = (peak as f64 - ids - f64::from(1 << 20)) / start.builder.stack_count() as f64;
    println!("a distinct stack entry, while building: {an_entry:.2} bytes, and 1 MiB");
    assert!((4.0..4.36 + 35.0 / 39.0).contains(&an_entry), "{an_entry:.2}");
}

/// A document of `rows` rows over the same 1,000 stacks of 20 frames, whose times are the only new elements of a row.
struct Document {
    rows: u64,
    next: u64,
    last_id: u64,
    stacks: Vec<u64>,
    text: Vec<u8>,
}

impl Document {
    fn new(rows: u64) -> Self {
        let columns =
            ["time", "thread", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>"));
        let text = format!(
            "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
             <schema name=\"time-profile\">{}</schema>",
            columns.concat()
        );
        Self { rows, next: 0, last_id: 2, stacks: Vec::with_capacity(1_000), text: text.into_bytes() }
    }

    fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn row(&mut self) -> String {
        let number = self.next;
        let time = self.new_id();
        let weight = if number == 0 { "<weight id=\"1\">1000</weight>" } else { "<weight ref=\"1\"/>" };
        let thread = match number {
            0 => {
                "<thread id=\"2\" fmt=\"main 0x1 (App, pid: 2)\"><tid>1</tid><process fmt=\"App (2)\"><pid>2</pid></process>\
                 </thread>"
            }
            _ => "<thread ref=\"2\"/>",
        };
        let stack = self.stack(number);
        format!("<row><sample-time id=\"{time}\">{number}</sample-time>{thread}{weight}{stack}</row>\n")
    }

    fn stack(&mut self, number: u64) -> String {
        if let Some(id) = self.stacks.get((number % 1_000) as usize) {
            return format!("<backtrace ref=\"{id}\"/>");
        }
        let id = self.new_id();
        self.stacks.push(id);
        let frame = |depth: u64| {
            let id = self.new_id();
            format!(
                "<frame id=\"{id}\" name=\"f{}\" addr=\"0x{:x}\"/>",
                (number + depth) % 300,
                4 * (number + depth) + 1
            )
        };
        let frames: String = (0..20).map(frame).collect();
        format!("<backtrace id=\"{id}\">{frames}</backtrace>")
    }
}

impl Read for Document {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.text.len() < buffer.len() && self.next <= self.rows {
            let text = if self.next < self.rows { self.row() } else { "</node></trace-query-result>\n".to_owned() };
            self.text.extend_from_slice(text.as_bytes());
            self.next += 1;
        }
        let count = buffer.len().min(self.text.len());
        buffer[..count].copy_from_slice(&self.text[..count]);
        self.text.drain(..count);
        Ok(count)
    }
}

/// Ten times as many rows over the same stacks take 8 bytes for each id more while they are read, and nothing afterwards.
fn more_rows_take_room_for_their_ids_only() {
    const ROWS: u64 = 40_000;
    /// The bytes of the input that a reader may hold, for an input that is long enough.
    const NOISE: i64 = 1 << 20;
    let options = Options { samples: SampleDetail::Summed, ..Options::default() };
    let open = |rows| {
        let (export, held, peak) = measured(|| read(Document::new(rows), "rows.xml", &options).unwrap());
        assert_eq!(export.profile.sums().map(|sum| sum.samples).sum::<u64>(), rows);
        assert_eq!((export.rejected(), export.profile.sums().len()), (0, 1_000));
        (held, peak)
    };
    open(1_000);
    let (few, many) = (open(ROWS), open(10 * ROWS));
    println!("{ROWS} rows: {few:?} bytes held and at most; {} rows: {many:?}", 10 * ROWS);
    assert!((many.0 - few.0).abs() < 1_000, "{} and {} bytes are held", few.0, many.0);
    let ids = 9 * ROWS as i64;
    assert!(many.1 - few.1 <= 8 * ids + NOISE, "{} more for {ids} ids", many.1 - few.1);
}

pub(crate) fn a_profile_takes_what_the_documentation_says() {
    finished_profiles_take_what_the_documentation_says();
    building_stacks_takes_little_more();
    more_rows_take_room_for_their_ids_only();
}
