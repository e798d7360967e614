//! Samples, a row for each.

use std::io::{self, Write};

use super::records::{Cells, push_doubled, push_field, push_function, scope_fields, series_fields};
use crate::calltree::Label;
use crate::output::byte_writer::{ByteWriter, FunctionTexts, Put, push_address, push_number, stacks_root_first};
use crate::output::folded::escape_folded;
use crate::profile::{Profile, Sample, Stack, StackId};
use crate::report::{Report, Scope};

const COLUMNS: &[u8] =
    b"input,run,table,schema,time_ns,weight,unit,pid,process,tid,thread,core,state,address,function,binary,stack\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let pieces = Pieces::new(report, cells);
    let mut stack = JoinedStack::default();
    let mut writer = ByteWriter::new(out);
    writer.put(COLUMNS);
    for (_, sample) in report.samples() {
        stack.join(profile, sample.stack, &pieces);
        row(profile, sample, &stack, &pieces, &mut writer);
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
    /// `;function`, for use between quotes.
    elements: FunctionTexts,
    /// By function: true if the element needs quotes.
    is_quoted: Vec<bool>,
}

impl Pieces {
    fn new(report: &Report<'_>, cells: Cells) -> Self {
        let profile = &report.recording.profile;
        let series = profile.series_ids().map(|id| {
            let position = report.position(id);
            position.map_or_else(Vec::new, |position| series_fields(report, &report.series[position], cells))
        });
        let threads = profile.thread_ids().map(|id| scope_fields(profile, Scope::Thread(id), cells));
        let mut is_quoted = Vec::new();
        let elements = FunctionTexts::new(profile, |id, out| {
            // Each name starts a cell or follows a `;`.
            let name = escape_folded(profile.function_name(id));
            let name = cells.text(&name);
            is_quoted.push(name.contains([',', '"']));
            out.push(b';');
            push_doubled(&name, out);
        });
        let leaves = FunctionTexts::new(profile, |id, out| {
            push_function(profile, Label::Function(id), cells, out);
            out.push(b',');
        });
        Self { cells, series: series.collect(), threads: threads.collect(), leaves, elements, is_quoted }
    }
}

/// The function names of a stack, root first, joined by `;`. The names of the last sample are kept.
#[derive(Default)]
struct JoinedStack {
    of: Option<StackId>,
    path: Vec<Stack>,
    text: Vec<u8>,
}

impl JoinedStack {
    fn join(&mut self, profile: &Profile, stack: Option<StackId>, pieces: &Pieces) {
        if self.of == stack {
            return;
        }
        self.of = stack;
        stacks_root_first(profile, stack, &mut self.path);
        self.text.clear();
        self.text.push(b'"');
        let mut is_quoted = false;
        for stack in &self.path {
            let function = profile.frame(stack.frame).function;
            is_quoted |= pieces.is_quoted[function.index()];
            // The first element has no separator before it.
            let start = usize::from(self.text.len() == 1);
            self.text.extend_from_slice(&pieces.elements.get(function)[start..]);
        }
        if is_quoted {
            self.text.push(b'"');
        } else {
            self.text.remove(0);
        }
    }
}

fn row(profile: &Profile, sample: &Sample, stack: &JoinedStack, pieces: &Pieces, writer: &mut ByteWriter<'_>) {
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
    match stack.path.last().filter(|_| sample.stack.is_some()) {
        Some(leaf) => {
            let frame = profile.frame(leaf.frame);
            push_address(frame.address.get(), &mut writer.text);
            writer.put(b",").put(pieces.leaves.get(frame.function))
        }
        None => writer.put(b",,,"),
    };
    writer.put(&stack.text).put(b"\n");
}
