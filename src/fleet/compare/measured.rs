//! A quantity of the runs on both sides, and a second quantity that must agree with it.

use super::choice::{Choice, Lengths};
use super::levels::Levels;
use super::quantity::{Quantity, QuantityValues};
use super::side::Side;
use super::total::Total;
use super::units::Units;

/// The tests of one quantity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The quantity.
    pub quantity: Quantity,
    /// The tests of its total.
    pub total: Total,
    /// The tests of a second quantity. The verdict "no slowdown" requires it to show none either: if recorded lengths differ, CPU use may stay
    /// the same although the work takes longer. `None` if recorded lengths neither differ nor vary freely.
    pub guard: Option<Box<Self>>,
    /// True if "slower" and "faster" require the same claim about the second quantity, since the user did not choose the first.
    pub needs_guard: bool,
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
            Box::new(Self { quantity: second, total, guard: None, needs_guard: false })
        });
        let needs_guard = guard.is_some() && differ && choice != Choice::Requested && quantity == Quantity::CpuUse;
        Self { total: Total::new((&quantity, values), units, limits), quantity, guard, needs_guard }
    }

    /// The totals of the quantity and of the second one.
    pub(super) fn totals(&self) -> impl Iterator<Item = &Total> {
        std::iter::once(&self.total).chain(self.guard.iter().map(|guard| &guard.total))
    }
}
