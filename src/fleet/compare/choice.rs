//! Chooses the quantity that suits the recordings.
//!
//! The rules depend on the spread within each side, never on the difference between the sides, so the choice causes no false claims.

use super::quantity::{Quantity, QuantityValues};
use super::side::Side;
use super::units::Units;
use crate::stats::Effect;

/// The two-sided significance level for a difference of lengths.
const LENGTHS_LEVEL: f64 = 0.01;
/// Recordings have the same length if all are within this fraction of the median. At 2 %, a benchmark that takes 3.5 % longer would be missed.
const ONE_LENGTH: f64 = 0.005;
/// If the logarithms of lengths have a larger standard deviation, the work did not determine the lengths.
const FREE_LENGTHS: f64 = 0.25;
/// If the variation of lengths is less than this fraction of that of CPU time, a fixed window determined the lengths.
const WINDOW: f64 = 0.2;
/// If new recordings are shorter than this fraction of the base's length, they may have ended early.
const SHORTER: f64 = 0.8;
/// The minimum share of runs on each side that must record how they ended.
const STATED: f64 = 0.9;

/// The recorded lengths on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lengths {
    /// The geometric mean of new lengths divided by the base's, within blocks.
    pub ratio: f64,
    /// The p-value of the ratio; `None` if there are too few runs, or lengths do not vary.
    pub p: Option<f64>,
    /// True if all recordings have the same length.
    pub are_equal: bool,
    /// True if the lengths are known, and differ significantly between the sides.
    pub differ: bool,
    /// True if some lengths are unknown, so they are estimated from samples.
    pub are_estimated: bool,
    /// The standard deviation of the logarithms within sides and blocks.
    pub deviation: f64,
}

impl Lengths {
    /// Compares the lengths. `None` for reports from the field, and if no block has runs on both sides.
    pub(super) fn new(sides: &[Side; 2], units: &Units) -> Option<Self> {
        let lengths = sides.each_ref().map(QuantityValues::lengths);
        if lengths.iter().any(|lengths| lengths.unmeasured() > 0) {
            return None;
        }
        let effect = Effect::of(&units.blocks_with_floors(&lengths));
        let are_equal = are_equal(units.runs_of(|side, run| lengths[side].get(run)).collect())?;
        let p = effect.filter(Effect::has_error).map(|effect| effect.p(0.0));
        let logarithm = |side: usize, run| lengths[side].logarithm(run);
        let ratio = units.mean_difference(logarithm).exp();
        let is_estimated = |side: usize, run: usize| Some(sides[side].report.runs[run].is_estimated());
        let are_estimated = units.runs_of(is_estimated).any(|is| is);
        let differ = !are_equal && !are_estimated && p.is_some_and(|p| p <= LENGTHS_LEVEL);
        Some(Self { ratio, p, are_equal, differ, are_estimated, deviation: units.deviation(logarithm) })
    }

    /// True if new recordings are so much shorter that they may have ended early.
    pub fn are_shorter(&self) -> bool {
        self.ratio < if self.differ { 1.0 } else { SHORTER }
    }
}

/// Why a quantity was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The user requested it.
    Requested,
    /// Each report from the field states a single quantity.
    Report,
    /// The recorded apps exited after completing their work.
    Exited,
    /// A limit or a person stopped the recordings.
    Stopped,
    /// The lengths of recordings are unknown.
    UnknownLengths,
    /// All recordings have the same length.
    OneLength,
    /// Lengths vary freely, for example between users.
    FreeLengths,
    /// Lengths vary much less than CPU time, as for a fixed window.
    Window,
    /// Lengths vary as much as CPU time, as if recordings lasted until the work was done.
    Work,
}

impl Choice {
    /// Chooses for comparing two sides.
    pub(super) fn new(sides: &[Side; 2], units: &Units, lengths: Option<&Lengths>) -> Self {
        let Some(lengths) = lengths else { return Self::Report };
        let work = QuantityValues::of_sides(&Quantity::CpuTime, sides);
        let deviations = [lengths.deviation, units.deviation(|side, run| work[side].logarithm(run))];
        Self::of(&mut sides.iter(), lengths.are_estimated, lengths.are_equal, deviations)
    }

