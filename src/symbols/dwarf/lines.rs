//! The line table of a unit, which maps each instruction to a file and line.
//!
//! The table is a program that advances addresses and lines. Its rows form sequences, one for each range of code. A row is valid up to the
//! next row, and the last row of a sequence ends it. If several rows have the same address, the last one is used.

use std::cell::OnceCell;

use gimli::{AttributeValue, DebugLine, DebugLineOffset, LineProgramHeader, LittleEndian};

use super::limits::{Budget, Bytes, Fault, UnitRef};

/// A string in a line table: inline or referenced.
type Text<'data> = AttributeValue<Bytes<'data>>;

/// The longest path. Without a limit, short entries of a file table could be joined to enormous paths.
const MAX_PATH_LENGTH: usize = 16 << 10;

/// An address range of code.
#[derive(Debug)]
struct Sequence {
    begin: u64,
    end: u64,
    /// The rows of the sequence are `rows[first_row..][..row_count]`, sorted by address.
    first_row: usize,
    row_count: usize,
}

/// A row, which applies to the instructions from `address` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    address: u64,
    /// An index into the file table.
    pub(super) file: u32,
    /// The line; 0 for code that belongs to no line.
    pub(super) line: u32,
    /// The column; 0 if unknown.
    pub(super) column: u32,
}

/// The line table of one unit.
#[derive(Debug)]
pub(super) struct Lines<'data> {
    rows: Vec<Row>,
    /// Sorted by begin.
    sequences: Vec<Sequence>,
    header: LineProgramHeader<Bytes<'data>>,
    comp_dir: Option<Bytes<'data>>,
    /// Paths by file index, joined on first use.
    paths: Box<[OnceCell<Option<Box<str>>>]>,
}

/// Sorts the rows of a sequence by address. Needed only for damaged tables, whose answers would otherwise depend on the previous lookup.
fn sort_rows(rows: &mut Vec<Row>, first: usize) {
    if rows[first..].is_sorted_by_key(|row| row.address) {
        return;
    }
    let mut sequence = rows.split_off(first);
    sequence.sort_by_key(|row| row.address);
    for row in sequence {
        match rows[first..].last_mut() {
            Some(last) if last.address == row.address => *last = row,
            _ => rows.push(row),
        }
    }
}

