//! Plots with their titles and legends.

use super::outline::{MAX_COHORTS, by_unit, section};
use super::plots::{self, Axis, Lines};
use super::table::{Column, cohort_name, count, folded, hidden, measured, row_name};
use crate::fleet::{CohortReport, FleetReport, Trend, TrendOver};
use crate::output::fleet::many;
use crate::output::fleet::sentences::{subject, subject_of_all, subject_title};
use crate::output::inert::{Text, shortened};
use crate::units::Unit;
use crate::units::capitalized;

/// Plots get separate axes if the largest value of one is less than this share of another's.
const SHARED: f64 = 0.25;

/// Box plots of all cohorts of a unit, and a histogram of each.
pub(super) fn across_runs(report: &FleetReport, unit: Unit, cohorts: &[CohortReport]) -> String {
    let measure = &subject_title(report, unit);
    let shown = &cohorts[..cohorts.len().min(MAX_COHORTS)];
    let largest = |cohort: &CohortReport| cohort.bins.last().map_or(0.0, |bin| bin.upper);
    let axes = Axes::new(shown.iter().map(largest), |value| Axis::of_measure(value, unit));
    let most = |cohort: &CohortReport| cohort.bins.iter().map(|bin| bin.count).max().unwrap_or(0) as f64;
    let counts = Axes::new(shown.iter().map(most), Axis::of_count);
    let named: Vec<(String, &CohortReport)> =
        shown.iter().map(|cohort| (cohort_name(&cohort.cohort), cohort)).collect();
    let histogram = |(index, (name, cohort)): (usize, &(String, &CohortReport))| {
        let hint = format!("<span>Across runs: {} of {}</span>", subject(report, unit), many(cohort.runs, "run"));
        figure("", name, &hint, &plots::histogram(cohort, name, measure, axes.of(index), counts.of(index)))
    };
    let histograms: String = named.iter().enumerate().map(histogram).collect();
    let sentence = match (axes.own.is_some(), counts.own.is_some()) {
        _ if shown.len() < 2 => "",
        (false, false) => {
            "All of these plots have the same axis for the measure, and the same axis for the number of runs."
        }
        (false, true) => {
            "All of these plots have the same axis for the measure; each has a separate axis for the number of runs."
        }
        (true, false) => {
            "The cohorts differ so much that each plot has a separate axis for the measure; the axis for the number of runs is the same."
        }
        (true, true) => "The cohorts differ so much that each plot has separate axes.",
    };
    let hint = "<span>The name of a cohort and its runs. The box holds the middle half of \
                the runs; the bar in it is the median, the diamond the mean. Whiskers reach 1.5 boxes; circles are runs beyond.</span>";
    let boxes = plots::boxes(&named, measure, &axes.common) + &box_table(&named, unit);
    let boxes = figure(" class=\"boxes\"", "Across runs: all cohorts", hint, &boxes);
    format!("{boxes}{}{}", side_by_side(named.len(), &histograms), legend(sentence, cohorts.len() - shown.len()))
}

/// A plot with its title, and HTML after the title.
fn figure(attributes: &str, title: &str, more: &str, plot: &str) -> String {
    let title = Text(title);
    format!("<figure{attributes}>\n<figcaption><strong>{title}</strong> {more}</figcaption>\n{plot}</figure>\n")
}

/// Adjacent plots: four are two by two, not three and one.
fn side_by_side(count: usize, plots: &str) -> String {
    let arrangement = match count {
        1 => "single",
        2 | 4 => "pairs",
        _ => "many",
    };
    format!("<div class=\"figures {arrangement}\">\n{plots}</div>\n")
}

/// The numbers of the boxes.
fn box_table(cohorts: &[(String, &CohortReport)], unit: Unit) -> String {
    let columns = [
        Column::text("Cohort"),
        Column::number("Low whisker"),
        Column::number("P25"),
        Column::number("Median"),
        Column::number("P75"),
        Column::number("High whisker"),
        Column::number("Beyond").hint("Runs beyond the whiskers"),
    ];
    let row = |(name, cohort): &(String, &CohortReport)| {
        let plot = cohort.box_plot.as_ref()?;
        let values = [plot.whisker_low, plot.p25, plot.median, plot.p75, plot.whisker_high];
        let mut cells = vec![row_name(&Text(name).to_string())];
        cells.extend(values.map(|value| measured(Some(value), unit)));
        cells.push(count(plot.outlier_count));
        Some(cells)
    };
    folded(&format!("Box plots, in {}", unit.rate_name()), &columns, cohorts.iter().filter_map(row))
}

/// CPU use over versions or dates, a plot for each trend.
pub(super) fn trends(report: &FleetReport) -> String {
    let shown = &report.trends[..report.trends.len().min(MAX_COHORTS)];
    let plot = |trend: &Trend| {
        let most = trend.points.iter().map(|point| point.runs).max().unwrap_or(0);
        let lines = Lines::of(&report.options, most);
        let name = trend_name(trend);
        let undated = match trend.undated {
            0 => String::new(),
            undated => {
                format!("<p class=\"legend\">{} without a known date are not in it.</p>\n", many(undated, "run"))
            }
        };
        let plot = plots::trend(trend, &name, lines, &axis_of_trend(trend, lines)) + &undated;
        figure("", &format!("{} {name}", subject_title(report, trend.unit)), &keys(report, lines, true), &plot)
    };
    section(report, "trend", || {
        let plots = side_by_side(shown.len(), &shown.iter().map(plot).collect::<String>());
        let hidden = hidden(report.trends.len() - shown.len(), |hidden| {
            format!("{} more have no plot here; JSON has all.", many(hidden, "trend"))
        });
        format!(
            "<h2>Trend</h2>\n<p>Bars are intervals{}; a line has a gap where there are too few runs.</p>\n{plots}{hidden}",
            report.assumption()
        )
    })
}

