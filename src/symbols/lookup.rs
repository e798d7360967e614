//! Looks up addresses in all files of an image, best first.

use std::io;

use super::found::Found;
use super::frame::SymbolFrame;
use crate::error::Diagnostic;
use crate::files::Files;
use crate::memory::MemoryBudget;
use crate::units::Uuid;

/// The result of querying one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The file.
    pub found: Found,
    /// The addresses, by index, for which it had a better answer than the files before it.
    pub answered: Vec<usize>,
    /// The notes about the file, or why it could not be read.
    pub result: io::Result<Vec<Diagnostic>>,
}

/// Finds the symbols of an image.
pub trait SymbolFinder: Sync {
    /// Returns the files with this UUID, best first.
    fn find(&self, uuid: Uuid) -> Vec<Found>;

    /// Returns the files whose image has this name, with any UUID.
    fn find_by_name(&self, name: &str) -> Vec<Found>;

    /// The number of images found, wanted or not; `None` if they are not counted.
    fn image_count(&self) -> Option<u64> {
        None
    }

    /// Returns the files that contain a found file.
    ///
    /// # Errors
    /// If it was not found here.
    fn files(&self, found: &Found) -> io::Result<&dyn Files>;

    /// Looks up sorted, distinct addresses in the files of an image, best first, until every address has an answer with a source file or no files
    /// are left.
    ///
    /// `answer` may be called again for an address that had no name or source file, so that a stripped or truncated file, or one with only a
    /// symbol table, does not win over a better one. Only the last call for an address is valid; a call without frames withdraws the answer of a
    /// file that could not be read completely.
    ///
    /// Reading files is charged to the budget during the lookup. A file that exceeds it counts as unreadable ([`io::ErrorKind::OutOfMemory`]).
    fn look_up(
        &self,
        uuid: Uuid,
        addresses: &[u64],
        budget: &MemoryBudget,
        answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>]),
    ) -> Vec<Asked> {
        let mut state = vec![State::Unknown; addresses.len()];
        let mut asked = Vec::new();
        for found in self.find(uuid) {
            let open: Vec<usize> = (0..addresses.len()).filter(|&index| state[index] != State::Located).collect();
            if open.is_empty() {
                break;
            }
            let wanted: Vec<u64> = open.iter().map(|&index| addresses[index]).collect();
            let mut answered = Vec::new();
            let result = self.files(&found).and_then(|files| {
                found.with_symbols(files, budget, |symbols| {
                    symbols.look_up(&wanted, &mut |position, frames| {
                        let index = open[position];
                        let new = State::of(frames);
                        if new > state[index] {
                            state[index] = new;
                            answered.push(index);
                            answer(index, frames);
                        }
                    })
                })
            });
            if result.is_err() {
                // If the file changed during the lookup, its answers may mix two versions.
                for index in answered.drain(..) {
                    state[index] = State::Unknown;
                    answer(index, &[]);
                }
            }
            asked.push(Asked { found, answered, result });
        }
        asked
    }
}

/// True if any frame has both a source file and a function, so no other file needs to be queried.
pub(crate) fn is_located(frames: &[SymbolFrame<'_>]) -> bool {
    frames.iter().any(|frame| frame.file.is_some() && frame.function.is_some())
}

/// What is known about an address, from nothing to a source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Unknown,
    /// Only the start of its function is known.
    Nameless,
    Named,
    Located,
}

impl State {
    fn of(frames: &[SymbolFrame<'_>]) -> Self {
        let is_nameless =
            |frame: &SymbolFrame<'_>| frame.function.is_none() && frame.linkage_name.is_none() && frame.file.is_none();
        match () {
            () if is_located(frames) => Self::Located,
            () if frames.iter().all(is_nameless) => Self::Nameless,
            () => Self::Named,
        }
    }
}
