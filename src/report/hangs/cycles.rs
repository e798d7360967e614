//! Estimates how long a thread was on the CPU from the cycles of its samples.

use super::recorded::Recorded;
use crate::hash::HashMap;
use crate::profile::{Sample, StringId, ThreadId};
use crate::units::Nanos;

/// The rate of the slowest busy core, in cycles per nanosecond.
const SLOWEST: f64 = 0.6;
/// Two samples without a pause in between reach at least this share of the reference rate.
const FULL: f64 = 0.7;
/// The reference rate comes from this share of pairs, those with the highest rates.
const FASTEST: f64 = 0.02;
/// A reference needs this many pairs within a tenth of it.
const PAIRS: usize = 10;
/// The minimum reference rate in cycles per nanosecond, for performance and efficiency cores: if the pairs belong to one thread, and to two or
/// more.
const LEAST: [[f64; 2]; 2] = [[3.0, 2.4], [2.0, 1.5]];

/// The highest rate of each kind of core in a recording, in cycles per nanosecond, as shown by samples.
#[derive(Default)]
pub(super) struct References {
    rates: HashMap<Option<StringId>, f64>,
}

impl References {
    pub(super) fn of(recorded: &Recorded<'_>) -> Self {
        let mut pairs: HashMap<Option<StringId>, Vec<(f64, ThreadId)>> = HashMap::default();
        let mut last: HashMap<u32, &Sample> = HashMap::default();
        let profile = recorded.profile;
        for sample in recorded.all().iter().map(|&index| recorded.sample(index)) {
            let Some(core) = sample.core.map(|id| profile.core(id)) else { continue };
            let before = last.insert(core.index, sample);
            // A pair is two consecutive samples of one thread on one core. The thread probably ran between them.
            if let Some(before) = before.filter(|it| it.thread == sample.thread && it.time < sample.time) {
                let rate = sample.weight as f64 / sample.time.since(before.time).as_nanos() as f64;
                pairs.entry(core.kind).or_default().push((rate, sample.thread));
            }
        }
        let reference = |(kind, pairs): (Option<StringId>, _)| {
            Some((kind, reference(pairs, kind.is_some_and(|kind| is_efficient(profile.string(kind))))?))
        };
        Self { rates: pairs.into_iter().filter_map(reference).collect() }
    }

    /// The reference rate of the core that a sample was taken on.
    pub(super) fn rate(&self, recorded: &Recorded<'_>, sample: &Sample) -> Option<f64> {
        let kind = recorded.profile.core(sample.core?).kind;
        self.rates.get(&kind).copied()
    }

    /// The minimum and maximum time that a thread was on the CPU, in nanoseconds, estimated from its samples.
    pub(super) fn bounds(&self, recorded: &Recorded<'_>, own: &[u32], (start, end): (Nanos, Nanos)) -> (f64, f64) {
        let from = own.partition_point(|&index| recorded.sample(index).time < start);
        let (mut low, mut high, mut last) = (0.0, 0.0, start);
        for (position, &index) in own.iter().enumerate().skip(from) {
            let sample = recorded.sample(index);
            if sample.time >= end {
                break;
            }
            let (weight, gap) = (sample.weight as f64, sample.time.since(last).as_nanos() as f64);
            high += gap.min(weight / SLOWEST);
            let before = position.checked_sub(1).map(|position| recorded.sample(own[position]));
            let before = before.filter(|before| before.time >= start && before.core == sample.core);
            if let (Some(_), Some(rate)) = (before, self.rate(recorded, sample))
                && weight >= FULL * rate * gap
            {
                // Rates vary slightly around the reference.
                low += weight / (1.02 * rate);
            }
            last = sample.time;
        }
        // Part of the work before the next sample may belong to this range.
        let after = own.get(own.partition_point(|&index| recorded.sample(index).time < end)).or(own.last());
        let after = after.map_or(0.0, |&index| recorded.sample(index).weight as f64 / SLOWEST);
        (low, high + after.min(end.since(last).as_nanos() as f64))
    }
}

/// `E Core`, `Efficiency`.
fn is_efficient(kind: &str) -> bool {
    kind.starts_with(['E', 'e'])
}

/// The reference rate, which the fastest pairs (from the third on) reach, if it is plausible and enough pairs are near it.
fn reference(mut pairs: Vec<(f64, ThreadId)>, is_efficient: bool) -> Option<f64> {
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    let position = ((pairs.len() as f64 * FASTEST) as usize).max(2).min(pairs.len().checked_sub(1)?);
    let rate = pairs[position].0;
    let mut near: HashMap<ThreadId, usize> = HashMap::default();
    for (_, thread) in pairs.iter().filter(|(other, _)| *other >= 0.9 * rate) {
        *near.entry(*thread).or_default() += 1;
    }
    let several = near.values().filter(|&&pairs| pairs >= PAIRS).count() >= 2;
    let least = LEAST[usize::from(is_efficient)][usize::from(several)];
    Some(rate).filter(|&rate| near.values().sum::<usize>() >= PAIRS && rate >= least)
}
