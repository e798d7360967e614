//! Plots made of characters: box plots, with one axis per unit so that cohorts can be compared; histograms; and trends of CPU use over versions or
//! dates, with a line of bars per percentile.
//!
//! ```text
//! trend over app_version · % of one core
//!      1.8 → 1.11 (150 to 150 runs)
//! P50  ▃▃▃▃ ▃▃▃▃ ▃▃▃▃ ▃▃▃▃    27.10  27.93  26.99  27.40
//! P90  ▅▅▅▅ ▅▅▅▅ ▅▅▅▅ ████    40.10  41.01  40.55  61.07
//! ```

use unicode_width::UnicodeWidthStr;

use super::labels;
use super::table::Page;
use super::tables::measures_of;
use crate::fleet::{CohortReport, FleetReport, FleetScope, Trend, TrendOver, TrendPoint};
use crate::output::fleet::measures::Measures;
use crate::output::fleet::{many, thousands};
use crate::output::text::style::{Tone, fit, pad};
use crate::stats::{Bin, BoxPlot, Support};

/// The maximum width of a plot.
const WIDEST_BOX: usize = 100;
/// Labels take a third of the width, within these limits in columns.
const LABEL: (usize, usize) = (20, 32);
/// The maximum number of cohorts per unit with a box.
const BOXES: usize = 12;

pub(super) fn boxes(report: &FleetReport, page: &mut Page<'_>) {
    if !report.options.scopes.contains(&FleetScope::Run) {
        return;
    }
    for cohorts in report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let plots: Vec<(&CohortReport, &BoxPlot)> =
            cohorts.iter().filter_map(|cohort| Some((cohort, cohort.box_plot.as_ref()?))).collect();
        let shown = &plots[..plots.len().min(BOXES)];
        // A single run has no distribution.
        if shown.is_empty() || cohorts.iter().all(|cohort| cohort.runs == 1) {
            continue;
        }
        let measures = measures_of(cohorts);
        page.title(&format!("box plots of runs · {}", measures.unit()));
        draw_all(shown, measures, page);
        if shown.len() < plots.len() {
            let more = many((plots.len() - shown.len()) as u64, "cohort");
            page.painted(Tone::Dim, &format!("and {more} without a plot"));
        }
    }
}

fn draw_all(plots: &[(&CohortReport, &BoxPlot)], measures: Measures, page: &mut Page<'_>) {
    let most = page.style.width.map_or(LABEL.1, |width| (width / 3).clamp(LABEL.0, LABEL.1));
    let labels = labels::names(plots.iter().map(|(cohort, _)| &cohort.cohort), Some(most));
    let label_width = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let room = page.style.width.map_or(WIDEST_BOX, |width| width.saturating_sub(label_width + 3)).clamp(10, WIDEST_BOX);
    let least = plots.iter().map(|(_, box_plot)| box_plot.min).fold(f64::INFINITY, f64::min);
    let most = plots.iter().map(|(_, box_plot)| box_plot.max).fold(0.0, f64::max);
    let axis = Axis::new(least, most, room);
    for (label, (_, box_plot)) in labels.iter().zip(plots) {
        page.line(&format!("{}  {}", pad(label, label_width), axis.draw(box_plot)));
    }
    let left = " ".repeat(label_width + 2);
    let (ticks, numbers) = axis.ticks(measures);
    page.line(&page.style.paint(Tone::Dim, &format!("{left}{ticks}")));
    page.line(&page.style.paint(Tone::Dim, &format!("{left}{numbers}")));
    let legend = "▒ from P25 to P75, ┃ median, ├ ┤ the last runs within 1.5 boxes of it, • runs beyond";
    page.sentence(Some(Tone::Dim), 0, legend)
}

/// An axis that maps a range of numbers to columns, with ticks at round numbers.
struct Axis {
    start: f64,
    step: f64,
    /// The number of steps from start to end.
    steps: usize,
    width: usize,
}

