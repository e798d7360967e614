//! Finds the functions that use more CPU than before.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::calls::Relatives;
use super::levels::Levels;
use super::measured::Measured;
use super::moved;
use super::options::CompareOptions;
use super::quantity::Quantity;
use super::side::Side;
use super::units::Units;
use super::weights::{FunctionValues, Weights};
use crate::fleet::run::FrameRow;
use crate::fleet::scope::ScopeName;
use crate::stats::{Effect, benjamini_hochberg, holm};

/// Functions with fewer samples per run, over both sides, are not tested: no change could be detected, and testing them would make other changes
/// harder to detect.
const LEAST_SAMPLES: u64 = 5;

/// With fewer units per side, no function is claimed to have changed, since the variance of a few units with few samples is too uncertain.
pub(crate) const FUNCTION_UNITS: u64 = 5;

/// If the unnamed weight of a binary's run changed by less than this share of its weight, its functions can be compared.
const UNNAMED: f64 = 0.05;
/// The probability that it appears to have changed in any binary although it did not.
const UNNAMED_LEVEL: f64 = 0.01;

/// The probability of exceeding the upper bound of the total's growth, which can rule out that a function grew.
const SURELY: f64 = 0.005;

/// The tests of all functions with enough samples.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Functions {
    /// The tested functions, most significant change first. Empty if a side has fewer than five units.
    pub tested: Vec<ComparedFunction>,
    /// The probability that any claim is wrong (Holm), and the expected share of wrong rows among the [changed](Self::changed) ones.
    pub level: f64,
    /// The smallest relevant relative change.
    pub min_effect: f64,
    /// The base's mean total per run.
    pub base_total: f64,
    /// How functions grew together, if the total is slower and no function clearly grew more than the others.
    pub growth: Option<CommonGrowth>,
    /// True if any slower function fails the job.
    fails_with_any: bool,
    /// Binaries whose functions are not tested, since the amounts of their code without symbols differ between the sides; with the shares of this
    /// code in their weight. The empty string stands for samples without a binary or a stack, whose change may explain that of any function.
    pub unnamed: Vec<(String, [f64; 2])>,
}

/// How several functions grew together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonGrowth {
    /// All functions grew by about the same factor: none clearly grew less than the others.
    All,
    /// Some functions grew less, or not at all.
    Most,
}

/// The self weight of a function on both sides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparedFunction {
    /// The binary and the function.
    pub name: ScopeName,
    /// The mean self weight per run of the base and the new side, within blocks.
    pub means: [f64; 2],
    /// The number of samples on each side with this function as the leaf.
    pub samples: [u64; 2],
    /// The ratio of new to base within blocks, with half a sample added to each value.
    pub ratio: f64,
    /// The interval of the ratio, for this function alone.
    pub interval: (f64, f64),
    /// The one-sided p-value of the growth. If the total is slower, the larger of this and the p-value of growth relative to all other functions.
    pub p: f64,
    /// The p-value adjusted for the number of functions (Holm).
    pub p_holm: f64,
    /// The expected share of wrong rows among those that changed at least as significantly in either direction (Benjamini and Hochberg).
    pub q: f64,
    /// True if the function is slower: its growth is significant and large enough, and the cost did not move from other functions.
    pub is_slower: bool,
    /// Functions that fell by as much, from which the cost may have moved, for example because a function was renamed or inlined.
    pub moved_from: Vec<ScopeName>,
}

impl ComparedFunction {
    /// The growth of a run's mean self weight.
    pub fn growth(&self) -> f64 {
        self.means[1] - self.means[0]
    }
}

