//! The outcomes of alert rules, about one series or about each of many.

use super::alert_evaluation::AlertEvaluation;
use super::alert_family::Family;
use super::alert_series::{AlertNumbers, AlertSeries};
use super::report::AlertOutcome;

impl AlertEvaluation<'_> {
    /// The outcome of a rule in each cohort of its unit. Where there is none, nobody can say, which is said of each cohort.
    pub(super) fn outcomes(&self, series: &AlertSeries) -> Vec<AlertOutcome> {
        let rule = &series.rule;
        let is_asked = |&cohort: &usize| self.cohorts[cohort].unit == rule.unit;
        let all = 0..self.cohorts.len();
        let asked: Vec<usize> = all.clone().filter(is_asked).collect();
        if asked.is_empty() {
            return all.map(|cohort| self.other_unit(rule, cohort)).collect();
        }
        let outcome = |cohort| match &series.numbers {
            AlertNumbers::One(one) => self.outcome(rule, one, cohort),
            AlertNumbers::Each(each) => Family { evaluation: self, rule, each, cohort }.outcome(),
        };
        asked.into_iter().map(outcome).collect()
    }
}
