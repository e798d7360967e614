//! The options of trends, and the labels that trends use.

use super::compare::Quantity;
use super::options::FleetOptions;
use crate::stats::Looks;

/// Labels of the environment. If one changes together with the app, either may be the cause.
pub(super) const ENVIRONMENT: [&str; 3] = ["device", "os", "instruments"];

/// The label with the app's exit status.
pub(super) const EXIT_STATUS: &str = "exit_status";

/// The manifest label that overrides a recording's start time.
pub(super) const DATE: &str = "date";

/// The options of a [`TrendReport`](super::TrendReport).
#[derive(Clone, Debug, PartialEq)]
pub struct TrendOptions {
    /// The quantities to test, which share alpha. If empty, they are chosen by the recordings.
    pub measures: Vec<Quantity>,
    /// The label whose values are the points of the series; `None` for the dates of runs.
    pub label: Option<String>,
    /// The label that divides runs into blocks, such as `device`. Runs are compared within blocks.
    pub block: Option<String>,
    /// The probability of any false change in all tests of a series, divided among the tests by [`Looks::alpha`].
    pub alpha: f64,
    /// When the series is tested.
    pub looks: Looks,
    /// The smallest relevant change: 0.03 is 3 %.
    pub min_effect: f64,
    /// The point whose level is accepted: the newest level is compared with it instead of with the first one.
    pub accepted: Option<String>,
    /// The inputs as command-line arguments, for the recommended command, which is omitted if they are empty.
    pub inputs: Vec<String>,
}

impl TrendOptions {
    /// The options of the fleet report with the runs.
    pub fn fleet(&self) -> FleetOptions {
        let by: Vec<String> = self.label.iter().chain(&self.block).cloned().collect();
        let date = self.label.is_none().then_some(DATE);
        let others =
            ENVIRONMENT.into_iter().chain([EXIT_STATUS]).chain(date).filter(|key| !by.iter().any(|known| known == key));
        let by_if_known = others.map(str::to_owned).collect();
        FleetOptions { by, by_if_known, scopes: Vec::new(), is_approximate: true, ..FleetOptions::default() }
    }

    /// The label with the points.
    pub(super) fn key(&self) -> &str {
        self.label.as_deref().unwrap_or(DATE)
    }
}