impl Functions {
    pub(super) fn new(
        sides: &mut [Side; 2],
        units: &Units,
        measured: &Measured,
        (levels, options): (Levels, &CompareOptions),
    ) -> io::Result<Self> {
        let min_effect = options.min_effect;
        let (quantity, is_total_slower) = (&measured.quantity, measured.total.is_slower(min_effect));
        let mut family = Family::new(sides, units)?;
        if units.counts().into_iter().min() < Some(FUNCTION_UNITS) {
            family.names.clear();
        }
        let lost = Weights::of(sides, units, |name| family.lost.contains(name))?;
        let unnamed = family.unnamed(&lost, &FunctionValues::new(quantity, sides, units));
        let is_unnamed = |name: &ScopeName| unnamed.iter().any(|(binary, _)| Some(binary) == name.binary.as_ref());
        family.names.retain(|name| binary_of(name).is_none() || !is_unnamed(name));
        let weights = Weights::of(sides, units, |name| family.names.contains(name))?;
        let values = FunctionValues::new(quantity, sides, units);
        let total = units.mean_of(|side, run| {
            let quantity = if *quantity == Quantity::CpuUse { Quantity::CpuUse } else { Quantity::CpuTime };
            quantity.of(&sides[side].report.runs[run])
        });
        let tests: Vec<Test> = weights.iter().map(|(name, weights)| Test::new(name, weights, &values)).collect();
        let mut functions = Self {
            tested: tests.iter().map(|test| test.function(levels, is_total_slower)).collect(),
            level: levels.functions,
            min_effect,
            fails_with_any: options.fails_with_any_function,
            base_total: total[0],
            growth: None,
            unnamed,
        };
        functions.adjust(&tests, is_total_slower);
        // If a function clearly grew by more than the total, its cost must have come from elsewhere.
        let effect = measured.total.effect.filter(|_| quantity.is_sampled());
        let most = effect.map_or(f64::INFINITY, |effect| total[0] * effect.upper_bound(SURELY).exp_m1());
        functions.find_moved((&weights, &family.lost, most), sides, units, quantity)?;
        functions.tested.sort_by(by_certainty);
        Ok(functions)
    }

    /// Adjusts p-values for the number of functions, and decides which functions are slower.
    fn adjust(&mut self, tests: &[Test<'_>], is_total_slower: bool) {
        let grown = holm(&self.tested.iter().map(|function| function.p).collect::<Vec<_>>());
        let two_sided = benjamini_hochberg(&tests.iter().map(Test::two_sided).collect::<Vec<_>>());
        for ((function, test), (p_holm, q)) in self.tested.iter_mut().zip(tests).zip(grown.into_iter().zip(two_sided)) {
            (function.p_holm, function.q) = (p_holm, q);
            let ratio = if is_total_slower { function.ratio.min(test.ratio_of_share()) } else { function.ratio };
            function.is_slower = p_holm <= self.level && ratio >= 1.0 + self.min_effect && function.growth() > 0.0;
        }
        let alone = holm(&tests.iter().map(|test| test.p(false)).collect::<Vec<_>>());
        let grew =
            |(p, function): &(&f64, &ComparedFunction)| **p <= self.level && function.ratio >= 1.0 + self.min_effect;
        let have_several_grown = alone.iter().zip(&self.tested).filter(grew).nth(1).is_some();
        let fell_behind = holm(&tests.iter().map(Test::p_of_smaller_share).collect::<Vec<_>>());
        let is_common = is_total_slower && have_several_grown && !self.tested.iter().any(|function| function.is_slower);
        self.growth = is_common.then(|| match fell_behind.iter().any(|p| *p <= self.level) {
            true => CommonGrowth::Most,
            false => CommonGrowth::All,
        });
    }

    /// Finds slower functions whose growth the fall of other functions explains.
    fn find_moved(
        &mut self,
        (weights, lost, most): (&BTreeMap<ScopeName, Weights>, &BTreeSet<ScopeName>, f64),
        sides: &mut [Side; 2],
        units: &Units,
        quantity: &Quantity,
    ) -> io::Result<()> {
        let mut slower: Vec<&mut ComparedFunction> =
            self.tested.iter_mut().filter(|function| function.is_slower).collect();
        slower.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
        if slower.is_empty() {
            return Ok(());
        }
        let relatives = Relatives::new(sides.iter().flat_map(Side::calls));
        let related: Vec<BTreeSet<&ScopeName>> = slower
            .iter()
            .map(|function| {
                let is_anywhere = relatives.are_unknown() || function.growth() > most || lost.contains(&function.name);
                let mut related: BTreeSet<&ScopeName> = match is_anywhere {
                    // Without call trees, or if the total clearly grew by less, the cost may have moved from anywhere: a class or binary may have
                    // been renamed with everything it calls.
                    true => weights.keys().collect(),
                    false => relatives.of(&function.name),
                };
                // The function may have been among the code without names, or without stacks.
                let may_be =
                    |name: &&ScopeName| binary_of(name).is_none_or(|binary| binary_of(&function.name) == Some(binary));
                related.extend(lost.iter().filter(may_be));
                related.remove(&function.name);
                related
            })
            .collect();
        let all: BTreeSet<&ScopeName> = related.iter().flatten().copied().collect();
        let of_relatives = Weights::of(sides, units, |name| all.contains(name))?;
        let values = FunctionValues::new(quantity, sides, units);
        let mut falls = moved::Falls::new(&of_relatives, &values);
        for (function, related) in slower.iter_mut().zip(&related) {
            let partners = falls.partners((&weights[&function.name], function.growth()), related, &values);
            function.is_slower = partners.is_empty();
            function.moved_from = partners;
        }
        Ok(())
    }

    /// The slower functions, by descending growth. Any of these claims is wrong with a probability of at most the level.
    pub fn slower(&self) -> impl Iterator<Item = &ComparedFunction> {
        let mut slower: Vec<&ComparedFunction> = self.tested.iter().filter(|function| function.is_slower).collect();
        slower.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
        slower.into_iter()
    }

    /// The growth of a function as a share of the base total.
    pub fn growth_of_total(&self, function: &ComparedFunction) -> f64 {
        if self.base_total > 0.0 { function.growth() / self.base_total } else { f64::INFINITY }
    }

    /// True if a function grew enough to slow the total by the smallest relevant change, or if any slower function fails the job.
    pub fn fails(&self, function: &ComparedFunction) -> bool {
        function.is_slower && (self.fails_with_any || self.growth_of_total(function) >= self.min_effect)
    }

    /// The changed functions, by descending change. On average, at most the share `level` of them is wrong.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedFunction> {
        let is_changed = |function: &&ComparedFunction| function.is_slower || function.q <= self.level;
        let mut changed: Vec<&ComparedFunction> = self.tested.iter().filter(is_changed).collect();
        changed.sort_by(|a, b| b.growth().abs().total_cmp(&a.growth().abs()));
        changed.into_iter()
    }
}

