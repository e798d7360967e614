//! The rows of a payload: the samples that the report selects, in all states unless states were selected, by series and time; or their sums, if times
//! are unknown.

use super::reduction::WorkbenchReduction;
use crate::hash::HashMap;
use crate::profile::{CoreId, Profile, Sample, SampleKind, SampleSum, Selection, StackId, StateFilter, StringId};
use crate::report::Report;

/// The maximum number of samples in a row with a time: [`Sample::samples`] has 16 bits.
const MOST_JOINED: u64 = u16::MAX as u64;

/// A sample, or the sum of several samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The time in nanoseconds; of merged samples, the time of the first; 0 if times are unknown.
    pub(super) time: u64,
    pub(super) weight: u64,
    pub(super) samples: u64,
    pub(super) thread: usize,
    pub(super) stack: Option<StackId>,
    pub(super) state: Option<StringId>,
    pub(super) core: Option<CoreId>,
    pub(super) kind: SampleKind,
}

/// The rows of all series, one series after another.
pub(super) struct Rows<'p> {
    source: Source<'p>,
    has_times: bool,
    /// By series of the report: its number of rows, and their sums.
    pub(super) series: Vec<SeriesRows>,
    pub(super) counters: RowCounters,
    /// The states of the rows, in the order of first use.
    pub(super) states: Vec<StringId>,
    place_of_state: HashMap<StringId, u64>,
}

/// The totals of a series. The integers are wide enough for any series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeriesRows {
    pub(super) rows: usize,
    pub(super) weight: u128,
    pub(super) samples: u128,
}

enum Source<'p> {
    /// The samples of a profile, and the indices of the written samples in order.
    Samples(&'p [Sample], Vec<u32>),
    /// Merged samples.
    Joined(Vec<Row>),
    Sums(Vec<SampleSum>),
}

impl<'p> Rows<'p> {
    pub(super) fn new(report: &'p Report<'_>, reduction: WorkbenchReduction) -> Self {
        let profile = &report.recording.profile;
        let mut place_of: Vec<Option<usize>> = Vec::new();
        let mut counters = RowCounters::default();
        let has_counters = profile.has_counters();
        let source = if profile.sums().len() > 0 {
            let mut sums = selected_sums(report, profile);
            sums.sort_by_key(|(_, sum)| report.position(sum.series));
            place_of.extend(sums.iter().map(|(_, sum)| report.position(sum.series)));
            if has_counters {
                let parts = sums.iter().zip(&place_of).enumerate();
                let parts = parts.map(|(row, ((index, _), place))| (*place, row, Values::of_sum(profile, *index)));
                counters = RowCounters::new(report.series.len(), sums.len(), parts);
            }
            Source::Sums(sums.into_iter().map(|(_, sum)| sum).collect())
        } else {
            let samples = profile.samples();
            // A profile never has more samples than a `u32` can index.
            let mut order: Vec<u32> = report.samples().map(|(index, _)| index as u32).collect();
            let key = |sample: &Sample| (report.position(sample.series), sample.time);
            // A stable sort keeps samples with the same time in the order of the input.
            order.sort_by_key(|&index| key(&samples[index as usize]));
            let place = |index: &u32| report.position(samples[*index as usize].series);
            // By sample in this order: the row into which it was merged.
            let mut row_of_part: Vec<u32> = Vec::new();
            let joined_rows = (reduction != WorkbenchReduction::None).then(|| {
                let placed = order.iter().map(|index| (place(index), row_of(&samples[*index as usize])));
                joined(placed, reduction, |row| row_of_part.extend(has_counters.then_some(row as u32)))
            });
            if has_counters {
                let row = |at: usize| row_of_part.get(at).map_or(at, |&row| row as usize);
                let parts = order.iter().enumerate();
                let parts =
                    parts.map(|(at, index)| (place(index), row(at), Values::of_sample(profile, *index as usize)));
                let rows = joined_rows.as_ref().map_or(order.len(), Vec::len);
                counters = RowCounters::new(report.series.len(), rows, parts);
            }
            if let Some(rows) = joined_rows {
                let (places, rows) = rows.into_iter().unzip();
                place_of = places;
                Source::Joined(rows)
            } else {
                place_of.extend(order.iter().map(place));
                Source::Samples(samples, order)
            }
        };
        let series = vec![SeriesRows::default(); report.series.len()];
        let has_times = !matches!(source, Source::Sums(_)) && reduction != WorkbenchReduction::Sums;
        let mut rows =
            Self { source, has_times, series, counters, states: Vec::new(), place_of_state: HashMap::default() };
        for (index, place) in place_of.into_iter().enumerate() {
            let row = rows.at(index);
            let Some(series) = place.and_then(|place| rows.series.get_mut(place)) else { continue };
            series.rows += 1;
            series.weight += u128::from(row.weight);
            series.samples += u128::from(row.samples);
            rows.note_state(row.state);
        }
        rows
    }

