//! Runs of two sides whose true difference is known, to count how often `compare` is wrong.

use traceparse::fleet::compare::{CompareOptions, Comparison, Side, Verdict};
use traceparse::fleet::{FleetBuilder, FleetOptions, FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord};
use traceparse::recording::TimeSource;
use traceparse::units::{Millionths, Nanos, Unit};

use crate::runs::Numbers;

/// How the runs of a side vary, and what they are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scenario {
    /// The logarithm of CPU use is normal, with a standard deviation of 5 %.
    LogNormal,
    /// Student's t with 3 degrees of freedom, of the same standard deviation.
    HeavyTails,
    /// One run in twenty uses twice as much.
    Outliers,
    /// 5 % in the base and 15 % in the new side.
    UnequalVariances,
    /// A share of runs, in percent, is idle.
    Idle(u64),
    /// Each device has this many runs; devices differ by 20 %, and are the unit.
    Devices(u64),
    /// Two devices, of which one uses 1.6 times as much: half of the runs of the base, and 60 % of the new ones.
    MixOfDevices,
    /// This many functions, each with 5 to 100 samples on average.
    Functions(u64),
    /// One run in a hundred of the new side uses three times as much.
    Tail,
}

/// What is different in truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Truth {
    /// The new side uses this much more, such as 0.05.
    pub growth: f64,
    /// The first function takes this many times as long; 0 for as long as before.
    pub factor: f64,
}

/// The answer to one invented comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The total is claimed to be slower or faster.
    pub claims_total: bool,
    /// The total is claimed to be slower.
    pub is_slower: bool,
    /// A function is claimed to be slower.
    pub claims_function: bool,
    /// The first function is claimed to be slower.
    pub names_first: bool,
    /// The truth is below the upper bound; `None` without a bound.
    pub is_bounded: Option<bool>,
}

/// Ten seconds.
const WALL: u64 = 10_000_000_000;
/// The weight of a sample.
const SAMPLE: u64 = 1_000_000;
/// CPU use of a typical run.
const USE: f64 = 0.4;

/// Compares `count` invented units a side.
pub fn compared(scenario: Scenario, truth: Truth, count: u64, seed: u64) -> Outcome {
    let comparison = comparison(scenario, truth, count, seed);
    let total = match &comparison.verdict {
        Verdict::Slower(reasons) | Verdict::Faster(reasons) => reasons.iter().any(|reason| reason.name() != "function"),
        _ => false,
    };
    let slower: Vec<_> = comparison.slower_functions().collect();
    Outcome {
        claims_total: total,
        is_slower: total && matches!(comparison.verdict, Verdict::Slower(_)),
        claims_function: !slower.is_empty(),
        names_first: slower.iter().any(|function| function.name.function.as_deref() == Some("f0")),
        is_bounded: comparison.total.upper_bound.map(|bound| bound >= truth.growth.ln_1p()),
    }
}

/// The comparison itself.
pub fn comparison(scenario: Scenario, truth: Truth, count: u64, seed: u64) -> Comparison {
    let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let options = CompareOptions {
        blocks: if scenario == Scenario::MixOfDevices { labels(&["device"]) } else { Vec::new() },
        unit: matches!(scenario, Scenario::Devices(_)).then(|| "device".to_owned()),
        alpha: 0.05,
        // A claim is a claim, however small.
        min_effect: if truth == Truth::default() { 0.0 } else { 0.03 },
        with_functions: matches!(scenario, Scenario::Functions(_)),
    };
    let side = |runs: Vec<RunMeasures>| {
        let by = options.by();
        let mut builder = FleetBuilder::for_comparison(FleetOptions { by, ..FleetOptions::default() });
        runs.iter().for_each(|run| builder.add(run));
        Side::new(builder).expect("nothing is spilled")
    };
    let mut sides = sides(scenario, truth, count, seed).map(side);
    Comparison::new(&mut sides, options).expect("both sides are in nanoseconds")
}

/// The runs of both sides.
pub fn sides(scenario: Scenario, truth: Truth, count: u64, seed: u64) -> [Vec<RunMeasures>; 2] {
    let mut draws = Draws(Numbers::new(seed));
    [false, true].map(|is_new| runs(scenario, truth, is_new, count, &mut draws))
}

