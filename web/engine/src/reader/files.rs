//! The dropped files as a file system. Folders exist if a file is in them. The root is the empty path.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use traceparse::files::{Entry, EntryKind, Files};
use traceparse::memory::Size;
use traceparse::units::first_of;

use crate::desk::Recent;
use crate::wire::Refused;

/// A dropped file: its path below the drop, its size in bytes, and its modification time in nanoseconds since 1970.
#[derive(Debug, Deserialize)]
pub(crate) struct Dropped {
    pub(crate) path: String,
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) modified: u64,
}

/// Reads dropped files by their index in the request.
pub(crate) trait Source: Sync {
    /// Reads bytes from an offset on, and returns their number; fewer at the end of the file, and `None` if it cannot be read.
    fn read(&self, file: u32, offset: u64, place: &mut [u8]) -> Option<usize>;
}

/// The unit of reading. A call of the page costs about a millisecond, so small files are read at once.
const BLOCK: u64 = 1 << 20;
/// The number of blocks in memory.
const BLOCKS: usize = 32;
/// The memory for blocks.
pub(crate) const CACHE: u64 = BLOCKS as u64 * BLOCK;

const MAX_FILES: usize = 200_000;
const MAX_SIZE: u64 = 4 << 30;
/// As on macOS.
const MAX_PATH: usize = 1024;

pub(crate) struct DroppedFiles<S> {
    /// Sentences about files that are left out.
    pub(crate) refused: Vec<String>,
    nodes: BTreeMap<PathBuf, Node>,
    source: S,
    blocks: Mutex<Recent<(u32, u64), Vec<u8>>>,
}

enum Node {
    File { index: u32, length: u64, modified: u64 },
    Folder(Vec<PathBuf>),
}

impl<S> DroppedFiles<S> {
    /// Creates the file system. Leaves out files that are too large, and files whose path leads out of the drop or occurs twice.
    ///
    /// # Errors
    /// If there are no files or too many, or if none is left.
    pub(crate) fn new(dropped: &[Dropped], source: S) -> Result<Self, String> {
        if dropped.is_empty() {
            return Err("nothing was dropped; drop a recording (.trace), an export or a report".to_owned());
        }
        if dropped.len() > MAX_FILES {
            return Err(format!("{} files were dropped, and {MAX_FILES} are allowed; drop fewer", dropped.len()));
        }
        let (mut nodes, mut refused) = (BTreeMap::from([(PathBuf::new(), Node::Folder(Vec::new()))]), Vec::new());
        for (index, file) in dropped.iter().enumerate() {
            let node = Node::File { index: index as u32, length: file.size, modified: file.modified };
            let added = check(file).and_then(|()| add(&mut nodes, Path::new(&file.path), node));
            refused.extend(added.err());
        }
        if refused.len() == dropped.len() {
            return Err(first_of(&refused));
        }
        Ok(Self { refused, nodes, source, blocks: Mutex::new(Recent::new(BLOCKS)) })
    }

