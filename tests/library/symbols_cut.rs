//! Symbol files that are truncated or replaced while names are looked up: an error for this file, no names from it, and never a signal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use traceparse::files::{Entry, FileSystem, Files};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{Index, Locator, SymbolFinder};

/// A dSYM with inlined functions; some of its units and strings are needed for any address.
fn dsym() -> PathBuf {
    let built = support::repository("fixtures/symbols/built");
    let path = built.join("inlining/Inlining.dSYM/Contents/Resources/DWARF/Inlining");
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// Addresses all over the code of a file.
fn addresses(locator: &Locator<'_>) -> Vec<u64> {
    let size = locator.found()[0].text_size.expect("a dSYM tells the size of its code");
    (0..size).step_by(4).collect()
}

/// The number of addresses that get an answer, and the first error.
fn answers(locator: &Locator<'_>, addresses: &[u64]) -> (usize, Option<io::ErrorKind>) {
    let mut named = vec![false; addresses.len()];
    let asked =
        locator.look_up(locator.found()[0].uuid, addresses, &MemoryBudget::unlimited(), &mut |index, frames| {
            named[index] = !frames.is_empty();
        });
    let errors = asked.iter().filter_map(|asked| asked.result.as_ref().err());
    (named.into_iter().filter(|&named| named).count(), errors.map(io::Error::kind).next())
}

/// The memory for reading a file, and for its symbols, is taken from the budget, and given back.
#[test]
fn a_file_that_there_is_no_memory_for_gives_no_names() {
    let mut locator = Locator::new(&FileSystem);
    locator.add(&dsym(), &mut Index::default()).unwrap();
    let addresses = addresses(&locator);
    let mut least = 0;
    for bytes in (12..26).map(|bits| 1 << bits) {
        let budget = MemoryBudget::new(bytes);
        let mut named = vec![false; addresses.len()];
        let asked = locator.look_up(locator.found()[0].uuid, &addresses, &budget, &mut |index, frames| {
            named[index] = !frames.is_empty();
        });
        assert_eq!(budget.used(), 0);
        match &asked[0].result {
            Ok(_) => assert!(named.iter().any(|&named| named)),
            Err(error) => {
                assert_eq!((error.kind(), least), (io::ErrorKind::OutOfMemory, 0), "{bytes}: {error}");
                assert!(error.to_string().contains("--memory") && !named.iter().any(|&named| named), "{error}");
            }
        }
        if asked[0].result.is_ok() && least == 0 {
            least = bytes;
        }
    }
    let length = fs::metadata(dsym()).unwrap().len();
    assert!(least > length / 2 && least < 64 * length, "{least} bytes for a file of {length}");
    let tight = MemoryBudget::new(16);
    let mut locator = Locator::new(&FileSystem).within(&tight);
    locator.add(&dsym(), &mut Index::default()).unwrap();
    assert!(locator.found().is_empty() && locator.notes()[0].message.contains("--memory"), "{:?}", locator.notes());
}

/// A file system with one file, of which less is there after a number of reads.
struct Shrinking {
    content: Vec<u8>,
    /// So many reads see all of it.
    whole: u64,
    /// So much is there afterwards.
    left: usize,
    reads: AtomicU64,
}

impl Shrinking {
    fn content(&self) -> &[u8] {
        let is_whole = self.reads.load(Ordering::Relaxed) < self.whole;
        if is_whole { &self.content } else { &self.content[..self.left] }
    }
}

impl Files for Shrinking {
    fn entry(&self, _: &Path) -> io::Result<Entry> {
        Ok(Entry::File { length: self.content().len() as u64, modified: 0, changed: 0 })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::NotADirectory.into())
    }

    fn read(&self, _: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let content = self.content().iter().skip(offset as usize).take(length).copied().collect();
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(content)
    }

    /// As a slow disk does: a little at a time.
    fn read_into(&self, path: &Path, offset: u64, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(path, offset, place.len().min(700))?;
        place[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[test]
fn a_file_that_is_cut_between_any_two_reads_is_an_error_and_gives_no_name() {
    let content = fs::read(dsym()).unwrap();
    let files = |whole, left| Shrinking { content: content.clone(), whole, left, reads: AtomicU64::new(0) };
    let whole = files(u64::MAX, 0);
    let mut locator = Locator::new(&whole);
    locator.add(Path::new("x"), &mut Index::default()).unwrap();
    let addresses = addresses(&locator);
    let (first, (named, error)) = (whole.reads.load(Ordering::Relaxed), answers(&locator, &addresses));
    assert!(named > 100 && error.is_none(), "{named} {error:?}");
    let last = whole.reads.load(Ordering::Relaxed);
    assert!(last > first + 5, "the file is read in several pieces");
    for cut_after in first..=last {
        for left in [0, content.len() / 2, content.len() - 1] {
            let files = files(cut_after, left);
            let mut locator = Locator::new(&files);
            locator.add(Path::new("x"), &mut Index::default()).unwrap();
            // After the last read, only the check at the end can see it.
            let (named, error) = answers(&locator, &addresses);
            assert_eq!(named, 0, "cut to {left} bytes after {cut_after} reads");
            assert!(error.is_some(), "cut to {left} bytes after {cut_after} reads");
        }
    }
}

#[test]
fn an_open_file_that_is_cut_or_written_again_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Inlining");
    let content = fs::read(dsym()).unwrap();
    let read = |change: &dyn Fn()| {
        fs::write(&path, &content).unwrap();
        let mut locator = Locator::new(&FileSystem);
        locator.add(&path, &mut Index::default()).unwrap();
        let (found, addresses) = (locator.found()[0].clone(), addresses(&locator));
        let mut named = 0;
        let read = found.with_symbols(&FileSystem, &MemoryBudget::unlimited(), |symbols| {
            change();
            symbols.look_up(&addresses, &mut |_, _| named += 1)
        });
        read.map(|_| named).map_err(|error| error.to_string())
    };
    let open = || fs::OpenOptions::new().write(true).open(&path).unwrap();
    assert!(read(&|| ()).is_ok_and(|named| named > 100));
    for length in [0, 1_000, content.len() as u64 / 2, content.len() as u64 - 1] {
        let error = read(&|| open().set_len(length).unwrap()).unwrap_err();
        assert!(error.contains("while it was read"), "{length}: {error}");
    }
    let error = read(&|| open().set_len(content.len() as u64 + 1).unwrap()).unwrap_err();
    assert!(error.contains("changed while it was read"), "{error}");
    // Whoever builds anew mostly puts another file in its place: the one that is open stays what it is.
    let replaced = read(&|| {
        fs::write(folder.path().join("new"), "nothing").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
    });
    assert!(cfg!(windows) || replaced.is_ok_and(|named| named > 100));
}

/// A file may end where a block ends, and tables in it may be empty.
#[test]
fn nothing_is_read_at_the_end_of_a_file() {
    for length in [16 << 10, 32 << 10, 64 << 10, (64 << 10) + 1] {
        let file = support::breakpad::OneFile(vec![1; length]);
        let end = length as u64;
        let bytes = file.load(Path::new("file"), 0..end).expect("it can be read");
        assert_eq!(bytes.get(end..end), Some(&[][..]), "{length}");
        assert_eq!(bytes.get(end - 1..end), Some(&[1][..]), "{length}");
        assert_eq!(bytes.get(end..end + 1), None, "{length}");
    }
}
