//! Which quantity the recordings are suited for.
//!
//! The rules look at spreads within each side only, never at the difference of the sides, so choosing makes no wrong claims.

use super::quantity::{Quantity, QuantityValues};
use super::side::Side;
use super::units::Units;
use crate::recording::TimeSource;
use crate::stats::compare::Effect;

/// Lengths differ by more than chance at this two-sided level.
const LENGTHS_LEVEL: f64 = 0.01;
/// Recordings within this share of their median have one length. With 2 %, a benchmark that takes 3.5 % longer would be missed.
const ONE_LENGTH: f64 = 0.005;
/// Lengths with a larger standard deviation of their logarithm were not chosen by the work.
const FREE_LENGTHS: f64 = 0.25;
/// Lengths that vary less than this share of what CPU time varies are those of a window.
const WINDOW: f64 = 0.2;
/// New recordings below this share of the length of the base may have ended early.
const SHORTER: f64 = 0.8;
/// The share of runs of each side that state how they ended.
const STATED: f64 = 0.9;

/// The lengths of the recordings on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lengths {
    /// The geometric mean of new lengths divided by that of the base, within blocks.
    pub ratio: f64,
    /// The probability of a ratio at least as far from 1 by chance; `None` if runs do not vary, or are too few to tell.
    pub p: Option<f64>,
    /// True if all recordings have one length.
    pub are_equal: bool,
    /// True if they differ by more than chance, and are known.
    pub differ: bool,
    /// True if the lengths of some runs are unknown, and estimated by their samples.
    pub are_estimated: bool,
    /// The standard deviation of their logarithms within sides and blocks.
    pub deviation: f64,
}

impl Lengths {
    /// `None` for reports from the field, and if no block has runs on both sides.
    pub(super) fn new(sides: &[Side; 2], units: &Units) -> Option<Self> {
        let lengths = QuantityValues::new(&Quantity::Elapsed, sides);
        if lengths.unmeasured(0) + lengths.unmeasured(1) > 0 {
            return None;
        }
        let effect = Effect::of(&units.blocks_with_floors(&lengths));
        let mut all: Vec<f64> = units.runs_of(|side, run| lengths.get(side, run)).collect();
        all.sort_by(f64::total_cmp);
        let median = *all.get(all.len() / 2)?;
        let are_equal = all.iter().all(|length| (length / median - 1.0).abs() <= ONE_LENGTH);
        let p = effect.filter(Effect::has_error).map(|effect| effect.p(0.0));
        let ratio = units.mean_difference(|side, run| lengths.logarithm(side, run)).exp();
        let is_estimated =
            |side: usize, run: usize| Some(sides[side].report.runs[run].wall_source == TimeSource::Samples);
        let are_estimated = units.runs_of(is_estimated).any(|is| is);
        let differ = !are_equal && !are_estimated && p.is_some_and(|p| p <= LENGTHS_LEVEL);
        let deviation = units.deviation(|side, run| lengths.logarithm(side, run));
        Some(Self { ratio, p, are_equal, differ, are_estimated, deviation })
    }

    /// True if new recordings are so much shorter that they may have ended early.
    pub fn are_shorter(&self) -> bool {
        self.ratio < if self.differ { 1.0 } else { SHORTER }
    }
}

/// Why a quantity is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It was requested.
    Requested,
    /// Reports from the field state one number each.
    Report,
    /// The recorded apps exited: they did their work.
    Exited,
    /// The recordings were stopped by a limit or a person.
    Stopped,
    /// The lengths of recordings are unknown.
    UnknownLengths,
    /// All recordings have one length.
    OneLength,
    /// Lengths vary freely, as with users.
    FreeLengths,
    /// Lengths vary much less than CPU time, as with a window.
    Window,
    /// Lengths vary like CPU time, as if recordings lasted until the work was done.
    Work,
}

impl Choice {
    /// Chooses by the first rule that applies.
    pub(super) fn new(sides: &[Side; 2], units: &Units, lengths: Option<&Lengths>) -> Self {
        let Some(lengths) = lengths else { return Self::Report };
        let work = QuantityValues::new(&Quantity::CpuTime, sides);
        let deviation = units.deviation(|side, run| work.logarithm(side, run));
        let state = |is: fn(&str) -> bool| sides.iter().all(|side| side.runs.share_with_end(is) >= STATED);
        match () {
            () if state(has_exited) => Self::Exited,
            () if state(was_stopped) => Self::Stopped,
            () if lengths.are_estimated => Self::UnknownLengths,
            () if lengths.are_equal => Self::OneLength,
            () if lengths.deviation > FREE_LENGTHS => Self::FreeLengths,
            () if lengths.deviation < WINDOW * deviation => Self::Window,
            () => Self::Work,
        }
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

    pub(super) const fn quantity(self) -> Quantity {
        match self {
            Self::Exited | Self::UnknownLengths | Self::Work => Quantity::CpuTime,
            _ => Quantity::CpuUse,
        }
    }

    /// True if the lengths of recordings may depend on the result.
    pub(super) const fn is_of_lengths(self) -> bool {
        matches!(self, Self::Exited | Self::UnknownLengths | Self::FreeLengths | Self::Window | Self::Work)
    }
}

/// `Target app exited`. It does not exclude a crash.
fn has_exited(end: &str) -> bool {
    end.to_lowercase().contains("exited")
}

/// `Time limit reached`, `User stopped recording`.
fn was_stopped(end: &str) -> bool {
    let end = end.to_lowercase();
    end.contains("limit") || end.contains("stopped")
}
