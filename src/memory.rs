//! A shared memory budget for all large data: decompressed, decoded, symbolicated and stored.
//!
//! Small inputs can require much memory: a recording of zeros in an archive, a repeated name, an export with millions of stacks. Code that needs more
//! than a little memory reserves it first. Dropping the reservation releases it:
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
//! Clones share one budget. The counted bytes are approximate: tables are counted by their capacity, at the end of each block of an input. Blocks,
//! buffers and everything else with a fixed size are not counted.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::hash::HashMap;
use crate::settings::{self, MEMORY};
use crate::units::{Scale, Unit, decimal, written_amount};

/// A memory limit shared by all its users.
#[derive(Clone, Default)]
pub struct MemoryBudget(Option<Arc<Shared>>);

struct Shared {
    limit: u64,
    /// The parent budget.
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

/// Budgets are equal if their limits are equal.
impl PartialEq for MemoryBudget {
    fn eq(&self, other: &Self) -> bool {
        self.limit() == other.limit()
    }
}

impl Eq for MemoryBudget {}

impl MemoryBudget {
    /// Creates a budget without a limit. This is the default.
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// Creates a budget of this size.
    pub fn new(bytes: u64) -> Self {
        Self::unlimited().part(bytes)
    }

    /// Creates a sub-budget with at most this size, capped at the limit of this budget. Bytes reserved from it are also reserved from this budget.
    /// Each of the two records whether it [was exceeded](Self::was_exceeded).
    pub fn part(&self, bytes: u64) -> Self {
        let (limit, whole) = (self.limit().map_or(bytes, |limit| limit.min(bytes)), self.clone());
        Self(Some(Arc::new(Shared { limit, whole, used: AtomicU64::new(0), was_exceeded: AtomicBool::new(false) })))
    }

    /// Returns the limit in bytes; `None` if unlimited.
    pub fn limit(&self) -> Option<u64> {
        self.0.as_ref().map(|shared| shared.limit)
    }

    /// Returns the number of reserved bytes.
    pub fn used(&self) -> u64 {
        self.0.as_ref().map_or(0, |shared| shared.used.load(Ordering::Relaxed))
    }

    /// True if a reservation ever failed. Results may then be less complete than with more memory.
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

    /// Creates an empty reservation, to grow later.
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
    /// The size of the outermost budget, in bytes; `limit` if this is the outermost.
    pub whole: u64,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Small inputs need this much.
        const LEAST: u64 = 64_000_000;
        let (limit, whole) = (Size(self.limit), Size(self.whole));
        let more = Size(self.whole.saturating_mul(4).max(LEAST));
        let of_whole = if limit == whole { String::new() } else { format!(" here, of {whole} in all") };
        write!(f, "more memory is needed than the limit of {limit} allows{of_whole}; ")?;
        match settings::is_without_command() {
            true => f.write_str("use the command traceparse"),
            false => {
                write!(f, "if you trust the input, raise the limit, for example with {MEMORY} {more}")
            }
        }
    }
}

impl std::error::Error for OverBudget {}

/// A number of bytes, parsed from and written as text: `800MB`, `2GiB`, also `2G` for `2GB`, or a number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Size {
    /// Rounds up to full megabytes.
    pub const fn in_megabytes(bytes: u64) -> Self {
        Self(bytes.div_ceil(1_000_000).saturating_mul(1_000_000))
    }
}

impl fmt::Display for Size {
    /// Writes the size in the largest unit that divides it, so it can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = Scale::whole_bytes(self.0);
        write!(f, "{}{scale}", self.0 / scale.factor())
    }
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let with_unit =
            |text: &str| written_amount(text).filter(|size| size.unit == Unit::Bytes).map(|size| size.value);
        let upper = text.to_ascii_uppercase();
        let bytes = decimal(text, "", 1).or_else(|| with_unit(text)).or_else(|| with_unit(&upper));
        let bytes = bytes.or_else(|| with_unit(&(upper + "B"))).filter(|&bytes| bytes > 0);
        bytes
            .map(Self)
            .ok_or("not a size; give a number with kB, MB, GB or TB, or with KiB, MiB, GiB or TiB, such as 512MB")
    }
}

/// Returns the approximate size of a vector in bytes.
pub(crate) fn of_vec<T>(rows: &Vec<T>) -> u64 {
    (rows.capacity() * size_of::<T>()) as u64
}

/// Returns the approximate size of a map in bytes: each slot takes an entry and one byte, and one slot in eight is free.
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
            whole.part(100).part(20).reserve(21).unwrap_err().to_string().contains("20B allows here, of 100B in all")
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
    fn sizes_are_read_as_people_write_them() {
        let sizes = [
            ("1", 1),
            ("512M", 512_000_000),
            ("2g", 2_000_000_000),
            ("3GiB", 3 << 30),
            ("10KB", 10_000),
            ("1.5T", 1_500_000_000_000),
        ];
        for (text, bytes) in sizes {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "M", "-1", "0", "0M", "20000000T", "1X", "1MM", "5ms"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert_eq!([800_000_000, 64 << 20, 1].map(|bytes| Size(bytes).to_string()), ["800MB", "64MiB", "1B"]);
        assert_eq!(Size::in_megabytes(1_000_001), Size(2_000_000));
    }
}
