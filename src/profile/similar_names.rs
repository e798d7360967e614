//! Suggests names for a mistyped one.

use std::collections::BTreeSet;

/// Returns up to three names similar to `asked`, most similar first: a part of each name is nearly the same as `asked`. Ignores slashes around
/// `asked`, as around a regular expression.
pub(crate) fn similar_names<'p>(asked: &str, names: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    const NEAREST: usize = 3;
    /// No typo is looked for in longer names, since the cost grows with the product of both lengths.
    const LONGEST: usize = 200;
    let text = asked.trim_matches('/').to_lowercase();
    let asked: Vec<char> = text.chars().collect();
    // One wrong character in three is a typo; two make a different word.
    let most = asked.len() / 3;
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty() && !asked.is_empty()).collect();
    let near = names.into_iter().filter_map(|name| {
        let lower = name.to_lowercase();
        // For example, a function typed with its parameters but recorded without them.
        let is_part = lower.len() > 3 && text.starts_with(&lower);
        let is_short = asked.len().max(lower.len()) <= LONGEST;
        let mistakes = match is_part {
            true => most,
            false => mistakes(&asked, &lower.chars().filter(|_| is_short).collect::<Vec<_>>()),
        };
        (mistakes <= most).then_some((mistakes, name.len(), name))
    });
    let mut near: Vec<(usize, usize, &str)> = near.collect();
    near.sort_unstable();
    near.into_iter().take(NEAREST).map(|(.., name)| name).collect()
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `asked` into a part of `name`. The part must begin at the
/// start of a word with the first character of `asked`, which is rarely mistyped; otherwise too many names would match.
fn mistakes(asked: &[char], name: &[char]) -> usize {
    let is_start = |at: usize| name.get(at) == asked.first() && (at == 0 || !name[at - 1].is_alphanumeric());
    let start = |at: usize| if is_start(at) { 0 } else { asked.len() };
    // By end of the part: the mistakes in `asked` so far, and without its last character.
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
        let near = |asked| similar_names(asked, names.into_iter());
        assert_eq!(near("mian"), ["Main Thread", "com.apple.main-thread"]);
        assert_eq!(near("Wroker"), ["worker", "worker 2"]);
        assert_eq!(near("main thraed"), ["Main Thread", "com.apple.main-thread"]);
        assert_eq!(near("/wurker/"), ["worker", "worker 2"]);
        assert_eq!(near("worker(void*)"), ["worker"]);
        for nothing in ["zzz", "ab", "7", ""] {
            assert_eq!(near(nothing), [""; 0], "{nothing}");
        }
    }
}
