//! Tables of numbers with a name at the end, of as many columns as fit.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::labels;
use super::notes::Cell;
use super::page::Page;
use crate::output::text::style::{Tone, clean};

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
    pub(super) fn write(mut self, page: &mut Page<'_>) -> io::Result<()> {
        if self.is_alike {
            let gone = |column: &Column| page.has_left_out_everywhere(column.title());
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
        page.painted(Tone::Dim, &format!("{header}{}", self.names))?;
        for row in &self.rows {
            row.cells.iter().for_each(|cell| page.footnotes.add(&cell.notes));
            self.row(row, &left, page)?;
        }
        Ok(())
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

    fn row(&self, row: &Row, left: &dyn Fn(&str, usize) -> String, page: &mut Page<'_>) -> io::Result<()> {
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
