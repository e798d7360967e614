//! The exports that need not be hashed again, since their size and time are the same: `sources.json`.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A file that changed so recently may change again and keep its time: clocks of file systems are coarse, up to 2 s.
const SETTLED: Duration = Duration::from_secs(2);

/// An input before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputState {
    /// Bytes on disk.
    pub length: u64,
    /// The time of its last change since 1970, if it is known.
    pub modified: Option<Duration>,
    /// The kind of the input.
    pub kind: InputKind,
}

/// The kinds of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, which may have no end.
    Device,
    /// Something that can be read once, such as a pipe.
    Other,
}

impl InputState {
    /// True for what can be read again.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(self.kind, InputKind::File | InputKind::Folder)
    }
}

/// The content hashes of exports, with the size and time that they had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStamps {
    sources: BTreeMap<String, Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    /// Since 1970.
    modified: Duration,
    hash: String,
}

impl SourceStamps {
    /// The hash that a path had, if the file there still has the same size and time.
    pub fn hash(&self, source: &str, state: &InputState) -> Option<&str> {
        let stamp = self.sources.get(source)?;
        let is_same = stamp.size == state.length && Some(stamp.modified) == state.modified;
        is_same.then_some(stamp.hash.as_str())
    }

    /// Remembers the hash of a file, and its state before it was read. A change inside a folder does not change the folder's time, so a
    /// recording is hashed each time.
    pub fn remember(&mut self, source: &str, state: &InputState, hash: &str) {
        let is_settled = |modified: &Duration| {
            let age = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(*modified);
            Some(age? >= SETTLED)
        };
        // The time of a folder of objects covers its objects (bin/objects/copies.rs).
        let modified = state.modified.filter(|_| state.kind == InputKind::File || source.contains("://"));
        match modified.filter(|modified| is_settled(modified) == Some(true)) {
            Some(modified) => {
                let stamp = Stamp { size: state.length, modified, hash: hash.to_owned() };
                self.sources.insert(source.to_owned(), stamp);
            }
            None => drop(self.sources.remove(source)),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let stamp = |stamp: &Stamp| {
            let (seconds, nanos) = (stamp.modified.as_secs(), stamp.modified.subsec_nanos());
            json!({"size": stamp.size, "modified_s": seconds, "modified_ns": nanos, "hash": stamp.hash})
        };
        self.sources
            .iter()
            .map(|(source, value)| (source.clone(), stamp(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// The stamps that can be read in the text. Without them exports are hashed again, which only costs time.
    pub(super) fn from_json(text: &[u8]) -> Self {
        let read = |(source, value): (String, Value)| {
            let nanos = u32::try_from(value["modified_ns"].as_u64()?).ok().filter(|nanos| *nanos < 1_000_000_000)?;
            let modified = Duration::new(value["modified_s"].as_u64()?, nanos);
            Some((source, Stamp { size: value["size"].as_u64()?, modified, hash: value["hash"].as_str()?.to_owned() }))
        };
        let sources: serde_json::Map<String, Value> = serde_json::from_slice(text).unwrap_or_default();
        Self { sources: sources.into_iter().filter_map(read).collect() }
    }
}
