//! CPU use over versions or dates: a line of bars for each percentile.
//!
//! ```text
//! trend over app_version · % of one core
//!      1.8 → 1.11 (150 to 150 runs)
//! P50  ▃▃▃▃ ▃▃▃▃ ▃▃▃▃ ▃▃▃▃    27.10  27.93  26.99  27.40
//! P90  ▅▅▅▅ ▅▅▅▅ ▅▅▅▅ ████    40.10  41.01  40.55  61.07
//! ```

use std::io;

use unicode_width::UnicodeWidthStr;

use super::page::Page;
use crate::fleet::{FleetReport, Trend, TrendOver, TrendPoint};
use crate::output::fleet::many;
use crate::output::fleet::measures::Measures;
use crate::output::text::style::{Tone, fit};
use crate::stats::Support;

/// The widest page that bars are made for.
const WIDEST: usize = 80;
/// Columns of one point at most.
const POINT: usize = 8;
/// Trends that are shown: one for each combination of other labels.
const TRENDS: usize = 6;

pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    report.trends.iter().take(TRENDS).try_for_each(|trend| one(report, trend, page))?;
    match report.trends.len().saturating_sub(TRENDS) {
        0 => Ok(()),
        more => page.painted(Tone::Dim, &format!("and {}; JSON has all", many(more as u64, "trend"))),
    }
}

fn one(report: &FleetReport, trend: &Trend, page: &mut Page<'_>) -> io::Result<()> {
    let largest = trend.points.iter().filter_map(|point| point.max).fold(0.0, f64::max);
    let measures = Measures::of(trend.unit, largest);
    page.title(&format!("{} · {}", title(trend), measures.unit()))?;
    let names: Vec<String> = report.options.quantiles.iter().map(ToString::to_string).collect();
    let is_known = |index: usize| trend.points.iter().any(|point| value(point, index).is_some());
    let rows: Vec<usize> = (0..names.len()).filter(|&index| is_known(index)).collect();
    if rows.is_empty() {
        return page.painted(Tone::Dim, "too few runs in each for percentiles");
    }
    let width = rows.iter().map(|&index| names[index].width()).max().unwrap_or(0);
    let room = page.style.width.unwrap_or(WIDEST).min(WIDEST).saturating_sub(width + 2);
    let scale = rows.iter().flat_map(|&index| trend.points.iter().filter_map(move |point| value(point, index)));
    let scale = scale.fold(0.0, f64::max);
    let ends = room.checked_div(2).unwrap_or(room);
    let bars = Bars::new(trend.points.len(), room, scale);
    page.painted(Tone::Dim, &format!("{}{}", " ".repeat(width + 2), bars.names(&trend.points, ends)))?;
    for index in rows {
        let values: Vec<Option<f64>> = bars.shown(&trend.points).map(|point| value(point, index)).collect();
        let line = page.style.paint(Tone::Weight, &bars.draw(&values));
        page.line(&format!("{:>width$}  {line}", names[index]))?;
        page.painted(Tone::Dim, &format!("{}{}", " ".repeat(width + 2), bars.numbers(&values, measures)))?;
    }
    let legend = match bars.hidden(trend.points.len()) {
        0 => "bars start at zero; ·: too few runs for the percentile".to_owned(),
        hidden => format!("bars start at zero; ·: too few runs for the percentile; the first {hidden} are not shown"),
    };
    page.sentence(Some(Tone::Dim), 0, &legend)?;
    if trend.undated > 0 {
        let runs = many(trend.undated, "run");
        page.sentence(Some(Tone::Warning), 0, &format!("{runs} without a known date are not in it"))?;
    }
    Ok(())
}

/// The order of the points, and the labels that they share.
fn title(trend: &Trend) -> String {
    let over = match &trend.over {
        TrendOver::Label(key) => format!("trend over {key}"),
        TrendOver::Week => "trend over weeks (from Monday)".to_owned(),
        TrendOver::Day => "trend over days".to_owned(),
    };
    let others = trend.labels.iter().map(|(_, value)| format!(" · {}", value.as_deref().unwrap_or("unknown")));
    format!("{over}{}", others.collect::<String>())
}

/// The percentile of a point, if it has enough runs.
fn value(point: &TrendPoint, index: usize) -> Option<f64> {
    let estimate = point.estimates.get(index)?;
    estimate.value.filter(|_| !matches!(estimate.support, Support::TooFew { .. }))
}

/// Adjacent bars of equal width: the last points that fit.
struct Bars {
    count: usize,
    /// The width of each bar, with the space after it.
    each: usize,
    largest: f64,
}

impl Bars {
    fn new(points: usize, room: usize, largest: f64) -> Self {
        let each = (room / points.max(1)).clamp(2, POINT + 1);
        Self { count: points.min((room / each).max(1)), each, largest }
    }

    fn hidden(&self, points: usize) -> usize {
        points - self.count
    }

    fn shown<'p>(&self, points: &'p [TrendPoint]) -> std::slice::Iter<'p, TrendPoint> {
        points[self.hidden(points.len())..].iter()
    }

    /// The names of points above their bars; the first and the last where bars are narrow.
    fn names(&self, points: &[TrendPoint], half: usize) -> String {
        let shown: Vec<&TrendPoint> = self.shown(points).collect();
        if shown.iter().all(|point| point.name.width() < self.each) {
            let name = |point: &&TrendPoint| super::labels::padded(&point.name, self.each);
            return shown.iter().map(name).collect();
        }
        let end =
            |point: Option<&&TrendPoint>| point.map_or(String::new(), |point| fit(&point.name, Some(half.max(4) - 2)));
        format!("{} → {}", end(shown.first()), end(shown.last()))
    }

    fn draw(&self, values: &[Option<f64>]) -> String {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let level =
            |value: f64| LEVELS[((value / self.largest.max(f64::MIN_POSITIVE) * 8.0).ceil() as usize).clamp(1, 8) - 1];
        let bar = |value: &Option<f64>| match value {
            // Nothing at all has no bar.
            Some(0.0) => " ".repeat(self.each),
            Some(value) => format!("{} ", level(*value).to_string().repeat(self.each - 1)),
            None => format!("·{}", " ".repeat(self.each - 1)),
        };
        values.iter().map(bar).collect()
    }

    /// The numbers below bars; the first and the last where bars are narrow.
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

    #[test]
    fn bars_are_as_high_as_their_values() {
        let bars = Bars::new(4, 40, 80.0);
        assert_eq!((bars.count, bars.each, bars.hidden(4)), (4, 9, 0));
        let drawn = bars.draw(&[Some(80.0), Some(40.0), None, Some(0.0)]);
        assert_eq!(drawn, format!("████████ ▄▄▄▄▄▄▄▄ ·{}", " ".repeat(8 + 9)));
        assert_eq!(Bars::new(3, 40, 80.0).draw(&[Some(0.001), Some(10.0), Some(10.1)]), "▁▁▁▁▁▁▁▁ ▁▁▁▁▁▁▁▁ ▂▂▂▂▂▂▂▂ ");
        // Points without room are the first.
        let many = Bars::new(100, 40, 1.0);
        assert_eq!((many.each, many.count, many.hidden(100)), (2, 20, 80));
        assert_eq!(Bars::new(3, 40, 0.0).draw(&[Some(0.0)]).trim(), "");
    }
}
