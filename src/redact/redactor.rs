//! The names that are known, and the texts in which they are replaced.

use std::collections::BTreeSet;

use super::paths::{in_sentence, is_identifier, split, users};
use super::pseudonyms::{Pseudonyms, Redacted, RedactedKind};
use super::rules::{NUMBER, RedactRule};
use super::words::{Reach, Words};
use crate::profile::{Category, Matcher};

/// Replaces names by pseudonyms, the same name by the same pseudonym.
#[derive(Debug)]
pub struct Redactor {
    pub(super) pseudonyms: Pseudonyms,
    pub(super) words: Words,
    /// Names of the app's processes, which stay.
    pub(super) kept: BTreeSet<String>,
    /// Processes that were named as the app's.
    pub(super) named: Vec<Matcher>,
    /// Names of processes that are no app's, and not too short to be known by name.
    pub(super) others: BTreeSet<String>,
    /// Folders of the app: its bundles.
    pub(super) bundles: Vec<String>,
    rules: Vec<RedactRule>,
    /// By rule: true if it replaced something.
    has_matched: Vec<bool>,
    /// True if there were intervals.
    pub(super) has_intervals: bool,
}

/// Words that code uses, which are no names of people even where a home folder has them.
const WORDS_OF_CODE: [&str; 48] = [
    "admin",
    "all",
    "app",
    "apple",
    "application",
    "applications",
    "block",
    "build",
    "code",
    "com",
    "data",
    "debug",
    "default",
    "developer",
    "dispatch",
    "dylib",
    "event",
    "frameworks",
    "function",
    "home",
    "kernel",
    "lib",
    "library",
    "local",
    "loop",
    "main",
    "mobile",
    "net",
    "node",
    "objc",
    "org",
    "private",
    "queue",
    "release",
    "root",
    "run",
    "shared",
    "start",
    "swift",
    "system",
    "test",
    "thread",
    "timer",
    "user",
    "users",
    "usr",
    "work",
    "worker",
];

/// Names that mean something to reports, and are no one's.
const NAMES_OF_CODE: [&str; 3] = ["main", "Main Thread", "start"];

/// Folders between which nothing but the name of a device, a bundle's number or the like is found: what a kept path shows of them.
const FEW_LETTERS: usize = 3;

impl Redactor {
    /// One that numbers its pseudonyms: `user-1`, `user-2`.
    pub fn new(rules: Vec<RedactRule>) -> Self {
        let (pseudonyms, words, has_matched) = (Pseudonyms::default(), Words::default(), vec![false; rules.len()]);
        let (kept, named, others, bundles) = (BTreeSet::new(), Vec::new(), BTreeSet::new(), Vec::new());
        Self { pseudonyms, words, kept, named, others, bundles, rules, has_matched, has_intervals: false }
    }

    /// One whose pseudonyms have no numbers: all names of a kind become one, such as `process`. So recordings that are redacted one by one
    /// do not call different things the same by chance.
    pub fn collective(rules: Vec<RedactRule>) -> Self {
        let mut redactor = Self::new(rules);
        redactor.pseudonyms.is_collective = true;
        redactor
    }

    /// Names processes that are the app's, beside those that a recording says.
    pub fn keep_processes(&mut self, named: &[Matcher]) {
        self.named.extend_from_slice(named);
    }

    /// The names of processes that are the app's, as far as recordings were [collected](Self::collect).
    pub fn kept_processes(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(String::as_str)
    }

    /// Hides the name of an input: `input-1.trace`. Its kind stays.
    pub fn hide_input(&mut self, name: &str) {
        if name == "-" || name.is_empty() {
            return;
        }
        self.hide_users(name);
        let extension = extension(name);
        let text = |kind: &str, number: Option<usize>| match number {
            Some(number) => format!("{kind}-{number}{extension}"),
            None => format!("{kind}{extension}"),
        };
        let index = self.pseudonyms.index_of(RedactedKind::Input, name.to_owned(), text);
        self.words.add(name, index, Reach::Everywhere);
    }

    /// Hides the name of an input behind this one, which is given back with the end that says what kind of input it is.
    pub fn hide_input_as(&mut self, name: &str, stem: &str) -> String {
        self.hide_users(name);
        let text = format!("{stem}{}", extension(name));
        let index = self.pseudonyms.index_of(RedactedKind::Input, name.to_owned(), |_, _| text.clone());
        self.words.add(name, index, Reach::Everywhere);
        text
    }

    /// Hides the users whose home folders a text names.
    pub fn hide_users(&mut self, text: &str) {
        for user in users(text) {
            self.hide_person(user, None);
        }
    }

    /// Hides the name of a person; one that has another name already is the same person.
    pub(super) fn hide_person(&mut self, name: &str, same: Option<usize>) -> usize {
        let kind = RedactedKind::User;
        if let Some(same) = same {
            self.pseudonyms.share(kind, name, same);
        }
        let index = self.pseudonyms.index(kind, name);
        self.words.add(name, index, reach_of(name, Reach::Everywhere));
        index
    }

    /// What was replaced so far, by kind.
    pub fn redacted(&self) -> Vec<Redacted> {
        self.pseudonyms.list()
    }

    /// The rules that matched nothing so far; those about signposts only if there were some.
    pub fn unused_rules(&self) -> impl Iterator<Item = &RedactRule> {
        let is_asked = |rule: &RedactRule| self.has_intervals || rule.kind != RedactedKind::Signpost;
        let rules = self.rules.iter().zip(&self.has_matched);
        rules.filter(move |(rule, has_matched)| !**has_matched && is_asked(rule)).map(|(rule, _)| rule)
    }

    /// A text about a recording: a message, say. Names and paths in it are replaced.
    pub fn text(&mut self, text: &str) -> String {
        self.changed_text(text, Reach::OwnTexts).unwrap_or_else(|| text.to_owned())
    }

