//! Handles the end of an input, which must come between documents and after at least one, and truncated documents.

use super::super::blocks::{Block, End};
use super::super::position::{Fault, Place};
use super::super::tag::Tag;
use super::{Content, DocumentReader, Open, Root};
use crate::error::{Error, ErrorKind};

/// The open elements, outermost first, and the position to report.
struct Unfinished {
    inside: String,
    byte: u64,
    line: u64,
}

impl<C: Content> DocumentReader<'_, C> {
    /// Returns the open elements; `None` between documents.
    fn unfinished(&self) -> Option<Unfinished> {
        if let Root::Toc(toc) = &self.root {
            let (byte, line) = self.open.first().map_or((0, 1), |open| (open.at, open.line));
            return Some(Unfinished { inside: toc.path(), byte, line });
        }
        let row = self.open.iter().find(|open| open.tag == Tag::Row);
        let structures = || self.open.iter().rev().find(|open| open.line > 0);
        let look_at = row.or_else(structures).or(self.open.last())?;
        let is_structure =
            |open: &&Open| matches!(open.tag, Tag::TraceQueryResult | Tag::Node | Tag::Schema | Tag::Row);
        let names = self.open.iter().take_while(is_structure).map(|open| &self.text[open.name_start..open.fmt_start]);
        let names: Vec<&str> = names.collect();
        Some(Unfinished { inside: names.join("/"), byte: look_at.at, line: look_at.line })
    }

    /// True if at least one document was complete.
    pub(super) fn has_documents(&self) -> bool {
        !self.documents.is_empty()
    }

    /// Handles a document inside another one: the first was truncated, and the second was appended to it.
    pub(super) fn cut_if_open(&mut self, at: u64) -> Result<(), Fault> {
        let Some(Unfinished { inside, byte, line }) = self.unfinished() else { return Ok(()) };
        if !self.allow_truncated {
            let kind = ErrorKind::Truncated { inside, end: at, rows: self.rows };
            return Err(Fault { kind, byte, line: Some(line) });
        }
        self.accept_cut(at);
        Ok(())
    }

    /// Ends the input inside a document: complete rows are kept, and an incomplete row is rejected.
    fn accept_cut(&mut self, at: u64) {
        if self.open.iter().any(|open| open.tag == Tag::Row)
            && let Some(table) = &mut self.tables.open
        {
            self.content.reject_cut_row(table);
        }
        self.open.clear();
        self.finish_table();
        self.finish_document();
        self.mark_cut(at);
    }

    /// Marks the last document as truncated at this byte.
    fn mark_cut(&mut self, at: u64) {
        if let Some(document) = self.documents.last_mut() {
            document.cut_at = Some(at);
        }
        if let Some(message) = C::CUT {
            self.note(at, "cut", || message.to_owned());
        }
    }
}

/// Ends the input after `used` bytes of its last block were read. Returns the size of the input in bytes.
pub(in super::super) fn finish<C: Content>(
    reader: &mut DocumentReader<'_, C>,
    place: &Place<'_>,
    block: &mut Block,
    used: usize,
) -> Result<u64, Error> {
    let end = block.offset + block.bytes().len() as u64;
    let cut = match block.end.take() {
        Some(End::Cut(error)) => Some(error),
        _ => None,
    };
    let is_compressed_cut = cut.is_some();
    let fail = |kind, byte, line| {
        let source = cut.map(|error| Box::new(error) as _);
        Err(Error { source, ..place.locate(Fault { kind, byte, line }, block) })
    };
    let rows = reader.rows;
    if let Some(Unfinished { inside, byte, line }) = reader.unfinished() {
        if !reader.allow_truncated {
            return fail(ErrorKind::Truncated { inside, end, rows }, byte, Some(line));
        }
        reader.accept_cut(end);
        return Ok(end);
    }
    if !reader.has_documents() {
        if is_compressed_cut {
            return fail(ErrorKind::Truncated { inside: "compressed data".to_owned(), end, rows: 0 }, end, None);
        }
        return fail(place.no_export(), 0, Some(1));
    }
    // All documents are complete; check for an incomplete one after them.
    if is_compressed_cut || block.bytes()[used..].starts_with(b"<") {
        if !reader.allow_truncated {
            let inside = "what follows the document".to_owned();
            return fail(ErrorKind::Truncated { inside, end, rows }, block.offset + used as u64, None);
        }
        reader.mark_cut(end);
    }
    Ok(end)
}

pub(in super::super) fn describe<C: Content>(
    reader: &DocumentReader<'_, C>,
    place: &Place<'_>,
    fault: Fault,
    block: &Block,
) -> Error {
    place.describe(fault, block, !reader.has_documents() && reader.unfinished().is_none())
}
