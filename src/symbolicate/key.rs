//! The keys of look-ups.

use crate::units::Uuid;

/// The addresses to look up in one image.
#[derive(Clone, Debug)]
pub(super) struct ImageAddresses {
    pub(super) uuid: Uuid,
    /// Relative to the Mach-O header; sorted, distinct.
    pub(super) addresses: Vec<u64>,
}

/// The key of a frame's look-up: the image, and the address relative to its Mach-O header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) uuid: Uuid,
    pub(super) address: u64,
}
