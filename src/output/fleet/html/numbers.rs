//! Numbers as people read them.

use crate::units::{Nanos, Unit, Weight};

pub(super) use crate::output::fleet::{many as counted, thousands as count};

/// A measure without its unit: `12.34`, `1,250.00`, `<0.01`; rates as `1.25 G`.
pub(super) fn measure(value: f64, unit: Unit) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if unit == Unit::Nanoseconds {
        return if value < 0.005 { "<0.01".to_owned() } else { grouped(value, 2) };
    }
    let (divisor, suffix) = step(value);
    if suffix.is_empty() { grouped(value, 2) } else { format!("{:.2} {suffix}", value / divisor) }
}

/// A measure with its unit: `12.34 %`, `1.25 G cycles/s`.
pub(super) fn measure_with_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => format!("{} %", measure(value, unit)),
        _ => format!("{} {}", measure(value, unit), unit.rate_name()),
    }
}

/// The step of 1000 for numbers as large as this, and its letter.
pub(super) fn step(value: f64) -> (f64, &'static str) {
    // 999,995 would read as 1000.00 k.
    [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(divisor, _)| value >= divisor * 0.999_995)
        .unwrap_or((1.0, ""))
}

/// A weight with its unit; cycles and events as in rates: `343.23 k cycles`.
pub(super) fn weight(weight: u64, unit: Unit) -> String {
    let name = match unit {
        Unit::Cycles => "cycles",
        Unit::PmcEvents => "events",
        Unit::Nanoseconds | Unit::Samples => return Weight::new(weight, unit).to_string(),
    };
    match step(weight as f64) {
        (_, "") => format!("{weight} {name}"),
        (divisor, letter) => format!("{:.2} {letter} {name}", weight as f64 / divisor),
    }
}

/// Seconds with two decimals; shorter times in milliseconds with their unit.
pub(super) fn seconds(time: Nanos) -> String {
    let nanos = time.as_nanos();
    if (1..5_000_000).contains(&nanos) {
        let millis = nanos as f64 / 1e6;
        return if millis < 0.005 { "<0.01 ms".to_owned() } else { format!("{millis:.2} ms") };
    }
    grouped(time.as_nanos() as f64 / 1e9, 2)
}

fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", group(whole)),
        None => group(&text),
    }
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_read_well() {
        let percent = |value| measure(value, Unit::Nanoseconds);
        assert_eq!([0.0, 0.004, 0.005, 1.98, 1250.0].map(percent), ["0", "<0.01", "0.01", "1.98", "1,250.00"]);
        let cycles = |value| measure(value, Unit::Cycles);
        assert_eq!([0.5, 999.0, 999_994.0, 3.2e9].map(cycles), ["0.50", "999.00", "999.99 k", "3.20 G"]);
        assert_eq!(cycles(999_996.0), "1.00 M");
        assert_eq!(measure_with_unit(83.2, Unit::Nanoseconds), "83.20 %");
        assert_eq!(measure_with_unit(3.2e9, Unit::Cycles), "3.20 G cycles/s");
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2_000].map(|number| counted(number, "run")), ["0 runs", "1 run", "2,000 runs"]);
        assert_eq!(seconds(Nanos::from_millis(1_234_567)), "1,234.57");
        let short = [0, 400, 4_200_000, 5_000_000].map(|nanos| seconds(Nanos::from_nanos(nanos)));
        assert_eq!(short, ["0.00", "<0.01 ms", "4.20 ms", "0.01"]);
    }

    #[test]
    fn weights_are_spelled_as_rates_are() {
        let cycles = |value| weight(value, Unit::Cycles);
        assert_eq!([22, 343_230, 2_500_000_000].map(cycles), ["22 cycles", "343.23 k cycles", "2.50 G cycles"]);
        assert_eq!(measure_with_unit(343_230.0, Unit::Cycles), "343.23 k cycles/s");
        assert_eq!(weight(343_230, Unit::PmcEvents), "343.23 k events");
    }
}
