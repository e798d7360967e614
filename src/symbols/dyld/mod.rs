//! dyld shared caches, which contain all system libraries. Since macOS 11, and in all versions of iOS, the libraries exist nowhere else.
//!
//! ```text
//! dyld_shared_cache_arm64e               the list of images, and the first of them
//! dyld_shared_cache_arm64e.01            more images; `.1` in macOS 12 and iOS 15
//! dyld_shared_cache_arm64e.02.dyldlinkedit  symbol tables
//! dyld_shared_cache_arm64e.symbols       local symbols
//! ```
//!
//! The main file lists all images by address, and its subcaches by UUID. Each file maps ranges of addresses to itself. The Mach-O header and load
//! commands of an image are in one file, and its symbol table, exports and function starts may be in another, which all images share
//! (`__LINKEDIT`). Offsets in load commands count from the start of the file that contains `__LINKEDIT`. Older caches are a single file.
//!
//! Listing the images reads headers and load commands. A lookup then opens only the files with the parts of its image.
//!
//! # Why not the reader in `object`
//!
//! `DyldCache` needs all files of a cache even for one image, and fails if a file is missing. It does not read local symbols. It would replace
//! only the reading of mappings and of two lists.

mod cache_files;
mod header;
mod local_symbols;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::found::{Contents, Found, Image, SourceKind, gone, invalid, unreadable};
use super::frame::Symbols;
use super::index::line_text;
use super::layout::{Layout, SharedParts};
use super::macho::{Linkedit, Slice, slices};
use super::macho_file::{image, read_at};
use super::notes::Notes;
use super::section::Section as Piece;
use super::stamp::Stamp;
use crate::error::Diagnostic;
use crate::files::Files;
use crate::memory::MemoryBudget;
use crate::units::several;

use cache_files::{CacheFiles, Place};
use header::ListedImage;
pub(super) use header::is_cache;

/// The maximum number of images. Caches of 2025 have about 4,000.
const MAX_IMAGES: u64 = 1 << 16;
/// The maximum size of all load commands. Caches of 2025 have about 20 MB.
const MAX_COMMAND_BYTES: u64 = 256 << 20;
/// The longest path of an image.
const MAX_PATH: u64 = 1024;

/// Lists the images of a cache, if `path` is its main file. Parts of a cache have no images, and depend on the main file.
pub(super) fn contents(files: &dyn Files, path: &Path, budget: &MemoryBudget) -> Result<Contents, String> {
    let cache = match CacheFiles::open(files, path, budget) {
        Ok(cache) => cache,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Ok(Contents::note(format!("a broken dyld shared cache: {error}")));
        }
        Err(error) => return Err(unreadable(error)),
    };
    if !cache.main.header.is_main() {
        return Ok(part_of_cache(files, path));
    }
    let mut notes = Notes::default();
    let mut parts = Vec::new();
    for part in cache.parts() {
        // Before the part is read, so that any later change has a different stamp.
        parts.push((part.name(), Stamp::of(files, part.path())));
        cache.opened(part).err().into_iter().for_each(|error| notes.add(error.to_string()));
    }
    let images = images(&cache, files, budget, &mut notes).map_err(unreadable)?;
    cache.check().map_err(unreadable)?;
    let notes = notes.into_vec().iter().map(ToString::to_string).collect();
    Ok(Contents { images, notes, parts })
}

/// The contents of a subcache or `.symbols` file.
fn part_of_cache(files: &dyn Files, path: &Path) -> Contents {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(main) = main_name(&name) else {
        return Contents::note(
            "a part of a dyld shared cache; rename it as Apple does, and copy the other files to the same folder",
        );
    };
    let stamp = Stamp::of(files, &path.with_file_name(main));
    let missing = format!("a part of the dyld shared cache {main}, which is missing; copy it to the same folder");
    let notes = if stamp == Stamp::default() { vec![missing] } else { Vec::new() };
    Contents { notes, parts: vec![(main.to_owned(), stamp)], ..Contents::default() }
}

