//! The error of a full profile.

use std::fmt;

/// A table has 2³² − 1 rows, the weights of a series do not fit in 64 bits, or more than 2⁴⁸ samples were already summed when they were
/// read.
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
