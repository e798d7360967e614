//! Finds runs whose stacks contain a chain of calls, with the weight of their samples in it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::error::{Result, bail};
use super::run::{FrameRow, RunMeasures, RunRecord, StackRow};
use crate::memory::{MemoryBudget, Reservation};
use crate::profile::Matcher;
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn};
use crate::units::Unit;

/// Searches the stacks of runs for a chain of calls.
pub(super) struct RunsOf {
    /// The functions of the chain, each calling the next.
    chain: Vec<Matcher>,
    found: Vec<Found>,
    /// The functions of all runs, until a run contains the chain.
    others: BTreeSet<String>,
    bytes: u64,
    reserved: Reservation,
}

/// A run that contains the chain.
struct Found {
    source: String,
    number: u32,
    unit: Unit,
    weight: u64,
    samples: u64,
    /// The weight of all its stacks.
    total: u64,
}

impl RunsOf {
    /// `chain` has at most 64 functions.
    pub(super) fn new(chain: Vec<Matcher>, budget: &MemoryBudget) -> Self {
        Self { chain, found: Vec::new(), others: BTreeSet::new(), bytes: 0, reserved: budget.nothing() }
    }

    /// Adds a run, counting only wanted threads.
    ///
    /// # Errors
    /// If the memory budget is exceeded.
    pub(super) fn add(&mut self, run: &RunMeasures, is_wanted: impl Fn(&str, &str, bool) -> bool) -> Result<()> {
        let (mut weight, mut samples, mut total) = (0_u64, 0_u64, 0_u64);
        let last = 1 << (self.chain.len() - 1);
        // For each stack, a bit mask of the chain prefixes that end at its leaf, and true if it contains the complete chain.
        let mut seen: Vec<(u64, bool)> = Vec::with_capacity(run.stacks.len());
        for row in &run.stacks {
            let (callers, is_inside) =
                row.parent.and_then(|parent| seen.get(parent as usize).copied()).unwrap_or_default();
            let beginnings = self.matches(run, row) & (callers << 1 | 1);
            let is_inside = is_inside || beginnings & last > 0;
            seen.push((beginnings, is_inside));
            if is_wanted(run.name(row.process), run.name(row.thread), row.is_main_thread) {
                total = total.saturating_add(row.self_weight);
                if is_inside {
                    weight = weight.saturating_add(row.self_weight);
                    samples = samples.saturating_add(row.self_samples);
                }
            }
        }
        if samples > 0 || weight > 0 {
            let RunRecord { source, number, unit, .. } = &run.record;
            let (source, number, unit) = (source.clone(), *number, *unit);
            self.bytes += (size_of::<Found>() + source.len()) as u64;
            self.found.push(Found { source, number, unit, weight, samples, total });
            self.others.clear();
        } else if self.found.is_empty() {
            self.note_functions(run);
        }
        Ok(self.reserved.resize(self.bytes)?)
    }

    /// A bit mask of the chain's functions that match a stack's leaf. Bit 0 is the first function.
    fn matches(&self, run: &RunMeasures, row: &StackRow) -> u64 {
        let name = full_name(run, row);
        let matches = self.chain.iter().enumerate().filter(|(_, function)| function.accepts(&name));
        matches.fold(0, |all, (index, _)| all | 1 << index)
    }

    fn note_functions(&mut self, run: &RunMeasures) {
        for row in &run.stacks {
            let name = full_name(run, row);
            if !self.others.contains(name.as_ref()) {
                self.bytes += name.len() as u64 + 64;
                self.others.insert(name.into_owned());
            }
        }
    }

    /// Returns the table's columns, and a row per run, heaviest first.
    ///
    /// # Errors
    /// If no run contains the chain.
    pub(super) fn finish(mut self) -> Result<(Vec<OutputColumn>, Vec<Vec<FieldValue<'static>>>)> {
        let Some(unit) = self.found.first().map(|run| run.unit) else { return self.fail() };
        self.found.sort_by_cached_key(|run| (Reverse(run.weight), run.source.clone(), run.number));
        let weight = FieldKind::Number(match unit {
            unit if unit.is_time() => ColumnKind::Duration,
            Unit::Bytes | Unit::WrittenBytes | Unit::PeakBytes => ColumnKind::Bytes,
            Unit::Cycles => ColumnKind::Cycles,
            _ => ColumnKind::Number,
        });
        let number = FieldKind::Number(ColumnKind::Number);
        let columns = [
            // Narrow text shows only the first two columns.
            ("weight", weight),
            ("source", FieldKind::Text),
            ("run", number),
            ("weight_of_run", weight),
            ("samples", number),
        ];
        let row = |run: Found| {
            let [weight, total, samples, number] =
                [run.weight, run.total, run.samples, run.number.into()].map(FieldValue::Number);
            vec![weight, FieldValue::Text(run.source.into()), number, total, samples]
        };
        let columns = columns.into_iter().map(|(name, kind)| OutputColumn::new(name, kind, true)).collect();
        Ok((columns, self.found.into_iter().map(row).collect()))
    }

    fn fail<T>(&self) -> Result<T> {
        let names = || self.others.iter().map(String::as_str);
        match self.chain.iter().find(|function| !names().any(|name| function.accepts(name))) {
            Some(unknown) => {
                let similar = unknown.similar(names()).join(", ");
                let similar = if similar.is_empty() { similar } else { format!("; similar: {similar}") };
                bail!("no run has a function named '{}'{similar}", unknown.text())
            }
            None => bail!("all of these functions occur, but in no run does each call the next one"),
        }
    }
}

/// The leaf's name as in folded stacks. Code without a symbol has its binary's name.
fn full_name<'r>(run: &'r RunMeasures, row: &StackRow) -> std::borrow::Cow<'r, str> {
    match (run.name(row.function), run.name(row.binary)) {
        (FrameRow::UNNAMED, binary) if !binary.is_empty() => format!("{} (in {binary})", FrameRow::UNNAMED).into(),
        (name, _) => name.into(),
    }
}
