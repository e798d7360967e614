//! The outcomes of alert rules, about one series or about each of many.

use std::io;

use super::alert_evaluation::AlertEvaluation;
use super::alert_family;
use super::alert_series::{AlertNumbers, AlertSeries};
use super::report::AlertOutcome;
use super::spill::Spilled;

impl AlertEvaluation<'_> {
    /// The outcome of a rule in each cohort of its unit. Where there is none, nobody can say, which is said of each cohort.
    pub(super) fn outcomes(&self, series: &AlertSeries, spilled: &mut Spilled) -> io::Result<Vec<AlertOutcome>> {
        let rule = &series.rule;
        let is_asked = |&cohort: &usize| self.cohorts[cohort].unit == rule.unit;
        let all = 0..self.cohorts.len();
        let asked: Vec<usize> = all.clone().filter(is_asked).collect();
        if asked.is_empty() {
            return Ok(all.map(|cohort| self.other_unit(rule, cohort)).collect());
        }
        match &series.numbers {
            AlertNumbers::One(one) => Ok(asked.into_iter().map(|cohort| self.outcome(rule, one, cohort)).collect()),
            AlertNumbers::Each(each) => alert_family::outcomes(self, rule, each, &asked, spilled),
        }
    }
}