    fn note_state(&mut self, state: Option<StringId>) {
        let Some(state) = state.filter(|state| !self.place_of_state.contains_key(state)) else { return };
        self.place_of_state.insert(state, self.states.len() as u64);
        self.states.push(state);
    }

    /// True if the rows are sums, without times and cores.
    pub(super) fn are_sums(&self) -> bool {
        !self.has_times
    }

    /// The index of a state among the states of the rows.
    pub(super) fn place_of_state(&self, state: StringId) -> u64 {
        self.place_of_state.get(&state).copied().unwrap_or_default()
    }

    /// All rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        let count = match &self.source {
            Source::Samples(_, order) => order.len(),
            Source::Joined(rows) => rows.len(),
            Source::Sums(sums) => sums.len(),
        };
        (0..count).map(|index| self.at(index))
    }

    fn at(&self, index: usize) -> Row {
        match &self.source {
            Source::Samples(samples, order) => row_of(&samples[order[index] as usize]),
            Source::Joined(rows) => rows[index],
            Source::Sums(sums) => {
                let SampleSum { weight, samples, thread, stack, state, kind, .. } = sums[index];
                Row { time: 0, weight, samples, thread: thread.index(), stack, state, core: None, kind }
            }
        }
    }
}

fn row_of(sample: &Sample) -> Row {
    let Sample { time, weight, thread, stack, core, state, kind, samples, .. } = *sample;
    Row { time: time.as_nanos(), weight, samples: samples.into(), thread: thread.index(), stack, state, core, kind }
}

/// Merges samples, by series and time. Samples that the reduction does not distinguish are merged at the position of the first one. A weight or
/// number of samples that is too large for one row continues in another row. `is_in` receives the row of each sample.
fn joined(
    samples: impl Iterator<Item = (Option<usize>, Row)>,
    reduction: WorkbenchReduction,
    mut is_in: impl FnMut(usize),
) -> Vec<(Option<usize>, Row)> {
    let mut rows: Vec<(Option<usize>, Row)> = Vec::new();
    let mut row_of: HashMap<_, usize> = HashMap::default();
    let mut open = None;
    for (series, row) in samples {
        let (bin, core) = match reduction {
            WorkbenchReduction::Bins(length) => (row.time / length.as_nanos().max(1), row.core),
            _ => (0, None),
        };
        // The rows of a bin are consecutive, so rows of earlier bins can be dropped.
        if open != Some((series, bin)) {
            row_of.clear();
            open = Some((series, bin));
        }
        let next = rows.len();
        let place = row_of.entry((row.thread, row.stack, row.state, core, row.kind)).or_insert(next);
        let fits = |known: &Row| reduction == WorkbenchReduction::Sums || known.samples + row.samples <= MOST_JOINED;
        let known = rows.get(*place).filter(|(_, known)| fits(known));
        let sum = known.and_then(|(_, known)| known.weight.checked_add(row.weight));
        if let Some(weight) = sum {
            let known = &mut rows[*place].1;
            (known.weight, known.samples) = (weight, known.samples + row.samples);
            is_in(*place);
            continue;
        }
        *place = next;
        is_in(next);
        let time = if reduction == WorkbenchReduction::Sums { 0 } else { row.time };
        rows.push((series, Row { time, core, ..row }));
    }
    rows
}

/// The sums in all states unless states were selected, with their indices in the profile.
fn selected_sums(report: &Report<'_>, profile: &Profile) -> Vec<(usize, SampleSum)> {
    let states = match &report.options.selection.states {
        StateFilter::Running => StateFilter::All,
        named => named.clone(),
    };
    let selected = Selection { states, ..report.options.selection.clone() }.on(profile);
    let is_kept = |sum: &SampleSum| {
        report.position(sum.series).is_some() && selected.is_in_scope(*sum) && selected.is_state_counted(*sum)
    };
    profile.sums().enumerate().filter(|(_, sum)| is_kept(sum)).collect()
}

