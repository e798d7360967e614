//! Box plots in characters, with one axis for each unit, so that cohorts can be compared.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::cohorts::measures_of;
use super::labels;
use super::page::Page;
use super::words::many;
use crate::fleet::{CohortReport, FleetReport, FleetScope};
use crate::output::fleet::measures::Measures;
use crate::output::text::style::{Tone, pad};
use crate::stats::BoxPlot;

/// The most columns of a plot.
const WIDEST: usize = 100;
/// Labels get a third of the width, within these limits in columns.
const LABEL: (usize, usize) = (20, 32);
/// Cohorts of one unit that have a box.
const BOXES: usize = 12;

pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    if !report.options.scopes.contains(&FleetScope::Run) {
        return Ok(());
    }
    for cohorts in report.cohorts.chunk_by(|a, b| a.cohort.unit == b.cohort.unit) {
        let plots: Vec<(&CohortReport, &BoxPlot)> =
            cohorts.iter().filter_map(|cohort| Some((cohort, cohort.box_plot.as_ref()?))).collect();
        let shown = &plots[..plots.len().min(BOXES)];
        // A single run is not a distribution.
        if shown.is_empty() || cohorts.iter().all(|cohort| cohort.runs == 1) {
            continue;
        }
        let measures = measures_of(cohorts);
        page.title(&format!("box plots of runs · {}", measures.unit()))?;
        draw_all(shown, measures, page)?;
        if shown.len() < plots.len() {
            let more = many((plots.len() - shown.len()) as u64, "cohort");
            page.painted(Tone::Dim, &format!("and {more} without a plot"))?;
        }
    }
    Ok(())
}

fn draw_all(plots: &[(&CohortReport, &BoxPlot)], measures: Measures, page: &mut Page<'_>) -> io::Result<()> {
    let most = page.style.width.map_or(LABEL.1, |width| (width / 3).clamp(LABEL.0, LABEL.1));
    let labels = labels::names(plots.iter().map(|(cohort, _)| &cohort.cohort), Some(most));
    let label_width = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let room = page.style.width.map_or(WIDEST, |width| width.saturating_sub(label_width + 3)).clamp(10, WIDEST);
    let least = plots.iter().map(|(_, plot)| plot.min).fold(f64::INFINITY, f64::min);
    let most = plots.iter().map(|(_, plot)| plot.max).fold(0.0, f64::max);
    let axis = Axis::new(least, most, room);
    for (label, (_, plot)) in labels.iter().zip(plots) {
        page.line(&format!("{}  {}", pad(label, label_width), axis.draw(plot)))?;
    }
    let left = " ".repeat(label_width + 2);
    let (ticks, numbers) = axis.ticks(measures);
    page.line(&page.style.paint(Tone::Dim, &format!("{left}{ticks}")))?;
    page.line(&page.style.paint(Tone::Dim, &format!("{left}{numbers}")))?;
    let legend = "▒ from P25 to P75, ┃ median, ├ ┤ the last runs within 1.5 boxes of it, • runs beyond";
    page.sentence(Some(Tone::Dim), 0, legend)
}

/// A stretch of numbers on a stretch of columns, with ticks at round numbers.
struct Axis {
    start: f64,
    step: f64,
    /// Steps from start to end.
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
        // One tick in 12 columns leaves enough space for its number.
        let wanted = (width / 12).max(1);
        let mut power = 1e-6;
        loop {
            for factor in [1.0, 2.0, 2.5, 5.0] {
                let step = power * factor;
                let start = (least / step).floor();
                let steps = ((most / step).ceil() - start).max(1.0);
                // Steps grow up to where the largest double is one.
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

    fn draw(&self, plot: &BoxPlot) -> String {
        let mut cells = vec![' '; self.width];
        plot.outliers.iter().for_each(|value| cells[self.column(*value)] = '•');
        let (low, high) = (self.column(plot.whisker_low), self.column(plot.whisker_high));
        cells[low..=high].fill('─');
        (cells[low], cells[high]) = ('├', '┤');
        cells[self.column(plot.p25)..=self.column(plot.p75)].fill('▒');
        cells[self.column(plot.median)] = '┃';
        cells.into_iter().collect::<String>().trim_end().to_owned()
    }

    /// The axis, and the numbers below it.
    fn ticks(&self, measures: Measures) -> (String, String) {
        let values: Vec<f64> = (0..=self.steps).map(|index| self.start + self.step * index as f64).collect();
        let decimals = measures.decimals_of(&values);
        let mut line = vec!['─'; self.width];
        let mut numbers = String::new();
        for value in values {
            let (column, number) = (self.column(value), measures.edge(value, decimals));
            line[column] = '┼';
            // In the middle below the tick, but inside of the plot.
            let start = column.saturating_sub(number.len() / 2).min(self.width.saturating_sub(number.len()));
            if numbers.is_empty() || start > numbers.len() {
                numbers.push_str(&" ".repeat(start.saturating_sub(numbers.len())));
                numbers.push_str(&number);
            }
        }
        (line.into_iter().collect(), numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Unit;

    fn plot(numbers: [f64; 5], outliers: &[f64]) -> BoxPlot {
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
        let drawn = axis.draw(&plot([5.0, 10.0, 12.0, 15.0, 20.0], &[30.0, 40.0]));
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
}
