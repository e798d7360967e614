//! The payload: a recording as columns, which the page's script reads.
//!
//! ```text
//! "TPWB" ─► length of the head (LEB128) ─► head (JSON) ─► lengths of the texts ─► the texts (UTF-8) ─► columns, as the head lists them
//! ```
//!
//! It is written as it is made: in memory are the order of the samples, and a number for each sample and each stack, four bytes each.
//! `docs/workbench.md` has every field.

use std::io::{self, Write};

use super::columns::{Column, push_varint};
use super::head::head;
use super::rows::Rows;
use super::stacks::{Callees, SampledStacks};
use super::tables::{of_profile, of_rows};
use super::texts::Texts;
use crate::profile::Profile;
use crate::recording::Intervals;
use crate::report::Report;

const MAGIC: &[u8; 4] = b"TPWB";

/// Writes the payload of a report, not compressed.
pub(super) fn write(report: &Report<'_>, intervals: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let (rows, texts, callees) = (Rows::new(report), Texts::new(profile), Callees::new(profile));
    let stacks = SampledStacks::new(profile, rows.iter().map(|row| row.stack));
    let lengths = Column::new("texts.length", || texts.ids.iter().map(|&id| profile.string(id).len() as u64));
    let columns: Vec<Column<'_>> =
        [lengths].into_iter().chain(of_profile(profile, &texts, &callees)).chain(of_rows(&rows, &stacks)).collect();
    let head = serde_json::to_vec(&head(report, intervals, &rows, &columns)?)?;
    let mut start = MAGIC.to_vec();
    push_varint(&mut start, head.len() as u64);
    out.write_all(&start)?;
    out.write_all(&head)?;
    let (lengths, columns) = columns.split_at(1);
    lengths.iter().try_for_each(|column| column.write(out))?;
    write_texts(profile, &texts, out)?;
    columns.iter().try_for_each(|column| column.write(out))
}

fn write_texts(profile: &Profile, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    texts.ids.iter().try_for_each(|&id| out.write_all(profile.string(id).as_bytes()))
}
