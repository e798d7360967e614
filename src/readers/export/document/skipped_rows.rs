//! Counts the rows of tables that are not CPU tables by the bytes after each `<`, without parsing them as XML.
//!
//! This is fast, and accepts rows that are not well-formed (VM Tracker writes an attribute named `resident-%`). Only the structure that
//! marks the end of rows and of the table is checked: every element must end inside its parent. Elements that a later CPU table may refer to
//! are parsed, since ids are numbered over the complete document and a thread or frame may be defined here.

use super::super::position::Fault;
use super::super::tag::Tag;
use super::tokens::{self, Step};
use super::{Content, DocumentReader};

/// The longest element that is checked for an id. Few element names are longer.
const LOOK_AHEAD: usize = "<os-signpost-identifier id=\"18446744073709551615\"".len();

impl<C: Content> DocumentReader<'_, C> {
    /// True if the next rows belong to a table that is not read.
    pub(in super::super) fn is_skipping(&self) -> bool {
        self.tables.is_skipping && self.open.last().is_some_and(|open| open.tag == Tag::Node)
    }

    /// Counts a row that is not read, at its start.
    pub(super) fn count_row(&mut self) {
        self.rows += 1;
        self.tables.count_row();
    }

    /// Adds a note: a row or the table ends, or a row starts, while another element is open.
    fn note_unbalanced(&mut self, at: u64) {
        self.note(at, "unbalanced", || C::UNBALANCED.to_owned());
    }
}

/// The next step after examining a tag.
enum Next {
    /// Examine the next tag.
    Tag,
    /// Read the tag as a token.
    Token,
}

/// Reads on from byte `used` of the bytes in memory, which start at `offset` in the input. Counts the rows of a skipped table, and reads
/// everything else as tokens.
pub(in super::super) fn rows_or_tokens<C: Content>(
    reader: &mut DocumentReader<'_, C>,
    bytes: &[u8],
    used: usize,
    offset: u64,
    is_end: bool,
) -> Result<Step, Fault> {
    let mut skipped = 0;
    if reader.is_skipping() {
        let step = rows(reader, &bytes[used..], offset + used as u64, is_end);
        if step.needs_more {
            return Ok(step);
        }
        skipped = step.used;
    }
    let step = tokens::read(reader, bytes, used + skipped, offset, is_end)?;
    Ok(Step { used: skipped + step.used, ..step })
}

/// Counts rows, and stops at the end of the table or at a definition that must be read. The bytes start at `offset` in the input.
fn rows<C: Content>(reader: &mut DocumentReader<'_, C>, bytes: &[u8], offset: u64, is_end: bool) -> Step {
    let mut tags = memchr::memchr_iter(b'<', bytes).peekable();
    while let Some(at) = tags.next() {
        let next = tags.peek().copied();
        // The text up to the next tag is examined together with a tag, so the result does not depend on where the bytes in memory end.
        let piece = &bytes[at + 1..next.unwrap_or(bytes.len())];
        if next.is_none() && !(is_end && piece.contains(&b'>')) {
            return Step { used: at, needs_more: true };
        }
        if let Next::Token = tag(reader, piece, offset + at as u64) {
            return Step { used: at, needs_more: false };
        }
    }
    Step { used: bytes.len(), needs_more: true }
}

/// Examines a tag and the text up to the next one.
#[inline(always)]
fn tag<C: Content>(reader: &mut DocumentReader<'_, C>, piece: &[u8], at: u64) -> Next {
    match piece.first() {
        Some(b'/') => end_tag(reader, piece, at),
        // A comment, CDATA or processing instruction: it may contain text that looks like a tag.
        Some(b'!' | b'?') => Next::Token,
        None => Next::Tag,
        Some(_) => start_tag(reader, piece, at),
    }
}

#[inline(always)]
fn end_tag<C: Content>(reader: &mut DocumentReader<'_, C>, piece: &[u8], at: u64) -> Next {
    let depth = &mut reader.tables.skipped_depth;
    let open = std::mem::replace(depth, depth.saturating_sub(1));
    if open > 1 && !matches!(piece.get(1), Some(b'r' | b'n')) {
        return Next::Tag;
    }
    let (is_row, is_table) = (is_named(piece, b"/row"), is_named(piece, b"/node"));
    let is_balanced = match open {
        0 => !is_row,
        1 => is_row,
        _ => !is_row && !is_table,
    };
    if !is_balanced {
        reader.note_unbalanced(at);
    }
    if is_row {
        reader.tables.skipped_depth = 0;
    }
    // An end tag that closes neither a row nor an element in one is probably the end of the table.
    if is_table || (open == 0 && !is_row) { Next::Token } else { Next::Tag }
}

#[inline(always)]
fn start_tag<C: Content>(reader: &mut DocumentReader<'_, C>, piece: &[u8], at: u64) -> Next {
    if is_named(piece, b"row") {
        if reader.tables.skipped_depth != 0 {
            reader.note_unbalanced(at);
            reader.tables.skipped_depth = 0;
        }
        reader.count_row();
    } else {
        match definition(&reader.content, piece) {
            Some((true, _)) => return Next::Token,
            Some((false, Some(id))) => reader.define_other(id, at),
            Some((false, None)) | None => {}
        }
    }
    let is_empty = piece.trim_ascii_end().ends_with(b"/>");
    reader.tables.skipped_depth += u32::from(!is_empty);
    Next::Tag
}

/// True if a tag has this name.
#[inline(always)]
fn is_named(piece: &[u8], name: &[u8]) -> bool {
    piece.strip_prefix(name).is_some_and(|after| after.first().is_some_and(|byte| b" />\t\r\n".contains(byte)))
}

/// If the element defines an id, returns it, and whether the element must be read.
fn definition(content: &impl Content, rest: &[u8]) -> Option<(bool, Option<u64>)> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name_end = rest.iter().take(LOOK_AHEAD).position(|byte| !is_name(byte)).filter(|&end| end > 0)?;
    let value = rest[name_end..].strip_prefix(b" id=\"")?;
    let name = std::str::from_utf8(&rest[..name_end]).ok()?;
    let digits = value.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let id = std::str::from_utf8(&value[..digits]).ok().and_then(|digits| digits.parse().ok());
    Some((content.is_needed(name), id))
}