fn by_certainty(a: &ComparedFunction, b: &ComparedFunction) -> Ordering {
    let by_growth = b.growth().abs().total_cmp(&a.growth().abs());
    a.p.total_cmp(&b.p).then(by_growth).then_with(|| a.name.cmp(&b.name))
}

/// The tested effects of one function.
struct Test<'w> {
    name: &'w ScopeName,
    samples: [u64; 2],
    means: [f64; 2],
    effect: Option<Effect>,
    share: Option<Effect>,
}

impl<'w> Test<'w> {
    fn new(name: &'w ScopeName, weights: &Weights, values: &FunctionValues<'_>) -> Self {
        Self {
            name,
            samples: weights.samples(),
            means: values.means(weights),
            effect: values.effect(weights),
            share: values.effect_of_share(weights),
        }
    }

    /// The p-value of the growth or, if `with_share`, the larger of this and the p-value of growth relative to all other functions.
    fn p(&self, with_share: bool) -> f64 {
        let p = |effect: &Option<Effect>| effect.map_or(1.0, |effect| effect.p_above());
        if with_share { p(&self.effect).max(p(&self.share)) } else { p(&self.effect) }
    }

    /// The p-value of growing less than all other functions.
    fn p_of_smaller_share(&self) -> f64 {
        self.share.map_or(1.0, |effect| effect.p_below())
    }

    fn two_sided(&self) -> f64 {
        self.effect.map_or(1.0, |effect| effect.p(0.0))
    }

    fn ratio_of_share(&self) -> f64 {
        self.share.map_or(1.0, |effect| effect.difference.exp())
    }

