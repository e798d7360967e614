//! Bounds for the share of a period that a thread spent on the CPU.

use super::cycles::References;
use super::recorded::Recorded;
use crate::intervals::EDGE;
use crate::profile::{Activity, ThreadId};
use crate::units::{Nanos, Unit};

/// A thread with at least this share was busy. The limit allows for a clock a quarter below its maximum.
pub(super) const BUSY: f64 = 0.7;

const MILLI: f64 = 1e6;
/// A longer gap between samples, in nanoseconds, is a hole in the recording, unless samples are generally farther apart. Either no thread ran or
/// samples were lost. Apps that draw 60 frames a second pause for up to 16 ms, so some of their hangs remain unknown.
const HOLE: f64 = 10.0 * MILLI;
/// If two samples are farther apart than this multiple of the interval, a sample is missing in between.
const APART: f64 = 1.5;
/// The two-sided 95 % quantile of the normal distribution.
const NORMAL: f64 = 1.96;

/// Bounds for the share of a period that a thread spent on the CPU, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// The minimum and maximum share.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The share of the period in which no sample could show the thread.
    pub(super) uncovered: f64,
    /// The share of the period in which the thread was ready to run, if states are recorded.
    pub(super) queued: f64,
}

impl Share {
    const UNKNOWN: Self = Self { low: 0.0, high: 1.0, uncovered: 1.0, queued: 0.0 };

    /// Computes a thread's share in a period.
    pub(super) fn of(
        recorded: &Recorded<'_>,
        references: &References,
        thread: ThreadId,
        range: (Nanos, Nanos),
    ) -> Self {
        let own = recorded.own(thread);
        let length = range.1.since(range.0).as_nanos() as f64;
        if own.is_empty() || length <= 0.0 {
            return Self::UNKNOWN;
        }
        // If waiting threads are sampled, the thread always has samples.
        let seen = if recorded.has_states { own } else { recorded.all() };
        let uncovered = uncovered(recorded, seen, range);
        match recorded.unit {
            Unit::Cycles => {
                let (low, high) = references.bounds(recorded, own, range);
                let high = (high / length + uncovered).min(1.0);
                Self { low: (low / length).min(BUSY), high, uncovered, queued: 0.0 }
            }
            _ => of_time(recorded, recorded.within(own, range), length, uncovered),
        }
    }
}

/// The share of a period that no sample covers: before the first, after the last, and in holes.
fn uncovered(recorded: &Recorded<'_>, seen: &[u32], (start, end): (Nanos, Nanos)) -> f64 {
    let (from, until) = (start.as_nanos() as f64, end.as_nanos() as f64);
    let (Some(&first), Some(&last)) = (seen.first(), seen.last()) else { return 1.0 };
    let (first, last) = (recorded.time(first), recorded.time(last));
    let hole = if recorded.has_states {
        (3.0 * recorded.interval).max(EDGE.as_nanos() as f64)
    } else {
        HOLE.max(APART * recorded.interval)
    };
    let edge = (5.0 * recorded.interval).max(EDGE.as_nanos() as f64);
    let mut missing = 0.0;
    if first - from > edge {
        missing += first.min(until) - from;
    }
    if until - last > edge {
        missing += until - last.max(from);
    }
    let next = seen.partition_point(|&index| recorded.sample(index).time < start);
    for pair in seen[next.saturating_sub(1)..].windows(2) {
        let (one, other) = (recorded.time(pair[0]), recorded.time(pair[1]));
        if one >= until {
            break;
        }
        if other - one > hole {
            missing += (other.min(until) - one.max(from)).max(0.0);
        }
    }
    (missing / (until - from)).min(1.0)
}

/// The share according to samples that represent times. `own` are the thread's samples in the period.
fn of_time(recorded: &Recorded<'_>, own: &[u32], length: f64, uncovered: f64) -> Share {
    let covered = 1.0 - uncovered;
    let doing =
        |wanted: Activity| own.iter().filter(move |&&index| recorded.activity(recorded.sample(index)) == wanted);
    let moments = if recorded.has_states { own.len() as f64 } else { (length / recorded.interval).round() }.max(1.0);
    let on: Vec<f64> = doing(Activity::Running).map(|&index| recorded.time(index)).collect();
    let ran = if recorded.has_states {
        on.len() as f64 / moments
    } else {
        let weight: f64 = own.iter().map(|&index| recorded.sample(index).weight as f64).sum();
        weight / length / covered.max(1e-9)
    };
    let ran = ran.min(1.0);
    let queued = doing(Activity::Queued).count() as f64 / moments * covered;
    // An unknown state can be any state.
    let unknown = doing(Activity::Unknown).count() as f64 / moments;
    // Rule of three: an event that was not seen in n moments has a share of at most 3/n.
    let least = if ran <= 0.0 || ran >= 1.0 { 3.0 } else { 1.0 };
    let error = NORMAL * (ran * (1.0 - ran) / moments).sqrt() + least / moments;
    // Bursts shorter than two samples may be synchronised with the sampler, which then sees all of the work or none of it.
    let stretches = 1.0 + on.windows(2).filter(|pair| pair[1] - pair[0] > 1.5 * recorded.interval).count() as f64;
    let (low, high) = match stretches {
        1.0 => (ran - error, ran + error),
        _ if (on.len() as f64) / stretches < 2.0 => (0.0, 2.0 * ran + error),
        _ if (moments - on.len() as f64) / stretches < 2.0 => (1.0 - 2.0 * (1.0 - ran) - error, f64::INFINITY),
        _ => (ran - error, ran + error),
    };
    let high = (high + unknown) * covered + uncovered;
    Share { low: (low * covered).max(0.0), high: high.min(1.0), uncovered, queued }
}
