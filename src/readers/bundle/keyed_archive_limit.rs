//! The limit on the data made of a keyed archive.
//!
//! An archive can refer to one object a million times, and each copy takes memory. Real archives share few of their long objects, so the
//! data copied out of an archive stays below a few times its size.

use super::keyed_archive::{KeyedArchive, Node};
use super::keyed_collections::Kind;
use crate::symbols::Broken;

/// The number of times that an archive may be copied out of itself.
const TIMES: usize = 16;

/// The bytes that may still be copied.
#[derive(Debug, Default)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// The budget for the data made of an archive.
    pub(super) fn new(archive: &KeyedArchive<'_>) -> Self {
        Self { left: archive.size().saturating_mul(TIMES) }
    }

    /// Counts bytes copied from an object.
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

    /// A string; `None` for nil. Anything else is an error.
    pub(super) fn string(&mut self, node: Node<'_>) -> Result<Option<String>, Broken> {
        let text = node.text()?;
        self.take(node, text.as_ref().map_or(0, |text| text.len()))?;
        Ok(text.map(String::from))
    }

    /// A string, or a whole number as a string; `None` for anything else.
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
