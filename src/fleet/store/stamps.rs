//! The file `sources.json`: exports that need not be hashed again while their size and time are unchanged.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A file that changed more recently may change again without a new time, since file system clocks have a resolution of up to 2 s.
const SETTLED: Duration = Duration::from_secs(2);

/// The state of an input before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputState {
    /// The size on disk in bytes.
    pub length: u64,
    /// The time of the last change since 1970, if known.
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
    /// A device, possibly endless.
    Device,
    /// Anything that can be read only once, such as a pipe.
    Other,
}

impl InputState {
    /// True if the input can be read again.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(self.kind, InputKind::File | InputKind::Folder)
    }
}

/// The content hashes of exports, with the size and time when they were hashed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceStamps {
    sources: BTreeMap<String, Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    /// The time since 1970.
    modified: Duration,
    hash: String,
}

impl SourceStamps {
    /// The hash of the file at a path, if its size and time are unchanged.
    pub(crate) fn hash(&self, source: &str, state: &InputState) -> Option<&str> {
        let stamp = self.sources.get(source)?;
        let is_same = stamp.size == state.length && Some(stamp.modified) == state.modified;
        is_same.then_some(stamp.hash.as_str())
    }

    /// Records a file's hash, with its state before it was read. Not for recordings, which are hashed each time: a folder's time does not show
    /// changes inside it.
    pub(crate) fn remember(&mut self, source: &str, state: &InputState, hash: &str) {
        let is_settled = |modified: &Duration| {
            let age = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(*modified);
            Some(age? >= SETTLED)
        };
        // The time of a folder in an object store covers its objects (bin/objects/copies.rs).
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

    /// Parses stamps, skipping invalid ones. An export without a stamp is hashed again, which only takes time.
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn stamps_hold_as_long_as_size_and_time_do() {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export.xml");
        let state = || {
            let metadata = fs::metadata(&export).unwrap();
            let modified = metadata.modified().unwrap().duration_since(UNIX_EPOCH).ok();
            InputState { length: metadata.len(), modified, kind: InputKind::File }
        };
        let set_time = |time| File::options().write(true).open(&export).unwrap().set_modified(time).unwrap();
        let write = |text: &str, age: u64| {
            fs::write(&export, text).unwrap();
            set_time(SystemTime::now() - Duration::from_secs(age));
            state()
        };
        let one = write("one", 60);
        let mut stamps = SourceStamps::default();
        stamps.remember("export.xml", &one, "hash of one");
        assert_eq!(SourceStamps::from_json(stamps.to_json().to_string().as_bytes()), stamps);
        assert_eq!(stamps.hash("export.xml", &one), Some("hash of one"));
        assert_eq!(stamps.hash("other.xml", &one), None);
        assert_eq!(stamps.hash("export.xml", &write("two", 50)), None, "another time");
        let longer = write("longer", 60);
        set_time(UNIX_EPOCH + one.modified.unwrap());
        assert_eq!(state().modified, one.modified);
        assert_eq!(stamps.hash("export.xml", &longer), None, "another size");
        stamps.remember("export.xml", &write("six", 0), "hash of six");
        assert_eq!(stamps.hash("export.xml", &state()), None, "may change again within the second");
        assert_eq!(SourceStamps::from_json(b"{\"export.xml\":7"), SourceStamps::default());
    }
}
