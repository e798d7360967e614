//! Truncated documents: which elements are open at the end, and what happens to them.

use super::super::tag::Tag;
use super::super::truncation::{Documents, Unfinished};
use super::{DocumentReader, Root};
use crate::recording::RejectReason;

impl Documents for DocumentReader<'_> {
    fn unfinished(&self) -> Option<Unfinished> {
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

    fn has_documents(&self) -> bool {
        !self.documents.is_empty()
    }

    fn row_count(&self) -> u64 {
        self.rows
    }

    fn may_be_cut(&self) -> bool {
        self.allow_truncated
    }

    fn accept_cut(&mut self, at: u64) {
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

    fn mark_cut(&mut self, at: u64) {
        if let Some(document) = self.documents.last_mut() {
            document.cut_at = Some(at);
        }
    }
}
