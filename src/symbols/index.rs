//! What is known of files from before, so that a folder of 10,000 dSYMs is not opened again for every export.
//!
//! Kept as JSON by whoever calls: a file's canonical path, its length and time, and what it held. A file whose length or
//! time changed is looked at again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::contents::{Contents, Image};
use super::locate::SourceKind;
use crate::units::Uuid;

/// The version of the index; another one is not read.
const VERSION: u64 = 1;

/// What tells that a file did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its length in bytes.
    pub length: u64,
    /// When it changed last, in nanoseconds since 1970; 0 where unknown, which never matches.
    pub modified: u64,
    /// When the system saw it change last; 0 where the system does not tell.
    pub changed: u64,
}

/// An index of files by path.
#[derive(Clone, Debug, Default)]
pub struct Index {
    files: BTreeMap<String, (Stamp, Contents)>,
    /// Files that were asked for or added since the index was read; others may be gone, and are not written again.
    used: BTreeSet<String>,
    is_changed: bool,
}

impl Index {
    /// Reads an index; anything that is none gives an empty one, since all of it can be found again.
    pub fn from_json(text: &[u8]) -> Self {
        serde_json::from_slice(text).ok().and_then(|value| Self::parse(&value)).unwrap_or_default()
    }

    fn parse(value: &Value) -> Option<Self> {
        if value["version"].as_u64() != Some(VERSION) {
            return None;
        }
        let mut files = BTreeMap::new();
        for (path, file) in value["files"].as_object()? {
            let number = |name: &str| file[name].as_u64();
            let (length, modified, changed) = (number("length")?, number("modified")?, number("changed")?);
            let stamp = Stamp { length, modified, changed };
            let contents = match (&file["images"], &file["known"]) {
                (Value::Array(images), _) => Contents::Images(images.iter().map(image).collect::<Option<_>>()?),
                (_, Value::String(what)) => Contents::Known(what.clone()),
                _ => Contents::Unknown,
            };
            files.insert(path.clone(), (stamp, contents));
        }
        Some(Self { files, ..Self::default() })
    }

    /// The index as JSON: the files that were asked for.
    pub fn to_json(&self) -> Vec<u8> {
        let files = self.files.iter().filter(|(path, _)| self.used.contains(*path)).map(|(path, (stamp, contents))| {
            let mut value = json!({"length": stamp.length, "modified": stamp.modified, "changed": stamp.changed});
            match contents {
                Contents::Images(images) => value["images"] = images.iter().map(image_value).collect(),
                Contents::Known(what) => value["known"] = json!(what),
                Contents::Unknown | Contents::Unreadable(_) => {}
            }
            (path.clone(), value)
        });
        let files: serde_json::Map<String, Value> = files.collect();
        let mut text = json!({"version": VERSION, "files": files}).to_string().into_bytes();
        text.push(b'\n');
        text
    }

    /// Whether it holds something that it did not when it was read.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    pub(super) fn get(&mut self, path: &Path, stamp: Stamp) -> Option<Contents> {
        let path = path.to_str()?;
        let (known, contents) = self.files.get(path)?;
        if *known != stamp || stamp.modified == 0 {
            return None;
        }
        self.used.insert(path.to_owned());
        Some(contents.clone())
    }

    pub(super) fn set(&mut self, path: &Path, stamp: Stamp, contents: &Contents) {
        let Some(path) = path.to_str() else { return };
        self.files.insert(path.to_owned(), (stamp, contents.clone()));
        self.used.insert(path.to_owned());
        self.is_changed = true;
    }
}

fn image_value(image: &Image) -> Value {
    json!({
        "kind": image.kind.name(),
        "uuid": image.uuid.to_string(),
        "arch": image.arch,
        "name": image.name,
        "text_address": image.text_address,
        "text_size": image.text_size,
        "offset": image.range.0,
        "length": image.range.1,
    })
}

fn image(value: &Value) -> Option<Image> {
    let kinds = [SourceKind::Dsym, SourceKind::Symbols, SourceKind::MachO, SourceKind::SymbolsArchive];
    let kind = value["kind"].as_str()?;
    Some(Image {
        kind: kinds.into_iter().find(|known| known.name() == kind)?,
        uuid: Uuid::parse(value["uuid"].as_str()?)?,
        arch: value["arch"].as_str()?.to_owned(),
        name: value["name"].as_str().map(str::to_owned),
        text_address: value["text_address"].as_u64(),
        text_size: value["text_size"].as_u64(),
        range: (value["offset"].as_u64()?, value["length"].as_u64()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_comes_back_and_forgets_changed_files() {
        let image = Image {
            kind: SourceKind::Dsym,
            uuid: Uuid::from_bytes([7; 16]),
            arch: "arm64e".to_owned(),
            name: Some("App".to_owned()),
            text_address: Some(0x1_0000_0000),
            text_size: None,
            range: (16, 4096),
        };
        let stamp = Stamp { length: 5000, modified: 99, changed: 98 };
        let mut index = Index::default();
        index.set(Path::new("/a"), stamp, &Contents::Images(vec![image]));
        index.set(Path::new("/b"), stamp, &Contents::Known("a zip".to_owned()));
        index.set(Path::new("/c"), stamp, &Contents::Unknown);
        let mut read = Index::from_json(&index.to_json());
        assert!(index.is_changed() && !read.is_changed());
        for path in ["/a", "/b", "/c"] {
            assert_eq!(read.get(Path::new(path), stamp), index.get(Path::new(path), stamp), "{path}");
            assert_eq!(read.get(Path::new(path), Stamp { modified: 100, ..stamp }), None);
        }
        for broken in [&b""[..], b"{", b"{\"version\": 9}", b"{\"version\": 1, \"files\": {\"/a\": {}}}"] {
            assert!(Index::from_json(broken).files.is_empty());
        }
    }
}
