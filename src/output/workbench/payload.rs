//! The payload: a recording as columns, which the page's script reads.
//!
//! ```text
//! "TPWB" ─► length of the head (LEB128) ─► head (JSON) ─► lengths of the texts ─► the texts (UTF-8) ─► columns, as the head lists them
//! ```
//!
//! It is written as it is made: in memory are the order of the samples, and a number for each sample and each stack, four bytes each; if
//! samples are joined, also the rows that they become, and the values of performance counters, eight bytes each.
//! `docs/workbench.md` has every field.

use std::io::{self, Write};

use super::columns::Column;
use super::head::head;
use super::reduction::WorkbenchReduction;
use super::rows::Rows;
use super::stacks::{Callees, SampledStacks};
use super::tables::{of_profile, of_rows};
use super::texts::Texts;
use crate::profile::Profile;
use crate::recording::Intervals;
use crate::report::Report;
use crate::varint;

const MAGIC: &[u8; 4] = b"TPWB";

/// Writes the payload of a report, not compressed.
pub(super) fn write(
    report: &Report<'_>,
    intervals: &Intervals,
    reduction: WorkbenchReduction,
    out: &mut dyn Write,
) -> io::Result<()> {
    made(report, intervals, reduction, |made| {
        made.write_recording(&report.recording.profile, out)?;
        made.rows.iter().try_for_each(|column| column.write(out))
    })
}

/// Writes what is the same with every reduction, apart from some numbers in the head: everything but the columns of rows.
pub(super) fn write_recording(report: &Report<'_>, intervals: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    made(report, intervals, WorkbenchReduction::None, |made| made.write_recording(&report.recording.profile, out))
}

/// Writes the columns of rows only.
pub(super) fn write_rows(report: &Report<'_>, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
    let rows = Rows::new(report, reduction);
    let stacks = SampledStacks::new(&report.recording.profile, rows.iter().map(|row| row.stack));
    of_rows(&rows, &stacks).iter().try_for_each(|column| column.write(out))
}

/// The number of bytes that [`write`] writes.
pub(super) fn size(report: &Report<'_>, intervals: &Intervals, reduction: WorkbenchReduction) -> io::Result<u64> {
    let profile = &report.recording.profile;
    made(report, intervals, reduction, |made| {
        let texts: usize = made.texts.ids.iter().map(|&id| profile.string(id).len()).sum();
        let columns: u64 = made.recording.iter().chain(made.rows).map(Column::bytes).sum();
        Ok(columns + (made.start.len() + texts) as u64)
    })
}

/// A payload that is ready to be written.
struct Made<'m, 'c> {
    /// Everything up to the end of the head.
    start: &'m [u8],
    /// The columns of texts, of which there is one and which is the first, functions, frames and stacks.
    recording: &'m [Column<'c>],
    rows: &'m [Column<'c>],
    texts: &'m Texts,
}

impl Made<'_, '_> {
    fn write_recording(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.start)?;
        let (lengths, columns) = self.recording.split_at(1);
        lengths.iter().try_for_each(|column| column.write(out))?;
        self.texts.ids.iter().try_for_each(|&id| out.write_all(profile.string(id).as_bytes()))?;
        columns.iter().try_for_each(|column| column.write(out))
    }
}

/// Makes the payload.
fn made<T>(
    report: &Report<'_>,
    intervals: &Intervals,
    reduction: WorkbenchReduction,
    done: impl FnOnce(&Made<'_, '_>) -> io::Result<T>,
) -> io::Result<T> {
    let profile = &report.recording.profile;
    let (rows, texts, callees) = (Rows::new(report, reduction), Texts::new(profile), Callees::new(profile));
    let stacks = SampledStacks::new(profile, rows.iter().map(|row| row.stack));
    let lengths = Column::new("texts.length", || texts.ids.iter().map(|&id| profile.string(id).len() as u64));
    let mut columns: Vec<Column<'_>> = [lengths].into_iter().chain(of_profile(profile, &texts, &callees)).collect();
    let recorded = columns.len();
    columns.extend(of_rows(&rows, &stacks));
    let head = serde_json::to_vec(&head(report, intervals, (&rows, reduction), &columns)?)?;
    let mut start = MAGIC.to_vec();
    varint::write(&mut start, head.len() as u64);
    start.extend(head);
    let (recording, rows) = columns.split_at(recorded);
    done(&Made { start: &start, recording, rows, texts: &texts })
}
