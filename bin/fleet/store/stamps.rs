//! The exports that are as they were when they were hashed: `sources.json`.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A file that was changed so shortly before it was looked at may change again without another time: clocks of file
/// systems are coarse, up to 2 s.
const SETTLED: Duration = Duration::from_secs(2);

/// The content hashes of exports, with the size and time that they had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceStamps {
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
    /// The hash that a path had, if the file there has the size and time of then.
    pub(crate) fn hash(&self, source: &str, metadata: &Metadata) -> Option<&str> {
        let stamp = self.sources.get(source)?;
        let is_same = stamp.size == metadata.len() && Some(stamp.modified) == modified(metadata);
        is_same.then_some(stamp.hash.as_str())
    }

    /// Remembers the hash of a file. `metadata` was asked for before the file was read. A change inside a folder does not show in the
    /// folder's own time, so a recording is hashed each time.
    pub(crate) fn remember(&mut self, source: &str, metadata: &Metadata, hash: &str) {
        let is_settled = |modified: &Duration| {
            let age = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(*modified);
            Some(age? >= SETTLED)
        };
        let modified = modified(metadata).filter(|_| metadata.is_file());
        match modified.filter(|modified| is_settled(modified) == Some(true)) {
            Some(modified) => {
                let stamp = Stamp { size: metadata.len(), modified, hash: hash.to_owned() };
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

fn modified(metadata: &Metadata) -> Option<Duration> {
    metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()
}
