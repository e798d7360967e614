//! Names as they are typed: parts of names, regular expressions, and what they turned out to mean.

use std::collections::{BTreeSet, HashSet};

use regex::Regex;
use traceparse::profile::{Matcher, Profile};

use crate::arguments::SelectionArgs;
use crate::{note_once, warning};

/// The names that a note lists.
const LISTED: usize = 5;

/// A name on the command line: `/REGEX/`, or a whole name, which is a part of names where nothing has it.
pub(crate) fn parse_name(text: &str) -> Result<Matcher, String> {
    let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    match inner {
        _ if text.is_empty() => Err("an empty name would match everything; /^$/ matches what has no name".to_owned()),
        Some("") => Err("an empty regular expression would match everything".to_owned()),
        Some(pattern) => {
            let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
            Ok(Matcher::pattern(text, move |name| regex.is_match(name)))
        }
        None => Ok(Matcher::part(text)),
    }
}

/// A thing that a name matches.
struct Matched {
    /// True if the name is this thing's whole name or number.
    is_exact: bool,
    /// The name as notes show it.
    label: String,
}

/// Says what names of filters mean that are not whole ones, and which mean nothing.
pub(crate) fn note_names(profile: &Profile, args: &SelectionArgs) {
    let names = || profile.process_ids().map(|id| profile.string(profile.process(id).name));
    for matcher in &args.process {
        tell("--process", "process", matcher, processes(profile, matcher), names());
    }
    let names = || profile.thread_ids().map(|id| profile.string(profile.thread(id).name));
    for matcher in &args.thread {
        tell("--thread", "thread", matcher, threads(profile, matcher), names());
    }
    if args.only_main_thread {
        note_main_threads(threads(profile, &Matcher::main_thread()));
    }
    let names = || profile.binary_ids().map(|id| profile.string(profile.binary(id).name));
    for (option, matchers) in [("--binary", &args.binary), ("--leaf-binary", &args.leaf_binary)] {
        for matcher in matchers {
            tell(option, "binary", matcher, binaries(profile, matcher), names());
        }
    }
}

fn processes(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let matched = matcher.processes(profile).into_iter().map(|id| {
        let (process, name) = (profile.process(id), profile.string(profile.process(id).name));
        let pid = process.pid.map_or_else(String::new, |pid| format!(" ({pid})"));
        Matched { is_exact: matcher.is_exact(process.pid, name), label: format!("{}{pid}", named(name)) }
    });
    matched.collect()
}

fn threads(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let matched = matcher.threads(profile).into_iter().map(|id| {
        let (thread, name) = (profile.thread(id), profile.string(profile.thread(id).name));
        let process = profile.string(profile.process(thread.process).name);
        Matched { is_exact: matcher.is_exact(thread.tid, name), label: format!("{} ({})", named(name), named(process)) }
    });
    matched.collect()
}

fn binaries(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let matched = matcher.binaries(profile).into_iter().map(|id| {
        let binary = profile.binary(id);
        let [name, path] = [binary.name, binary.path].map(|text| profile.string(text));
        let is_exact = matcher.is_exact(None, name) || matcher.is_exact(None, path);
        Matched { is_exact, label: named(name).to_owned() }
    });
    matched.collect()
}

fn named(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

/// Says what a name means, unless it is what it says.
fn tell<'p>(option: &str, kind: &str, matcher: &Matcher, matched: Vec<Matched>, names: impl Iterator<Item = &'p str>) {
    let option = format!("{option} '{}'", matcher.text());
    if !matched.is_empty() {
        return note_matched(&option, &matched);
    }
    let nearest = match nearest(matcher.text(), names).as_slice() {
        [] => String::new(),
        names => format!("; the nearest: {}", quoted(names)),
    };
    warning(&format!("{option} matches no {kind}{nearest}"));
}

fn note_main_threads(matched: Vec<Matched>) {
    if matched.is_empty() {
        warning("--only-main-thread: no thread is named Main Thread or main, and nothing else tells which one it is");
    }
    note_matched("--only-main-thread", &matched);
}

fn note_matched(option: &str, matched: &[Matched]) {
    if matched.iter().any(|thing| !thing.is_exact) {
        let mut seen = HashSet::new();
        let labels = matched.iter().map(|thing| thing.label.as_str()).filter(|&label| seen.insert(label));
        note_once(&format!("{option}: {}", first_of(&labels.collect::<Vec<_>>())));
    }
}

/// The first names of a list, and how many more there are.
pub(crate) fn first_of(names: &[&str]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, … {more} more") } else { shown }
}

pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// The names most like `asked`, at most three, the most alike first: those some part of which has nearly the same letters.
pub(crate) fn nearest<'p>(asked: &str, names: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    const NEAREST: usize = 3;
    let text = asked.trim_matches('/').to_lowercase();
    let asked: Vec<char> = text.chars().collect();
    // Of three letters, one is a misspelling; two are another word.
    let most = asked.len() / 3;
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty() && !asked.is_empty()).collect();
    let near = names.into_iter().filter_map(|name| {
        let lower = name.to_lowercase();
        // A function with its parameters, say, where it is recorded without them.
        let is_part = lower.len() > 3 && text.starts_with(&lower);
        let mistakes = if is_part { most } else { mistakes(&asked, &lower.chars().collect::<Vec<_>>()) };
        (mistakes <= most).then_some((mistakes, name.len(), name))
    });
    let mut near: Vec<(usize, usize, &str)> = near.collect();
    near.sort_unstable();
    near.into_iter().take(NEAREST).map(|(.., name)| name).collect()
}

/// The number of letters to add, remove, change, or exchange with their neighbour to make `asked` of some part of `name`, which starts
/// with the first letter of a word that both have: that is rarely mistyped, and anything else is like many names.
fn mistakes(asked: &[char], name: &[char]) -> usize {
    let is_start = |at: usize| name.get(at) == asked.first() && (at == 0 || !name[at - 1].is_alphanumeric());
    let start = |at: usize| if is_start(at) { 0 } else { asked.len() };
    // By the end of the part: mistakes in the letters of `asked` so far, and in those before its last letter.
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
