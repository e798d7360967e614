//! Flame charts, a row for each span.

use std::io::{self, Write};

use super::cells::Cells;
use super::records::{push_function, scope_fields, series_fields};
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::report::{Report, Scope};

const COLUMNS: &[u8] = b"input,run,table,schema,pid,process,tid,thread,start_ns,end_ns,estimated,depth,all_weight,\
self_weight,samples,unit,function,binary\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let mut writer = ByteWriter::new(out);
    writer.put(COLUMNS);
    for series in &report.series {
        let series_fields = series_fields(report, series, cells);
        let chart = report.flame_chart(series);
        let is_estimated: &[u8] = if chart.typical_gap().is_none() { b",false" } else { b",true" };
        for thread in chart.threads() {
            let thread_fields = scope_fields(profile, Scope::Thread(thread.thread()), cells);
            for span in thread.spans() {
                writer.put(&series_fields).put(&thread_fields);
                writer.put_number(span.start.as_nanos());
                writer.put(b",").put_number(span.end.as_nanos());
                writer.put(is_estimated);
                for number in [span.depth.into(), span.all_weight, span.self_weight, span.samples] {
                    writer.put(b",").put_number(number);
                }
                writer.put(format!(",{},", series.unit.name()).as_bytes());
                writer.put(names.get(span.label));
                writer.put(b"\n");
                writer.flush_if_full()?;
            }
        }
    }
    writer.finish()
}
