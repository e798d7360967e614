//! Fleets with as many functions as real ones: a few hundred in each run, out of some thousand.
//!
//! A run has every common function and some of the rare ones, which are rarer further down the list. Most have a few samples, some have
//! thousands. Rows are made in order, so that a hundred thousand runs take only minutes.

use super::fleet::{self, sum_binaries};
use super::random::Rng;
use traceparse::fleet::{FrameRow, NamesBuilder, RunMeasures, RunRecord, WindowRow};

/// The number of functions, and the number of functions that every run has.
const FUNCTIONS: usize = 6_000;
const COMMON: usize = 200;
const BINARIES: usize = 24;
const THREADS: [&str; 3] = ["Main Thread", "com.apple.uikit.eventfetch-thread", "Worker"];
const SECONDS: u64 = 10;
const MILLI: u64 = 1_000_000;
const VERSIONS: u32 = 4;

/// The names of the functions, each with its binary, in the order of rows.
#[derive(Debug)]
pub struct WideFleet {
    seed: u64,
    rows: usize,
    functions: Vec<(String, String)>,
}

impl WideFleet {
    /// Creates a fleet with about this many rows of functions per run.
    pub fn new(seed: u64, rows: usize) -> Self {
        let mut rng = Rng::new(seed);
        let mut functions: Vec<(String, String)> = (0..FUNCTIONS)
            .map(|index| {
                let binary = format!("Framework{:02}", rng.index(BINARIES));
                (binary, format!("Orchard::Module{}::operation_{index}(Rect const&, unsigned long)", index % 97))
            })
            .collect();
        rng.shuffle(&mut functions);
        Self { seed, rows, functions }
    }

    /// The run with this number, from 0.
    pub fn run(&self, index: u32) -> RunMeasures {
        let mut rng = Rng::new(self.seed ^ (u64::from(index) << 32));
        let mut names = NamesBuilder::default();
        let process = names.id("Orchard");
        let (mut frames, mut binaries, mut windows) = (Vec::new(), Vec::new(), Vec::new());
        for (number, thread) in THREADS.into_iter().enumerate() {
            let (thread, is_main_thread) = (names.id(thread), thread == "Main Thread");
            let first = frames.len();
            for function in self.chosen(&mut rng, number) {
                let (binary, function) = &self.functions[function];
                let self_samples = skewed(&mut rng);
                let all_samples = self_samples + rng.below(30);
                frames.push(FrameRow {
                    process,
                    thread,
                    is_main_thread,
                    binary: names.id(binary),
                    function: names.id(function),
                    self_weight: self_samples * MILLI,
                    all_weight: all_samples * MILLI,
                    self_samples,
                    all_samples,
                });
            }
            sum_binaries(&frames[first..], &mut binaries);
            let samples: u64 = frames[first..].iter().map(|row| row.self_samples).sum();
            for second in 0..SECONDS {
                let samples = samples / SECONDS + u64::from(second < samples % SECONDS);
                if samples > 0 {
                    let second = second as u32;
                    windows.push(WindowRow {
                        process,
                        thread,
                        is_main_thread,
                        second,
                        weight: samples * MILLI,
                        samples,
                    });
                }
            }
        }
        let samples = frames.iter().map(|row| row.self_samples).sum();
        let wall = SECONDS * 1_000_000_000 + rng.below(900_000_000);
        RunMeasures {
            record: record(index, samples, wall),
            names: names.finish(),
            frames,
            binaries,
            windows,
            stacks: Vec::new(),
            intervals: None,
            histograms: Vec::new(),
        }
    }

    /// The functions that a thread of a run has, in order.
    fn chosen(&self, rng: &mut Rng, thread: usize) -> Vec<usize> {
        let count = [self.rows / 2, self.rows / 6, self.rows - self.rows / 2 - self.rows / 6][thread];
        let common = [COMMON, COMMON / 4, COMMON / 2][thread].min(count);
        let mut chosen: Vec<usize> = (0..common).map(|place| place * (FUNCTIONS / COMMON)).collect();
        while chosen.len() < count {
            // The square of a uniform number: the first functions are in most runs, the last ones in few.
            let uniform = rng.below(1 << 20);
            let place = (uniform * uniform) >> 20;
            chosen.push((place as usize * FUNCTIONS) >> 20);
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen.sort_by(|&a, &b| self.functions[a].cmp(&self.functions[b]));
        chosen
    }
}

/// A number of samples: usually few, sometimes thousands.
fn skewed(rng: &mut Rng) -> u64 {
    let uniform = rng.below(1 << 16);
    // One in twelve has no samples: such a function only calls others.
    if rng.one_in(12) { 0 } else { (1 << 17) / ((1 << 16) - uniform + 40) }
}

fn record(index: u32, samples: u64, wall: u64) -> RunRecord {
    let label = |key: &str, value: String| (key.to_owned(), value);
    // Like a hash, it cannot be compressed.
    let mut hash = Rng::new(u64::from(index));
    let mut hex = || (0..4).map(|_| format!("{:016x}", hash.next_u64())).collect::<String>();
    RunRecord {
        run_id: hex(),
        fingerprint: hex(),
        source: format!("fleet/{:03}/recording-{index:07}.xml", index % 512),
        source_bytes: 5_000_000,
        labels: vec![
            label("app", "Orchard".to_owned()),
            label("app_version", format!("1.{}", index % VERSIONS)),
            label("device", format!("iPhone{},1", 13 + index % 5)),
            label("os", "iOS 26.1".to_owned()),
        ],
        start: Some(format!("2026-11-{:02}T10:00:00.000Z", 1 + index % 28)),
        parser_version: "0.0.0".to_owned(),
        ..fleet::record(index, index % VERSIONS, samples * MILLI, wall)
    }
}
