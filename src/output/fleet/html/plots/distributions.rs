//! Box plots of cohorts, and histograms of their runs.

use super::{Anchor, Axis, BAND, BAR, Drawing, INK, MUTED, Plot, TAIL, WIDTH};
use crate::fleet::CohortReport;
use crate::output::fleet::html::table::measure;
use crate::output::fleet::{many, thousands};
use crate::output::inert::cut;
use crate::stats::{BoxPlot, Support};

const BOX_LEFT: i32 = 16;
const BOX_RIGHT: i32 = WIDTH - 24;
const BOX_TOP: i32 = 8;
/// A cohort: its name, and its box below.
const BOX_ROW: i32 = 62;
/// The maximum length of a name in characters.
const NAME: usize = 40;

/// The boxes of cohorts with their names, one below the other, on one axis.
pub(in super::super) fn boxes(cohorts: &[(String, &CohortReport)], measured: &str, axis: &Axis) -> String {
    let bottom = BOX_TOP + BOX_ROW * cohorts.len() as i32;
    let mut drawing = Drawing::default();
    axis.draw_below(&mut drawing, &Plot { left: BOX_LEFT, top: BOX_TOP, right: BOX_RIGHT, bottom }, true);
    for (row, (name, cohort)) in cohorts.iter().enumerate() {
        let top = BOX_TOP + BOX_ROW * row as i32;
        let text = format!("{} · {}", cut(name, NAME), thousands(cohort.runs));
        drawing.text(&text, (BOX_LEFT + 2, top + 16), INK, Anchor::Left);
        if let Some(box_plot) = &cohort.box_plot {
            draw_box(box_plot, cohort.across_runs.mean.unwrap_or(0.0), axis, top + 44, &mut drawing);
        }
    }
    let title = format!("{measured} of a run, {}", axis.title);
    drawing.text(&title, ((BOX_LEFT + BOX_RIGHT) / 2, bottom + 36), MUTED, Anchor::Below);
    let cohorts = many(cohorts.len() as u64, "cohort");
    drawing.finish(bottom + 64, &format!("Box plots: {measured} across runs of {cohorts}"))
}

/// A box around a height.
fn draw_box(values: &BoxPlot, mean: f64, axis: &Axis, y: i32, drawing: &mut Drawing) {
    let x = |value: f64| axis.place(value, BOX_LEFT, BOX_RIGHT);
    drawing.line(&[(x(values.whisker_low), y), (x(values.whisker_high), y)], INK, 2);
    for end in [values.whisker_low, values.whisker_high] {
        drawing.line(&[(x(end), y - 6), (x(end), y + 6)], INK, 2);
    }
    drawing.block((x(values.p25), y - 12), (x(values.p75), y + 12), BAND);
    let right = x(values.p75).max(x(values.p25) + 2);
    drawing.rectangle((x(values.p25), y - 12), (right, y + 12), "none", BAR);
    drawing.line(&[(x(values.median), y - 12), (x(values.median), y + 12)], INK, 3);
    // Outliers that fall on the same pixel are drawn as one circle.
    let mut places: Vec<i32> = values.outliers.iter().map(|&value| x(value)).collect();
    places.dedup();
    places.into_iter().for_each(|place| drawing.circle((place, y), TAIL));
    let x = x(mean);
    drawing.polygon(&[(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], INK);
}

const PLOT: Plot = Plot { left: 60, top: 84, right: WIDTH - 24, bottom: 276 };
/// The height of a mark's text.
const MARK: i32 = 23;

/// The histogram of a cohort with this name, on axes that several plots may share.
pub(in super::super) fn histogram(
    cohort: &CohortReport,
    name: &str,
    measured: &str,
    axis: &Axis,
    counts: &Axis,
) -> String {
    let mut drawing = Drawing::default();
    axis.draw_below(&mut drawing, &PLOT, true);
    counts.draw_left(&mut drawing, &PLOT);
    for bin in cohort.bins.iter().filter(|bin| bin.count > 0) {
        let (left, right) = (axis.x(bin.lower, &PLOT), axis.x(bin.upper, &PLOT));
        // A gap between bars, if it fits.
        let gap = i32::from(right - left > 4);
        drawing.block((left, counts.y(bin.count as f64, &PLOT)), (right - gap, PLOT.bottom), BAR);
    }
    marks(cohort, axis, &mut drawing);
    drawing.text("runs", (8, PLOT.top - 26), MUTED, Anchor::Left);
    let title = format!("{measured} of a run, {}", axis.title);
    drawing.text(&title, ((PLOT.left + PLOT.right) / 2, PLOT.bottom + 36), MUTED, Anchor::Below);
    let runs = many(cohort.runs, "run");
    drawing.finish(340, &format!("Histogram: {measured} of {runs}, one number a run, of {name}"))
}

/// The median, the mean and the highest percentile that the runs support, as lines labelled with their values.
fn marks(cohort: &CohortReport, axis: &Axis, drawing: &mut Drawing) {
    if cohort.runs < 2 {
        return;
    }
    let summary = &cohort.across_runs;
    let supported = |support| !matches!(support, Support::TooFew { .. });
    let known = || summary.estimates.iter().filter(|estimate| supported(estimate.support) && estimate.value.is_some());
    let mut marks: Vec<_> = summary.mean.map(|mean| ("mean".to_owned(), mean)).into_iter().collect();
    let (first, last) = (known().next(), known().next_back());
    marks.extend(first.into_iter().chain(last).map(|e| (e.quantile.to_string(), e.value.unwrap_or_default())));
    marks.dedup_by(|a, b| a.0 == b.0);
    let turn = PLOT.left + (PLOT.right - PLOT.left) * 7 / 10;
    let placed = marks.into_iter().map(|(name, value)| {
        let x = axis.x(value, &PLOT);
        (x > turn, x, format!("{name} {}", measure(value, cohort.cohort.unit)))
    });
    let mut placed: Vec<(bool, i32, String)> = placed.collect();
    // This order keeps lines from crossing each other's text. First come the lines on the right, whose text is to their left, from right to
    // left; below them come the others, from left to right.
    placed.sort_by_key(|(is_right, x, _)| (!is_right, if *is_right { -x } else { *x }));
    for (row, (is_right, x, text)) in placed.into_iter().enumerate() {
        let y = 14 + MARK * row as i32;
        drawing.line(&[(x, y - 9), (x, PLOT.bottom)], INK, 1);
        let (anchor, offset) = if is_right { (Anchor::Right, -7) } else { (Anchor::Left, 7) };
        drawing.text(&text, (x + offset, y), INK, anchor);
    }
}
