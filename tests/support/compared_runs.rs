//! Runs of two sides whose true difference is known, to count how often `compare` is wrong.
//!
//! A run has about 2,000 samples of an app: `main` calls eight callers, and they call functions whose shares follow Zipf's law. The number of
//! samples of each function varies by chance (Poisson) around its share of the run's work.

use traceparse::fleet::{FrameRow, NamesBuilder, RunMeasures, RunRecord, StackRow};
use traceparse::profile::Category;

use crate::fleet::{record, sum_binaries};
use crate::random::Rng;

/// The two sides of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// The number of runs of the base and of the new side.
    pub runs: [u32; 2],
    /// The number of functions that `main` and its callers call.
    pub functions: usize,
    /// True if `main` calls all functions, without callers in between.
    pub is_flat: bool,
    pub devices: Devices,
    pub work: Work,
    pub length: Length,
    /// The share of the first function.
    pub share: f64,
    pub change: Change,
}

/// The devices of runs.
#[derive(Clone, Copy, Debug)]
pub enum Devices {
    One,
    /// Two models take turns. The second needs 1.6 times as long for the same work.
    Blocks,
    /// This many runs per device. Devices differ by 20 %.
    Units(u32),
}

/// How the work of runs varies, around 1.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// With this standard deviation.
    Normal(f64),
    /// With this standard deviation of the logarithm.
    LogNormal(f64),
    /// 5 %, and 15 % on the new side.
    Unequal,
    /// 5 %, and one run in twenty does twice as much.
    Outliers,
    /// 5 %, and every other run (by chance) does 1.5 times as much.
    Bimodal,
    /// 5 %, and 30 % of the runs do nothing.
    Idle,
    /// 5 %, and one new run in a hundred does three times as much.
    Tail,
}

/// How long runs are recorded.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// Ten seconds.
    Window,
    /// Ten seconds with a standard deviation of 1 %.
    Jitter,
    /// As long as the work takes, with a standard deviation of 1 %.
    LaunchToExit,
    /// As long as a user stays: CV 50 %. The work is in proportion.
    Users,
}

/// A change of the new side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    Nothing,
    /// All functions take this many times as long.
    Everything(f64),
    /// The first function takes this many times as long.
    First(f64),
    /// Another name of the first function.
    Renamed,
    /// The first function becomes part of its caller.
    Inlined,
}

/// The function whose share is [given](Sides::share).
pub const FIRST: &str = "f000";
const RENAMED: &str = "renamed";
const CALLERS: usize = 8;
/// The share of `main` itself, and of each caller.
const CALLER: f64 = 0.003;
const SAMPLES: f64 = 2_000.0;
const MILLISECOND: u64 = 1_000_000;
const SECOND: f64 = 1e9;
/// The recorded time per work.
const WALL: f64 = 10.0;

impl Default for Sides {
    /// Identical sides of ten runs with 160 functions.
    fn default() -> Self {
        Self {
            runs: [10, 10],
            functions: 160,
            is_flat: false,
            devices: Devices::One,
            work: Work::Normal(0.05),
            length: Length::Window,
            share: 0.017,
            change: Change::Nothing,
        }
    }
}

impl Sides {
    /// The runs of both sides, with the label `side`. Both take turns.
    pub fn runs(&self, seed: u64) -> [Vec<RunMeasures>; 2] {
        let mut rng = Rng::new(seed);
        // Neighbouring seeds would share their numbers, shifted by one.
        let mut rng = Rng::new(rng.next_u64());
        let shares = self.shares();
        [0, 1].map(|side| {
            let speeds: Vec<f64> = (0..self.runs[side]).map(|device| self.devices.speed(device, &mut rng)).collect();
            let run = |index: u32| {
                let speed = speeds[self.devices.of_run(index) as usize];
                self.run((side, index), speed, &shares, &mut rng)
            };
            (0..self.runs[side]).map(run).collect()
        })
    }

