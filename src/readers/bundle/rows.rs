//! Reads the rows of a store (`bulkstore`) in file order.
//!
//! | part | size | fields, little endian |
//! |---|---|---|
//! | header | 40 | u32 `0x12340A0A`, u32 3, u32 `0x28`, u32 offset of the rows, u32 size of a row, u32 size of a block, u32 rows of a block, u32 0 |
//! | rows | | without gaps, even between blocks |
//! | rest | | zero: space for more rows |
//!
//! A store is never completely in memory: rows are read as the file is inflated.
//!
//! A run that is being recorded is in `corespace/currentRun`, and becomes `runN` when it is saved. Some versions (13.4 and 16.0) then create
//! the folder again for a run that was never started, with an empty store for each table. The folder alone therefore does not prove that there
//! is an unsaved run.

use std::path::{Path, PathBuf};

use super::file::{Content, Room, broken_at, broken_whole, first_not_zero};
use super::layout::Layout;
use crate::error::{Diagnostic, Error};
use crate::files::{Entry, Files, shown};
use crate::recording::TableKind;
use crate::symbols::u32_at;

const MAGIC: u32 = 0x1234_0a0a;
const HEADER: u64 = 0x28;
/// The approximate number of bytes of rows that are read at a time.
const PIECE: usize = 1 << 17;

/// The part of a store that can contain rows.
pub(super) fn behind_header(bytes: &[u8]) -> &[u8] {
    if bytes.starts_with(&MAGIC.to_le_bytes()) { bytes.get(HEADER as usize..).unwrap_or_default() } else { bytes }
}

pub(super) struct Rows<'f> {
    content: Content<'f>,
    path: PathBuf,
    row_size: usize,
    left: u64,
    /// The offset of the next piece in the inflated file.
    at: u64,
    /// The offset of the first row.
    start: u64,
    /// The size of a block in bytes. Space is allocated in complete blocks.
    block: u64,
    has_samples: bool,
    piece: Vec<u8>,
}

impl<'f> Rows<'f> {
    /// Opens the store in a folder.
    pub(super) fn open(files: &'f dyn Files, folder: &Path, layout: &Layout) -> Result<Self, Error> {
        let path = folder.join("bulkstore");
        let mut content = Content::require(files, &path)?;
        let mut header = Vec::new();
        content.fill(&mut header, HEADER)?;
        let (start, block) = check_header(&path, &header, layout)?;
        let (row_size, left) = (layout.row_size, layout.rows);
        let has_samples = TableKind::of_schema(&layout.schema.name) == TableKind::Cpu;
        let mut rows = Self { content, path, row_size, left, at: HEADER, start, block, has_samples, piece: Vec::new() };
        rows.at = rows.content.skip_zeros(HEADER, start - HEADER, "room for rows")?;
        Ok(rows)
    }

    /// Fails if a table has rows although its descriptor claims none.
    pub(super) fn check_none(files: &'f dyn Files, folder: &Path, layout: &Layout) -> Result<(), Error> {
        Self::open(files, folder, layout)?.next().map(|_| ())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.content.is_compressed()
    }

