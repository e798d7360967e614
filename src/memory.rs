//! One memory budget for all large data: inflated, decoded, named and kept.
//!
//! Small inputs can require much memory: a recording of zeros in an archive, a repeated name, an export with millions of stacks. Code that
//! needs more than a little memory reserves it first. Dropping the reservation releases it:
//!
//! ```
//! use traceparse::memory::MemoryBudget;
//!
//! let budget = MemoryBudget::new(100 << 20);
//! let mut inflated = budget.reserve(60 << 20)?;
//! assert!(budget.reserve(60 << 20).is_err(), "together they are too much");
//! inflated.resize(20 << 20)?;
//! assert_eq!(budget.reserve(60 << 20)?.bytes() + inflated.bytes(), 80 << 20);
//! # Ok::<(), traceparse::memory::OverBudget>(())
//! ```
//!
//! Clones share one budget. The counted bytes are approximate: tables count with their capacity, at the end of each block of an input.
//! Blocks, buffers and everything else of fixed size are not counted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::hash::HashMap;

/// The memory limit of everything that shares it.
#[derive(Clone, Default)]
pub struct MemoryBudget(Option<Arc<Shared>>);

struct Shared {
    limit: u64,
    /// The budget of which it is a part.
    whole: MemoryBudget,
    used: AtomicU64,
    was_exceeded: AtomicBool,
}

/// Omits the bytes in use, since they depend on other users of the budget.
impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryBudget").field(&self.limit()).finish()
    }
}

/// Budgets are equal if their limits are.
impl PartialEq for MemoryBudget {
    fn eq(&self, other: &Self) -> bool {
        self.limit() == other.limit()
    }
}

impl Eq for MemoryBudget {}

impl MemoryBudget {
    /// Creates a budget without a limit: the default.
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// Creates a budget of this size.
    pub fn new(bytes: u64) -> Self {
        Self::unlimited().part(bytes)
    }

    /// Creates a part of this budget with at most this size, and no more than the budget has left. Bytes reserved from the part are also
    /// reserved from the complete budget. Each of the two records whether it [was exceeded](Self::was_exceeded).
    pub fn part(&self, bytes: u64) -> Self {
        let (limit, whole) = (self.limit().map_or(bytes, |limit| limit.min(bytes)), self.clone());
        Self(Some(Arc::new(Shared { limit, whole, used: AtomicU64::new(0), was_exceeded: AtomicBool::new(false) })))
    }

    /// Returns the number of bytes that may be reserved; `None` for no limit.
    pub fn limit(&self) -> Option<u64> {
        self.0.as_ref().map(|shared| shared.limit)
    }

    /// Returns the number of reserved bytes.
    pub fn used(&self) -> u64 {
        self.0.as_ref().map_or(0, |shared| shared.used.load(Ordering::Relaxed))
    }

    /// True if more memory was ever requested than was left. Results may then be less complete than with more memory.
    pub fn was_exceeded(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.was_exceeded.load(Ordering::Relaxed))
    }

    /// Reserves bytes until the reservation is dropped.
    ///
    /// # Errors
    /// If fewer bytes are left.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation, OverBudget> {
        let mut reservation = self.nothing();
        reservation.resize(bytes)?;
        Ok(reservation)
    }

    /// Reserves no bytes yet, to grow later.
    pub fn nothing(&self) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0 }
    }

    fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        let Some(shared) = &self.0 else { return Ok(()) };
        let fits = |used: u64| used.checked_add(bytes).filter(|&used| used <= shared.limit);
        let taken = shared.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        let taken = taken.map_err(|_| OverBudget { limit: shared.limit, whole: self.root_limit() });
        let taken = taken.and_then(|_| shared.whole.take(bytes).inspect_err(|_| self.give_back_own(bytes)));
        taken.inspect_err(|_| shared.was_exceeded.store(true, Ordering::Relaxed))
    }

    fn give_back(&self, bytes: u64) {
        self.give_back_own(bytes);
        if let Some(shared) = &self.0 {
            shared.whole.give_back(bytes);
        }
    }

    fn give_back_own(&self, bytes: u64) {
        if let Some(shared) = &self.0 {
            shared.used.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the limit of the outermost budget, which the user set.
    fn root_limit(&self) -> u64 {
        let Some(shared) = &self.0 else { return u64::MAX };
        if shared.whole.0.is_some() { shared.whole.root_limit() } else { shared.limit }
    }
}

/// Bytes reserved from a budget. The default is zero bytes of an unlimited budget.
#[derive(Debug, Default)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: u64,
}