    /// The share of each function, which sum to 1 with the shares of their callers.
    fn shares(&self) -> Vec<f64> {
        let callers = if self.is_flat { CALLER } else { CALLER * (CALLERS + 1) as f64 };
        let mut shares: Vec<f64> = (0..self.functions).map(|rank| 1.0 / rank.max(1) as f64).collect();
        let others: f64 = shares[1..].iter().sum();
        shares[1..].iter_mut().for_each(|share| *share *= (1.0 - callers - self.share) / others);
        shares[0] = self.share;
        shares
    }

    fn run(&self, (side, index): (usize, u32), speed: f64, shares: &[f64], rng: &mut Rng) -> RunMeasures {
        let is_new = side == 1;
        let growth = if let (true, Change::Everything(growth)) = (is_new, self.change) { growth } else { 1.0 };
        let work = growth * speed * self.work.of_run(is_new, rng);
        let (work, wall) = match self.length {
            Length::Window => (work, WALL),
            Length::Jitter => (work, WALL * (1.0 + 0.01 * normal(rng))),
            Length::LaunchToExit => (work, WALL * work * (1.0 + 0.01 * normal(rng))),
            Length::Users => {
                let stay = log_normal(1.25_f64.ln().sqrt(), rng);
                (work * stay, WALL * stay)
            }
        };
        let mut run = self.measured(is_new, work, shares, rng);
        let place = (f64::from(index) + 0.25 + 0.5 * side as f64) / f64::from(self.runs[side]);
        run.record = self.record(side, index, &run.frames, ((wall * SECOND) as u64, (86_400.0 * place) as u32));
        run
    }

    /// Draws the samples of a run.
    fn measured(&self, is_new: bool, work: f64, shares: &[f64], rng: &mut Rng) -> RunMeasures {
        let mut draw = |share: f64| poisson(SAMPLES * work * share, rng);
        let mut tree = Tree::new();
        let main = tree.add("main", None, draw(CALLER));
        let callers: Vec<u32> = match self.is_flat {
            true => vec![main],
            false => (0..CALLERS).map(|index| tree.add(&format!("c{index}"), Some(main), draw(CALLER))).collect(),
        };
        for (index, share) in shares.iter().enumerate() {
            let caller = callers[index % callers.len()];
            let change = if is_new && index == 0 { self.change } else { Change::Nothing };
            let factor = if let Change::First(factor) = change { factor } else { 1.0 };
            let samples = draw(factor * share);
            match change {
                Change::Inlined => tree.count(caller, samples),
                Change::Renamed => _ = tree.add(RENAMED, Some(caller), samples),
                _ if samples > 0 => _ = tree.add(&format!("f{index:03}"), Some(caller), samples),
                _ => {}
            }
        }
        tree.finish()
    }

    /// The facts about a run with this length that starts this many seconds after midnight.
    fn record(&self, side: usize, index: u32, frames: &[FrameRow], (wall, start): (u64, u32)) -> RunRecord {
        let label = |key: &str, value: String| (key.to_owned(), value);
        let (side_name, device) = (["base", "new"][side], self.devices.of_run(index));
        let name = format!("{side_name}-{index}");
        let model = if let Devices::Blocks = self.devices { device } else { 0 };
        let weight = frames.iter().map(|row| row.self_weight).sum();
        RunRecord {
            run_id: name.clone(),
            fingerprint: name.clone(),
            source: format!("{name}.xml"),
            labels: vec![
                label("app", "Shop".to_owned()),
                label("device", format!("iPhone{},1", 14 + model)),
                label("device_id", format!("{side_name}-{device}")),
                label("os", "iOS 26.1".to_owned()),
                label("side", side_name.to_owned()),
            ],
            start: Some(format!("2026-11-02T{:02}:{:02}:{:02}.000Z", start / 3_600, start / 60 % 60, start % 60)),
            ..record(0, 0, weight, wall)
        }
    }
}

impl Devices {
    /// The device of a run.
    fn of_run(self, index: u32) -> u32 {
        match self {
            Self::One => 0,
            Self::Blocks => index % 2,
            Self::Units(runs) => index / runs,
        }
    }

    /// The work of a device relative to the others.
    fn speed(self, device: u32, rng: &mut Rng) -> f64 {
        match self {
            Self::Blocks if device == 1 => 1.6,
            Self::Units(_) => log_normal(0.2, rng),
            _ => 1.0,
        }
    }

