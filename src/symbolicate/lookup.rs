//! The addresses of each image, looked up once.

use rayon::prelude::*;

use super::names::display_name;
use crate::export::is_hex_address;
use crate::hash::HashMap;
use crate::symbols::{self, Asked, DEDUPLICATED, Found, Note, SymbolFinder, SymbolFrame};
use crate::units::Uuid;

/// What is to be looked up in one image.
#[derive(Clone, Debug)]
pub(super) struct ImageAddresses {
    pub(super) uuid: Uuid,
    /// Relative to the Mach-O header; sorted, distinct.
    pub(super) addresses: Vec<u64>,
}

/// A frame of an answer; its strings are indices of [`Answers::strings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerFrame {
    pub(super) function: Option<u32>,
    pub(super) file: Option<u32>,
    pub(super) line: Option<u32>,
    pub(super) is_inlined: bool,
}

/// What a string of the answers is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringKind {
    Name,
    /// Where a function without a name starts.
    Address,
    /// Functions that the linker folded into one.
    Folded,
    File,
}

/// What the files of one image answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    addresses: Vec<u64>,
    /// By address: where its frames are; empty where nothing is known.
    ranges: Vec<(u32, u32)>,
    frames: Vec<AnswerFrame>,
    /// Names as they are shown, and files.
    pub(super) strings: Vec<String>,
    /// By string. Apart from the texts: of most frames nobody needs to look at the text.
    kinds: Vec<StringKind>,
    /// The files that answered, best first.
    pub(super) used: Vec<Found>,
    /// Files that could not be read, and why; and what else is worth a word.
    pub(super) notes: Vec<Note>,
}

impl Answers {
    /// A string of an answer.
    pub(super) fn text(&self, index: Option<u32>) -> Option<&str> {
        index.map(|index| self.strings[index as usize].as_str())
    }

    /// The kind of a function's name, if it has one.
    pub(super) fn kind(&self, function: Option<u32>) -> Option<StringKind> {
        function.map(|index| self.kinds[index as usize])
    }

    /// Whether a function has a name, and not just a place.
    pub(super) fn is_named(&self, function: Option<u32>) -> bool {
        matches!(self.kind(function), Some(StringKind::Name | StringKind::Folded))
    }

    /// The frames at an address, innermost first; empty where no file knows it.
    pub(super) fn at(&self, address: u64) -> &[AnswerFrame] {
        let Ok(index) = self.addresses.binary_search(&address) else { return &[] };
        let (start, end) = self.ranges[index];
        &self.frames[start as usize..end as usize]
    }
}

/// Looks up all images, each on its own core.
pub(super) fn look_up_all(images: Vec<ImageAddresses>, finder: &dyn SymbolFinder) -> HashMap<Uuid, Answers> {
    images.into_par_iter().map(|image| (image.uuid, look_up(image, finder))).collect()
}

/// Asks the files of an image.
fn look_up(image: ImageAddresses, finder: &dyn SymbolFinder) -> Answers {
    let mut answers = Answers { ranges: vec![(0, 0); image.addresses.len()], ..Answers::default() };
    let mut strings = StringIds::default();
    let asked = symbols::look_up(finder, image.uuid, &image.addresses, &mut |index, frames| {
        let start = answers.frames.len() as u32;
        answers.frames.extend(frames.iter().map(|frame| strings.frame(frame)));
        answers.ranges[index] = (start, answers.frames.len() as u32);
    });
    for Asked { found, answers: count, result } in asked {
        let name = found.path.display();
        match result {
            // A broken file has a note for each part of it: the first one tells enough.
            Ok(notes) => answers.notes.extend(notes.first().map(|note| {
                let more = if notes.len() > 1 { format!(" (and {} more)", notes.len() - 1) } else { String::new() };
                Note { message: format!("{name}: {note}{more}"), count: 1 }
            })),
            Err(error) => answers.notes.push(Note { message: format!("{name}: {error}"), count: 1 }),
        }
        if count > 0 {
            answers.used.push(found);
        }
    }
    answers.addresses = image.addresses;
    (answers.strings, answers.kinds) = strings.finish();
    answers
}

/// Strings of answers, each once; names are demangled when all are known, once each.
#[derive(Debug, Default)]
struct StringIds {
    names: HashMap<Box<str>, u32>,
    files: HashMap<Box<str>, u32>,
}

impl StringIds {
    fn frame(&mut self, frame: &SymbolFrame<'_>) -> AnswerFrame {
        let next = |ids: &Self| (ids.names.len() + ids.files.len()) as u32;
        let name = frame.function.or(frame.linkage_name);
        let function = name.map(|name| {
            let next = next(self);
            id(&mut self.names, name, next)
        });
        let file = frame.file.map(|file| {
            let next = next(self);
            id(&mut self.files, file, next)
        });
        AnswerFrame { function, file, line: frame.line, is_inlined: frame.is_inlined }
    }

    fn finish(self) -> (Vec<String>, Vec<StringKind>) {
        let count = self.names.len() + self.files.len();
        let (mut strings, mut kinds) = (vec![String::new(); count], vec![StringKind::File; count]);
        for (name, id) in self.names {
            let shown = display_name(&name).into_owned();
            kinds[id as usize] = match shown.as_str() {
                DEDUPLICATED => StringKind::Folded,
                name if is_hex_address(name) => StringKind::Address,
                _ => StringKind::Name,
            };
            strings[id as usize] = shown;
        }
        for (file, id) in self.files {
            strings[id as usize] = file.into_string();
        }
        (strings, kinds)
    }
}

fn id(ids: &mut HashMap<Box<str>, u32>, text: &str, next: u32) -> u32 {
    match ids.get(text) {
        Some(&id) => id,
        None => *ids.entry(text.into()).or_insert(next),
    }
}
