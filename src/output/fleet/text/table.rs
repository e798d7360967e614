//! Tables of numbers with a name at the end, of as many columns as fit.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::notes::{Cell, Footnotes};
use super::page::Page;
use crate::output::text::style::{Tone, clean};

/// A name gets this much room, if it needs it, before columns are left out.
const NAME_ROOM: usize = 26;

/// What rows are sorted by is kept as long as anything.
pub(super) const SORTED: u32 = 100;

/// A column.
pub(super) struct Column {
    /// Above its numbers; it ends as a [`Cell`] does.
    pub(super) header: String,
    /// The colour of its numbers.
    pub(super) tone: Option<Tone>,
    /// Where there is no room, columns go in ascending order of this.
    pub(super) keep: u32,
}

impl Column {
    pub(super) fn new(header: &str, keep: u32) -> Self {
        Self { header: format!("{header} "), tone: None, keep }
    }
}

/// A row.
pub(super) struct Row {
    /// As many as columns.
    pub(super) cells: Vec<Cell>,
    pub(super) name: String,
    /// What the name belongs to; it gives way first.
    pub(super) owner: String,
    /// The colour of all of it.
    pub(super) tone: Option<Tone>,
}

/// A table.
pub(super) struct Table {
    /// Above the names.
    pub(super) names: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

impl Table {
    /// How many columns of the terminal a table column takes, with the space after it.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        let widest = cells.map(|cell| cell.text.width()).max().unwrap_or(0);
        widest.max(self.columns[column].header.width()) + 1
    }

    fn name_width(&self) -> usize {
        let whole = |row: &Row| row.name.width() + if row.owner.is_empty() { 0 } else { row.owner.width() + 2 };
        self.rows.iter().map(whole).max().unwrap_or(0).max(self.names.width())
    }

    /// Whether all columns fit, with some room for names.
    pub(super) fn fits(&self, width: Option<usize>) -> bool {
        let used: usize = (0..self.columns.len()).map(|column| self.width(column)).sum();
        width.is_none_or(|width| used + self.name_width().min(NAME_ROOM) <= width)
    }

    /// Writes it, without the columns that have no room. The marks that were written are added to `footnotes`.
    pub(super) fn write(mut self, footnotes: &mut Footnotes, page: &mut Page<'_>) -> io::Result<()> {
        self.give_up_empty_columns();
        while self.columns.len() > 1 && !self.fits(page.style.width) {
            let keeps = self.columns.iter().enumerate().min_by_key(|(_, column)| column.keep);
            let Some(column) = keeps.map(|(index, _)| index) else { break };
            page.leave_out(self.columns[column].header.trim_end_matches([' ', '*']));
            self.columns.remove(column);
            self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
        }
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let left = |text: &str, index: usize| format!("{}{text} ", " ".repeat(widths[index] - 1 - text.width()));
        let header: String =
            self.columns.iter().enumerate().map(|(index, column)| left(&column.header, index)).collect();
        page.painted(Tone::Dim, &format!("{header}{}", self.names))?;
        for row in &self.rows {
            row.cells.iter().for_each(|cell| footnotes.add(&cell.notes));
            self.row(row, &left, page)?;
        }
        Ok(())
    }

    /// A column of nothing but n/a goes first, unless rows are sorted by it.
    fn give_up_empty_columns(&mut self) {
        for (index, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| column.keep < SORTED) {
            let mut rows = self.rows.iter().filter(|row| row.tone.is_none());
            if rows.all(|row| row.cells.get(index).is_some_and(Cell::is_too_few)) {
                column.keep = 0;
            }
        }
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
        Self { cells, name: clean(name), owner: clean(owner), tone: None }
    }

    pub(super) fn dim(cells: Vec<Cell>, name: &str) -> Self {
        Self { tone: Some(Tone::Dim), ..Self::new(cells, name, "") }
    }
}
