//! Box plots of cohorts, one below the other, on one axis.

use std::io;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::super::numbers::{count, counted};
use super::super::text::cut;
use super::axis::{Axis, Plot};
use super::svg::{Area, BAND, BAR, Drawn, INK, MUTED, TAIL, WIDTH, block, line, style, svg, write};
use crate::fleet::CohortReport;
use crate::stats::BoxPlot;

const LEFT: i32 = 16;
const RIGHT: i32 = WIDTH as i32 - 24;
const TOP: i32 = 8;
/// A cohort: its name, and its box below.
const ROW: i32 = 62;
/// The maximum length of a name in characters.
const NAME: usize = 40;

/// The boxes of cohorts with their names.
pub(in super::super) fn boxes(cohorts: &[(String, &CohortReport)], measure: &str, axis: &Axis) -> io::Result<String> {
    let bottom = TOP + ROW * cohorts.len() as i32;
    let plot = Plot { left: LEFT, top: TOP, right: RIGHT, bottom };
    let label = format!("Box plots: {measure} across runs of {}", counted(cohorts.len() as u64, "cohort"));
    svg(bottom as u32 + 64, &label, |area| {
        axis.draw_below(area, &plot)?;
        for (row, (name, cohort)) in cohorts.iter().enumerate() {
            let top = TOP + ROW * row as i32;
            let text = format!("{} · {}", cut(name, NAME), count(cohort.runs));
            write(area, &text, (LEFT + 2, top + 16), &style(&INK, HPos::Left, VPos::Center))?;
            if let Some(box_plot) = &cohort.box_plot {
                draw(box_plot, cohort.across_runs.mean.unwrap_or(0.0), axis, top + 44, area)?;
            }
        }
        let title = format!("{measure} of a run, {}", axis.title);
        let middle = ((LEFT + RIGHT) / 2, bottom + 36);
        write(area, &title, middle, &style(&MUTED, HPos::Center, VPos::Top))
    })
}

/// A box around a height.
fn draw(values: &BoxPlot, mean: f64, axis: &Axis, y: i32, area: &Area<'_>) -> Drawn {
    let x = |value: f64| axis.place(value, LEFT, RIGHT);
    line(area, vec![(x(values.whisker_low), y), (x(values.whisker_high), y)], INK, 2)?;
    for end in [values.whisker_low, values.whisker_high] {
        line(area, vec![(x(end), y - 6), (x(end), y + 6)], INK, 2)?;
    }
    block(area, (x(values.p25), y - 12), (x(values.p75), y + 12), BAND)?;
    let outline = [(x(values.p25), y - 12), (x(values.p75).max(x(values.p25) + 2), y + 12)];
    area.draw(&Rectangle::new(outline, BAR.stroke_width(1)))?;
    line(area, vec![(x(values.median), y - 12), (x(values.median), y + 12)], INK, 3)?;
    // Outliers of one pixel are one circle.
    let mut places: Vec<i32> = values.outliers.iter().map(|&value| x(value)).collect();
    places.dedup();
    for place in places {
        area.draw(&Circle::new((place, y), 4, TAIL.stroke_width(2)))?;
    }
    let x = x(mean);
    let diamond = vec![(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)];
    area.draw(&Polygon::new(diamond, INK.filled()))
}
