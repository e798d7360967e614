//! Source files with what their lines weigh.

use std::io::{self, Write};

use super::style::{Style, Tone, cut, fit};
use super::words::{Scale, below_limit, count};
use crate::calltree::{KeySums, Pruning, percent};
use crate::report::{AnnotatedFile, Report, SeriesReport};

/// The least width of text that shows shares.
const WIDE: usize = 100;
/// The replacement for a tab.
const TAB: &str = "    ";

/// Writes the files with samples, heaviest first, and the names of files without text.
pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(files) = report.annotated_files(series) else { return Ok(()) };
    let Pruning { min_percent, min_weight, .. } = report.options.pruning;
    let table = Table {
        scale: Scale::of(series.counted.weight),
        total: series.counted.weight.value,
        has_shares: style.width.is_none_or(|width| width >= WIDE),
        style,
    };
    let is_shown = |file: &&AnnotatedFile<'_>| {
        table.share(file.sums.all_weight) >= min_percent && file.sums.all_weight >= min_weight
    };
    let (shown, hidden): (Vec<&AnnotatedFile<'_>>, Vec<&AnnotatedFile<'_>>) = files.iter().partition(is_shown);
    for file in &shown {
        if let Ok(from) = file.file {
            table.file(file, from, out)?;
        }
    }
    let missing: Vec<(&AnnotatedFile<'_>, &str)> =
        shown.iter().filter_map(|file| Some((*file, file.file.err()?))).collect();
    if !missing.is_empty() {
        let title = format!("{} not found", count(missing.len() as u64, "source file"));
        writeln!(out, "\n{}", style.paint(Tone::Warning, &title))?;
    }
    for (file, why) in missing {
        let (name, why) = style.two_parts(file.path, why, table.width() + 1);
        writeln!(out, "{} {name}{why}", table.weights(&file.sums))?;
    }
    if !hidden.is_empty() {
        let limit = below_limit(min_percent, min_weight, series.unit);
        let note = format!("{} {limit}", count(hidden.len() as u64, "more source file"));
        writeln!(out, "\n{}", style.paint(Tone::Dim, &note))?;
    }
    Ok(())
}

/// The layout of the lines of all files.
struct Table<'s> {
    scale: Scale,
    total: u64,
    has_shares: bool,
    style: &'s Style,
}

impl Table<'_> {
    fn share(&self, weight: u64) -> f64 {
        percent(weight, self.total)
    }

    /// Columns of the weights, and a space.
    fn width(&self) -> usize {
        if self.has_shares { 2 * 19 } else { 2 * 12 }
    }

    fn file(&self, file: &AnnotatedFile<'_>, from: &str, out: &mut dyn Write) -> io::Result<()> {
        let origin = if from == file.path { String::new() } else { format!("from {from}") };
        let (path, origin) = self.style.two_parts(file.path, &origin, self.width() + 1);
        let path = self.style.paint(Tone::Title, &path);
        writeln!(out, "\n{} {path}{origin}", self.weights(&file.sums))?;
        let digits = file.lines.last().map_or(1, |line| line.line.to_string().len());
        let room = self.style.width.map(|width| width.saturating_sub(self.width() + digits + 3));
        let mut expected = file.lines.first().map_or(1, |line| line.line);
        for line in &file.lines {
            if line.line > expected {
                writeln!(
                    out,
                    "{}{}",
                    " ".repeat(self.width()),
                    self.style.paint(Tone::Dim, &format!("{:>digits$}", "…"))
                )?;
            }
            expected = line.line.saturating_add(1);
            let has_weight = line.sums.all_samples > 0;
            let weights = if has_weight { self.weights(&line.sums) } else { " ".repeat(self.width()) };
            let number = format!("{:>digits$}", line.line);
            let number = if has_weight { number } else { self.style.paint(Tone::Dim, &number) };
            let text = line.text.map_or_else(
                || self.style.paint(Tone::Warning, &fit("the file found is shorter", room)),
                |text| cut(&text.trim_end().replace('\t', TAB), room),
            );
            writeln!(out, "{}", format!("{weights}{number}  {text}").trim_end())?;
        }
        Ok(())
    }

    /// Self and all weight, each with its share if there is space; nothing for a weight of zero.
    fn weights(&self, sums: &KeySums) -> String {
        let field = |weight: u64, tone: Option<Tone>| {
            let number = if weight > 0 { self.scale.number(weight) } else { String::new() };
            let share = match (self.has_shares, weight) {
                (false, _) => String::new(),
                (true, 0) => " ".repeat(7),
                (true, _) => format!(" {:>5.1}%", self.share(weight)),
            };
            let number = format!("{number:>11}");
            tone.map_or(number.clone(), |tone| self.style.paint(tone, &number)) + &share + " "
        };
        field(sums.self_weight, Some(Tone::Weight)) + &field(sums.all_weight, None)
    }
}
