//! Statistics, compared with numpy, scipy, and exact arithmetic on Python's integers.
//!
//! Each test writes its inputs and our answers into a folder as JSON and runs `tests/oracle/stats.py FOLDER`, which
//! exits with an error and the first differences. If Python cannot `import numpy, scipy`, the tests report themselves as
//! ignored.
//!
//! | test | ours | theirs | equal |
//! |---|---|---|---|
//! | `quantiles` | nearest rank and linear of 1,000 samples of 1 to 5,000 values, every 0.1 % and P99.99 | `numpy.quantile`, `inverted_cdf` and `linear` | every bit |
//! | `weighted` | quantiles by weight of 500 samples | `numpy.quantile`, `inverted_cdf` with `weights`; exact sums | every bit |
//! | `intervals` | ranks for every n to 5,000, and some to 10⁷ | `scipy.stats.binom.ppf`, and `cdf` and `sf` for the coverage | every rank |
//! | `needed` | values needed for both ends of an interval | exact powers of fractions; the table 6, 36, 72, 368, 3,688 | every number |
//! | `poisson` | quantiles for means from 10⁻⁶ to 10⁷ | `scipy.stats.poisson.ppf` | every quantile |
//!
//! # Where answers may differ
//!
//! * `numpy` computes q·n in doubles. Where q·n is an integer, the product may be a bit above it, and numpy takes the
//!   next value. We compute ⌈q·n⌉ in integers. The script decides by fractions, requires ours to be right everywhere,
//!   allows numpy the next value in these cases only, and prints how many there were.
//! * With weights, `numpy` adds and divides in doubles, which may fall on either side where a cumulative weight is
//!   exactly (to 10⁻¹²) q of all. Ours must be right by integers there too; the cases are printed.
//! * Where a tail is exactly what may be missed (one value, q = 0.9, 80 %), `binom.ppf` takes the rank outside. We take
//!   it that at most so much may be missed. Fractions decide; the cases are printed.
//! * For means above a million, `scipy`'s Poisson tails have few digits: at a mean of 2,089,296.13 it has 9.9964·10⁻⁷
//!   for the probability of more than 2,096,170, which is 1.00006·10⁻⁶, and so the wrong quantile for q = 0.999999.
//!   Where we differ there, decimals of 40 digits decide; the cases are printed.

use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use support::Rng;
use traceparse::stats::{Confidence, Distribution, Quantile, QuantileMethod};
use traceparse::units::Millionths;

use crate::programs::{oracle, python, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let has_packages = runs(python().args(["-c", "import numpy, scipy.stats"]));
    let trial = |name: &'static str, answers: fn() -> Value| {
        let test = move || {
            let folder = tempfile::tempdir()?;
            fs::write(folder.path().join(format!("{name}.json")), answers().to_string())?;
            oracle("stats.py", [folder.path()]).map(drop)
        };
        trial!(name, test).with_ignored_flag(!has_packages)
    };
    vec![
        trial("quantiles", quantiles),
        trial("weighted", weighted),
        trial("intervals", intervals),
        trial("needed", needed),
        trial("poisson", poisson),
    ]
}

/// Random numbers, the same in every run.
struct Random(Rng);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// In (0, 1].
    fn share(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Millionths of one of several shapes: even, heavy-tailed, full of ties, full of zeros, of every size.
    fn value(&mut self, shape: u64) -> u64 {
        match shape % 5 {
            0 => self.below(100_000_000),
            1 => (20_000.0 / self.share().powf(1.5)).min(1e14) as u64,
            2 => self.below(8) * 333_333,
            3 => self.below(3).min(1) * self.below(5_000_000),
            _ => self.bits() >> (12 + self.below(50)),
        }
    }

    /// Sizes around those at which quantiles and doubles change, and any others to 5,000.
    fn size(&mut self) -> u64 {
        const NOTABLE: [u64; 14] = [1, 2, 3, 4, 5, 7, 10, 20, 99, 100, 101, 1000, 1001, 5000];
        match self.below(4) {
            0 => NOTABLE[self.below(NOTABLE.len() as u64) as usize],
            1 => 1 + self.below(50),
            2 => 1 + self.below(500),
            _ => 1 + self.below(5000),
        }
    }
}

fn quantile(parts: u32) -> Quantile {
    Quantile::from_parts_per_million(parts).unwrap()
}

/// Every 0.1 %, and some closer to the ends.
fn grid() -> Vec<u32> {
    (0..=1000).map(|tenth| tenth * 1000).chain([1, 100, 999_900, 999_990, 999_999]).collect()
}