impl Reservation {
    /// Returns the number of reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the size of the reservation.
    ///
    /// # Errors
    /// If fewer bytes are left. The reservation then keeps its size.
    pub fn resize(&mut self, bytes: u64) -> Result<(), OverBudget> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.take(more)?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Reserves more bytes.
    ///
    /// # Errors
    /// See [`resize`](Self::resize).
    pub fn grow(&mut self, bytes: u64) -> Result<(), OverBudget> {
        self.resize(self.bytes.saturating_add(bytes))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// A budget does not have enough bytes left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// The size of the budget, in bytes.
    pub limit: u64,
    /// The size of the budget of which it is a part, in bytes; `limit` if it is not a part.
    pub whole: u64,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, whole, more) = (Size(self.limit), Size(self.whole), Size(self.whole.saturating_mul(4)));
        let of_whole = if limit == whole { String::new() } else { format!(" here, of {whole} in all") };
        write!(
            f,
            "more memory is needed than the limit of {limit} allows{of_whole}; if you trust the input, raise the \
             limit, for example with --memory {more}"
        )
    }
}

impl std::error::Error for OverBudget {}

/// A number of bytes, displayed like a value of `--memory`: `768M`, `2G`, or `1000000` if it is not a multiple of 1 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "G"), (20, "M"), (10, "K")];
        match units.into_iter().find(|(bits, _)| self.0 > 0 && self.0.is_multiple_of(1 << bits)) {
            Some((bits, unit)) => write!(f, "{}{unit}", self.0 >> bits),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Returns the approximate size of a vector in bytes.
pub(crate) fn of_vec<T>(rows: &Vec<T>) -> u64 {
    (rows.capacity() * size_of::<T>()) as u64
}

/// Returns the approximate size of a map in bytes: a byte and an entry for each slot, with one slot in eight free.
pub(crate) fn of_map<K, V>(map: &HashMap<K, V>) -> u64 {
    (map.capacity() as u64 * 8 / 7) * (size_of::<(K, V)>() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_given_back() {
        let budget = MemoryBudget::new(100);
        let mut one = budget.reserve(60).unwrap();
        assert_eq!(budget.reserve(41).unwrap_err(), OverBudget { limit: 100, whole: 100 });
        let other = budget.clone().reserve(40).unwrap();
        assert_eq!((budget.used(), one.grow(1)), (100, Err(OverBudget { limit: 100, whole: 100 })));
        drop(other);
        one.grow(40).unwrap();
        one.resize(10).unwrap();
        assert_eq!((budget.used(), one.bytes()), (10, 10));
        drop(one);
        assert_eq!(budget.used(), 0);
        assert!(budget.was_exceeded() && budget.reserve(u64::MAX).is_err());
    }

    #[test]
    fn a_part_takes_from_the_whole() {
        let whole = MemoryBudget::new(100);
        let (one, other) = (whole.part(60), whole.part(u64::MAX));
        let taken = one.reserve(60).unwrap();
        assert_eq!((whole.used(), one.used(), other.used(), other.limit()), (60, 60, 0, Some(100)));
        assert_eq!(one.reserve(1).unwrap_err(), OverBudget { limit: 60, whole: 100 });
        assert_eq!(other.reserve(41).unwrap_err(), OverBudget { limit: 100, whole: 100 });
        assert!(one.was_exceeded() && other.was_exceeded());
        assert_eq!(other.used(), 0, "what was not taken of the whole is not taken of the part");
        assert!(
            whole.part(100).part(20).reserve(21).unwrap_err().to_string().contains("20 allows here, of 100 in all")
        );
        drop(taken);
        assert_eq!((whole.used(), one.used()), (0, 0));
        assert!(other.reserve(100).is_ok());
        assert_eq!(MemoryBudget::unlimited().part(7).reserve(8).unwrap_err(), OverBudget { limit: 7, whole: 7 });
    }

    #[test]
    fn without_a_limit_everything_fits() {
        let budget = MemoryBudget::default();
        assert!(budget.reserve(u64::MAX).is_ok());
        assert_eq!((budget.limit(), budget.used()), (None, 0));
    }

    #[test]
    fn sizes_are_written_as_they_are_given() {
        let sizes = [(0, "0"), (1, "1"), (1 << 10, "1K"), (768 << 20, "768M"), (3 << 30, "3G"), (1_000_000, "1000000")];
        for (bytes, text) in sizes {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
