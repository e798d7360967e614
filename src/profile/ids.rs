//! Row ids of the profile's tables (small, `Copy` and opaque), and the error for a full table. `Option<Id<T>>` is as small as `Id<T>`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;

/// The id of a row in one of the profile's tables: `Id<Thread>` identifies a [`Thread`](super::Thread), `Id<str>` a string. It is valid only in
/// the profile that returned it.
pub struct Id<T: ?Sized> {
    number: NonZeroU32,
    table: PhantomData<fn() -> T>,
}

impl<T: ?Sized> Id<T> {
    /// Returns the id of row `index`; `None` beyond the capacity of a table (2³² − 1 rows).
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().and_then(|index| index.checked_add(1)).and_then(NonZeroU32::new).map(Self::numbered)
    }

    /// Returns the row's index. Indices count from 0 without gaps, so other tables can use them.
    #[inline]
    pub const fn index(self) -> usize {
        self.number.get() as usize - 1
    }

    /// Returns the id of the previous row, or `None` for the first one.
    #[inline]
    pub(super) fn before(self) -> Option<Self> {
        NonZeroU32::new(self.number.get() - 1).map(Self::numbered)
    }

    const fn numbered(number: NonZeroU32) -> Self {
        Self { number, table: PhantomData }
    }
}

// Derived implementations would require the same traits of `T`.

impl<T: ?Sized> Clone for Id<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Id<T> {}

impl<T: ?Sized> PartialEq for Id<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T: ?Sized> Eq for Id<T> {}

impl<T: ?Sized> PartialOrd for Id<T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: ?Sized> Ord for Id<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }
}

impl<T: ?Sized> Hash for Id<T> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<T: ?Sized> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Id").field(&self.number).finish()
    }
}

/// A table has 2³² − 1 rows, the weights of a series exceed 64 bits, or the input contains more than 2⁴⁸ presummed samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the profile is full: a table reached 2^32 - 1 rows, the weights of a series exceed 64 bits, or there are more than 2^48 \
             samples",
        )
    }
}

impl std::error::Error for Full {}
