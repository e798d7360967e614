//! Symbol files: they name the addresses of an image, and are found by its UUID.
//!
//! | file | read for |
//! |---|---|
//! | dSYM, or any Mach-O file with DWARF 2 to 5 | functions, inlined functions, files, lines |
//! | Mach-O symbol table and function starts | functions |
//! | dyld shared cache: symbol tables, exports, function starts and local symbols | functions |
//! | `.symbols` (`xcrun symbols`) and `.symbolsarchive` (Instruments) | functions, inlined functions, files, lines |
//! | Breakpad (`.sym`) | functions, inlined functions, files, lines |
//!
//! The first three require the feature `symbols`. [`BreakpadFile`] writes the symbols of any file as a Breakpad file.
//!
//! A [`Locator`] walks the paths specified by the user, and recognises files by content. [`SymbolFinder::look_up`] queries them: [`Symbols`] map
//! addresses relative to the Mach-O header to [`SymbolFrame`]s, innermost first. This module does not depend on recordings.

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
mod breakpad;
mod cached_contents;
#[cfg(feature = "symbols")]
mod dwarf;
#[cfg(feature = "symbols")]
mod dyld;
#[cfg(feature = "symbols")]
mod exports;
mod folder_walk;
mod found;
mod frame;
mod index;
#[cfg(feature = "symbols")]
mod layout;
mod locate;
mod lookup;
#[cfg(feature = "symbols")]
mod macho;
#[cfg(feature = "symbols")]
mod macho_file;
mod notes;
#[cfg(feature = "symbols")]
mod section;
mod sentences;
mod stamp;
mod symbol_file;
#[cfg(feature = "symbols")]
mod symbol_table;
#[cfg(all(test, feature = "symbols"))]
mod testing;

#[cfg(feature = "bundle")]
pub(crate) use apple_bytes::{Broken, broken, u32_at, u64_at};
pub use apple_container::AppleImage;
#[cfg(feature = "bundle")]
pub(crate) use apple_container::ListedImage;
pub use apple_lookup::AppleSymbols;
#[cfg(feature = "bundle")]
pub(crate) use apple_signature::{SharedCache, Signature, signature as apple_signature};
#[cfg(feature = "bundle")]
pub(crate) use architecture::Architecture;
pub use breakpad::BreakpadFile;
pub use found::{Found, SourceKind};
pub use frame::{SymbolFrame, Symbols};
pub use index::Index;
pub use locate::Locator;
pub(crate) use lookup::is_located;
pub use lookup::{Asked, SymbolFinder};
#[cfg(feature = "symbols")]
pub use macho::Slice;
pub(crate) use sentences::first_sentences;
