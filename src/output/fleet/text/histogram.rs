//! Histograms in characters.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::page::Page;
use super::words::{many, thousands};
use crate::fleet::CohortReport;
use crate::output::fleet::measures::Measures;
use crate::output::text::style::Tone;
use crate::stats::Bin;

/// The most columns of a bar.
const WIDEST: usize = 60;
/// Empty steps in a row that are shown one by one.
const EMPTY: usize = 2;

pub(super) fn write(cohort: &CohortReport, measured: &str, page: &mut Page<'_>) -> io::Result<()> {
    let bins = &cohort.bins;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return Ok(()) };
    let measures = Measures::of(cohort.cohort.unit, last.upper);
    let edges: Vec<f64> = bins.iter().map(|bin| bin.upper).chain([first.lower]).collect();
    let decimals = measures.decimals_of(&edges);
    let edge = |value: f64| measures.edge(value, decimals);
    let width = edge(last.upper).width().max(edge(first.lower).width());
    let label = |lower: f64, upper: f64| format!("{:>width$} – {:>width$}", edge(lower), edge(upper));
    let counts = bins.iter().map(|bin| thousands(bin.count).len()).max().unwrap_or(1);
    let used = 2 * width + 3 + 2 + counts + 2;
    let room = page.style.width.map_or(WIDEST, |width| width.saturating_sub(used + 1)).clamp(8, WIDEST);
    let bars = Bars::new(bins, room);
    page.sentence(Some(Tone::Title), 0, &title(cohort, measured, measures, &bars))?;
    for same in bins.chunk_by(|a, b| a.count == 0 && b.count == 0) {
        if same.len() > EMPTY {
            let (lower, upper) = (same[0].lower, same[same.len() - 1].upper);
            page.painted(Tone::Dim, &format!("{}  {:>counts$}", label(lower, upper), "·"))?;
            continue;
        }
        for bin in same {
            let count = format!("{:>counts$}", if bin.count == 0 { "·".to_owned() } else { thousands(bin.count) });
            let bar = page.style.paint(Tone::Weight, &bars.draw(bin.count));
            page.line(&format!("{}  {count}  {bar}", label(bin.lower, bin.upper)))?;
        }
    }
    Ok(())
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
    /// Bars are linear if the shortest one can be drawn; otherwise all bars in a tail would look the same.
    fn new(bins: &[Bin], width: usize) -> Self {
        let counts = || bins.iter().map(|bin| bin.count).filter(|&count| count > 0);
        let (smallest, largest) = (counts().min().unwrap_or(1) as f64, counts().max().unwrap_or(1) as f64);
        Self { largest, width, is_logarithmic: smallest / largest * (width as f64) < 0.125 }
    }

    /// A nonzero count stays visible.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
