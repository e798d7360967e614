//! Caches the answers of one image's symbol files for several profiles.
//!
//! The answer for an address does not depend on the other addresses in the lookup. It is therefore enough to keep, for each address, its frames,
//! and which files were queried and answered.

use std::io;
use std::sync::Arc;

use super::answers::{AnswerFrame, Answers, StringKind};
use super::images::ImageAddresses;
use crate::demangle::Demangler;
use crate::error::Diagnostic;
use crate::files::shown;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget, of_vec};
use crate::recording::is_hex_address;
use crate::symbols::{self, AppleSymbols, Asked, Found, SymbolFinder, SymbolFrame};
use crate::units::Uuid;

/// The cached answers for one image.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Sorted by address.
    known: Vec<(u64, Known)>,
    frames: Vec<AnswerFrame>,
    strings: Strings,
    /// The files queried for any address, best first.
    files: Vec<File>,
    /// True if a file could not be read, but may be readable next time.
    is_doubtful: bool,
    /// True if a file was not read because of the memory budget.
    is_short: bool,
}

/// The answer for one address.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The range of its frames; empty if no file contains the address.
    frames: (u32, u32),
    /// The positions of the files that answered, each better than the one before. There are at most three, for the start of the function, its
    /// name and its line.
    answered_by: [Option<u32>; 3],
    /// True if the source file is known, so no more files were queried.
    is_located: bool,
}

#[derive(Debug)]
struct File {
    found: Found,
    note: Option<Diagnostic>,
}

/// The interned strings of answers. A name is demangled once.
#[derive(Debug, Default)]
struct Strings {
    names: HashMap<Box<str>, u32>,
    files: HashMap<Box<str>, u32>,
    texts: Vec<Arc<str>>,
    kinds: Vec<StringKind>,
    /// Other names of functions; frames refer to ranges of them.
    aliases: Vec<u32>,
    /// The approximate memory of each string, and the total of strings and aliases, in bytes.
    costs: Vec<u32>,
    bytes: usize,
}

/// Memory is reserved when this many bytes more than the reservation are in use.
const BYTES_BETWEEN: u64 = 1 << 16;

impl Remembered {
    /// Returns the answers for these addresses, opening files only for new ones.
    ///
    /// # Errors
    /// If the answers exceed the memory budget; the cache of this image is then emptied.
    pub(super) fn look_up(
        &mut self,
        image: ImageAddresses,
        finder: &dyn SymbolFinder,
        budget: &MemoryBudget,
    ) -> Result<Answers, OverBudget> {
        let asked = self.ask(image.uuid, &image.addresses, finder, budget);
        let answers = asked.and_then(|()| self.answers(image.addresses, budget));
        if self.is_doubtful || answers.is_err() {
            *self = Self::default();
        }
        answers
    }

