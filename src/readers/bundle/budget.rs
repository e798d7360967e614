//! Limits the data that is copied out of a keyed archive.

use super::keyed_archive::{KeyedArchive, Node};
use super::keyed_collections::Kind;
use crate::symbols::Broken;

/// The maximum ratio of copied data to archive size.
const TIMES: usize = 16;

/// The number of bytes that may still be copied.
#[derive(Debug, Default)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new(archive: &KeyedArchive<'_>) -> Self {
        Self { left: archive.size().saturating_mul(TIMES) }
    }

    /// Charges bytes copied from an object.
    pub(super) fn take(&mut self, node: Node<'_>, bytes: usize) -> Result<(), Broken> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(node
                .broken("object", format_args!("the objects that are shared take more than {TIMES} times the file"))),
        }
    }

    /// Copies a string; `None` for nil. Anything else is an error.
    pub(super) fn string(&mut self, node: Node<'_>) -> Result<Option<String>, Broken> {
        let text = node.text()?;
        self.take(node, text.as_ref().map_or(0, |text| text.len()))?;
        Ok(text.map(String::from))
    }

    /// Copies a string, or an integer as a string; `None` for anything else.
    pub(super) fn text(&mut self, node: Node<'_>) -> Result<Option<String>, Broken> {
        match node.kind()? {
            Kind::Text => self.string(node),
            Kind::Integer => {
                let text = node.integer()?.map(|number| number.to_string());
                self.take(node, text.as_ref().map_or(0, String::len))?;
                Ok(text)
            }
            _ => Ok(None),
        }
    }
}
