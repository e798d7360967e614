//! The units of both sides, in blocks.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::options::CompareOptions;
use super::quantity::QuantityValues;
use super::side::Side;
use crate::fleet::report::RunRow;
use crate::noise::{RunSum, overdispersion};
use crate::stats::{Block, Quantile};

/// The label values of a block.
type Labels = Vec<Option<String>>;

/// A block with units on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedBlock {
    /// The block's label values; `None` if its runs lack the label.
    pub labels: Vec<Option<String>>,
    /// The value of each unit, on the base and the new side: the mean of its runs.
    pub values: [Vec<f64>; 2],
    /// The runs with a value, on the base and the new side, in ascending order.
    pub runs: [Vec<ComparedRun>; 2],
}

/// A run with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRun {
    /// The value of the first quantity.
    pub value: f64,
    /// The run.
    pub row: RunRow,
}

impl ComparedBlock {
    /// The nearest-rank percentile of a side's run values.
    pub fn quantile(&self, side: usize, quantile: Quantile) -> f64 {
        let rank = quantile.nearest_rank(self.runs[side].len() as u64) as usize;
        rank.checked_sub(1).map_or(0.0, |place| self.runs[side][place].value)
    }

    /// The geometric mean of a side's units that are not idle, which effects are based on; `None` if all are idle.
    pub fn geometric_mean(&self, side: usize) -> Option<f64> {
        let logarithms: Vec<f64> = self.values[side].iter().filter(|value| **value > 0.0).map(|v| v.ln()).collect();
        (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    }
}

/// Assigns runs to units and blocks.
pub(super) struct Units {
    /// The blocks that exist on both sides.
    blocks: Vec<Labels>,
    sides: [SideUnits; 2],
    /// By side: the number of runs in blocks that the other side lacks, by block labels.
    pub(super) alone: [BTreeMap<Labels, u64>; 2],
    /// The number of units that both sides have.
    pub(super) shared: u64,
    /// The number of units in several blocks of a side, which count once in each.
    pub(super) repeated: u64,
    /// By side: the number of runs without the unit label, each of which is a separate unit.
    pub(super) without_label: [u64; 2],
}

#[derive(Default)]
struct SideUnits {
    /// For each run, its unit; `None` if the other side lacks its block.
    of_run: Vec<Option<usize>>,
    /// For each unit, its block.
    blocks: Vec<usize>,
}

impl Units {
    /// Uses only runs for which `measured` returns true.
    pub(super) fn new(sides: &[Side; 2], options: &CompareOptions, measured: impl Fn(usize, usize) -> bool) -> Self {
        let labels = [0, 1].map(|side| {
            let of = |(index, run)| measured(side, index).then(|| labels_of(&sides[side], run, options));
            sides[side].report.runs.iter().enumerate().map(of).collect::<Vec<_>>()
        });
        let counts = labels.each_ref().map(|runs| {
            let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
            runs.iter().flatten().for_each(|(block, _)| *counts.entry(block.clone()).or_default() += 1);
            counts
        });
        let blocks: Vec<Labels> = counts[0].keys().filter(|block| counts[1].contains_key(*block)).cloned().collect();
        let alone = counts.map(|mut counts| {
            counts.retain(|block, _| blocks.binary_search(block).is_err());
            counts
        });
        let mut known: [HashMap<(usize, &str), usize>; 2] = Default::default();
        let mut units: [SideUnits; 2] = Default::default();
        let mut without_label = [0; 2];
        for side in [0, 1] {
            for run in &labels[side] {
                let Some((labels, unit)) = run else {
                    units[side].of_run.push(None);
                    continue;
                };
                let block = blocks.binary_search(labels).ok();
                let SideUnits { of_run, blocks } = &mut units[side];
                without_label[side] += u64::from(options.unit.is_some() && unit.is_none() && block.is_some());
                of_run.push(block.map(|block| {
                    let next = blocks.len();
                    let index = unit.as_ref().map_or(next, |unit| *known[side].entry((block, unit)).or_insert(next));
                    if index == next {
                        blocks.push(block);
                    }
                    index
                }));
            }
        }
        let shared = known[0].keys().filter(|unit| known[1].contains_key(*unit)).count() as u64;
        let of_side = |known: &HashMap<(usize, &str), usize>| {
            let names: HashSet<&str> = known.keys().map(|(_, unit)| *unit).collect();
            (known.len() - names.len()) as u64
        };
        let repeated = known.iter().map(of_side).max().unwrap_or(0);
        Self { blocks, sides: units, alone, shared, repeated, without_label }
    }

