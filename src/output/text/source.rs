//! Source files with the weights of their lines.

use std::io::{self, Write};

use super::style::{Style, Tone, cut, fit};
use super::table::{Cell, Column, KEPT, Table, write_left_out};
use super::words::below_limit;
use crate::calltree::{KeySums, Pruning, percent};
use crate::report::{AnnotatedFile, Report, SeriesReport};
use crate::units::{Scale, several};

/// The width reserved for source lines before percentages are shown.
const SOURCE: usize = 60;
/// The replacement for a tab.
const TAB: &str = "    ";

/// Writes the files with samples, heaviest first, and the names of files without text.
pub(super) fn write(report: &Report<'_>, series: &SeriesReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(files) = report.annotated_files(series) else { return Ok(()) };
    let Pruning { min_percent, min_weight, .. } = report.options.pruning;
    let scale = Scale::of(series.counted.weight);
    let widest = scale.number(series.counted.weight.value).len().max(11);
    let number = |title: &str| Column::new(title, KEPT).sized(widest, 1);
    let share = |title: &str, rank: u32| Column::new(title, rank).sized(6, 1);
    let columns = vec![number("self").toned(Tone::Weight), share("self %", 1), number("total"), share("total %", 2)];
    let mut table = Table::new(columns, "source", SOURCE, Vec::new());
    let left_out = table.fit(style.width);
    let lines = FileLines { scale, total: series.counted.weight.value, table, style };
    let is_shown = |file: &&AnnotatedFile<'_>| {
        lines.share(file.sums.all_weight) >= min_percent && file.sums.all_weight >= min_weight
    };
    let (shown, hidden): (Vec<&AnnotatedFile<'_>>, Vec<&AnnotatedFile<'_>>) = files.iter().partition(is_shown);
    for file in &shown {
        if let Ok(from) = file.file {
            lines.file(file, from, out)?;
        }
    }
    let missing: Vec<(&AnnotatedFile<'_>, &str)> =
        shown.iter().filter_map(|file| Some((*file, file.file.err()?))).collect();
    if !missing.is_empty() {
        let title = format!("{} not found", several(missing.len() as u64, "source file"));
        writeln!(out, "\n{}", style.paint(Tone::Warning, &title))?;
    }
    for (file, why) in missing {
        let (name, why) = style.two_parts(file.path, why, lines.table.used());
        writeln!(out, "{}{name}{why}", lines.weights(&file.sums))?;
    }
    if !hidden.is_empty() {
        let limit = below_limit(min_percent, min_weight, series.unit);
        let note = format!("{} {limit}", several(hidden.len() as u64, "more source file"));
        writeln!(out, "\n{}", style.paint(Tone::Dim, &note))?;
    }
    write_left_out(&left_out, "", style, out)
}

/// The layout that the lines of all files share.
struct FileLines<'s> {
    scale: Scale,
    total: u64,
    table: Table,
    style: &'s Style,
}

impl FileLines<'_> {
    fn share(&self, weight: u64) -> f64 {
        percent(weight, self.total)
    }

    fn file(&self, file: &AnnotatedFile<'_>, from: &str, out: &mut dyn Write) -> io::Result<()> {
        let left = self.table.used();
        let origin = if from == file.path { String::new() } else { format!("from {from}") };
        let (path, origin) = self.style.two_parts(file.path, &origin, left);
        let path = self.style.paint(Tone::Title, &path);
        writeln!(out, "\n{}{path}{origin}", self.weights(&file.sums))?;
        let digits = file.lines.last().map_or(1, |line| line.line.to_string().len());
        let room = self.style.width.map(|width| width.saturating_sub(left + digits + 2));
        let mut expected = file.lines.first().map_or(1, |line| line.line);
        for line in &file.lines {
            if line.line > expected {
                writeln!(out, "{:left$}{}", "", self.style.paint(Tone::Dim, &format!("{:>digits$}", "…")))?;
            }
            expected = line.line.saturating_add(1);
            let number = format!("{:>digits$}", line.line);
            let number = if line.sums.all_samples > 0 { number } else { self.style.paint(Tone::Dim, &number) };
            let text = line.text.map_or_else(
                || self.style.paint(Tone::Warning, &fit("the file found is shorter", room)),
                |text| cut(&text.trim_end().replace('\t', TAB), room),
            );
            writeln!(out, "{}", format!("{}{number}  {text}", self.weights(&line.sums)).trim_end())?;
        }
        Ok(())
    }

    /// Self and total weight, each with its percentage if there is space; empty for a weight of zero.
    fn weights(&self, sums: &KeySums) -> String {
        let cells = [sums.self_weight, sums.all_weight].map(|weight| match weight {
            0 => [String::new(), String::new()],
            _ => [self.scale.number(weight), format!("{:.1}%", self.share(weight))],
        });
        self.table.numbers(&cells.concat().into_iter().map(Cell::from).collect::<Vec<_>>(), self.style)
    }
}