impl Axis {
    fn new(least: f64, most: f64, width: usize) -> Self {
        // A single value has no range.
        let (least, most) = match (least, most) {
            (_, 0.0) => (0.0, 1.0),
            (least, most) if least == most => (0.0, most),
            range => range,
        };
        // One tick per 12 columns leaves enough space for its number.
        let wanted = (width / 12).max(1);
        let mut power = 1e-6;
        loop {
            for factor in [1.0, 2.0, 2.5, 5.0] {
                let step = power * factor;
                let start = (least / step).floor();
                let steps = ((most / step).ceil() - start).max(1.0);
                // Stop before the step overflows.
                if steps <= wanted as f64 || !power.is_normal() || power > 1e300 {
                    return Self { start: start * step, step, steps: steps as usize, width };
                }
            }
            power *= 10.0;
        }
    }

    fn column(&self, value: f64) -> usize {
        let share = (value - self.start) / (self.step * self.steps as f64);
        ((share * (self.width - 1) as f64).round() as usize).min(self.width - 1)
    }

    fn draw(&self, box_plot: &BoxPlot) -> String {
        let mut cells = vec![' '; self.width];
        box_plot.outliers.iter().for_each(|value| cells[self.column(*value)] = '•');
        let (low, high) = (self.column(box_plot.whisker_low), self.column(box_plot.whisker_high));
        cells[low..=high].fill('─');
        (cells[low], cells[high]) = ('├', '┤');
        cells[self.column(box_plot.p25)..=self.column(box_plot.p75)].fill('▒');
        cells[self.column(box_plot.median)] = '┃';
        cells.into_iter().collect::<String>().trim_end().to_owned()
    }

    /// The axis line, and the numbers below it.
    fn ticks(&self, measures: Measures) -> (String, String) {
        let values: Vec<f64> = (0..=self.steps).map(|index| self.start + self.step * index as f64).collect();
        let decimals = measures.decimals_of(&values);
        let mut line = vec!['─'; self.width];
        let mut numbers = String::new();
        for value in values {
            let (column, number) = (self.column(value), measures.edge(value, decimals));
            line[column] = '┼';
            // Centred below the tick, but within the plot.
            let start = column.saturating_sub(number.len() / 2).min(self.width.saturating_sub(number.len()));
            if numbers.is_empty() || start > numbers.len() {
                numbers.push_str(&" ".repeat(start.saturating_sub(numbers.len())));
                numbers.push_str(&number);
            }
        }
        (line.into_iter().collect(), numbers)
    }
}

/// The maximum length of a bar.
const WIDEST_BAR: usize = 60;
/// The maximum number of consecutive empty bins that are shown individually.
const EMPTY: usize = 2;

pub(super) fn histogram(cohort: &CohortReport, measured: &str, page: &mut Page<'_>) {
    let bins = &cohort.bins;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return };
    let measures = Measures::of(cohort.cohort.unit, last.upper);
    let edges: Vec<f64> = bins.iter().map(|bin| bin.upper).chain([first.lower]).collect();
    let decimals = measures.decimals_of(&edges);
    let edge = |value: f64| measures.edge(value, decimals);
    let width = edge(last.upper).width().max(edge(first.lower).width());
    let label = |lower: f64, upper: f64| format!("{:>width$} – {:>width$}", edge(lower), edge(upper));
    let counts = bins.iter().map(|bin| thousands(bin.count).len()).max().unwrap_or(1);
    let used = 2 * width + 3 + 2 + counts + 2;
    let room = page.style.width.map_or(WIDEST_BAR, |width| width.saturating_sub(used + 1)).clamp(8, WIDEST_BAR);
    let bars = Bars::new(bins, room);
    page.sentence(Some(Tone::Title), 0, &title(cohort, measured, measures, &bars));
    for same in bins.chunk_by(|a, b| a.count == 0 && b.count == 0) {
        if same.len() > EMPTY {
            let (lower, upper) = (same[0].lower, same[same.len() - 1].upper);
            page.painted(Tone::Dim, &format!("{}  {:>counts$}", label(lower, upper), "·"));
            continue;
        }
        for bin in same {
            let count = format!("{:>counts$}", if bin.count == 0 { "·".to_owned() } else { thousands(bin.count) });
            let bar = page.style.paint(Tone::Weight, &bars.draw(bin.count));
            page.line(&format!("{}  {count}  {bar}", label(bin.lower, bin.upper)));
        }
    }
}

