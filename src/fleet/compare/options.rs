//! The options of comparisons.

use super::quantity::Quantity;

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// The quantities to compare, which share alpha. If empty, they are chosen by the recordings.
    pub measures: Vec<Quantity>,
    /// The labels that divide runs into blocks, such as `device`. Runs are compared within blocks.
    pub blocks: Vec<String>,
    /// The label that identifies a run's unit, such as `device_id`. `None` makes each run a unit.
    pub unit: Option<String>,
    /// The probability of any false claim about the total or a function, in either direction.
    pub alpha: f64,
    /// The smallest relevant relative change, such as 0.03.
    pub min_effect: f64,
    /// True to compare functions.
    pub with_functions: bool,
    /// True if any slower function makes the verdict slower, regardless of its share of the total.
    pub fails_with_any_function: bool,
}

impl Default for CompareOptions {
    /// Compares all runs and their functions. At most 5 % of comparisons contain a false claim, and changes below 3 % are ignored.
    fn default() -> Self {
        Self {
            measures: Vec::new(),
            blocks: Vec::new(),
            unit: None,
            alpha: 0.05,
            min_effect: 0.03,
            with_functions: true,
            fails_with_any_function: false,
        }
    }
}

impl CompareOptions {
    /// The labels to group the sides by ([`FleetOptions::by`](crate::fleet::FleetOptions::by)).
    pub fn by(&self) -> Vec<String> {
        let unit = self.unit.iter().filter(|unit| !self.blocks.contains(unit));
        self.blocks.iter().chain(unit).cloned().collect()
    }

    /// The names of intervals whose durations are compared.
    pub fn intervals(&self) -> Vec<String> {
        Quantity::intervals(&self.measures)
    }
}
