//! Tables as text: columns of numbers and labels, then names with their owners, which take the remaining width.
//!
//! If space is short, columns shrink to their cells. Then columns are dropped: empty ones first, then in ascending order of their rank.
//! [`left_out`] names them. After that, labels lose their middle, then owners, then names.

use std::collections::BTreeMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::style::{LEAST_NAME, MIN_NAME, Style, Tone, clean, cut, fit, pad, wrap_behind};

/// The rank of columns that are dropped, from the last one on, only if names would otherwise get less than [`LEAST_NAME`] columns.
pub(in crate::output) const KEPT: u32 = u32::MAX;
/// The width reserved for function names, if they need it, before columns are dropped.
pub(in crate::output) const FUNCTIONS: usize = 36;
/// The minimum width of labels on a narrow terminal.
const LEAST_LABEL: usize = 8;
/// The spaces between columns.
const GAP: usize = 2;
/// Cells without a value: empty, a percentile of too few values, unknown.
const NO_VALUES: [&str; 3] = ["", "n/a", "–"];

/// A column to the left of the names.
#[derive(Clone, Debug)]
pub(in crate::output) struct Column {
    pub(in crate::output) title: String,
    /// The mark after the title, like [`Cell::mark`], if there is space between columns.
    pub(in crate::output) mark: char,
    /// The colour of cells that have no tone.
    tone: Option<Tone>,
    /// Columns with the lowest rank are dropped first.
    rank: u32,
    is_left: bool,
    least: usize,
    /// The width of the widest cell or the title, plus a space if the gap to the next column is small.
    content: usize,
    /// True if no cell has a value.
    is_empty: bool,
    /// The width to which cells are shortened before columns are dropped.
    narrow: usize,
    most: usize,
    /// The number of spaces before the next column.
    gap: usize,
    /// The index of the column before any were dropped.
    index: usize,
    width: usize,
}

impl Column {
    /// Creates a column of numbers, which are never shortened.
    pub(in crate::output) fn new(title: &str, rank: u32) -> Self {
        let (narrow, most) = (usize::MAX, usize::MAX);
        let title = title.to_owned();
        Self {
            title,
            mark: ' ',
            tone: None,
            rank,
            is_left: false,
            least: 0,
            content: 0,
            is_empty: false,
            narrow,
            most,
            gap: GAP,
            index: 0,
            width: 0,
        }
    }

    /// Creates a column of words. They are shortened to `narrow` before other columns are dropped, and are never wider than `most`.
    pub(in crate::output) fn label(title: &str, rank: u32, [narrow, most]: [usize; 2]) -> Self {
        Self { is_left: true, narrow, most, ..Self::new(title, rank) }
    }

    pub(in crate::output) fn toned(self, tone: Tone) -> Self {
        Self { tone: Some(tone), ..self }
    }

    #[cfg(feature = "fleet")]
    pub(in crate::output) fn ranked(self, rank: u32) -> Self {
        Self { rank, ..self }
    }

    /// Sets the minimum width and the space before the next column.
    pub(in crate::output) fn sized(self, least: usize, gap: usize) -> Self {
        Self { least, gap, ..self }
    }

    /// The title without the `%` of a second number.
    fn name(&self) -> String {
        self.title.trim_end().split("  ").next().unwrap_or_default().to_owned()
    }

    fn narrowest(&self) -> usize {
        self.content.min(self.narrow.max(self.title.width()))
    }

    fn align(&self, text: &str) -> String {
        if self.is_left {
            return pad(&fit(text, Some(self.width)), self.width);
        }
        // Never cut numbers: without its middle, a number would be a different number.
        format!("{}{text}", " ".repeat(self.width.saturating_sub(text.width())))
    }
}

/// A value in a column.
#[derive(Clone, Debug)]
pub(in crate::output) struct Cell {
    pub(in crate::output) text: String,
    /// The short form for a column that is too narrow for `text`.
    pub(in crate::output) short: Option<String>,
    /// The mark after the text, in the gap between columns.
    pub(in crate::output) mark: char,
    pub(in crate::output) tone: Option<Tone>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), short: None, mark: ' ', tone: None }
    }
}

