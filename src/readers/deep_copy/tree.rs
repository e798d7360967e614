//! The rows of a copied call tree become sums of a recording.

use std::io::Read;

use super::head::Head;
use super::quantity::{Quantity, decimal_mark};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::profile::{Full, StackId};
use crate::readers::lines::{Line, LineStart, Lines};
use crate::recording::{FrameKind, InputBuilder};
use crate::units::{Unit, Weight};

/// A row of a table.
struct Row<'l> {
    /// The number of blanks before its symbol.
    indent: usize,
    symbol: &'l str,
    /// The weight of the function with its callees.
    total: Quantity,
    /// The weight of the function alone; `None` for allocations.
    own: Option<u64>,
    /// The values of 1 in the last digits of both.
    digits: u64,
}

/// A row whose callees may follow.
struct Open {
    indent: usize,
    line: LineStart,
    stack: Option<StackId>,
    total: Quantity,
    own: Option<u64>,
    of_callees: u64,
    /// The most by which the sum of the rounded numbers may differ from the total.
    tolerance: u64,
}

/// Adds the rows of a table to an input.
pub(super) struct Tree<'i> {
    head: Head,
    pub(super) input: InputBuilder<'i>,
    thread: u32,
    /// The callers of the next row, outermost first.
    open: Vec<Open>,
    /// The unit of the first row.
    unit: Option<Unit>,
    /// The first row whose callees do not explain its total, and the number of these rows.
    incomplete: Option<(LineStart, u64)>,
}

/// Memory is reserved each time this many rows were read.
const ROWS_BETWEEN: u64 = 1 << 10;

impl<'i> Tree<'i> {
    pub(super) fn new(head: Head, mut input: InputBuilder<'i>) -> Result<Self, Full> {
        let process = input.process(None, "")?;
        let thread = input.thread(None, Some(process), "")?;
        Ok(Self { head, input, thread, open: Vec::new(), unit: None, incomplete: None })
    }

    /// Reads all rows.
    ///
    /// # Errors
    /// If a row cannot be read, or contradicts the rows below it; and if there is none.
    pub(super) fn read<R: Read>(&mut self, lines: &mut Lines<'_, R>) -> Result<(), Error> {
        let mut rows = 0_u64;
        while let Some(line) = lines.next()? {
            if line.text.trim().is_empty() {
                continue;
            }
            rows += 1;
            self.take(&line, lines)?;
            if rows.is_multiple_of(ROWS_BETWEEN) {
                self.input.recording.reserve(0).map_err(|over| Error::memory(over, Some(lines.place(line.at))))?;
            }
        }
        self.close(0, lines)?;
        if rows == 0 {
            let text = "the copied table has no rows; select rows in Instruments before Edit > Deep Copy";
            return Err(lines.error(ErrorKind::Malformed(text.to_owned()), LineStart::FIRST));
        }
        if let Some((line, count)) = self.incomplete {
            let message = INCOMPLETE.to_owned();
            self.input.note(Diagnostic { at: Some(lines.place(line)), message, count });
        }
        Ok(())
    }

    fn take<R>(&mut self, line: &Line, lines: &Lines<'_, R>) -> Result<(), Error> {
        let row = self.head.row(&line.text).map_err(|what| lines.damaged(what, line))?;
        if *self.unit.get_or_insert(row.total.unit) != row.total.unit {
            return Err(lines.damaged("a row has another unit than the rows above it", line));
        }
        if self.open.last().is_some_and(|above| row.indent > above.indent + 1) {
            return Err(
                lines.damaged("a row is indented by more than one level, so rows are missing; copy it again", line)
            );
        }
        self.close(row.indent, lines)?;
        if self.open.len() >= lines.max_depth {
            let text = format!("a stack has more than {} frames", lines.max_depth);
            return Err(lines.error(ErrorKind::Limit(text), line.at));
        }
        let stack = self.stack(row.symbol);
        let stack = stack.map_err(|full| lines.error(ErrorKind::Limit(full.to_string()), line.at))?;
        if let Some(caller) = self.open.last_mut() {
            let sum = caller.of_callees.checked_add(row.total.value);
            caller.of_callees = sum.ok_or_else(|| lines.damaged("the weights are too large", line))?;
            caller.tolerance = caller.tolerance.saturating_add(row.total.digit);
        }
        let Row { indent, total, own, digits: tolerance, .. } = row;
        self.open.push(Open { indent, line: line.at, stack, total, own, of_callees: 0, tolerance });
        Ok(())
    }

