//! CPU use over versions or dates.

use std::io;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::super::text::cut;
use super::axis::{Axis, Plot};
use super::svg::{Area, Drawn, MIDDLE, MUTED, TAIL, UPPER, WIDTH, line, style, svg, write};
use super::timeline::Lines;
use crate::fleet::{Trend, TrendPoint};
use crate::stats::{Estimate, Support};

const HEIGHT: u32 = 304;
const PLOT: Plot = Plot { left: 60, top: 40, right: WIDTH as i32 - 24, bottom: 270 };
/// Pixels between the first point and the axis.
const MARGIN: i32 = 34;
/// Pixels of a letter below the axis.
const LETTER: i32 = 9;
/// More points than this have no circles.
const CIRCLES: usize = 40;

/// The plot of a trend with this name.
pub(in super::super) fn trend(trend: &Trend, name: &str, lines: Lines, axis: &Axis) -> io::Result<String> {
    let label = format!("Trend: percentiles across runs, {name}");
    svg(HEIGHT, &label, |area| {
        axis.draw_left(area, &PLOT)?;
        line(area, vec![(PLOT.left, PLOT.bottom), (PLOT.right, PLOT.bottom)], MUTED, 1)?;
        write(area, &axis.title, (8, PLOT.top - 24), &style(&MUTED, HPos::Left, VPos::Center))?;
        let points = &trend.points;
        let place = |index: usize| {
            let (first, last) = (PLOT.left + MARGIN, PLOT.right - MARGIN);
            first + (last - first) * index as i32 / (points.len() as i32 - 1).max(1)
        };
        if lines.middle.is_none() {
            let max = |point: &TrendPoint| point.max;
            draw(points, &max, axis, &place, (MIDDLE, 3), area)?;
        }
        let all = [(lines.middle, MIDDLE, 3, -5), (lines.upper, UPPER, 2, 0), (lines.tail, TAIL, 2, 5)];
        for (drawn, color, width, shift) in all {
            let Some(drawn) = drawn else { continue };
            for (index, point) in points.iter().enumerate() {
                if let Some(estimate) = supported(point, drawn.at) {
                    interval(estimate, axis, place(index) + shift, color, area)?;
                }
            }
            let value = |point: &TrendPoint| supported(point, drawn.at).and_then(|estimate| estimate.value);
            draw(points, &value, axis, &place, (color, width), area)?;
        }
        names(points, &place, area)
    })
}

/// The percentile of a point, if it has enough runs.
fn supported(point: &TrendPoint, at: usize) -> Option<&Estimate> {
    point.estimates.get(at).filter(|estimate| !matches!(estimate.support, Support::TooFew { .. }))
}

/// A line through values, with a gap at each missing value.
fn draw(
    points: &[TrendPoint],
    value: &dyn Fn(&TrendPoint) -> Option<f64>,
    axis: &Axis,
    place: &dyn Fn(usize) -> i32,
    (color, width): (RGBColor, u32),
    area: &Area<'_>,
) -> Drawn {
    let all: Vec<Option<(i32, i32)>> = points
        .iter()
        .enumerate()
        .map(|(index, point)| Some((place(index), axis.place(value(point)?, PLOT.bottom, PLOT.top))))
        .collect();
    for stretch in all.split(Option::is_none) {
        let stretch: Vec<(i32, i32)> = stretch.iter().copied().flatten().collect();
        if stretch.len() > 1 {
            line(area, stretch.clone(), color, width)?;
        }
        for at in stretch.into_iter().filter(|_| points.len() <= CIRCLES) {
            area.draw(&Circle::new(at, 4, color.stroke_width(2)))?;
        }
    }
    Ok(())
}

/// The interval of a percentile as a bar; an end that is not known is open.
fn interval(estimate: &Estimate, axis: &Axis, x: i32, color: RGBColor, area: &Area<'_>) -> Drawn {
    let y = |value: f64| axis.place(value, PLOT.bottom, PLOT.top);
    let (lower, upper) = (estimate.interval.lower, estimate.interval.upper);
    let (Some(from), Some(to)) = (lower.or(estimate.value), upper.or(estimate.value)) else { return Ok(()) };
    if lower.is_none() && upper.is_none() {
        return Ok(());
    }
    line(area, vec![(x, y(from)), (x, y(to))], color, 1)?;
    for end in [lower, upper].into_iter().flatten() {
        line(area, vec![(x - 4, y(end)), (x + 4, y(end))], color, 1)?;
    }
    Ok(())
}

/// The names of points below the axis: as many as fit, always including the last one.
fn names(points: &[TrendPoint], place: &dyn Fn(usize) -> i32, area: &Area<'_>) -> Drawn {
    let label = style(&MUTED, HPos::Center, VPos::Top);
    let mut left = PLOT.right + 24;
    for (index, point) in points.iter().enumerate().rev() {
        let text = cut(&point.name, 12);
        let half = (text.chars().count() as i32 * LETTER) / 2 + 4;
        // The outermost names stay within the picture.
        let middle = place(index).clamp(half, WIDTH as i32 - half);
        if middle + half <= left {
            write(area, &text, (middle, PLOT.bottom + 8), &label)?;
            left = middle - half;
        }
    }
    Ok(())
}
