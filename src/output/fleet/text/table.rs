//! Lines that fit the width, and tables of as many columns as fit, with marks at numbers that are explained below.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use super::labels;
use crate::fleet::{Caution, FleetOptions, Summary};
use crate::output::fleet::many;
use crate::output::fleet::measures::Measures;
use crate::output::text::Style;
use crate::output::text::style::{Tone, clean, fit, wrap};
use crate::stats::{Estimate, Quantile, Support};

/// The page that a report is written on, and the columns that did not fit.
pub(super) struct Page<'p> {
    pub(super) style: &'p Style,
    /// The lines so far.
    pub(super) text: String,
    /// The marks of tables, and which of them are explained.
    pub(super) footnotes: Footnotes,
    /// Columns of tables that were left out, each once.
    left_out: Vec<String>,
    /// Columns that all tables of values leave out.
    pub(super) left_out_everywhere: BTreeSet<String>,
}

impl<'p> Page<'p> {
    /// A page whose tables of values omit these columns, and more if they do not fit.
    pub(super) fn new(style: &'p Style, left_out_everywhere: BTreeSet<String>) -> Self {
        let (text, footnotes, left_out) = Default::default();
        Self { style, text, footnotes, left_out, left_out_everywhere }
    }

    /// Writes a line unchanged.
    pub(super) fn line(&mut self, text: &str) {
        self.text += text.trim_end();
        self.text.push('\n');
    }

    /// Writes a line in one colour, cut if it is too long.
    pub(super) fn painted(&mut self, tone: Tone, text: &str) {
        let text = fit(text, self.style.width);
        self.line(&self.style.paint(tone, text.trim_end()))
    }

    /// The title of a section, below an empty line.
    pub(super) fn title(&mut self, text: &str) {
        self.line("");
        self.sentence(Some(Tone::Title), 0, text)
    }

    /// Writes sentences in as many lines as they need; all lines after the first are indented by two more spaces.
    pub(super) fn sentence(&mut self, tone: Option<Tone>, indent: usize, text: &str) {
        for line in wrap(text, indent, self.style.width) {
            let line = tone.map_or_else(|| line.clone(), |tone| self.style.paint(tone, &line));
            self.line(&line);
        }
    }

    /// Remembers a column that did not fit, in one table or `everywhere`.
    pub(super) fn leave_out(&mut self, column: &str, everywhere: bool) {
        if everywhere {
            self.left_out_everywhere.insert(column.to_owned());
        }
        if !self.left_out.iter().any(|known| known == column) {
            self.left_out.push(column.to_owned());
        }
    }

    /// Explains the marks that were written since the last time.
    pub(super) fn explain_marks(&mut self, options: &FleetOptions) {
        let texts = self.footnotes.take(options);
        texts.into_iter().for_each(|text| self.sentence(Some(Tone::Dim), 0, &text))
    }

    /// Names the columns that did not fit.
    pub(super) fn say_what_was_left_out(&mut self) {
        if self.left_out.is_empty() {
            return;
        }
        let columns = self.left_out.join(", ");
        self.line("");
        self.sentence(
            Some(Tone::Dim),
            0,
            &format!("Columns that do not fit at this width: {columns}. CSV and JSON have all."),
        )
    }
}

/// A name gets a third of the width, but at least and at most this, if it needs it, before columns are left out.
const NAME_ROOM: (usize, usize) = (16, 26);

/// The rank of the column that rows are sorted by: it is kept as long as any.
pub(super) const SORTED: u32 = 100;

/// A column.
pub(super) struct Column {
    /// Above its numbers; it ends as a [`Cell`] does.
    pub(super) header: String,
    /// The colour of its numbers.
    pub(super) tone: Option<Tone>,
    /// The rank of the column: if the table is too wide, columns are dropped in ascending order of it.
    pub(super) keep: u32,
}

impl Column {
    pub(super) fn new(header: &str, keep: u32) -> Self {
        Self { header: format!("{header} "), tone: None, keep }
    }

    /// The header without its mark.
    fn title(&self) -> &str {
        self.header.trim_end_matches([' ', '*'])
    }
}

/// A row.
pub(super) struct Row {
    /// As many as columns.
    pub(super) cells: Vec<Cell>,
    pub(super) name: String,
    /// The owner of the name; it is cut first.
    pub(super) owner: String,
    /// The values that a cohort's name is made of, which are cut one by one; empty where the name is something else.
    pub(super) labels: Vec<String>,
    /// The colour of all of it.
    pub(super) tone: Option<Tone>,
}

