//! Trees, a row for each node.

use std::io::{self, Write};

use super::cells::Cells;
use super::records::{push_field, push_function, scope_fields, series_fields};
use crate::calltree::Chain;
use crate::output::byte_writer::{ByteWriter, LabelTexts, Put};
use crate::report::{Report, Scope, SeparateBy};

const ORIGIN: &[u8] = b"input,run,table,schema,pid,process,tid,thread";
const COLUMNS: &[u8] = b",depth,all_weight,self_weight,hidden_weight,hidden_children,samples,unit,function,binary\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let mut writer = ByteWriter::new(out);
    writer.put(ORIGIN);
    writer.put(match report.options.separate_by {
        SeparateBy::State => b",state",
        SeparateBy::CoreKind => b",core_kind",
        SeparateBy::Thread | SeparateBy::Process | SeparateBy::Nothing => b"",
    });
    writer.put(COLUMNS);
    for series in &report.series {
        let series_fields = series_fields(report, series, cells);
        report.walk_trees(series, &series.scopes, |row, tree| {
            let mut shared = [series_fields.clone(), scope_fields(profile, row.scope, cells)].concat();
            if let Scope::State(part) | Scope::CoreKind(part) = row.scope {
                push_field(&cells.text(part.map_or("", |part| profile.string(part))), &mut shared);
                shared.push(b',');
            }
            let rows = Rows { shared, unit: series.unit.name(), names: &names };
            tree.walk(|chain| rows.chain(&chain, &mut writer))
        })?;
    }
    writer.finish()
}

/// The rows of one tree.
struct Rows<'t> {
    /// The fields that they all start with.
    shared: Vec<u8>,
    unit: &'static str,
    names: &'t LabelTexts,
}

impl Rows<'_> {
    fn chain(&self, chain: &Chain<'_>, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for node in chain.nodes() {
            writer.put(&self.shared);
            writer.put_number(node.depth.into());
            let weights = [node.all_weight, node.self_weight, node.hidden_weight];
            for number in weights.into_iter().chain([node.hidden_children.into(), node.all_samples]) {
                writer.put(b",").put_number(number);
            }
            writer.put(b",").put(self.unit.as_bytes()).put(b",").put(self.names.get(node.label)).put(b"\n");
            writer.flush_if_full()?;
        }
        Ok(())
    }
}
