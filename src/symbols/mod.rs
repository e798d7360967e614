//! Symbol files: the source of names for the addresses of an image, found by its UUID.
//!
//! | file | read for |
//! |---|---|
//! | dSYM, or any Mach-O file with DWARF 2 to 5 | functions, inlined functions, files, lines |
//! | Mach-O symbol table and function starts | functions |
//! | `.symbols` (`xcrun symbols`) and `.symbolsarchive` (Instruments) | functions, inlined functions, files, lines |
//!
//! A [`Locator`] walks what the user names and knows files by content. [`with_symbols`] opens one; [`Symbols`] answers
//! addresses relative to the Mach-O header with [`SymbolFrame`]s, innermost first. This module knows nothing of exports.

mod apple_bytes;
mod apple_container;
mod apple_contents;
mod apple_inlined;
mod apple_lookup;
mod apple_record;
mod apple_segments;
#[cfg(feature = "bundle")]
mod apple_signature;
mod architecture;
mod ask;
mod contents;
mod dwarf;
mod file_bytes;
mod files;
mod found;
mod frame;
mod index;
mod layout;
mod locate;
mod macho;
mod recall;
mod symbol_table;
#[cfg(test)]
mod testing;
mod walk;

pub use apple_bytes::Broken;
#[cfg(feature = "bundle")]
pub(crate) use apple_container::ListedImage;
pub use apple_container::{AppleImage, images as apple_images, is_apple_symbols};
pub use apple_lookup::{AppleSymbols, DEDUPLICATED};
#[cfg(feature = "bundle")]
pub(crate) use apple_signature::{SharedCache, Signature, signature as apple_signature};
pub use architecture::Architecture;
pub(crate) use ask::is_located;
pub use ask::{Asked, look_up};
pub use contents::with_symbols;
pub use dwarf::MachoSymbols;
pub use file_bytes::FileBytes;
pub use files::{Entry, EntryKind, FileSystem, Files, FolderTimes};
pub use found::{Found, SourceKind};
pub use frame::{Note, Notes, SymbolFrame, Symbols};
pub use index::{Index, Stamp};
pub use locate::{Locator, SymbolFinder};
pub use macho::{Kind as MachoKind, MachoError, Slice, Slices, is_macho, slices, slices_of};
