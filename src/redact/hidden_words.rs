//! Replaces names inside other text, wherever they are complete words.

use std::collections::BTreeSet;

use super::case_folding::{Letter, ends_syllable, fold, folded, has_no_spaces};
use super::common_words::{Reach, is_name};
use crate::hash::HashMap;

/// A word to replace.
#[derive(Clone, Copy, Debug)]
struct Word {
    pseudonym: usize,
    reach: Reach,
}

/// Words, found by their first letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    by_letters: HashMap<Vec<char>, Word>,
    /// Names that are never replaced.
    spared: BTreeSet<Vec<char>>,
    /// Keyed by the first [`KEY`] letters, or by fewer for shorter words: the lengths of the words that start with them, longest first.
    by_start: HashMap<[char; KEY], Vec<usize>>,
    /// Indexed by first letter, ASCII only: true if a word starts with it.
    starts: Vec<bool>,
}

/// The number of letters in the key of a word.
const KEY: usize = 2;

impl Words {
    /// Adds a word, unless it cannot be distinguished from other words. If the word exists, it gets the wider reach.
    pub(super) fn add(&mut self, text: &str, pseudonym: usize, reach: Reach) {
        let letters = folded(text);
        let Some(key) = key(letters.iter().copied()) else { return };
        if !is_name(text) || self.spared.contains(&letters) {
            return;
        }
        self.starts.resize(128, false);
        if let Some(start) = self.starts.get_mut(letters[0] as usize) {
            *start = true;
        }
        let lengths = self.by_start.entry(key).or_default();
        if let Err(at) = lengths.binary_search_by(|length| letters.len().cmp(length)) {
            lengths.insert(at, letters.len());
        }
        let word = self.by_letters.entry(letters).or_insert(Word { pseudonym, reach });
        word.reach = word.reach.max(reach);
    }

    /// Never replaces this word from now on, even if a person has this name.
    pub(super) fn spare(&mut self, text: &str) {
        let letters = folded(text);
        self.by_letters.remove(&letters);
        self.spared.insert(letters);
    }

    /// Replaces these words in the text; `None` if it contains none of them. `replacement` is called for each replaced word.
    pub(super) fn replaced(
        &self,
        text: &str,
        at_least: Reach,
        mut replacement: impl FnMut(usize) -> String,
    ) -> Option<String> {
        if !self.may_begin_in(text) {
            return None;
        }
        let letters = fold(text);
        let mut new = String::new();
        let (mut copied, mut at) = (0, 0);
        while at < letters.len() {
            let Some((word, length)) = self.word_at(&letters, at, at_least) else {
                at += 1;
                continue;
            };
            let last = at + length - 1;
            new.push_str(&text[copied..letters[at].start]);
            new.push_str(&replacement(word.pseudonym));
            // A following digit would be read as part of the pseudonym.
            if letters.get(last + 1).is_some_and(|next| next.folded.is_ascii_digit()) {
                new.push('_');
            }
            copied = letters[last].end;
            at = last + 1;
        }
        if copied == 0 {
            return None;
        }
        new.push_str(&text[copied..]);
        Some(new)
    }

    /// True if some part of the text starts like one of the words. This is fast and does not allocate, since most names contain no such word.
    fn may_begin_in(&self, text: &str) -> bool {
        if self.by_letters.is_empty() {
            return false;
        }
        if !text.is_ascii() || text.contains('%') {
            return true;
        }
        let bytes = text.as_bytes();
        let is_start = |at: usize| {
            let byte = bytes[at].to_ascii_lowercase();
            self.starts[byte as usize]
                && (at == 0 || !bytes[at - 1].is_ascii_alphabetic() || !byte.is_ascii_alphabetic())
        };
        (0..bytes.len()).filter(|&at| is_start(at)).any(|at| {
            let letters = bytes[at..].iter().map(|byte| char::from(byte.to_ascii_lowercase()));
            key(letters)
                .is_some_and(|key| self.by_start.contains_key(&key) || self.by_start.contains_key(&[key[0], END]))
        })
    }

