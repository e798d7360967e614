//! CPU use over the seconds of the recordings, and over versions or dates.

use super::{Anchor, Axis, BAND, BAR, Drawing, LARGEST, MIDDLE, MUTED, Plot, Point, TAIL, UPPER, WIDTH};
use crate::fleet::{CohortReport, FleetOptions, TimelinePoint, Trend, TrendPoint};
use crate::output::fleet::thousands;
use crate::output::inert::cut;
use crate::stats::{Estimate, Quantile, Support};

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

const TIMELINE: Plot = Plot { left: 60, top: 40, right: WIDTH - 24, bottom: 248 };
/// The runs that recorded each second, below.
const RUNS: Plot = Plot { left: 60, top: 294, right: WIDTH - 24, bottom: 336 };

/// The timeline of a cohort with this name.
pub(in super::super) fn timeline(cohort: &CohortReport, name: &str, lines: Lines, axis: &Axis) -> String {
    let points = &cohort.timeline;
    let mut drawing = Drawing::default();
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let time = Axis::of_seconds(first.second, last.second.saturating_add(last.seconds));
        time.draw_below(&mut drawing, &RUNS, true);
        time.draw_below(&mut drawing, &TIMELINE, false);
        axis.draw_left(&mut drawing, &TIMELINE);
        drawing.text(&axis.title, (8, TIMELINE.top - 24), MUTED, Anchor::Left);
        draw_lines(points, lines, &time, axis, &mut drawing);
        runs_below(points, &time, &mut drawing);
        let middle = ((RUNS.left + RUNS.right) / 2, RUNS.bottom + 34);
        drawing.text("seconds since the recording started", middle, MUTED, Anchor::Below);
    }
    drawing.finish(400, &format!("Timeline: percentiles across runs in each second of the recordings, of {name}"))
}

fn draw_lines(points: &[TimelinePoint], lines: Lines, time: &Axis, axis: &Axis, drawing: &mut Drawing) {
    let value = |point: &TimelinePoint, line: Line| point.values.get(line.at).copied().unwrap_or(0.0);
    let steps =
        |points: &[&TimelinePoint], of: &dyn Fn(&TimelinePoint) -> f64| stairs(points, time, axis, &TIMELINE, of);
    if let (Some(middle), Some(upper)) = (lines.middle, lines.upper) {
        for points in stretches(points, upper.needed.max(middle.needed)) {
            let mut band = steps(&points, &|point| value(point, upper));
            band.extend(steps(&points, &|point| value(point, middle)).into_iter().rev());
            drawing.polygon(&band, BAND);
        }
    }
    let (color, width) = if lines.middle.is_some() { (LARGEST, 1) } else { (MIDDLE, 3) };
    for points in stretches(points, 1) {
        drawing.line(&steps(&points, &|point| point.max), color, width);
    }
    for (drawn, color, width) in [(lines.tail, TAIL, 2), (lines.upper, UPPER, 2), (lines.middle, MIDDLE, 3)] {
        let Some(drawn) = drawn else { continue };
        for points in stretches(points, drawn.needed) {
            drawing.line(&steps(&points, &|point| value(point, drawn)), color, width);
        }
    }
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
) -> Vec<Point> {
    let ends = |point: &TimelinePoint| [point.second, point.second.saturating_add(point.seconds)];
    let step = |point: &&TimelinePoint| {
        let y = axis.y(of(point), plot);
        ends(point).map(|second| (time.x(f64::from(second), plot), y))
    };
    points.iter().flat_map(step).collect()
}

/// Draws the number of runs at each second: the end of the longest recordings has few.
fn runs_below(points: &[TimelinePoint], time: &Axis, drawing: &mut Drawing) {
    let most = points.iter().map(|point| point.runs).max().unwrap_or(0);
    let counts = Axis { low: 0.0, high: (most as f64).max(1.0), ticks: Vec::new(), divisor: 1.0, title: String::new() };
    for points in stretches(points, 1) {
        let mut steps = stairs(&points, time, &counts, &RUNS, &|point| point.runs as f64);
        // A nonzero count stays visible.
        steps.iter_mut().for_each(|step| step.1 = step.1.min(RUNS.bottom - 2));
        let ends = [steps.last(), steps.first()].map(|end| end.map_or(0, |end| end.0));
        steps.extend(ends.map(|x| (x, RUNS.bottom)));
        drawing.polygon(&steps, BAR);
    }
    drawing.text(&thousands(most), (RUNS.left - 8, RUNS.top + 4), MUTED, Anchor::Right);
    drawing.text("runs that recorded it", (RUNS.left, RUNS.top - 16), MUTED, Anchor::Left);
}

