//! The meaning of a document's elements for intervals.

use super::super::tag::Tag;

/// The meaning of an element for intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    /// A table of contents: nothing in it is read.
    Contents,
    Node,
    Schema,
    Column,
    Mnemonic,
    Row,
    Sentinel,
    Number,
    Words,
    /// A text with elements for its parts; its display string contains the complete text.
    Narrative,
    Process,
    Thread,
    Other,
}

impl Kind {
    /// The kind of an element anywhere. Rows of intervals refer to all kinds except `Other`.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "start-time" | "event-time" | "duration" | "os-signpost-identifier" | "tid" | "pid" => Self::Number,
            "string" | "signpost-name" | "subsystem" | "category" | "event-type" | "hang-type" | "short-string" => {
                Self::Words
            }
            "narrative" => Self::Narrative,
            "process" => Self::Process,
            "thread" => Self::Thread,
            "sentinel" => Self::Sentinel,
            _ => Self::Other,
        }
    }

    /// The kind of an element inside `parent`.
    pub(super) fn inside(name: &str, parent: Self) -> Self {
        match (parent, name) {
            (Self::Contents, _) => Self::Contents,
            (Self::Document, "node") => Self::Node,
            (Self::Node, "schema") => Self::Schema,
            (Self::Node, "row") => Self::Row,
            (Self::Schema, "col") => Self::Column,
            (Self::Column, "mnemonic") => Self::Mnemonic,
            _ => Self::of(name),
        }
    }

    pub(super) fn has_text(self) -> bool {
        matches!(self, Self::Mnemonic | Self::Number | Self::Words)
    }

    /// The tag whose attributes are read for it; `None` if none are needed.
    pub(super) fn attributes_as(self) -> Option<Tag> {
        match self {
            Self::Process | Self::Narrative => Some(Tag::Process),
            Self::Thread => Some(Tag::Thread),
            Self::Number | Self::Words => Some(Tag::Tid),
            _ => None,
        }
    }
}
