//! A quantity of the runs of both sides, and the quantity that has to agree with it.

use super::choice::{Choice, Lengths};
use super::levels::Levels;
use super::quantity::{Quantity, QuantityValues};
use super::side::Side;
use super::total::Total;
use super::units::Units;

/// The tests of a quantity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The quantity.
    pub quantity: Quantity,
    /// Its tests.
    pub total: Total,
    /// The other quantity that "no slowdown" needs; `None` if lengths neither differ nor vary freely.
    pub guard: Option<Guard>,
}

/// A second quantity. If lengths differ, CPU use may stay the same although the work takes longer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guard {
    /// The quantity.
    pub quantity: Quantity,
    /// Its tests.
    pub total: Total,
    /// True if "slower" and "faster" need the same claim about it, since nobody chose the first quantity.
    pub confirms_claims: bool,
}

impl Measured {
    pub(super) fn new(
        (quantity, values): (Quantity, &[QuantityValues; 2]),
        (sides, units): (&[Side; 2], &Units),
        (choice, lengths): (Choice, Option<&Lengths>),
        (levels, alpha, min_effect): (Levels, f64, f64),
    ) -> Self {
        let limits = (levels, alpha, min_effect);
        let differ = lengths.is_some_and(|lengths| lengths.differ);
        let second = match (choice, &quantity) {
            (Choice::Report, _) => None,
            (Choice::Requested, Quantity::CpuTime) => None,
            (Choice::Requested, _) | (_, Quantity::CpuUse) => Some(Quantity::CpuTime),
            _ => Some(Quantity::CpuUse),
        };
        let guard = second.filter(|_| differ || choice == Choice::FreeLengths).map(|second| {
            let total = Total::new((&second, &QuantityValues::of_sides(&second, sides)), units, limits);
            let confirms_claims = differ && choice != Choice::Requested && quantity == Quantity::CpuUse;
            Guard { quantity: second, total, confirms_claims }
        });
        Self { total: Total::new((&quantity, values), units, limits), quantity, guard }
    }

    /// The tests of the quantity, and those of the second one.
    pub(super) fn totals(&self) -> impl Iterator<Item = &Total> {
        std::iter::once(&self.total).chain(self.guard.iter().map(|guard| &guard.total))
    }
}