    /// The number of units on each side.
    pub(super) fn counts(&self) -> [u64; 2] {
        self.sides.each_ref().map(|side| side.blocks.len() as u64)
    }

    /// The number of runs on each side.
    pub(super) fn runs(&self) -> [u64; 2] {
        self.sides.each_ref().map(|side| side.of_run.iter().flatten().count() as u64)
    }

    /// By block and side: the logarithm of each unit's mean over its runs; `None` if it is 0.
    pub(super) fn log_means(&self, value: impl Fn(usize, usize) -> Option<f64>) -> Vec<[Vec<Option<f64>>; 2]> {
        let mut means = self.means(value);
        let log = |mean: &mut Option<f64>| *mean = mean.filter(|mean| *mean > 0.0).map(f64::ln);
        means.iter_mut().flatten().flatten().for_each(log);
        means
    }

    /// By block and side: each unit's mean over its runs with a value; `None` without such runs.
    pub(super) fn means(&self, value: impl Fn(usize, usize) -> Option<f64>) -> Vec<[Vec<Option<f64>>; 2]> {
        let mut means = vec![<[Vec<Option<f64>>; 2]>::default(); self.blocks.len()];
        for (side, units) in self.sides.iter().enumerate() {
            let mut sums = vec![(0.0, 0_u64); units.blocks.len()];
            for (run, unit) in units.of_run.iter().enumerate() {
                if let Some((unit, value)) = unit.zip(value(side, run)) {
                    sums[unit].0 += value;
                    sums[unit].1 += 1;
                }
            }
            for (&block, (sum, count)) in units.blocks.iter().zip(sums) {
                means[block][side].push((count > 0).then(|| sum / count as f64));
            }
        }
        means
    }

    /// By block and side: the logarithms of unit values; `None` for idle units.
    pub(super) fn logarithms(&self, values: &[QuantityValues; 2]) -> Vec<[Vec<Option<f64>>; 2]> {
        self.log_means(|side, run| values[side].get(run))
    }

    /// The logarithms of the values of units that are not idle, with the smallest variance that counting allows: 1/(6N²) for N parts.
    pub(super) fn blocks_with_floors(&self, values: &[QuantityValues; 2]) -> Vec<Block> {
        let parts = |side: usize, run| values[side].logarithm(run).map(|_| values[side].parts(run));
        blocks_of(&self.logarithms(values), &self.floors(parts))
    }

    /// By block and side: the smallest variance of a value that is counted in this many parts, averaged over runs.
    pub(super) fn floors(&self, parts: impl Fn(usize, usize) -> Option<f64>) -> Vec<[f64; 2]> {
        let floor = |parts: &Vec<Option<f64>>| least_variance(parts.iter().flatten().copied());
        self.means(parts).iter().map(|sides| sides.each_ref().map(floor)).collect()
    }

    /// The weight of each block, n₁n₂/(n₁+n₂) of its units, normalised to a sum of 1.
    fn weights(&self) -> Vec<f64> {
        let mut counts = vec![[0.0, 0.0]; self.blocks.len()];
        for (side, units) in self.sides.iter().enumerate() {
            units.blocks.iter().for_each(|&block| counts[block][side] += 1.0);
        }
        let weight = |[base, new]: &[f64; 2]| base * new / (base + new);
        let sum: f64 = counts.iter().map(weight).sum();
        counts.iter().map(|count| weight(count) / sum).collect()
    }

    /// The mean of a value over each side's runs that have it: block means, weighted by block.
    pub(super) fn mean_of(&self, value: impl Fn(usize, usize) -> Option<f64>) -> [f64; 2] {
        let weights = self.weights();
        [0, 1].map(|side| {
            let mut sums = vec![(0.0, 0_u64); self.blocks.len()];
            for (block, run) in self.runs_in(side) {
                if let Some(value) = value(side, run) {
                    sums[block].0 += value;
                    sums[block].1 += 1;
                }
            }
            let means = sums.iter().map(|(sum, count)| sum / (*count).max(1) as f64);
            means.zip(&weights).map(|(mean, weight)| mean * weight).sum()
        })
    }

    /// The mean of the new side minus that of the base.
    pub(super) fn mean_difference(&self, value: impl Fn(usize, usize) -> Option<f64>) -> f64 {
        let [base, new] = self.mean_of(value);
        new - base
    }