    fn stack(&mut self, symbol: &str) -> Result<Option<StackId>, Full> {
        let frame = self.input.named_frame((FrameKind::RawLeaf, 0), None, symbol, None)?;
        self.input.stack(self.open.last().and_then(|caller| caller.stack), &[frame])
    }

    /// Closes the open rows with at least this indent.
    fn close<R>(&mut self, indent: usize, lines: &Lines<'_, R>) -> Result<(), Error> {
        while let Some(row) = self.open.pop_if(|row| row.indent >= indent) {
            let own = self.own(&row).map_err(|what| lines.error(ErrorKind::Malformed(what.to_owned()), row.line))?;
            if own > 0 {
                let added = self.input.add_weight(self.thread, row.stack, Weight::new(own, row.total.unit));
                added.map_err(|full| lines.error(ErrorKind::Limit(full.to_string()), row.line))?;
            }
        }
        Ok(())
    }

    /// The weight of a function alone, which is compared with its total and callees.
    fn own(&mut self, row: &Open) -> Result<u64, &'static str> {
        let Some(own) = row.own else {
            return row.total.value.checked_sub(row.of_callees).ok_or(EXCESS);
        };
        let sum = own.checked_add(row.of_callees).ok_or(EXCESS)?;
        if sum > row.total.value.saturating_add(row.tolerance) {
            return Err(EXCESS);
        }
        let missing = row.total.value.saturating_sub(sum.saturating_add(row.tolerance));
        // The total of the tree is not known better.
        if missing > self.open.first().unwrap_or(row).total.digit {
            return Err(MISSING);
        }
        if missing > 0 {
            self.incomplete.get_or_insert((row.line, 0)).1 += 1;
        }
        Ok(own)
    }
}

const EXCESS: &str = "the functions below this row and its self weight are more than its total; was the copy edited?";
const MISSING: &str = "the functions below this row and its self weight are less than its total, so rows are missing; copy the tree again";
const INCOMPLETE: &str =
    "the functions below a row and its self weight are a little less than its total; was the end of the copy cut off?";

impl Head {
    /// Parses a row of the table.
    fn row<'l>(&self, line: &'l str) -> Result<Row<'l>, &'static str> {
        if line.contains(char::REPLACEMENT_CHARACTER) {
            return Err("a row is not valid UTF-8; save the text in UTF-8 or UTF-16");
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let [total, own, .., name] = cells.as_slice() else { return Err(CELLS) };
        if cells.len() != self.columns {
            return Err(CELLS);
        }
        let symbol = name.trim_start_matches(' ');
        if symbol.trim().is_empty() || symbol.starts_with(char::is_whitespace) || symbol.contains('\r') {
            return Err("a row has no symbol after blanks");
        }
        let mark = decimal_mark(total);
        let (total, unit) = (Quantity::parse(total, None, mark)?, self.unit_of_own.as_deref());
        let own = match own.trim() {
            _ if !self.has_own => None,
            "-" => Some((0, 0)),
            own => match Quantity::parse(own, unit, mark)? {
                own if own.unit == total.unit => Some((own.value, own.digit)),
                _ => return Err("the self weight of a row has another unit than its total"),
            },
        };
        if !self.has_own && total.unit != Unit::Bytes {
            return Err("a row of allocations is not in bytes");
        }
        let digits = total.digit + own.map_or(0, |(_, digit)| digit);
        Ok(Row {
            indent: name.len() - symbol.len(),
            symbol: symbol.trim_end(),
            total,
            own: own.map(|own| own.0),
            digits,
        })
    }
}

const CELLS: &str = "a row does not have the columns of the first line; was the line cut?";
