//! Converts the rows of a copied call tree to sums in a recording.

use std::io::Read;

use super::row::{Head, Row};
use crate::error::{Error, ErrorKind};
use crate::profile::StackId;
use crate::readers::lines::{Line, LineStart, Lines};
use crate::readers::stack_sums::StackSums;
use crate::units::{Unit, Weight};

/// A row that may get more callees.
struct Open {
    indent: usize,
    line: LineStart,
    stack: Option<StackId>,
    unit: Unit,
    total: u64,
    /// The value of one unit in the last digit of the total.
    digit: u64,
    own: Option<u64>,
    of_callees: u64,
    /// The maximum difference between the total and the sum of rounded numbers.
    tolerance: u64,
}

impl Open {
    /// True if the self weight equals the total although the row has callees, which happens in an inverted tree.
    fn is_inverted(&self) -> bool {
        self.of_callees > 0 && self.own.is_some_and(|own| own > 0 && own.saturating_add(self.tolerance) >= self.total)
    }
}

/// Adds the rows of a table to sums.
pub(super) struct Tree<'s, 'r> {
    head: Head,
    sums: &'s mut StackSums<'r>,
    /// The callers of the next row, outermost first.
    open: Vec<Open>,
    /// The unit of the first row.
    unit: Option<Unit>,
    /// The first row whose callees do not explain its total, and the number of these rows.
    incomplete: Option<(LineStart, u64)>,
}

/// Memory is reserved once per this many rows.
const ROWS_BETWEEN: u64 = 1 << 10;

impl<'s, 'r> Tree<'s, 'r> {
    pub(super) fn new(head: Head, sums: &'s mut StackSums<'r>) -> Self {
        Self { head, sums, open: Vec::new(), unit: None, incomplete: None }
    }

    /// Reads all rows; `first` was read before.
    ///
    /// # Errors
    /// If there are no rows, a row cannot be parsed, or it contradicts the rows below it.
    pub(super) fn read<R: Read>(mut self, mut first: Option<Line>, lines: &mut Lines<'_, R>) -> Result<(), Error> {
        let mut rows = 0_u64;
        while let Some(line) = first.take().map_or_else(|| lines.next(), |line| Ok(Some(line)))? {
            if line.text.trim().is_empty() {
                continue;
            }
            rows += 1;
            self.take(&line, lines)?;
            if rows.is_multiple_of(ROWS_BETWEEN) {
                self.sums.reserve(0).map_err(|kind| lines.error(kind, line.at))?;
            }
        }
        self.close(0, lines)?;
        if rows == 0 {
            let text = "the copied table has no rows; select rows in Instruments before Edit > Deep Copy";
            return Err(lines.error(ErrorKind::Malformed(text.to_owned()), LineStart::FIRST));
        }
        if let Some((line, count)) = self.incomplete {
            self.sums.note(lines.place(line), INCOMPLETE, count);
        }
        Ok(())
    }

    fn take<R>(&mut self, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let Row { indent, symbol, unit, total, own } =
            self.head.row(&line.text).map_err(|what| lines.damaged(what, line))?;
        if *self.unit.get_or_insert(unit) != unit {
            return Err(lines.damaged("a row has a different unit from the rows above it", line));
        }
        if self.open.last().is_some_and(|above| indent > above.indent + 1) {
            let text = "a row is indented by more than one level, so rows are missing; copy the tree again";
            return Err(lines.damaged(text, line));
        }
        self.close(indent, lines)?;
        if self.open.len() >= lines.max_depth {
            let text = format!("a stack has more than {} frames", lines.max_depth);
            return Err(lines.error(ErrorKind::Limit(text), line.at));
        }
        let callers = self.open.last().and_then(|caller| caller.stack);
        let stack = self.sums.callee(callers, symbol).map_err(|kind| lines.error(kind, line.at))?;
        if let Some(caller) = self.open.last_mut() {
            caller.of_callees = caller.of_callees.saturating_add(total.value);
            caller.tolerance = caller.tolerance.saturating_add(total.digit);
        }
        let tolerance = total.digit.saturating_add(own.unwrap_or_default().digit);
        let (total, digit, own) = (total.value, total.digit, own.map(|own| own.value));
        self.open.push(Open { indent, line: line.at, stack, unit, total, digit, own, of_callees: 0, tolerance });
        Ok(())
    }

    /// Closes the open rows with at least this indent, and adds them to the sums.
    fn close<R>(&mut self, indent: usize, lines: &Lines<'_, R>) -> Result<(), Error> {
        while let Some(row) = self.open.pop_if(|row| row.indent >= indent) {
            let is_inverted = self.open.iter().any(Open::is_inverted);
            let own = self.own(&row).map_err(|what| if is_inverted { INVERTED } else { what }.to_owned());
            let own = own.map_err(ErrorKind::Malformed);
            let weight = own.map(|own| Weight::new(own, row.unit));
            let added = weight.and_then(|weight| self.sums.add(row.stack, weight));
            added.map_err(|kind| lines.error(kind, row.line))?;
        }
        Ok(())
    }

    /// Returns the self weight of a row, after checking it against the total and the callees.
    fn own(&mut self, row: &Open) -> Result<u64, &'static str> {
        let Some(own) = row.own else { return row.total.checked_sub(row.of_callees).ok_or(EXCESS) };
        let sum = own.saturating_add(row.of_callees);
        if sum > row.total.saturating_add(row.tolerance) {
            return Err(EXCESS);
        }
        let missing = row.total.saturating_sub(sum.saturating_add(row.tolerance));
        // With the precision of the tree's total.
        if missing > self.open.first().unwrap_or(row).digit {
            return Err(MISSING);
        }
        if missing > 0 {
            self.incomplete.get_or_insert((row.line, 0)).1 += 1;
        }
        Ok(own)
    }
}

const EXCESS: &str = "the functions below this row and its self weight are more than its total; was the copy edited?";
const INVERTED: &str = "the self weight of a row with rows below it is its total, so the tree seems to be inverted: in Instruments, uncheck \
                        Invert Call Tree (below the call tree), and copy the tree again";
const MISSING: &str = "the functions below this row and its self weight are less than its total, so rows are missing; copy the tree again";
const INCOMPLETE: &str =
    "the functions below a row and its self weight are a little less than its total; was the end of the copy cut off?";