/// A table.
pub(super) struct Table {
    /// Above the names.
    pub(super) names: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// True if a column that does not fit here is dropped from all similar tables of the page, so that they look the
    /// same.
    pub(super) is_alike: bool,
}

impl Table {
    /// The number of terminal columns that a table column takes, with the space after it.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        let widest = cells.map(|cell| cell.text.width()).max().unwrap_or(0);
        widest.max(self.columns[column].header.width()) + 1
    }

    fn name_width(&self) -> usize {
        let whole = |row: &Row| row.name.width() + if row.owner.is_empty() { 0 } else { row.owner.width() + 2 };
        self.rows.iter().map(whole).max().unwrap_or(0).max(self.names.width())
    }

    /// True if all columns fit, with some space for names.
    pub(super) fn fits(&self, width: Option<usize>) -> bool {
        let used: usize = (0..self.columns.len()).map(|column| self.width(column)).sum();
        let (least, most) = NAME_ROOM;
        width.is_none_or(|width| used + self.name_width().min((width / 3).clamp(least, most)) <= width)
    }

    /// Writes the table without the columns that do not fit.
    pub(super) fn write(mut self, page: &mut Page<'_>) {
        if self.is_alike {
            let gone = |column: &Column| page.left_out_everywhere.contains(column.title());
            let gone: Vec<usize> = (0..self.columns.len()).filter(|&index| gone(&self.columns[index])).collect();
            gone.into_iter().rev().for_each(|column| self.leave_out(column, page));
        }
        while self.columns.len() > 1 && !self.fits(page.style.width) {
            let keeps = self.columns.iter().enumerate().min_by_key(|(_, column)| column.keep);
            let Some(column) = keeps.map(|(index, _)| index) else { break };
            self.leave_out(column, page);
        }
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        self.name_cohorts(page.style.width.map(|width| width.saturating_sub(widths.iter().sum())));
        let left = |text: &str, index: usize| format!("{}{text} ", " ".repeat(widths[index] - 1 - text.width()));
        let header: String =
            self.columns.iter().enumerate().map(|(index, column)| left(&column.header, index)).collect();
        page.painted(Tone::Dim, &format!("{header}{}", self.names));
        for row in &self.rows {
            row.cells.iter().for_each(|cell| page.footnotes.add(&cell.notes));
            self.row(row, &left, page);
        }
    }

    fn leave_out(&mut self, column: usize, page: &mut Page<'_>) {
        page.leave_out(self.columns[column].title(), self.is_alike);
        self.columns.remove(column);
        self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
    }

    /// Cuts the names of cohorts so that they still differ.
    fn name_cohorts(&mut self, room: Option<usize>) {
        let labels: Vec<&[String]> =
            self.rows.iter().map(|row| row.labels.as_slice()).filter(|labels| !labels.is_empty()).collect();
        let names = labels::cut(&labels, room);
        let rows = self.rows.iter_mut().filter(|row| !row.labels.is_empty());
        rows.zip(names).for_each(|(row, name)| row.name = name);
    }

    fn row(&self, row: &Row, left: &dyn Fn(&str, usize) -> String, page: &mut Page<'_>) {
        let cells: Vec<String> = row.cells.iter().enumerate().map(|(index, cell)| left(&cell.text, index)).collect();
        if let Some(tone) = row.tone {
            return page.painted(tone, &format!("{}{}", cells.concat(), row.name));
        }
        let used = cells.iter().map(|cell| cell.width()).sum();
        let paint = |(cell, column): (&String, &Column)| match column.tone {
            Some(tone) => page.style.paint(tone, cell),
            None => cell.clone(),
        };
        let numbers: String = cells.iter().zip(&self.columns).map(paint).collect();
        let (name, owner) = page.style.two_parts(&row.name, &row.owner, used);
        page.line(&format!("{numbers}{name}{owner}"))
    }
}

impl Row {
    pub(super) fn new(cells: Vec<Cell>, name: &str, owner: &str) -> Self {
        Self { cells, name: clean(name), owner: clean(owner), labels: Vec::new(), tone: None }
    }

    /// A row of a cohort.
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
    /// `n/a`: the number of runs needed.
    TooFew(Quantile, u64),
    /// `*`: the number of runs needed for both ends of the interval.
    OneSided(Quantile, u64),
    /// `?`: an end of an interval that is not known.
    UnknownEnd,
    /// Nothing: a percentile of one run.
    OneRun,
    /// `~`: no more than sampling noise.
    Noise,
    /// `!`: the mean is above P90.
    HighMean,
}

