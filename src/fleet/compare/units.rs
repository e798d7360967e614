//! The units of both sides, in blocks.

use std::collections::{BTreeMap, HashMap};

use super::CompareOptions;
use super::side::Side;
use crate::fleet::report::RunRow;
use crate::stats::Quantile;
use crate::stats::compare::Block;

/// The values of the labels of a block.
type Labels = Vec<Option<String>>;

/// A block with units on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedBlock {
    /// The values of the labels of blocks; `None` if its runs lack the label.
    pub labels: Vec<Option<String>>,
    /// The CPU use of each unit of the base and of the new side: the geometric mean of its runs that were not idle, or 0.
    pub values: [Vec<f64>; 2],
    /// The runs of the base and of the new side, from the lowest CPU use to the highest.
    pub runs: [Vec<RunRow>; 2],
}

impl ComparedBlock {
    /// The nearest-rank percentile of the CPU use of the runs of a side.
    pub fn quantile(&self, side: usize, quantile: Quantile) -> f64 {
        let rank = quantile.nearest_rank(self.runs[side].len() as u64) as usize;
        rank.checked_sub(1).map_or(0.0, |place| self.runs[side][place].rate.as_f64())
    }

    /// The geometric mean of the units of a side that are not idle, which effects compare; `None` if all are idle.
    pub fn geometric_mean(&self, side: usize) -> Option<f64> {
        let logarithms: Vec<f64> = self.values[side].iter().filter(|value| **value > 0.0).map(|v| v.ln()).collect();
        (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    }
}

/// Which unit and block each run belongs to.
pub(super) struct Units {
    /// The blocks that both sides have.
    blocks: Vec<Labels>,
    sides: [SideUnits; 2],
    /// Runs of each side in blocks that the other side lacks, by the labels of the block.
    pub(super) alone: [BTreeMap<Labels, u64>; 2],
    /// Units that both sides have.
    pub(super) shared: u64,
    /// Runs of each side without the label of units: each is a unit.
    pub(super) without_label: [u64; 2],
    /// The CPU use of the runs of each side.
    rates: [Vec<f64>; 2],
}

/// The units of one side.
#[derive(Default)]
struct SideUnits {
    /// By run: its unit; `None` in blocks that the other side lacks.
    of_run: Vec<Option<usize>>,
    /// By unit: its block.
    blocks: Vec<usize>,
}

impl Units {
    pub(super) fn new(sides: &[Side; 2], options: &CompareOptions) -> Self {
        let labels = sides.each_ref().map(|side| {
            let of = |run: &RunRow| labels_of(side, run, options);
            side.report.runs.iter().map(of).collect::<Vec<_>>()
        });
        let counts = labels.each_ref().map(|runs| {
            let mut counts: BTreeMap<Labels, u64> = BTreeMap::new();
            runs.iter().for_each(|(block, _)| *counts.entry(block.clone()).or_default() += 1);
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
            for (labels, unit) in &labels[side] {
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
        let rates = sides.each_ref().map(|side| side.report.runs.iter().map(|run| run.rate.as_f64()).collect());
        Self { blocks, sides: units, alone, shared, without_label, rates }
    }

    /// The number of units of each side.
    pub(super) fn counts(&self) -> [u64; 2] {
        self.sides.each_ref().map(|side| side.blocks.len() as u64)
    }

    /// The number of runs of each side.
    pub(super) fn runs(&self) -> [u64; 2] {
        self.sides.each_ref().map(|side| side.of_run.iter().flatten().count() as u64)
    }

    /// By block and side: the mean of each unit over those of its runs that have a value; `None` if none has one.
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

    /// The logarithms of the CPU use of units, by block and side; `None` for idle ones.
    pub(super) fn logarithms(&self) -> Vec<[Vec<Option<f64>>; 2]> {
        self.means(|side, run| Some(self.rates[side][run]).filter(|rate| *rate > 0.0).map(f64::ln))
    }

    /// The mean of a value over the runs of each side: the mean over blocks, as effects are.
    pub(super) fn mean_use(&self, value: impl Fn(usize, usize) -> f64) -> [f64; 2] {
        [0, 1].map(|side| {
            let units = &self.sides[side];
            let mut sums = vec![(0.0, 0_u64); self.blocks.len()];
            for (run, unit) in units.of_run.iter().enumerate() {
                if let Some(unit) = unit {
                    let (sum, count) = &mut sums[units.blocks[*unit]];
                    *sum += value(side, run);
                    *count += 1;
                }
            }
            sums.iter().map(|(sum, count)| sum / *count as f64).sum::<f64>() / sums.len().max(1) as f64
        })
    }

    /// The mean CPU use of a run of each side.
    pub(super) fn mean_rates(&self) -> [f64; 2] {
        self.mean_use(|side, run| self.rates[side][run])
    }

    /// True if a run counts.
    pub(super) fn has(&self, side: usize, run: usize) -> bool {
        self.sides[side].of_run[run].is_some()
    }

    /// By block and side: the runs that count.
    pub(super) fn runs_of_blocks<'s>(&self, sides: &'s [Side; 2]) -> Vec<[Vec<&'s RunRow>; 2]> {
        let mut blocks = vec![<[Vec<&RunRow>; 2]>::default(); self.blocks.len()];
        for (side, units) in self.sides.iter().enumerate() {
            for (row, unit) in sides[side].report.runs.iter().zip(&units.of_run) {
                if let Some(unit) = unit {
                    blocks[units.blocks[*unit]][side].push(row);
                }
            }
        }
        blocks
    }

    pub(super) fn into_blocks(self, sides: &[Side; 2]) -> Vec<ComparedBlock> {
        let (logarithms, runs) = (self.logarithms(), self.runs_of_blocks(sides));
        let use_of = |values: Vec<Option<f64>>| values.into_iter().map(|log| log.map_or(0.0, f64::exp)).collect();
        let sorted = |rows: Vec<&RunRow>| {
            let mut runs: Vec<RunRow> = rows.into_iter().cloned().collect();
            runs.sort_by(|a, b| a.rate.cmp(&b.rate).then_with(|| a.source.cmp(&b.source)));
            runs
        };
        let blocks = self.blocks.into_iter().zip(logarithms).zip(runs).map(|((labels, values), runs)| ComparedBlock {
            labels,
            values: values.map(use_of),
            runs: runs.map(sorted),
        });
        blocks.collect()
    }
}

/// Values that exist, by block.
pub(super) fn blocks_of(values: &[[Vec<Option<f64>>; 2]]) -> Vec<Block> {
    let flat = |values: &Vec<Option<f64>>| values.iter().flatten().copied().collect();
    values.iter().map(|[base, new]| Block { base: flat(base), new: flat(new) }).collect()
}

/// The block and the unit of a run.
fn labels_of(side: &Side, run: &RunRow, options: &CompareOptions) -> (Labels, Option<String>) {
    let labels = &side.report.cohorts[run.cohort].cohort.labels;
    let value = |key: &String| labels.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.clone());
    (options.blocks.iter().map(value).collect(), options.unit.as_ref().and_then(value))
}
