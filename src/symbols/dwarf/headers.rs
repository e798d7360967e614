//! Finds units and line tables in their sections, reading only the first bytes of each.

use gimli::{
    DebugInfo, DebugLineOffset, Format, LittleEndian, Reader as _, ReaderOffsetId, SectionId, UnitHeader,
    UnitSectionOffset,
};

use super::limits::{Bytes, Fault};
use crate::symbols::section::Section;

/// The number of bytes read of a unit, for its first entry. Entries take about 40 bytes, and more only if they contain strings.
const HEAD: u64 = 512;

/// The header of a unit.
pub(super) struct Head<'data> {
    /// The header, with the first bytes of the unit.
    pub(super) header: UnitHeader<Bytes<'data>>,
    /// The offset of the unit's first entry. `UnitHeader::header_size` would be wrong here, since it subtracts the bytes in the header from the
    /// length of the unit.
    pub(super) size: usize,
    /// True if the first bytes are already the complete unit.
    pub(super) is_whole: bool,
}

/// Returns the headers in `.debug_info`, in order, up to the first fault.
pub(super) fn heads<'data>(info: Section<'data>) -> impl Iterator<Item = Result<Head<'data>, Fault>> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        if offset >= info.len() {
            return None;
        }
        let head = extent(info, offset).and_then(|(end, format)| {
            let head = head(info, offset, end, format)?;
            offset = end;
            Ok(head)
        });
        if head.is_err() {
            offset = u64::MAX;
        }
        Some(head)
    })
}

/// Returns the end of the unit or line table at `offset`, and its offset width. Both follow from its initial length.
fn extent(section: Section<'_>, offset: u64) -> Result<(u64, Format), Fault> {
    let start = section.get(offset..section.len().min(offset.saturating_add(12))).ok_or(Fault::Unreadable)?;
    let (length, format) = Bytes::new(start, LittleEndian).read_initial_length()?;
    let end = offset.checked_add(u64::from(format.initial_length_size())).and_then(|at| at.checked_add(length as u64));
    // The section is truncated, or the length is wrong.
    let end = end.filter(|&end| end <= section.len()).ok_or(gimli::Error::UnexpectedEof(ReaderOffsetId(offset)))?;
    Ok((end, format))
}

fn head<'data>(info: Section<'data>, offset: u64, end: u64, format: Format) -> Result<Head<'data>, Fault> {
    let read = end.min(offset + HEAD);
    let start = info.get(offset..read).ok_or(Fault::Unreadable)?;
    // The same unit, shortened to the bytes that were read.
    let mut short = start.to_vec();
    let width = usize::from(format.initial_length_size());
    let length = (start.len() - width) as u64;
    match format {
        Format::Dwarf32 => short[..4].copy_from_slice(&(length as u32).to_le_bytes()),
        Format::Dwarf64 => short[4..12].copy_from_slice(&length.to_le_bytes()),
    }
    let short = DebugInfo::new(&short, LittleEndian).units().next()?.ok_or(Fault::Unreadable)?;
    let size = short.header_size();
    let place = UnitSectionOffset(usize::try_from(offset).map_err(|_| Fault::TooCostly)?);
    let length = usize::try_from(end - offset).map_err(|_| Fault::TooCostly)? - width;
    let entries = Bytes::new(&start[size..], LittleEndian);
    let (encoding, abbreviations) = (short.encoding(), short.debug_abbrev_offset());
    let header = UnitHeader::new(encoding, length, short.type_(), abbreviations, SectionId::DebugInfo, place, entries);
    Ok(Head { header, size, is_whole: read == end })
}

/// Returns the header with the complete unit; `None` if it cannot be read.
pub(super) fn whole<'data>(
    info: Section<'data>,
    header: &UnitHeader<Bytes<'data>>,
    size: usize,
) -> Option<UnitHeader<Bytes<'data>>> {
    let offset = header.debug_info_offset()?;
    let bytes = info.get(offset.0 as u64..(offset.0 + header.length_including_self()) as u64)?;
    let entries = Bytes::new(bytes.get(size..)?, LittleEndian);
    let place = UnitSectionOffset(offset.0);
    let (encoding, abbreviations) = (header.encoding(), header.debug_abbrev_offset());
    let (length, kind) = (header.unit_length(), header.type_());
    Some(UnitHeader::new(encoding, length, kind, abbreviations, SectionId::DebugInfo, place, entries))
}

/// Returns the bytes of the line table at `offset`; `None` if they cannot be read.
pub(super) fn line_program(lines: Section<'_>, offset: DebugLineOffset) -> Option<&[u8]> {
    let offset = offset.0 as u64;
    let (end, _) = extent(lines, offset).ok()?;
    lines.get(offset..end)
}
