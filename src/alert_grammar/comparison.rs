//! The sign of a rule.

/// The side of a threshold on which a rule fires.
// Comparisons of two recordings know one of them only.
#[cfg_attr(not(feature = "fleet"), allow(unreachable_pub))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}
