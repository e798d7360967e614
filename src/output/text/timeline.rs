//! Weights over time: a line of blocks for each thread or other scope.
//!
//! ```text
//! each column is 5 ms, from 00:00.100 to 00:00.140
//! full height is one core, of all together 120.0%; · samples in states that are not selected
//!      ms   mean    peak            thread
//!  30.000  75.0%  120.0%  ▅█▂ ▃▅▂▁  all
//!  20.000  50.0%  100.0%  ▅█▂ ··▂▁  Main Thread (0x2a101)  Orchard (4150)
//! ```

use std::io::{self, Write};

use super::style::{MIN_NAME, Style, Tone};
use super::table::{Column, IN_FORMATS, KEPT, Row, Table};
use super::words::{clock, share, short_time};
use crate::report::{
    Report, SeparateBy, SeriesReport, Timeline, TimelineLine, TimelinePart, highest_rate, scope_labels,
};
use crate::units::{Nanos, Scale, Unit, Weight};

/// Writes the timeline of a series.
pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if report.recording.profile.sums().len() > 0 {
        let note = "samples were summed while they were read, so their times are unknown";
        return style.write_wrapped(None, 0, note, out);
    }
    let timeline = report.timeline(series);
    if timeline.lines.is_empty() {
        return Ok(());
    }
    let least = report.options.pruning.min_percent;
    let is_shown = |line: &&TimelineLine| share(line.counted.weight.value, series) >= least;
    let (shown, hidden): (Vec<&TimelineLine>, Vec<&TimelineLine>) = timeline.lines.iter().partition(is_shown);
    let columns = Columns::new(&timeline, style);
    let all = (timeline.lines.len() > 1).then(|| columns.of(timeline.lines.iter()));
    let lines: Vec<Blocks> = shown.iter().map(|line| columns.of([*line].into_iter())).collect();
    let rates = Rates::new(series.unit, all.iter().chain(&lines));
    // A thread cannot run on more than one core. Other scopes are scaled to the heaviest one.
    let is_core = series.unit == Unit::Nanoseconds && report.options.separate_by == SeparateBy::Thread;
    let highest = lines.iter().map(|blocks| blocks.highest).max().unwrap_or(0);
    let full = if is_core { columns.length() } else { highest };
    let mut full_text = if is_core { "one core".to_owned() } else { rates.with_unit(full, columns.length()) };
    if let Some(all) = &all {
        full_text += &format!(", of all together {}", rates.with_unit(all.highest, columns.length()));
    }
    let is_waiting = all.iter().chain(&lines).any(Blocks::is_waiting);
    legend(&timeline, &columns, &full_text, is_waiting, style, out)?;
    let length = timeline.selected.length().as_nanos();
    let scale = Scale::of(series.counted.weight);
    let row = |blocks: &Blocks, full: u64, labels: &[String]| {
        let (mean, peak) = (rates.text(blocks.weight, length), rates.text(blocks.peak.0, blocks.peak.1.as_nanos()));
        let (name, owners) = labels.split_first().map_or(("", labels), |(name, rest)| (name, rest));
        Row::new([scale.number(blocks.weight), mean, peak, blocks.text(full)], name, &owners.join("  "))
    };
    let mut rows: Vec<Row> = all.iter().map(|all| row(all, all.highest, &["all".to_owned()])).collect();
    rows.extend(shown.iter().zip(&lines).map(|(line, blocks)| {
        let mut labels = scope_labels(&report.recording.profile, line.scope);
        labels.reverse();
        row(blocks, full, &labels)
    }));
    let [one, several] = nouns(report.options.separate_by);
    if !hidden.is_empty() {
        let weight = hidden.iter().map(|line| line.counted.weight.value).sum();
        let what = if hidden.len() == 1 { one } else { several };
        rows.push(Row::more([scale.number(weight)], &format!("{} more {what} below {least}%", hidden.len())));
    }
    let columns = vec![
        Column::new(&scale.short(), KEPT).sized(11, 1).toned(Tone::Weight),
        Column::new(&rates.title("mean"), 1).sized(7, 1),
        Column::new(&rates.title("peak"), 2).sized(7, 2),
        Column::label("", KEPT, [usize::MAX; 2]).sized(columns.count, 2),
    ];
    Table::new(columns, one, MIN_NAME, rows).write(IN_FORMATS, style, out)
}

/// The noun for the scope of a line, in singular and plural.
fn nouns(separate_by: SeparateBy) -> [&'static str; 2] {
    match separate_by {
        SeparateBy::Thread => ["thread", "threads"],
        SeparateBy::Process => ["process", "processes"],
        SeparateBy::State => ["state", "states"],
        SeparateBy::CoreKind => ["kind of core", "kinds of cores"],
        SeparateBy::Interval => ["signpost", "signposts"],
        SeparateBy::Task => ["task", "tasks"],
        SeparateBy::Nothing => ["", ""],
    }
}

