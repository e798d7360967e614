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

use super::columns::{Column, push_varint};
use super::head::head;
use super::reduction::WorkbenchReduction;
use super::rows::Rows;
use super::stacks::{Callees, SampledStacks};
use super::tables::{of_profile, of_rows};
use super::texts::Texts;
use crate::profile::Profile;
use crate::recording::Intervals;
use crate::report::Report;

const MAGIC: &[u8; 4] = b"TPWB";

/// Writes the payload of a report, not compressed.
pub(super) fn write(
    report: &Report<'_>,
    intervals: &Intervals,
    reduction: WorkbenchReduction,
    out: &mut dyn Write,
) -> io::Result<()> {
    made(report, intervals, reduction, |start, columns, texts| {
        out.write_all(start)?;
        let (lengths, columns) = columns.split_at(1);
        lengths.iter().try_for_each(|column| column.write(out))?;
        write_texts(&report.recording.profile, texts, out)?;
        columns.iter().try_for_each(|column| column.write(out))
    })
}

/// The number of bytes that [`write`] writes.
pub(super) fn size(report: &Report<'_>, intervals: &Intervals, reduction: WorkbenchReduction) -> io::Result<u64> {
    let profile = &report.recording.profile;
    made(report, intervals, reduction, |start, columns, texts| {
        let texts: usize = texts.ids.iter().map(|&id| profile.string(id).len()).sum();
        Ok(columns.iter().map(Column::bytes).sum::<u64>() + (start.len() + texts) as u64)
    })
}

/// Makes everything up to the head, the columns, of which the first are the lengths of the texts, and the texts.
fn made<T>(
    report: &Report<'_>,
    intervals: &Intervals,
    reduction: WorkbenchReduction,
    done: impl FnOnce(&[u8], &[Column<'_>], &Texts) -> io::Result<T>,
) -> io::Result<T> {
    let profile = &report.recording.profile;
    let (rows, texts, callees) = (Rows::new(report, reduction), Texts::new(profile), Callees::new(profile));
    let stacks = SampledStacks::new(profile, rows.iter().map(|row| row.stack));
    let lengths = Column::new("texts.length", || texts.ids.iter().map(|&id| profile.string(id).len() as u64));
    let columns: Vec<Column<'_>> =
        [lengths].into_iter().chain(of_profile(profile, &texts, &callees)).chain(of_rows(&rows, &stacks)).collect();
    let head = serde_json::to_vec(&head(report, intervals, (&rows, reduction), &columns)?)?;
    let mut start = MAGIC.to_vec();
    push_varint(&mut start, head.len() as u64);
    start.extend(head);
    done(&start, &columns, &texts)
}

fn write_texts(profile: &Profile, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    texts.ids.iter().try_for_each(|&id| out.write_all(profile.string(id).as_bytes()))
}
