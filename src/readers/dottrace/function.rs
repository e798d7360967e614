//! The attributes of functions and instances, and times.

use quick_xml::events::BytesStart;

use crate::error::ErrorKind;
use crate::readers::xml::attribute;

/// A time of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) nanos: u64,
    /// The value of 1 in its last digit.
    pub(super) digit: u64,
}

impl Time {
    /// Parses milliseconds; `None` if they are not a number, are finer than a nanosecond, or too large.
    pub(super) fn parse(text: &str) -> Option<Self> {
        /// The decimals of a nanosecond.
        const DECIMALS: usize = 6;
        let (whole, decimals) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
        let mut digits = String::new();
        for (index, group) in whole.split(',').enumerate() {
            let is_group = !whole.contains(',') || group.len() == 3 || (index == 0 && group.len() < 3);
            if !is_group || group.is_empty() {
                return None;
            }
            digits.push_str(group);
        }
        let decimals = match decimals {
            Some("") => return None,
            Some(decimals) => decimals,
            None => "",
        };
        let missing = DECIMALS.checked_sub(decimals.len())?;
        digits.push_str(decimals);
        digits.extend(std::iter::repeat_n('0', missing));
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { nanos: digits.parse().ok()?, digit: 10_u64.pow(missing as u32) })
    }
}

/// A function, or a node of the call tree that belongs to one.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) total: Time,
    pub(super) own: Time,
}

impl Times {
    pub(super) fn of(element: &BytesStart<'_>) -> Result<Self, ErrorKind> {
        let time = |name: &str| {
            let text = attribute(element, name).ok_or_else(|| ErrorKind::NotAnExport(OTHER_FORM.to_owned()))?;
            let wrong = || format!("{name} is {text:?}, which is not a number of milliseconds with a decimal point");
            Time::parse(&text).ok_or_else(|| ErrorKind::Malformed(wrong()))
        };
        Ok(Self { total: time("TotalTime")?, own: time("OwnTime")? })
    }
}

const OTHER_FORM: &str = "this report of dotTrace has no TotalTime and OwnTime for each function, as reports that compare snapshots; write a \
                          report about one snapshot: Reporter.exe report SNAPSHOT --pattern=FILE --save-to=FILE";

/// What a report has in order.
pub(super) enum Element<'e> {
    Function {
        name: &'e str,
        times: Times,
        /// How many instances follow, as the report states.
        instances: Option<u64>,
    },
    Instance {
        stack: &'e str,
        times: Times,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds() {
        let read = |text| Time::parse(text).map(|time| (time.nanos, time.digit));
        assert_eq!(read("37.5"), Some((37_500_000, 100_000)));
        assert_eq!(read("50"), Some((50_000_000, 1_000_000)));
        assert_eq!(read("1,334"), Some((1_334_000_000, 1_000_000)));
        assert_eq!(read("0.000001"), Some((1, 1)));
        for wrong in
            ["", ".", "1.", ".5", "37,5", "1,3345", "1.0000001", "-1", "1e3", "+1", "18446744073710", ",123", "1,,234"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