    fn node(&self, path: &Path) -> io::Result<&Node> {
        self.nodes.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn children(&self, folder: &Path) -> io::Result<&[PathBuf]> {
        match self.node(folder)? {
            Node::Folder(children) => Ok(children),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}

fn check(file: &Dropped) -> Result<(), String> {
    let path = &file.path;
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('\0');
    if path.len() > MAX_PATH || !path.split('/').all(is_name) {
        return Err(format!("{path:.100}: this is not the path of a dropped file"));
    }
    if file.size > MAX_SIZE {
        return Err(format!(
            "{path}: it is larger than {}, which a browser cannot read; use the command",
            Size(MAX_SIZE)
        ));
    }
    Ok(())
}

/// Adds a file, and the folders above it.
fn add(nodes: &mut BTreeMap<PathBuf, Node>, path: &Path, node: Node) -> Result<(), String> {
    if nodes.contains_key(path) {
        return Err(format!("{}: it was dropped twice; drop it once", path.display()));
    }
    let is_file = |folder: &&Path| matches!(nodes.get(*folder), Some(Node::File { .. }));
    if let Some(file) = path.ancestors().find(is_file) {
        return Err(format!("{}: {} is a file and a folder", path.display(), file.display()));
    }
    nodes.insert(path.to_owned(), node);
    let mut child = path;
    while let Some(folder) = child.parent() {
        if let Some(Node::Folder(children)) = nodes.get_mut(folder) {
            children.push(child.to_owned());
            break;
        }
        nodes.insert(folder.to_owned(), Node::Folder(vec![child.to_owned()]));
        child = folder;
    }
    Ok(())
}

impl<S: Source> DroppedFiles<S> {
    /// Copies from the block at the offset, as far as it reaches.
    fn copy_block(&self, index: u32, length: u64, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let (number, start) = (offset / BLOCK, offset % BLOCK);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let mut block = vec![0; BLOCK.min(length - number * BLOCK) as usize];
            match self.source.read(index, number * BLOCK, &mut block) {
                Some(count) if count == block.len() => Ok(block),
                _ => Err(Refused("the browser cannot read it; perhaps it changed since it was dropped".to_owned())),
            }
        };
        let block = blocks.get_or_insert(&(index, number), read).map_err(|Refused(reason)| io::Error::other(reason))?;
        let bytes = block.get(start as usize..).unwrap_or_default();
        let count = bytes.len().min(place.len());
        place[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }
}

impl<S: Source> Files for DroppedFiles<S> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        Ok(match *self.node(path)? {
            Node::File { length, modified, .. } => Entry::File { length, modified, changed: 0 },
            Node::Folder(_) => Entry::Folder,
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.node(path).map(|_| path.to_owned())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.children(folder).map(<[PathBuf]>::to_vec)
    }

    fn list_kinds(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let kind = |path: &PathBuf| match self.nodes.get(path)? {
            Node::File { .. } => Some((path.file_name()?.to_owned(), EntryKind::File)),
            Node::Folder(_) => Some((path.file_name()?.to_owned(), EntryKind::Folder)),
        };
        Ok(self.children(folder)?.iter().filter_map(kind).collect())
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let Node::File { length: size, .. } = *self.node(path)? else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let mut bytes = vec![0; size.saturating_sub(offset).min(length as u64) as usize];
        let count = self.read_into(path, offset, &mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let Node::File { index, length, .. } = *self.node(path)? else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let mut used = 0;
        while used < place.len() && offset + (used as u64) < length {
            match self.copy_block(index, length, offset + used as u64, &mut place[used..])? {
                0 => break,
                count => used += count,
            }
        }
        Ok(used)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Read as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Files in memory, and the number of reads.
    #[derive(Default)]
    pub(crate) struct InMemory {
        contents: Vec<Vec<u8>>,
        reads: AtomicUsize,
    }

    impl InMemory {
        pub(crate) fn new(contents: Vec<Vec<u8>>) -> Self {
            Self { contents, ..Self::default() }
        }
    }

    impl Source for InMemory {
        fn read(&self, file: u32, offset: u64, place: &mut [u8]) -> Option<usize> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let bytes = self.contents[file as usize].get(offset as usize..).unwrap_or_default();
            let count = bytes.len().min(place.len());
            place[..count].copy_from_slice(&bytes[..count]);
            Some(count)
        }
    }

    pub(crate) fn files(contents: &[(&str, &[u8])]) -> Result<DroppedFiles<InMemory>, String> {
        let dropped =
            |&(path, bytes): &(&str, &[u8])| Dropped { path: path.to_owned(), size: bytes.len() as u64, modified: 0 };
        let source = InMemory::new(contents.iter().map(|(_, bytes)| bytes.to_vec()).collect());
        DroppedFiles::new(&contents.iter().map(dropped).collect::<Vec<_>>(), source)
    }

    #[test]
    fn reads_each_block_once() {
        let bytes: Vec<u8> = (0..(2 * BLOCK + BLOCK / 2) as u32).map(|at| (at % 251) as u8).collect();
        let files = files(&[("a/b", &bytes), ("c", b"")]).unwrap();
        let path = Path::new("a/b");
        let mut all = Vec::new();
        files.open(path).unwrap().read_to_end(&mut all).unwrap();
        let across = BLOCK - 10..BLOCK + 10;
        assert!(all == bytes);
        let expected = &bytes[across.start as usize..across.end as usize];
        assert_eq!(files.read(path, across.start, 20).unwrap(), expected);
        assert_eq!(files.load(path, across.clone()).unwrap().get(0..20), Some(expected));
        assert_eq!(files.source.reads.load(Ordering::Relaxed), 3);
        assert_eq!(files.read(path, u64::MAX, 9).unwrap(), b"");
        assert_eq!(files.read(Path::new("c"), 0, 9).unwrap(), b"");
        assert_eq!(files.read(Path::new("a"), 0, 9).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn fails_if_a_file_became_shorter() {
        let mut files = files(&[("a", b"12345")]).unwrap();
        files.source.contents[0].truncate(3);
        assert!(files.read(Path::new("a"), 0, 2).unwrap_err().to_string().contains("changed"));
    }

    #[test]
    fn lists_folders_that_files_imply() {
        let files = files(&[("a/b/c", b""), ("a/d", b"")]).unwrap();
        let listed = |path: &str| files.list(Path::new(path)).unwrap();
        assert_eq!(
            (listed(""), listed("a"), listed("a/b")),
            (vec!["a".into()], vec!["a/b".into(), "a/d".into()], vec!["a/b/c".into()])
        );
        assert!(files.list(Path::new("a/d")).is_err() && files.entry(Path::new("a/x")).is_err());
    }

    #[test]
    fn refuses_paths_outside_of_the_drop() {
        for path in ["", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "./a", "a\0", &"a/".repeat(600)] {
            assert!(files(&[(path, b"")]).is_err_and(|sentence| sentence.contains("not the path")), "{path}");
        }
        assert!(files(&[]).is_err());
    }

    #[test]
    fn leaves_out_bad_paths() {
        for paths in [["a", "a"], ["a", "a/b"], ["a/b", "a"], ["a", "../b"], ["x//y", "a"]] {
            let files = files(&paths.map(|path| (path, &b""[..]))).unwrap();
            let bad = if paths[0] == "x//y" { paths[0] } else { paths[1] };
            assert!(files.refused.len() == 1 && files.refused[0].starts_with(bad), "{:?}", files.refused);
            let good = paths.iter().find(|path| **path != bad).unwrap_or(&"a");
            assert!(matches!(files.entry(Path::new(good)), Ok(Entry::File { .. })), "{paths:?}");
        }
    }
}
