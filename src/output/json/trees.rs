//! Trees as nested nodes.

use std::io::{self, Write};

use super::{push_text, scope};
use crate::calltree::{Draft, Label, Node};
use crate::output::labels::{binary_of, function_of};
use crate::output::texts::{FunctionTexts, Page};
use crate::profile::{FunctionId, Profile};
use crate::report::{Report, SeparateBy};

/// Writes the trees, under the name of what has one.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = match report.options.separate_by {
        SeparateBy::Thread => "threads",
        SeparateBy::Process => "processes",
        SeparateBy::State => "states",
        SeparateBy::CoreKind => "core_kinds",
        SeparateBy::Nothing => "trees",
    };
    let names = Names::new(&report.export.profile);
    let mut page = Page::new(out);
    page.put(format!(",\n\"{name}\":[").as_bytes());
    let mut separator: &[u8] = b"\n";
    for (index, series) in report.series.iter().enumerate() {
        report.walk_trees(series, &series.scopes, |row, tree| {
            // The tree is the last field of the object, so that it can be written without holding it.
            let head = scope(report, index, row.scope, &row.counted).to_string();
            page.put(separator);
            separator = b",\n";
            page.put(&head.as_bytes()[..head.len() - 1]);
            page.put(b",\"tree\":");
            nested(tree, &names, &mut page)?;
            page.put(b"}");
            io::Result::Ok(())
        })?;
    }
    page.put(b"]");
    page.finish()
}

/// Writes a tree, however deep, without recursion.
fn nested(tree: &Draft, names: &Names, page: &mut Page<'_>) -> io::Result<()> {
    let mut open = 0;
    tree.walk(|chain| {
        for (node, &function) in chain.nodes().zip(chain.functions) {
            let is_sibling = open > node.depth;
            while open > node.depth {
                page.put(b"]}");
                open -= 1;
            }
            if is_sibling {
                page.put(b",");
            }
            page.put(names.of(node.label, function));
            numbers(&node, page);
            page.turn()?;
            open += 1;
        }
        io::Result::Ok(())
    })?;
    for _ in 0..open {
        page.put(b"]}");
    }
    Ok(())
}

fn numbers(node: &Node, page: &mut Page<'_>) {
    let Node { all_weight, self_weight, all_samples, hidden_weight, hidden_children, .. } = *node;
    page.put(b",\"all_weight\":");
    page.put_number(all_weight);
    page.put(b",\"self_weight\":");
    page.put_number(self_weight);
    page.put(b",\"samples\":");
    page.put_number(all_samples);
    if hidden_children > 0 {
        page.put(b",\"hidden_weight\":");
        page.put_number(hidden_weight);
        page.put(b",\"hidden_children\":");
        page.put_number(hidden_children.into());
    }
    page.put(b",\"children\":[");
}

/// How nodes begin: `{"function":"…","binary":"…"`.
struct Names {
    functions: FunctionTexts,
    no_stack: Vec<u8>,
    root: Vec<u8>,
}

impl Names {
    fn new(profile: &Profile) -> Self {
        let functions = FunctionTexts::new(profile, |id, out| push_head(profile, Label::Function(id), out));
        let (mut no_stack, mut root) = (Vec::new(), Vec::new());
        push_head(profile, Label::NoStack, &mut no_stack);
        push_head(profile, Label::Root, &mut root);
        Self { functions, no_stack, root }
    }

    fn of(&self, label: Label, function: Option<FunctionId>) -> &[u8] {
        match (label, function) {
            (Label::Root, _) => &self.root,
            (_, Some(function)) => self.functions.get(function),
            (_, None) => &self.no_stack,
        }
    }
}

fn push_head(profile: &Profile, label: Label, out: &mut Vec<u8>) {
    let name = Some(function_of(profile, label)).filter(|name| !name.is_empty());
    out.extend_from_slice(b"{\"function\":");
    push_text(name, out);
    out.extend_from_slice(b",\"binary\":");
    push_text(binary_of(profile, label), out);
}