    fn function(&self, levels: Levels, with_share: bool) -> ComparedFunction {
        let interval = self.effect.map_or((0.0, f64::INFINITY), |effect| {
            let (lower, upper) = effect.interval(2.0 * levels.functions);
            (lower.exp(), upper.exp())
        });
        ComparedFunction {
            name: self.name.clone(),
            means: self.means,
            samples: self.samples,
            ratio: self.effect.map_or(1.0, |effect| effect.difference.exp()),
            interval,
            p: self.p(with_share),
            p_holm: 1.0,
            q: 1.0,
            is_slower: false,
            moved_from: Vec::new(),
        }
    }
}

/// The functions to test.
struct Family {
    names: BTreeSet<ScopeName>,
    /// Code without symbols, samples without a stack and, if other functions have binaries, functions without one.
    lost: BTreeSet<ScopeName>,
    /// The weight of each binary on both sides. The empty name has the weight of all samples.
    binaries: BTreeMap<String, [f64; 2]>,
}

impl Family {
    /// Selects functions by their total number of samples on both sides (Bourgon 2010).
    fn new(sides: &mut [Side; 2], units: &Units) -> io::Result<Self> {
        let mut samples: BTreeMap<ScopeName, u64> = BTreeMap::new();
        let mut binaries: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for (side, runs) in sides.iter_mut().enumerate() {
            runs.each_function(|name, entries| {
                let used = || entries.iter().filter(|entry| units.has(side, entry.run as usize));
                let weight: f64 = used().map(|entry| entry.weight as f64).sum();
                binaries.entry(String::new()).or_default()[side] += weight;
                if let Some(binary) = binary_of(&name) {
                    binaries.entry(binary.to_owned()).or_default()[side] += weight;
                }
                *samples.entry(name).or_default() += used().map(|entry| entry.samples).sum::<u64>();
            })?;
        }
        let least = LEAST_SAMPLES * units.runs().iter().sum::<u64>().max(1);
        let is_lost = |name: &ScopeName| !is_named(name) || (binaries.len() > 1 && binary_of(name).is_none());
        let lost = samples.keys().filter(|name| is_lost(name)).cloned().collect();
        samples.retain(|name, count| *count >= least && is_named(name));
        Ok(Self { names: samples.into_keys().collect(), lost, binaries })
    }

    /// The binaries whose amounts of code without names differ, with the shares of this code.
    fn unnamed(&self, lost: &BTreeMap<ScopeName, Weights>, values: &FunctionValues<'_>) -> Vec<(String, [f64; 2])> {
        let mut by_binary: BTreeMap<&str, Weights> = BTreeMap::new();
        for (name, weights) in lost {
            by_binary.entry(binary_of(name).unwrap_or_default()).or_default().add(weights);
        }
        let runs = values.units.runs().map(|count| count.max(1) as f64);
        let level = UNNAMED_LEVEL / by_binary.len().max(1) as f64;
        let differ = |(binary, weights): (&str, Weights)| {
            let (all, lost) = (*self.binaries.get(binary)?, weights.sums());
            let of_run = |sums: [f64; 2]| [sums[0] / runs[0], sums[1] / runs[1]];
            let ([base, new], most) = (of_run(lost), of_run(all).into_iter().fold(0.0, f64::max));
            let is_large = all.iter().all(|weight| *weight > 0.0) && (base - new).abs() > UNNAMED * most;
            let is_sure = || values.effect(&weights).is_none_or(|effect| effect.p(0.0) <= level);
            let share = |side: usize| lost[side] / all[side];
            (is_large && is_sure()).then(|| (binary.to_owned(), [share(0), share(1)]))
        };
        by_binary.into_iter().filter_map(differ).collect()
    }
}

/// False for code without symbols, which may belong to any function.
fn is_named(name: &ScopeName) -> bool {
    name.function.as_deref().is_some_and(|name| name != FrameRow::UNNAMED && name != FrameRow::STACKLESS)
}

/// The binary of a function; `None` if it is missing, which is empty.
fn binary_of(name: &ScopeName) -> Option<&str> {
    name.binary.as_deref().filter(|binary| !binary.is_empty())
}