fn title(cohort: &CohortReport, measured: &str, measures: Measures, bars: &Bars) -> String {
    let mut title = format!("runs by {measured} · {}", measures.unit());
    if bars.is_logarithmic {
        title.push_str(" · bars are logarithmic");
    }
    if let Some(plot) = cohort.box_plot.as_ref().filter(|plot| plot.outlier_count > 0) {
        title.push_str(&format!(" · {} beyond the whiskers", many(plot.outlier_count, "run")));
    }
    title
}

/// The scale of bars.
struct Bars {
    largest: f64,
    width: usize,
    is_logarithmic: bool,
}

impl Bars {
    /// Bars are linear if the shortest one is then visible, and logarithmic otherwise, since all bars in a tail would look the same.
    fn new(bins: &[Bin], width: usize) -> Self {
        let counts = || bins.iter().map(|bin| bin.count).filter(|&count| count > 0);
        let (smallest, largest) = (counts().min().unwrap_or(1) as f64, counts().max().unwrap_or(1) as f64);
        Self { largest, width, is_logarithmic: smallest / largest * (width as f64) < 0.125 }
    }

    /// Draws a bar. A nonzero count is always visible.
    fn draw(&self, count: u64) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        if count == 0 {
            return String::new();
        }
        let share = if self.is_logarithmic {
            (count as f64 + 1.0).log2() / (self.largest + 1.0).log2()
        } else {
            count as f64 / self.largest
        };
        let eighths = ((share * (self.width * 8) as f64).round() as usize).clamp(1, self.width * 8);
        format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
    }
}

/// The maximum width of a page with trend bars.
pub(super) const WIDEST_TREND: usize = 80;
/// The maximum width of a trend point.
const POINT: usize = 8;
/// The maximum number of trends, of which there is one for each combination of the other labels.
const TRENDS: usize = 6;

pub(super) fn trends(report: &FleetReport, page: &mut Page<'_>) {
    report.trends.iter().take(TRENDS).for_each(|trend| draw_trend(report, trend, page));
    match report.trends.len().saturating_sub(TRENDS) {
        0 => {}
        more => page.painted(Tone::Dim, &format!("and {}; JSON has all", many(more as u64, "trend"))),
    }
}

fn draw_trend(report: &FleetReport, trend: &Trend, page: &mut Page<'_>) {
    let largest = trend.points.iter().filter_map(|point| point.max).fold(0.0, f64::max);
    let measures = Measures::of(trend.unit, largest);
    page.title(&format!("{} · {}", trend_title(trend), measures.unit()));
    let names: Vec<String> = report.options.quantiles.iter().map(ToString::to_string).collect();
    let is_known = |index: usize| trend.points.iter().any(|point| value(point, index).is_some());
    let rows: Vec<usize> = (0..names.len()).filter(|&index| is_known(index)).collect();
    if rows.is_empty() {
        return page.painted(Tone::Dim, "too few runs in each for percentiles");
    }
    let width = rows.iter().map(|&index| names[index].width()).max().unwrap_or(0);
    let room = page.style.width.unwrap_or(WIDEST_TREND).min(WIDEST_TREND).saturating_sub(width + 2);
    let scale = rows.iter().flat_map(|&index| trend.points.iter().filter_map(move |point| value(point, index)));
    let scale = scale.fold(0.0, f64::max);
    let ends = room.checked_div(2).unwrap_or(room);
    let bars = Points::new(trend.points.len(), room, (0.0, scale));
    let points: Vec<&str> = trend.points.iter().map(|point| point.name.as_str()).collect();
    page.painted(Tone::Dim, &format!("{}{}", " ".repeat(width + 2), bars.names(&points, ends)));
    for index in rows {
        let values: Vec<Option<f64>> = bars.shown(&trend.points).map(|point| value(point, index)).collect();
        let line = page.style.paint(Tone::Weight, &bars.draw(&values));
        page.line(&format!("{:>width$}  {line}", names[index]));
        page.painted(Tone::Dim, &format!("{}{}", " ".repeat(width + 2), bars.numbers(&values, measures)));
    }
    let legend = match bars.hidden(trend.points.len()) {
        0 => "bars start at zero; ·: too few runs for the percentile".to_owned(),
        hidden => format!("bars start at zero; ·: too few runs for the percentile; the first {hidden} are not shown"),
    };
    page.sentence(Some(Tone::Dim), 0, &legend);
    if trend.undated > 0 {
        let runs = many(trend.undated, "run");
        page.sentence(Some(Tone::Warning), 0, &format!("{runs} without a known date are not in it"));
    }
}

