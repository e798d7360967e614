//! Flame charts, a row for each span.

use std::io::{self, Write};

use super::cells::Cells;
use super::records::{origin, push_field, push_function};
use crate::calltree::Label;
use crate::output::byte_writer::{ByteWriter, FunctionTexts, Put};
use crate::report::{Report, Scope};

const COLUMNS: &[u8] = b"input,run,table,schema,pid,process,tid,thread,start_ns,end_ns,estimated,depth,all_weight,\
self_weight,samples,unit,function,binary\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = FunctionTexts::new(profile, |id, out| push_function(profile, Label::Function(id), cells, out));
    let mut no_stack = Vec::new();
    push_function(profile, Label::NoStack, cells, &mut no_stack);
    let mut writer = ByteWriter::new(out);
    writer.put(COLUMNS);
    for series in &report.series {
        let chart = report.flame_chart(series);
        let is_estimated: &[u8] = if chart.typical_gap().is_none() { b",false" } else { b",true" };
        for thread in chart.threads() {
            let mut shared = Vec::new();
            for field in origin(report, series, Scope::Thread(thread.thread()), cells) {
                push_field(&field, &mut shared);
                shared.push(b',');
            }
            for span in thread.spans() {
                writer.put(&shared);
                writer.put_number(span.start.as_nanos());
                writer.put(b",").put_number(span.end.as_nanos());
                writer.put(is_estimated);
                for number in [span.depth.into(), span.all_weight, span.self_weight, span.samples] {
                    writer.put(b",").put_number(number);
                }
                writer.put(format!(",{},", series.unit.name()).as_bytes());
                writer.put(match span.label {
                    Label::Function(id) => names.get(id),
                    Label::Root | Label::NoStack => &no_stack,
                });
                writer.put(b"\n");
                writer.flush_if_full()?;
            }
        }
    }
    writer.finish()
}