/// Returns the name of the main file: `dyld_shared_cache_arm64e` for `dyld_shared_cache_arm64e.02.dyldlinkedit`.
fn main_name(name: &str) -> Option<&str> {
    if let Some(main) = name.strip_suffix(".symbols") {
        return Some(main);
    }
    let numbered = name.find(".dyld").map_or(name, |kind| &name[..kind]);
    let (main, number) = numbered.rsplit_once('.')?;
    (!main.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(main)
}

/// Reads the header and load commands of each image.
fn images(
    cache: &CacheFiles<'_>,
    files: &dyn Files,
    budget: &MemoryBudget,
    notes: &mut Notes,
) -> io::Result<Vec<Image>> {
    let main = &cache.main;
    let listed = main.header.images(&main.bytes, MAX_IMAGES);
    let (listed, count) = listed.ok_or_else(|| main.fault("its list of images is outside the file"))?;
    if count > listed.len() as u64 {
        notes.add(format!("the last {} were ignored", several(count as usize - listed.len(), "image")));
    }
    let each = size_of::<ListedImage>() as u64 + size_of::<Image>() as u64 + MAX_PATH / 8;
    let _reserved = budget.reserve(each * listed.len() as u64).map_err(io::Error::other)?;
    // Old caches list an image again for each link to it.
    let (mut seen, mut images, mut read, mut unreachable) = (BTreeSet::new(), Vec::new(), 0, 0);
    for ListedImage { address, path } in listed {
        if !seen.insert(address) {
            continue;
        }
        let Ok(place) = cache.place(address) else {
            unreachable += 1;
            continue;
        };
        match slice_at(place, files, address, &mut read) {
            Ok(slice) => {
                let name = main.bytes.get(path..main.bytes.len().min(path.saturating_add(MAX_PATH)));
                let range = (0, main.bytes.len());
                images.extend(image(&slice, SourceKind::DyldCache, name.and_then(path_text), range));
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                notes.add(format!("an image was ignored: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    if unreachable > 0 {
        notes.add(format!("{} in no readable file of the cache", several(unreachable, "image")));
    }
    Ok(images)
}

/// Reads the header and load commands at a place. Adds the number of bytes to `read`, and does not keep the bytes.
fn slice_at(place: Place<'_, '_>, files: &dyn Files, address: u64, read: &mut u64) -> io::Result<Slice> {
    let mut read_at = read_at(files, &place.file.path);
    let slices = slices(place.room, &mut |offset, buffer| {
        *read += buffer.len() as u64;
        if *read > MAX_COMMAND_BYTES {
            return Err(invalid("the load commands of all images are too large"));
        }
        read_at(place.offset + offset, buffer)
    })?;
    slice_of(slices, address)
}

/// Returns the only slice, if it is the image at this address.
fn slice_of(slices: Vec<Slice>, address: u64) -> io::Result<Slice> {
    let slice = slices.into_iter().next().filter(|slice| slice.range.start == 0 && slice.text_address == address);
    slice.ok_or_else(|| invalid("its address differs between its header and the list of images"))
}

fn path_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.iter().position(|&byte| byte == 0)?]);
    Some(line_text(&text)).filter(|text| !text.is_empty())
}

/// Opens a found image, and queries it.
pub(super) fn ask(
    files: &dyn Files,
    found: &Found,
    budget: &MemoryBudget,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
) -> io::Result<Vec<Diagnostic>> {
    let cache = CacheFiles::open(files, &found.path, budget)?;
    let notes = ask_image(&cache, found, ask);
    // If a read failed, all other errors follow from that.
    cache.check().and(notes)
}

fn ask_image(
    cache: &CacheFiles<'_>,
    found: &Found,
    ask: impl FnOnce(&dyn Symbols) -> Vec<Diagnostic>,
) -> io::Result<Vec<Diagnostic>> {
    let address = found.text_address.ok_or_else(gone)?;
    let Place { file, offset, room } = cache.place(address)?;
    let header = file.piece(offset..offset + room).ok_or_else(gone)?;
    let slices = slices(room, &mut |offset, buffer| {
        let bytes = header.get(offset..offset.saturating_add(buffer.len() as u64));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    })?;
    let slice = slice_of(slices, address)?;
    if slice.uuid != Some(found.uuid) {
        return Err(gone());
    }
    let mut notes = Notes::default();
    let local_symbols = match local_symbols::find(cache, address, offset) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            notes.add(error.to_string());
            None
        }
        found => found?,
    };
    let shared = SharedParts { linkedit: linkedit(cache, &slice)?, local_symbols, export_names: OnceCell::new() };
    let layout = Layout::of_cache(header, &shared)?;
    let mut notes = notes.into_vec();
    notes.extend(ask(&layout));
    Ok(notes)
}

/// Returns the file with the symbol table of an image. Without it, code would get the names of local symbols before it.
fn linkedit<'a>(cache: &'a CacheFiles<'_>, slice: &Slice) -> io::Result<Piece<'a>> {
    let Linkedit { address, offset } = slice.linkedit.ok_or_else(|| invalid("the image has no __LINKEDIT"))?;
    let place = cache.place(address)?;
    let whole = place.file.piece(0..place.file.bytes.len()).filter(|_| place.offset == offset);
    whole.ok_or_else(|| invalid("the cache and the image disagree on the offset of __LINKEDIT"))
}

#[cfg(test)]
mod tests {
    use super::main_name;

    #[test]
    fn a_part_is_named_after_the_main_file() {
        for (part, main) in [
            ("dyld_shared_cache_arm64e.1", Some("dyld_shared_cache_arm64e")),
            ("dyld_shared_cache_arm64e.01", Some("dyld_shared_cache_arm64e")),
            ("dyld_shared_cache_arm64e.02.dyldlinkedit", Some("dyld_shared_cache_arm64e")),
            ("dyld_shared_cache_arm64e.symbols", Some("dyld_shared_cache_arm64e")),
            ("dyld_shared_cache_arm64e.development.03", Some("dyld_shared_cache_arm64e.development")),
            ("renamed", None),
            (".1", None),
        ] {
            assert_eq!(main_name(part), main, "{part}");
        }
    }
}
