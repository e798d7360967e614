//! Conditions on rows: `duration > 5ms and thread = "Main Thread"`.
//!
//! Comparisons are joined by `and`; there are no other logical operators. The kind of the field determines its values and operators:
//!
//! | field | values | operators |
//! |---|---|---|
//! | time, duration | `5ms`; also `ns`, `us`, `s`, `min` | all |
//! | size | `4KiB`; also `B`, `kB`, `MB`, `MiB`, `GB`, `GiB`, and bytes without a unit | all |
//! | cycles, other numbers | `17`, `0x1f` | all |
//! | true or false | `true`, `false` | `=`, `!=` |
//! | string | `Main Thread`, `"a and b"` | `=`, `!=`; all if the value is a decimal number without quotation marks |
//! | any | `none` | `=`, `!=` |
//!
//! In a string field, an unquoted number is compared by value with cells that are numbers: 60 equals `60.0`. It differs from all other cells,
//! which are neither less nor greater.
//!
//! If no value was recorded, `= none` is true, and every other comparison is false.

use std::cmp::Ordering;
use std::str::FromStr;

use super::decimal::Decimal;
use super::{ColumnKind, FieldKind, FieldValue};
use crate::units::{Unit, decimal, written_amount};

/// Comparisons that must all hold for a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions(pub(super) Vec<Comparison>);

/// A comparison whose field has not been looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) field: String,
    operator: Operator,
    value: String,
    is_quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The operators, longest first.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// A comparison with a value of the field's kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    operator: Operator,
    value: FieldValue<'static>,
    /// The number that string cells are compared with.
    number: Option<Decimal>,
}

impl FromStr for Conditions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut comparisons = Vec::new();
        let mut rest = text.trim_start();
        loop {
            let (comparison, after) = comparison(rest)?;
            comparisons.push(comparison);
            rest = after.trim_start();
            if rest.is_empty() {
                return Ok(Self(comparisons));
            }
            rest = after_and(rest)
                .ok_or_else(|| format!("{rest:?} follows a comparison; only `and` joins two of them"))?
                .trim_start();
        }
    }
}

/// Returns the text after a leading `and`.
fn after_and(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked(3)?;
    let is_word = word.eq_ignore_ascii_case("and") && rest.chars().next().is_none_or(char::is_whitespace);
    is_word.then_some(rest)
}

/// Parses a comparison. Returns it with the text after it.
fn comparison(text: &str) -> Result<(Comparison, &str), String> {
    let what = "FIELD OPERATOR VALUE, such as 'duration > 5ms'";
    let (field, rest) = match quoted(text)? {
        Some(found) => found,
        None => {
            let end = text.find(|c: char| c.is_whitespace() || "=!<>".contains(c)).unwrap_or(text.len());
            (text[..end].to_owned(), &text[end..])
        }
    };
    let rest = rest.trim_start();
    let operator = OPERATORS.iter().find_map(|(name, operator)| Some((*operator, rest.strip_prefix(name)?)));
    let (operator, rest) = match operator {
        Some(found) if !field.is_empty() => found,
        _ => return Err(format!("{text:?} is not a comparison: {what}, with =, !=, <, <=, > or >=")),
    };
    let rest = rest.trim_start();
    let (value, is_quoted, rest) = match quoted(rest)? {
        Some((value, rest)) => (value, true, rest),
        None => {
            let (value, rest) = plain(rest)?;
            (value.to_owned(), false, rest)
        }
    };
    if value.is_empty() && !is_quoted {
        return Err(format!("{text:?} has no value: {what}"));
    }
    Ok((Comparison { field, operator, value, is_quoted }, rest))
}

/// Parses a quoted string, in which `""` is a quotation mark.
fn quoted(text: &str) -> Result<Option<(String, &str)>, String> {
    let Some(mark) = text.chars().next().filter(|c| ['"', '\''].contains(c)) else { return Ok(None) };
    let (mut value, mut rest) = (String::new(), &text[1..]);
    loop {
        let Some((part, after)) = rest.split_once(mark) else {
            return Err(format!("{text:?} has no closing {mark}"));
        };
        value.push_str(part);
        let Some(more) = after.strip_prefix(mark) else { return Ok(Some((value, after))) };
        value.push(mark);
        rest = more;
    }
}

