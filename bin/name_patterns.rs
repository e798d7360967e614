//! Names as users type them: parts of names, regular expressions, and names with typing errors.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use regex::Regex;
use traceparse::profile::Matcher;

/// The names that a note lists.
const LISTED: usize = 5;

/// Parses a name: `/REGEX/`, or a complete name, which is treated as a part of names if nothing has exactly that name.
pub(crate) fn parse_name(text: &str) -> Result<Matcher, String> {
    let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    match inner {
        _ if text.is_empty() => Err("an empty name would match everything; use /^$/ to match items without a \
                                     name"
            .to_owned()),
        Some("") => Err("an empty regular expression would match everything".to_owned()),
        Some(pattern) => {
            let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
            Ok(Matcher::pattern(text, move |name| regex.is_match(name)))
        }
        None => Ok(Matcher::part(text)),
    }
}

/// The first names of a list, and how many more there are.
pub(crate) fn first_of(names: &[impl Borrow<str>]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, … {more} more") } else { shown }
}

pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// The names most similar to `asked`, at most three, the most similar first. A part of each is nearly the same as `asked`.
pub(crate) fn nearest<'p>(asked: &str, names: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    const NEAREST: usize = 3;
    let text = asked.trim_matches('/').to_lowercase();
    let asked: Vec<char> = text.chars().collect();
    // One wrong character in three is a typing error; two make another word.
    let most = asked.len() / 3;
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty() && !asked.is_empty()).collect();
    let near = names.into_iter().filter_map(|name| {
        let lower = name.to_lowercase();
        // For example, a function with its parameters, if it is recorded without them.
        let is_part = lower.len() > 3 && text.starts_with(&lower);
        let mistakes = if is_part { most } else { mistakes(&asked, &lower.chars().collect::<Vec<_>>()) };
        (mistakes <= most).then_some((mistakes, name.len(), name))
    });
    let mut near: Vec<(usize, usize, &str)> = near.collect();
    near.sort_unstable();
    near.into_iter().take(NEAREST).map(|(.., name)| name).collect()
}

/// The number of characters to add, remove, change, or swap with their neighbour to turn `asked` into a part of `name`. The part starts
/// with the first character of `asked` at the beginning of a word: few people mistype that character, and other parts would match too many
/// names.
fn mistakes(asked: &[char], name: &[char]) -> usize {
    let is_start = |at: usize| name.get(at) == asked.first() && (at == 0 || !name[at - 1].is_alphanumeric());
    let start = |at: usize| if is_start(at) { 0 } else { asked.len() };
    // By the end of the part: the mistakes in the characters of `asked` so far, and in all but the last of them.
    let (mut before, mut row) = (Vec::new(), (0..=name.len()).map(start).collect::<Vec<usize>>());
    for (i, letter) in asked.iter().enumerate() {
        let mut next = vec![row[0] + 1];
        for (j, other) in name.iter().enumerate() {
            let changed = row[j] + usize::from(letter != other);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *letter == name[j - 1] && asked[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_few_mistakes_are_near() {
        let names = ["Main Thread", "com.apple.main-thread", "worker", "", "worker 2"];
        let near = |asked| nearest(asked, names.into_iter());
        assert_eq!(near("mian"), ["Main Thread", "com.apple.main-thread"]);
        assert_eq!(near("Wroker"), ["worker", "worker 2"]);
        assert_eq!(near("main thraed"), ["Main Thread", "com.apple.main-thread"]);
        assert_eq!(near("/wurker/"), ["worker", "worker 2"]);
        assert_eq!(near("worker(void*)"), ["worker"]);
        for nothing in ["zzz", "ab", "7", ""] {
            assert_eq!(near(nothing), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn lists_say_how_much_more_there_is() {
        assert_eq!(first_of(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(first_of(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e, … 2 more");
    }
}
