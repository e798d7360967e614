//! Weights over time: a line of blocks for each thread, or for what else is separated.
//!
//! ```text
//! each column is 5 ms, from 00:00.100 to 00:00.140
//! full height is one core, of all together 120.0%; · samples of states that do not count
//!      ms   mean    peak            thread
//!  30.000  75.0%  120.0%  ▅█▂ ▃▅▂▁  all
//!  20.000  50.0%  100.0%  ▅█▂ ··▂▁  Main Thread (0x2a101)  Orchard (4150)
//! ```

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::blocks::{Blocks, Columns, WAITING};
use super::scale::Scale;
use super::style::{Style, Tone, cut, fit, pad};
use super::words::{clock, share, short_time};
use crate::report::scope_labels;
use crate::report::{Report, SeparateBy, SeriesReport, Timeline, TimelineLine};
use crate::units::{Nanos, Unit, Weight};

/// Writes the timeline of a series.
pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if report.recording.profile.sums().len() > 0 {
        return writeln!(out, "samples were added up while they were read: their times are not known");
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
    // A thread cannot run on more than one core. Other scopes are scaled to the heaviest of them.
    let is_core = series.unit == Unit::Nanoseconds && report.options.separate_by == SeparateBy::Thread;
    let highest = lines.iter().map(|blocks| blocks.highest).max().unwrap_or(0);
    let full = if is_core { columns.length() } else { highest };
    let mut full_text = if is_core { "one core".to_owned() } else { rates.with_unit(full, columns.length()) };
    if let Some(all) = &all {
        full_text += &format!(", of all together {}", rates.with_unit(all.highest, columns.length()));
    }
    let is_waiting = all.iter().chain(&lines).any(Blocks::is_waiting);
    legend(&timeline, &columns, &full_text, is_waiting, style, out)?;
    let mut rows = Vec::new();
    if let Some(all) = &all {
        rows.push((all, all.highest, vec!["all".to_owned()]));
    }
    for (line, blocks) in shown.iter().zip(&lines) {
        let mut labels = scope_labels(&report.recording.profile, line.scope);
        labels.reverse();
        rows.push((blocks, full, labels));
    }
    let table = Table::new(report, series, &timeline, &rates, &columns);
    table.write(&rows, style, out)?;
    if hidden.is_empty() { Ok(()) } else { table.hidden(&hidden, least, style, out) }
}

/// Writes the meaning of a column of blocks.
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
    // Bins are mostly longer than a millisecond.
    let [start, end] = [&start, &end].map(|time| time.strip_suffix(".000").unwrap_or(time));
    let column = short_time(Nanos::from_nanos(columns.length()));
    let bins = match columns.bins_each {
        1 => String::new(),
        several => format!(" ({several} bins)"),
    };
    let time = format!("each column is {column}{bins}, from {start} to {end}");
    let waiting = if is_waiting { format!("; {WAITING} samples of states that do not count") } else { String::new() };
    for line in [time, format!("full height is {full}{waiting}")] {
        writeln!(out, "{}", style.paint(Tone::Dim, &fit(&line, style.width)))?;
    }
    Ok(())
}

/// Weights per time: percent of one core, or a number per second.
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
        if self.unit == Unit::Nanoseconds { text } else { format!("{text} {}/s", self.scale.title()) }
    }

    fn title(&self, what: &str) -> String {
        match self.unit {
            Unit::Nanoseconds => what.to_owned(),
            // The column of weights has just named it.
            Unit::Samples => format!("{what}/s"),
            Unit::Cycles | Unit::PmcEvents => format!("{what} {}/s", self.scale.title()),
        }
    }
}

fn per_second(weight: u64, nanos: u64) -> u64 {
    let rate = u128::from(weight) * 1_000_000_000 / u128::from(nanos.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Weight, mean, peak, blocks, names.
struct Table<'t> {
    rates: &'t Rates,
    scale: Scale,
    /// The selected time.
    length: u64,
    blocks: usize,
    /// The words for a line's subject: one, and several.
    what: [&'static str; 2],
}

impl<'t> Table<'t> {
    fn new(
        report: &Report<'_>,
        series: &SeriesReport,
        timeline: &Timeline,
        rates: &'t Rates,
        columns: &Columns<'_>,
    ) -> Self {
        let what = match report.options.separate_by {
            SeparateBy::Thread => ["thread", "threads"],
            SeparateBy::Process => ["process", "processes"],
            SeparateBy::State => ["state", "states"],
            SeparateBy::CoreKind => ["kind of core", "kinds of cores"],
            SeparateBy::Nothing => ["", ""],
        };
        let length = timeline.selected.length().as_nanos();
        Self { rates, scale: Scale::of(series.counted.weight), length, blocks: columns.count, what }
    }

    fn numbers(&self, blocks: &Blocks) -> [String; 3] {
        let (mean, peak) =
            (self.rates.text(blocks.weight, self.length), self.rates.text(blocks.peak.0, blocks.peak.1.as_nanos()));
        [self.scale.number(blocks.weight), mean, peak]
    }

    fn write(&self, rows: &[(&Blocks, u64, Vec<String>)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let titles = [self.scale.title().to_owned(), self.rates.title("mean"), self.rates.title("peak")];
        let numbers: Vec<[String; 3]> = rows.iter().map(|(blocks, _, _)| self.numbers(blocks)).collect();
        let mut widths = [11, 7, 7];
        for texts in numbers.iter().chain([&titles]) {
            widths.iter_mut().zip(texts).for_each(|(width, text)| *width = (*width).max(text.width()));
        }
        let line = |texts: &[String; 3]| -> [String; 3] {
            std::array::from_fn(|index| format!("{}{}", " ".repeat(widths[index] - texts[index].width()), texts[index]))
        };
        let header = format!("{}  {}  {}", line(&titles).join(" "), " ".repeat(self.blocks), self.what[0]);
        writeln!(out, "{}", style.paint(Tone::Dim, fit(&header, style.width).trim_end()))?;
        let used = widths.iter().sum::<usize>() + 2 + 2 + self.blocks + 2;
        for ((blocks, full, labels), numbers) in rows.iter().zip(&numbers) {
            let [weight, mean, peak] = line(numbers);
            let (name, owner) =
                labels.split_first().map_or(("", String::new()), |(name, rest)| (name, rest.join("  ")));
            let (name, owner) = style.two_parts(name, &owner, used);
            let weight = style.paint(Tone::Weight, &weight);
            let blocks = pad(&blocks.text(*full), self.blocks);
            writeln!(out, "{}", format!("{weight} {mean} {peak}  {blocks}  {name}{owner}").trim_end())?;
        }
        Ok(())
    }

    /// `     0.500  12 more threads below 1% each`.
    fn hidden(&self, hidden: &[&TimelineLine], least: f64, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let weight = hidden.iter().map(|line| line.counted.weight.value).sum();
        let what = self.what[usize::from(hidden.len() != 1)];
        let line = format!("{:>11}  {} more {what} below {least}%", self.scale.number(weight), hidden.len());
        writeln!(out, "{}", style.paint(Tone::Dim, &cut(&line, style.width)))
    }
}
