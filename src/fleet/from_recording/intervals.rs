//! The signposts and hangs of runs. They need no CPU table.

use std::collections::BTreeSet;

use super::Measured;
use super::choice::NotMeasured;
use super::labels::RunContext;
use crate::fleet::run::{FailureKind, RunMeasures};
use crate::intervals::RunIntervals;
use crate::recording::{Intervals, Recording};

impl Recording {
    /// Adds intervals to the measured runs. A run with interval tables is used even without a CPU table or samples.
    ///
    /// # Errors
    /// As for measuring, unless a run has an interval table.
    pub(crate) fn with_intervals(
        &self,
        measured: Result<Measured, NotMeasured>,
        intervals: &Intervals,
        context: &RunContext,
    ) -> Result<Measured, NotMeasured> {
        let mut measured = match measured {
            Err(refused) if refused.kind == FailureKind::NoSamples => {
                if intervals.tables.is_empty() {
                    let reason = format!("{} It has no table of signposts or hangs either.", refused.reason);
                    return Err(NotMeasured { reason, ..refused });
                }
                Measured { runs: Vec::new(), series: Vec::new(), notes: Vec::new() }
            }
            measured => measured?,
        };
        let known: BTreeSet<u32> = measured.runs.iter().map(|run| run.record.number).collect();
        let numbers: BTreeSet<u32> = intervals.tables.iter().map(|table| table.run).collect();
        for number in numbers.difference(&known) {
            let run_id = match measured.runs.len() {
                0 => context.run_id.clone(),
                before => format!("{}-{}", context.run_id, before + 1),
            };
            let tocs = self.tocs().chain(&context.tocs).flat_map(|toc| &toc.runs);
            let toc = tocs.into_iter().find(|toc| toc.number == *number);
            measured.runs.push(RunMeasures::of_record(context.record(run_id, *number, toc)));
        }
        let all = intervals.distinct();
        for run in &mut measured.runs {
            let number = run.record.number;
            let tables = intervals.tables.iter().filter(|table| table.run == number);
            let mut of_run = RunIntervals::default();
            for table in tables {
                let is_of_hangs = Intervals::HANGS.contains(&table.schema.as_str());
                of_run.has_hangs |= is_of_hangs;
                of_run.has_signposts |= !is_of_hangs;
                of_run.unread = of_run.unread.saturating_add(table.rejected.total());
            }
            of_run.rows = all.iter().filter(|row| row.run == number).map(|&row| row.clone()).collect();
            run.record.rejected = run.record.rejected.saturating_add(of_run.unread);
            run.intervals = numbers.contains(&number).then_some(of_run);
        }
        Ok(measured)
    }
}
