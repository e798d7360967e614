//! Parts of the file, and bounds on what is read of them.

use gimli::{EndianSlice, LittleEndian};

/// A part of the file.
pub(super) type Bytes<'data> = EndianSlice<'data, LittleEndian>;
/// A unit with its sections.
pub(super) type UnitRef<'a, 'data> = gimli::UnitRef<'a, Bytes<'data>>;

/// Most attributes of an entry. Attributes may take no bytes at all, so that entries of one byte could have millions.
pub(super) const MAX_ATTRIBUTES: usize = 1000;

/// Longest name or path in `.debug_str`. Without a bound, a section without zero bytes would be read to its end for every name.
pub(super) const MAX_STRING_LENGTH: u64 = 1 << 20;
