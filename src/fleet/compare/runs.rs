//! What a comparison keeps of each run of a side, besides its measure.

use std::collections::BTreeMap;

use super::callers::Callers;
use crate::fleet::columns::ScopeColumn;
use crate::fleet::measures::Measure;
use crate::fleet::run::{NameId, RunNames, RunRecord, RunRows};
use crate::fleet::scope::FleetScope;

/// Values of a label that are kept at most; a label with more identifies runs.
const MOST_VALUES: usize = 1_000;

/// The functions of all runs of a side, and what the runs are of.
#[derive(Debug)]
pub(in crate::fleet) struct ComparedRuns {
    /// Self weights.
    pub(super) own: ScopeColumn,
    /// All weights.
    pub(super) all: ScopeColumn,
    /// The values of each label, `table` and `sampling interval` among them, with the number of runs that have them.
    pub(super) labels: BTreeMap<String, BTreeMap<String, u64>>,
    /// By key of `all`; empty if runs were measured without stacks.
    pub(super) callers: Callers,
}

impl ComparedRuns {
    pub(in crate::fleet) fn new() -> Self {
        let column = |measure| ScopeColumn::new(FleetScope::Function, measure, false);
        Self {
            own: column(Measure::Cpu),
            all: column(Measure::AllWeight),
            labels: BTreeMap::new(),
            callers: Callers::default(),
        }
    }

    pub(in crate::fleet) fn add(
        &mut self,
        run: u32,
        rows: &RunRows<'_>,
        counts: &dyn Fn(NameId) -> bool,
        names: &mut RunNames<'_>,
    ) {
        self.columns_mut().for_each(|column| column.add(run, rows, counts, names));
        self.callers.add(rows.stacks, |row| counts(row.process), &self.all, names);
        self.note(rows.record);
    }

    fn note(&mut self, record: &RunRecord) {
        let interval = format!("{} {}", record.usual_weight, record.unit.name());
        let facts = [("table", record.schema.as_str()), ("sampling interval", interval.as_str())];
        let facts = facts.into_iter().filter(|_| record.samples > 0);
        let labels = record.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in labels.chain(facts) {
            let values = self.labels.entry(key.to_owned()).or_default();
            if values.len() < MOST_VALUES || values.contains_key(value) {
                *values.entry(value.to_owned()).or_default() += 1;
            }
        }
    }

    pub(in crate::fleet) fn columns(&self) -> impl Iterator<Item = &ScopeColumn> {
        [&self.own, &self.all].into_iter()
    }

    pub(in crate::fleet) fn columns_mut(&mut self) -> impl Iterator<Item = &mut ScopeColumn> {
        [&mut self.own, &mut self.all].into_iter()
    }
}
