//! Lines that fit the width, and tables with as many columns as fit. Marks next to numbers are explained below.

use std::collections::BTreeSet;

use super::labels;
use crate::fleet::{Caution, FleetOptions, Summary};
use crate::output::fleet::many;
use crate::output::fleet::measures::Measures;
use crate::output::text::Style;
use crate::output::text::style::{Tone, clean, wrap};
pub(super) use crate::output::text::table::Column;
use crate::output::text::table::{self as text, IN_FORMATS, left_out};
use crate::stats::{Estimate, Quantile, Support};

/// The page being written, and the columns that did not fit.
pub(super) struct Page<'p> {
    pub(super) style: &'p Style,
    /// The text so far.
    pub(super) text: String,
    /// The marks in tables, and which of them have been explained.
    pub(super) footnotes: Footnotes,
    /// The titles of columns that were left out, without duplicates.
    left_out: Vec<String>,
    /// Columns that all tables of values leave out.
    pub(super) left_out_everywhere: BTreeSet<String>,
}

impl<'p> Page<'p> {
    /// Creates a page whose tables of values omit these columns, and more if they do not fit.
    pub(super) fn new(style: &'p Style, left_out_everywhere: BTreeSet<String>) -> Self {
        let (text, footnotes, left_out) = Default::default();
        Self { style, text, footnotes, left_out, left_out_everywhere }
    }

    /// Writes a line verbatim.
    pub(super) fn line(&mut self, text: &str) {
        self.text += text.trim_end();
        self.text.push('\n');
    }

    /// Writes wrapped text in one colour.
    pub(super) fn painted(&mut self, tone: Tone, text: &str) {
        self.sentence(Some(tone), 0, text.trim_end())
    }

    /// Writes the title of a section, below an empty line.
    pub(super) fn title(&mut self, text: &str) {
        self.line("");
        self.sentence(Some(Tone::Title), 0, text)
    }

    /// Writes wrapped sentences. All lines after the first are indented by two more spaces.
    pub(super) fn sentence(&mut self, tone: Option<Tone>, indent: usize, text: &str) {
        for line in wrap(text, indent, self.style.width) {
            let line = tone.map_or_else(|| line.clone(), |tone| self.style.paint(tone, &line));
            self.line(&line);
        }
    }

    /// Records a column that did not fit, in one table or `everywhere`.
    pub(super) fn leave_out(&mut self, column: &str, everywhere: bool) {
        if everywhere {
            self.left_out_everywhere.insert(column.to_owned());
        }
        if !self.left_out.iter().any(|known| known == column) {
            self.left_out.push(column.to_owned());
        }
    }

    /// Explains the marks that were written since the last call.
    pub(super) fn explain_marks(&mut self, options: &FleetOptions) {
        let texts = self.footnotes.take(options);
        texts.into_iter().for_each(|text| self.sentence(Some(Tone::Dim), 0, &text))
    }

    /// Names the columns that did not fit.
    pub(super) fn say_what_was_left_out(&mut self) {
        if let Some(note) = left_out(&self.left_out, IN_FORMATS) {
            self.line("");
            self.sentence(Some(Tone::Dim), 0, &note)
        }
    }
}

/// The minimum and maximum width reserved for names, which otherwise is a third of the line. Columns are dropped if names need that space.
const NAME_ROOM: [usize; 2] = [16, 26];

/// The rank of the sort column, which is kept longest.
pub(super) const SORTED: u32 = 100;

/// A row of a [`Table`].
pub(super) struct Row {
    /// One cell per column.
    cells: Vec<Cell>,
    name: String,
    /// The owner of the name, which is shortened first.
    owner: String,
    /// The values that a cohort's name consists of, which are shortened one by one; empty for other names.
    labels: Vec<String>,
    /// The colour of the whole row.
    tone: Option<Tone>,
}

/// A table whose names may be shortened, and whose columns may be left out.
pub(super) struct Table {
    /// The title above the names.
    pub(super) names: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// True if a column that does not fit here is also dropped from all similar tables on the page, so that they look the same.
    pub(super) is_alike: bool,
}

impl Table {
    fn layout(&self, width: Option<usize>) -> text::Table {
        let cell = |cell: &Cell| text::Cell { mark: cell.mark, ..cell.text.clone().into() };
        let row = |row: &Row| text::Row {
            tone: row.tone,
            ..text::Row::new(row.cells.iter().map(cell), &row.name, &row.owner)
        };
        let [least, most] = NAME_ROOM;
        let names = width.map_or(most, |width| (width / 3).clamp(least, most));
        text::Table::new(self.columns.clone(), &self.names, names, self.rows.iter().map(row).collect())
    }

