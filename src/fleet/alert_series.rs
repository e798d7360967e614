//! Collects the numbers that alert rules need, run by run.

use super::columns::ScopeColumn;
use super::measures::Measure;
use super::run::{FrameRow, NameId, RunNames, RunRows, WindowRow};
use super::scope::FleetScope;
use super::windows::{peak_rate, peak_rate_of_processes};
use crate::alert::{AlertMeasure, AlertRule, AlertSubject, Kind};
use crate::memory::of_vec;
use crate::recording::TimeSource;
use crate::units::{Millionths, Unit};

/// A rule, and its numbers in the runs so far.
#[derive(Debug)]
pub(super) struct AlertSeries {
    pub(super) rule: AlertRule,
    pub(super) numbers: AlertNumbers,
}

#[derive(Debug)]
pub(super) enum AlertNumbers {
    /// One number per run.
    One(OneSeries),
    /// One number for each name in a run.
    Each(ScopeColumn),
}

/// One number per run.
#[derive(Debug)]
pub(super) struct OneSeries {
    /// By run: its number; `None` if the run is shorter than the window.
    pub(super) values: Vec<Option<Millionths>>,
    /// True if any run contains the rule's name.
    pub(super) is_seen: bool,
    /// True if any run contains the name, but in an unselected process.
    pub(super) is_left_out: bool,
    /// A name in any run that the rule may mean.
    pub(super) similar: Option<String>,
}

impl AlertSeries {
    pub(super) fn new(rule: AlertRule) -> Self {
        let numbers = match &rule.subject {
            &AlertSubject::Each(kind @ (Kind::Function | Kind::Binary)) => {
                AlertNumbers::Each(ScopeColumn::new(scope(kind), measure(rule.measure), true))
            }
            subject => {
                let is_seen = !matches!(subject, AlertSubject::Named(..));
                AlertNumbers::One(OneSeries { values: Vec::new(), is_seen, is_left_out: false, similar: None })
            }
        };
        Self { rule, numbers }
    }

    /// The values of each name, for a rule about every name.
    pub(super) fn each(&self) -> Option<&ScopeColumn> {
        match &self.numbers {
            AlertNumbers::One(_) => None,
            AlertNumbers::Each(each) => Some(each),
        }
    }

    /// The mutable version of [`each`](Self::each).
    pub(super) fn each_mut(&mut self) -> Option<&mut ScopeColumn> {
        match &mut self.numbers {
            AlertNumbers::One(_) => None,
            AlertNumbers::Each(each) => Some(each),
        }
    }

    /// The approximate memory use in bytes.
    pub(super) fn memory(&self) -> u64 {
        match &self.numbers {
            AlertNumbers::One(one) => of_vec(&one.values),
            AlertNumbers::Each(each) => each.memory(),
        }
    }

    /// Adds a run. `counts` is true for selected processes; `weight` and `rate` are those of the complete run.
    pub(super) fn add(
        &mut self,
        run: u32,
        rows: &RunRows<'_>,
        counts: &dyn Fn(NameId) -> bool,
        (weight, rate): (u64, Millionths),
        names: &mut RunNames<'_>,
    ) {
        match &mut self.numbers {
            AlertNumbers::One(one) => one.add(&self.rule, rows, counts, (weight, rate)),
            AlertNumbers::Each(each) => each.add(run, rows, counts, names),
        }
    }
}

impl OneSeries {
    fn add(
        &mut self,
        rule: &AlertRule,
        measures: &RunRows<'_>,
        counts: &dyn Fn(NameId) -> bool,
        (weight, rate): (u64, Millionths),
    ) {
        let value = match (&rule.subject, rule.measure) {
            // Nanoseconds are millionths of milliseconds.
            (AlertSubject::Run, AlertMeasure::CpuTime) => Some(Millionths::new(weight)),
            (_, AlertMeasure::Elapsed) => {
                // The time that samples span may differ from the recorded time.
                let length = measures.record.wall.filter(|_| measures.record.wall_source != TimeSource::Samples);
                length.map(|wall| Millionths::new(wall.as_nanos()))
            }
            (AlertSubject::Run, AlertMeasure::Window(seconds)) => {
                peak_rate(measures, seconds, &|row| counts(row.process))
            }
            // Functions and binaries have no windows; for anything else, they use `AlertNumbers::Each`.
            (AlertSubject::Each(_), AlertMeasure::Window(seconds)) => peak_rate_of_processes(measures, seconds, counts),
            (AlertSubject::Each(_), _) => measures.record.rate(heaviest_process(measures, counts)),
            (AlertSubject::Run | AlertSubject::Total, _) => Some(rate),
            (AlertSubject::Named(kind, name), own) => {
                let id = measures.names.iter().position(|known| known == name).map(|index| NameId(index as u32));
                let sum = Sum { measures: *measures, counts, scope: scope(*kind), name: id };
                self.is_seen |= sum.is_there();
                self.is_left_out |= Sum { counts: &|_| true, ..sum }.is_there();
                if !self.is_seen && self.similar.is_none() {
                    self.similar = measures.names.iter().find(|known| is_similar(known, name)).cloned();
                }
                match own {
                    AlertMeasure::Window(seconds) => sum.peak(seconds),
                    AlertMeasure::CpuTime => Some(Millionths::new(sum.weight(Measure::AllWeight))),
                    own => measures.record.rate(sum.weight(measure(own))),
                }
            }
        };
        self.values.push(value);
    }
}