/// The counter values of a sample, or the sums of several samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values<'p> {
    Each(&'p [u64]),
    Summed(&'p [u128]),
}

impl<'p> Values<'p> {
    /// The values of the sample at an index.
    pub(super) fn of_sample(profile: &'p Profile, index: usize) -> Self {
        Self::Each(profile.counters(index))
    }

    /// The values of the sum at an index.
    pub(super) fn of_sum(profile: &'p Profile, index: usize) -> Self {
        Self::Summed(profile.sum_counters(index))
    }

    fn len(self) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::Summed(values) => values.len(),
        }
    }

    fn get(self, counter: usize) -> u128 {
        match self {
            Self::Each(values) => values.get(counter).map_or(0, |&value| u128::from(value)),
            Self::Summed(values) => values.get(counter).copied().unwrap_or(0),
        }
    }
}

/// The counter values of all rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCounters {
    /// By series of the report: the sums of its counters.
    pub(super) sums: Vec<Vec<u128>>,
    /// The counters that have a column, numbered from 0.
    kept: Vec<usize>,
    /// By row: the values of these counters.
    values: Vec<u64>,
}

impl RowCounters {
    /// Adds up the counters of this many series and rows. Each part of the input has the index of its series, its row, and its values.
    pub(super) fn new<'p>(
        series: usize,
        rows: usize,
        parts: impl Iterator<Item = (Option<usize>, usize, Values<'p>)> + Clone,
    ) -> Self {
        let mut sums = vec![Vec::new(); series];
        for (place, _, values) in parts.clone() {
            let Some(sums) = place.and_then(|place| sums.get_mut(place)) else { continue };
            sums.resize(sums.len().max(values.len()), 0);
            (0..).zip(sums).for_each(|(counter, sum)| *sum += values.get(counter));
        }
        let most = sums.iter().map(Vec::len).max().unwrap_or(0);
        let total = |counter: usize| sums.iter().filter_map(|sums| sums.get(counter)).sum::<u128>();
        let kept: Vec<usize> = (0..most).filter(|&counter| total(counter) <= u128::from(u64::MAX)).collect();
        let mut all = Self { sums, values: vec![0; rows * kept.len()], kept };
        for (_, row, values) in parts {
            for (place, &counter) in all.kept.iter().enumerate() {
                // Even the sum of all values fits.
                all.values[row * all.kept.len() + place] += values.get(counter) as u64;
            }
        }
        all
    }

    /// The counters that have a column, numbered from 0.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The values of the kept counter at this index, by row.
    pub(super) fn of(&self, place: usize) -> impl Iterator<Item = u64> + '_ {
        self.values.iter().skip(place).step_by(self.kept.len().max(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_their_parts() {
        let (first, second, third): ([u64; 2], [u64; 1], [u128; 2]) = ([1, 10], [2], [4, 40]);
        let parts = [
            (Some(0), 1, Values::Each(&first)),
            (Some(0), 1, Values::Each(&second)),
            (Some(1), 0, Values::Summed(&third)),
        ];
        let counters = RowCounters::new(3, 2, parts.into_iter());
        assert_eq!(counters.kept(), [0, 1]);
        assert_eq!(counters.of(0).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(counters.of(1).collect::<Vec<_>>(), [40, 10]);
        assert_eq!(counters.sums, [vec![3, 10], vec![4, 40], vec![]]);
    }

    #[test]
    fn counters_beyond_64_bits_are_left_out() {
        let (first, second) = ([u64::MAX, 5, u64::MAX], [1, 6, 0]);
        let parts = [(Some(0), 0, Values::Each(&first)), (Some(1), 1, Values::Each(&second))];
        let counters = RowCounters::new(2, 2, parts.into_iter());
        assert_eq!(counters.kept(), [1, 2]);
        assert_eq!(counters.of(0).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(counters.of(1).collect::<Vec<_>>(), [u64::MAX, 0]);
        assert_eq!(counters.sums[0], [u128::from(u64::MAX), 5, u128::from(u64::MAX)]);
    }
}
