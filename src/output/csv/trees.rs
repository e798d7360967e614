//! Trees, a row for each node.

use std::io::{self, Write};

use super::cells::Cells;
use super::records::{origin, push_field, push_function};
use crate::calltree::{Chain, Label};
use crate::output::byte_writer::{ByteWriter, FunctionTexts, Put};
use crate::report::{Report, Scope, SeparateBy};

const ORIGIN: &[u8] = b"input,run,table,schema,pid,process,tid,thread";
const COLUMNS: &[u8] = b",depth,all_weight,self_weight,hidden_weight,hidden_children,samples,unit,function,binary\n";

pub(super) fn write(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = FunctionTexts::new(profile, |id, out| push_function(profile, Label::Function(id), cells, out));
    let mut no_stack = Vec::new();
    push_function(profile, Label::NoStack, cells, &mut no_stack);
    let mut writer = ByteWriter::new(out);
    writer.put(ORIGIN);
    writer.put(match report.options.separate_by {
        SeparateBy::State => b",state",
        SeparateBy::CoreKind => b",core_kind",
        SeparateBy::Thread | SeparateBy::Process | SeparateBy::Nothing => b"",
    });
    writer.put(COLUMNS);
    for series in &report.series {
        report.walk_trees(series, &series.scopes, |row, tree| {
            let mut rows = Rows { shared: Vec::new(), unit: series.unit.name(), names: &names, no_stack: &no_stack };
            for field in origin(report, series, row.scope, cells) {
                push_field(&field, &mut rows.shared);
                rows.shared.push(b',');
            }
            if let Scope::State(part) | Scope::CoreKind(part) = row.scope {
                push_field(&cells.text(part.map_or("", |part| profile.string(part))), &mut rows.shared);
                rows.shared.push(b',');
            }
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
    names: &'t FunctionTexts,
    no_stack: &'t [u8],
}

impl Rows<'_> {
    fn chain(&self, chain: &Chain<'_>, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for (node, &function) in chain.nodes().zip(chain.functions) {
            writer.put(&self.shared);
            writer.put_number(node.depth.into());
            let weights = [node.all_weight, node.self_weight, node.hidden_weight];
            for number in weights.into_iter().chain([node.hidden_children.into(), node.all_samples]) {
                writer.put(b",").put_number(number);
            }
            writer.put(b",").put(self.unit.as_bytes()).put(b",");
            match (node.label, function) {
                (Label::Root, _) => writer.put(b","),
                (_, Some(function)) => writer.put(self.names.get(function)),
                (_, None) => writer.put(self.no_stack),
            };
            writer.put(b"\n");
            writer.flush_if_full()?;
        }
        Ok(())
    }
}