fn runs(scenario: Scenario, truth: Truth, is_new: bool, count: u64, draws: &mut Draws) -> Vec<RunMeasures> {
    let growth = if is_new { truth.growth.ln_1p() } else { 0.0 };
    let mut runs = Vec::new();
    for unit in 0..count {
        let (device, of_device, each) = match scenario {
            Scenario::Devices(each) => (unit, 0.2 * draws.normal(), each),
            Scenario::MixOfDevices => {
                let share = if is_new { 6 } else { 5 };
                let device = u64::from(unit * 10 >= count * share);
                (device, device as f64 * 1.6_f64.ln(), 1)
            }
            _ => (0, 0.0, 1),
        };
        for _ in 0..each {
            let log = of_device + growth + noise(scenario, is_new, draws);
            let is_idle = matches!(scenario, Scenario::Idle(percent) if draws.0.below(100) < percent);
            let run_use = if is_idle { 0.0 } else { USE * log.exp() };
            let name = (u64::from(is_new) << 32) + runs.len() as u64;
            runs.push(run(name, device, &weights(scenario, truth, is_new, run_use, draws)));
        }
    }
    runs
}

fn noise(scenario: Scenario, is_new: bool, draws: &mut Draws) -> f64 {
    let normal = draws.normal();
    match scenario {
        Scenario::HeavyTails => 0.05 * draws.student(3) / 3_f64.sqrt(),
        Scenario::Outliers if draws.0.below(20) == 0 => 0.05 * normal + 2_f64.ln(),
        Scenario::UnequalVariances if is_new => 0.15 * normal,
        Scenario::Tail if is_new && draws.0.below(100) == 0 => 0.05 * normal + 3_f64.ln(),
        _ => 0.05 * normal,
    }
}

/// The weight of each function.
fn weights(scenario: Scenario, truth: Truth, is_new: bool, run_use: f64, draws: &mut Draws) -> Vec<u64> {
    let Scenario::Functions(count) = scenario else { return vec![(run_use * WALL as f64).round() as u64] };
    let scale = run_use / USE;
    let mean = |function: u64| 5.0 * 20_f64.powf(function as f64 / count as f64);
    let factor = |function: u64| {
        if is_new && function == 0 && truth.factor > 0.0 {
            truth.factor * 4.0
        } else if function == 0 && truth.factor > 0.0 {
            4.0
        } else {
            1.0
        }
    };
    (0..count).map(|function| SAMPLE * draws.poisson(mean(function) * factor(function) * scale)).collect()
}

fn run(name: u64, device: u64, weights: &[u64]) -> RunMeasures {
    let mut names = NamesBuilder::default();
    let (process, thread, binary) = (names.id("app"), names.id("main"), names.id("App"));
    let mut frames: Vec<FrameRow> = Vec::new();
    for (index, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0) {
        let function: NameId = names.id(&format!("f{index}"));
        let samples = weight.div_ceil(SAMPLE);
        frames.push(FrameRow {
            process,
            thread,
            is_main_thread: true,
            binary,
            function,
            self_weight: weight,
            all_weight: weight,
            self_samples: samples,
            all_samples: samples,
        });
    }
    let weight: u64 = weights.iter().sum();
    let samples = frames.iter().map(|row| row.self_samples).sum();
    let record = RunRecord {
        run_id: format!("{name:x}"),
        fingerprint: String::new(),
        source: format!("{name:012x}.xml"),
        source_bytes: 0,
        number: 1,
        labels: vec![("device".to_owned(), device.to_string())],
        run_weight: Millionths::ONE,
        start: None,
        wall: Some(Nanos::from_nanos(WALL)),
        wall_source: TimeSource::Toc,
        wall_start: Nanos::from_nanos(0),
        parts: Vec::new(),
        schema: "time-profile".to_owned(),
        unit: Unit::Nanoseconds,
        weight,
        samples,
        effective_samples: samples,
        rejected: 0,
        unread_runs: 0,
        excluded_runs: 0,
        cores: 1,
        usual_weight: SAMPLE,
        parser_version: String::new(),
        notes: Vec::new(),
        has_toc_beside: false,
        manifest_labels: None,
    };
    RunMeasures {
        record,
        names: names.finish(),
        frames,
        binaries: Vec::new(),
        windows: Vec::new(),
        stacks: Vec::new(),
        intervals: Vec::new(),
        histograms: Vec::new(),
    }
}

/// Random numbers of distributions.
struct Draws(Numbers);

impl Draws {
    /// Between 0 and 1, and neither.
    fn uniform(&mut self) -> f64 {
        (self.0.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        radius * angle.cos()
    }

    fn student(&mut self, degrees: u32) -> f64 {
        let squares: f64 = (0..degrees).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / f64::from(degrees)).sqrt()
    }

    fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 30.0 {
            return self.poisson(mean / 2.0) + self.poisson(mean / 2.0);
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0);
        while product > limit {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}
