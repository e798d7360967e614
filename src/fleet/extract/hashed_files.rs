//! Files that are hashed while they are read, so that most of a recording is read, and inflated, once.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::{Files, FilesAdaptor};
use blake3::{Hash, Hasher};

/// The number of bytes read at once in the parts that no reader used.
const PIECE: usize = 1 << 20;

/// A file system that hashes each file while it is read, from its start on. Bytes that are read again, or out of order, are not hashed
/// then; [`hash`](Self::hash) reads the missing ones.
pub(super) struct HashedFiles<'f> {
    files: &'f dyn Files,
    begun: Mutex<HashMap<PathBuf, Begun>>,
}

/// The first bytes of a file, already hashed.
#[derive(Default)]
struct Begun {
    hasher: Hasher,
    /// The number of these bytes.
    end: u64,
}

impl<'f> HashedFiles<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, begun: Mutex::default() }
    }

    /// Returns the hash of a file with this length, after reading the bytes that were not read yet.
    ///
    /// # Errors
    /// When it cannot be read, or is shorter.
    pub(super) fn hash(&self, path: &Path, length: u64) -> io::Result<Hash> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        let Begun { mut hasher, mut end } = begun.unwrap_or_default();
        while end < length {
            let bytes = self.files.read(path, end, PIECE)?;
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it was"));
            }
            hasher.update(&bytes);
            end += bytes.len() as u64;
        }
        Ok(hasher.finalize())
    }

    /// Hashes those bytes that directly follow the hashed ones.
    fn add(&self, path: &Path, offset: u64, bytes: &[u8]) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !begun.contains_key(path) {
            begun.insert(path.to_owned(), Begun::default());
        }
        let Some(file) = begun.get_mut(path) else { return };
        let known = file.end.checked_sub(offset).and_then(|known| usize::try_from(known).ok());
        if let Some(new) = known.and_then(|known| bytes.get(known..)) {
            file.hasher.update(new);
            file.end += new.len() as u64;
        }
    }
}

impl FilesAdaptor for HashedFiles<'_> {
    fn files(&self) -> &dyn Files {
        self.files
    }

    fn after_read(&self, path: &Path, offset: u64, bytes: &[u8]) {
        self.add(path, offset, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Entry, FileSystem};

    /// A file system that counts the bytes that are read.
    struct Counting(Mutex<u64>);

    impl Files for Counting {
        fn entry(&self, path: &Path) -> io::Result<Entry> {
            FileSystem.entry(path)
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            FileSystem.canonical(path)
        }

        fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
            FileSystem.list(folder)
        }

        fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
            let bytes = FileSystem.read(path, offset, length)?;
            *self.0.lock().unwrap() += bytes.len() as u64;
            Ok(bytes)
        }
    }

    #[test]
    fn the_hash_is_that_of_the_content_however_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..3_000_u32).map(|number| (number * number % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let ways: [(&[(u64, usize)], u64); 6] = [
            (&[], 3_000),
            (&[(0, 1_000), (1_000, 1_000), (2_000, 1_000), (3_000, 10)], 3_000),
            // Again, overlapping, with a gap that is read later, and only a part.
            (&[(0, 1_000), (0, 1_000), (500, 1_000)], 3_000 + 1_500),
            (&[(2_000, 1_000), (0, 2_000)], 3_000 + 1_000),
            (&[(0, 10), (5, 1), (2_999, 1)], 3_000 + 2),
            (&[(7_000, 10), (0, 5_000)], 3_000),
        ];
        for (pieces, expected) in ways {
            let counting = Counting(Mutex::new(0));
            let files = HashedFiles::new(&counting);
            for (index, &(offset, length)) in pieces.iter().enumerate() {
                let from = content.len().min(offset as usize);
                let wanted = &content[from..content.len().min(from + length)];
                if index % 2 == 0 {
                    assert_eq!(files.read(&path, offset, length).unwrap(), wanted);
                } else {
                    let mut place = vec![0; length];
                    assert_eq!(files.read_into(&path, offset, &mut place).unwrap(), wanted.len());
                    assert!(place.starts_with(wanted));
                }
            }
            assert_eq!(files.hash(&path, 3_000).unwrap(), blake3::hash(&content), "{pieces:?}");
            assert_eq!(*counting.0.lock().unwrap(), expected, "{pieces:?}");
        }
        let error = HashedFiles::new(&FileSystem).hash(&path, 3_001).unwrap_err();
        assert_eq!(error.to_string(), "it is shorter than it was");
    }
}