impl AlertRule {
    /// True if the rule applies to runs with this unit.
    pub(super) fn is_about(&self, unit: Unit) -> bool {
        match self.measure {
            AlertMeasure::Elapsed => !unit.is_of_reports(),
            _ => unit == self.unit,
        }
    }

    /// The unit of its values in runs with this unit, or the limit's unit if they differ. Times have the unit of reports, which state
    /// milliseconds.
    pub(crate) fn value_unit(&self, unit: Unit) -> Unit {
        match self.measure.is_time() {
            true => Unit::HangTime,
            false if self.is_about(unit) => unit,
            false => self.unit,
        }
    }
}

const fn scope(kind: Kind) -> FleetScope {
    match kind {
        Kind::Process | Kind::Interval => FleetScope::Process,
        Kind::Thread => FleetScope::Thread,
        Kind::Binary => FleetScope::Binary,
        Kind::Function => FleetScope::Function,
    }
}

const fn measure(measure: AlertMeasure) -> Measure {
    match measure {
        AlertMeasure::SelfWeight => Measure::SelfWeight,
        AlertMeasure::AllWeight => Measure::AllWeight,
        _ => Measure::Cpu,
    }
}

/// True for names that represent the code of several functions or binaries: code without symbols, and samples without a stack.
pub(super) fn is_of_many(name: &str) -> bool {
    matches!(name, "" | FrameRow::UNNAMED | FrameRow::STACKLESS)
}

/// True if one name contains the other, ignoring case, for example a function name without its parameters.
fn is_similar(known: &str, asked: &str) -> bool {
    let (known, asked) = (known.to_lowercase(), asked.to_lowercase());
    !known.is_empty() && !asked.is_empty() && (known.contains(&asked) || asked.contains(&known))
}

fn heaviest_process(measures: &RunRows<'_>, counts: &dyn Fn(NameId) -> bool) -> u64 {
    let mut weights = vec![0_u64; measures.names.len()];
    for row in measures.frames.iter().filter(|row| counts(row.process)) {
        if let Some(weight) = weights.get_mut(row.process.0 as usize) {
            *weight = weight.saturating_add(row.self_weight);
        }
    }
    weights.into_iter().max().unwrap_or(0)
}

/// The rows of a run that have a name.
#[derive(Clone, Copy)]
struct Sum<'m> {
    measures: RunRows<'m>,
    counts: &'m dyn Fn(NameId) -> bool,
    scope: FleetScope,
    /// `None` if the run does not contain the name.
    name: Option<NameId>,
}

impl Sum<'_> {
    fn rows(&self) -> impl Iterator<Item = &FrameRow> {
        let rows = if self.scope == FleetScope::Binary { self.measures.binaries } else { self.measures.frames };
        let name_of = |row: &FrameRow| match self.scope {
            FleetScope::Function => row.function,
            FleetScope::Binary => row.binary,
            FleetScope::Thread => row.thread,
            FleetScope::Process | FleetScope::Run => row.process,
        };
        rows.iter().filter(move |row| Some(name_of(row)) == self.name && (self.counts)(row.process))
    }

    fn is_there(&self) -> bool {
        self.rows().next().is_some()
    }

    fn weight(&self, measure: Measure) -> u64 {
        // The total of a thread or process is the sum of its self weights.
        let has_all = matches!(self.scope, FleetScope::Function | FleetScope::Binary);
        let is_all = has_all && measure == Measure::AllWeight;
        self.rows().map(|row| row.sum(is_all).0).fold(0, u64::saturating_add)
    }

    fn peak(&self, seconds: u32) -> Option<Millionths> {
        let name_of = |row: &WindowRow| if self.scope == FleetScope::Thread { row.thread } else { row.process };
        peak_rate(&self.measures, seconds, &|row| Some(name_of(row)) == self.name && (self.counts)(row.process))
    }
}
