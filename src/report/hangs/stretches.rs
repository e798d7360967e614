//! Finds periods in which a main thread was on the CPU without a pause, for recordings without a table of hangs.

use super::cycles::References;
use super::recorded::Recorded;
use crate::profile::{Activity, Sample, ThreadId};
use crate::units::{Nanos, Unit};

/// Shorter stretches are not reported.
pub(super) const SHORTEST: Nanos = Nanos::from_millis(250);
/// The minimum number of samples in a period.
const SAMPLES: usize = 20;
/// One lost sample is not a pause. A second lost sample within this time counts as a pause, since an app that draws 60 or 120 frames a second rests
/// that often.
const LOST_EVERY: Nanos = Nanos::from_millis(100);
/// The longest pauses that cycle counts cannot reveal, in nanoseconds, at the reference rate and at three quarters of it.
const PAUSES: [(f64, f64); 2] = [(1.0, 1e6), (0.75, 2e6)];

/// What a gap between two samples means.
enum Gap {
    Busy,
    /// One sample was lost.
    Lost,
    Pause,
}

/// Returns the busy periods of a thread.
pub(super) fn stretches(recorded: &Recorded<'_>, references: &References, thread: ThreadId) -> Vec<(Nanos, Nanos)> {
    let (mut found, mut lost) = (Vec::new(), Vec::<Nanos>::new());
    let mut open: Option<(Nanos, Nanos, usize)> = None;
    let mut before: Option<&Sample> = None;
    for &index in recorded.own(thread) {
        let sample = recorded.sample(index);
        let is_running = recorded.activity(sample) == Activity::Running;
        let goes_on = is_running
            && before.is_some_and(|before| match gap(recorded, references, before, sample) {
                Gap::Busy => true,
                Gap::Lost if lost.iter().all(|&other| sample.time.since(other) >= LOST_EVERY) => {
                    lost.push(sample.time);
                    true
                }
                Gap::Lost | Gap::Pause => false,
            });
        match &mut open {
            Some((_, end, samples)) if goes_on => (*end, *samples) = (sample.time, *samples + 1),
            _ => {
                found.extend(open.take());
                lost.clear();
                open = is_running.then_some((sample.time, sample.time, 1));
            }
        }
        before = is_running.then_some(sample);
    }
    found.extend(open);
    let is_long = |&(start, end, samples): &(Nanos, Nanos, usize)| end.since(start) >= SHORTEST && samples >= SAMPLES;
    found.into_iter().filter(is_long).map(|(start, end, _)| (start, end)).collect()
}

fn gap(recorded: &Recorded<'_>, references: &References, before: &Sample, sample: &Sample) -> Gap {
    let gap = sample.time.since(before.time).as_nanos() as f64;
    if recorded.unit == Unit::Nanoseconds {
        return match gap / recorded.interval {
            intervals if intervals <= 1.5 => Gap::Busy,
            intervals if intervals <= 2.5 => Gap::Lost,
            _ => Gap::Pause,
        };
    }
    let weight = sample.weight as f64;
    let rate = references.rate(recorded, sample).filter(|_| sample.core == before.core);
    let is_short = |rate: f64| PAUSES.iter().all(|(part, most)| gap - part * weight / rate <= *most);
    if rate.is_some_and(is_short) { Gap::Busy } else { Gap::Pause }
}
