//! What symbol files named, and what would name the rest.

use std::io::{self, Write};

use super::count;
use super::style::{Style, Tone, clean};
use crate::symbolicate::{BinarySummary, Missing, SymbolicationSummary};

pub(super) fn write(summary: &SymbolicationSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let sum = |get: fn(&BinarySummary) -> u64| summary.binaries.iter().map(get).sum::<u64>();
    let (frames, before, now) = (sum(|row| row.frames), sum(|row| row.named_before), sum(|row| row.named_now));
    writeln!(
        out,
        "\nsymbols: {now} of {} in known binaries named, {before} of them by the recording; {} with inlined functions",
        count(frames, "frame"),
        count(sum(|row| row.frames_now), "frame")
    )?;
    let disagreements = sum(|row| row.disagreements);
    if disagreements > 0 {
        let what = count(disagreements, "frame");
        writeln!(out, "  {what} had another name in the recording: the symbols', of the same UUID, is shown")?;
    }
    for row in &summary.binaries {
        if let Some(line) = other_build(row) {
            writeln!(out, "{}", style.paint(Tone::Warning, &line))?;
        }
    }
    Ok(())
}

/// The commonest mistake: symbols of another build.
fn other_build(row: &BinarySummary) -> Option<String> {
    let Some(Missing::NoFile { same_name }) = &row.missing else { return None };
    let found = same_name.first()?;
    let uuid = row.uuid.map(|uuid| uuid.to_string()).unwrap_or_default();
    Some(format!(
        "  no symbols for {} {uuid} {}; {} has the UUID {}: a different build",
        clean(&row.name),
        clean(&row.arch),
        clean(&found.path.display().to_string()),
        found.uuid
    ))
}