/// Writes the legend of the blocks.
fn legend(
    timeline: &Timeline,
    columns: &Columns<'_>,
    full: &str,
    is_waiting: bool,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let bin = timeline.bin.as_nanos();
    let [start, end] = [timeline.bins.start, timeline.bins.end].map(|index| clock(index.saturating_mul(bin)));
    // Bins are usually longer than a millisecond.
    let [start, end] = [&start, &end].map(|time| time.strip_suffix(".000").unwrap_or(time));
    let column = short_time(Nanos::from_nanos(columns.length()));
    let bins = match columns.bins_each {
        1 => String::new(),
        several => format!(" ({several} bins)"),
    };
    let time = format!("each column is {column}{bins}, from {start} to {end}");
    let waiting =
        if is_waiting { format!("; {WAITING} samples in states that are not selected") } else { String::new() };
    for line in [time, format!("full height is {full}{waiting}")] {
        style.write_wrapped(Some(Tone::Dim), 0, &line, out)?;
    }
    Ok(())
}

/// Formats weights per time: percent of one core, or a number per second.
struct Rates {
    unit: Unit,
    scale: Scale,
}

impl Rates {
    fn new<'b>(unit: Unit, lines: impl Iterator<Item = &'b Blocks>) -> Self {
        let peak = lines.map(|blocks| per_second(blocks.peak.0, blocks.peak.1.as_nanos())).max().unwrap_or(0);
        Self { unit, scale: Scale::of(Weight::new(peak, unit)) }
    }

    fn text(&self, weight: u64, nanos: u64) -> String {
        match Weight::new(weight, self.unit).percent_of_core(Nanos::from_nanos(nanos)) {
            Some(percent) => format!("{percent:.1}%"),
            None if nanos == 0 => "n/a".to_owned(),
            None => self.scale.number(per_second(weight, nanos)),
        }
    }

    fn with_unit(&self, weight: u64, nanos: u64) -> String {
        let text = self.text(weight, nanos);
        if self.unit == Unit::Nanoseconds { text } else { format!("{text} {}/s", self.scale.short()) }
    }

    fn title(&self, what: &str) -> String {
        match self.unit {
            Unit::Nanoseconds => what.to_owned(),
            // The title of the weight column contains the unit.
            Unit::Samples => format!("{what}/s"),
            _ => format!("{what} {}/s", self.scale.short()),
        }
    }
}

fn per_second(weight: u64, nanos: u64) -> u64 {
    let rate = u128::from(weight) * 1_000_000_000 / u128::from(nanos.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Blocks from an eighth of the height to the full height.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A column that has samples, but no selected ones.
pub(super) const WAITING: char = '·';
/// The maximum and minimum length of a line, regardless of the width of the text.
const MOST: usize = 100;
const LEAST: usize = 13;
/// The approximate width of the numbers to the left of the blocks.
const NUMBERS: usize = 30;

/// The columns in which the bins of a timeline are shown.
pub(super) struct Columns<'t> {
    timeline: &'t Timeline,
    /// The number of bins per column; the last column may have fewer.
    pub(super) bins_each: u64,
    pub(super) count: usize,
}

/// A line of a timeline, or the sum of several lines, in columns.
pub(super) struct Blocks {
    /// The weight of selected samples.
    pub(super) weight: u64,
    /// The weight of the bin with the highest rate, and the selected time within it.
    pub(super) peak: (u64, Nanos),
    /// By column: the weight of selected samples, and whether there are any samples.
    columns: Vec<(u64, bool)>,
    /// The weight of the heaviest column.
    pub(super) highest: u64,
}

impl<'t> Columns<'t> {
    /// Creates one column per bin, or as many columns as fit next to numbers and names.
    pub(super) fn new(timeline: &'t Timeline, style: &Style) -> Self {
        let most = style.width.map_or(MOST, |width| {
            let room = width.saturating_sub(NUMBERS);
            (room / 2).min(room.saturating_sub(MIN_NAME + 1)).clamp(LEAST, MOST)
        });
        let bins = timeline.bins.end - timeline.bins.start;
        let bins_each = bins.div_ceil(most as u64).max(1);
        Self { timeline, bins_each, count: bins.div_ceil(bins_each) as usize }
    }

    /// The length of a column in nanoseconds.
    pub(super) fn length(&self) -> u64 {
        self.timeline.bin.as_nanos().saturating_mul(self.bins_each)
    }

    /// The sum of several lines. If only a part of a column is selected, its height is extrapolated from the rate of the part. The part is counted as
    /// at least one bin long, since one sample may weigh more than a short part.
    pub(super) fn of<'l>(&self, lines: impl Iterator<Item = &'l TimelineLine> + Clone) -> Blocks {
        let mut parts: Vec<&TimelinePart> = lines.clone().flat_map(|line| &line.parts).collect();
        parts.sort_unstable_by_key(|part| part.bin);
        let mut columns = vec![(0, false); self.count];
        let bin = self.timeline.bin.as_nanos();
        let mut bins = Vec::new();
        for parts in parts.chunk_by(|a, b| a.bin == b.bin) {
            let counted = parts.iter().filter(|part| part.is_counted);
            let weight: u64 = counted.map(|part| part.amount.weight.value).sum();
            bins.push((weight, self.timeline.length_of(parts[0].bin)));
            let column = (parts[0].bin - self.timeline.bins.start) / self.bins_each;
            if let Some((sum, is_sampled)) = columns.get_mut(column as usize) {
                *sum += weight;
                *is_sampled = true;
            }
        }
        for (column, (sum, _)) in (0..).zip(&mut columns) {
            let start = (self.timeline.bins.start + column * self.bins_each).saturating_mul(bin);
            let [start, end] = [start, start.saturating_add(self.length())].map(Nanos::from_nanos);
            let selected = self.timeline.selected.length_between(start, end).as_nanos().max(bin);
            let whole = u128::from(*sum) * u128::from(self.length()) / u128::from(selected);
            *sum = u64::try_from(whole).unwrap_or(u64::MAX);
        }
        let weight = lines.map(|line| line.counted.weight.value).sum();
        let highest = columns.iter().map(|&(weight, _)| weight).max().unwrap_or(0);
        Blocks { weight, peak: highest_rate(bins.into_iter(), self.timeline.bin).unwrap_or_default(), columns, highest }
    }
}