/// A table row: cells, a name and its owner.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Row {
    /// One cell per column; missing ones are empty.
    pub(in crate::output) cells: Vec<Cell>,
    pub(in crate::output) name: String,
    pub(in crate::output) owner: String,
    /// The colour of the complete line.
    pub(in crate::output) tone: Option<Tone>,
    /// True if the name is a sentence, which is wrapped and never cut.
    pub(in crate::output) is_note: bool,
}

impl Row {
    pub(in crate::output) fn new(cells: impl IntoIterator<Item = impl Into<Cell>>, name: &str, owner: &str) -> Self {
        let cells = cells.into_iter().map(Into::into).collect();
        Self { cells, name: clean(name), owner: clean(owner), tone: None, is_note: false }
    }

    /// Creates a line for hidden rows: `12 more threads below 1%`.
    pub(in crate::output) fn more(cells: impl IntoIterator<Item = impl Into<Cell>>, text: &str) -> Self {
        Self { tone: Some(Tone::Dim), is_note: true, ..Self::new(cells, text, "") }
    }
}

#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Table {
    pub(in crate::output) columns: Vec<Column>,
    /// The title above the names.
    pub(in crate::output) names: String,
    /// The width reserved for names, if they need it, before columns are dropped.
    pub(in crate::output) least_names: usize,
    pub(in crate::output) rows: Vec<Row>,
    /// The width of the widest name with its owner; 0 if no row has a name.
    widest_name: usize,
}

impl Table {
    pub(in crate::output) fn new(columns: Vec<Column>, names: &str, least_names: usize, rows: Vec<Row>) -> Self {
        let mut table = Self { columns, names: names.to_owned(), least_names, rows, widest_name: 0 };
        for (index, column) in table.columns.iter_mut().enumerate() {
            let cells = || table.rows.iter().filter_map(|row| row.cells.get(index));
            let widest = cells().map(|cell| cell.text.width()).max().unwrap_or(0);
            column.width = widest.max(column.title.width()).max(column.least).min(column.most);
            let content = widest.max(column.title.width()) + GAP.saturating_sub(column.gap);
            column.content = if table.rows.is_empty() { column.width } else { content.min(column.width) };
            column.is_empty = !table.rows.is_empty() && cells().all(|cell| NO_VALUES.contains(&cell.text.trim()));
            column.index = index;
        }
        let owner = |row: &Row| if row.owner.is_empty() { 0 } else { row.owner.width() + 2 };
        // Rows with fewer cells are notes, which may use the space of the missing cells.
        let complete = table.rows.iter().filter(|row| row.cells.len() >= table.columns.len());
        let widest = complete.map(|row| row.name.width() + owner(row)).max();
        let has_names = widest != Some(0) && !(widest.is_none() && names.is_empty());
        // Without rows, the names come later.
        let unknown = if table.rows.is_empty() { least_names } else { 0 };
        table.widest_name = if has_names { widest.unwrap_or(unknown).max(names.width()) } else { 0 };
        table
    }

    /// Removes columns in which no cell satisfies `is_value`, unless the table has no rows.
    pub(in crate::output) fn without_empty(mut self, is_value: impl Fn(&str) -> bool) -> Self {
        let cell = |row: &Row, column: &Column| row.cells.get(column.index).is_some_and(|cell| is_value(&cell.text));
        self.columns.retain(|column| self.rows.is_empty() || self.rows.iter().any(|row| cell(row, column)));
        self
    }

    /// True if a shown cell has this text.
    #[cfg(feature = "fleet")]
    pub(in crate::output) fn has_cell(&self, text: &str) -> bool {
        let is_text = |cell: &Cell| cell.text == text;
        self.rows.iter().any(|row| self.columns.iter().any(|column| row.cells.get(column.index).is_some_and(is_text)))
    }

    /// The indices of the columns that are shown.
    #[cfg(feature = "fleet")]
    pub(in crate::output) fn shown(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().map(|column| column.index)
    }

    fn widths(&self, width: impl Fn(&Column) -> usize) -> usize {
        self.gaps().map(|(column, gap)| width(column) + gap).sum()
    }

    /// The columns, each with the space after it.
    fn gaps(&self) -> impl Iterator<Item = (&Column, usize)> {
        let last = self.columns.len().saturating_sub(1);
        let gap = move |index: usize, column: &Column| if index < last { column.gap } else { self.gap_after(column) };
        self.columns.iter().enumerate().map(move |(index, column)| (column, gap(index, column)))
    }