    /// The options with which the command compares them.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::One => &[],
            Self::Blocks => &["--block", "device"],
            Self::Units(_) => &["--unit", "device_id"],
        }
    }
}

impl Work {
    fn of_run(self, is_new: bool, rng: &mut Rng) -> f64 {
        let usual = 1.0 + 0.05 * normal(rng);
        match self {
            Self::Normal(deviation) => (1.0 + deviation * normal(rng)).max(0.1),
            Self::LogNormal(deviation) => log_normal(deviation, rng),
            Self::Unequal if is_new => 1.0 + 3.0 * (usual - 1.0),
            Self::Outliers if rng.one_in(20) => 2.0 * usual,
            Self::Bimodal if rng.one_in(2) => 1.5 * usual,
            Self::Idle if rng.below(10) < 3 => 0.0,
            Self::Tail if is_new && rng.one_in(100) => 3.0 * usual,
            _ => usual,
        }
    }
}

/// The call tree of a run.
struct Tree {
    names: NamesBuilder,
    texts: Vec<String>,
    stacks: Vec<StackRow>,
}

impl Tree {
    fn new() -> Self {
        Self { names: NamesBuilder::default(), texts: Vec::new(), stacks: Vec::new() }
    }

    /// Adds a function, and returns its row.
    fn add(&mut self, name: &str, parent: Option<u32>, samples: u64) -> u32 {
        let mut id = |name: &str| self.names.id(name);
        let (process, thread, binary, function) = (id("Shop"), id("Main Thread"), id("Shop"), id(name));
        self.texts.push(name.to_owned());
        self.stacks.push(StackRow {
            process,
            thread,
            is_main_thread: true,
            parent,
            binary,
            category: Category::User,
            function,
            self_weight: samples * MILLISECOND,
            self_samples: samples,
        });
        (self.stacks.len() - 1) as u32
    }

    /// Adds samples to a row.
    fn count(&mut self, row: u32, samples: u64) {
        let row = &mut self.stacks[row as usize];
        row.self_samples += samples;
        row.self_weight += samples * MILLISECOND;
    }

    /// The run, whose record is yet to come.
    fn finish(self) -> RunMeasures {
        let Self { names, texts, mut stacks } = self;
        let mut all: Vec<u64> = stacks.iter().map(|row| row.self_samples).collect();
        for row in (0..stacks.len()).rev() {
            if let Some(parent) = stacks[row].parent {
                all[parent as usize] += all[row];
            }
        }
        if all[0] == 0 {
            stacks.clear();
        }
        let mut order: Vec<usize> = (0..stacks.len()).filter(|row| all[*row] > 0).collect();
        order.sort_by_key(|row| &texts[*row]);
        let frame = |row: usize| {
            let StackRow { process, thread, is_main_thread, binary, function, self_weight, self_samples, .. } =
                stacks[row];
            let (all_weight, all_samples) = (all[row] * MILLISECOND, all[row]);
            FrameRow {
                process,
                thread,
                is_main_thread,
                binary,
                function,
                self_weight,
                all_weight,
                self_samples,
                all_samples,
            }
        };
        let frames: Vec<FrameRow> = order.into_iter().map(frame).collect();
        let mut binaries = Vec::new();
        sum_binaries(&frames, &mut binaries);
        RunMeasures {
            record: record(0, 0, 0, 0),
            names: names.finish(),
            frames,
            binaries,
            windows: Vec::new(),
            stacks,
            intervals: None,
            histograms: Vec::new(),
        }
    }
}

/// Between 0 and 1, and neither.
fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = ((-2.0 * uniform(rng).ln()).sqrt(), std::f64::consts::TAU * uniform(rng));
    radius * angle.cos()
}

fn log_normal(deviation: f64, rng: &mut Rng) -> f64 {
    (deviation * normal(rng)).exp()
}

fn poisson(mean: f64, rng: &mut Rng) -> u64 {
    if mean > 30.0 {
        return poisson(mean / 2.0, rng) + poisson(mean / 2.0, rng);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), uniform(rng), 0);
    while product > limit {
        product *= uniform(rng);
        count += 1;
    }
    count
}
