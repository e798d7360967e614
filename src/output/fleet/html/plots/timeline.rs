//! CPU use by second of the recordings.

use std::io;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Axis, Plot};
use super::svg::{Area, BAND, BAR, Drawn, LARGEST, MIDDLE, MUTED, TAIL, UPPER, WIDTH, line, style, svg, write};
use crate::fleet::{CohortReport, FleetOptions, TimelinePoint};
use crate::stats::Quantile;

const HEIGHT: u32 = 400;
const PLOT: Plot = Plot { left: 60, top: 40, right: WIDTH as i32 - 24, bottom: 248 };
/// The runs that recorded each second, below.
const RUNS: Plot = Plot { left: 60, top: 294, right: WIDTH as i32 - 24, bottom: 336 };

/// A percentile of the options that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Line {
    /// The position of the percentile in the options.
    pub(in super::super) at: usize,
    /// The number of runs that the percentile needs: if fewer runs recorded a second, it would be the largest run, and
    /// the line has a gap.
    needed: u64,
}

/// The line in the middle, the edge of the band above it, and the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Lines {
    pub(in super::super) middle: Option<Line>,
    pub(in super::super) upper: Option<Line>,
    pub(in super::super) tail: Option<Line>,
}

impl Lines {
    /// P50 and P90, or the percentiles requested instead, and the farthest percentile, if there are enough runs for them.
    pub(in super::super) fn of(options: &FleetOptions, runs: u64) -> Self {
        let all = options.quantiles.iter().copied().enumerate();
        let supported: Vec<(usize, Quantile)> = all.filter(|(_, quantile)| quantile.needed_count() <= runs).collect();
        let place = |wanted: Quantile| supported.iter().position(|&(_, quantile)| quantile == wanted);
        let middle = place(Quantile::P50).unwrap_or(0);
        let upper = place(Quantile::P90).filter(|upper| *upper > middle).unwrap_or(middle + 1);
        let tail = supported.len().checked_sub(1).filter(|tail| *tail > upper);
        let line =
            |place: usize| supported.get(place).map(|&(at, quantile)| Line { at, needed: quantile.needed_count() });
        Self { middle: line(middle), upper: line(upper), tail: tail.and_then(line) }
    }
}

/// The timeline of a cohort with this name.
pub(in super::super) fn timeline(cohort: &CohortReport, name: &str, lines: Lines, axis: &Axis) -> io::Result<String> {
    let points = &cohort.timeline;
    let label = format!("Timeline: percentiles across runs in each second of the recordings, of {name}");
    svg(HEIGHT, &label, |area| {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(()) };
        let time = Axis::of_seconds(first.second, last.second.saturating_add(last.seconds));
        time.draw_below(area, &RUNS)?;
        time.draw_grid(area, &PLOT)?;
        axis.draw_left(area, &PLOT)?;
        let muted = style(&MUTED, HPos::Left, VPos::Center);
        write(area, &axis.title, (8, PLOT.top - 24), &muted)?;
        draw_lines(points, lines, &time, axis, area)?;
        runs_below(points, &time, area)?;
        let middle = ((RUNS.left + RUNS.right) / 2, RUNS.bottom + 34);
        let title = "seconds since the recording started";
        write(area, title, middle, &style(&MUTED, HPos::Center, VPos::Top))
    })
}

fn draw_lines(points: &[TimelinePoint], lines: Lines, time: &Axis, axis: &Axis, area: &Area<'_>) -> Drawn {
    let value = |point: &TimelinePoint, line: Line| point.values.get(line.at).copied().unwrap_or(0.0);
    let steps = |points: &[&TimelinePoint], of: &dyn Fn(&TimelinePoint) -> f64| stairs(points, time, axis, &PLOT, of);
    if let (Some(middle), Some(upper)) = (lines.middle, lines.upper) {
        for points in stretches(points, upper.needed.max(middle.needed)) {
            let mut band = steps(&points, &|point| value(point, upper));
            band.extend(steps(&points, &|point| value(point, middle)).into_iter().rev());
            area.draw(&Polygon::new(band, BAND.filled()))?;
        }
    }
    let (color, width) = if lines.middle.is_some() { (LARGEST, 1) } else { (MIDDLE, 3) };
    for points in stretches(points, 1) {
        line(area, steps(&points, &|point| point.max), color, width)?;
    }
    for (drawn, color, width) in [(lines.tail, TAIL, 2), (lines.upper, UPPER, 2), (lines.middle, MIDDLE, 3)] {
        let Some(drawn) = drawn else { continue };
        for points in stretches(points, drawn.needed) {
            line(area, steps(&points, &|point| value(point, drawn)), color, width)?;
        }
    }
    Ok(())
}

