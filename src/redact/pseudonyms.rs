//! Pseudonyms: in one output, a name always has the same pseudonym.

use std::collections::BTreeSet;

use super::case_folding::folded;
use crate::hash::HashMap;

/// The kind of a replaced name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RedactedKind {
    /// The name of a person, from a home folder or from the name of a device.
    User,
    /// The name of a device.
    Device,
    /// A number that identifies a device: its UUID or serial number, and such numbers in paths.
    Identifier,
    /// A process that does not belong to the app.
    Process,
    /// A folder that does not belong to the system.
    Path,
    /// The name of an input.
    Input,
    /// Anything else that may identify a person, such as the arguments of the recorded process. All of them share one pseudonym.
    Other,
    /// A function that matches a rule.
    Function,
    /// A binary that matches a rule.
    Binary,
    /// A thread that matches a rule.
    Thread,
    /// A signpost that matches a rule.
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

    /// The name in machine-readable formats, which is also the prefix of pseudonyms.
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

/// The replaced names of one kind. Does not contain the original names.
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

/// Kinds of names that must stay distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Named {
    /// Functions, threads and similar names.
    Code(RedactedKind),
    Source,
    /// Subsystems, categories and other strings in intervals.
    Text,
}

/// All pseudonyms assigned so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pseudonyms {
    all: Vec<Pseudonym>,
    by_name: HashMap<(RedactedKind, String), usize>,
    /// The number of pseudonyms of each kind.
    counts: HashMap<RedactedKind, usize>,
    /// For each rule, the numbers of the names that it replaced.
    numbers: HashMap<usize, HashMap<String, usize>>,
    /// The new names of names that must stay distinct.
    renamed: HashMap<(Named, String), String>,
    taken: BTreeSet<(Named, String)>,
    /// True if all names of a kind have one pseudonym.
    pub(super) is_collective: bool,
}

impl Pseudonyms {
    /// Returns the index of the pseudonym for a name, in any spelling.
    pub(super) fn index(&mut self, kind: RedactedKind, name: &str) -> usize {
        self.index_of(kind, folded(name).into_iter().collect(), numbered)
    }

    /// Returns the index of the pseudonym for a name in exactly this spelling: folders and programs that differ in case are distinct.
    pub(super) fn exact_index(&mut self, kind: RedactedKind, name: &str) -> usize {
        self.index_of(kind, name.to_owned(), numbered)
    }

    /// Returns the pseudonym for a name in exactly this spelling. Marks it as used.
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

    /// Makes a new name distinct by adding a number, unless it is the first: if two names became identical, their weights would be added up.
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

    /// Returns the index of the pseudonym for a name in exactly this spelling. `text` creates the pseudonym from the kind and a number, starting at
    /// 1.
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

    /// Returns the number of a name among the names that a rule replaces.
    pub(super) fn rule_number(&mut self, rule: usize, name: &str) -> String {
        let numbers = self.numbers.entry(rule).or_default();
        let next = numbers.len() + 1;
        let number = *numbers.entry(name.to_owned()).or_insert(next);
        if self.is_collective { String::new() } else { number.to_string() }
    }

    /// Assigns an existing pseudonym to another name.
    pub(super) fn share(&mut self, kind: RedactedKind, name: &str, index: usize) {
        self.by_name.entry((kind, folded(name).into_iter().collect())).or_insert(index);
    }

    /// Returns the pseudonym, without marking it as used.
    pub(super) fn text(&self, index: usize) -> String {
        self.all[index].text.clone()
    }

    /// Returns the pseudonym. Marks it as used.
    pub(super) fn used(&mut self, index: usize) -> String {
        self.all[index].is_used = true;
        self.all[index].text.clone()
    }

    /// Returns the pseudonym for a name. Marks it as used.
    pub(super) fn of(&mut self, kind: RedactedKind, name: &str) -> String {
        let index = self.index(kind, name);
        self.used(index)
    }

    /// Lists the replaced names by kind.
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

/// Returns `user-1`, or `user` without a number.
fn numbered(kind: &str, number: Option<usize>) -> String {
    match number {
        Some(number) => format!("{kind}-{number}"),
        None => kind.to_owned(),
    }
}
