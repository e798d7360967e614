//! The unit of a rule's limit.

use crate::units::{Unit, written_unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitUnit {
    Plain,
    Percent,
    /// A weight in this unit.
    Weight(Unit),
    /// A weight per second, in this unit.
    Rate(Unit),
}

impl LimitUnit {
    /// Parses a unit. Also returns the factor for numbers with this unit.
    pub(super) fn parse(text: &str) -> Option<(Self, u64)> {
        match text {
            "" => return Some((Self::Plain, 1)),
            "%" => return Some((Self::Percent, 1)),
            _ => {}
        }
        let (counted, is_rate) = text.strip_suffix("/s").map_or((text, false), |counted| (counted, true));
        let (unit, scale) = written_unit(counted).filter(|(unit, _)| !is_rate || *unit != Unit::Nanoseconds)?;
        Some((if is_rate { Self::Rate(unit) } else { Self::Weight(unit) }, scale))
    }
}
