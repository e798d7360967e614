//! Plots with their titles and legends.

use crate::output::fleet::sentences::{subject, subject_inside};
use std::io::{self, Write};

use super::numbers::counted;
use super::outline::{MAX_COHORTS, by_unit, has_section};
use super::plots::{self, Axis, Lines};
use super::row_names::cohort_name;
use super::table::{self, Column};
use super::text::{Text, shortened};
use crate::fleet::{CohortReport, FleetReport, Trend, TrendOver};
use crate::units::Unit;

/// Plots get separate axes if the largest value of one is less than this share of another's.
const SHARED: f64 = 0.25;

/// Box plots of all cohorts of a unit, and a histogram of each.
pub(super) fn across_runs(
    report: &FleetReport,
    unit: Unit,
    cohorts: &[CohortReport],
    out: &mut dyn Write,
) -> io::Result<()> {
    let name_of_measure = subject(report);
    let shown = &cohorts[..cohorts.len().min(MAX_COHORTS)];
    let largest: Vec<f64> = shown.iter().map(largest_of_bins).collect();
    let axes = Axes::of_measures(&largest, unit);
    let most: Vec<u64> = shown.iter().map(most_in_a_bin).collect();
    let counts = Axes::of_counts(&most);
    let named: Vec<(String, &CohortReport)> =
        shown.iter().map(|cohort| (cohort_name(&cohort.cohort), cohort)).collect();
    out.write_all(b"<figure class=\"boxes\">\n")?;
    caption(
        out,
        "Across runs: all cohorts",
        "The name of a cohort and its runs. The box holds the middle half of \
            the runs; the bar in it is the median, the diamond the mean. Whiskers reach 1.5 boxes; circles are runs beyond.",
    )?;
    out.write_all(plots::boxes(&named, name_of_measure, &axes.common)?.as_bytes())?;
    box_table(&named, unit, out)?;
    writeln!(out, "</figure>\n<div class=\"figures {}\">", arrangement(named.len()))?;
    for (index, (name, cohort)) in named.iter().enumerate() {
        out.write_all(b"<figure>\n")?;
        caption(out, name, &format!("Across runs: {} of {}", subject_inside(report), counted(cohort.runs, "run")))?;
        out.write_all(plots::histogram(cohort, name, name_of_measure, axes.of(index), counts.of(index))?.as_bytes())?;
        out.write_all(b"</figure>\n")?;
    }
    out.write_all(b"</div>\n")?;
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
    legend(sentence, cohorts.len() - shown.len(), out)
}

/// The numbers of the boxes.
fn box_table(cohorts: &[(String, &CohortReport)], unit: Unit, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        Column::text("Cohort"),
        Column::number("Low whisker"),
        Column::number("P25"),
        Column::number("Median"),
        Column::number("P75"),
        Column::number("High whisker"),
        Column::number("Beyond").hint("Runs beyond the whiskers"),
    ];
    table::open(out, &format!("Box plots, in {}", unit.rate_name()), &columns)?;
    for (name, cohort) in cohorts {
        let Some(plot) = &cohort.box_plot else { continue };
        table::open_row(out, name, None)?;
        for value in [plot.whisker_low, plot.p25, plot.median, plot.p75, plot.whisker_high] {
            table::measure(out, Some(value), unit)?;
        }
        table::count(out, plot.outlier_count)?;
        table::close_row(out)?;
    }
    table::close(out)
}

fn most_in_a_bin(cohort: &CohortReport) -> u64 {
    cohort.bins.iter().map(|bin| bin.count).max().unwrap_or(0)
}

fn largest_of_bins(cohort: &CohortReport) -> f64 {
    cohort.bins.last().map_or(0.0, |bin| bin.upper)
}

/// CPU use over versions or dates, a plot for each trend.
pub(super) fn trends(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    if !has_section(report, "trend") {
        return Ok(());
    }
    let assumption = report.assumption();
    writeln!(
        out,
        "<section id=\"trend\">\n<h2>Trend</h2>\n<p>Bars are intervals{assumption}; a line has a gap where there are too few runs.</p>"
    )?;
    let shown = &report.trends[..report.trends.len().min(MAX_COHORTS)];
    writeln!(out, "<div class=\"figures {}\">", arrangement(shown.len()))?;
    for trend in shown {
        let most = trend.points.iter().map(|point| point.runs).max().unwrap_or(0);
        let lines = Lines::of(&report.options, most);
        let name = trend_name(trend);
        out.write_all(b"<figure>\n")?;
        write!(out, "<figcaption><strong>{} {}</strong> ", subject(report), Text(&name))?;
        trend_keys(report, lines, out)?;
        out.write_all(b"</figcaption>\n")?;
        out.write_all(plots::trend(trend, &name, lines, &axis_of_trend(trend, lines))?.as_bytes())?;
        if trend.undated > 0 {
            let runs = counted(trend.undated, "run");
            writeln!(out, "<p class=\"legend\">{runs} without a known date are not in it.</p>")?;
        }
        out.write_all(b"</figure>\n")?;
    }
    out.write_all(b"</div>\n")?;
    if let hidden @ 1.. = report.trends.len() - shown.len() {
        writeln!(
            out,
            "<p class=\"hidden\">{} more have no plot here; JSON has all.</p>",
            counted(hidden as u64, "trend")
        )?;
    }
    out.write_all(b"</section>\n")
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
    let others: Vec<String> = trend
        .labels
        .iter()
        .map(|(key, value)| shortened(&format!("{key} {}", value.as_deref().unwrap_or("unknown"))))
        .collect();
    if others.is_empty() { over } else { format!("{over} ({})", others.join(", ")) }
}