    /// Chooses by the first rule that applies, given the deviations of lengths and of CPU time.
    fn of(
        sides: &mut dyn Iterator<Item = &Side>,
        are_estimated: bool,
        are_equal: bool,
        [lengths, work]: [f64; 2],
    ) -> Self {
        let share = |side: &Side, is| side.runs.share_with("end_reason", is) >= STATED;
        let ends: Vec<[bool; 2]> = sides.map(|side| [share(side, has_exited), share(side, was_stopped)]).collect();
        match () {
            () if ends.iter().all(|[exited, _]| *exited) => Self::Exited,
            () if ends.iter().all(|[_, stopped]| *stopped) => Self::Stopped,
            () if are_estimated => Self::UnknownLengths,
            () if are_equal => Self::OneLength,
            () if lengths > FREE_LENGTHS => Self::FreeLengths,
            () if lengths < WINDOW * work => Self::Window,
            () => Self::Work,
        }
    }

    /// Chooses for a series of runs. Variation is measured between neighbours, so steps have little influence.
    pub(in crate::fleet) fn of_series(side: &Side, runs: &[usize]) -> Self {
        let (lengths, work) = (QuantityValues::lengths(side), QuantityValues::new(&Quantity::CpuTime, side));
        let known: Vec<f64> = runs.iter().filter_map(|&run| lengths.get(run)).collect();
        let Some(are_equal) = are_equal(known.clone()).filter(|_| known.len() == runs.len()) else {
            return Self::Report;
        };
        let deviation = |values: &QuantityValues| {
            let logarithms: Vec<f64> = runs.iter().filter_map(|&run| values.logarithm(run)).collect();
            deviation_of_neighbours(&logarithms)
        };
        let are_estimated = runs.iter().any(|&run| side.report.runs[run].is_estimated());
        Self::of(&mut [side].into_iter(), are_estimated, are_equal, [&lengths, &work].map(deviation))
    }

    /// The name in machine formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Report => "report",
            Self::Exited => "exited",
            Self::Stopped => "stopped",
            Self::UnknownLengths => "unknown-lengths",
            Self::OneLength => "one-length",
            Self::FreeLengths => "free-lengths",
            Self::Window => "window",
            Self::Work => "work",
        }
    }

    pub(in crate::fleet) const fn quantity(self) -> Quantity {
        match self {
            Self::Exited | Self::UnknownLengths | Self::Work => Quantity::CpuTime,
            _ => Quantity::CpuUse,
        }
    }

    /// True if recordings may be shorter because apps failed.
    pub(in crate::fleet) fn may_have_failed(self, sides: &[&Side]) -> bool {
        let has_succeeded = |side: &&Side| side.runs.share_with("exit_status", |status| status == "0") >= 1.0;
        match self {
            Self::Exited => !sides.iter().all(has_succeeded),
            Self::UnknownLengths | Self::FreeLengths | Self::Window | Self::Work => true,
            Self::Requested | Self::Report | Self::Stopped | Self::OneLength => false,
        }
    }
}

/// True if all lengths are near their median; `None` if there are none.
fn are_equal(mut lengths: Vec<f64>) -> Option<bool> {
    lengths.sort_by(f64::total_cmp);
    let median = *lengths.get(lengths.len() / 2)?;
    Some(lengths.iter().all(|length| (length / median - 1.0).abs() <= ONE_LENGTH))
}

/// Estimates the standard deviation of normal values from the median difference between neighbours, which a few steps do not affect.
fn deviation_of_neighbours(values: &[f64]) -> f64 {
    /// The median absolute difference of two standard normal values.
    const MEDIAN: f64 = 0.953_873;
    let mut differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    differences.sort_by(f64::total_cmp);
    differences.get(differences.len() / 2).map_or(0.0, |median| median / MEDIAN)
}

/// Matches `Target app exited`. This may be a crash, unless the label `exit_status` is known.
fn has_exited(end: &str) -> bool {
    end.to_lowercase().contains("exited")
}

/// Matches `Time limit reached`, `User stopped recording`.
fn was_stopped(end: &str) -> bool {
    let end = end.to_lowercase();
    end.contains("limit") || end.contains("stopped")
}
