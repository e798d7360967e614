//! Trees as nested JSON objects.

use std::io;

use super::byte_writer::ByteWriter;
use crate::calltree::{Draft, Node};
use crate::profile::FunctionId;

/// Writes a tree, however deep, without recursion. `put` writes a node from its `{` to the last field before `children`;
/// it gets the function that the node stands for, which the root and samples without stack have none of.
pub(super) fn write(
    tree: &Draft,
    writer: &mut ByteWriter<'_>,
    mut put: impl FnMut(&Node, Option<FunctionId>, &mut ByteWriter<'_>),
) -> io::Result<()> {
    let mut open = 0;
    tree.walk(|chain| {
        for (node, &function) in chain.nodes().zip(chain.functions) {
            let is_sibling = open > node.depth;
            while open > node.depth {
                writer.put(b"]}");
                open -= 1;
            }
            if is_sibling {
                writer.put(b",");
            }
            put(&node, function, writer);
            writer.put(b",\"children\":[");
            writer.flush_if_full()?;
            open += 1;
        }
        io::Result::Ok(())
    })?;
    for _ in 0..open {
        writer.put(b"]}");
    }
    Ok(())
}
