//! Reads samples, or sums of samples.

use super::columns::{Column, Columns};
use super::head::Head;
use super::named_rows::{HeadSeries, NamedRows};
use crate::error::Error;
use crate::profile::{ProfileBuilder, Sample, SampleKind, SampleSum, StackId};
use crate::units::Nanos;

/// The columns of samples, and the stacks seen so far.
struct Samples<'b> {
    columns: [Column<'b>; 8],
    new_stack: Column<'b>,
    /// Each with the number of its counter, from 0.
    counters: Vec<(usize, Column<'b>)>,
    sampled: Vec<StackId>,
}

/// A sample, or a sum of this many samples.
struct Row {
    sample: Sample,
    samples: u64,
}

/// Adds all rows to the profile.
#[inline(never)]
pub(super) fn read(
    head: Head<'_>,
    columns: &Columns<'_>,
    (named, stacks): (&NamedRows, usize),
    profile: &mut ProfileBuilder,
) -> Result<(), Error> {
    let are_sums = head.value["form"] == "sums";
    let (rows, mut samples) = Samples::new(columns)?;
    if named.series.iter().try_fold(0_u64, |sum, series| sum.checked_add(series.rows)) != Some(rows as u64) {
        return Err(head.damage.in_head("the rows of all series differ from the number of samples"));
    }
    profile.reserve(0, if are_sums { 0 } else { rows });
    for series in &named.series {
        let mut values = vec![0; series.counters];
        for _ in 0..series.rows {
            let row = samples.next(series, named, stacks, &mut values)?;
            let added = if are_sums { add_sum(&row, &values, profile) } else { samples.add(&row, &values, profile) };
            added?;
        }
        profile.set_most_frequent_weight(series.id, series.usual_weight);
    }
    Ok(())
}

fn add_sum(row: &Row, values: &[u64], profile: &mut ProfileBuilder) -> Result<(), Error> {
    let sum = SampleSum { samples: row.samples, times: None, ..SampleSum::from(&row.sample) };
    let values: Vec<u128> = values.iter().map(|&value| u128::from(value)).collect();
    profile.push_sum(&sum, &values).map_err(Error::limit)
}

impl<'b> Samples<'b> {
    fn new(columns: &Columns<'b>) -> Result<(usize, Self), Error> {
        let (rows, all) = columns.table([
            "samples.time",
            "samples.weight",
            "samples.count",
            "samples.thread",
            "samples.stack",
            "samples.state",
            "samples.core",
            "samples.kind",
        ])?;
        let (_, [new_stack]) = columns.table(["samples.new_stack"])?;
        let counters = columns.with_prefix("samples.counter.");
        let counters =
            counters.filter_map(|(number, column)| Some((number.parse::<usize>().ok()?.checked_sub(1)?, column)));
        Ok((rows, Self { columns: all, new_stack, counters: counters.collect(), sampled: Vec::new() }))
    }

    /// Reads the next row, and the values of its counters.
    fn next(
        &mut self,
        series: &HeadSeries,
        named: &NamedRows,
        stacks: usize,
        values: &mut [u64],
    ) -> Result<Row, Error> {
        for (counter, column) in &mut self.counters {
            let value = column.next()?;
            if let Some(place) = values.get_mut(*counter) {
                *place = value;
            }
        }
        let [time, weight, count, thread, stack, state, core, kind] = &mut self.columns;
        let stack = match stack.next()? {
            0 => None,
            1 => {
                let new = self.new_stack.id(stacks)?;
                self.sampled.push(new);
                Some(new)
            }
            back => {
                let back = usize::try_from(back - 1).ok();
                let known = back.and_then(|back| self.sampled.get(self.sampled.len().checked_sub(back)?));
                Some(*known.ok_or_else(|| stack.wrong("it refers to a missing stack"))?)
            }
        };
        let state = state.optional_id::<str>(named.states.len())?;
        let sample = Sample {
            time: Nanos::from_nanos(time.next()?),
            weight: weight.next()?,
            series: series.id,
            thread: thread.id(named.threads)?,
            stack,
            core: core.optional_id(named.cores)?,
            state: state.map(|state| named.states[state.index()]),
            kind: SampleKind::of_number(kind.next()?),
            samples: 1,
        };
        let samples = count.next()?;
        if samples == 0 { Err(count.wrong("a row has no samples")) } else { Ok(Row { sample, samples }) }
    }

    fn add(&self, row: &Row, values: &[u64], profile: &mut ProfileBuilder) -> Result<(), Error> {
        let [_, _, count, ..] = &self.columns;
        let samples = u16::try_from(row.samples).map_err(|_| count.wrong("a row has more than 65,535 samples"))?;
        profile.add_sample(Sample { samples, ..row.sample }).map_err(Error::limit)?;
        if !values.is_empty() {
            profile.add_counters(values);
        }
        Ok(())
    }
}