/// The axis up to the largest number that is drawn.
fn axis_of_trend(trend: &Trend, lines: Lines) -> Axis {
    let drawn = [lines.middle, lines.upper, lines.tail].into_iter().flatten();
    let ends = |at: usize| {
        let estimates = trend.points.iter().filter_map(move |point| point.estimates.get(at));
        estimates.flat_map(|estimate| [estimate.value, estimate.interval.upper]).flatten().fold(0.0, f64::max)
    };
    let largest = drawn.map(|line| ends(line.at)).fold(0.0, f64::max);
    let all = || trend.points.iter().filter_map(|point| point.max).fold(0.0, f64::max);
    Axis::of_measure(if lines.middle.is_some() { largest } else { all() }, trend.unit)
}

/// `over app_version (device iPad Air)`.
fn trend_name(trend: &Trend) -> String {
    let over = match &trend.over {
        TrendOver::Label(key) => format!("over {}", shortened(key)),
        TrendOver::Week => "over weeks, from Monday".to_owned(),
        TrendOver::Day => "over days".to_owned(),
    };
    let other = |(key, value): &(String, Option<String>)| {
        shortened(&format!("{key} {}", value.as_deref().unwrap_or("unknown")))
    };
    let others: Vec<String> = trend.labels.iter().map(other).collect();
    if others.is_empty() { over } else { format!("{over} ({})", others.join(", ")) }
}

/// The key to the lines of a trend or of a timeline.
fn keys(report: &FleetReport, lines: Lines, is_trend: bool) -> String {
    let key = |class: &str, name: &str| format!("<span><i class=\"key {class}\"></i>{name}</span>");
    let keys = match lines.middle {
        None => key("middle", "largest"),
        Some(_) => {
            let (plain, max) = if is_trend { (" plain", String::new()) } else { ("", key("largest", "max")) };
            let lines = [("middle", lines.middle), ("upper", lines.upper), ("tail", lines.tail)];
            let lines = lines.into_iter().filter_map(|(class, line)| {
                let name = report.options.quantiles.get(line?.at)?.to_string();
                Some(key(&format!("{class}{plain}"), &name) + " ")
            });
            lines.collect::<String>() + &max
        }
    };
    format!("<span class=\"keys\">{keys}</span>")
}

/// The timelines of all cohorts.
pub(super) fn over_time(report: &FleetReport) -> String {
    section(report, "over-time", || {
        format!(
            "<h2>{} over the time of the recordings</h2>\n\
             <p>For each second since the recording started: the percentiles across the runs that recorded it. These are \
             runs compared in one second, not seconds compared in one run. A line ends where fewer runs recorded the \
             second than the percentile needs.</p>\n{}",
            capitalized(subject_of_all(report)),
            by_unit(report).map(|(unit, cohorts)| timelines(report, unit, cohorts)).collect::<String>()
        )
    })
}

fn timelines(report: &FleetReport, unit: Unit, cohorts: &[CohortReport]) -> String {
    let with_time: Vec<&CohortReport> = cohorts.iter().filter(|cohort| !cohort.timeline.is_empty()).collect();
    let shown = &with_time[..with_time.len().min(MAX_COHORTS)];
    let largest = |cohort: &&CohortReport| cohort.timeline.iter().map(|point| point.max).fold(0.0, f64::max);
    let axes = Axes::new(shown.iter().map(largest), |value| Axis::of_measure(value, unit));
    let plot = |(index, cohort): (usize, &&CohortReport)| {
        let name = cohort_name(&cohort.cohort);
        let lines = Lines::of(&report.options, cohort.runs);
        figure("", &name, &keys(report, lines, false), &plots::timeline(cohort, &name, lines, axes.of(index)))
    };
    let plots: String = shown.iter().enumerate().map(plot).collect();
    let sentence = match &axes.own {
        _ if shown.len() < 2 => "",
        Some(_) => "The cohorts differ so much that each plot has a separate axis.",
        None => "All of these plots have the same axis for the measure.",
    };
    side_by_side(shown.len(), &plots) + &legend(sentence, with_time.len() - shown.len())
}

/// The axes of plots that are side by side.
struct Axes {
    /// One axis for all plots.
    common: Axis,
    /// One axis for each, if a common one would leave nothing to see.
    own: Option<Vec<Axis>>,
}

impl Axes {
    fn new(largest: impl Iterator<Item = f64>, axis: impl Fn(f64) -> Axis) -> Self {
        let largest: Vec<f64> = largest.collect();
        let high = largest.iter().copied().fold(0.0, f64::max);
        let is_shared = largest.iter().all(|&value| value >= high * SHARED);
        let own = (!is_shared).then(|| largest.iter().map(|&value| axis(value)).collect());
        Self { common: axis(high), own }
    }

    fn of(&self, index: usize) -> &Axis {
        self.own.as_ref().and_then(|own| own.get(index)).unwrap_or(&self.common)
    }
}

/// A sentence on comparing plots by eye, and the number of cohorts without a plot.
fn legend(sentence: &str, hidden: usize) -> String {
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!("{} more have no plot here.", many(hidden, "cohort")),
    };
    match format!("{sentence} {hidden}").trim() {
        "" => String::new(),
        text => format!("<p class=\"legend\">{text}</p>\n"),
    }
}
