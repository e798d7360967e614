//! What alert rules look at, run by run.

use super::alert::{AlertMeasure, AlertRule, AlertSubject};
use super::options::{FleetScope, Measure};
use super::run::{FrameRow, NameId, RunMeasures, WindowRow};
use super::windows::{peak_rate, peak_rate_of_processes};
use crate::units::Millionths;

/// A rule and its number in every run so far.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) rule: AlertRule,
    /// By run; `None` where the run has no such number (it is shorter than the window).
    pub(super) values: Vec<Option<Millionths>>,
    /// Whether any run has the name that the rule asks for.
    pub(super) is_seen: bool,
    /// Whether a run has the name, in a process that does not count.
    pub(super) is_left_out: bool,
    /// A name of some run that the rule may have meant.
    pub(super) similar: Option<String>,
}

impl Watch {
    pub(super) fn new(rule: AlertRule) -> Self {
        let is_seen = !matches!(rule.subject, AlertSubject::Named(..));
        Self { rule, values: Vec::new(), is_seen, is_left_out: false, similar: None }
    }

    /// Adds a run, of which `counts` says whose processes count; `rate` is its whole CPU use.
    pub(super) fn add(&mut self, measures: &RunMeasures, counts: &dyn Fn(NameId) -> bool, rate: Millionths) {
        let value = match (&self.rule.subject, self.rule.measure) {
            (AlertSubject::Run, AlertMeasure::Whole(_)) => Some(rate),
            (AlertSubject::Run, AlertMeasure::Window { seconds }) => {
                peak_rate(measures, seconds, &|row| counts(row.process))
            }
            (AlertSubject::EveryProcess, AlertMeasure::Window { seconds }) => {
                peak_rate_of_processes(measures, seconds, counts)
            }
            (AlertSubject::EveryProcess, AlertMeasure::Whole(_)) => {
                measures.record.rate(heaviest_process(measures, counts))
            }
            (AlertSubject::Named(scope, name), measure) => {
                let id = measures.names.iter().position(|known| known == name).map(|index| NameId(index as u32));
                let sum = Sum { measures, counts, scope: *scope, name: id };
                self.is_seen |= sum.is_there();
                self.is_left_out |= Sum { counts: &|_| true, ..sum }.is_there();
                if !self.is_seen && self.similar.is_none() {
                    self.similar = measures.names.iter().find(|known| is_similar(known, name)).cloned();
                }
                match measure {
                    AlertMeasure::Whole(measure) => measures.record.rate(sum.weight(measure)),
                    AlertMeasure::Window { seconds } => sum.peak(seconds),
                }
            }
        };
        self.values.push(value);
    }
}

/// Whether one name holds the other, or differs in case: a function without its parameters, say.
fn is_similar(known: &str, asked: &str) -> bool {
    let (known, asked) = (known.to_lowercase(), asked.to_lowercase());
    !known.is_empty() && !asked.is_empty() && (known.contains(&asked) || asked.contains(&known))
}

/// The weight of the process that has most.
fn heaviest_process(measures: &RunMeasures, counts: &dyn Fn(NameId) -> bool) -> u64 {
    let mut weights = vec![0_u64; measures.names.len()];
    for row in measures.frames.iter().filter(|row| counts(row.process)) {
        if let Some(weight) = weights.get_mut(row.process.0 as usize) {
            *weight = weight.saturating_add(row.self_weight);
        }
    }
    weights.into_iter().max().unwrap_or(0)
}

/// The rows of a run that carry a name.
#[derive(Clone, Copy)]
struct Sum<'m> {
    measures: &'m RunMeasures,
    counts: &'m dyn Fn(NameId) -> bool,
    scope: FleetScope,
    /// `None` where the run does not have it.
    name: Option<NameId>,
}

impl Sum<'_> {
    /// Self weight and all weight of the rows.
    fn rows(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        let is_it = |name: NameId, process: NameId| Some(name) == self.name && (self.counts)(process);
        if self.scope == FleetScope::Binary {
            let rows = self.measures.binaries.iter().filter(move |row| is_it(row.binary, row.process));
            return Box::new(rows.map(|row| (row.self_weight, row.all_weight)));
        }
        let name_of = |row: &FrameRow| match self.scope {
            FleetScope::Function => row.function,
            FleetScope::Thread => row.thread,
            FleetScope::Process | FleetScope::Binary | FleetScope::Run => row.process,
        };
        let rows = self.measures.frames.iter().filter(move |row| is_it(name_of(row), row.process));
        // All that a thread or a process did is the sum of its self weights.
        let is_function = self.scope == FleetScope::Function;
        Box::new(rows.map(move |row| (row.self_weight, if is_function { row.all_weight } else { row.self_weight })))
    }

    fn is_there(&self) -> bool {
        self.rows().next().is_some()
    }

    fn weight(&self, measure: Measure) -> u64 {
        let of = |(own, all): (u64, u64)| if measure == Measure::AllWeight { all } else { own };
        self.rows().map(of).fold(0, u64::saturating_add)
    }

    fn peak(&self, seconds: u32) -> Option<Millionths> {
        let name_of = |row: &WindowRow| if self.scope == FleetScope::Thread { row.thread } else { row.process };
        peak_rate(self.measures, seconds, &|row| Some(name_of(row)) == self.name && (self.counts)(row.process))
    }
}
