//! A Breakpad file that is written from symbol files answers the same as they do.

use std::io;
use std::path::{Path, PathBuf};

use traceparse::files::{Entry, Files};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{BreakpadFile, Index, Locator, SymbolFinder, SymbolFrame};
use traceparse::units::Uuid;

use crate::Rng;

/// A frame as far as the format contains it, and the distance from the start of the function if it has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub is_inlined: bool,
    pub offset: Option<u64>,
    pub aliases: Vec<String>,
}

impl From<&SymbolFrame<'_>> for Frame {
    fn from(frame: &SymbolFrame<'_>) -> Self {
        // Apple's formats have empty names, which are written as missing ones.
        let function = frame.function.or(frame.linkage_name).filter(|name| !name.is_empty()).map(str::to_owned);
        Self {
            file: frame.file.map(str::to_owned),
            line: frame.file.map(|_| frame.line.unwrap_or(0)),
            is_inlined: frame.is_inlined,
            offset: frame.offset.filter(|_| function.is_none() && frame.file.is_none()),
            // Only the first address of a function is certain to be in the part of it that starts there.
            aliases: frame.aliases.iter().filter(|_| frame.offset == Some(0)).map(|&alias| alias.to_owned()).collect(),
            function,
        }
    }
}

/// True if two answers are the same. The start of an unnamed function may be missing from a written file, but is never another one.
pub fn is_same(source: &[Frame], written: &[Frame]) -> bool {
    let without_start = |frames: &[Frame]| -> Vec<Frame> {
        frames.iter().map(|frame| Frame { offset: None, ..frame.clone() }).collect()
    };
    let starts = source.iter().zip(written).map(|(source, written)| (source.offset, written.offset));
    without_start(source) == without_start(written)
        && starts.into_iter().all(|(source, written)| written.is_none() || source == written)
}

/// The frames of each address; empty if nothing is known.
pub fn answers(finder: &dyn SymbolFinder, uuid: Uuid, addresses: &[u64]) -> Result<Vec<Vec<Frame>>, String> {
    let mut answers = vec![Vec::new(); addresses.len()];
    let asked = finder.look_up(uuid, addresses, &MemoryBudget::unlimited(), &mut |index, frames| {
        answers[index] = frames.iter().map(Frame::from).collect();
    });
    asked.into_iter().try_for_each(|asked| asked.result.map(drop)).map_err(|error| error.to_string())?;
    Ok(answers)
}

/// A file system of one file, which never changes.
pub struct OneFile(pub Vec<u8>);

impl Files for OneFile {
    fn entry(&self, _: &Path) -> io::Result<Entry> {
        Ok(Entry::File { length: self.0.len() as u64, modified: 1, changed: 1 })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::NotADirectory.into())
    }

    fn read(&self, _: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
        Ok(rest[..rest.len().min(length)].to_vec())
    }
}

impl OneFile {
    /// Finds the images of the file.
    pub fn locator(&self) -> Locator<'_> {
        let mut locator = Locator::new(self);
        locator.add(Path::new("file"), &mut Index::default()).expect("it can be read");
        locator
    }
}

/// The Breakpad file of an image.
pub fn written(finder: &dyn SymbolFinder, uuid: Uuid) -> Result<Vec<u8>, String> {
    let file = BreakpadFile::read(finder, uuid, &MemoryBudget::unlimited(), &mut |_, _| {});
    let mut bytes = Vec::new();
    file.and_then(|file| file.write(&mut bytes)).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Writes an image, and compares the answers of the sources and of the file: at all boundaries, next to them, and at random addresses. Returns the
/// file, and the number of addresses with an answer.
///
/// # Errors
/// The first address with different answers.
pub fn round_trip(finder: &dyn SymbolFinder, uuid: Uuid) -> Result<(Vec<u8>, usize), String> {
    let mut addresses = Vec::new();
    for found in finder.find(uuid) {
        let files = finder.files(&found).map_err(|error| error.to_string())?;
        let add = &mut |address: u64| addresses.extend([address.saturating_sub(1), address, address.saturating_add(1)]);
        let notes = found.with_symbols(files, &MemoryBudget::unlimited(), |symbols| symbols.for_each_boundary(add));
        notes.map_err(|error| error.to_string())?;
    }
    let end = addresses.iter().copied().filter(|&address| address < 1 << 40).max().unwrap_or(0) + 0x1000;
    let mut rng = Rng::new(end);
    addresses.extend((0..2_000).map(|_| rng.next_u64() % end));
    addresses.sort_unstable();
    addresses.dedup();
    let file = OneFile(written(finder, uuid)?);
    let [expected, found] = [finder, &file.locator()].map(|finder| answers(finder, uuid, &addresses));
    let (expected, found) = (expected?, found?);
    for ((address, expected), found) in addresses.iter().zip(&expected).zip(&found) {
        if !is_same(expected, found) {
            return Err(format!("{address:#x}: {found:#?}, and the source has {expected:#?}"));
        }
    }
    Ok((file.0, expected.iter().filter(|frames| !frames.is_empty()).count()))
}
