//! Trees as nested JSON objects.

use std::io;

use super::texts::Page;
use crate::calltree::{Draft, Node};
use crate::profile::FunctionId;

/// Writes a tree, however deep, without recursion. `put` writes a node from its `{` to the last field before `children`;
/// it gets the function that the node stands for, which the root and samples without stack have none of.
pub(super) fn write(
    tree: &Draft,
    page: &mut Page<'_>,
    mut put: impl FnMut(&Node, Option<FunctionId>, &mut Page<'_>),
) -> io::Result<()> {
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
            put(&node, function, page);
            page.put(b",\"children\":[");
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
