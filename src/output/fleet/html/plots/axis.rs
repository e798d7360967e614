//! Axes: a range of values, round numbers on it, and where a value is.

use plotters::style::text_anchor::{HPos, VPos};

use super::super::numbers::step;
use super::svg::{Area, Drawn, GRID, MUTED, line, style, write};
use crate::units::Unit;

/// A range of measures, from zero or from a round number below the smallest.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    /// The number by which ticks are divided to be readable.
    divisor: f64,
    /// The unit of the axis.
    pub(in super::super) title: String,
}

/// The largest number of steps on an axis.
const MOST_STEPS: u128 = 6;

impl Axis {
    /// An axis for measures of a unit up to `high`.
    pub(in super::super) fn of_measure(high: f64, unit: Unit) -> Self {
        let mut axis = Self::up_to(high);
        axis.title = unit.rate_name().to_owned();
        if unit != Unit::Nanoseconds {
            let (divisor, letter) = step(axis.high);
            axis.divisor = divisor;
            axis.title = format!("{letter} {}", axis.title).trim_start().to_owned();
        }
        axis
    }

    /// An axis for counts.
    pub(in super::super) fn of_count(high: u64) -> Self {
        let mut axis = Self::up_to(high.max(1) as f64);
        axis.ticks.retain(|tick| tick.fract() == 0.0);
        axis
    }

    /// An axis without ticks, from zero to this.
    pub(super) fn exactly(high: f64) -> Self {
        Self { low: 0.0, high: high.max(1.0), ticks: Vec::new(), divisor: 1.0, title: String::new() }
    }

    /// An axis for seconds between two of them.
    pub(super) fn of_seconds(from: u32, to: u32) -> Self {
        let (low, high) = (f64::from(from), f64::from(to.max(from.saturating_add(1))));
        let mut axis = Self { low, high, ticks: ticks(low, high), divisor: 1.0, title: "s".to_owned() };
        axis.ticks.retain(|tick| tick.fract() == 0.0);
        axis
    }

    /// From zero to the next tick above the largest value.
    fn up_to(high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
        let mut ticks = ticks(0.0, high);
        let width = ticks.get(1).copied().unwrap_or(high);
        let last = ticks.last().copied().unwrap_or(0.0);
        let high = if last < high { last + width } else { high };
        if last < high {
            ticks.push(high);
        }
        Self { low: 0.0, high, ticks, divisor: 1.0, title: String::new() }
    }

    /// The pixel of a value, between two others.
    pub(super) fn place(&self, value: f64, from: i32, to: i32) -> i32 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn labels(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|&tick| (tick, format!("{}", tick / self.divisor)))
    }

    /// Draws the axis below a plot, with lines through it.
    pub(super) fn draw_below(&self, area: &Area<'_>, plot: &Plot) -> Drawn {
        let label = style(&MUTED, HPos::Center, VPos::Top);
        for (tick, text) in self.labels() {
            let x = self.place(tick, plot.left, plot.right);
            line(area, vec![(x, plot.top), (x, plot.bottom)], GRID, 1)?;
            write(area, &text, (x, plot.bottom + 8), &label)?;
        }
        line(area, vec![(plot.left, plot.bottom), (plot.right, plot.bottom)], MUTED, 1)
    }

    /// Draws only the lines of an axis that another plot has below it.
    pub(super) fn draw_grid(&self, area: &Area<'_>, plot: &Plot) -> Drawn {
        for &tick in &self.ticks {
            let x = self.place(tick, plot.left, plot.right);
            line(area, vec![(x, plot.top), (x, plot.bottom)], GRID, 1)?;
        }
        line(area, vec![(plot.left, plot.bottom), (plot.right, plot.bottom)], MUTED, 1)
    }

    /// Draws the axis left of a plot, with lines through it.
    pub(super) fn draw_left(&self, area: &Area<'_>, plot: &Plot) -> Drawn {
        let label = style(&MUTED, HPos::Right, VPos::Center);
        for (tick, text) in self.labels() {
            let y = self.place(tick, plot.bottom, plot.top);
            line(area, vec![(plot.left, y), (plot.right, y)], GRID, 1)?;
            write(area, &text, (plot.left - 8, y), &label)?;
        }
        Ok(())
    }
}

/// The pixels of a plot without its labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// Multiples of 1, 2 or 5 times a power of ten between two values, both in [0, 10¹³].
///
/// In integers, as logarithms are others on other machines.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let millionths = |value: f64| (value * 1e6).round() as u128;
    let (low, high) = (millionths(low), millionths(high));
    let mut power = 1_u128;
    let width = loop {
        let fits = |width: &u128| (high.saturating_sub(low)) / width < MOST_STEPS;
        if let Some(width) = [power, 2 * power, 5 * power].into_iter().find(fits) {
            break width;
        }
        power = power.saturating_mul(10);
    };
    let (first, last) = (low.div_ceil(width), high / width);
    (first..=last).map(|index| (index * width) as f64 / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 99.0), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(ticks(0.0, 0.3), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(ticks(7.0, 31.0), [10.0, 15.0, 20.0, 25.0, 30.0]);
        for high in [1e-6, 0.5, 1.0, 7.7, 123.4, 9.99e5, 3.3e9, 1.8e13] {
            let ticks = ticks(0.0, high);
            assert!((2..=6).contains(&ticks.len()), "{high}: {ticks:?}");
        }
    }

    #[test]
    fn an_axis_holds_its_largest_value() {
        let axis = Axis::of_measure(99.0, Unit::Nanoseconds);
        assert_eq!((axis.high, axis.ticks.last()), (100.0, Some(&100.0)));
        assert_eq!((axis.place(0.0, 10, 110), axis.place(50.0, 10, 110), axis.place(500.0, 10, 110)), (10, 60, 110));
        let axis = Axis::of_measure(3.1e9, Unit::Cycles);
        assert_eq!(axis.title, "G cycles/s");
        assert_eq!(axis.labels().map(|(_, text)| text).collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
        for odd in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Axis::of_measure(odd, Unit::Samples).high, 1.0);
        }
        assert_eq!(Axis::of_count(0).ticks, [0.0, 1.0]);
        assert_eq!(Axis::of_seconds(3, 3).high, 4.0);
    }
}
