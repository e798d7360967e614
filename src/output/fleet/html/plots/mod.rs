//! Plots as SVG.
//!
//! A plot has no fixed colours. Each part is drawn in a colour that represents its role, and `report.css` defines the colour of each role:
//! `svg [fill="#010104"] { fill: var(--bar) }`. Plots are therefore light or dark with the page.

mod distributions;
mod times;

pub(super) use distributions::{boxes, histogram};
pub(super) use times::{Lines, timeline, trend};

use super::table::step;
use crate::output::inert::Text;
use crate::units::Unit;

/// The width of every plot; the page scales it. On a phone a plot is about 320 px wide, and its labels are 10 px high.
const WIDTH: i32 = 520;

const INK: &str = "#010101";
const MUTED: &str = "#010102";
const GRID: &str = "#010103";
const BAR: &str = "#010104";
const BAND: &str = "#010105";
const MIDDLE: &str = "#010106";
const UPPER: &str = "#010107";
const TAIL: &str = "#010108";
const LARGEST: &str = "#010109";

/// A point, in pixels from the top left.
type Point = (i32, i32);

/// The elements of a plot.
#[derive(Default)]
struct Drawing(String);

/// The point of a label that is at its position.
#[derive(Clone, Copy, PartialEq)]
enum Anchor {
    /// Its left end, in the middle of its height.
    Left,
    /// Its right end, in the middle of its height.
    Right,
    /// The middle of its top.
    Below,
}

impl Drawing {
    /// Returns the plot with this height as an element of the page. `label` describes it for users who cannot see it.
    fn finish(self, height: i32, label: &str) -> String {
        let (label, elements) = (Text(label), self.0);
        format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">\n{elements}</svg>\n")
    }

    /// Writes a label.
    fn text(&mut self, text: &str, (x, y): Point, color: &str, anchor: Anchor) {
        let horizontal = match anchor {
            Anchor::Left => "start",
            Anchor::Below => "middle",
            Anchor::Right => "end",
        };
        let down = if anchor == Anchor::Below { "0.76em" } else { "0.5ex" };
        let text = Text(text).to_string().replace("&#39;", "&apos;");
        self.0 += &format!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"{down}\" text-anchor=\"{horizontal}\" font-family=\"sans-serif\" \
             font-size=\"16.935483870967744\" opacity=\"1\" fill=\"{color}\">\n{text}\n</text>\n"
        );
    }

    /// Draws a line through points.
    fn line(&mut self, points: &[Point], color: &str, width: u32) {
        self.0 += &format!(
            "<polyline fill=\"none\" opacity=\"1\" stroke=\"{color}\" stroke-width=\"{width}\" points=\"{}\"/>\n",
            listed(points)
        );
    }

    /// Draws a filled shape.
    fn polygon(&mut self, points: &[Point], color: &str) {
        self.0 += &format!("<polygon opacity=\"1\" fill=\"{color}\" points=\"{}\"/>\n", listed(points));
    }

    /// Draws a filled rectangle, at least 2 px wide and high, so it is always visible.
    fn block(&mut self, (left, top): Point, (right, bottom): Point, color: &str) {
        self.rectangle((left, top.min(bottom - 2)), (right.max(left + 2), bottom), color, "none");
    }

    fn rectangle(&mut self, (left, top): Point, (right, bottom): Point, fill: &str, stroke: &str) {
        let (width, height) = (right - left, bottom - top);
        self.0 += &format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" opacity=\"1\" fill=\"{fill}\" \
             stroke=\"{stroke}\"/>\n"
        );
    }

    /// Draws a circle of 8 px.
    fn circle(&mut self, (x, y): Point, color: &str) {
        self.0 += &format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" opacity=\"1\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\n"
        );
    }
}

fn listed(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{x},{y} ")).collect()
}

/// The pixels of a plot without its labels.
#[derive(Clone, Copy, Debug)]
struct Plot {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

/// A range of measures, from zero or from a round number below the smallest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    /// The number by which ticks are divided to be readable.
    divisor: f64,
    /// The unit of the axis.
    title: String,
}

/// The largest number of steps on an axis.
const MOST_STEPS: u128 = 6;

impl Axis {
    /// An axis for measures of a unit up to `high`.
    pub(super) fn of_measure(high: f64, unit: Unit) -> Self {
        let mut axis = Self::up_to(high);
        axis.title = unit.rate_name().to_owned();
        if unit != Unit::Nanoseconds && !unit.is_of_reports() {
            let (divisor, letter) = step(axis.high);
            axis.divisor = divisor;
            axis.title = format!("{letter} {}", axis.title).trim_start().to_owned();
        }
        axis
    }

    /// An axis for counts.
    pub(super) fn of_count(high: f64) -> Self {
        let mut axis = Self::up_to(high.max(1.0));
        axis.ticks.retain(|tick| tick.fract() == 0.0);
        axis
    }

    /// An axis for seconds between two of them.
    fn of_seconds(from: u32, to: u32) -> Self {
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
    fn place(&self, value: f64, from: i32, to: i32) -> i32 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn x(&self, value: f64, plot: &Plot) -> i32 {
        self.place(value, plot.left, plot.right)
    }

    fn y(&self, value: f64, plot: &Plot) -> i32 {
        self.place(value, plot.bottom, plot.top)
    }

    fn label(&self, tick: f64) -> String {
        format!("{}", tick / self.divisor)
    }

    /// Draws lines through a plot at the ticks of an axis below it, with their labels unless another plot below has them.
    fn draw_below(&self, drawing: &mut Drawing, plot: &Plot, has_labels: bool) {
        for &tick in &self.ticks {
            let x = self.x(tick, plot);
            drawing.line(&[(x, plot.top), (x, plot.bottom)], GRID, 1);
            if has_labels {
                drawing.text(&self.label(tick), (x, plot.bottom + 8), MUTED, Anchor::Below);
            }
        }
        drawing.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], MUTED, 1);
    }

    /// Draws the axis left of a plot, with lines through it.
    fn draw_left(&self, drawing: &mut Drawing, plot: &Plot) {
        for &tick in &self.ticks {
            let y = self.y(tick, plot);
            drawing.line(&[(plot.left, y), (plot.right, y)], GRID, 1);
            drawing.text(&self.label(tick), (plot.left - 8, y), MUTED, Anchor::Right);
        }
    }
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
        assert_eq!(axis.ticks.iter().map(|&tick| axis.label(tick)).collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
        for odd in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Axis::of_measure(odd, Unit::Samples).high, 1.0);
        }
        assert_eq!(Axis::of_count(0.0).ticks, [0.0, 1.0]);
        assert_eq!(Axis::of_seconds(3, 3).high, 4.0);
    }
}
