//! Parses the lines of a table: the column names, and rows.

use crate::readers::rounded::Rounded;
use crate::units::{Unit, written_unit};

/// The columns of a table. The first is the total weight, the last the symbol.
pub(super) struct Head {
    columns: usize,
    /// True if the second column is the self weight. Otherwise the weights are exact bytes.
    pub(super) has_own: bool,
    /// The unit of the second column, if its name contains one. Otherwise, the unit of the row's total applies.
    unit_of_own: Option<String>,
    /// False if the first line is already a row.
    pub(super) is_named: bool,
}

/// True for a line that starts with a weight and its percentage.
pub(in crate::readers) fn is_row(line: &str) -> bool {
    let total = line.split('\t').next().unwrap_or_default().trim();
    total.starts_with(|first: char| first.is_ascii_digit()) && total.ends_with('%') && line.contains('\t')
}

pub(super) struct Row<'l> {
    pub(super) indent: usize,
    pub(super) symbol: &'l str,
    pub(super) unit: Unit,
    /// The weight of the function and its callees.
    pub(super) total: Rounded,
    /// The self weight; `None` for allocations.
    pub(super) own: Option<Rounded>,
}

impl Head {
    /// Parses the first line; `None` if it has other columns.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let names: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [total, own, .., _] = names.as_slice() else { return None };
        let unit = own.strip_prefix("Self (").and_then(|unit| unit.strip_suffix(')'));
        if names.len() > 2 && is_row(line) {
            // The second column of an allocations table is a count, not a weight.
            let has_own = !total.contains("Bytes") || own.is_empty();
            return Some(Self { columns: names.len(), has_own, unit_of_own: None, is_named: false });
        }
        let has_own = match (*total, *own) {
            ("Bytes Used", "Count") => false,
            ("Weight" | "Running Time", own) if unit.is_some() || matches!(own, "Self" | "Self Weight") => true,
            _ => return None,
        };
        Some(Self { columns: names.len(), has_own, unit_of_own: unit.map(str::to_owned), is_named: true })
    }

    pub(super) fn row<'l>(&self, line: &'l str) -> Result<Row<'l>, &'static str> {
        if line.contains(char::REPLACEMENT_CHARACTER) {
            return Err("a row is not valid UTF-8; save the text in UTF-8 or UTF-16");
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let ([total, own, .., name], true) = (cells.as_slice(), cells.len() == self.columns) else {
            return Err("a row does not have the columns of the first line; was the line cut?");
        };
        let symbol = name.trim_start_matches(' ');
        if symbol.is_empty() || symbol.starts_with(char::is_whitespace) || symbol.contains('\r') {
            return Err("a row has no symbol after blanks");
        }
        let mark = decimal_mark(total);
        let of_total = unit_of(total);
        let (unit, total) = quantity(total, None, mark)?;
        let own = match own.trim() {
            _ if !self.has_own => None,
            "-" => Some((unit, Rounded::default())),
            own => Some(quantity(own, self.unit_of_own.as_deref().or(Some(of_total)), mark)?),
        };
        if own.map_or(Unit::Bytes, |(unit, _)| unit) != unit {
            return Err("a row has a different unit from its columns");
        }
        Ok(Row { indent: name.len() - symbol.len(), symbol: symbol.trim_end(), unit, total, own: own.map(|own| own.1) })
    }
}

/// Returns the decimal mark of the percentage in a cell.
fn decimal_mark(cell: &str) -> Option<char> {
    let percentage = cell.trim().strip_suffix('%')?.trim_end();
    percentage.rsplit(char::is_whitespace).next()?.chars().rfind(|mark| matches!(mark, '.' | ','))
}

/// Returns the number and unit in a cell, without the percentage.
fn amount_of(cell: &str) -> &str {
    let cell = cell.trim();
    let amount = cell.strip_suffix('%').and_then(|rest| rest.trim_end().rsplit_once(char::is_whitespace));
    amount.map_or(cell, |(amount, _)| amount.trim_end())
}

/// Returns the unit in a cell; empty if there is none.
fn unit_of(cell: &str) -> &str {
    amount_of(cell).rsplit(|character: char| character.is_ascii_digit()).next().unwrap_or_default().trim()
}

/// Parses a cell such as `846.00 ms` or `4.93 s  100.0%`. `unit` applies to numbers without a unit.
fn quantity(cell: &str, unit: Option<&str>, mark: Option<char>) -> Result<(Unit, Rounded), &'static str> {
    let amount = amount_of(cell);
    let end = amount.rfind(|character: char| character.is_ascii_digit()).map_or(0, |last| last + 1);
    let (number, written) = amount.split_at_checked(end).unwrap_or_default();
    let unit = Some(written.trim()).filter(|unit| !unit.is_empty()).or(unit).ok_or("a weight has no unit")?;
    let (unit, scale) = match written_unit(unit) {
        Some((Unit::Bytes, 2..)) => return Err(ROUNDED_BYTES),
        Some(known @ (Unit::Nanoseconds | Unit::Cycles | Unit::Bytes, _)) => known,
        _ => return Err("a weight is not a number with a unit of time, cycles or bytes"),
    };
    let rounded = Rounded::parse(number, mark, scale)?;
    // Instruments shows small weights in a smaller unit, so a 0 is exact.
    Ok((unit, if rounded.value == 0 { Rounded::default() } else { rounded }))
}

const ROUNDED_BYTES: &str = "allocations in KB, MB or GB are rounded, so the bytes that a function allocated itself cannot be computed; open the \
                             recording in Instruments";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_every_form() {
        for (cell, expected) in [
            ("4.93 s  \u{2007}0.0%", Some((4_930_000_000, Unit::Nanoseconds, 10_000_000))),
            ("4273.0ms   99.9%", Some((4_273_000_000, Unit::Nanoseconds, 100_000))),
            ("0 s", Some((0, Unit::Nanoseconds, 0))),
            ("96,08 Gc  100,0\u{a0}%", Some((96_080_000_000, Unit::Cycles, 10_000_000))),
            ("1.234 ms  3,0%", Some((1_234_000_000, Unit::Nanoseconds, 1_000_000))),
            (" 48 Bytes     100.0%", Some((48, Unit::Bytes, 1))),
            ("1.5 ns", None),
            ("5", None),
            ("5 parsec", None),
            ("429.93 MB     100.0%", None),
            ("", None),
        ] {
            let read = quantity(cell, None, decimal_mark(cell)).ok();
            assert_eq!(read.map(|(unit, read)| (read.value, unit, read.digit)), expected, "{cell}");
        }
    }
}
