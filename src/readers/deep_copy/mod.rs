//! Reads call trees that were copied from Instruments 7 to 16 (Edit > Deep Copy).
//!
//! ```text
//! Weight            Self Weight         Symbol Names
//! 4.93 s  100.0%    0 s                 start
//! 4.93 s  99.9%     0 s                  main
//! 2.45 s  49.6%     846.00 ms             delta()
//! ```
//!
//! Columns are separated by tabs, and symbols are indented by one space per caller. The first row may be indented as well.
//!
//! * The weight of a row is its self weight. In older versions it is a bare number in the unit of the column (`Self (ms)`) or of the total, and
//!   `-` means 0.
//! * The total of a row is only used as a check: it is the sum of the row's self weight and the totals of the rows below it, except for
//!   rounding. Percentages are not used, since some versions write wrong ones.
//! * Allocations (`Bytes Used`, `Count`) have no self weight. If all totals are exact byte counts, it is computed as the total minus the totals
//!   of the rows below.
//! * Without its first line, a copy is read as Weight and Self Weight, or as Bytes Used and Count if the weights are bytes.
//! * In an inverted tree, functions call the functions above them, so self weights cannot be distinguished from totals. It is rejected.
//! * Numbers are rounded. The percentage of a row, if present, reveals the decimal mark of its numbers.
//! * The text contains no binaries, addresses, threads, times or sample counts: each row is one sample.
//!
//! The text does not contain the instrument. The reader assumes that times are CPU time from Time Profiler.

mod row;
mod tree;

use std::io::Read;

use super::lines::{LineStart, Lines};
use super::stack_sums::StackSums;
use crate::error::{Error, ErrorKind};
use crate::profile::Meaning;
use crate::recording::RecordingBuilder;
use row::Head;
pub(super) use row::is_row;
use tree::Tree;

/// Reads an input into a recording. `name` identifies it in results and errors.
///
/// # Errors
/// If a row is damaged or contradicts others, or if the input exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let mut lines = Lines::new(source, name, &recording.options.clone());
    let first = lines.next()?;
    let head = first.as_ref().and_then(|line| Head::parse(&line.text));
    let other = ErrorKind::NotAnExport(OTHER_COLUMNS.to_owned());
    let head = head.ok_or_else(|| lines.error(other, LineStart::FIRST))?;
    let first = first.filter(|_| !head.is_named);
    let mut sums = StackSums::start(name, "deep-copy", Meaning::OnCpu, recording)?;
    sums.note(lines.place(LineStart::FIRST), if head.has_own { ROUNDED } else { UNCOUNTED }, 1);
    if first.is_some() {
        sums.note(lines.place(LineStart::FIRST), UNNAMED, 1);
    }
    Tree::new(head, &mut sums).read(first, &mut lines)?;
    sums.finish();
    Ok(())
}

const OTHER_COLUMNS: &str = "this Instruments Deep Copy is not a call tree, which begins with the columns Weight and Self Weight, Running \
                             Time and Self, or Bytes Used and Count; copy the call tree of Time Profiler";
const UNNAMED: &str =
    "the copy does not begin with the names of its columns; they are assumed to be weight, self weight and symbol";
const UNCOUNTED: &str = "a Deep Copy does not contain sample counts, so each row counts as one";
const ROUNDED: &str = "Instruments rounds the numbers in a Deep Copy, so sums are approximate; it does not contain sample counts, so each row \
                       counts as one; times are assumed to be CPU time";
