//! Quantities: time, weight with its unit, addresses, UUIDs.

mod address;
mod millionths;
mod nanos;
mod scale;
mod unit;
mod uuid;
mod weight;
mod words;

pub use address::Address;
pub use millionths::Millionths;
pub use nanos::Nanos;
pub(crate) use scale::{Scale, decimal, is_unit, written_amount, written_unit};
pub use unit::Unit;
pub use uuid::Uuid;
pub use weight::Weight;
pub(crate) use words::{capitalized, choice_of};
pub use words::{counted, first_of, several};

/// An upper limit for the size of a function in bytes: the longest function in known reports has 78 KB. Code that is farther from the
/// preceding symbol is in another function: the binary is stripped, and only its exports are known.
pub(crate) const LONGEST_FUNCTION: u64 = 256 << 10;