const TREND: Plot = Plot { left: 60, top: 40, right: WIDTH - 24, bottom: 270 };
/// Pixels between the first point and the axis.
const MARGIN: i32 = 34;
/// Pixels of a letter below the axis.
const LETTER: i32 = 9;
/// More points than this have no circles.
const CIRCLES: usize = 40;

/// The plot of a trend with this name.
pub(in super::super) fn trend(trend: &Trend, name: &str, lines: Lines, axis: &Axis) -> String {
    let mut drawing = Drawing::default();
    axis.draw_left(&mut drawing, &TREND);
    drawing.line(&[(TREND.left, TREND.bottom), (TREND.right, TREND.bottom)], MUTED, 1);
    drawing.text(&axis.title, (8, TREND.top - 24), MUTED, Anchor::Left);
    let points = &trend.points;
    let place = |index: usize| {
        let (first, last) = (TREND.left + MARGIN, TREND.right - MARGIN);
        first + (last - first) * index as i32 / (points.len() as i32 - 1).max(1)
    };
    let at = |(index, value): (usize, Option<f64>)| Some((place(index), axis.y(value?, &TREND)));
    if lines.middle.is_none() {
        let all: Vec<_> = points.iter().map(|point| point.max).enumerate().map(at).collect();
        draw_through(&all, MIDDLE, 3, &mut drawing);
    }
    let all = [(lines.middle, MIDDLE, 3, -5), (lines.upper, UPPER, 2, 0), (lines.tail, TAIL, 2, 5)];
    for (drawn, color, width, shift) in all {
        let Some(drawn) = drawn else { continue };
        let estimates = points.iter().map(|point| supported(point, drawn.at));
        for (index, estimate) in estimates.clone().enumerate() {
            if let Some(estimate) = estimate {
                interval(estimate, axis, place(index) + shift, color, &mut drawing);
            }
        }
        let all: Vec<_> = estimates.map(|estimate| estimate?.value).enumerate().map(at).collect();
        draw_through(&all, color, width, &mut drawing);
    }
    names(points, &place, &mut drawing);
    drawing.finish(304, &format!("Trend: percentiles across runs, {name}"))
}

/// The percentile of a point, if it has enough runs.
fn supported(point: &TrendPoint, at: usize) -> Option<&Estimate> {
    point.estimates.get(at).filter(|estimate| !matches!(estimate.support, Support::TooFew { .. }))
}

/// A line through values, with a gap at each missing value.
fn draw_through(all: &[Option<Point>], color: &str, width: u32, drawing: &mut Drawing) {
    for stretch in all.split(Option::is_none) {
        let stretch: Vec<Point> = stretch.iter().copied().flatten().collect();
        if stretch.len() > 1 {
            drawing.line(&stretch, color, width);
        }
        stretch.into_iter().filter(|_| all.len() <= CIRCLES).for_each(|at| drawing.circle(at, color));
    }
}

/// The interval of a percentile as a bar; an end that is not known is open.
fn interval(estimate: &Estimate, axis: &Axis, x: i32, color: &str, drawing: &mut Drawing) {
    let (lower, upper) = (estimate.interval.lower, estimate.interval.upper);
    let (Some(from), Some(to)) = (lower.or(estimate.value), upper.or(estimate.value)) else { return };
    if lower.is_none() && upper.is_none() {
        return;
    }
    drawing.line(&[(x, axis.y(from, &TREND)), (x, axis.y(to, &TREND))], color, 1);
    for y in [lower, upper].into_iter().flatten().map(|end| axis.y(end, &TREND)) {
        drawing.line(&[(x - 4, y), (x + 4, y)], color, 1);
    }
}

/// The names of points below the axis: as many as fit, always including the last one.
fn names(points: &[TrendPoint], place: &dyn Fn(usize) -> i32, drawing: &mut Drawing) {
    let mut left = TREND.right + 24;
    for (index, point) in points.iter().enumerate().rev() {
        let text = cut(&point.name, 12);
        let half = (text.chars().count() as i32 * LETTER) / 2 + 4;
        // The outermost names stay within the picture.
        let middle = place(index).clamp(half, WIDTH - half);
        if middle + half <= left {
            drawing.text(&text, (middle, TREND.bottom + 8), MUTED, Anchor::Below);
            left = middle - half;
        }
    }
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
