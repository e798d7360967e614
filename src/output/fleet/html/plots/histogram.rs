//! A histogram of runs by their CPU use.

use std::io;

use plotters::style::text_anchor::{HPos, VPos};

use super::super::numbers::{counted, measure};
use super::axis::{Axis, Plot};
use super::svg::{Area, BAR, Drawn, INK, MUTED, WIDTH, block, line, style, svg, write};
use crate::fleet::CohortReport;
use crate::stats::Support;

const HEIGHT: u32 = 340;
const PLOT: Plot = Plot { left: 60, top: 84, right: WIDTH as i32 - 24, bottom: 276 };
const ROW: i32 = 23;

/// The histogram of a cohort with this name, on axes that several plots may share.
pub(in super::super) fn histogram(
    cohort: &CohortReport,
    name: &str,
    measured: &str,
    axis: &Axis,
    counts: &Axis,
) -> io::Result<String> {
    let runs = counted(cohort.runs, "run");
    let label = format!("Histogram: {measured} of {runs}, one number a run, of {name}");
    svg(HEIGHT, &label, |area| {
        axis.draw_below(area, &PLOT)?;
        counts.draw_left(area, &PLOT)?;
        bars(cohort, axis, counts, area)?;
        marks(cohort, axis, area)?;
        write(area, "runs", (8, PLOT.top - 26), &style(&MUTED, HPos::Left, VPos::Center))?;
        let middle = (PLOT.left + PLOT.right) / 2;
        let title = format!("{measured} of a run, {}", axis.title);
        write(area, &title, (middle, PLOT.bottom + 36), &style(&MUTED, HPos::Center, VPos::Top))
    })
}

fn bars(cohort: &CohortReport, axis: &Axis, counts: &Axis, area: &Area<'_>) -> Drawn {
    for bin in cohort.bins.iter().filter(|bin| bin.count > 0) {
        let left = axis.place(bin.lower, PLOT.left, PLOT.right);
        let right = axis.place(bin.upper, PLOT.left, PLOT.right);
        // A gap between bars, if it fits.
        let gap = i32::from(right - left > 4);
        let top = counts.place(bin.count as f64, PLOT.bottom, PLOT.top);
        block(area, (left, top), (right - gap, PLOT.bottom), BAR)?;
    }
    Ok(())
}

/// The median, the mean and the farthest percentile that the runs support, as lines with their number.
fn marks(cohort: &CohortReport, axis: &Axis, area: &Area<'_>) -> Drawn {
    if cohort.runs < 2 {
        return Ok(());
    }
    let summary = &cohort.across_runs;
    let supported = |support| !matches!(support, Support::TooFew { .. });
    let known = || summary.estimates.iter().filter(|estimate| supported(estimate.support) && estimate.value.is_some());
    let mut marks: Vec<_> = summary.mean.map(|mean| ("mean".to_owned(), mean)).into_iter().collect();
    let (first, last) = (known().next(), known().next_back());
    marks.extend(first.into_iter().chain(last).map(|e| (e.quantile.to_string(), e.value.unwrap_or_default())));
    marks.dedup_by(|a, b| a.0 == b.0);
    let turn = PLOT.left + (PLOT.right - PLOT.left) * 7 / 10;
    let mut placed: Vec<(bool, i32, String)> = marks
        .into_iter()
        .map(|(name, value)| {
            let x = axis.place(value, PLOT.left, PLOT.right);
            (x > turn, x, format!("{name} {}", measure(value, cohort.cohort.unit)))
        })
        .collect();
    // In this order no line runs through the text of another: those at the right, whose text is left of them, from the
    // right, and below them the others from the left.
    placed.sort_by_key(|(is_right, x, _)| (!is_right, if *is_right { -x } else { *x }));
    for (row, (is_right, x, text)) in placed.iter().enumerate() {
        let y = 14 + ROW * row as i32;
        line(area, vec![(*x, y - 9), (*x, PLOT.bottom)], INK, 1)?;
        let (anchor, offset) = if *is_right { (HPos::Right, -7) } else { (HPos::Left, 7) };
        write(area, text, (x + offset, y), &style(&INK, anchor, VPos::Center))?;
    }
    Ok(())
}
