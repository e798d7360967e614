//! Whether the runs of a new version are slower than those of a base.
//!
//! ```text
//! FleetBuilder of each side ─► Side ─┬─► units in blocks ─► total: effect, idle units, tail ─┬─► verdict
//!                                    └─► weight of each function in each run ─► functions ───┘
//! ```
//!
//! The value of a run is the logarithm of its [CPU use](crate::fleet). Units are what the verdict generalises from: runs, or for example
//! devices, which have the mean of the logarithms of their runs. Units are compared within blocks. `docs/statistics.md` defines every
//! number.

mod callers;
mod functions;
mod noise;
mod runs;
mod scope;
mod side;
mod total;
mod units;
mod verdict;

use crate::units::Unit;

pub use functions::{ComparedFunction, Functions};
pub(super) use runs::ComparedRuns;
pub use scope::LabelDifference;
pub(super) use side::Places;
pub use side::Side;
pub use total::{ShareTest, Total};
pub use units::ComparedBlock;
pub use verdict::{Reason, Verdict};

use units::Units;

/// What a comparison asks.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// Labels within whose values runs are compared, such as `device`.
    pub blocks: Vec<String>,
    /// The label that says which runs belong to one unit, such as `device_id`; a run is a unit if there is none.
    pub unit: Option<String>,
    /// The probability of a false claim about the total, and another one about functions.
    pub alpha: f64,
    /// The smallest relative change that matters, such as 0.03.
    pub min_effect: f64,
    /// Whether functions are compared.
    pub with_functions: bool,
}

impl CompareOptions {
    /// The labels that sides are to be grouped by ([`FleetOptions::by`](crate::fleet::FleetOptions::by)).
    pub fn by(&self) -> Vec<String> {
        let unit = self.unit.iter().filter(|unit| !self.blocks.contains(unit));
        self.blocks.iter().chain(unit).cloned().collect()
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
    /// The tests of the total.
    pub total: Total,
    /// The tests of functions; `None` if they were not requested.
    pub functions: Option<Functions>,
    /// The labels whose values the sides do not share.
    pub differences: Vec<LabelDifference>,
    /// The factor by which the weight of summed runs varies more than sampling, at least 1: noise of a
    /// [`Diff`](crate::report::diff::Diff::with_noise_factor) of the sums of both sides.
    pub noise_factor: f64,
    /// Sentences to read before believing the verdict.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// Compares a base with a new side.
    ///
    /// # Errors
    ///
    /// The sides have no unit in common, or spilled values cannot be read.
    pub fn new(sides: &mut [Side; 2], options: CompareOptions) -> Result<Self, CompareError> {
        let unit = scope::common_unit(sides)?;
        let units = Units::new(sides, &options);
        let total = Total::new(&units, &options);
        let functions = options.with_functions.then(|| Functions::new(sides, &units, &options)).transpose()?;
        let (differences, warnings) = (scope::differences(sides, &options), scope::warnings(sides, &units, &options));
        let failure = scope::no_verdict(sides, &units, &options);
        let verdict = Verdict::new(&total, functions.as_ref(), failure, &options);
        let (counts, runs) = (units.counts(), units.runs());
        let noise_factor = noise::noise_factor(&units, sides);
        Ok(Self {
            options,
            unit,
            verdict,
            blocks: units.into_blocks(sides),
            units: counts,
            runs,
            total,
            functions,
            differences,
            noise_factor,
            warnings,
        })
    }

    /// The functions that are slower, if a claim about any of them is wrong with a probability of at most alpha.
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
                write!(
                    f,
                    "the base is measured in {base} and the new side in {new}, which cannot be compared; choose a table that both have, with --schema, or a kind of report, with --where diagnostic=hang"
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
