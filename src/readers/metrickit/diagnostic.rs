//! The parts of documents: diagnostics with their facts and call trees, and the metrics of a day.

use super::metrics::Leaf;
use crate::error::Position;
use crate::hash::HashMap;
use crate::units::Uuid;

/// The subject of a diagnostic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    Crash,
    Hang,
    Cpu,
    DiskWrite,
    Launch,
    Memory,
    /// A call tree extracted from a diagnostic.
    #[default]
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    /// 0 for roots.
    pub(super) depth: usize,
    pub(super) address: Option<u64>,
    pub(super) offset: Option<u64>,
    pub(super) uuid: Option<Uuid>,
    /// The name of its binary, if the binary has no UUID.
    pub(super) name: Option<String>,
    /// The name of its function, which only App Store Connect provides.
    pub(super) symbol: Option<String>,
    pub(super) count: Option<u64>,
    pub(super) of_callees: u64,
    pub(super) callees: u32,
}

impl Node {
    /// The number of samples through the frame.
    pub(super) fn all(&self) -> u64 {
        self.count.unwrap_or_default()
    }

    /// The number of samples that end in the frame.
    pub(super) fn own(&self) -> u64 {
        self.count.unwrap_or_default().saturating_sub(self.of_callees)
    }
}

/// The stacks of one thread, or of all threads.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) is_attributed: bool,
    /// The frames, each before its callees.
    pub(super) nodes: Vec<Node>,
    /// The first frame whose callees have more samples than the frame.
    pub(super) excess: Option<Position>,
    /// The first frame with several callees.
    pub(super) branch: Option<Position>,
    /// The first frame without a count.
    pub(super) uncounted: Option<Position>,
}

/// Invalid UUIDs: their number, and the position of the first.
pub(super) type Odd = Option<(u64, Position)>;

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) is_per_thread: Option<bool>,
    pub(super) threads: Option<Vec<Thread>>,
    /// The names of binaries.
    pub(super) names: HashMap<Uuid, String>,
    pub(super) odd_uuids: Odd,
    /// Where a binary is first given a second name.
    pub(super) renamed: Option<Position>,
}

impl Tree {
    /// Adds the stacks of another tree. Its names must include this tree's.
    pub(super) fn add(&mut self, other: Self) {
        self.is_per_thread = self.is_per_thread.or(other.is_per_thread);
        if let Some(threads) = other.threads {
            self.threads.get_or_insert_default().extend(threads);
        }
        self.names = other.names;
        if let Some((count, at)) = other.odd_uuids {
            self.odd_uuids.get_or_insert((0, at)).0 += count;
        }
        self.renamed = self.renamed.take().or(other.renamed);
    }
}

/// A key and value of metadata.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) key: String,
    pub(super) value: String,
    /// True for a value with a unit, `{"value": 9.47, "unit": "s"}`; false for text, which may be localised.
    pub(super) is_number: bool,
}

#[derive(Debug)]
pub(super) struct Diagnostic {
    pub(super) kind: Kind,
    pub(super) tree: Tree,
    /// Metadata, with the keys of the document. If a key has several values, the first is used.
    pub(super) facts: Vec<Fact>,
    /// The position of the end of the diagnostic.
    pub(super) at: Position,
    /// If not 0, a placeholder for this many diagnostics of an unknown kind, which are left out.
    pub(super) unknown: u64,
}

impl Diagnostic {
    pub(super) fn fact(&self, key: &str) -> Option<&str> {
        let found = self.facts.iter().find(|fact| fact.key == key);
        found.map(|fact| fact.value.as_str()).filter(|value| !value.is_empty())
    }
}

#[derive(Debug)]
pub(super) struct Day {
    pub(super) facts: Vec<Fact>,
    pub(super) leaves: Vec<Leaf>,
}
