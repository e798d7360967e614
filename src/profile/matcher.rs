//! Matches processes, threads, binaries and functions against user input.

use std::fmt;
use std::sync::Arc;

use super::Profile;
use super::model::{BinaryId, FunctionId, ProcessId, ThreadId};
use super::similar_names::similar_names;

/// A pattern for processes, threads, binaries or functions, by number or name.
///
/// A number is a pid or tid, decimal or hexadecimal with `0x`. It also matches as a name: `751` matches process 751 and a process named `751`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    text: String,
    /// The text as a number, if it is one and the pattern matches numbers.
    number: Option<u64>,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// Matches the number, or the complete name.
    Whole,
    /// Like `Whole`. If nothing in the profile matches, matches all names that contain this lower-case string.
    Part(String),
    /// Matches every name that a predicate accepts.
    Pattern(Pattern),
    /// Matches these processes and threads, regardless of their names.
    Chosen(Vec<ProcessId>, Vec<ThreadId>),
}

/// A predicate on names. Two patterns are equal if their descriptions are equal.
#[derive(Clone)]
struct Pattern(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Matcher {
    /// Matches the process or thread with this number or exactly this name.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), number: number(text), rule: Rule::Whole }
    }

    /// Like [`new`](Self::new). If nothing in the profile has this number or name, matches all names that contain `text`, ignoring case. A number
    /// never matches part of a name.
    pub fn part(text: &str) -> Self {
        let number = number(text);
        // A mistyped number should match nothing.
        let rule = if number.is_none() { Rule::Part(text.to_lowercase()) } else { Rule::Whole };
        Self { text: text.to_owned(), number, rule }
    }

    /// Parses user input: `/REGEX/`, or a name or number. A name also matches parts of names if nothing has exactly that name.
    ///
    /// # Errors
    /// If the text is empty, or the regular expression is empty or invalid.
    #[cfg(feature = "patterns")]
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            _ if text.is_empty() => {
                Err("an empty name would match everything; use /^$/ to match items without a name".to_owned())
            }
            Some("") => Err("an empty regular expression would match everything".to_owned()),
            Some(pattern) => {
                let regex = regex::Regex::new(pattern).map_err(|error| error.to_string())?;
                Ok(Self::pattern(text, move |name| regex.is_match(name)))
            }
            None => Ok(Self::part(text)),
        }
    }

    /// Matches all names that `is_match` accepts, for example by a regular expression. `text` describes the predicate.
    pub fn pattern(text: &str, is_match: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { text: text.to_owned(), number: None, rule: Rule::Pattern(Pattern(Arc::new(is_match))) }
    }

    /// Matches these threads, regardless of their names. `text` describes them.
    pub fn of_threads(text: &str, threads: Vec<ThreadId>) -> Self {
        Self { text: text.to_owned(), number: None, rule: Rule::Chosen(Vec::new(), threads) }
    }

    /// Fixes the pattern to its current matches in the profile, with a new description, since names may change later.
    pub(crate) fn chosen_in(&self, profile: &Profile, text: String) -> Self {
        Self { text, number: None, rule: Rule::Chosen(self.processes(profile), self.threads(profile)) }
    }

    pub(crate) fn is_number(&self) -> bool {
        number(&self.text).is_some()
    }

    /// Returns the text that the user typed, or the description of the predicate.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns up to three names that are similar to the user's text, most similar first.
    pub fn similar<'p>(&self, names: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
        similar_names(&self.text, names)
    }

    /// True if the pattern is this number or this complete name.
    pub fn is_exact(&self, number: Option<u64>, name: &str) -> bool {
        (number.is_some() && number == self.number) || name == self.text
    }

    /// True if the pattern is exactly this name, or a predicate that accepts it.
    #[cfg(feature = "dataset")]
    pub(crate) fn accepts(&self, name: &str) -> bool {
        if let Rule::Pattern(pattern) = &self.rule { (pattern.0)(name) } else { self.is_exact(None, name) }
    }

    /// Returns the matching processes.
    pub fn processes(&self, profile: &Profile) -> Vec<ProcessId> {
        if let Rule::Chosen(processes, _) = &self.rule {
            return processes.clone();
        }
        let key = |id| (profile.process(id).pid, profile.string(profile.process(id).name));
        self.of(profile.process_ids(), key)
    }

    /// Returns the matching threads.
    pub fn threads(&self, profile: &Profile) -> Vec<ThreadId> {
        if let Rule::Chosen(_, threads) = &self.rule {
            return threads.clone();
        }
        let key = |id| (profile.thread(id).tid, profile.string(profile.thread(id).name));
        self.of(profile.thread_ids(), key)
    }

    /// Returns the binaries with a matching name, or a matching path if the pattern contains a slash.
    pub fn binaries(&self, profile: &Profile) -> Vec<BinaryId> {
        let text = match &self.rule {
            Rule::Pattern(_) => self.text.strip_prefix('/').and_then(|text| text.strip_suffix('/')),
            _ => None,
        };
        let is_path = text.unwrap_or(&self.text).contains('/');
        let key = |id| {
            let binary = profile.binary(id);
            (None, profile.string(if is_path { binary.path } else { binary.name }))
        };
        self.of(profile.binary_ids(), key)
    }

    /// Returns the matching functions.
    pub fn functions(&self, profile: &Profile) -> Vec<FunctionId> {
        self.of(profile.function_ids(), |id| (None, profile.function_name(id)))
    }

    /// Returns the matching items, each compared by its number and name.
    pub(crate) fn of<'p, T: Copy>(
        &self,
        items: impl Iterator<Item = T>,
        key: impl Fn(T) -> (Option<u64>, &'p str),
    ) -> Vec<T> {
        let all: Vec<(T, Option<u64>, &str)> = items
            .map(|id| {
                let (number, name) = key(id);
                (id, number, name)
            })
            .collect();
        let chosen = |is_chosen: &dyn Fn(Option<u64>, &str) -> bool| {
            all.iter().filter(|(_, number, name)| is_chosen(*number, name)).map(|&(id, ..)| id).collect::<Vec<_>>()
        };
        match &self.rule {
            Rule::Whole => chosen(&|number, name| self.is_exact(number, name)),
            Rule::Part(part) => {
                let exact = chosen(&|_, name| name == self.text);
                if exact.is_empty() { chosen(&|_, name| name.to_lowercase().contains(part)) } else { exact }
            }
            Rule::Pattern(pattern) => chosen(&|_, name| (pattern.0)(name)),
            Rule::Chosen(..) => Vec::new(),
        }
    }
}

impl From<&str> for Matcher {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Pattern")
    }
}

impl PartialEq for Pattern {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Pattern {}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
