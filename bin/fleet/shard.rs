//! Shards: the recordings of a fleet are divided among many processes by their paths alone, so that each process finds its own.

use std::path::{Component, Path, PathBuf};

/// The offset and the prime of 64-bit FNV-1a.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// One of so many parts of a fleet, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Shard {
    /// Reads `3/16`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u64>().ok();
        let shard = text.split_once('/').and_then(|(index, count)| number(index).zip(number(count)));
        match shard {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            Some((0, count)) => Err(format!("shards are counted from 1, from 1/{count} to {count}/{count}")),
            Some((_, count)) => Err(format!("there are {count} shards, from 1/{count} to {count}/{count}")),
            None => Err("not a shard, such as 3/16: its number from 1, and how many there are".to_owned()),
        }
    }
}

/// The shard of a recording with this path below the root.
pub(super) fn number_of(below: &Path, count: u64) -> u64 {
    let names = below.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    let mut hash = OFFSET;
    for (index, name) in names.enumerate() {
        let separator: &[u8] = if index == 0 { b"" } else { b"/" };
        hash = separator.iter().chain(name).fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    }
    1 + hash % count
}

/// A path from the root of the file system, without `.` and `..`. Links stay: where they lead differs from machine to machine.
pub(super) fn from_root(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The deepest folder that all these files are in.
pub(super) fn common_folder<'p>(mut files: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
    let mut common = from_root(files.next()?).parent()?.to_owned();
    for file in files {
        let file = from_root(file);
        while !file.parent().is_some_and(|folder| folder.starts_with(&common)) {
            if !common.pop() {
                return None;
            }
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of docs/dataset.md, with the shards that its lines of Python give.
    #[test]
    fn the_shard_of_a_path_is_that_of_the_documentation() {
        let vectors = [("a.xml", 16), ("runs/7.xml", 16), ("2026-01/iPhone 15/é.trace", 16), ("runs/7.xml", 1_000)];
        let shards = vectors.map(|(path, count)| number_of(Path::new(path), count));
        assert_eq!(shards, EXPECTED);
        assert_eq!(number_of(Path::new("./runs//7.xml"), 16), EXPECTED[1]);
    }
    const EXPECTED: [u64; 4] = [12, 15, 12, 679];

    #[test]
    fn shards_are_counted_from_1() {
        assert_eq!(Shard::parse("16/16"), Ok(Shard { index: 16, count: 16 }));
        for wrong in ["0/16", "17/16", "3", "3/", "a/b", "-1/2", "1/0", ""] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_common_folder_is_the_deepest() {
        let common = |files: &[&str]| common_folder(files.iter().map(Path::new)).unwrap();
        assert_eq!(common(&["/a/b/1.xml"]), Path::new("/a/b"));
        assert_eq!(common(&["/a/b/1.xml", "/a/b/c/2.xml"]), Path::new("/a/b"));
        assert_eq!(common(&["/a/bc/1.xml", "/a/b/2.xml"]), Path::new("/a"));
        assert_eq!(common(&["/a/b/../c/1.xml", "/a/./c/2.xml"]), Path::new("/a/c"));
        assert_eq!(common(&["/a/1.xml", "/b/1.xml"]), Path::new("/"));
    }
}
