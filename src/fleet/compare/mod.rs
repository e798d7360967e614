//! Compares the runs of a new version with those of a base, to find out whether it is slower.
//!
//! ```text
//! FleetBuilder of each side ─► Side ─┬─► units in blocks ─► total: effect, idle units, tail ─┬─► verdict
//!                                    └─► weight of each function in each run ─► functions ───┘
//! ```
//!
//! The value of a run is the logarithm of a [`Quantity`]: CPU time, CPU use, or elapsed time. The verdict generalises from units: a unit is a run or,
//! for example, a device. A device's value is the logarithm of the mean over its runs. Units are compared within blocks. All claims share one error
//! probability ([`Levels`]). `docs/statistics.md` defines every number.

mod calls;
mod choice;
mod error;
mod functions;
mod levels;
mod measured;
mod moved;
mod options;
mod order;
mod quantity;
mod runs;
mod scope;
mod side;
mod total;
mod units;
mod verdict;
mod weights;

use super::selection::FleetSelection;
use crate::units::Unit;

pub use choice::{Choice, Lengths};
pub use error::CompareError;
pub(crate) use functions::FUNCTION_UNITS;
pub use functions::{CommonGrowth, ComparedFunction, Functions};
pub use levels::Levels;
pub use measured::Measured;
pub use options::CompareOptions;
pub use quantity::Quantity;
pub(super) use quantity::QuantityValues;
pub(super) use runs::ComparedRuns;
pub use scope::LabelDifference;
pub(super) use side::Places;
pub use side::Side;
pub use total::{ShareTest, Total};
pub(super) use units::least_variance;
pub use units::{ComparedBlock, ComparedRun};
pub(crate) use verdict::TOTAL_UNITS;
pub use verdict::{Obstacle, Reason, Verdict};

use units::Units;
use verdict::Evidence;

/// The result of a comparison: whether the new side is slower, by how much, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The options.
    pub options: CompareOptions,
    /// The unit of all weights.
    pub unit: Unit,
    /// The verdict.
    pub verdict: Verdict,
    /// The blocks with units on both sides, sorted by label.
    pub blocks: Vec<ComparedBlock>,
    /// The number of units in these blocks, for the base and the new side.
    pub units: [u64; 2],
    /// The number of runs in these blocks, for the base and the new side.
    pub runs: [u64; 2],
    /// Why the first quantity was chosen.
    pub choice: Choice,
    /// The tests of the total for each quantity; at least one.
    pub measures: Vec<Measured>,
    /// The recorded lengths; `None` for reports from the field.
    pub lengths: Option<Lengths>,
    /// The significance levels of all claims.
    pub levels: Levels,
    /// The tests of functions; `None` if they were not requested.
    pub functions: Option<Functions>,
    /// Labels such as `os` that separate the sides completely, so their effect cannot be distinguished from the version's.
    pub confounders: Vec<String>,
    /// Labels whose values differ between the sides.
    pub differences: Vec<LabelDifference>,
    /// The factor, at least 1, by which the weight of summed runs varies more than sampling noise: the noise factor of a
    /// [`Diff`](crate::report::diff::Diff::with_noise_factor) between the sums of the sides.
    pub noise_factor: f64,
    /// Reasons to distrust the verdict, one sentence each.
    pub warnings: Vec<String>,
    /// The selection with which the base's runs were measured.
    pub selection: FleetSelection,
    /// True to list each run in text.
    pub lists_runs: bool,
}

impl Comparison {
    /// Compares a base with a new side.
    ///
    /// # Errors
    ///
    /// If the sides have no common unit, or spilled values cannot be read.
    pub fn new(sides: &mut [Side; 2], options: CompareOptions) -> Result<Self, CompareError> {
        let unit = scope::common_unit(sides)?;
        let requested: Vec<_> =
            options.measures.iter().map(|quantity| QuantityValues::of_sides(quantity, sides)).collect();
        let is_measured = |side: usize, run| requested.iter().all(|values| values[side].get(run).is_some());
        let units = Units::new(sides, &options, is_measured);
        let lengths = Lengths::new(sides, &units);
        let (choice, quantities) = match options.measures.as_slice() {
            [] => {
                let choice = Choice::new(sides, &units, lengths.as_ref());
                (choice, vec![choice.quantity()])
            }
            requested => (Choice::Requested, requested.to_vec()),
        };
        let levels = Levels::new(options.alpha, quantities.len());
        let values = quantities.into_iter().map(|quantity| {
            let values = QuantityValues::of_sides(&quantity, sides);
            (quantity, values)
        });
        let values: Vec<(Quantity, [QuantityValues; 2])> = values.collect();
        let limits = (levels, options.alpha, options.min_effect);
        let measured = |(quantity, values): &(Quantity, [QuantityValues; 2])| {
            Measured::new((quantity.clone(), values), (sides, &units), (choice, lengths.as_ref()), limits)
        };
        let measures: Vec<Measured> = values.iter().map(measured).collect();
        let invalid = scope::invalid(sides, &units, (&options, &values));
        let functions = match options.with_functions && invalid.is_none() {
            true => Some(Functions::new(sides, &units, &measures[0], (levels, &options))?),
            false => None,
        };
        let confounders = scope::confounders(sides);
        let warnings = scope::warnings(sides, &units, (&options, &values));
        let verdict = match invalid {
            Some(because) => Verdict::Invalid { because },
            None => Verdict::new(&Evidence {
                measures: &measures,
                functions: functions.as_ref(),
                lengths: lengths.as_ref(),
                may_have_failed: choice.may_have_failed(&[&sides[0], &sides[1]]),
                units: units.counts(),
                is_confounded: !confounders.is_empty(),
                is_saturated: unit == Unit::Nanoseconds
                    && measures[0].quantity == Quantity::CpuUse
                    && scope::are_saturated(sides, &units),
                min_effect: options.min_effect,
            }),
        };
        Ok(Self {
            unit,
            verdict,
            units: units.counts(),
            runs: units.runs(),
            choice,
            measures,
            lengths,
            levels,
            functions,
            confounders,
            differences: scope::differences(sides, &options),
            noise_factor: units.overdispersion(sides),
            warnings,
            selection: sides[0].report.selection.clone(),
            lists_runs: false,
            blocks: units.into_blocks(sides, &values[0].1),
            options,
        })
    }

    /// The first quantity, which blocks and functions refer to.
    pub fn first(&self) -> &Measured {
        &self.measures[0]
    }

    /// The functions that became slower.
    pub fn slower_functions(&self) -> impl Iterator<Item = &ComparedFunction> {
        self.functions.iter().flat_map(Functions::slower)
    }
}
