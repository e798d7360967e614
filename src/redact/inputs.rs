//! Replaces input names in fields that consist of one, and in messages.

use std::collections::BTreeSet;

use crate::hash::HashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// The index of the pseudonym by name.
    by_name: HashMap<String, usize>,
    lengths: BTreeSet<usize>,
}

impl Inputs {
    /// Adds an input, unless it exists.
    pub(super) fn add(&mut self, name: &str, pseudonym: usize) {
        self.lengths.insert(name.len());
        self.by_name.entry(name.to_owned()).or_insert(pseudonym);
    }

    /// Returns the input that a field names, or that contains it, and the rest of the field.
    pub(super) fn of<'t>(&self, field: &'t str) -> Option<(usize, &'t str)> {
        if let Some(&index) = self.by_name.get(field) {
            return Some((index, ""));
        }
        let mut folders = field.match_indices('/').filter(|&(at, _)| at > 0);
        folders.find_map(|(at, _)| Some((*self.by_name.get(&field[..at])?, &field[at..])))
    }

    /// Finds the first input name in a message after an offset. Returns its range, and the index of its pseudonym. `is_kept` recognises plain
    /// words that should be kept.
    pub(super) fn first_in(
        &self,
        text: &str,
        from: usize,
        is_kept: impl Fn(&str) -> bool,
    ) -> Option<(usize, usize, usize)> {
        if self.by_name.is_empty() {
            return None;
        }
        let starts = text[from..].char_indices().map(|(at, _)| from + at);
        starts.filter(|&at| !ends_in_word(&text[..at])).find_map(|at| {
            let found = self.lengths.iter().rev().find_map(|length| {
                let name = text.get(at..at + length)?;
                Some((name, *self.by_name.get(name)?))
                    .filter(|(name, _)| is_printed(text, at, name) && !(is_word(name) && is_kept(name)))
            });
            found.map(|(name, index)| (at, at + name.len(), index))
        })
    }
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(|char| char.is_alphanumeric() || "_-".contains(char))
}

/// True for a name that is a word, so it may mean something else in a sentence.
fn is_word(name: &str) -> bool {
    name.chars().all(char::is_alphabetic)
}

/// True if a message names an input here, and the name is not part of a longer name. Numbers do not qualify, since they may be counts.
/// Plain words only qualify where messages usually have names: before a colon, in quotation marks, and at the start.
fn is_printed(text: &str, at: usize, name: &str) -> bool {
    let (before, behind) = (&text[..at], &text[at + name.len()..]);
    let goes_on = behind.starts_with(|char: char| char.is_alphanumeric() || "_-".contains(char));
    let has_extension =
        behind.strip_prefix('.').is_some_and(|rest| rest.starts_with(|char: char| char.is_alphanumeric()));
    if goes_on || has_extension || behind.starts_with("::") || !name.chars().any(char::is_alphabetic) {
        return false;
    }
    let is_quoted = before.ends_with(['"', '\'', '`', '‘', '“']) && behind.starts_with(['"', '\'', '`', '’', '”']);
    let is_first = before.is_empty() || before.ends_with(": ");
    let is_named = behind.starts_with(": ") || behind == ":" || behind.starts_with('/');
    !is_word(name) || is_quoted || is_first || is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_print_inputs() {
        let mut inputs = Inputs::default();
        for (index, name) in ["1", "App", "std", "/x/rec.xml", "rec.xml", "jane-secret", "12.xml"].iter().enumerate() {
            inputs.add(name, index);
        }
        for (text, found) in [
            ("error: /x/rec.xml: no rows", Some("/x/rec.xml")),
            ("error: /y/rec.xml is no file", Some("rec.xml")),
            ("12.xml has 12 rows", Some("12.xml")),
            ("error: jane-secret is named twice", Some("jane-secret")),
            ("App: no rows", Some("App")),
            ("cannot read 'std'", Some("std")),
            ("note: redacted: 1 user, 1 input", None),
            ("the process App has 1 sample", None),
            ("std::max and App.Feed", None),
            ("rec.xml.gz, rec.xmls and a-rec.xml", None),
        ] {
            let place = inputs.first_in(text, 0, |_| false).map(|(start, end, _)| &text[start..end]);
            assert_eq!(place, found, "{text}");
        }
        assert_eq!(inputs.first_in("App: no rows", 0, |name| name == "App"), None);
    }

    #[test]
    fn fields_are_inputs() {
        let mut inputs = Inputs::default();
        inputs.add("1", 7);
        assert_eq!(inputs.of("1"), Some((7, "")));
        assert_eq!(inputs.of("1/form.template"), Some((7, "/form.template")));
        assert_eq!(inputs.of("11"), None);
    }
}