    /// The approximate memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let known = self.known.len() * size_of::<(u64, Known)>();
        known + self.frames.len() * size_of::<AnswerFrame>() + self.strings.bytes
    }

    /// Queries the files for the new addresses.
    fn ask(
        &mut self,
        uuid: Uuid,
        addresses: &[u64],
        finder: &dyn SymbolFinder,
        budget: &MemoryBudget,
    ) -> Result<(), OverBudget> {
        let new: Vec<u64> = addresses.iter().copied().filter(|&address| self.known(address).is_none()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut known = vec![Known::default(); new.len()];
        let Self { frames: all, strings, .. } = self;
        let memory = |all: &Vec<AnswerFrame>, strings: &Strings| of_vec(all) + strings.bytes as u64;
        let before = memory(all, strings);
        let (mut reserved, mut over) = (budget.nothing(), None);
        let asked = finder.look_up(uuid, &new, budget, &mut |index, frames| {
            let taken = memory(all, strings) - before;
            if over.is_none() && taken > reserved.bytes() + BYTES_BETWEEN {
                over = reserved.resize(taken).err();
            }
            if over.is_some() {
                return;
            }
            let start = all.len() as u32;
            all.extend(frames.iter().map(|frame| strings.frame(frame)));
            known[index].frames = (start, all.len() as u32);
            known[index].is_located = symbols::is_located(frames);
        });
        over.map_or(Ok(()), Err)?;
        for (position, asked) in asked.into_iter().enumerate() {
            for &index in &asked.answered {
                let free = known[index].answered_by.iter_mut().find(|by| by.is_none());
                free.into_iter().for_each(|by| *by = Some(position as u32));
            }
            self.add_file(position, asked);
        }
        self.known.extend(new.into_iter().zip(known));
        // A stable sort merges the two sorted runs in linear time.
        self.known.sort_by_key(|(address, _)| *address);
        Ok(())
    }

    fn known(&self, address: u64) -> Option<Known> {
        let index = self.known.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        Some(self.known[index].1)
    }

    fn add_file(&mut self, position: usize, asked: Asked) {
        let Asked { found, result, .. } = asked;
        let name = shown(&found.path);
        let note = match result {
            // A damaged file has one note per damaged part; the first one is enough.
            Ok(notes) => notes.first().map(|note| {
                let more = if notes.len() > 1 { format!(" (and {} more)", notes.len() - 1) } else { String::new() };
                format!("{name}: {note}{more}")
            }),
            Err(error) => {
                // Malformed data stays malformed.
                self.is_doubtful |= error.kind() != io::ErrorKind::InvalidData;
                self.is_short |= error.kind() == io::ErrorKind::OutOfMemory;
                Some(format!("{name}: {error}"))
            }
        };
        let note = note.map(Diagnostic::new);
        match self.files.get_mut(position) {
            Some(file) if file.note.is_none() => file.note = note,
            Some(_) => {}
            None => self.files.push(File { found, note }),
        }
    }

    /// Returns the answers for cached addresses. Reserves memory as if they shared no strings with other lookups, so whether the budget suffices
    /// does not depend on earlier ones.
    fn answers(&self, addresses: Vec<u64>, budget: &MemoryBudget) -> Result<Answers, OverBudget> {
        let mut answers = Answers { is_short: self.is_short, reserved: budget.nothing(), ..Answers::default() };
        let mut copied: Vec<Option<u32>> = vec![None; self.strings.texts.len()];
        let mut asked = 0;
        let mut is_used = vec![false; self.files.len()];
        for known in addresses.iter().map(|&address| self.known(address).unwrap_or_default()) {
            let start = answers.frames.len() as u32;
            for frame in &self.frames[known.frames.0 as usize..known.frames.1 as usize] {
                let function = frame.function.map(|index| self.copy(index, &mut copied, &mut answers));
                let file = frame.file.map(|index| self.copy(index, &mut copied, &mut answers));
                let start = answers.aliases.len() as u32;
                for &alias in &self.strings.aliases[frame.aliases.0 as usize..frame.aliases.1 as usize] {
                    let alias = self.copy(alias, &mut copied, &mut answers);
                    answers.aliases.push(alias);
                }
                let aliases = (start, answers.aliases.len() as u32);
                answers.frames.push(AnswerFrame { function, file, aliases, ..*frame });
            }
            answers.ranges.push((start, answers.frames.len() as u32));
            let by = known.answered_by.into_iter().flatten();
            by.clone().for_each(|file| is_used[file as usize] = true);
            let last = by.max().filter(|_| known.is_located);
            asked = asked.max(last.map_or(self.files.len(), |file| file as usize + 1));
        }
        let files = self.files[..asked].iter().zip(is_used);
        answers.notes.extend(files.clone().filter_map(|(file, _)| file.note.clone()));
        answers.used.extend(files.filter(|(_, is_used)| *is_used).map(|(file, _)| file.found.clone()));
        let texts = copied.iter().zip(&self.strings.costs).filter(|(copied, _)| copied.is_some());
        let texts: u64 = texts.map(|(_, &cost)| u64::from(cost)).sum();
        let lists = of_vec(&answers.frames) + of_vec(&answers.aliases) + of_vec(&answers.ranges) + of_vec(&addresses);
        answers.reserved.resize(texts + lists)?;
        Ok(Answers { addresses, ..answers })
    }

    /// Copies a string to the answers, once.
    fn copy(&self, index: u32, copied: &mut [Option<u32>], answers: &mut Answers) -> u32 {
        *copied[index as usize].get_or_insert_with(|| {
            answers.strings.push(Arc::clone(&self.strings.texts[index as usize]));
            answers.kinds.push(self.strings.kinds[index as usize]);
            answers.strings.len() as u32 - 1
        })
    }
}

impl Strings {
    fn frame(&mut self, frame: &SymbolFrame<'_>) -> AnswerFrame {
        let function = frame.function.or(frame.linkage_name).map(|name| self.name(name));
        let file = frame.file.map(|file| self.file(file));
        let offset = frame.offset.and_then(|offset| u32::try_from(offset).ok());
        let start = self.aliases.len() as u32;
        for alias in frame.aliases {
            let alias = self.name(alias);
            self.aliases.push(alias);
        }
        self.bytes += size_of_val(frame.aliases);
        let aliases = (start, self.aliases.len() as u32);
        AnswerFrame { function, file, line: frame.line, offset, aliases }
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let shown = Demangler::default().display_name(name);
        let kind = match &*shown {
            AppleSymbols::DEDUPLICATED => StringKind::Folded,
            shown if is_hex_address(shown) => StringKind::Address,
            _ => StringKind::Name,
        };
        let id = self.push(name, &shown, kind);
        self.names.insert(name.into(), id);
        id
    }

    fn file(&mut self, file: &str) -> u32 {
        if let Some(&id) = self.files.get(file) {
            return id;
        }
        let id = self.push(file, file, StringKind::File);
        self.files.insert(file.into(), id);
        id
    }

    fn push(&mut self, text: &str, shown: &str, kind: StringKind) -> u32 {
        let id = self.texts.len() as u32;
        self.texts.push(shown.into());
        self.kinds.push(kind);
        // Both strings, the map entry with spare capacity, and the reference counts of the shared string.
        let cost = text.len() + shown.len() + 3 * size_of::<(Box<str>, u32)>();
        self.costs.push(u32::try_from(cost).unwrap_or(u32::MAX));
        self.bytes += cost;
        id
    }
}
