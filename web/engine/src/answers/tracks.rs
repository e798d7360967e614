//! Weights over time, with a line for each thread, process, core and state.

use std::cmp::Reverse;
use std::rc::Rc;

use serde::Serialize;
use traceparse::calltree::Metric;
use traceparse::profile::{Sample, StateFilter};
use ts_rs::TS;

use crate::protocol::Range;
use crate::view::View;
use crate::wire::{Exact, F64s, Refused};

/// The maximum number of threads, processes and cores with their own line.
const MOST_LINES: usize = 200;

#[derive(Debug, Serialize, TS)]
pub(crate) struct Tracks {
    pub(crate) start: f64,
    pub(crate) bin: f64,
    pub(crate) overall: F64s,
    pub(crate) threads: Vec<Line>,
    pub(crate) processes: Vec<Line>,
    pub(crate) cores: Vec<Line>,
    /// -1 means that no state was recorded.
    pub(crate) states: Vec<StateLine>,
}

/// A line of the timeline: weights in bins of equal length.
#[derive(Debug, Serialize, TS)]
pub(crate) struct Line {
    pub(crate) id: i32,
    pub(crate) weight: Exact,
    /// The bins of selected samples, and of samples in other states.
    pub(crate) bins: F64s,
    pub(crate) waiting: Option<F64s>,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct StateLine {
    pub(crate) id: i32,
    pub(crate) bins: F64s,
}

/// The time that the weights of samples cover. If weights are durations, it begins at the sample. Other weights end at it: a sample of cycles is
/// taken after a number of cycles. In real recordings, cycles divided by the time since the thread's last sample reach the clock rate of a core and
/// do not exceed it. Divided by the time until the next sample, they exceed it.
#[derive(Debug)]
pub(crate) enum Lengths {
    /// The weights themselves, starting at the samples.
    Weights,
    /// By sample of the recording: the nanoseconds that end at the sample.
    Before(Vec<f64>),
}

impl Lengths {
    /// Computes the lengths of a series' samples. Weights that are durations are used directly. Otherwise, the length is the time since the last
    /// sample of the thread. If the weight is less than half of the typical weight for that time, the thread did not run all the time, and the
    /// typical time for the weight is used.
    pub(crate) fn new(samples: &[Sample], series: usize, threads: usize, is_time: bool) -> Self {
        if is_time {
            return Self::Weights;
        }
        let mut lengths = vec![0.0; samples.len()];
        let own = || samples.iter().enumerate().filter(|(_, sample)| sample.series.index() == series);
        let mut last: Vec<Option<u64>> = vec![None; threads];
        let mut rates = Vec::new();
        for (at, sample) in own() {
            let now = sample.time.as_nanos();
            let before = last[sample.thread.index()].replace(now);
            let gap = before.map_or(0.0, |before| now.saturating_sub(before) as f64);
            lengths[at] = gap;
            if gap > 0.0 && sample.weight > 0 {
                rates.push(sample.weight as f64 / gap);
            }
        }
        let middle = rates.len().saturating_sub(1) / 2;
        let usual = if rates.is_empty() { 0.0 } else { *rates.select_nth_unstable_by(middle, f64::total_cmp).1 };
        for (at, sample) in own() {
            let (gap, weight) = (lengths[at], sample.weight as f64);
            if gap <= 0.0 || weight < usual / 2.0 * gap {
                lengths[at] = if usual > 0.0 { weight / usual } else { 0.0 };
            }
        }
        Self::Before(lengths)
    }

    /// The lengths of the samples that are kept.
    pub(crate) fn retain(&self, is_kept: impl Iterator<Item = bool>) -> Self {
        match self {
            Self::Weights => Self::Weights,
            Self::Before(lengths) => {
                let kept = lengths.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
                Self::Before(kept.map(|(&length, _)| length).collect())
            }
        }
    }
}

/// Bins of equal length, starting at `start`.
struct Grid {
    start: f64,
    bin: f64,
    count: usize,
}

impl Grid {
    /// Creates bins for this number of pixels. Their length is a round number, so they do not move when the timeline is panned.
    fn new(range: Range, pixels: f64) -> Self {
        let bin = round_up((range.end - range.start) / pixels.max(1.0)).max(1.0);
        let start = (range.start / bin).floor() * bin;
        Self { start, bin, count: ((range.end - start) / bin).ceil() as usize + 1 }
    }

