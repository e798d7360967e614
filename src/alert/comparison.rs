//! The comparison of a number with a limit.

/// The side of a limit on which a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// Longer signs come first: the lexer takes the first sign that matches, and `>=` begins with `>`.
    pub(super) const ALL: [Self; 4] = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below];

    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// True if `value` satisfies the comparison with `limit`.
    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }

    /// True if the rule fires for large values.
    pub(crate) const fn is_upper(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}