    /// The space after the last column.
    fn gap_after(&self, last: &Column) -> usize {
        if self.has_names() { last.gap.max(GAP) } else { 0 }
    }

    /// The minimum width of names.
    fn names_width(&self) -> usize {
        self.widest_name.min(self.least_names.max(MIN_NAME))
    }

    fn has_names(&self) -> bool {
        self.widest_name > 0
    }

    /// True if all columns fit and names have enough space.
    #[cfg(feature = "fleet")]
    pub(in crate::output) fn fits(&self, width: Option<usize>) -> bool {
        width.is_none_or(|width| self.widths(Column::narrowest) + self.names_width() <= width)
    }

    /// Drops columns until the others fit, then shortens labels. Returns the titles of the dropped columns.
    pub(in crate::output) fn fit(&mut self, width: Option<usize>) -> Vec<String> {
        let mut left_out = self.leave_out(width);
        self.fit_narrow(width, &mut left_out);
        if width.is_some_and(|width| self.used() + self.names_width() > width) {
            self.columns.iter_mut().for_each(|column| column.width = column.content);
        }
        loop {
            let over = self.used() + self.names_width();
            let Some(over) = width.and_then(|width| over.checked_sub(width)).filter(|&over| over > 0) else { break };
            let labels = self.columns.iter_mut().filter(|column| column.width > column.narrowest());
            let Some(widest) = labels.max_by_key(|column| column.width) else { break };
            // In small steps, so that the widest columns end up equally wide.
            widest.width = widest.narrowest().max(widest.width.saturating_sub(over.div_ceil(4)));
        }
        left_out.sort_by_key(|column| column.index);
        left_out.iter().map(Column::name).filter(|name| !name.is_empty()).collect()
    }

    /// Drops the columns with the lowest ranks until the others fit, and returns them. There may be thousands of columns, so the width is not
    /// recomputed for each one.
    fn leave_out(&mut self, width: Option<usize>) -> Vec<Column> {
        let mut order: Vec<&Column> = self.columns.iter().filter(|column| column.rank < KEPT).collect();
        order.sort_by_key(|column| (!column.is_empty, column.rank));
        let mut used: usize = self.columns.iter().map(|column| column.narrowest() + column.gap).sum();
        let mut kept: BTreeMap<usize, &Column> = self.columns.iter().map(|column| (column.index, column)).collect();
        for column in order {
            let Some((_, last)) = kept.last_key_value().filter(|_| kept.len() > 1) else { break };
            if width.is_none_or(|width| used - last.gap + self.gap_after(last) + self.names_width() <= width) {
                break;
            }
            used -= column.narrowest() + column.gap;
            kept.remove(&column.index);
        }
        let kept: Vec<usize> = kept.into_keys().collect();
        let is_kept = |column: &Column| kept.binary_search(&column.index).is_ok();
        let (kept, left_out) = std::mem::take(&mut self.columns).into_iter().partition(is_kept);
        self.columns = kept;
        left_out
    }

    /// Shortens labels and drops columns, from the last one on, if lines would be wider than the terminal even with the shortest names.
    fn fit_narrow(&mut self, width: Option<usize>, left_out: &mut Vec<Column>) {
        let name = self.widest_name.min(LEAST_NAME);
        let is_wide = |table: &Self| width.is_some_and(|width| table.widths(Column::narrowest) + name > width);
        if is_wide(self) {
            let labels = self.columns.iter_mut().filter(|column| column.is_left && column.narrow < usize::MAX);
            labels.for_each(|label| label.narrow = label.narrow.min(LEAST_LABEL));
        }
        while self.columns.len() > 1 && is_wide(self) {
            left_out.extend(self.columns.pop());
        }
    }

    /// The width to the left of the names.
    pub(in crate::output) fn used(&self) -> usize {
        self.widths(|column| column.width)
    }

    /// The line of titles, cut to the width.
    pub(in crate::output) fn header(&self, style: &Style) -> String {
        let title = |(column, gap): (&Column, usize)| column.align(&column.title) + &spaces(column.mark, gap);
        let line: String = self.gaps().map(title).collect();
        let names = if self.has_names() { self.names.as_str() } else { "" };
        style.paint(Tone::Dim, fit((line + names).trim_end(), style.width).trim_end())
    }

