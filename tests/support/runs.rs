//! Invented runs: what a fleet stores about a recording, without the recording.

use traceparse::fleet::{
    FailedInput, FailureKind, FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, StackRow, WindowRow,
};
use traceparse::profile::Category;
use traceparse::recording::TimeSource;
use traceparse::units::{Millionths, Nanos, Unit};

/// Pseudorandom numbers that are always the same (xorshift).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// Usually small, occasionally the largest number that fits in a table.
    fn weight(&mut self) -> u64 {
        match self.below(20) {
            0 => 0,
            1 => i64::MAX as u64,
            _ => self.below(5_000_000_000),
        }
    }

    fn some(&mut self, text: &str) -> Option<String> {
        (self.below(3) > 0).then(|| format!("{text} {}", self.below(4)))
    }
}

pub const NAMES: [&str; 7] = ["", "main", "Thread 0x1", "-[Objektiv öffne:]", "(unnamed)", "🦀", "a,\"b\"\n\0c"];

/// A run with about `frames` functions. Its names are numbered in order of appearance.
pub fn run(seed: u64, frames: usize) -> RunMeasures {
    let mut numbers = Numbers::new(seed);
    let mut names = NamesBuilder::default();
    let count = if frames == 0 { 0 } else { numbers.below(2 * frames as u64) };
    let frames = (0..count).map(|_| frame(&mut numbers, &mut names)).collect();
    let binaries = (0..numbers.below(4)).map(|_| binary(&mut numbers, &mut names)).collect();
    let windows = (0..numbers.below(6)).map(|second| window(second as u32, &mut numbers, &mut names)).collect();
    let record = record(seed, &mut numbers);
    let stacks = (0..numbers.below(9)).map(|index| stack(index as u32, &mut numbers, &mut names)).collect();
    RunMeasures {
        record,
        names: names.finish(),
        frames,
        binaries,
        windows,
        stacks,
        intervals: None,
        histograms: Vec::new(),
    }
}

fn frame(numbers: &mut Numbers, names: &mut NamesBuilder) -> FrameRow {
    code(numbers, names, |numbers, names| names.id(&format!("function {}", numbers.below(400))))
}

fn stack(index: u32, numbers: &mut Numbers, names: &mut NamesBuilder) -> StackRow {
    let FrameRow { process, thread, is_main_thread, binary, function, self_weight, self_samples, .. } =
        frame(numbers, names);
    let parent = (numbers.below(3) > 0).then(|| index.checked_sub(1 + numbers.below(2) as u32)).flatten();
    let category = Category::ALL[numbers.below(5) as usize];
    StackRow { process, thread, is_main_thread, parent, binary, category, function, self_weight, self_samples }
}

fn binary(numbers: &mut Numbers, names: &mut NamesBuilder) -> FrameRow {
    code(numbers, names, |_, _| NameId::NONE)
}

fn code(
    numbers: &mut Numbers,
    names: &mut NamesBuilder,
    function: impl FnOnce(&mut Numbers, &mut NamesBuilder) -> NameId,
) -> FrameRow {
    let mut name = |end| names.id(NAMES[numbers.below(end) as usize]);
    let (process, thread, binary) = (name(3), name(3), name(7));
    FrameRow {
        process,
        thread,
        is_main_thread: thread == process,
        binary,
        function: function(numbers, names),
        self_weight: numbers.weight(),
        all_weight: numbers.weight(),
        self_samples: numbers.below(100),
        all_samples: numbers.below(1000),
    }
}

fn window(second: u32, numbers: &mut Numbers, names: &mut NamesBuilder) -> WindowRow {
    let mut name = |end| names.id(NAMES[numbers.below(end) as usize]);
    let (process, thread) = (name(3), name(3));
    let is_main_thread = thread == process;
    WindowRow {
        process,
        thread,
        is_main_thread,
        second,
        weight: numbers.below(4_000_000_000),
        samples: numbers.below(4000),
    }
}

fn record(seed: u64, numbers: &mut Numbers) -> RunRecord {
    let mut labels = Vec::new();
    for key in ["app", "app_version", "device", "os", "os_build", "zone"] {
        labels.extend(numbers.some(key).map(|value| (key.to_owned(), value)));
    }
    RunRecord {
        run_id: format!("{seed:016x}"),
        fingerprint: format!("fingerprint {}", numbers.below(9)),
        source: format!("/Läufe/{seed}.xml"),
        source_bytes: numbers.weight(),
        number: 1,
        labels,
        run_weight: Millionths::new(numbers.weight()),
        start: numbers.some("2026-01-01T00:00:00"),
        wall: (numbers.below(4) > 0).then(|| Nanos::from_nanos(1 + numbers.below(9_000_000_000))),
        wall_source: [TimeSource::Toc, TimeSource::Manifest, TimeSource::Samples][numbers.below(3) as usize],
        wall_start: Nanos::from_nanos(numbers.below(2) * 1_500_000_000),
        parts: parts(numbers),
        schema: "time-profile".to_owned(),
        unit: [Unit::Nanoseconds, Unit::Cycles, Unit::PmcEvents, Unit::Samples][numbers.below(4) as usize],
        weight: numbers.below(9_000_000_000),
        samples: numbers.weight(),
        effective_samples: numbers.weight(),
        rejected: numbers.below(3),
        unread_runs: numbers.below(3) as u32,
        excluded_runs: numbers.below(3) as u32,
        cores: numbers.below(u64::from(u32::MAX) + 1) as u32,
        usual_weight: numbers.below(1_000_001),
        parser_version: "0.1.0".to_owned(),
        notes: Vec::new(),
    }
}

/// The parts of a recorded time that intervals select. Most runs have only one.
fn parts(numbers: &mut Numbers) -> Vec<(Nanos, Nanos)> {
    let count = if numbers.below(4) == 0 { 2 + numbers.below(4) } else { 0 };
    let mut end = 0;
    let mut part = || {
        let start = end + 1 + numbers.below(3_000_000_000);
        end = start + 1 + numbers.below(4_000_000_000);
        (Nanos::from_nanos(start), Nanos::from_nanos(end))
    };
    (0..count).map(|_| part()).collect()
}

/// A file that could not be read.
pub fn failure(seed: u64) -> FailedInput {
    let mut numbers = Numbers::new(seed);
    FailedInput {
        source: format!("/Läufe/kaputt/{seed}.xml"),
        source_bytes: numbers.weight(),
        run_id: numbers.some("id"),
        fingerprint: format!("fingerprint {}", numbers.below(9)),
        kind: FailureKind::ALL[numbers.below(FailureKind::ALL.len() as u64) as usize],
        reason: "the file is cut at “row”; export it again".to_owned(),
        labels: Vec::new(),
    }
}
