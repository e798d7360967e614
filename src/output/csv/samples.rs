//! Samples, one row per sample.

use std::io::{self, Write};

use super::cells::Cells;
use super::shared::{SCOPE, SERIES, push_function, scope_fields, series_fields};
use super::writer::{Csv, Field, fields};
use crate::calltree::Label;
use crate::output::byte_writer::{FunctionTexts, StackText};
use crate::output::folded::escape_folded;
use crate::profile::{Profile, Stack};
use crate::report::{Report, Scope};

const AMOUNT: &str = "time_ns,weight,unit";
const LEAF: &str = "core,state,address,function,binary,stack";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let pieces = Pieces::new(report, cells);
    let mut stack = StackText::default();
    let mut csv = Csv::new([SERIES, AMOUNT, SCOPE, LEAF].iter().flat_map(|names| names.split(',')), cells, out)?;
    for (_, sample) in report.samples() {
        let frame = sample.stack.map(|id| profile.frame(profile.stack(id).frame));
        csv.record([
            Field::Shared(&pieces.series[sample.series.index()]),
            sample.time.as_nanos().into(),
            sample.weight.into(),
            profile.series(sample.series).unit.name().into(),
            Field::Shared(&pieces.threads[sample.thread.index()]),
            sample.core.map(|core| profile.core(core).index).into(),
            sample.state.map(|state| profile.string(state)).into(),
            frame.map_or(Field::Absent, |frame| Field::Address(frame.address.get())),
            Field::Shared(frame.map_or(b",", |frame| pieces.leaves.get(frame.function))),
            Field::Shared(stack.get(profile, sample.stack, |path, out| push_stack(profile, path, cells, out))),
        ])?;
    }
    csv.finish()
}

/// Pieces of output that many rows share.
struct Pieces {
    /// By series; empty for series that are not selected.
    series: Vec<Vec<u8>>,
    /// By thread.
    threads: Vec<Vec<u8>>,
    /// The names of functions and their binaries.
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
        let leaves = FunctionTexts::new(profile, |id, out| push_function(profile, Label::Function(id), cells, out));
        Self { series: series.collect(), threads: threads.collect(), leaves }
    }
}

/// The function names of a stack, root first, joined by `;`.
fn push_stack(profile: &Profile, path: &[Stack], cells: Cells, out: &mut Vec<u8>) {
    let name = |stack: &Stack| escape_folded(profile.function_name(profile.frame(stack.frame).function));
    fields([path.iter().map(name).collect::<Vec<_>>().join(";").into()], cells, out);
}