/// The label or date that orders the points, and the other labels that they share.
fn trend_title(trend: &Trend) -> String {
    let others = trend.labels.iter().map(|(_, value)| format!(" · {}", value.as_deref().unwrap_or("unknown")));
    format!("{}{}", over_name(&trend.over), others.collect::<String>())
}

pub(super) fn over_name(over: &TrendOver) -> String {
    match over {
        TrendOver::Label(key) => format!("trend over {key}"),
        TrendOver::Week => "trend over weeks (from Monday)".to_owned(),
        TrendOver::Day => "trend over days".to_owned(),
    }
}

/// The percentile of a point, if it has enough runs.
fn value(point: &TrendPoint, index: usize) -> Option<f64> {
    let estimate = point.estimates.get(index)?;
    estimate.value.filter(|_| !matches!(estimate.support, Support::TooFew { .. }))
}

/// Adjacent bars of equal width, for as many of the last points as fit.
pub(super) struct Points {
    count: usize,
    /// The width of each bar, including the space after it.
    pub(super) each: usize,
    /// The values of the lowest and the highest bar.
    range: (f64, f64),
}

impl Points {
    pub(super) fn new(points: usize, room: usize, range: (f64, f64)) -> Self {
        let each = (room / points.max(1)).clamp(2, POINT + 1);
        Self { count: points.min((room / each).max(1)), each, range }
    }

    pub(super) fn hidden(&self, points: usize) -> usize {
        points - self.count
    }

