//! Writes a crash report with names in place of addresses. Everything else is the same, byte by byte.
//!
//! A frame is named as in a recording ([`symbolicate`](mod@crate::symbolicate)). Functions that were inlined there become frames before it. Frames
//! that the report already lists with inlined functions are kept, so naming a report twice is the same as naming it once.

mod ips;
mod named;
mod objects;
mod text;

use crate::error::Error;
use crate::readers::crash::CrashReport;
use crate::symbolicate::{SymbolicateOptions, SymbolicationSummary};
use crate::symbols::SymbolFinder;
use crate::units::Uuid;
use named::NamedReport;

impl CrashReport {
    /// Returns the bytes of the report with names from symbol files, and a summary of its frames.
    ///
    /// # Errors
    /// If the names exceed the memory budget.
    pub fn symbolicate(
        &self,
        finder: &dyn SymbolFinder,
        options: &SymbolicateOptions,
    ) -> Result<(Vec<u8>, SymbolicationSummary), Error> {
        let named = NamedReport::new(self, finder, options)?;
        let mut edits = if self.is_json() { ips::edits(&named) } else { text::edits(&named) };
        let length = edits.iter().map(|(_, text)| text.len()).sum::<usize>() + self.bytes.len();
        let held = self.options.memory.reserve(2 * length as u64);
        let _held = held.map_err(|over| Error::memory(over, None))?;
        edits.sort_by_key(|(span, _)| span.start);
        let (mut bytes, mut copied) = (Vec::with_capacity(length), 0);
        for (span, text) in edits {
            bytes.extend_from_slice(&self.bytes[copied..span.start]);
            bytes.extend_from_slice(text.as_bytes());
            copied = span.end;
        }
        bytes.extend_from_slice(&self.bytes[copied..]);
        Ok((bytes, named.summary))
    }

    /// The binaries whose symbols the report needs.
    pub fn wanted_images(&self) -> impl Iterator<Item = Uuid> {
        let frames = self.report.stacks().flat_map(|stack| &stack.frames);
        frames.filter_map(|frame| self.report.images.get(frame.image?)?.uuid)
    }
}