/// The ranges of consecutive points that at least this many runs recorded.
fn stretches(points: &[TimelinePoint], needed: u64) -> Vec<Vec<&TimelinePoint>> {
    let kept: Vec<&TimelinePoint> = points.iter().filter(|point| point.runs >= needed).collect();
    let follows =
        |point: &&TimelinePoint, next: &&TimelinePoint| point.second.saturating_add(point.seconds) == next.second;
    kept.chunk_by(follows).map(<[_]>::to_vec).collect()
}

/// The values of points as stairs: each holds for all of its time.
fn stairs(
    points: &[&TimelinePoint],
    time: &Axis,
    axis: &Axis,
    plot: &Plot,
    of: &dyn Fn(&TimelinePoint) -> f64,
) -> Vec<(i32, i32)> {
    let mut steps = Vec::with_capacity(points.len() * 2);
    for point in points {
        let y = axis.place(of(point), plot.bottom, plot.top);
        let end = point.second.saturating_add(point.seconds);
        for second in [point.second, end] {
            steps.push((time.place(f64::from(second), plot.left, plot.right), y));
        }
    }
    steps
}

/// Draws the number of runs at each second: the end of the longest recordings has few.
fn runs_below(points: &[TimelinePoint], time: &Axis, area: &Area<'_>) -> Drawn {
    let most = points.iter().map(|point| point.runs).max().unwrap_or(0);
    let counts = Axis::exactly(most as f64);
    for points in stretches(points, 1) {
        let mut steps = stairs(&points, time, &counts, &RUNS, &|point| point.runs as f64);
        for step in &mut steps {
            // A nonzero count stays visible.
            step.1 = step.1.min(RUNS.bottom - 2);
        }
        let ends = [steps.last(), steps.first()].map(|end| end.map_or(0, |end| end.0));
        steps.extend(ends.map(|x| (x, RUNS.bottom)));
        area.draw(&Polygon::new(steps, BAR.filled()))?;
    }
    let right = style(&MUTED, HPos::Right, VPos::Center);
    write(area, &super::super::numbers::count(most), (RUNS.left - 8, RUNS.top + 4), &right)?;
    write(area, "runs that recorded it", (RUNS.left, RUNS.top - 16), &style(&MUTED, HPos::Left, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(quantiles: &[&str], runs: u64) -> (Option<usize>, Option<usize>, Option<usize>) {
        let quantiles = quantiles.iter().map(|text| Quantile::from_percent(text).unwrap()).collect();
        let lines = Lines::of(&FleetOptions { quantiles, ..FleetOptions::default() }, runs);
        let at = |line: Option<Line>| line.map(|line| line.at);
        (at(lines.middle), at(lines.upper), at(lines.tail))
    }

    #[test]
    fn only_percentiles_that_runs_support_are_lines() {
        let usual = ["50", "90", "95", "99", "99.9"];
        assert_eq!(lines(&usual, 1_000), (Some(0), Some(1), Some(4)));
        assert_eq!(lines(&usual, 999), (Some(0), Some(1), Some(3)));
        assert_eq!(lines(&usual, 10), (Some(0), Some(1), None));
        assert_eq!(lines(&usual, 9), (Some(0), None, None));
        assert_eq!(lines(&usual, 1), (None, None, None));
    }

    #[test]
    fn a_line_has_gaps_where_few_runs_recorded() {
        let point = |second, runs| TimelinePoint { second, seconds: 1, runs, values: Vec::new(), max: 0.0 };
        let points = [point(0, 100), point(1, 99), point(2, 100), point(3, 100), point(7, 1)];
        let lengths = |needed| stretches(&points, needed).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(100), [1, 2]);
        assert_eq!(lengths(1), [4, 1]);
        assert!(lengths(101).is_empty());
    }

    #[test]
    fn other_percentiles_stand_in() {
        assert_eq!(lines(&["25", "75", "99"], 100), (Some(0), Some(1), Some(2)));
        assert_eq!(lines(&["10", "50", "75", "90", "99"], 100), (Some(1), Some(3), Some(4)));
        assert_eq!(lines(&["90"], 100), (Some(0), None, None));
        assert_eq!(lines(&[], 100), (None, None, None));
    }
}