    /// The part of a row's line before its name.
    pub(in crate::output) fn numbers(&self, cells: &[Cell], style: &Style) -> String {
        let mut line = String::new();
        for (column, gap) in self.gaps() {
            let Some(Cell { text, short, mark, tone }) = cells.get(column.index) else {
                line.push_str(&spaces(' ', column.width + gap));
                continue;
            };
            let short = short.as_ref().filter(|_| text.width() > column.width);
            let mut text = column.align(short.unwrap_or(text));
            text.extend(Some(*mark).filter(|mark| *mark != ' ' && gap > 0));
            // A number wider than its column keeps its distance from the next column.
            let space = (column.width + gap).saturating_sub(text.width()).max(gap.min(1));
            let space = " ".repeat(space);
            let tone = tone.or(column.tone).filter(|_| !text.trim().is_empty());
            line += &tone.map_or(text.clone(), |tone| style.paint(tone, &text));
            line += &space;
        }
        line
    }

    pub(in crate::output) fn line(&self, row: &Row, style: &Style) -> String {
        let Some(tone) = row.tone else {
            let numbers = self.numbers(&row.cells, style);
            let (name, owner) = style.two_parts(&row.name, &row.owner, self.used());
            let end = name + &owner;
            return if end.is_empty() { numbers.trim_end().to_owned() } else { numbers + &end };
        };
        let owner = if row.owner.is_empty() { String::new() } else { format!("  {}", row.owner) };
        let name = format!("{}{owner}", row.name);
        let mut numbers = self.numbers(&row.cells, &Style { is_coloured: false, ..*style });
        let is_long = style.width.is_some_and(|width| numbers.width() + name.width() > width);
        let lacks_cells = self.columns.last().is_some_and(|column| column.index >= row.cells.len());
        if (is_long || !self.has_names()) && lacks_cells {
            // A row with fewer cells may use the space of the missing ones.
            numbers.truncate(numbers.trim_end().len());
            numbers += &spaces(' ', if numbers.is_empty() { 0 } else { GAP });
        }
        if is_long && row.is_note {
            let lines = wrap_behind(&numbers, &name, numbers.width(), style.width);
            return lines.iter().map(|line| style.paint(tone, line)).collect::<Vec<_>>().join("\n");
        }
        style.paint(tone, &cut((numbers + &name).trim_end(), style.width))
    }

    /// Writes the table, followed by a line that names the dropped columns and `elsewhere`, the place to find them.
    pub(in crate::output) fn write(mut self, elsewhere: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.write_rows(style, out)?;
        write_left_out(&columns, elsewhere, style, out)
    }

    /// Writes the table, and returns the titles of the dropped columns.
    pub(in crate::output) fn write_rows(&mut self, style: &Style, out: &mut dyn Write) -> io::Result<Vec<String>> {
        let columns = self.fit(style.width);
        writeln!(out, "{}", self.header(style))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", self.line(row, style)))?;
        // Without rows, no value is missing.
        Ok(if self.rows.is_empty() { Vec::new() } else { columns })
    }
}

/// The space after a cell, which begins with the cell's mark.
fn spaces(mark: char, gap: usize) -> String {
    if gap == 0 { String::new() } else { format!("{mark}{}", " ".repeat(gap - 1)) }
}

/// A sentence about the columns that did not fit.
pub(in crate::output) fn left_out(columns: &[String], elsewhere: &str) -> Option<String> {
    let columns = columns.join(", ");
    let text = || format!("Columns that do not fit at this width: {columns}. {elsewhere}").trim_end().to_owned();
    (!columns.is_empty()).then(text)
}

/// Writes [`left_out`], if there is anything to report.
pub(in crate::output) fn write_left_out(
    columns: &[String],
    elsewhere: &str,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let note = left_out(columns, elsewhere);
    note.map_or(Ok(()), |note| style.write_wrapped(Some(Tone::Dim), 0, &note, out))
}