    /// True if all columns fit, with some space for names.
    pub(super) fn fits(&self, width: Option<usize>) -> bool {
        self.layout(width).fits(width)
    }

    /// Writes the table without the columns that do not fit.
    pub(super) fn write(self, page: &mut Page<'_>) {
        self.write_layout(self.layout(page.style.width), page);
    }

    /// Writes the table without empty columns and columns that do not fit.
    pub(super) fn write_filled(self, page: &mut Page<'_>) {
        self.write_layout(self.layout(page.style.width).without_empty(|text| !text.trim().is_empty()), page);
    }

    fn write_layout(&self, mut table: text::Table, page: &mut Page<'_>) {
        let style = page.style;
        if self.is_alike {
            let titles = table.columns.iter().map(|column| column.title.clone());
            let gone: Vec<String> = titles.filter(|title| page.left_out_everywhere.contains(title)).collect();
            table.columns.retain(|column| !gone.contains(&column.title));
            gone.iter().for_each(|column| page.leave_out(column, true));
        }
        table.fit(style.width).iter().for_each(|column| page.leave_out(column, self.is_alike));
        // Shorten the names of cohorts so that they remain distinct.
        let room = style.width.map(|width| width.saturating_sub(table.used()));
        let cohorts = |labels: &&[String]| !labels.is_empty();
        let labels: Vec<&[String]> = self.rows.iter().map(|row| row.labels.as_slice()).filter(cohorts).collect();
        let names = labels::cut(&labels, room);
        let rows = table.rows.iter_mut().zip(&self.rows).filter(|(_, row)| !row.labels.is_empty());
        rows.zip(names).for_each(|((row, _), name)| row.name = name);
        page.line(&table.header(style));
        for (row, shown) in self.rows.iter().zip(&table.rows) {
            table.shown().for_each(|column| page.footnotes.add(&row.cells[column].notes));
            page.line(&table.line(shown, style));
        }
    }
}

impl Row {
    pub(super) fn new(cells: Vec<Cell>, name: &str, owner: &str) -> Self {
        Self { cells, name: clean(name), owner: clean(owner), labels: Vec::new(), tone: None }
    }

    /// Creates the row of a cohort.
    pub(super) fn cohort(cells: Vec<Cell>, labels: Vec<String>) -> Self {
        Self { cells, name: labels.join(" · "), owner: String::new(), labels, tone: None }
    }

    pub(super) fn dim(cells: Vec<Cell>, name: &str) -> Self {
        Self { tone: Some(Tone::Dim), ..Self::new(cells, name, "") }
    }
}

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    /// `n/a`, with the number of runs needed.
    TooFew(Quantile, u64),
    /// `*`, with the number of runs needed for both ends of the interval.
    OneSided(Quantile, u64),
    /// `?`: an end of an interval is unknown.
    UnknownEnd,
    /// An empty cell, for a percentile of one run.
    OneRun,
    /// `~`: the value is within the sampling noise.
    Noise,
    /// `!`: the mean is above P90.
    HighMean,
}

/// A number in a table.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    text: String,
    /// The character after the number.
    mark: char,
    notes: Vec<Note>,
}

impl Default for Cell {
    fn default() -> Self {
        Self::new("")
    }
}

impl Cell {
    /// Creates a number without a mark.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), mark: ' ', notes: Vec::new() }
    }

    /// Creates a number, or `n/a` for `None`.
    pub(super) fn value(value: Option<f64>, measures: Measures) -> Self {
        Self::new(&value.map_or_else(|| "n/a".to_owned(), |value| measures.number(value)))
    }

    /// Creates a number directly followed by a mark. The padding of a zero without decimals comes after the mark.
    fn marked(text: &str, mark: char, note: Note) -> Self {
        let number = text.trim_end();
        match text[number.len()..].strip_prefix(' ') {
            Some(padding) => Self { text: format!("{number}{mark}{padding}"), mark: ' ', notes: vec![note] },
            None => Self { text: number.to_owned(), mark, notes: vec![note] },
        }
    }

    /// Removes the mark, because the column's mark replaces it or it is not explained.
    pub(super) fn plain(&mut self) {
        self.text = self.text.replace(['*', '!'], " ");
        self.mark = ' ';
    }

    /// The empty cell for a percentile of one run.
    pub(super) fn one_run() -> Self {
        Self { notes: vec![Note::OneRun], ..Self::default() }
    }

    /// A percentile.
    pub(super) fn estimate(estimate: &Estimate, measures: Measures, options: &FleetOptions) -> Self {
        let quantile = estimate.quantile;
        match (estimate.support, estimate.value) {
            (Support::TooFew { needed }, _) => Self::marked("n/a", ' ', Note::TooFew(quantile, needed)),
            (Support::Enough, value) | (_, value @ None) => Self::value(value, measures),
            (Support::UpperUnknown, Some(value)) => {
                let needed = quantile.needed_for_interval(options.confidence);
                Self::marked(&measures.number(value), '*', Note::OneSided(quantile, needed))
            }
        }
    }

    /// Marks the number as within the sampling noise.
    pub(super) fn noise(mut self) -> Self {
        self.notes.push(Note::Noise);
        Self { text: format!("~{}", self.text), ..self }
    }

    /// The mean.
    pub(super) fn mean(summary: &Summary, measures: Measures) -> Self {
        let is_high = summary.cautions.contains(&Caution::MeanAboveP90);
        match summary.mean.filter(|_| is_high) {
            Some(mean) => Self::marked(&measures.number(mean), '!', Note::HighMean),
            None => Self::value(summary.mean, measures),
        }
    }

    /// An end of an interval.
    pub(super) fn end(end: Option<f64>, measures: Measures) -> Self {
        end.map_or_else(|| Self::marked("?", ' ', Note::UnknownEnd), |value| Self::new(&measures.number(value)))
    }

    /// True if there are too few runs for the value.
    pub(super) fn is_too_few(&self) -> bool {
        matches!(self.notes[..], [Note::TooFew(..), ..])
    }
}