    /// Spreads a weight over the time that it covers.
    fn add(&self, bins: &mut [f64], time: f64, weight: f64, length: f64, is_before: bool) {
        let from = (time - self.start - if is_before { length } else { 0.0 }) / self.bin;
        let place = from.floor();
        if length <= self.bin / 4.0 {
            if place >= 0.0
                && let Some(bin) = bins.get_mut(place as usize)
            {
                *bin += weight;
            }
            return;
        }
        let end = from + length / self.bin;
        let of_bin = self.bin * (weight / length);
        let mut place = place.max(0.0);
        while place < end && (place as usize) < bins.len() {
            bins[place as usize] += (end.min(place + 1.0) - from.max(place)) * of_bin;
            place += 1.0;
        }
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_up(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    steps.into_iter().find(|&step| step >= least * (1.0 - 1e-9)).unwrap_or(1.0)
}

/// A sample to show: its index in the recording, and whether its state is selected. Small, since there may be millions.
#[derive(Clone, Copy)]
struct Row {
    at: u32,
    is_counted: bool,
}

struct Spread<'v> {
    grid: Grid,
    lengths: Option<Rc<Lengths>>,
    samples: &'v [Sample],
    metric: Metric,
    rows: Vec<Row>,
}

pub(crate) fn tracks(view: &View, series: usize, unit: &str, range: Range, pixels: f64) -> Result<Tracks, Refused> {
    let profile = view.profile();
    // A counter is not read at every sample, so its events may belong to a longer time.
    let lengths = (unit != "events").then(|| view.base.lengths(series));
    let spread = Spread {
        grid: Grid::new(range, pixels),
        lengths,
        samples: profile.samples(),
        metric: view.options.metric,
        rows: rows(view, series),
    };
    let process_of: Vec<usize> = profile.thread_ids().map(|id| profile.thread(id).process.index()).collect();
    let threads = spread.lines(process_of.len(), true, |sample| sample.thread.index());
    let mut shown = threads.iter().map(|line| process_of[line.id as usize]);
    let first = shown.next();
    let processes = if shown.any(|process| Some(process) != first) {
        spread.lines(profile.process_ids().len(), true, |sample| process_of[sample.thread.index()])
    } else {
        let weight = spread.counted().map(|row| u128::from(spread.weight(row))).sum();
        let line = |process: usize| Line {
            id: process as i32,
            weight: Exact(weight),
            bins: sum(&threads, spread.grid.count),
            waiting: None,
        };
        first.map(line).into_iter().collect()
    };
    let has_cores = profile.core_ids().len() > 0;
    let of_cores =
        spread.lines(profile.core_ids().len() + 1, false, |sample| sample.core.map_or(0, |core| core.index() + 1));
    let cores =
        of_cores.into_iter().map(|line| Line { id: line.id - 1, ..line }).filter(|line| has_cores && line.id >= 0);
    let overall = if threads.len() < MOST_LINES {
        sum(&threads, spread.grid.count)
    } else {
        spread.bins(spread.counted(), 1, |_| 0).swap_remove(0)
    };
    Ok(Tracks {
        start: spread.grid.start,
        bin: spread.grid.bin,
        overall,
        processes,
        cores: cores.collect(),
        states: spread.states(&view.base.states),
        threads,
    })
}

/// The samples of the selected threads and times, in all states unless states were selected.
fn rows(view: &View, series: usize) -> Vec<Row> {
    let profile = view.profile();
    let selected = view.options.selection.on(profile);
    let shows_all = !matches!(view.options.selection.states, StateFilter::Only(_));
    let own = (0..).zip(profile.samples()).filter(|(_, sample)| {
        view.is_selected(series) && sample.series.index() == series && selected.is_in_scope(*sample)
    });
    let shown = own.map(|(at, sample)| Row { at, is_counted: selected.is_state_counted(sample) });
    shown.filter(|row| row.is_counted || shows_all).collect()
}

impl<'v> Spread<'v> {
    fn counted(&self) -> impl Iterator<Item = Row> + Clone {
        self.rows.iter().copied().filter(|row| row.is_counted)
    }

