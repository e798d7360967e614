//! The contents of a file: the images whose symbols it has, or the reason why it is of no use.

use super::found::SourceKind;
use crate::units::Uuid;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Images with symbols.
    Images(Vec<Image>),
    /// A known kind of file that is not read, or a broken one: a sentence.
    Known(String),
    /// A file that could not be read this time; another time it may.
    Unreadable(String),
    /// Anything else.
    Unknown,
}

/// An image in a file; see [`Found`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) kind: SourceKind,
    pub(super) uuid: Uuid,
    pub(super) arch: String,
    /// Its name, where the file tells it; otherwise the file is named as the image.
    pub(super) name: Option<String>,
    pub(super) text_address: Option<u64>,
    pub(super) text_size: Option<u64>,
    pub(super) range: (u64, u64),
}