/// Parses an unquoted value, up to the next `and`.
fn plain(text: &str) -> Result<(&str, &str), String> {
    let is_space = |at: usize| text[..at].ends_with(char::is_whitespace);
    let starts = text.char_indices().map(|(at, _)| at);
    let end = starts.filter(|&at| is_space(at)).find(|&at| after_and(&text[at..]).is_some()).unwrap_or(text.len());
    let value = text[..end].trim_end();
    let is_other = |word: &str| ["or", "not", "like", "in"].iter().any(|other| word.eq_ignore_ascii_case(other));
    match value.split_whitespace().skip(1).find(|word| is_other(word) || word.contains(['=', '<', '>'])) {
        Some(word) => Err(format!(
            "{word:?} in {value:?}: only comparisons joined by `and` are supported; put the value in quotation marks if it is a text"
        )),
        None => Ok((value, &text[end..])),
    }
}

impl Comparison {
    /// Returns the test for a field of this kind.
    ///
    /// # Errors
    /// If the comparison does not apply to such a field.
    pub(super) fn test(&self, kind: FieldKind) -> Result<Test, String> {
        let Self { field, operator, value, is_quoted } = self;
        let value = match value.as_str() {
            "none" if !is_quoted => FieldValue::None,
            text => self.value(kind, text).map_err(|wanted| {
                format!("{field} is {}, so {value:?} is not a value to compare it with; {wanted}", described(kind))
            })?,
        };
        let number = match &value {
            FieldValue::Text(text) if !is_quoted => Decimal::of(text),
            _ => None,
        };
        let has_order = matches!(value, FieldValue::Number(_)) || number.is_some();
        if !has_order && !matches!(operator, Operator::Equal | Operator::NotEqual) {
            return Err(format!(
                "{field} {} can only be compared by = and !={}",
                match value {
                    FieldValue::None => "with none".to_owned(),
                    _ => format!("is {}, which", described(kind)),
                },
                if kind == FieldKind::Text { ", unless the value is a number" } else { "" }
            ));
        }
        Ok(Test { operator: *operator, value, number })
    }

    /// Parses a value for a field of this kind. The error describes the possible values.
    fn value(&self, kind: FieldKind, text: &str) -> Result<FieldValue<'static>, String> {
        let written = |unit| written_amount(text).filter(|weight| weight.unit == unit).map(|weight| weight.value);
        let number = |number: Option<u64>, wanted: &str| number.map(FieldValue::Number).ok_or(wanted.to_owned());
        match kind {
            FieldKind::Number(ColumnKind::Time | ColumnKind::Duration) => {
                number(written(Unit::Nanoseconds), "write a number with ns, us, ms, s or min, such as 5ms")
            }
            FieldKind::Number(ColumnKind::Bytes) => number(
                whole(text).or_else(|| written(Unit::Bytes)),
                "write bytes, or a number with B, kB, KiB, MB, MiB, GB or GiB",
            ),
            FieldKind::Number(_) => number(whole(text), "write a whole number, such as 17 or 0x11"),
            FieldKind::Boolean => match text {
                "true" => Ok(FieldValue::Boolean(true)),
                "false" => Ok(FieldValue::Boolean(false)),
                _ => Err("write true or false".to_owned()),
            },
            FieldKind::Text => Ok(FieldValue::Text(self.value.clone().into())),
            FieldKind::Numbers | FieldKind::Stack => Err("write none".to_owned()),
        }
    }
}

fn described(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Number(ColumnKind::Time) => "a time",
        FieldKind::Number(ColumnKind::Duration) => "a duration",
        FieldKind::Number(ColumnKind::Bytes) => "a size",
        FieldKind::Number(_) => "a number",
        FieldKind::Boolean => "true or false",
        FieldKind::Text => "a text",
        FieldKind::Numbers => "a list of numbers",
        FieldKind::Stack => "a stack",
    }
}

/// Parses a whole number in decimal or hexadecimal.
fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => decimal(text, "", 1),
    }
}

