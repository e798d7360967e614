//! Hitches by process: frames that were displayed late.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::recording::Interval;
use crate::units::Nanos;

/// The schema of hitches.
const HITCHES: &str = "hitches";

/// Parts of the names of signposts that are open while something moves on the screen, such as UIKit's `Scroll_DraggingAndDeceleration` and
/// `NavigationTransition`.
const MOVING: [&str; 4] = ["scroll", "animation", "transition", "deceleration"];

/// The late frames of a process.
#[derive(Clone, Debug)]
pub struct Hitches {
    /// The name of the process, if known.
    pub process: Option<Arc<str>>,
    /// The process identifier, if known.
    pub pid: Option<u64>,
    /// The number of the run.
    pub run: u32,
    /// The rows, longest first. Their names are Instruments' terms for the causes.
    pub rows: Vec<Interval>,
    /// The names of the process's signposts for animations and scrolling, in alphabetical order.
    pub animations: Vec<Arc<str>>,
    /// The time during which any of these signposts was open.
    pub animated: Nanos,
    /// The total delay of frames that were due in that time.
    pub late_in_animations: Nanos,
}

impl Hitches {
    /// Returns the total delay of all frames.
    pub fn late(&self) -> Nanos {
        sum(self.rows.iter())
    }

    /// Returns the delay in milliseconds per second of animations (Apple's hitch time ratio). `None` if less than a second of animations was
    /// recorded, since time without animations must not be counted.
    pub fn ratio(&self) -> Option<f64> {
        const SECOND: f64 = 1e9;
        let animated = self.animated.as_nanos() as f64;
        (animated >= SECOND).then(|| self.late_in_animations.as_nanos() as f64 / animated * 1e3)
    }

    /// Returns the hitches of each process, by descending delay.
    pub(super) fn by_process(all: &[&Interval]) -> Vec<Self> {
        let mut processes: BTreeMap<_, Vec<Interval>> = BTreeMap::new();
        for row in all.iter().filter(|interval| interval.table.as_deref() == Some(HITCHES)) {
            let process = row.process.clone().filter(|_| row.pid.is_none());
            processes.entry((row.run, row.pid, process)).or_default().push((*row).clone());
        }
        let mut hitches: Vec<Self> =
            processes.into_iter().map(|((run, pid, _), rows)| Self::of_process(run, pid, rows, all)).collect();
        hitches.sort_by_key(|hitches| std::cmp::Reverse(hitches.late()));
        hitches
    }

    fn of_process(run: u32, pid: Option<u64>, mut rows: Vec<Interval>, all: &[&Interval]) -> Self {
        rows.sort_by_key(|row| (std::cmp::Reverse(row.duration()), row.start));
        let is_animation = |interval: &&&Interval| {
            let is_of_process = pid.is_some() && interval.pid == pid && interval.run == run;
            is_of_process && interval.is_signpost() && interval.end.is_some() && moves(interval)
        };
        let animations: Vec<&Interval> = all.iter().filter(is_animation).copied().collect();
        let parts = union(animations.iter().filter_map(|interval| Some((interval.start, interval.end?))).collect());
        let is_animated = |row: &&Interval| parts.iter().any(|&(start, end)| start <= row.start && row.start < end);
        let late_in_animations = sum(rows.iter().filter(is_animated));
        let mut names: Vec<Arc<str>> = animations.iter().filter_map(|interval| interval.name.clone()).collect();
        names.sort();
        names.dedup();
        let animated = parts.iter().map(|&(start, end)| end.since(start).as_nanos()).sum();
        let process = rows.first().and_then(|row| row.process.clone());
        Self { process, pid, run, rows, animations: names, animated: Nanos::from_nanos(animated), late_in_animations }
    }
}

fn moves(interval: &Interval) -> bool {
    let name = interval.name.as_deref().unwrap_or_default().to_ascii_lowercase();
    MOVING.iter().any(|word| name.contains(word))
}

fn sum<'i>(rows: impl Iterator<Item = &'i Interval>) -> Nanos {
    Nanos::from_nanos(rows.filter_map(Interval::duration).map(Nanos::as_nanos).fold(0, u64::saturating_add))
}

/// Merges ranges that touch or overlap.
fn union(mut ranges: Vec<(Nanos, Nanos)>) -> Vec<(Nanos, Nanos)> {
    ranges.sort_unstable();
    let mut joined: Vec<(Nanos, Nanos)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None => joined.push((start, end)),
        }
    }
    joined
}
