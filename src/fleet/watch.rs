//! What alert rules look at, run by run.

use super::alert::{AlertMeasure, AlertRule, AlertSubject};
use super::options::{FleetScope, Measure};
use super::run::{NameId, RunMeasures};
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
}

impl Watch {
    pub(super) fn new(rule: AlertRule) -> Self {
        let is_seen = !matches!(rule.subject, AlertSubject::Named(..));
        Self { rule, values: Vec::new(), is_seen }
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
                match measure {
                    AlertMeasure::Whole(measure) => measures.record.rate(sum.weight(measure)),
                    AlertMeasure::Window { seconds } => sum.peak(seconds),
                }
            }
        };
        self.values.push(value);
    }
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
struct Sum<'m> {
    measures: &'m RunMeasures,
    counts: &'m dyn Fn(NameId) -> bool,
    scope: FleetScope,
    /// `None` where the run does not have it.
    name: Option<NameId>,
}

impl Sum<'_> {
    fn is_there(&self) -> bool {
        let Some(name) = self.name else { return false };
        let counts = |process| (self.counts)(process);
        match self.scope {
            FleetScope::Binary => self.measures.binaries.iter().any(|row| row.binary == name && counts(row.process)),
            _ => self.measures.frames.iter().any(|row| {
                counts(row.process)
                    && name
                        == match self.scope {
                            FleetScope::Process => row.process,
                            FleetScope::Thread => row.thread,
                            _ => row.function,
                        }
            }),
        }
    }

    fn weight(&self, measure: Measure) -> u64 {
        let Some(name) = self.name else { return 0 };
        let is_all = measure == Measure::AllWeight;
        let of = |own: u64, all: u64| if is_all { all } else { own };
        let frames = self.measures.frames.iter().filter(|row| (self.counts)(row.process));
        let sum = |weights: &mut dyn Iterator<Item = u64>| weights.fold(0, u64::saturating_add);
        match self.scope {
            FleetScope::Binary => sum(&mut self
                .measures
                .binaries
                .iter()
                .filter(|row| row.binary == name && (self.counts)(row.process))
                .map(|row| of(row.self_weight, row.all_weight))),
            FleetScope::Function => {
                sum(&mut frames.filter(|row| row.function == name).map(|row| of(row.self_weight, row.all_weight)))
            }
            FleetScope::Thread => sum(&mut frames.filter(|row| row.thread == name).map(|row| row.self_weight)),
            FleetScope::Process | FleetScope::Run => {
                sum(&mut frames.filter(|row| row.process == name).map(|row| row.self_weight))
            }
        }
    }

    fn peak(&self, seconds: u32) -> Option<Millionths> {
        peak_rate(self.measures, seconds, &|row| {
            (self.counts)(row.process)
                && match self.scope {
                    FleetScope::Process => Some(row.process) == self.name,
                    FleetScope::Thread => Some(row.thread) == self.name,
                    _ => false,
                }
        })
    }
}