impl<'data> Lines<'data> {
    /// Runs a line program, which must be all of `section`.
    pub(super) fn read(unit: UnitRef<'_, 'data>, section: &'data [u8], budget: &Budget<'_>) -> Result<Self, Fault> {
        let section = DebugLine::new(section, LittleEndian);
        let program = section.program(DebugLineOffset(0), unit.header.address_size(), unit.comp_dir, None)?;
        let header = program.header();
        // Every row and every file takes at least one byte.
        budget.keep(header.unit_length())?;
        budget.walk(header.unit_length())?;
        let (mut rows, mut sequences) = (Vec::<Row>::new(), Vec::new());
        let mut first_row = 0;
        // Real tables have one row per three to five bytes of the program.
        let files = header.file_names().len() + 1;
        budget.hold(header.unit_length() / 4 * size_of::<Row>() + files * size_of::<OnceCell<Option<Box<str>>>>())?;
        rows.reserve(header.unit_length() / 4);
        let mut program = program.rows();
        while let Some((_, row)) = program.next_row()? {
            let address = row.address();
            if row.end_sequence() {
                sort_rows(&mut rows, first_row);
                match rows.get(first_row) {
                    Some(&Row { address: begin, .. }) if begin < address => {
                        let row_count = rows.len() - first_row;
                        sequences.push(Sequence { begin, end: address, first_row, row_count });
                    }
                    _ => rows.truncate(first_row),
                }
                first_row = rows.len();
                continue;
            }
            let row = Row {
                address,
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                line: row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                column: match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
                },
            };
            match rows[first_row..].last_mut() {
                Some(last) if last.address == address => *last = row,
                _ => rows.push(row),
            }
        }
        sequences.sort_by_key(|sequence| sequence.begin);
        let header = program.header().clone();
        let paths = std::iter::repeat_with(OnceCell::new).take(header.file_names().len() + 1).collect();
        Ok(Self { rows, sequences, header, comp_dir: unit.comp_dir, paths })
    }

    /// Calls `add` with the addresses at which [`row`](Self::row) may change.
    pub(super) fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) {
        self.rows.iter().map(|row| row.address).for_each(&mut *add);
        self.ranges().flat_map(|range| [range.begin, range.end]).for_each(add);
    }

    /// The address ranges that the table covers.
    pub(super) fn ranges(&self) -> impl Iterator<Item = gimli::Range> {
        self.sequences.iter().map(|sequence| gimli::Range { begin: sequence.begin, end: sequence.end })
    }

    /// Returns the row of an address.
    pub(super) fn row(&self, address: u64) -> Option<Row> {
        let sequence = self.sequences.partition_point(|sequence| sequence.begin <= address).checked_sub(1)?;
        let sequence = &self.sequences[sequence];
        if address >= sequence.end {
            return None;
        }
        let rows = &self.rows[sequence.first_row..][..sequence.row_count];
        let index = rows.partition_point(|row| row.address <= address).checked_sub(1)?;
        rows.get(index).copied()
    }

    /// Returns the path of a file. It is joined on first use; `text` reads the parts.
    pub(super) fn path(&self, file: u64, text: impl Fn(Text<'data>) -> Option<Bytes<'data>>) -> Option<&str> {
        let path = self.paths.get(usize::try_from(file).ok()?)?;
        path.get_or_init(|| self.join(file, text).map(String::into_boxed_str)).as_deref()
    }

    /// Joins a file's compilation folder, folder and name. An absolute part replaces everything before it.
    fn join(&self, file: u64, text: impl Fn(Text<'data>) -> Option<Bytes<'data>>) -> Option<String> {
        let text = |value| text(value).map(|text| text.slice());
        let entry = self.header.file(file)?;
        let name = text(entry.path_name())?;
        // Folder 0 is the compilation folder, which the unit has in every version of DWARF.
        let folder = (entry.directory_index() != 0).then(|| entry.directory(&self.header)).flatten();
        let folder = folder.and_then(text);
        let parts = [self.comp_dir.map(|folder| folder.slice()), folder, Some(name)];
        let mut path = String::new();
        for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
            if part.len() > MAX_PATH_LENGTH {
                return None;
            }
            push_path(&mut path, &String::from_utf8_lossy(part));
        }
        (!path.is_empty()).then_some(path)
    }
}

fn push_path(path: &mut String, part: &str) {
    if part.starts_with(['/', '\\']) || matches!(part.get(1..3), Some(":/" | ":\\")) {
        path.clear();
    } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
        // Cross-compiled on Windows: the folder starts with a drive.
        path.push(if path.starts_with('\\') || path.get(1..3) == Some(":\\") { '\\' } else { '/' });
    }
    path.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::{Row, push_path, sort_rows};

    #[test]
    fn rows_that_go_back_are_put_in_order_and_the_last_of_an_address_counts() {
        let row = |(address, line)| Row { address, file: 1, line, column: 0 };
        let mut rows: Vec<Row> = [(900, 1), (16, 2), (8, 3), (24, 4), (8, 5)].map(row).to_vec();
        sort_rows(&mut rows, 1);
        let found: Vec<_> = rows.iter().map(|row| (row.address, row.line)).collect();
        assert_eq!(found, [(900, 1), (8, 5), (16, 2), (24, 4)]);
    }

    #[test]
    fn paths_are_joined_and_absolute_parts_replace_what_is_before() {
        let join = |parts: &[&str]| {
            let mut path = String::new();
            parts.iter().for_each(|part| push_path(&mut path, part));
            path
        };
        assert_eq!(join(&["/src/app", "lib", "a.c"]), "/src/app/lib/a.c");
        assert_eq!(join(&["/src/app/", "a.c"]), "/src/app/a.c");
        assert_eq!(join(&["/src/app", "/usr/include", "a.h"]), "/usr/include/a.h");
        assert_eq!(join(&["lib", "a.c"]), "lib/a.c");
        assert_eq!(join(&["C:\\src", "lib", "a.c"]), "C:\\src\\lib\\a.c");
    }
}