    fn sample(&self, row: Row) -> &'v Sample {
        &self.samples[row.at as usize]
    }

    fn weight(&self, row: Row) -> u64 {
        self.metric.of(self.sample(row))
    }

    /// The bins for each key below `keys`.
    fn bins(&self, rows: impl Iterator<Item = Row>, keys: usize, key: impl Fn(&Sample) -> usize) -> Vec<F64s> {
        let mut bins = vec![F64s(vec![0.0; self.grid.count]); keys];
        for row in rows {
            let sample = self.sample(row);
            let Some(bins) = bins.get_mut(key(sample)) else { continue };
            let (length, is_before) = match self.lengths.as_deref() {
                None => (0.0, false),
                Some(Lengths::Weights) => (sample.weight as f64, false),
                Some(Lengths::Before(lengths)) => (lengths[row.at as usize], true),
            };
            self.grid.add(&mut bins.0, sample.time.as_nanos() as f64, self.weight(row) as f64, length, is_before);
        }
        bins
    }

    /// The heaviest lines, with bins of selected samples and of other samples.
    fn lines(&self, keys: usize, has_others: bool, key: impl Fn(&Sample) -> usize) -> Vec<Line> {
        // By key: the selected weight, the total weight, and whether there are samples.
        let mut sums = vec![(0_u128, 0_u128, false); keys];
        for &row in self.rows.iter().filter(|row| row.is_counted || has_others) {
            let (sum, weight) = (&mut sums[key(self.sample(row))], self.weight(row));
            sum.0 += if row.is_counted { weight.into() } else { 0 };
            sum.1 += u128::from(weight);
            sum.2 = true;
        }
        let mut ids: Vec<usize> = (0..keys).filter(|&id| sums[id].2).collect();
        ids.sort_by_key(|&id| Reverse((sums[id].0, sums[id].1)));
        ids.truncate(MOST_LINES);
        let mut places = vec![usize::MAX; keys];
        for (place, &id) in ids.iter().enumerate() {
            places[id] = place;
        }
        let place = |sample: &Sample| places[key(sample)];
        let bins = self.bins(self.counted(), ids.len(), place);
        let others = || self.rows.iter().copied().filter(|row| !row.is_counted);
        let has_waiting = has_others && others().next().is_some();
        let mut waiting = has_waiting.then(|| self.bins(others(), ids.len(), place)).map(Vec::into_iter);
        let lines = ids.into_iter().zip(bins).map(|(id, bins)| {
            let waiting = waiting.as_mut().and_then(Iterator::next);
            Line { id: id as i32, weight: Exact(sums[id].0), bins, waiting }
        });
        lines.collect()
    }

    fn states(&self, states: &[traceparse::profile::Id<str>]) -> Vec<StateLine> {
        if states.len() < 2 {
            return Vec::new();
        }
        let place = |sample: &Sample| {
            sample.state.map_or(0, |state| states.iter().position(|&known| known == state).map_or(0, |place| place + 1))
        };
        let bins = self.bins(self.rows.iter().copied(), states.len() + 1, place);
        (-1..).zip(bins).map(|(id, bins)| StateLine { id, bins }).collect()
    }
}

fn sum(lines: &[Line], count: usize) -> F64s {
    let mut sum = vec![0.0; count];
    for line in lines {
        sum.iter_mut().zip(&line.bins.0).for_each(|(sum, bin)| *sum += bin);
    }
    F64s(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round() {
        assert_eq!([0.7, 1.0, 1.1, 3.0, 5.0, 5.1, 12.0].map(round_up), [1.0, 1.0, 2.0, 5.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn weights_are_spread_over_their_time() {
        let grid = Grid { start: 0.0, bin: 10.0, count: 4 };
        let mut bins = vec![0.0; 4];
        grid.add(&mut bins, 5.0, 30.0, 20.0, false);
        assert_eq!(bins, [7.5, 15.0, 7.5, 0.0]);
        grid.add(&mut bins, 35.0, 4.0, 0.0, true);
        assert_eq!(bins, [7.5, 15.0, 7.5, 4.0]);
    }
}
