//! Symbols that were found: the file, its kind, and the byte range of the image.

use std::io;
use std::path::PathBuf;

use super::stamp::Stamp;
use crate::units::Uuid;

/// The kind of file that symbols come from, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// DWARF in a Mach-O companion file, as in a dSYM bundle.
    Dsym,
    /// A `.symbols` file from `xcrun symbols`.
    Symbols,
    /// A Breakpad symbol file (`.sym`).
    Breakpad,
    /// A Mach-O binary: its symbol table, and DWARF if it has any.
    MachO,
    /// An image in a dyld shared cache: its symbol table, exports and local symbols.
    DyldCache,
    /// A `.symbolsarchive`, which Instruments stores in a recording.
    SymbolsArchive,
}

impl SourceKind {
    /// All kinds, in order of preference.
    pub(crate) const ALL: [Self; 6] =
        [Self::Dsym, Self::Symbols, Self::Breakpad, Self::MachO, Self::DyldCache, Self::SymbolsArchive];

    /// The name in text and machine formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dsym => "dSYM",
            Self::Symbols => "symbols",
            Self::Breakpad => "Breakpad",
            Self::MachO => "Mach-O",
            Self::DyldCache => "dyld cache",
            Self::SymbolsArchive => "symbolsarchive",
        }
    }
}

/// The symbols of one image in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// The kind of the file.
    pub kind: SourceKind,
    /// The image's UUID.
    pub uuid: Uuid,
    /// The architecture in Apple's spelling (`arm64e`).
    pub arch: String,
    /// The name of the image, such as `libdispatch.dylib`.
    pub name: String,
    /// The path at which the image is installed, such as `/usr/lib/system/libdispatch.dylib`, if the file contains it.
    pub image_path: Option<String>,
    /// The address of `__TEXT` in the file, if the file contains it.
    pub text_address: Option<u64>,
    /// The size of `__TEXT`, if the file contains it.
    pub text_size: Option<u64>,
    /// The range of the image in the file: offset and length. If the file has several kinds of content, the range is the entire file.
    pub range: (u64, u64),
}

/// The contents of a file. Files without anything that symbols come from have the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Images with symbols.
    pub(super) images: Vec<Image>,
    /// Messages about an unsupported kind of file, damage, or missing parts.
    pub(super) notes: Vec<String>,
    /// The files in the same folder that these contents depend on: name and stamp. A missing file has the default stamp.
    pub(super) parts: Vec<(String, Stamp)>,
}

impl Contents {
    /// Contents that only consist of a message.
    pub(super) fn note(what: impl Into<String>) -> Self {
        Self { notes: vec![what.into()], ..Self::default() }
    }
}

/// An image in a file; see [`Found`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) kind: SourceKind,
    pub(super) uuid: Uuid,
    pub(super) arch: String,
    /// The name in the file, or the path at which the image is installed; without one, the file name is used.
    pub(super) name: Option<String>,
    pub(super) text_address: Option<u64>,
    pub(super) text_size: Option<u64>,
    pub(super) range: (u64, u64),
}

pub(super) fn invalid(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// The message about a file that cannot be read.
pub(super) fn unreadable(error: impl std::fmt::Display) -> String {
    format!("cannot be read: {error}")
}

pub(super) fn gone() -> io::Error {
    invalid("the file changed: it no longer has this UUID")
}