/// Collects the marks that were written.
#[derive(Default)]
pub(super) struct Footnotes {
    /// The marks that still need an explanation.
    notes: BTreeSet<Note>,
    /// The marks that were explained.
    explained: BTreeSet<Note>,
}

impl Footnotes {
    pub(super) fn add(&mut self, notes: &[Note]) {
        self.notes.extend(notes.iter().filter(|note| !self.explained.contains(note)));
    }

    /// Returns sentences that explain new marks. Each mark is explained once.
    pub(super) fn take(&mut self, options: &FleetOptions) -> Vec<String> {
        let texts = self.texts(options);
        self.explained.append(&mut self.notes);
        texts
    }

    fn texts(&self, options: &FleetOptions) -> Vec<String> {
        let has = |note: Note| self.notes.contains(&note);
        let texts = [
            self.too_few(options),
            self.one_sided(options),
            has(Note::UnknownEnd)
                .then(|| "?: no run is that far out, so this end of the interval is unknown.".to_owned()),
            has(Note::OneRun).then(|| "1 run: percentiles need more; max and mean are its value.".to_owned()),
            has(Note::Noise)
                .then(|| "~: no more than sampling noise in identical runs; no evidence that runs differ.".to_owned()),
            has(Note::HighMean).then(|| "!: the mean is above P90; a few runs dominate it.".to_owned()),
        ];
        texts.into_iter().flatten().collect()
    }

    fn too_few(&self, options: &FleetOptions) -> Option<String> {
        let equal = if options.is_weighted { " of equal weight" } else { "" };
        let needs = self.notes.iter().filter_map(|note| match note {
            Note::TooFew(quantile, needed) => Some(format!("{quantile} needs {}{equal}", many(*needed, "run"))),
            _ => None,
        });
        let needs: Vec<String> = needs.collect();
        let text = || format!("n/a: too few runs. {}; the largest value is in the column max.", needs.join(", "));
        (!needs.is_empty()).then(text)
    }

    fn one_sided(&self, options: &FleetOptions) -> Option<String> {
        let quantiles = self.notes.iter().filter_map(|note| match note {
            Note::OneSided(quantile, needed) => Some((*quantile, *needed)),
            _ => None,
        });
        let quantiles: Vec<(Quantile, u64)> = quantiles.collect();
        let (first, _) = quantiles.first()?;
        if options.is_weighted {
            return Some("*: no interval; percentiles by run weight have none.".to_owned());
        }
        let needs = quantiles.iter().map(|(quantile, needed)| match needed {
            &u64::MAX => format!("{quantile} has none, regardless of the number of runs"),
            needed => format!("{quantile} needs {} for it", many(*needed, "run")),
        });
        let side = if *first < Quantile::P50 { "outer" } else { "upper" };
        let needs: Vec<String> = needs.collect();
        Some(format!("*: {side} bound unknown at {}. {}.", options.confidence, needs.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words() {
        assert_eq!(wrap("one two three four", 2, Some(11)), ["  one two", "    three", "    four"]);
        assert_eq!(wrap("one two", 2, None), ["  one two"]);
        assert_eq!(wrap("abcdefghijklmnop bc", 0, Some(10)), ["abcde…op", "  bc"]);
        assert_eq!(wrap("", 1, Some(10)), [" "]);
    }
}