/// A number in a table. It ends with a mark or a space, so that decimal points are aligned.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) notes: Vec<Note>,
}

impl Cell {
    /// A number without a mark.
    pub(super) fn new(text: &str) -> Self {
        Self { text: format!("{text} "), notes: Vec::new() }
    }

    /// A number, or a dash.
    pub(super) fn value(value: Option<f64>, measures: Measures) -> Self {
        Self::new(&value.map_or_else(|| "n/a".to_owned(), |value| measures.number(value)))
    }

    /// A number directly followed by a mark: the padding of a short zero comes after the mark.
    fn marked(text: &str, mark: &str, note: Note) -> Self {
        let number = text.trim_end();
        Self { text: format!("{number}{mark}{}", &text[number.len()..]), notes: vec![note] }
    }

    /// The cell for a percentile of one run: empty.
    pub(super) fn one_run() -> Self {
        Self { text: String::new(), notes: vec![Note::OneRun] }
    }

    /// A percentile.
    pub(super) fn estimate(estimate: &Estimate, measures: Measures, options: &FleetOptions) -> Self {
        let quantile = estimate.quantile;
        match (estimate.support, estimate.value) {
            (Support::TooFew { needed }, _) => Self::marked("n/a", " ", Note::TooFew(quantile, needed)),
            (Support::Enough, value) | (_, value @ None) => Self::value(value, measures),
            (Support::UpperUnknown, Some(value)) => {
                let needed = quantile.needed_for_interval(options.confidence);
                Self::marked(&measures.number(value), "*", Note::OneSided(quantile, needed))
            }
        }
    }

    /// Marks the number as explained by sampling noise.
    pub(super) fn noise(self) -> Self {
        let mut notes = self.notes;
        notes.push(Note::Noise);
        Self { text: format!("~{}", self.text), notes }
    }

    /// The mean.
    pub(super) fn mean(summary: &Summary, measures: Measures) -> Self {
        let is_high = summary.cautions.contains(&Caution::MeanAboveP90);
        match summary.mean.filter(|_| is_high) {
            Some(mean) => Self::marked(&measures.number(mean), "!", Note::HighMean),
            None => Self::value(summary.mean, measures),
        }
    }

    /// An end of an interval.
    pub(super) fn end(end: Option<f64>, measures: Measures) -> Self {
        end.map_or_else(|| Self::marked("?", " ", Note::UnknownEnd), |value| Self::new(&measures.number(value)))
    }

    /// True if there are too few runs for it.
    pub(super) fn is_too_few(&self) -> bool {
        matches!(self.notes[..], [Note::TooFew(..), ..])
    }
}

/// The marks that were written.
#[derive(Default)]
pub(super) struct Footnotes {
    /// The marks to explain.
    notes: BTreeSet<Note>,
    /// The marks that were explained.
    explained: BTreeSet<Note>,
}

impl Footnotes {
    pub(super) fn add(&mut self, notes: &[Note]) {
        self.notes.extend(notes.iter().filter(|note| !self.explained.contains(note)));
    }

    /// Sentences on new marks: each mark is explained once.
    pub(super) fn take(&mut self, options: &FleetOptions) -> Vec<String> {
        let texts = self.texts(options);
        self.explained.append(&mut self.notes);
        texts
    }

    fn texts(&self, options: &FleetOptions) -> Vec<String> {
        let has = |note: Note| self.notes.contains(&note);
        let texts = [
            self.too_few(),
            self.one_sided(options),
            has(Note::UnknownEnd)
                .then(|| "?: no run is that far out, so this end of the interval is unknown.".to_owned()),
            has(Note::OneRun).then(|| "1 run: percentiles need more; max and mean are its value.".to_owned()),
            has(Note::Noise)
                .then(|| "~: no more than sampling noise in identical runs; no evidence that runs differ.".to_owned()),
            has(Note::HighMean).then(|| "!: the mean is above P90; a few runs carry it.".to_owned()),
        ];
        texts.into_iter().flatten().collect()
    }

    fn too_few(&self) -> Option<String> {
        let needs = self.notes.iter().filter_map(|note| match note {
            Note::TooFew(quantile, needed) => Some(format!("{quantile} needs {}", many(*needed, "run"))),
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
            &u64::MAX => format!("{quantile} has none, however many runs there are"),
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