fn quantiles() -> Value {
    let mut random = Random(Rng::new(1));
    let samples = (0..1000).map(|index| {
        let values: Vec<u64> = (0..random.size()).map(|_| random.value(index)).collect();
        // Zeros are given as values, as a number, or both.
        let zeros = if index % 2 == 0 { 0 } else { random.below(20) };
        let distribution = Distribution::new(values.iter().copied().map(Millionths::new).collect(), zeros);
        let by =
            |method| -> Vec<_> { grid().into_iter().map(|q| distribution.quantile(quantile(q), method)).collect() };
        json!({
            "values": values,
            "zeros": zeros,
            "nearest": by(QuantileMethod::NearestRank),
            "linear": by(QuantileMethod::Linear),
            "mean": distribution.mean().unwrap().get(),
        })
    });
    let samples: Vec<Value> = samples.collect();
    json!({ "quantiles": grid(), "samples": samples })
}

fn weighted() -> Value {
    let mut random = Random(Rng::new(2));
    let samples = (0..500).map(|index| {
        let size = 1 + random.size() % 1000;
        let pairs: Vec<(u64, u64)> = (0..size)
            .map(|_| {
                let weight = match index % 3 {
                    0 => 1_000_000 * (1 + random.below(4)),
                    1 => 1 + random.below(10_000_000),
                    _ => (1000.0 / random.share()) as u64,
                };
                (random.value(index), weight)
            })
            .collect();
        let zeros = random.below(3);
        let zero_weight = zeros * 1_500_000;
        let given = pairs.iter().map(|(value, weight)| (Millionths::new(*value), Millionths::new(*weight))).collect();
        let distribution = Distribution::weighted(given, zeros, zero_weight.into());
        let nearest: Vec<_> = grid().into_iter().map(|q| distribution.nearest(quantile(q)).unwrap().get()).collect();
        json!({
            "pairs": pairs,
            "zeros": zeros,
            "nearest": nearest,
            "mean": distribution.weighted_mean().unwrap().get(),
            "effective": distribution.effective_count(),
        })
    });
    let samples: Vec<Value> = samples.collect();
    json!({ "quantiles": grid(), "samples": samples })
}

const STANDARD: [u32; 10] = [10_000, 100_000, 250_000, 500_000, 750_000, 900_000, 950_000, 990_000, 999_000, 999_900];

fn intervals() -> Value {
    let mut random = Random(Rng::new(3));
    let many = (0..60).map(|_| 5000 + (10f64.powf(3.7 + 3.3 * random.share())) as u64);
    let many: Vec<u64> = many.chain([10_000, 100_000, 1_000_000, 10_000_000]).collect();
    let mut rows = Vec::new();
    let mut add = |count: u64, parts: u32, confidence: &str| {
        let asked = Confidence::from_percent(confidence).unwrap();
        let (lower, upper) = quantile(parts).interval_ranks(count, asked);
        rows.push(json!([count, parts, asked.parts_per_million(), lower, upper]));
    };
    for parts in STANDARD {
        (1..=5000).for_each(|count| add(count, parts, "95"));
        many.iter().for_each(|count| add(*count, parts, "95"));
        for confidence in ["80", "90", "99", "99.9"] {
            (1..=5000).step_by(37).for_each(|count| add(count, parts, confidence));
        }
    }
    json!(rows)
}

fn needed() -> Value {
    let mut rows = Vec::new();
    for confidence in ["95", "90", "99", "99.99"] {
        let asked = Confidence::from_percent(confidence).unwrap();
        for parts in STANDARD.into_iter().chain((1..100).map(|percent| percent * 10_000)) {
            let quantile = quantile(parts);
            rows.push(json!([
                parts,
                asked.parts_per_million(),
                quantile.needed_for_interval(asked),
                quantile.needed_count()
            ]));
        }
    }
    json!(rows)
}

fn poisson() -> Value {
    let mut random = Random(Rng::new(4));
    let even = (0..=260).map(|step| 10f64.powf(-6.0 + f64::from(step) / 20.0));
    let means: Vec<f64> = even.chain((0..200).map(|_| 10f64.powf(-6.0 + 13.0 * random.share()))).collect();
    let whole = (1..=300).map(f64::from).chain([1e3, 1e4, 1e5, 1e6, 1e7]);
    let mut rows = Vec::new();
    for mean in means.into_iter().chain(whole) {
        for parts in STANDARD.into_iter().chain([1, 1000, 999_990, 999_999]) {
            rows.push(json!([mean, parts, quantile(parts).of_poisson(mean).unwrap()]));
        }
    }
    json!(rows)
}
