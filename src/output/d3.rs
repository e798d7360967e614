//! A tree of `{"name", "value", "children"}`, which d3-flame-graph and other viewers based on d3's hierarchies read.
//!
//! ```json
//! {"name":"all","value":485000000,"children":[
//! {"name":"Main Thread (0x2a101) · Orchard (4150)","value":122000000,"children":[{"name":"start","value":122000000,"children":[]}]}]}
//! ```
//!
//! The value of a node is its total weight. The part that its children do not account for is self weight or hidden.

use std::io::{self, Write};

use super::byte_writer::{ByteWriter, LabelTexts, Put};
use super::json::write_nested;
use crate::calltree::Label;
use crate::report::{Report, Scope, SeriesReport, function_of, scope_labels};

/// Writes the trees of a report of [`View::Tree`](crate::report::View::Tree) below one root. Each tree is below a node with the name of its
/// thread or process; a single tree for everything provides the root itself.
///
/// # Errors
/// If `out` fails, or the series of the report cannot be added up ([`Report::check_one_measurement`]).
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    report.check_one_measurement()?;
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| {
        out.put_text(Some(function_of(profile, label)));
    });
    let scopes: Vec<Scope> = report.series.iter().flat_map(|series| &series.scopes).map(|row| row.scope).collect();
    let is_single = scopes == [Scope::All];
    let mut writer = ByteWriter::new(out);
    if !is_single {
        let all = report.series.iter().map(|series| series.counted.weight.value).fold(0, u64::saturating_add);
        writer.put(format!("{{\"name\":\"all\",\"value\":{all},\"children\":[").as_bytes());
    }
    let mut separator: &[u8] = b"\n";
    for series in &report.series {
        report.walk_trees(series, &series.scopes, |row, tree| {
            let mut root = Vec::new();
            let name = if is_single { "all".to_owned() } else { name_of(report, series, row.scope) };
            root.put_text(Some(&name));
            if !is_single {
                writer.put(separator);
                separator = b",\n";
            }
            write_nested(tree, &mut writer, |node, writer| {
                let name = if node.label == Label::Root { &root } else { names.get(node.label) };
                writer.put(b"{\"name\":").put(name).put(b",\"value\":").put_number(node.all_weight);
            })
        })?;
    }
    writer.put(if is_single { b"\n" } else { b"]}\n" });
    writer.finish()
}

/// The name of a tree, from specific to general: the thread and its process, or only the process. A tree of all threads is named after its run.
fn name_of(report: &Report<'_>, series: &SeriesReport, scope: Scope) -> String {
    let profile = &report.recording.profile;
    let mut labels = scope_labels(profile, scope);
    labels.reverse();
    if labels.is_empty() {
        labels.push(format!("run {}", profile.run(profile.series(series.series).run).number));
    }
    labels.join(" · ")
}
