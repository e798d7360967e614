//! Computes all of a run's sums over samples in one pass.

use std::collections::BTreeSet;

use crate::calltree::Metric;
use crate::hash::HashMap;
use crate::memory::{OverBudget, Reservation, of_map};
use crate::profile::{CoreId, Profile, Sample, SampleSum, SelectedSamples, SeriesId, StackId, ThreadId};
use crate::units::Weight;

/// The weight and number of some samples. The profile ensures that the weights of a series, and therefore of any subset, fit in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) weight: u64,
    pub(super) samples: u64,
}

impl Sum {
    pub(super) fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.samples += other.samples;
    }

    /// True if it contains only snapshots of all threads.
    pub(super) fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// The sums for one series.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) sum: Sum,
    /// Keyed by thread and stack.
    pub(super) stacks: HashMap<(ThreadId, Option<StackId>), Sum>,
    /// Keyed by thread and second.
    pub(super) seconds: HashMap<(ThreadId, u32), Sum>,
    /// Σ weight², which fits, since it is less than the square of the total weight.
    squares: u128,
    /// How often each weight occurs.
    weights: HashMap<u64, u64>,
    cores: BTreeSet<CoreId>,
}

/// Memory for sums is reserved once per this many samples.
const SAMPLES_BETWEEN: usize = 1 << 14;

/// Sums the selected samples of each series. For reports from the field, all samples of the profile `own` share the stated quantity. The memory
/// is added to `reserved`.
///
/// # Errors
/// If the memory budget is exceeded.
pub(super) fn tally(
    selected: &SelectedSamples<'_>,
    (series, own): (&[(SeriesId, Option<Weight>)], &Profile),
    reserved: &mut Reservation,
) -> Result<Vec<Tally>, OverBudget> {
    let before = reserved.bytes();
    let mut position_of = vec![None; selected.profile().series_ids().len()];
    for (position, (series, _)) in series.iter().enumerate() {
        position_of[series.index()] = Some(position);
    }
    let mut tallies = vec![Tally::default(); series.len()];
    for (number, sample) in selected.iter().enumerate() {
        if let Some(position) = position_of[sample.series.index()] {
            tallies[position].count(sample);
        }
        if number % SAMPLES_BETWEEN == 0 {
            reserved.resize(before + tallies.iter().map(Tally::memory).sum::<u64>())?;
        }
    }
    let mut reports = reports(own, series);
    for (number, sum) in selected.profile().sums().enumerate() {
        let is_main = selected.profile().thread(sum.thread).is_main;
        let report = reports.get_mut(&sum.series);
        let Some(weight) = report.and_then(|report| report.share(sum.samples, is_main)) else { continue };
        if let Some(position) = position_of[sum.series.index()].filter(|_| selected.is_in_scope(sum)) {
            tallies[position].count_share(&sum, weight);
        }
        if number % SAMPLES_BETWEEN == 0 {
            reserved.resize(before + tallies.iter().map(Tally::memory).sum::<u64>())?;
        }
    }
    Ok(tallies)
}

/// The quantity stated by a report, which its N samples share: n samples get n/N of it, rounded so that all shares add up to it.
#[derive(Debug, Default)]
struct Report {
    stated: u128,
    /// The number of samples of all threads, and of main threads.
    samples: [u128; 2],
    /// The number of samples that have received a share.
    shared: u128,
}

fn reports(profile: &Profile, series: &[(SeriesId, Option<Weight>)]) -> HashMap<SeriesId, Report> {
    let report = |&(series, stated): &(SeriesId, Option<Weight>)| {
        Some((series, Report { stated: stated?.value.into(), ..Report::default() }))
    };
    let mut reports: HashMap<SeriesId, Report> = series.iter().filter_map(report).collect();
    if reports.is_empty() {
        return reports;
    }
    for sum in profile.sums() {
        let Some(report) = reports.get_mut(&sum.series) else { continue };
        report.samples[0] += u128::from(sum.samples);
        report.samples[1] += if profile.thread(sum.thread).is_main { u128::from(sum.samples) } else { 0 };
    }
    reports
}

impl Report {
    /// The share of the next samples. `None` for threads that were only present while the main thread hung.
    fn share(&mut self, samples: u64, is_main: bool) -> Option<u64> {
        let [all, of_main] = self.samples;
        if of_main > 0 && !is_main {
            return None;
        }
        let all = if of_main > 0 { of_main } else { all.max(1) };
        let up_to = |samples: u128| self.stated * samples / all;
        let after = self.shared + u128::from(samples);
        let share = up_to(after) - up_to(self.shared);
        self.shared = after;
        u64::try_from(share).ok()
    }
}

impl Tally {
    /// The approximate memory use in bytes.
    fn memory(&self) -> u64 {
        of_map(&self.stacks) + of_map(&self.seconds) + of_map(&self.weights)
    }

    fn count(&mut self, sample: &Sample) {
        let sum = Sum { weight: Metric::Weight.of(sample), samples: Metric::Samples.of(sample) };
        if sum.is_nothing() {
            return;
        }
        self.seconds.entry((sample.thread, second(sample))).or_default().add(sum);
        self.cores.extend(sample.core);
        self.add((sample.thread, sample.stack), sum, u64::from(sample.samples.max(1)));
    }

    /// Counts samples of a report with their share of the stated quantity.
    fn count_share(&mut self, sum: &SampleSum, weight: u64) {
        self.add((sum.thread, sum.stack), Sum { weight, samples: sum.samples }, sum.samples.max(1));
    }

    fn add(&mut self, key: (ThreadId, Option<StackId>), sum: Sum, samples: u64) {
        self.sum.add(sum);
        self.stacks.entry(key).or_default().add(sum);
        self.squares += u128::from(sum.weight) * u128::from(sum.weight) / u128::from(samples);
        if sum.weight > 0 {
            *self.weights.entry(sum.weight / samples).or_default() += samples;
        }
    }

    /// The effective sample size (Σw)² / Σw², rounded down; the number of samples if all weights are zero.
    pub(super) fn effective_samples(&self) -> u64 {
        let weight = u128::from(self.sum.weight);
        let effective = (weight * weight).checked_div(self.squares);
        effective.map_or(self.sum.samples, |effective| u64::try_from(effective).unwrap_or(u64::MAX))
    }

    /// The most frequent positive weight, and the smallest one in a tie; 0 if there is none.
    pub(super) fn usual_weight(&self) -> u64 {
        let weights = self.weights.iter().map(|(&weight, &count)| (count, std::cmp::Reverse(weight)));
        weights.max().map_or(0, |(_, weight)| weight.0)
    }

    /// The number of cores that ran a sample. A core listed with two kinds counts once.
    pub(super) fn cores(&self, profile: &Profile) -> u32 {
        let numbers: BTreeSet<u32> = self.cores.iter().map(|&core| profile.core(core).index).collect();
        numbers.len() as u32
    }
}

/// The second of a sample. Saturates after 136 years.
fn second(sample: &Sample) -> u32 {
    u32::try_from(sample.time.as_nanos() / 1_000_000_000).unwrap_or(u32::MAX)
}