impl Test {
    /// True if a row with this value passes the test.
    pub(super) fn passes(&self, value: &FieldValue<'_>) -> bool {
        let is_none = *value == FieldValue::None;
        let order = match (value, &self.value) {
            (_, FieldValue::None) => return is_none == (self.operator == Operator::Equal),
            _ if is_none => return false,
            (FieldValue::Number(value), FieldValue::Number(other)) => value.cmp(other),
            (FieldValue::Text(text), _) if self.number.is_some() => match Decimal::of(text) {
                Some(value) => Some(&value).cmp(&self.number.as_ref()),
                None => return self.operator == Operator::NotEqual,
            },
            (value, other) if value == other => Ordering::Equal,
            _ => Ordering::Less,
        };
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Less => order == Ordering::Less,
            Operator::AtMost => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: FieldKind = FieldKind::Number(ColumnKind::Duration);
    const SIZE: FieldKind = FieldKind::Number(ColumnKind::Bytes);
    const NUMBER: FieldKind = FieldKind::Number(ColumnKind::Number);

    fn only(text: &str) -> Comparison {
        let Conditions(mut comparisons) = text.parse().unwrap();
        assert_eq!(comparisons.len(), 1, "{text}");
        comparisons.remove(0)
    }

    fn passes(text: &str, kind: FieldKind, value: FieldValue<'_>) -> bool {
        only(text).test(kind).unwrap().passes(&value)
    }

    #[test]
    fn reads_comparisons_joined_by_and() {
        let Conditions(all) =
            "a>=5 ms AND b = Main Thread and 'c d'=\"x and \"\"y\"\"\" and e != none".parse().unwrap();
        let read: Vec<_> = all.iter().map(|one| (one.field.as_str(), one.value.as_str(), one.is_quoted)).collect();
        let expected =
            [("a", "5 ms", false), ("b", "Main Thread", false), ("c d", "x and \"y\"", true), ("e", "none", false)];
        assert_eq!(read, expected);
        for wrong in
            ["", "a", "a >", "= 5", "a = 'x", "a = 1 or b = 2", "a = 1 b = 2", "a = 'x' b", "a = 1 and", "a ~ 5"]
        {
            assert!(wrong.parse::<Conditions>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_have_the_unit_of_the_field() {
        let equals = |kind, text: &str, number| {
            assert!(passes(&format!("x = {text}"), kind, FieldValue::Number(number)), "{text}");
        };
        for (text, nanos) in [("5ms", 5_000_000), ("1.5 s", 1_500_000_000), ("2min", 120_000_000_000), ("7ns", 7)] {
            equals(DURATION, text, nanos);
        }
        for (text, bytes) in [("4KiB", 4096), ("1.5KiB", 1536), ("1MB", 1_000_000), ("12", 12), ("1GiB", 1 << 30)] {
            equals(SIZE, text, bytes);
        }
        equals(NUMBER, "0xffffffffffffffff", u64::MAX);
        let refused = [
            (DURATION, "5"),
            (DURATION, "5KB"),
            (DURATION, "-5ms"),
            (DURATION, "5.ms"),
            (SIZE, "5ms"),
            (NUMBER, "5ms"),
            (NUMBER, "1.5"),
            (NUMBER, "18446744073709551616"),
            (FieldKind::Boolean, "yes"),
            (FieldKind::Stack, "main"),
        ];
        for (kind, text) in refused {
            assert!(only(&format!("x = {text}")).test(kind).is_err(), "{text}");
        }
        for text in ["x < y", "x >= none"] {
            assert!(only(text).test(FieldKind::Text).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_that_are_numbers_compare_as_numbers() {
        for (text, cell, expected) in [
            ("x > 9.5", "10.2", true),
            ("x > 9.5", "9.50", false),
            ("x = 60", "60.0", true),
            ("x = '60'", "60.0", false),
            ("x != 60", "60.0", false),
            ("x < 5", "-7", true),
            ("x < 5", "idle", false),
            ("x >= 5", "idle", false),
            ("x = 5", "idle", false),
            ("x != 5", "idle", true),
        ] {
            assert_eq!(passes(text, FieldKind::Text, FieldValue::Text(cell.into())), expected, "{text} {cell}");
        }
        assert!(only("x < '5'").test(FieldKind::Text).is_err());
        assert!(!passes("x < 5", FieldKind::Text, FieldValue::None));
    }

    #[test]
    fn a_missing_value_passes_only_a_test_for_none() {
        for (text, expected) in [("x = none", true), ("x != none", false), ("x = 1", false), ("x != 1", false)] {
            assert_eq!(passes(text, NUMBER, FieldValue::None), expected, "{text}");
        }
        assert!(passes("x != none", NUMBER, FieldValue::Number(0)));
        assert!(passes("x = 'none'", FieldKind::Text, FieldValue::Text("none".into())));
        let number = FieldValue::Number(5);
        for (text, expected) in
            [("x < 5", false), ("x <= 5", true), ("x > 4", true), ("x >= 6", false), ("x != 5", false)]
        {
            assert_eq!(passes(text, NUMBER, number.clone()), expected, "{text}");
        }
    }
}