/// The block whose height is the share of `full`; at least the lowest block.
pub(super) fn block(weight: u64, full: u64) -> char {
    let eighths = (u128::from(weight) * 8).div_ceil(u128::from(full.max(1)));
    BLOCKS[eighths.clamp(1, 8) as usize - 1]
}

impl Blocks {
    /// One block per column, with a height relative to `full`. A column with any weight has at least the lowest block, and a column with more than
    /// `full` the highest.
    pub(super) fn text(&self, full: u64) -> String {
        let block = |&(weight, is_sampled): &(u64, bool)| match (weight, is_sampled) {
            (0, false) => ' ',
            (0, true) => WAITING,
            _ => block(weight, full),
        };
        self.columns.iter().map(block).collect()
    }

    /// True if some columns have samples, but no selected ones.
    pub(super) fn is_waiting(&self) -> bool {
        self.columns.contains(&(0, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SelectedTime;
    use crate::report::{Amount, Scope};
    use crate::units::Weight;

    fn part(bin: u64, weight: u64, is_counted: bool) -> TimelinePart {
        TimelinePart { bin, state: None, is_counted, amount: Amount { weight: Weight::nanos(weight), samples: 1 } }
    }

    /// A timeline whose bins are all selected.
    fn timeline(bins: std::ops::Range<u64>, line: TimelineLine) -> Timeline {
        let selected = SelectedTime::until(Nanos::from_nanos(10 * bins.end));
        Timeline { bin: Nanos::from_nanos(10), bins, selected, lines: vec![line] }
    }

    #[test]
    fn blocks_are_eighths_of_the_full_height() {
        let parts = vec![part(5, 10, true), part(6, 3, false), part(8, 1, true), part(9, 25, true), part(10, 5, true)];
        let counted = Amount { weight: Weight::nanos(41), samples: 4 };
        let line = TimelineLine { scope: Scope::All, counted, parts };
        let timeline = timeline(5..11, line);
        let columns = Columns::new(&timeline, &Style::default());
        let blocks = columns.of(timeline.lines.iter());
        assert_eq!(
            (columns.count, blocks.weight, blocks.peak, blocks.highest),
            (6, 41, (25, Nanos::from_nanos(10)), 25)
        );
        assert_eq!((blocks.text(10).as_str(), blocks.is_waiting()), ("█· ▁█▄", true));
        assert_eq!(blocks.text(25), "▄· ▁█▂");
    }

    #[test]
    fn joins_bins_into_columns_if_space_is_short() {
        let parts = (0..33).map(|bin| part(bin, 10, true)).collect();
        let counted = Amount { weight: Weight::nanos(330), samples: 33 };
        let line = TimelineLine { scope: Scope::All, counted, parts };
        let timeline = timeline(0..33, line);
        let columns = Columns::new(&timeline, &Style { width: Some(20), ..Style::default() });
        assert_eq!((columns.bins_each, columns.count, columns.length()), (3, 11, 30));
        assert_eq!(columns.of(timeline.lines.iter()).text(30), "█".repeat(11));
        let timeline = Timeline { bins: 0..26, ..timeline };
        let columns = Columns::new(&timeline, &Style { width: Some(20), ..Style::default() });
        assert_eq!((columns.bins_each, columns.count), (2, 13));
    }
}