    /// The standard deviation of run values within blocks and sides; 0 if none has two values.
    pub(super) fn deviation(&self, value: impl Fn(usize, usize) -> Option<f64>) -> f64 {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for side in [0, 1] {
            let mut blocks = vec![Vec::new(); self.blocks.len()];
            self.runs_in(side).for_each(|(block, run)| blocks[block].extend(value(side, run)));
            for values in blocks.iter().filter(|values| !values.is_empty()) {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                squares += values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
                degrees += values.len() as f64 - 1.0;
            }
        }
        let deviation = if degrees > 0.0 { f64::sqrt(squares / degrees) } else { 0.0 };
        // Equal values may differ in their last bits, which is not variation.
        if deviation < 1e-12 { 0.0 } else { deviation }
    }

    /// The used runs of a side, each with its block.
    fn runs_in(&self, side: usize) -> impl Iterator<Item = (usize, usize)> {
        let SideUnits { of_run, blocks } = &self.sides[side];
        of_run.iter().enumerate().filter_map(|(run, unit)| Some((blocks[(*unit)?], run)))
    }

    /// The values of all used runs that have one.
    pub(super) fn runs_of<'u, T>(
        &'u self,
        value: impl Fn(usize, usize) -> Option<T> + Copy + 'u,
    ) -> impl Iterator<Item = T> {
        [0, 1].into_iter().flat_map(move |side| self.runs_in(side).filter_map(move |(_, run)| value(side, run)))
    }

    /// True if a run is used.
    pub(super) fn has(&self, side: usize, run: usize) -> bool {
        self.sides[side].of_run[run].is_some()
    }

    /// The factor by which runs of one block and side vary more than sampling explains.
    pub(super) fn overdispersion(&self, sides: &[Side; 2]) -> f64 {
        let mut groups = vec![<[Vec<RunSum>; 2]>::default(); self.blocks.len()];
        for side in [0, 1] {
            for (block, run) in self.runs_in(side) {
                let RunRow { weight, samples, wall, .. } = &sides[side].report.runs[run];
                let (weight, samples, time) = (*weight as f64, *samples as f64, wall.as_nanos() as f64);
                groups[block][side].push(RunSum { weight, samples, time });
            }
        }
        overdispersion(groups.into_iter().flatten())
    }

    pub(super) fn into_blocks(self, sides: &[Side; 2], values: &[QuantityValues; 2]) -> Vec<ComparedBlock> {
        let mut runs = vec![<[Vec<ComparedRun>; 2]>::default(); self.blocks.len()];
        for side in [0, 1] {
            for (block, run) in self.runs_in(side) {
                let row = &sides[side].report.runs[run];
                runs[block][side].extend(values[side].get(run).map(|value| ComparedRun { value, row: row.clone() }));
            }
        }
        let order = |a: &ComparedRun, b: &ComparedRun| {
            a.value.total_cmp(&b.value).then_with(|| (&a.row.source, a.row.number).cmp(&(&b.row.source, b.row.number)))
        };
        runs.iter_mut().flatten().for_each(|runs| runs.sort_by(order));
        let value_of = |values: Vec<Option<f64>>| values.into_iter().map(|log| log.map_or(0.0, f64::exp)).collect();
        let logarithms = self.logarithms(values);
        let blocks = self.blocks.into_iter().zip(logarithms).zip(runs);
        blocks.map(|((labels, values), runs)| ComparedBlock { labels, values: values.map(value_of), runs }).collect()
    }
}

/// The smallest variance of logarithms of values counted in these numbers of parts: 1/(6N²) for the mean N, which is at least ½.
pub(in crate::fleet) fn least_variance(parts: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = parts.fold((0.0, 0.0), |(sum, count), part| (sum + part, count + 1.0));
    let mean = f64::max(sum / f64::max(count, 1.0), 0.5);
    1.0 / (6.0 * mean * mean)
}

/// Each block's existing values, with the floors of their variances.
pub(super) fn blocks_of(values: &[[Vec<Option<f64>>; 2]], floors: &[[f64; 2]]) -> Vec<Block> {
    let flat = |values: &Vec<Option<f64>>| values.iter().flatten().copied().collect();
    let block = |([base, new], floors): (&[Vec<Option<f64>>; 2], &[f64; 2])| Block {
        base: flat(base),
        new: flat(new),
        floors: *floors,
    };
    values.iter().zip(floors).map(block).collect()
}

/// The block and the unit of a run.
fn labels_of(side: &Side, run: &RunRow, options: &CompareOptions) -> (Labels, Option<String>) {
    let labels = &side.report.cohorts[run.cohort].cohort.labels;
    let value = |key: &String| labels.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.clone());
    (options.blocks.iter().map(value).collect(), options.unit.as_ref().and_then(value))
}
