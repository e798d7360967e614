//! The local symbols of all images. The linker's table in the cache contains only exported symbols, since local symbols are not needed at run time.
//!
//! Old caches contain them at the end of the main file, and caches since iOS 15 and macOS 12 in a separate `.symbols` file. Offsets are relative
//! to the start of this part:
//!
//! | part | fields |
//! |---|---|
//! | start | u32 offset and count of the symbols, u32 offset and size of the names, u32 offset and count of the entries |
//! | symbol | as in Mach-O files, with unslid addresses |
//! | entry of an image | u32 offset of its header in the main file, u32 first symbol, u32 count of symbols |
//! | … in newer caches | u64 distance of its header from the first address of the cache, u32, u32 |

use std::io;

use super::cache_files::CacheFiles;
use crate::symbols::apple_bytes::{u32_at, u64_at};
use crate::symbols::layout::LocalSymbols;
use crate::symbols::section::Section as Piece;

/// The maximum number of entries. Caches of 2025 have about 4,000.
const MAX_ENTRIES: u64 = 1 << 16;

/// Finds the local symbols of the image whose header is at `address`, and at `offset` in its file; `None` if the cache contains none.
///
/// # Errors
/// If they cannot be read.
pub(super) fn find<'a>(cache: &'a CacheFiles<'_>, address: u64, offset: u64) -> io::Result<Option<LocalSymbols<'a>>> {
    let file = match &cache.symbols {
        Some(part) => match cache.opened(part) {
            Ok(file) => file,
            // The list of images has a note about this.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(None),
            Err(error) => return Err(error),
        },
        None => &cache.main,
    };
    let range = file.header.local_symbols();
    if range.is_empty() {
        return Ok(None);
    }
    let part = file.piece(range).ok_or_else(|| file.fault("the local symbols are outside the file"))?;
    let is_wide = cache.main.header.has_wide_local_symbols();
    let key = if is_wide { address.wrapping_sub(cache.main.header.base()) } else { offset };
    let found = in_part(part, is_wide, key);
    found.map_err(|what| file.fault(&format!("the local symbols are broken: {what}")))
}

fn in_part(part: Piece<'_>, is_wide: bool, key: u64) -> Result<Option<LocalSymbols<'_>>, &'static str> {
    let start = part.get(0..24).ok_or("they are truncated")?;
    let field = |index: usize| u64::from(u32_at(start, 4 * index));
    let (size, count) = (if is_wide { 16 } else { 12 }, field(5));
    if count > MAX_ENTRIES {
        return Err("too many images");
    }
    let entries = part.get(field(4)..field(4) + size * count).ok_or("the images are outside")?;
    let key_of = |entry: &[u8]| if is_wide { u64_at(entry, 0) } else { u32_at(entry, 0).into() };
    let Some(entry) = entries.chunks_exact(size as usize).find(|entry| key_of(entry) == key) else { return Ok(None) };
    let numbers = &entry[entry.len() - 8..];
    let range = (u32_at(numbers, 0), u32_at(numbers, 4));
    if u64::from(range.0) + u64::from(range.1) > field(1) {
        return Err("the symbols of the image are outside");
    }
    let symbols = part.part(field(0)..part.len()).ok_or("the symbols are outside")?;
    let names = part.part(field(2)..field(2) + field(3)).ok_or("the names are outside")?;
    Ok(Some(LocalSymbols { symbols, range, names }))
}
