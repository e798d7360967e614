//! Performance counters as weights.
//!
//! Counter values are differences: the number of events since the last reading. They can therefore be summed like weights.

use super::{Full, Profile, SeriesId};
use crate::units::Unit;

impl Profile {
    /// True if any sample has values of performance counters.
    pub(crate) fn has_counters(&self) -> bool {
        !self.counters.is_empty() || self.sum_counters.memory() > 0
    }

    /// Returns the number of counter values per sample for each series, or the maximum if samples differ.
    pub(crate) fn counter_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.series.len()];
        let mut note = |series: SeriesId, values: usize| {
            let count: &mut usize = &mut counts[series.index()];
            *count = values.max(*count);
        };
        if self.has_counters() {
            (self.samples.iter().enumerate()).for_each(|(index, row)| note(row.series, self.counters(index).len()));
            (self.sums().enumerate()).for_each(|(index, sum)| note(sum.series, self.sum_counters(index).len()));
        }
        counts
    }

    /// True if weights were replaced with counter values.
    pub(crate) fn is_weighed_by_counters(&self) -> bool {
        self.series.iter().any(|series| series.counter.is_some())
    }

    /// Replaces the weights in each series with the values of the counter at this index; `None` leaves a series unchanged. Samples without that
    /// value get weight 0. Returns the number of such samples for each series.
    ///
    /// # Errors
    /// If the values of a series do not fit in 64 bits. The profile is then unchanged.
    pub(crate) fn weigh_by_counters(&mut self, counters: &[Option<u32>]) -> Result<Vec<u64>, Full> {
        let mut totals = vec![0_u128; self.series.len()];
        let mut without = vec![0; self.series.len()];
        let mut weights: Vec<Option<u64>> = Vec::with_capacity(self.samples.len() + self.sums.len());
        for (index, sample) in self.samples.iter().enumerate() {
            let value = |counter: u32| self.counters(index).get(counter as usize).map(|&value| u128::from(value));
            weights.push(self.weight_of(
                (sample.series, sample.samples.into()),
                counters,
                value,
                (&mut totals, &mut without),
            )?);
        }
        for (index, sum) in self.sums().enumerate() {
            let value = |counter: u32| self.sum_counters(index).get(counter as usize).copied();
            weights.push(self.weight_of((sum.series, sum.samples), counters, value, (&mut totals, &mut without))?);
        }
        let mut weights = weights.into_iter();
        for sample in &mut self.samples {
            sample.weight = weights.next().flatten().unwrap_or(sample.weight);
        }
        for index in 0..self.sums.len() {
            let Some(row) = self.sums.get_mut(index) else { continue };
            row.weight = weights.next().flatten().unwrap_or(row.weight);
        }
        for (series, counter) in self.series.iter_mut().zip(counters) {
            if counter.is_some() {
                (series.counter, series.unit) = (*counter, Unit::PmcEvents);
            }
        }
        Ok(without)
    }

    /// Returns the new weight of a sample or sum; `None` if unchanged.
    fn weight_of(
        &self,
        (series, samples): (SeriesId, u64),
        counters: &[Option<u32>],
        value: impl Fn(u32) -> Option<u128>,
        (totals, without): (&mut [u128], &mut [u64]),
    ) -> Result<Option<u64>, Full> {
        let Some(counter) = counters.get(series.index()).copied().flatten() else { return Ok(None) };
        let value = value(counter);
        if value.is_none() {
            without[series.index()] += samples;
        }
        let total = &mut totals[series.index()];
        *total += value.unwrap_or(0);
        // Each value is at most the total.
        u64::try_from(*total).map_err(|_| Full)?;
        u64::try_from(value.unwrap_or(0)).map(Some).map_err(|_| Full)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Meaning, ProfileBuilder, Run, Sample, SampleDetail, SampleKind, Series};
    use super::*;
    use crate::units::Nanos;

    /// Samples of two tables with these counter values.
    fn profile(detail: SampleDetail, rows: &[(u32, &[u64])]) -> Profile {
        let mut builder = ProfileBuilder::with_detail(detail);
        let input = builder.string("x").unwrap();
        let run = builder.run(Run { input, document: 0, number: 1 }).unwrap();
        let process = builder.process(run, Some(1), input).unwrap();
        let thread = builder.thread(process, Some(1), input).unwrap();
        for &(table, values) in rows {
            let series = builder.series(Series::new(run, input, table, Unit::Nanoseconds)).unwrap();
            let (time, kind, samples) = (Nanos::from_nanos(1), SampleKind::Periodic, 1);
            let sample =
                Sample { time, weight: 7, series, thread, stack: None, core: None, state: None, kind, samples };
            builder.add_sample(sample).unwrap();
            if !values.is_empty() {
                builder.add_counters(values);
            }
        }
        builder.finish()
    }

    fn totals(profile: &Profile) -> Vec<u64> {
        let mut totals = vec![0; profile.series.len()];
        profile.sums_or_samples().for_each(|sum| totals[sum.series.index()] += sum.weight);
        totals
    }

    #[test]
    fn values_take_the_place_of_weights() {
        for detail in [SampleDetail::Each, SampleDetail::Summed] {
            let mut profile = profile(detail, &[(0, &[1, 20]), (1, &[]), (0, &[3]), (0, &[0, 500])]);
            assert_eq!(profile.counter_counts(), [2, 0]);
            assert_eq!(totals(&profile), [21, 7]);
            let without = profile.weigh_by_counters(&[Some(1), None]).unwrap();
            assert_eq!(totals(&profile), [520, 7], "{detail:?}");
            // Sums do not record which samples lack a value.
            assert_eq!(without[0], if detail == SampleDetail::Each { 1 } else { 0 });
            let units: Vec<_> = profile.series.iter().map(|series| (series.unit, series.counter)).collect();
            assert_eq!(units, [(Unit::PmcEvents, Some(1)), (Unit::Nanoseconds, None)]);
            assert_eq!(profile.series[0].meaning, Meaning::OnCpu);
            assert!(profile.is_weighed_by_counters());
        }
    }

    #[test]
    fn sums_beyond_64_bits_are_refused() {
        for detail in [SampleDetail::Each, SampleDetail::Summed] {
            let mut profile = profile(detail, &[(0, &[u64::MAX, 2]), (0, &[1, 3])]);
            assert_eq!(profile.weigh_by_counters(&[Some(0)]), Err(Full));
            assert_eq!(totals(&profile), [14], "nothing is changed");
            profile.weigh_by_counters(&[Some(1)]).unwrap();
            assert_eq!(totals(&profile), [5]);
        }
    }
}
