//! The pseudonyms: in one output, a name always has the same pseudonym.

use std::collections::BTreeSet;

use super::case_folding::folded;
use crate::hash::HashMap;

/// The kind of what was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RedactedKind {
    /// The name of a person, from a home folder or from the name of a device.
    User,
    /// The name of a device.
    Device,
    /// A number that identifies a device: its UUID or serial number, and such numbers in paths.
    Identifier,
    /// A process that is not the app's.
    Process,
    /// A folder that is not the system's.
    Path,
    /// The name of an input.
    Input,
    /// Anything else that may identify a person, such as the arguments of the recorded process. All of them share one pseudonym.
    Other,
    /// A function that a rule names.
    Function,
    /// A binary that a rule names.
    Binary,
    /// A thread that a rule names.
    Thread,
    /// A signpost that a rule names.
    Signpost,
}

impl RedactedKind {
    pub(super) const ALL: [Self; 11] = [
        Self::User,
        Self::Device,
        Self::Identifier,
        Self::Process,
        Self::Path,
        Self::Input,
        Self::Other,
        Self::Function,
        Self::Binary,
        Self::Thread,
        Self::Signpost,
    ];

    /// The name in machine formats, and what pseudonyms begin with.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Device => "device",
            Self::Identifier => "identifier",
            Self::Process => "process",
            Self::Path => "path",
            Self::Input => "input",
            Self::Other => "other",
            Self::Function => "function",
            Self::Binary => "binary",
            Self::Thread => "thread",
            Self::Signpost => "signpost",
        }
    }
}

/// What was replaced of one kind. The names that were there are nowhere in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted {
    /// The kind.
    pub kind: RedactedKind,
    /// The number of distinct names that were replaced.
    pub names: usize,
    /// The pseudonyms, each once, in the order of their first use.
    pub pseudonyms: Vec<String>,
}

#[derive(Clone, Debug)]
struct Pseudonym {
    kind: RedactedKind,
    text: String,
    is_used: bool,
}

/// The names that must not become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Named {
    /// Functions, threads and the like.
    Code(RedactedKind),
    /// Source files.
    Source,
    /// Subsystems, categories and other texts in intervals.
    Text,
}

/// All pseudonyms assigned so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pseudonyms {
    all: Vec<Pseudonym>,
    by_name: HashMap<(RedactedKind, String), usize>,
    /// By kind: the number of pseudonyms.
    counts: HashMap<RedactedKind, usize>,
    /// By rule: the number of distinct names that it replaced by a number.
    numbers: HashMap<usize, HashMap<String, usize>>,
    /// The new names of names that must stay distinct.
    renamed: HashMap<(Named, String), String>,
    taken: BTreeSet<(Named, String)>,
    /// True if all names of a kind have one pseudonym.
    pub(super) is_collective: bool,
}

impl Pseudonyms {
    /// The index of the pseudonym of a name, in any spelling.
    pub(super) fn index(&mut self, kind: RedactedKind, name: &str) -> usize {
        self.index_of(kind, folded(name).into_iter().collect(), numbered)
    }

    /// The index of the pseudonym of a name in this very spelling: folders and programs whose names differ in case are two.
    pub(super) fn exact_index(&mut self, kind: RedactedKind, name: &str) -> usize {
        self.index_of(kind, name.to_owned(), numbered)
    }

    /// The pseudonym of a name in exactly this spelling. Marks it as used.
    pub(super) fn exact(&mut self, kind: RedactedKind, name: &str) -> String {
        let index = self.exact_index(kind, name);
        self.used(index)
    }

    /// True for the pseudonym of a folder.
    pub(super) fn is_folder(&self, name: &str) -> bool {
        let count = self.counts.get(&RedactedKind::Path).copied().unwrap_or_default();
        let kind = RedactedKind::Path.name();
        let Some(number) = name.strip_prefix(kind) else { return false };
        match number.strip_prefix('-') {
            Some(number) => number.parse::<usize>().is_ok_and(|number| (1..=count).contains(&number)),
            None => number.is_empty() && self.is_collective,
        }
    }

    /// The new name, made distinct: if two names became the same, their numbers would be added up. Names after the first get a number.
    pub(super) fn apart(&mut self, named: Named, old: &str, new: String) -> String {
        if self.is_collective {
            return new;
        }
        let Self { renamed, taken, .. } = self;
        let apart = renamed.entry((named, old.to_owned())).or_insert_with(|| {
            let numbered = (2..).map(|number| format!("{new} ({number})"));
            let mut names = std::iter::once(new.clone()).chain(numbered);
            names.find(|name| taken.insert((named, name.clone()))).expect("there is always another number")
        });
        apart.clone()
    }

    /// The index of a pseudonym for a name in exactly this spelling. `text` makes the pseudonym from the kind and a number, from 1.
    pub(super) fn index_of(
        &mut self,
        kind: RedactedKind,
        name: String,
        text: impl FnOnce(&str, Option<usize>) -> String,
    ) -> usize {
        let Self { all, by_name, counts, is_collective, .. } = self;
        *by_name.entry((kind, name)).or_insert_with(|| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            let number = (!*is_collective).then_some(*count);
            all.push(Pseudonym { kind, text: text(kind.name(), number), is_used: false });
            all.len() - 1
        })
    }

    /// The number of a name among the names that a rule replaces.
    pub(super) fn rule_number(&mut self, rule: usize, name: &str) -> String {
        let numbers = self.numbers.entry(rule).or_default();
        let next = numbers.len() + 1;
        let number = *numbers.entry(name.to_owned()).or_insert(next);
        if self.is_collective { String::new() } else { number.to_string() }
    }

    /// A name and its pseudonym share it from now on.
    pub(super) fn share(&mut self, kind: RedactedKind, name: &str, index: usize) {
        self.by_name.entry((kind, folded(name).into_iter().collect())).or_insert(index);
    }

    /// The pseudonym, without marking it as used.
    pub(super) fn text(&self, index: usize) -> String {
        self.all[index].text.clone()
    }

    /// The pseudonym. Marks it as used.
    pub(super) fn used(&mut self, index: usize) -> String {
        self.all[index].is_used = true;
        self.all[index].text.clone()
    }

    /// The pseudonym of a name. Marks it as used.
    pub(super) fn of(&mut self, kind: RedactedKind, name: &str) -> String {
        let index = self.index(kind, name);
        self.used(index)
    }

    /// What was replaced, by kind.
    pub(super) fn list(&self) -> Vec<Redacted> {
        let (mut list, mut seen): (Vec<Redacted>, BTreeSet<_>) = Default::default();
        for Pseudonym { kind, text, .. } in self.all.iter().filter(|pseudonym| pseudonym.is_used) {
            let row = match list.iter_mut().position(|row| row.kind == *kind) {
                Some(at) => &mut list[at],
                None => {
                    list.push(Redacted { kind: *kind, names: 0, pseudonyms: Vec::new() });
                    list.last_mut().expect("it was just added")
                }
            };
            row.names += 1;
            if seen.insert((kind, text)) {
                row.pseudonyms.push(text.clone());
            }
        }
        list.sort_by_key(|row| row.kind);
        list
    }
}

/// `user-1`, or `user` without a number.
fn numbered(kind: &str, number: Option<usize>) -> String {
    match number {
        Some(number) => format!("{kind}-{number}"),
        None => kind.to_owned(),
    }
}