    /// The same; `None` if the text stays as it is.
    pub(super) fn changed_text(&mut self, text: &str, at_least: Reach) -> Option<String> {
        let worded = self.changed_words(text, at_least);
        let text = worded.as_deref().unwrap_or(text);
        self.changed_paths(text).or(worded)
    }

    pub(super) fn changed_words(&mut self, text: &str, at_least: Reach) -> Option<String> {
        let Self { words, pseudonyms, .. } = self;
        words.replaced(text, at_least, |index| pseudonyms.used(index))
    }

    /// Paths inside a text.
    fn changed_paths(&mut self, text: &str) -> Option<String> {
        if !text.contains(['/', '\\']) {
            return None;
        }
        let (mut changed, mut copied) = (String::new(), 0);
        while let Some((start, end)) = in_sentence(text, copied) {
            changed.push_str(&text[copied..start]);
            changed.push_str(&self.path(&text[start..end]));
            copied = end;
        }
        (copied > 0).then(|| changed + &text[copied..])
    }

    /// A path: the folder that is not the system's becomes a pseudonym, the last part stays, and of the app's bundle all that is inside.
    pub fn path(&mut self, path: &str) -> String {
        if !path.contains(['/', '\\']) {
            return self.changed_words(path, Reach::Paths).unwrap_or_else(|| path.to_owned());
        }
        let parts = split(path, &self.bundles);
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        if parts.hidden.is_empty() {
            let kept = self.kept_part(parts.kept, name);
            return format!("{}{kept}", parts.start);
        }
        let folder = self.pseudonyms.of(RedactedKind::Path, parts.hidden);
        let kept = self.changed_words(parts.kept, Reach::Paths);
        let kept = self.without_identifiers(kept.as_deref().unwrap_or(parts.kept));
        format!("{}{folder}{}{kept}", parts.start, parts.separator)
    }

    /// A path of the system, in which a user may still have a name, and the program of a process that is not the app's is named after it.
    fn kept_part(&mut self, path: &str, name: &str) -> String {
        let mut kept = self.changed_words(path, Reach::Everywhere).unwrap_or_else(|| path.to_owned());
        if self.is_program_of_other(name, path) {
            kept = self.with_process(&kept, name);
        }
        let kept = self.without_identifiers(&kept);
        // The words of a person are those of the system, by chance.
        let category = |path: &str| Category::of_path(path, path);
        if category(&kept) == category(path) { kept } else { path.to_owned() }
    }

    /// True if a binary is the program of a process that is not the app's. A framework of the same name is none.
    pub(super) fn is_program_of_other(&self, name: &str, path: &str) -> bool {
        self.others.contains(name) && !path.contains(&format!("/{name}.framework/"))
    }

    /// A path whose parts have the name of a process, with or without an extension.
    fn with_process(&mut self, path: &str, name: &str) -> String {
        let process = self.pseudonyms.of(RedactedKind::Process, name);
        let part = |part: &str| match part.strip_prefix(name) {
            Some("") => process.clone(),
            Some(rest) if rest.starts_with('.') => format!("{process}{rest}"),
            _ => part.to_owned(),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// A path without numbers that tell a device, a volume or a copy of an app.
    fn without_identifiers(&mut self, path: &str) -> String {
        if !path.split(['/', '\\']).any(is_identifier) {
            return path.to_owned();
        }
        let part = |part| match is_identifier(part) {
            true => self.pseudonyms.of(RedactedKind::Identifier, part),
            false => part.to_owned(),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// What the first rule that means a name makes of it.
    pub(super) fn by_rule(&mut self, kind: RedactedKind, name: &str) -> Option<String> {
        let mut rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.kind == kind);
        let (at, replacement) = rules.find_map(|(at, rule)| Some((at, rule.replaced(name)?)))?;
        self.has_matched[at] = true;
        // A rule may leave a part of the name.
        let replacement = self.changed_text(&replacement, Reach::OwnTexts).unwrap_or(replacement);
        // Each rule counts for itself: the name is its own, in this very spelling.
        let Self { pseudonyms, .. } = self;
        let index = match replacement.contains(NUMBER) {
            false => pseudonyms.index_of(kind, format!("{at} {name}"), |_, _| replacement),
            true => {
                let number = pseudonyms.rule_number(at, &format!("{at} {name}"));
                pseudonyms.index_of(kind, format!("{at} {name}"), |_, _| replacement.replace(NUMBER, &number))
            }
        };
        Some(pseudonyms.used(index))
    }
}

/// A word that is short, or one of code, is only replaced in paths.
pub(super) fn reach_of(name: &str, reach: Reach) -> Reach {
    let is_short = name.chars().count() < FEW_LETTERS;
    let is_of_code = || WORDS_OF_CODE.iter().any(|word| word.eq_ignore_ascii_case(name));
    if is_short || is_of_code() { Reach::Paths } else { reach }
}

/// True for a name that means something to reports.
pub(super) fn is_of_code(name: &str) -> bool {
    name.is_empty() || NAMES_OF_CODE.contains(&name)
}

/// What an input's name ends with, as far as it says what the input is.
fn extension(name: &str) -> String {
    const KNOWN: [&str; 13] =
        ["trace", "zip", "tar", "tgz", "gz", "zst", "xml", "txt", "sample", "toc", "json", "csv", "xz"];
    let name = name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    let known = |part: &&str| KNOWN.iter().any(|known| known.eq_ignore_ascii_case(part));
    let mut parts: Vec<&str> =
        name.split('.').skip(1).collect::<Vec<_>>().into_iter().rev().take_while(known).collect();
    parts.reverse();
    parts.iter().map(|part| format!(".{part}")).collect()
}
