//! The frames that symbol files named, and the frames that they did not.

use std::io::{self, Write};

use super::style::{Style, Tone, clean, wrap};
use super::words::count;
use crate::symbolicate::{BinarySummary, SymbolicationSummary};

pub(super) fn write(summary: &SymbolicationSummary, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if summary.binaries.is_empty() {
        return Ok(());
    }
    let sum = |get: fn(&BinarySummary) -> u64| summary.binaries.iter().map(get).sum::<u64>();
    let (frames, before, now) = (sum(|row| row.frames), sum(|row| row.named_before), sum(|row| row.named_now));
    let with_inlined = match sum(|row| row.frames_now) {
        same if same == frames => String::new(),
        more => format!("; with inlined functions they are {more}"),
    };
    let of = count(frames, "frame");
    let text = format!("symbols: {now} of {of} in known binaries have names, {before} had one before{with_inlined}");
    writeln!(out, "\n{}", wrap(&text, 0, style.width).join("\n"))?;
    let disagreements = sum(|row| row.disagreements);
    if disagreements > 0 {
        let what = count(disagreements, "frame");
        let text =
            format!("{what} had another name in the recording; the symbols are of the same build, so theirs is shown");
        writeln!(out, "{}", wrap(&text, 2, style.width).join("\n"))?;
    }
    for row in summary.binaries.iter().filter(|row| row.has_symbols_without_names()) {
        let (name, outside) = (clean(&row.name), row.frames - row.named_now - row.nameless);
        let nameless = (row.nameless > 0).then(|| {
            let what = count(row.nameless, "frame");
            format!("the symbols of {name} have no names for the functions of {what}, which are named by the address where they start")
        });
        let outside = (outside > 0)
            .then(|| format!("the symbols of {name} know no function at the addresses of {}", count(outside, "frame")));
        for line in nameless.into_iter().chain(outside).flat_map(|text| wrap(&text, 2, style.width)) {
            writeln!(out, "{}", style.paint(Tone::Dim, &line))?;
        }
    }
    Ok(())
}
