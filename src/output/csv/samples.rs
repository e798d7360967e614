//! Samples, a row for each.

use std::io::{self, Write};

use super::records::{Cells, push_field, push_function, scope_fields, series_fields};
use crate::calltree::Label;
use crate::output::byte_writer::{ByteWriter, FunctionTexts, Put, StackText, push_address, push_number};
use crate::output::folded::escape_folded;
use crate::profile::{Profile, Sample, Stack};
use crate::report::{Report, Scope};

const COLUMNS: &[u8] =
    b"input,run,table,schema,time_ns,weight,unit,pid,process,tid,thread,core,state,address,function,binary,stack\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let pieces = Pieces::new(report, cells);
    let mut stack = StackText::default();
    let mut writer = ByteWriter::new(out);
    writer.put(COLUMNS);
    for (_, sample) in report.samples() {
        head(profile, sample, &pieces, &mut writer);
        writer.put(stack.get(profile, sample.stack, |path, out| push_stack(profile, path, cells, out))).put(b"\n");
        writer.flush_if_full()?;
    }
    writer.finish()
}

/// Parts of rows that come up again and again.
struct Pieces {
    cells: Cells,
    /// By series: `input,run,table,schema,`; empty for series that are not selected.
    series: Vec<Vec<u8>>,
    /// By thread: `pid,process,tid,thread,`.
    threads: Vec<Vec<u8>>,
    /// `function,binary,`.
    leaves: FunctionTexts,
}

impl Pieces {
    fn new(report: &Report<'_>, cells: Cells) -> Self {
        let profile = &report.recording.profile;
        let series = profile.series_ids().map(|id| {
            let position = report.position(id);
            position.map_or_else(Vec::new, |position| series_fields(report, &report.series[position], cells))
        });
        let threads = profile.thread_ids().map(|id| scope_fields(profile, Scope::Thread(id), cells));
        let leaves = FunctionTexts::new(profile, |id, out| {
            push_function(profile, Label::Function(id), cells, out);
            out.push(b',');
        });
        Self { cells, series: series.collect(), threads: threads.collect(), leaves }
    }
}

/// The function names of a stack, root first, joined by `;`.
fn push_stack(profile: &Profile, path: &[Stack], cells: Cells, out: &mut Vec<u8>) {
    let name = |stack: &Stack| escape_folded(profile.function_name(profile.frame(stack.frame).function));
    push_field(&cells.text(&path.iter().map(name).collect::<Vec<_>>().join(";")), out);
}

/// Everything before the stack.
fn head(profile: &Profile, sample: &Sample, pieces: &Pieces, writer: &mut ByteWriter<'_>) {
    writer.put(&pieces.series[sample.series.index()]);
    writer.put_number(sample.time.as_nanos());
    writer.put(b",").put_number(sample.weight).put(b",");
    writer.put(profile.series(sample.series).unit.name().as_bytes()).put(b",");
    writer.put(&pieces.threads[sample.thread.index()]);
    if let Some(core) = sample.core {
        push_number(profile.core(core).index.into(), &mut writer.text);
    }
    writer.put(b",");
    let state = sample.state.map_or("", |state| profile.string(state));
    push_field(&pieces.cells.text(state), &mut writer.text);
    writer.put(b",");
    match sample.stack.map(|id| profile.frame(profile.stack(id).frame)) {
        Some(frame) => {
            push_address(frame.address.get(), &mut writer.text);
            writer.put(b",").put(pieces.leaves.get(frame.function))
        }
        None => writer.put(b",,,"),
    };
}