/// Writes the key to the lines of a trend.
fn trend_keys(report: &FleetReport, lines: Lines, out: &mut dyn Write) -> io::Result<()> {
    if lines.middle.is_none() {
        return out.write_all(b"<span class=\"keys\"><span><i class=\"key middle\"></i>largest</span></span>");
    }
    out.write_all(b"<span class=\"keys\">")?;
    for (class, line) in [("middle", lines.middle), ("upper", lines.upper), ("tail", lines.tail)] {
        let name = line.and_then(|line| report.options.quantiles.get(line.at));
        if let Some(name) = name {
            write!(out, "<span><i class=\"key {class} plain\"></i>{name}</span> ")?;
        }
    }
    out.write_all(b"</span>")
}

/// The timelines of all cohorts.
pub(super) fn over_time(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    if !has_section(report, "over-time") {
        return Ok(());
    }
    writeln!(out, "<section id=\"over-time\">\n<h2>{} over the time of the recordings</h2>", subject(report))?;
    out.write_all(
        b"<p>For each second since the recording started: the percentiles across the runs that recorded it. These are \
          runs compared in one second, not seconds compared in one run. A line ends where fewer runs recorded the \
          second than the percentile needs.</p>\n",
    )?;
    for (unit, cohorts) in by_unit(report) {
        let with_time: Vec<&CohortReport> = cohorts.iter().filter(|cohort| !cohort.timeline.is_empty()).collect();
        let shown = &with_time[..with_time.len().min(MAX_COHORTS)];
        let largest: Vec<f64> = shown.iter().map(|cohort| largest_of_points(cohort)).collect();
        let axes = Axes::of_measures(&largest, unit);
        writeln!(out, "<div class=\"figures {}\">", arrangement(shown.len()))?;
        for (index, cohort) in shown.iter().enumerate() {
            let name = cohort_name(&cohort.cohort);
            let lines = Lines::of(&report.options, cohort.runs);
            out.write_all(b"<figure>\n")?;
            write!(out, "<figcaption><strong>{}</strong> ", Text(&name))?;
            keys(report, lines, out)?;
            out.write_all(b"</figcaption>\n")?;
            out.write_all(plots::timeline(cohort, &name, lines, axes.of(index))?.as_bytes())?;
            out.write_all(b"</figure>\n")?;
        }
        out.write_all(b"</div>\n")?;
        let sentence = match &axes.own {
            _ if shown.len() < 2 => "",
            Some(_) => "The cohorts differ so much that each plot has a separate axis.",
            None => "All of these plots have the same axis for the measure.",
        };
        legend(sentence, with_time.len() - shown.len(), out)?;
    }
    out.write_all(b"</section>\n")
}

fn largest_of_points(cohort: &CohortReport) -> f64 {
    cohort.timeline.iter().map(|point| point.max).fold(0.0, f64::max)
}

/// The arrangement of adjacent plots: four are two by two, not three and one.
const fn arrangement(plots: usize) -> &'static str {
    match plots {
        1 => "single",
        2 | 4 => "pairs",
        _ => "many",
    }
}

/// Writes the key to the lines of a timeline.
fn keys(report: &FleetReport, lines: Lines, out: &mut dyn Write) -> io::Result<()> {
    let name = |at: usize| report.options.quantiles.get(at).map(ToString::to_string).unwrap_or_default();
    if lines.middle.is_none() {
        return out.write_all(b"<span class=\"keys\"><span><i class=\"key middle\"></i>largest</span></span>");
    }
    let keys = [("middle", lines.middle), ("upper", lines.upper), ("tail", lines.tail)];
    out.write_all(b"<span class=\"keys\">")?;
    for (class, line) in keys {
        let Some(line) = line else { continue };
        write!(out, "<span><i class=\"key {class}\"></i>{}</span> ", name(line.at))?;
    }
    out.write_all(b"<span><i class=\"key largest\"></i>max</span></span>")
}

fn caption(out: &mut dyn Write, title: &str, hint: &str) -> io::Result<()> {
    writeln!(out, "<figcaption><strong>{}</strong> <span>{}</span></figcaption>", Text(title), Text(hint))
}

/// The axes of plots that are side by side.
struct Axes {
    /// One axis for all plots.
    common: Axis,
    /// One axis for each, if a common one would leave nothing to see.
    own: Option<Vec<Axis>>,
}

impl Axes {
    fn of_measures(largest: &[f64], unit: Unit) -> Self {
        Self::new(largest, &|value| Axis::of_measure(value, unit))
    }

    fn of_counts(largest: &[u64]) -> Self {
        let largest: Vec<f64> = largest.iter().map(|&count| count as f64).collect();
        Self::new(&largest, &|value| Axis::of_count(value as u64))
    }

    fn new(largest: &[f64], axis: &dyn Fn(f64) -> Axis) -> Self {
        let high = largest.iter().copied().fold(0.0, f64::max);
        let is_shared = largest.iter().all(|&value| value >= high * SHARED);
        let own = || largest.iter().map(|&value| axis(value)).collect();
        Self { common: axis(high), own: (!is_shared).then(own) }
    }

    fn of(&self, index: usize) -> &Axis {
        self.own.as_ref().and_then(|own| own.get(index)).unwrap_or(&self.common)
    }
}

/// Writes a sentence on comparing plots by eye, and the number of cohorts without a plot.
fn legend(sentence: &str, hidden: usize, out: &mut dyn Write) -> io::Result<()> {
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!("{} more have no plot here.", counted(hidden as u64, "cohort")),
    };
    if sentence.is_empty() && hidden.is_empty() {
        return Ok(());
    }
    writeln!(out, "<p class=\"legend\">{}</p>", format!("{sentence} {hidden}").trim())
}
