//! One unit for a whole column: the numbers below each other are compared, so they share it, and the header names it.

use crate::units::{Nanos, Unit, Weight};

/// The scale of the weights of a table. Headers have little room, so units of cycles and events are short there (`Mc`, as Instruments once
/// wrote it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct Scale {
    unit: &'static str,
    divisor: u64,
}

const STEPS: [u64; 5] = [1, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000];

impl Scale {
    /// The scale in which `total` is at least 1 and below 1000, as far as there are units.
    pub(in crate::output) fn of(total: Weight) -> Self {
        let units: &[&'static str] = match total.unit {
            Unit::Nanoseconds => &["ns", "µs", "ms", "s"],
            Unit::Cycles => &["cycles", "Kc", "Mc", "Gc", "Tc"],
            Unit::PmcEvents => &["events", "Kev", "Mev", "Gev", "Tev"],
            Unit::Samples => &["samples"],
        };
        let step = (0..units.len()).rev().find(|&step| total.value >= STEPS[step]).unwrap_or(0);
        Self { unit: units[step], divisor: STEPS[step] }
    }

    /// A time in milliseconds.
    pub(super) fn number_of_millis(time: Nanos) -> String {
        Self { unit: "ms", divisor: STEPS[2] }.number(time.as_nanos())
    }

    /// The unit, for the header.
    pub(in crate::output) fn title(self) -> &'static str {
        self.unit
    }

    /// A weight without its unit: three decimals, or none where the unit is the smallest.
    pub(in crate::output) fn number(self, weight: u64) -> String {
        if self.divisor == 1 {
            return weight.to_string();
        }
        let thousandths = (u128::from(weight) * 1000 + u128::from(self.divisor) / 2) / u128::from(self.divisor);
        format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_sets_the_unit() {
        let seconds = Scale::of(Weight::nanos(9_581_000_000));
        assert_eq!((seconds.title(), seconds.number(1_000_000).as_str()), ("s", "0.001"));
        assert_eq!(seconds.number(9_581_499_999), "9.581");
        let cycles = Scale::of(Weight::cycles(999));
        assert_eq!((cycles.title(), cycles.number(22).as_str()), ("cycles", "22"));
        assert_eq!(Scale::of(Weight::new(5_000, Unit::Samples)).number(5_000), "5000");
        assert_eq!(Scale::of(Weight::nanos(0)).title(), "ns");
    }
}