/// A note on the formats that contain all columns.
pub(in crate::output) const IN_FORMATS: &str = "CSV and JSON have all.";

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a table in this width.
    fn lines(columns: &[Column], names: &str, rows: &[Row], width: usize) -> Vec<String> {
        let style = Style { width: Some(width), ..Style::default() };
        let mut out = Vec::new();
        Table::new(columns.to_vec(), names, FUNCTIONS, rows.to_vec()).write(IN_FORMATS, &style, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn shrinks_columns_and_leaves_out_empty_ones_first() {
        let columns = [
            Column::new("ms", KEPT).sized(11, 2),
            Column::new("P50", 1).sized(6, 2),
            Column::new("P99", 2).sized(6, 2),
        ];
        let rows = [Row::new(["1.000", "5.0", "n/a"], "function", ""), Row::new(["2.000", "6.0", ""], "other", "")];
        assert_eq!(lines(&columns, "name", &rows, 40)[0], "         ms     P50     P99  name");
        assert_eq!(lines(&columns, "name", &rows, 30)[0], "   ms  P50  P99  name");
        let narrow = lines(&columns, "name", &rows, 20);
        assert_eq!(narrow[..2], ["   ms  P50  name", "1.000  5.0  function"]);
        assert_eq!(narrow[3..].join(" "), "Columns that do not   fit at this width:   P99. CSV and JSON   have all.");
    }

    #[test]
    fn reserves_no_space_for_missing_names() {
        let columns = [Column::new("at", KEPT), Column::label("type", 1, [10, 40])];
        let kind = "Potential Interaction Delay";
        let rows = [Row::new(["4.933 s", kind], "", ""), Row::more([""; 0], "… 3 more hangs; the JSON has them all")];
        let expected = ["     at  type".to_owned(), format!("4.933 s  {kind}"), rows[1].name.clone()];
        assert_eq!(lines(&columns, "mostly in", &rows, 37), expected);
    }

    #[test]
    fn notes_are_wrapped_and_take_no_space_from_columns() {
        let columns = [Column::new("ms", KEPT), Column::new("self", 1), Column::new("95 %", 2)];
        let rows = [Row::more([""; 0], "8 more, with smaller changes")];
        assert_eq!(
            lines(&columns, "function", &rows, 28),
            ["ms  self  95 %  function", "8 more, with smaller changes"]
        );
        assert_eq!(lines(&columns, "function", &rows, 25)[1..], ["8 more, with smaller", "changes"]);
        let rows = [Row::new(["1", "2", "3"], "a name", ""), Row::more(["9"], "2 more functions below 1%")];
        assert_eq!(lines(&columns, "function", &rows, 24)[2..], [" 9  2 more functions", "    below 1%"]);
    }

    #[test]
    fn leaves_out_columns_rather_than_writing_wide_lines() {
        let columns = [Column::new("Δ ms ", KEPT), Column::new("before", KEPT), Column::new("95 %", KEPT)];
        let rows = [Row::new(["1.000", "2.000", "3.000"], "a name that is long", "")];
        let narrow = lines(&columns, "name", &rows, 25);
        assert_eq!(narrow[..2], ["Δ ms   before  name", "1.000   2.000  a name…ong"]);
        assert_eq!(
            narrow[2..].join("").replace("  ", " "),
            "Columns that do not fit at this width: 95 %. CSV and JSON have all."
        );
    }

    #[test]
    fn separates_wide_numbers() {
        let columns = vec![Column::new("total s", KEPT).sized(7, 1), Column::new("self", KEPT).sized(7, 2)];
        let table = Table::new(columns, "function", FUNCTIONS, Vec::new());
        let cells = ["2400006.000", "2400006.000"].map(Cell::from);
        assert_eq!(table.numbers(&cells, &Style::default()), "2400006.000 2400006.000 ");
    }

    #[test]
    fn numbers_are_never_cut_and_labels_are_at_any_width() {
        let row = Row::new(["18446744073.710", "a long label"], "a name that is longer than the width", "owner");
        let columns = || vec![Column::new("s", KEPT), Column::label("label", KEPT, [5, 24])];
        for width in 0..80 {
            let style = Style { width: Some(width), ..Style::default() };
            let mut table = Table::new(columns(), "name", FUNCTIONS, vec![row.clone()]);
            table.fit(Some(width));
            assert!(table.line(&row, &style).starts_with("18446744073.710"), "{width}");
        }
        // The rows of trees are not known when the columns are made.
        let table = Table::new(vec![Column::new("s", KEPT).sized(11, 1)], "function", FUNCTIONS, Vec::new());
        assert!(table.line(&row, &Style::default()).starts_with("18446744073.710"));
    }
}
