//! Documents that end before they should: the elements that are open then, and what to do with them.

use super::super::fault::Fault;
use super::super::tag::Tag;
use super::{DocumentReader, Root};
use crate::error::ErrorKind;
use crate::recording::RejectReason;

/// The elements that are open, outermost first, and the place where a person should look.
#[derive(Clone, Debug)]
pub(in crate::readers::export) struct Unfinished {
    pub(in crate::readers::export) inside: String,
    pub(in crate::readers::export) byte: u64,
    pub(in crate::readers::export) line: u64,
}

impl DocumentReader<'_> {
    /// The elements that are open, outermost first, and the place where a person should look; `None` between documents.
    pub(in crate::readers::export) fn unfinished(&self) -> Option<Unfinished> {
        if let Root::Toc(toc) = &self.root {
            let (byte, line) = self.open.first().map_or((0, 1), |open| (open.at, open.line));
            return Some(Unfinished { inside: toc.path(), byte, line });
        }
        let row = self.open.iter().find(|open| open.tag == Tag::Row);
        let structures = || self.open.iter().rev().find(|open| open.line > 0);
        let look_at = row.or_else(structures).or(self.open.last())?;
        let names = self.open.iter().map(|open| match open.tag {
            Tag::TraceQueryResult => "trace-query-result",
            Tag::Node => "node",
            Tag::Schema => "schema",
            Tag::Row => "row",
            _ => "",
        });
        let names: Vec<&str> = names.take_while(|name| !name.is_empty()).collect();
        Some(Unfinished { inside: names.join("/"), byte: look_at.at, line: look_at.line })
    }

    /// A document that starts inside another one: that one was cut, and this one appended to it.
    pub(super) fn cut_if_open(&mut self, at: u64) -> Result<(), Fault> {
        let Some(Unfinished { inside, byte, line }) = self.unfinished() else { return Ok(()) };
        if !self.allow_truncated {
            let kind = ErrorKind::Truncated { inside, end: at, rows: self.rows };
            return Err(Fault { kind, byte, line: Some(line) });
        }
        self.accept_cut(at);
        Ok(())
    }

    /// Ends the input inside a document: complete rows stay, an incomplete one is rejected.
    pub(in crate::readers::export) fn accept_cut(&mut self, at: u64) {
        if self.open.iter().any(|open| open.tag == Tag::Row)
            && let Some(table) = &mut self.tables.open
        {
            table.reader.table.rows += 1;
            table.reader.table.rejected.add(RejectReason::Cut);
        }
        self.open.clear();
        self.finish_table();
        self.finish_document();
        self.mark_cut(at);
    }

    /// Says of the last document that the input ends too early, at this byte.
    pub(in crate::readers::export) fn mark_cut(&mut self, at: u64) {
        if let Some(document) = self.documents.last_mut() {
            document.cut_at = Some(at);
        }
    }
}
