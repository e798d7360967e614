//! The table of units and their prefixes, used for both formatting and parsing.

use std::fmt;

use super::{Unit, Weight};

/// A kind of quantity, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    name: &'static str,
    /// For narrow headers. Instruments once wrote `Mc`.
    short: &'static str,
    steps: &'static [Step],
}

/// A factor, and its prefix or unit.
type Step = (u64, &'static str);

const TIMES: &[Step] = &[(1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")];
/// Prefixes are powers of 1,000, including those of bytes.
const PREFIXES: &[Step] = &[(1, ""), (1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G"), (1_000_000_000_000, "T")];
/// Prefixes of bytes that are powers of 1,024.
const POWERS_OF_TWO: [Step; 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
const ONES: &[Step] = &[(1, "")];

const TIME: Counted = Counted { name: "", short: "", steps: TIMES };
const BYTES: Counted = Counted { name: "B", short: "B", steps: PREFIXES };
const CYCLES: Counted = Counted { name: "cycles", short: "c", steps: PREFIXES };
const EVENTS: Counted = Counted { name: "events", short: "ev", steps: PREFIXES };
const SAMPLES: Counted = Counted { name: "samples", short: "samples", steps: ONES };
const EXITS: Counted = Counted { name: "exits", short: "exits", steps: ONES };

const fn counted(unit: Unit) -> Counted {
    match unit {
        Unit::Cycles => CYCLES,
        Unit::PmcEvents => EVENTS,
        Unit::Samples => SAMPLES,
        Unit::Exits => EXITS,
        Unit::Bytes | Unit::WrittenBytes | Unit::PeakBytes => BYTES,
        Unit::Nanoseconds
        | Unit::Elapsed
        | Unit::HangTime
        | Unit::LaunchTime
        | Unit::ExceptionTime
        | Unit::DayTime
        | Unit::HitchTime => TIME,
    }
}

/// True for a unit with its prefix, such as `ms`, `kB` or `Mcycles`; not for nouns such as `samples`.
pub(crate) fn is_unit(word: &str) -> bool {
    let is_counted = |counted: Counted| {
        counted.steps.iter().any(|(_, prefix)| word.strip_prefix(prefix).is_some_and(|name| name == counted.name))
    };
    WRITTEN_TIMES.iter().any(|(name, _)| *name == word) || [BYTES, CYCLES, EVENTS].into_iter().any(is_counted)
}

/// A unit shared by several numbers, such as a column: `ms`, `Mcycles`, `kB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    counted: Counted,
    step: Step,
}

impl Scale {
    pub(crate) const MILLIS: Self = Self { counted: TIME, step: TIMES[2] };

    /// Returns the scale in which the largest number is at least 1 and less than 1,000, if there is a prefix for it.
    pub(crate) fn of(largest: Weight) -> Self {
        Self::from(largest.unit, |start| largest.value >= start)
    }

    /// Returns the largest scale in which the weight is an integer.
    pub(crate) fn whole(weight: Weight) -> Self {
        Self::from(weight.unit, |start| weight.value.is_multiple_of(start))
    }

    /// Returns the largest scale in which this number of bytes is an integer, including prefixes such as `Mi`.
    pub(crate) fn whole_bytes(bytes: u64) -> Self {
        let decimal = Self::whole(Weight::new(bytes, Unit::Bytes));
        let binary = POWERS_OF_TWO.into_iter().find(|(factor, _)| bytes.is_multiple_of(*factor));
        match binary.filter(|(factor, _)| bytes > 0 && *factor > decimal.factor()) {
            Some(step) => Self { counted: BYTES, step },
            None => decimal,
        }
    }

    /// Returns the scale for a number with this many decimals: 999,995 ns are 1.00 ms, since they would be rounded to 1000.00 µs.
    pub(super) fn rounded(weight: Weight, decimals: u32) -> Self {
        Self::from(weight.unit, |start| weight.value >= start - start / 1_000 / (2 * 10_u64.pow(decimals)))
    }

    fn from(unit: Unit, is_reached: impl Fn(u64) -> bool) -> Self {
        let counted = counted(unit);
        let step = counted.steps.iter().rev().find(|(start, _)| is_reached(*start)).unwrap_or(&counted.steps[0]);
        Self { counted, step: *step }
    }

    /// The scales of a unit, smallest first.
    pub(super) fn all(unit: Unit) -> impl Iterator<Item = Self> {
        let counted = counted(unit);
        counted.steps.iter().map(move |step| Self { counted, step: *step })
    }

    /// The size of this scale in the smallest unit.
    pub(crate) const fn factor(self) -> u64 {
        self.step.0
    }

    /// The unit for headers: `ms`, `Mc`.
    pub(crate) fn short(self) -> String {
        format!("{}{}", self.step.1, self.counted.short)
    }

    /// Formats a number of a column, with three decimals.
    pub(crate) fn number(self, value: u64) -> String {
        self.text(value, 3)
    }

    /// Formats a number without its unit, rounded; the smallest unit has no decimals.
    pub(super) fn text(self, value: u64, decimals: u32) -> String {
        let (factor, power) = (u128::from(self.factor()), 10_u128.pow(decimals));
        if factor == 1 {
            return value.to_string();
        }
        let parts = (u128::from(value) * power + factor / 2) / factor;
        format!("{}.{:0width$}", parts / power, parts % power, width = decimals as usize)
    }
}

impl fmt::Display for Scale {
    /// Writes the unit: `ms`, `Mcycles`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.step.1, self.counted.name)
    }
}

/// Accepted units of time.
const WRITTEN_TIMES: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Other accepted units, which may follow a prefix.
const WRITTEN: [(&str, Unit); 8] = [
    (CYCLES.name, Unit::Cycles),
    (CYCLES.short, Unit::Cycles),
    (EVENTS.name, Unit::PmcEvents),
    (EVENTS.short, Unit::PmcEvents),
    (SAMPLES.name, Unit::Samples),
    (BYTES.name, Unit::Bytes),
    ("bytes", Unit::Bytes),
    ("Bytes", Unit::Bytes),
];

/// Parses a unit, such as `ms`, `Mcycles` or `KiB`. Returns it with its size in the smallest unit.
pub(crate) fn written_unit(text: &str) -> Option<(Unit, u64)> {
    let time = WRITTEN_TIMES.into_iter().find(|(name, _)| *name == text);
    let power_of_two = |name: &str| POWERS_OF_TWO.into_iter().find(|(_, of)| *of == name).map(|(factor, _)| factor);
    time.map(|(_, factor)| (Unit::Nanoseconds, factor)).or_else(|| {
        WRITTEN.into_iter().find_map(|(name, unit)| {
            let before = text.strip_suffix(name)?.trim_end();
            let binary = power_of_two(before).filter(|_| unit == Unit::Bytes);
            Some((unit, binary.or_else(|| prefix(before))?))
        })
    })
}

/// Returns the factor of a prefix. Many people write `K` for `k`.
fn prefix(name: &str) -> Option<u64> {
    let name = if name == "K" { "k" } else { name };
    PREFIXES.iter().find(|(_, of)| *of == name).map(|(factor, _)| *factor)
}

/// Parses a decimal number with a unit, such as `1.5 ms` or `2 KiB`, to a number in the smallest unit. Digits that are too small are
/// dropped.
pub(crate) fn written_amount(text: &str) -> Option<Weight> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (unit, factor) = written_unit(unit.trim_start())?;
    Some(Weight::new(times(number, factor)?, unit))
}

impl Weight {
    /// Parses a number without its unit, such as `20000`, `1.5M` or `2k`.
    pub fn parse_number(text: &str) -> Option<u64> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        times(digits, prefix(&text[digits.len()..])?)
    }
}

/// Multiplies a decimal number, such as `1.5`, by a factor.
pub(crate) fn times(number: &str, factor: u64) -> Option<u64> {
    const PARTS: u64 = 1_000_000_000;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let parts = u128::from(decimal("0", fraction, PARTS).filter(|_| !fraction.is_empty())?) * u128::from(factor);
    decimal(whole, "", factor)?.checked_add(u64::try_from(parts / u128::from(PARTS)).ok()?)
}

/// Returns the decimal `whole.fraction` times `unit`, exactly. Digits that are too small for the unit are dropped.
pub(crate) fn decimal(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut number = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        place /= 10;
        number = number.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_sets_the_unit() {
        let seconds = Scale::of(Weight::nanos(9_581_000_000));
        assert_eq!((seconds.to_string().as_str(), seconds.number(1_000_000).as_str()), ("s", "0.001"));
        assert_eq!(seconds.number(9_581_499_999), "9.581");
        let cycles = Scale::of(Weight::cycles(999));
        assert_eq!((cycles.short().as_str(), cycles.number(22).as_str()), ("c", "22"));
        assert_eq!(Scale::of(Weight::cycles(1_000)).short(), "kc");
        assert_eq!(Scale::of(Weight::new(5_000, Unit::Samples)).number(5_000), "5000");
        assert_eq!(Scale::of(Weight::nanos(0)).to_string(), "ns");
        assert_eq!(Scale::whole(Weight::nanos(5_000_000)).to_string(), "ms");
    }

    #[test]
    fn what_is_written_can_be_read() {
        for unit in [Unit::Nanoseconds, Unit::Bytes, Unit::Cycles, Unit::PmcEvents, Unit::Samples] {
            for (factor, _) in counted(unit).steps {
                let scale = Scale::of(Weight::new(*factor, unit));
                assert_eq!(written_unit(&scale.to_string()), Some((unit, *factor)), "{scale}");
                assert_eq!(written_unit(&scale.short()), Some((unit, *factor)), "{}", scale.short());
            }
        }
        assert_eq!(written_amount("1.5 KiB"), Some(Weight::new(1_536, Unit::Bytes)));
        assert_eq!(written_amount("1.5KB"), Some(Weight::new(1_500, Unit::Bytes)));
        assert_eq!(written_amount("2min"), Some(Weight::nanos(120_000_000_000)));
        assert!(
            ["", "5", "5 parsec", "1.s", "Mc", "5 Kims", "5 iB", "1e3s"]
                .iter()
                .all(|text| written_amount(text).is_none())
        );
    }
}
