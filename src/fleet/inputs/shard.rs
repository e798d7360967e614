//! Shards divide a fleet's recordings among processes by path alone, so each process can find its own part.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::find::FleetInputs;
use super::task::Task;
use crate::fleet::host::FleetHost;
use crate::fleet::store::{InputKind, RecordingList, ShardPlan, Shards};
use crate::settings::PLAN;

/// The offset basis and the prime of 64-bit FNV-1a.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// One of N parts of a fleet, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this shard.
    pub index: u64,
    /// The total number of shards.
    pub count: u64,
}

impl Shard {
    /// Parses `3/16`.
    ///
    /// # Errors
    /// A sentence that explains what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u64>().ok();
        let shard = text.split_once('/').and_then(|(index, count)| number(index).zip(number(count)));
        match shard {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            Some((0, count)) => Err(format!("shards are counted from 1, from 1/{count} to {count}/{count}")),
            Some((_, count)) => Err(format!("there are {count} shards, from 1/{count} to {count}/{count}")),
            None => Err("not a shard, such as 3/16: the number of the shard (from 1) and the number of \
                         shards"
                .to_owned()),
        }
    }
}

/// The shard of a recording, by its path relative to the root.
fn number_of(below: &Path, count: u64) -> u64 {
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

/// Makes a path absolute, without `.` and `..`. Links are kept, since their targets differ between machines.
fn from_root(path: &Path) -> PathBuf {
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

/// The deepest folder that contains all these files.
fn common_folder<'p>(mut files: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
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

/// The shard to read.
pub struct ShardRequest {
    /// The shard.
    pub shard: Shard,
    /// The folder that paths are relative to when their shard is computed.
    pub root: Option<PathBuf>,
    /// The plan for all shards, if the inputs belong only to this one.
    pub plan: Option<ShardPlan>,
}

impl FleetInputs {
    /// Keeps only the tasks of a shard, and returns its place in the fleet. Failed inputs belong to every shard.
    ///
    /// # Errors
    /// If a file is not below the root, or belongs to another shard although there is a plan.
    pub fn keep_shard(&mut self, host: &dyn FleetHost, part: ShardRequest) -> Result<Shards, String> {
        let ShardRequest { shard, root: named_root, plan } = part;
        let listed = self.tasks.iter().filter(|task| task.folder.is_none()).map(|task| task.path.as_path());
        let common = common_folder(listed);
        let root =
            |task: &Task| named_root.clone().or_else(|| Some(task.folder.as_deref()?.to_owned())).or(common.clone());
        let all = (self.tasks.len() + self.failures.len()) as u64;
        let (mut kept, mut only_root, mut has_several_roots) = (Vec::new(), None, false);
        let mut lists: BTreeMap<u64, Vec<(String, Option<u64>)>> = BTreeMap::new();
        for task in self.tasks.drain(..) {
            let root = root(&task).unwrap_or_default();
            let Some(below) = below(host, &root, &task.path) else {
                return Err(format!("{} is not below the root, {}", task.path.display(), root.display()));
            };
            has_several_roots |= *only_root.get_or_insert_with(|| root.clone()) != root;
            let index = number_of(&below, shard.count);
            lists.entry(index).or_default().push((name_of(&below), length(host, &task.path)));
            match &plan {
                _ if index == shard.index => kept.push(task),
                None => {}
                Some(_) => {
                    let (path, count) = (task.path.display(), shard.count);
                    return Err(format!(
                        "{path} belongs to shard {index}/{count}; with {PLAN}, name the inputs of one shard"
                    ));
                }
            }
        }
        self.tasks = kept;
        let root = named_root.or_else(|| only_root.filter(|_| !has_several_roots));
        let root = root.and_then(|root| host.files().canonical(&root).ok());
        let root =
            root.and_then(|root| root.into_os_string().into_string().ok()).map(|root| host.shown(&root).into_owned());
        let of_all = || lists.into_iter().map(|(index, recordings)| (index, RecordingList::new(recordings))).collect();
        let ShardPlan { inputs, lists } = plan.unwrap_or_else(|| ShardPlan { inputs: all, lists: of_all() });
        Ok(Shards { count: shard.count, have: [shard.index].into(), inputs: Some(inputs), root, lists })
    }
}

/// A path relative to the root, in the same form on every machine.
fn name_of(below: &Path) -> String {
    let names: Vec<_> = below.components().map(|name| name.as_os_str().to_string_lossy()).collect();
    names.join("/")
}

/// The length of a file; 0 for a folder; `None` if it does not exist.
fn length(host: &dyn FleetHost, path: &Path) -> Option<u64> {
    Some(host.state(path)?).map(|state| if state.kind == InputKind::File { state.length } else { 0 })
}

/// The path of a file relative to the root. Compares paths as given, or else canonical paths.
fn below(host: &dyn FleetHost, root: &Path, path: &Path) -> Option<PathBuf> {
    let named = from_root(path).strip_prefix(from_root(root)).ok().map(Path::to_owned);
    let found = || {
        let (root, path) = (host.files().canonical(root).ok()?, host.files().canonical(path).ok()?);
        path.strip_prefix(root).ok().map(Path::to_owned)
    };
    named.or_else(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths in docs/dataset.md, with the shards computed by its Python code.
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