    pub(super) fn shown<'p, T>(&self, points: &'p [T]) -> std::slice::Iter<'p, T> {
        points[self.hidden(points.len())..].iter()
    }

    /// The names of points above their bars. If bars are narrow, only the first and the last name.
    pub(super) fn names(&self, names: &[&str], half: usize) -> String {
        let shown: Vec<&str> = self.shown(names).copied().collect();
        if shown.iter().all(|name| name.width() < self.each) {
            return shown.iter().map(|name| labels::padded(name, self.each)).collect();
        }
        let end = |name: Option<&&str>| name.map_or(String::new(), |name| fit(name, Some(half.max(4) - 2)));
        format!("{} → {}", end(shown.first()), end(shown.last()))
    }

    pub(super) fn draw(&self, values: &[Option<f64>]) -> String {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let (least, largest) = self.range;
        let share = |value: f64| (value - least) / (largest - least).max(f64::MIN_POSITIVE);
        let level = |value: f64| LEVELS[((share(value) * 8.0).ceil() as usize).clamp(1, 8) - 1];
        let bar = |value: &Option<f64>| match value {
            // A value of zero has no bar.
            Some(0.0) => " ".repeat(self.each),
            Some(value) => format!("{} ", level(*value).to_string().repeat(self.each - 1)),
            None => format!("·{}", " ".repeat(self.each - 1)),
        };
        values.iter().map(bar).collect()
    }

    /// The numbers below bars. If bars are narrow, only the first and the last number.
    fn numbers(&self, values: &[Option<f64>], measures: Measures) -> String {
        let text = |value: &Option<f64>| value.map_or_else(|| "–".to_owned(), |value| measures.text(value));
        let texts: Vec<String> = values.iter().map(text).collect();
        if texts.iter().all(|text| text.width() < self.each) {
            return texts.iter().map(|text| format!("{text:<each$}", each = self.each)).collect();
        }
        let known: Vec<&String> = texts.iter().filter(|text| *text != "–").collect();
        match (known.first(), known.last()) {
            (Some(first), Some(last)) => format!("{first} → {last}"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Unit;

    fn box_plot(numbers: [f64; 5], outliers: &[f64]) -> BoxPlot {
        let [whisker_low, p25, median, p75, whisker_high] = numbers;
        let max = outliers.last().copied().unwrap_or(whisker_high);
        let outlier_count = outliers.len() as u64;
        BoxPlot {
            min: whisker_low,
            p25,
            median,
            p75,
            max,
            whisker_low,
            whisker_high,
            outliers: outliers.to_vec(),
            outlier_count,
        }
    }

    #[test]
    fn every_part_of_a_box_has_its_place() {
        let axis = Axis::new(0.0, 40.0, 41);
        assert_eq!((axis.start, axis.step, axis.steps), (0.0, 20.0, 2));
        let drawn = axis.draw(&box_plot([5.0, 10.0, 12.0, 15.0, 20.0], &[30.0, 40.0]));
        assert_eq!(drawn, "     ├────▒▒┃▒▒▒────┤         •         •");
        let (ticks, numbers) = axis.ticks(Measures::of(Unit::Nanoseconds, 40.0));
        assert_eq!(ticks, "┼───────────────────┼───────────────────┼");
        assert_eq!(numbers, "0                  20                  40");
    }

    #[test]
    fn odd_ranges_have_an_axis() {
        for (least, most) in [(0.0, 0.0), (3.0, 3.0), (0.0, 1e-6), (1e-6, 1.8e13), (0.0, 1e18)] {
            let axis = Axis::new(least, most, 30);
            assert!(axis.column(least) <= axis.column(most) && axis.column(most) < 30, "{least} {most}");
            assert!(axis.ticks(Measures::of(Unit::Cycles, most)).1.len() <= 30);
        }
    }

    fn bins(counts: &[u64]) -> Vec<Bin> {
        counts.iter().map(|&count| Bin { lower: 0.0, upper: 1.0, count }).collect()
    }

    #[test]
    fn one_run_of_many_is_seen() {
        let even = Bars::new(&bins(&[10, 20, 0]), 8);
        assert_eq!([20, 10, 0].map(|count| even.draw(count)), ["████████", "████", ""]);
        assert_eq!(Bars::new(&bins(&[60, 1]), 8).draw(1), "▏");
        let tail = Bars::new(&bins(&[100_000, 1]), 10);
        assert!(tail.is_logarithmic && !even.is_logarithmic);
        assert_eq!((tail.draw(100_000).width(), tail.draw(1).as_str()), (10, "▋"));
    }

    #[test]
    fn bars_are_as_high_as_their_values() {
        let bars = Points::new(4, 40, (0.0, 80.0));
        assert_eq!((bars.count, bars.each, bars.hidden(4)), (4, 9, 0));
        let drawn = bars.draw(&[Some(80.0), Some(40.0), None, Some(0.0)]);
        assert_eq!(drawn, format!("████████ ▄▄▄▄▄▄▄▄ ·{}", " ".repeat(8 + 9)));
        assert_eq!(
            Points::new(3, 40, (0.0, 80.0)).draw(&[Some(0.001), Some(10.0), Some(10.1)]),
            "▁▁▁▁▁▁▁▁ ▁▁▁▁▁▁▁▁ ▂▂▂▂▂▂▂▂ "
        );
        // If not all points fit, the first ones are hidden.
        let many = Points::new(100, 40, (0.0, 1.0));
        assert_eq!((many.each, many.count, many.hidden(100)), (2, 20, 80));
        assert_eq!(Points::new(3, 40, (0.0, 0.0)).draw(&[Some(0.0)]).trim(), "");
    }
}
