//! The collected names, and the entry points for replacing them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::common_words::{Reach, is_short, reach_of};
use super::hidden_words::Words;
use super::inputs::Inputs;
use super::paths::{User, users};
use super::pseudonyms::{Named, Pseudonyms, Redacted, RedactedKind};
use crate::profile::Matcher;

/// Replaces names with pseudonyms: the same name always gets the same pseudonym.
#[derive(Debug, Default)]
pub struct Redactor {
    pub(super) pseudonyms: Pseudonyms,
    pub(super) words: Words,
    pub(super) inputs: Inputs,
    /// Names of the app's processes, which are kept.
    pub(super) kept: BTreeSet<String>,
    /// Processes that the user said belong to the app.
    pub(super) named: Vec<Matcher>,
    /// Names of processes outside the app.
    pub(super) others: BTreeSet<String>,
    /// Folders of the app: its bundles.
    pub(super) bundles: Vec<String>,
    rules: Vec<RedactRule>,
    /// For each rule, whether it replaced something.
    has_matched: Vec<bool>,
    /// True if a recording had intervals, so rules about signposts could have matched.
    pub(super) has_intervals: bool,
}

impl Redactor {
    /// Creates a redactor that numbers its pseudonyms: `user-1`, `user-2`.
    pub fn new(rules: Vec<RedactRule>) -> Self {
        Self { has_matched: vec![false; rules.len()], rules, ..Self::default() }
    }

    /// Creates a redactor whose pseudonyms have no numbers: all names of a kind become the same, such as `process`. If recordings are redacted
    /// separately, different things then never get the same number by chance.
    pub fn collective(rules: Vec<RedactRule>) -> Self {
        let mut redactor = Self::new(rules);
        redactor.pseudonyms.is_collective = true;
        redactor
    }

    /// Adds processes of the app, in addition to those that a recording names.
    pub fn keep_processes(&mut self, named: &[Matcher]) {
        self.named.extend_from_slice(named);
    }

    /// The names of the app's processes in all [collected](Self::collect) recordings, with people's names replaced.
    pub fn kept_processes(&self) -> impl Iterator<Item = String> {
        let shown = |name: &String| self.words.replaced(name, Reach::Everywhere, |index| self.pseudonyms.text(index));
        self.kept.iter().map(move |name| shown(name).unwrap_or_else(|| name.clone()))
    }

    /// Registers the name of an input, to be replaced with a name such as `input-1.trace`. A known extension is kept.
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
        self.inputs.add(name, index);
    }

    /// Registers the name of an input, to be replaced with `stem` and the extension that indicates the kind of input. Returns the replacement.
    pub fn hide_input_as(&mut self, name: &str, stem: &str) -> String {
        self.hide_users(name);
        let text = format!("{stem}{}", extension(name));
        let index = self.pseudonyms.index_of(RedactedKind::Input, name.to_owned(), |_, _| text.clone());
        self.inputs.add(name, index);
        text
    }

    /// Hides the users whose home folders are in the text.
    pub fn hide_users(&mut self, text: &str) {
        for User { name, is_folder } in users(text) {
            let index = self.hide_person(&name, None);
            // Parts of a complete folder name are also names of the person. In a sentence, they may be ordinary words.
            let parts = name.split_whitespace().filter(|part| is_folder && part.len() < name.len() && !is_short(part));
            parts.for_each(|part| {
                self.hide_person(part, Some(index));
            });
        }
    }

    /// Hides the name of a person. `same` is the pseudonym of this person under another name.
    pub(super) fn hide_person(&mut self, name: &str, same: Option<usize>) -> usize {
        let kind = RedactedKind::User;
        if let Some(same) = same {
            self.pseudonyms.share(kind, name, same);
        }
        let index = self.pseudonyms.index(kind, name);
        self.words.add(name, index, reach_of(name, Reach::Everywhere));
        index
    }

    /// Lists the pseudonyms used so far and the number of names replaced, by kind.
    pub fn redacted(&self) -> Vec<Redacted> {
        self.pseudonyms.list()
    }

    /// The rules that have matched nothing so far. Rules about signposts are only included if there were intervals.
    pub fn unused_rules(&self) -> impl Iterator<Item = &RedactRule> {
        let is_asked = |rule: &RedactRule| self.has_intervals || rule.kind != RedactedKind::Signpost;
        let rules = self.rules.iter().zip(&self.has_matched);
        rules.filter(move |(rule, has_matched)| !**has_matched && is_asked(rule)).map(|(rule, _)| rule)
    }

    /// Replaces a name according to the first rule that matches it; `None` if no rule does.
    pub(super) fn by_rule(&mut self, kind: RedactedKind, name: &str) -> Option<String> {
        let mut rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.kind == kind);
        let (at, replacement) = rules.find_map(|(at, rule)| Some((at, rule.replaced(name)?)))?;
        self.has_matched[at] = true;
        // The replacement may still contain a part of the name, so it is redacted too.
        let replacement = self.apart(Named::Code(kind), &replacement, Reach::OwnTexts).unwrap_or(replacement);
        // The key contains the rule and the exact spelling, so rules do not share pseudonyms.
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

/// Returns the end of an input's name, if it indicates the kind of input.
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

/// Returns the replacement for a name, if the rule matches it.
type Replace = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A rule that replaces names of one kind.
#[derive(Clone)]
pub struct RedactRule {
    /// The kind of names: functions, binaries, threads or signposts.
    pub kind: RedactedKind,
    /// The text of the rule, for messages.
    pub text: String,
    replace: Arc<Replace>,
}

impl RedactRule {
    /// Creates a rule for names of this kind. `replace` returns the replacement for a name, or `None` if the rule does not match it. `{n}` in the
    /// replacement becomes a number, starting at 1, for each distinct name that the rule replaces; a [collective](Redactor::collective)
    /// redactor removes it.
    pub fn new(
        kind: RedactedKind,
        text: String,
        replace: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { kind, text, replace: Arc::new(replace) }
    }

    /// Returns the replacement for a name, before its number is inserted; `None` if the rule does not match.
    pub fn replaced(&self, name: &str) -> Option<String> {
        (self.replace)(name)
    }
}

impl fmt::Debug for RedactRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RedactRule").field("kind", &self.kind).field("text", &self.text).finish_non_exhaustive()
    }
}

/// The placeholder for the number in a replacement.
pub(super) const NUMBER: &str = "{n}";
