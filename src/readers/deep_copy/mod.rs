//! Reads call trees that were copied out of Instruments (Edit > Deep Copy), of Instruments 7 to 16.
//!
//! ```text
//! Weight            Self Weight         Symbol Names
//! 4.93 s  100.0%    0 s                 start
//! 4.93 s  99.9%     0 s                  main
//! 2.45 s  49.6%     846.00 ms             delta()
//! ```
//!
//! Columns are separated by tabs, and symbols are indented by one blank for each caller. The first row may be indented as well.
//!
//! * The self weight of a row is its weight. Older versions have bare numbers in the unit of the column (`Self (ms)`), and write `-` for 0.
//! * The total of a row is only a check: it is its self weight and the totals of the rows below it, except for rounding. Percentages are
//!   not used, since some versions write wrong ones.
//! * Allocations (`Bytes Used`, `Count`) have no self weight: it is the total without the rows below it, if all totals are exact bytes.
//! * Numbers are rounded. The separator of decimals is that of the percentage in the row, if there is one.
//! * The text contains no binaries, addresses, threads, or times, and no number of samples: each row is one sample.
//!
//! The text does not contain the instrument. Time is taken for the CPU time of a Time Profiler.

mod head;
mod quantity;
mod tree;

use std::io::Read;

use super::lines::{LineStart, Lines};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::profile::Meaning;
use crate::recording::{RecordingBuilder, Table, TableKind, Toc, TocRun};
use head::Head;
use tree::Tree;

/// Reads an input into a recording. `name` is how results and errors call it.
///
/// # Errors
/// If a row is damaged or contradicts others, or if the input exceeds a limit. The builder cannot be used after that.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let mut lines = Lines::new(source, name, &recording.options.clone());
    let head = lines.next()?.and_then(|line| Head::parse(&line.text));
    let refused = |text: &str| ErrorKind::NotAnExport(text.to_owned());
    let head = head.ok_or_else(|| lines.error(refused(OTHER_COLUMNS), LineStart::FIRST))?;
    let mut input = recording.input(name)?;
    let table = Table { run: 1, schema: Some("deep-copy".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, Meaning::OnCpu, name.to_owned());
    input.note(Diagnostic { at: Some(lines.place(LineStart::FIRST)), message: ROUNDED.to_owned(), count: 1 });
    let tree = Tree::new(head, input);
    let mut tree = tree.map_err(|full| lines.error(ErrorKind::Limit(full.to_string()), LineStart::FIRST))?;
    tree.read(&mut lines)?;
    tree.input.finish(Toc { runs: vec![TocRun { number: 1, ..TocRun::default() }] });
    Ok(())
}

const OTHER_COLUMNS: &str = "this is a table that was copied out of Instruments (Deep Copy), but not a call tree with the columns Weight, \
                             Running Time or Bytes Used in front of Self Weight, Self or Count; copy it from the call tree of Time Profiler";
const ROUNDED: &str = "Instruments rounds the numbers in a Deep Copy, so sums are approximate; it does not contain numbers of samples, so each row \
                       is one sample, and time is taken for CPU time";
