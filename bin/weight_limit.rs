//! Parses weights, percentages and numbers of rows from the command line.

use traceparse::units::{Nanos, Weight};

/// A weight: a time, or a number in the unit of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightLimit {
    Time(Nanos),
    /// A number in the unit of the table: cycles, events, samples or nanoseconds.
    Plain(u64),
}

impl WeightLimit {
    /// The number without its unit.
    pub(crate) fn value(self) -> u64 {
        match self {
            Self::Time(time) => time.as_nanos(),
            Self::Plain(number) => number,
        }
    }
}

/// Parses `5ms`, or a number in the unit of the table: `20000`, `20k`, `1.5M`, `2G`.
pub(crate) fn parse_weight(text: &str) -> Result<WeightLimit, String> {
    if let Some(number) = Weight::parse_number(text) {
        return Ok(WeightLimit::Plain(number));
    }
    text.parse()
        .map(WeightLimit::Time)
        .map_err(|_: String| format!("{text:?} is not a weight, such as 5ms, 20000 or 1.5M"))
}

/// Parses a percentage with or without the percent sign.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().unwrap_or(f64::NAN);
    let is_percent = (0.0..=100.0).contains(&percent);
    is_percent.then_some(percent).ok_or_else(|| "not a percentage from 0 to 100, such as 0.5".to_owned())
}

/// A parser of whole numbers from `least` to `most`.
pub(crate) fn number<T: TryFrom<u64>>(least: u64, most: Option<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|&number| number >= least && most.is_none_or(|most| number <= most));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (least, most) {
            (_, Some(most)) => format!("not a whole number from {least} to {most}"),
            (0, None) => "not a whole number, such as 3".to_owned(),
            (_, None) => format!("not a whole number of at least {least}"),
        })
    }
}

/// A number of rows; 0 is all of them, which is `usize::MAX`.
pub(crate) fn parse_top(text: &str) -> Result<usize, String> {
    let top: usize = text.parse().map_err(|_| "not a number of rows, such as 20; 0 is all".to_owned())?;
    Ok(if top == 0 { usize::MAX } else { top })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_times_or_numbers() {
        assert_eq!(parse_weight("5ms"), Ok(WeightLimit::Time(Nanos::from_nanos(5_000_000))));
        assert_eq!(parse_weight("1.5M"), Ok(WeightLimit::Plain(1_500_000)));
        assert_eq!(parse_weight("20000"), Ok(WeightLimit::Plain(20_000)));
        assert!(["", "ms", "x", "-1", "1.5Mc"].iter().all(|text| parse_weight(text).is_err()));
    }

    #[test]
    fn no_rows_are_all_rows() {
        assert_eq!(parse_top("3"), Ok(3));
        assert_eq!(parse_top("0"), Ok(usize::MAX));
        assert!(["", "-1", "x", "1.5"].iter().all(|text| parse_top(text).is_err()));
    }

    #[test]
    fn numbers_are_in_their_range() {
        let width = number::<u32>(400, Some(20_000));
        assert_eq!((width("400"), width("20000")), (Ok(400), Ok(20_000)));
        for bad in ["399", "20001", "-1", "x", "", "1.5", "99999999999999999999"] {
            assert_eq!(width(bad), Err("not a whole number from 400 to 20000".to_owned()), "{bad}");
        }
    }

    #[test]
    fn percentages_are_between_0_and_100() {
        assert_eq!(parse_percent("0.5"), Ok(0.5));
        assert_eq!(parse_percent("5%"), Ok(5.0));
        for bad in ["-1", "101", "NaN", "x"] {
            assert!(parse_percent(bad).is_err(), "{bad}");
        }
    }
}
