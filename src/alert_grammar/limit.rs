//! Numbers with units: `80`, `5 %`, `200ms`, `3Mcycles`, `2.5 Gcycles/s`.

use super::dialect::{AlertError, Dialect};
use super::lexer::Lexer;

use crate::units::Unit;

/// The number that another one is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit<'t> {
    /// The rule as typed.
    pub(crate) text: &'t str,
    /// In its unit: percent, nanoseconds, cycles, cycles per second …; not below zero, and finite.
    pub(crate) number: f64,
    pub(crate) unit: LimitUnit,
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitUnit {
    Plain,
    Percent,
    /// A weight in this unit.
    Weight(Unit),
    /// A weight per second in this unit.
    Rate(Unit),
}

const TIMES: [(&str, f64); 6] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)];
const COUNTED: [(&str, Unit); 3] = [("cycles", Unit::Cycles), ("events", Unit::PmcEvents), ("samples", Unit::Samples)];
const PREFIXES: [(&str, f64); 6] = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// Reads the end of a rule.
pub(super) fn limit<'t>(lexer: &mut Lexer<'t>, dialect: &Dialect) -> Result<Limit<'t>, AlertError> {
    let text = lexer.rest();
    let scaled = lexer.number().and_then(|number| unit(lexer.rest()).map(|(unit, scale)| (number * scale, unit)));
    let (number, unit) =
        scaled.filter(|(number, _)| number.is_finite()).ok_or_else(|| dialect.error(text, dialect.limits))?;
    Ok(Limit { text, number, unit })
}

/// A unit and what a number of it is multiplied by.
fn unit(text: &str) -> Option<(LimitUnit, f64)> {
    match text {
        "" => return Some((LimitUnit::Plain, 1.0)),
        "%" => return Some((LimitUnit::Percent, 1.0)),
        _ => {}
    }
    if let Some((_, scale)) = TIMES.into_iter().find(|(name, _)| *name == text) {
        return Some((LimitUnit::Weight(Unit::Nanoseconds), scale));
    }
    let (counted, is_rate) = text.strip_suffix("/s").map_or((text, false), |counted| (counted, true));
    COUNTED.into_iter().find_map(|(name, unit)| {
        let prefix = counted.strip_suffix(name)?.trim_end();
        let (_, scale) = PREFIXES.into_iter().find(|(name, _)| *name == prefix)?;
        Some((if is_rate { LimitUnit::Rate(unit) } else { LimitUnit::Weight(unit) }, scale))
    })
}
