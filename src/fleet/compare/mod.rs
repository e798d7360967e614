//! Whether the runs of a new version are slower than those of a base.
//!
//! ```text
//! FleetBuilder of each side ─► Side ─┬─► units in blocks ─► total: effect, idle units, tail ─┬─► verdict
//!                                    └─► weight of each function in each run ─► functions ───┘
//! ```
//!
//! The value of a run is the logarithm of a [`Quantity`]: CPU time, CPU use, or elapsed time. Units are what the verdict generalises from: runs,
//! or for example devices, which have the mean of the logarithms of their runs. Units are compared within blocks. All claims share one
//! probability of being wrong ([`Levels`]). `docs/statistics.md` defines every number.

mod calls;
mod choice;
mod functions;
mod levels;
mod measured;
mod moved;
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
pub(crate) use functions::FUNCTION_UNITS;
pub use functions::{CommonGrowth, ComparedFunction, Functions};
pub use levels::Levels;
pub use measured::{Guard, Measured};
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

/// What a comparison asks.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// The quantities to compare, which share alpha; the recordings decide if there are none.
    pub measures: Vec<Quantity>,
    /// Labels within whose values runs are compared, such as `device`.
    pub blocks: Vec<String>,
    /// The label that says which runs belong to one unit, such as `device_id`; a run is a unit if there is none.
    pub unit: Option<String>,
    /// The probability of any false claim, about the total or a function, in any direction.
    pub alpha: f64,
    /// The smallest relative change that matters, such as 0.03.
    pub min_effect: f64,
    /// Whether functions are compared.
    pub with_functions: bool,
    /// True if any slower function makes the verdict slower, however little of the total it is.
    pub fails_with_any_function: bool,
}

impl CompareOptions {
    /// The labels that sides are to be grouped by ([`FleetOptions::by`](crate::fleet::FleetOptions::by)).
    pub fn by(&self) -> Vec<String> {
        let unit = self.unit.iter().filter(|unit| !self.blocks.contains(unit));
        self.blocks.iter().chain(unit).cloned().collect()
    }

    /// The names of the intervals whose duration is compared.
    pub fn intervals(&self) -> Vec<String> {
        Quantity::intervals(&self.measures)
    }
}

/// Whether the new side is slower, how much, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The question.
    pub options: CompareOptions,
    /// The unit of all weights.
    pub unit: Unit,
    /// The answer.
    pub verdict: Verdict,
    /// The blocks with units on both sides, by label.
    pub blocks: Vec<ComparedBlock>,
    /// Units of the base and of the new side in these blocks.
    pub units: [u64; 2],
    /// Runs of the base and of the new side in these blocks.
    pub runs: [u64; 2],
    /// Why the first quantity is compared.
    pub choice: Choice,
    /// The tests of the totals of all quantities; at least one.
    pub measures: Vec<Measured>,
    /// The lengths of the recordings; `None` for reports from the field.
    pub lengths: Option<Lengths>,
    /// The levels of all claims.
    pub levels: Levels,
    /// The tests of functions; `None` if they were not requested.
    pub functions: Option<Functions>,
    /// Labels that separate the sides completely, such as `os`: their effect cannot be told from that of the version.
    pub confounders: Vec<String>,
    /// The labels whose values the sides do not share.
    pub differences: Vec<LabelDifference>,
    /// The factor by which the weight of summed runs varies more than sampling, at least 1: noise of a
    /// [`Diff`](crate::report::diff::Diff::with_noise_factor) of the sums of both sides.
    pub noise_factor: f64,
    /// Sentences to read before believing the verdict.
    pub warnings: Vec<String>,
    /// The selection that the runs of the base were measured with.
    pub selection: FleetSelection,
    /// True to list each run in text.
    pub lists_runs: bool,
}

impl Comparison {
    /// Compares a base with a new side.
    ///
    /// # Errors
    ///
    /// The sides have no unit in common, or spilled values cannot be read.
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

    /// The first quantity, which blocks and functions are about.
    pub fn first(&self) -> &Measured {
        &self.measures[0]
    }

    /// The functions that are slower.
    pub fn slower_functions(&self) -> impl Iterator<Item = &ComparedFunction> {
        self.functions.iter().flat_map(Functions::slower)
    }
}

/// The reason why sides cannot be compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompareError {
    /// Weights have several units, such as cycles and nanoseconds; each side's are listed.
    Units([Vec<Unit>; 2]),
    /// Values that were [spilled](crate::fleet::FleetBuilder::spill) cannot be read.
    Spilled(std::io::Error),
}

impl std::fmt::Display for CompareError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Units(sides) => {
                let names = |units: &Vec<Unit>| units.iter().map(|unit| unit.name()).collect::<Vec<_>>().join(" and ");
                let [base, new] = sides.each_ref().map(names);
                let measured = if base == new {
                    format!("both sides have runs measured in {base}")
                } else {
                    format!("the base is measured in {base} and the new side in {new}")
                };
                write!(
                    f,
                    "{measured}, which cannot be compared; choose a table that both have, with --schema, or a kind of report, with --where diagnostic=hang"
                )
            }
            Self::Spilled(error) => write!(f, "values in a temporary file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for CompareError {}

impl From<std::io::Error> for CompareError {
    fn from(error: std::io::Error) -> Self {
        Self::Spilled(error)
    }
}