    /// Returns the longest complete word at this letter, and its length.
    fn word_at(&self, letters: &[Letter], at: usize, at_least: Reach) -> Option<(Word, usize)> {
        if is_inside_word(letters, at) {
            return None;
        }
        let here = letters[at..].iter().map(|letter| letter.folded);
        let key = key(here.clone())?;
        let lengths = self.by_start.get(&key).into_iter().chain(self.by_start.get(&[key[0], END])).flatten();
        let is_whole = |end: usize| !is_inside_word(letters, end) || is_possessive(letters, end);
        let possible = lengths.copied().filter(|&length| letters.len() >= at + length && is_whole(at + length));
        possible
            .filter_map(|length| Some((*self.by_letters.get(&here.clone().take(length).collect::<Vec<_>>())?, length)))
            .find(|(word, _)| word.reach >= at_least)
    }
}

/// True if a letter continues the word of the letter before it. In scripts without spaces, any letter may start a word.
fn is_inside_word(letters: &[Letter], at: usize) -> bool {
    let letter = |at: usize| letters.get(at).map(|letter| letter.folded).filter(|letter| letter.is_alphabetic());
    let Some((before, here)) = at.checked_sub(1).and_then(|before| Some((letter(before)?, letter(at)?))) else {
        return false;
    };
    ends_syllable(here) || !(has_no_spaces(before) || has_no_spaces(here))
}

/// True for an `s` that ends a word here: `Janes-iPhone` belongs to Jane.
fn is_possessive(letters: &[Letter], at: usize) -> bool {
    let is_letter = letters.get(at + 1).is_some_and(|letter| letter.folded.is_alphanumeric());
    letters[at].folded == 's' && !is_letter
}

/// Takes the place of a missing second letter.
const END: char = '\0';

fn key(mut letters: impl Iterator<Item = char>) -> Option<[char; KEY]> {
    Some([letters.next()?, letters.next().unwrap_or(END)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[(&str, Reach)]) -> Words {
        let mut words = Words::default();
        for (index, (text, reach)) in texts.iter().enumerate() {
            words.add(text, index, *reach);
        }
        words
    }

    #[test]
    fn spared_words_and_numbers_are_left() {
        let mut words =
            words(&[("runner", Reach::Everywhere), ("12", Reach::Everywhere), ("path-1", Reach::Everywhere)]);
        words.spare("Runner");
        words.add("RUNNER", 9, Reach::Everywhere);
        for text in ["Runner.main", "12 rows", "/path-1/x"] {
            assert_eq!(words.replaced(text, Reach::Paths, |index| format!("<{index}>")), None, "{text}");
        }
    }

    #[test]
    fn words_need_no_spaces_where_none_are_written() {
        let words = words(&[("太郎", Reach::Everywhere), ("민지", Reach::Everywhere), ("Jane", Reach::Everywhere)]);
        for (text, expected) in [
            ("接続太郎のMac", Some("接続<0>のMac")),
            ("太郎Mac", Some("<0>Mac")),
            ("김민지가", Some("김<1>가")),
            ("김\u{1106}\u{1175}\u{11ab}\u{110c}\u{1175}가", Some("김<1>가")),
            ("민직", None),
            ("Janeの画面", Some("<2>の画面")),
            ("Janette", None),
        ] {
            assert_eq!(
                words.replaced(text, Reach::OwnTexts, |index| format!("<{index}>")).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn whole_words_are_replaced_in_any_spelling() {
        let words = words(&[
            ("jane", Reach::Everywhere),
            ("Björn", Reach::Everywhere),
            ("Slack Helper", Reach::OwnTexts),
            ("Slack", Reach::OwnTexts),
            ("jo", Reach::Paths),
            ("x", Reach::Paths),
        ]);
        let replaced = |text: &str, reach| words.replaced(text, reach, |index| format!("<{index}>"));
        for (text, expected) in [
            ("com.jane.worker", Some("com.<0>.worker")),
            ("JANE", Some("<0>")),
            ("_ZN4jane3fooEv", Some("_ZN4<0>_3fooEv")),
            ("Janes-MacBook", Some("<0>s-MacBook")),
            ("janet", None),
            ("mundane", None),
            ("bjo\u{308}rn/Bj%C3%B6rn", Some("<1>/<1>")),
            ("Slack Helper (Renderer)", Some("<2> (Renderer)")),
            ("Slack", Some("<3>")),
            ("Slacker", None),
            ("jo x", None),
        ] {
            assert_eq!(replaced(text, Reach::OwnTexts).as_deref(), expected, "{text}");
        }
        assert_eq!(replaced("Slack of jane", Reach::Everywhere).as_deref(), Some("Slack of <0>"));
        assert_eq!(replaced("/Users/jo/x", Reach::Paths).as_deref(), Some("/Users/<4>/<5>"));
    }
}
