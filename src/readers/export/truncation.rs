//! The end of an input: it should be between documents, and hold one at least. And documents that end before they should.

use super::blocks::{Block, End};
use super::position::Fault;
use super::position::Place;
use crate::error::{Error, ErrorKind};

/// The elements that are open, outermost first, and the place where a person should look.
#[derive(Clone, Debug)]
pub(super) struct Unfinished {
    pub(super) inside: String,
    pub(super) byte: u64,
    pub(super) line: u64,
}

/// A reader of documents, which may be cut.
pub(super) trait Documents {
    /// The elements that are open; `None` between documents.
    fn unfinished(&self) -> Option<Unfinished>;

    /// True if a document was complete.
    fn has_documents(&self) -> bool;

    /// The number of rows so far, in this input.
    fn row_count(&self) -> u64;

    /// True if an input may end before its document does.
    fn may_be_cut(&self) -> bool;

    /// Ends the input inside a document: complete rows stay, an incomplete one is rejected.
    fn accept_cut(&mut self, at: u64);

    /// Marks the last document as truncated at this byte.
    fn mark_cut(&mut self, at: u64);

    /// A document that starts inside another one: that one was cut, and this one appended to it.
    fn cut_if_open(&mut self, at: u64) -> Result<(), Fault> {
        let Some(Unfinished { inside, byte, line }) = self.unfinished() else { return Ok(()) };
        if !self.may_be_cut() {
            let kind = ErrorKind::Truncated { inside, end: at, rows: self.row_count() };
            return Err(Fault { kind, byte, line: Some(line) });
        }
        self.accept_cut(at);
        Ok(())
    }
}

/// Ends the input, whose last block was read up to `used`; gives the number of its bytes.
pub(super) fn finish(
    reader: &mut impl Documents,
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
    let rows = reader.row_count();
    if let Some(Unfinished { inside, byte, line }) = reader.unfinished() {
        if !reader.may_be_cut() {
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
    // All documents are complete; checks whether something incomplete follows.
    if is_compressed_cut || block.bytes()[used..].starts_with(b"<") {
        if !reader.may_be_cut() {
            let inside = "what follows the document".to_owned();
            return fail(ErrorKind::Truncated { inside, end, rows }, block.offset + used as u64, None);
        }
        reader.mark_cut(end);
    }
    Ok(end)
}

/// The error of a fault in a block.
pub(super) fn describe(reader: &impl Documents, place: &Place<'_>, fault: Fault, block: &Block) -> Error {
    place.describe(fault, block, !reader.has_documents() && reader.unfinished().is_none())
}