    /// Returns the next rows (a multiple of the row size) and their offset in the inflated file; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        let mut piece = std::mem::take(&mut self.piece);
        let at = self.next_into(&mut piece);
        self.piece = piece;
        Ok(at?.map(|at| (self.piece.as_slice(), at)))
    }

    /// Like [`next`](Self::next), but reads the rows into `piece`, and returns their offset.
    pub(super) fn next_into(&mut self, piece: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        if self.left == 0 {
            self.check_rest()?;
            return Ok(None);
        }
        let count = self.left.min((PIECE / self.row_size).max(1) as u64);
        let at = self.at;
        self.content.fill(piece, count * self.row_size as u64)?;
        let whole = (piece.len() / self.row_size) as u64;
        if whole < count {
            let missing = self.left - whole;
            let rule = format_args!("the file ends, and {missing} rows are missing");
            return Err(broken_at(&self.path, at + piece.len() as u64, "rows", rule));
        }
        // Each sample refers to a thread, a process and a stack, and only one of them can have index 0.
        let is_empty = |row: &[u8]| self.has_samples && row.iter().all(|&byte| byte == 0);
        if let Some(empty) = piece.chunks_exact(self.row_size).position(is_empty) {
            let at = at + (empty * self.row_size) as u64;
            return Err(broken_at(
                &self.path,
                at,
                "row",
                "it is empty: there are fewer rows than the descriptor records",
            ));
        }
        self.left -= count;
        self.at += piece.len() as u64;
        Ok(Some(at))
    }

    /// Returns a diagnostic if the file does not consist of complete blocks: bytes were lost or added, and rows may have moved. Call it after the
    /// last row.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        let bytes = self.at.saturating_sub(self.start);
        let is_whole = self.block == 0 || bytes.is_multiple_of(self.block);
        let message = format!(
            "{}: its {bytes:#x} bytes for rows are not a whole number of blocks of {:#x}: it was changed, and rows \
             may be wrong",
            shown(&self.path),
            self.block
        );
        (!is_whole).then_some(Diagnostic::new(message))
    }

    /// Checks that no rows follow the expected ones.
    fn check_rest(&mut self) -> Result<(), Error> {
        self.at = self.content.skip_zeros(self.at, u64::MAX, "room for rows")?;
        self.content.check_end()
    }
}

/// Returns the offset of the rows and the size of a block.
fn check_header(path: &Path, header: &[u8], layout: &Layout) -> Result<(u64, u64), Error> {
    let word = |index: usize| u32_at(header, 4 * index);
    if header.len() as u64 != HEADER || (word(0), word(1), word(2)) != (MAGIC, 3, HEADER as u32) {
        let rule = format_args!("it does not begin with {MAGIC:#x}, 3, {HEADER:#x}");
        return Err(broken_whole(path, rule));
    }
    let (start, row_size, block, rows_of_block) = (word(3), word(4), word(5), word(6));
    if u64::from(start) < HEADER {
        return Err(broken_at(path, 12, "offset of the rows", format_args!("{start:#x} is in the header")));
    }
    if row_size as usize != layout.row_size {
        let rule = format_args!("{row_size} is not the {} that the descriptor has", layout.row_size);
        return Err(broken_at(path, 16, "size of a row", rule));
    }
    // With any other size, there would be gaps between blocks.
    if u64::from(block) != u64::from(row_size) * u64::from(rows_of_block) {
        let rule = format_args!("{block:#x} is not {rows_of_block} rows of {row_size}");
        return Err(broken_at(path, 20, "size of a block", rule));
    }
    Ok((u64::from(start), block.into()))
}

/// A larger store, compressed or not, contains rows: an empty one has 4,096 bytes, or 50 if compressed.
const EMPTY_STORE: u64 = 64 << 10;

/// True if something was recorded in `corespace/currentRun`: it contains a list of tables, a table description, or a store that has rows or is
/// unreadable.
pub(super) fn has_unsaved_run(files: &dyn Files, corespace: &Path, room: &Room) -> bool {
    let core = corespace.join("currentRun/core");
    let list = |folder: &Path| files.list(folder).unwrap_or_default();
    !list(&core.join("table-manager")).is_empty()
        || list(&core.join("stores")).iter().any(|store| {
            list(store).iter().any(|file| match file.ends_with("bulkstore") {
                true => has_rows(files, file, room),
                false => true,
            })
        })
}

fn has_rows(files: &dyn Files, bulkstore: &Path, room: &Room) -> bool {
    if !matches!(files.entry(bulkstore), Ok(Entry::File { length, .. }) if length <= EMPTY_STORE) {
        return true;
    }
    let room = Room { file_bytes: room.file_bytes.min(EMPTY_STORE), ..room.clone() };
    match Content::open(files, bulkstore).and_then(|content| content.map(|content| content.read_all(&room)).transpose())
    {
        Ok(bytes) => bytes.is_some_and(|bytes| first_not_zero(behind_header(&bytes)).is_some()),
        Err(_) => true,
    }
}
