//! Words that are never hidden, even if a person has this name: common words in code, and words that redaction itself writes.

use super::case_folding::has_no_spaces;
use super::pseudonyms::RedactedKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Only in paths: the word is short, or common in code.
    Paths,
    /// Everywhere except in system code, whose names are public. Processes often have the name of a framework.
    OwnTexts,
    /// Everywhere.
    Everywhere,
}

/// Common words in code, in lower case. They are not treated as names of people, even if a home folder has this name.
const WORDS_OF_CODE: &str = "\
    account action admin agent all alloc android any app apple application applications apps array art audio auto \
    base bash bin block bool box buffer build builder cache call case char chip ci circle class client code com \
    context copy core data date debug default delegate dev develop developer device dispatch docker document \
    documents double dylib error event file files float font frame frameworks free function game get grant group \
    guest handler home host image init input int item jenkins job kernel key lib library list local lock log loop \
    mac main map mark math max media memory message min mobile model name net network node objc object observer \
    operator org page path play player pool private process queue release render root run runner sandbox self \
    server service session set shared size skip stack start state std string swift system task test text thread \
    timer type user users usr vagrant value vector view will work worker";

/// Names that have a meaning in reports and belong to no person.
const NAMES_OF_CODE: [&str; 3] = ["main", "Main Thread", "start"];

/// A name with fewer letters is only replaced in paths. An ideograph or a syllable counts as two.
const FEW_LETTERS: usize = 3;

/// A number with fewer digits is too common to be a name.
const FEW_DIGITS: usize = 8;

/// Limits a short word, or a word that is common in code, to paths.
pub(super) fn reach_of(name: &str, reach: Reach) -> Reach {
    let is_of_code = || WORDS_OF_CODE.split(' ').any(|word| word == name.to_lowercase());
    if is_short(name) || is_of_code() { Reach::Paths } else { reach }
}

/// True for a name that is too short to be distinctive.
pub(super) fn is_short(name: &str) -> bool {
    let weight = |char| if is_syllable(char) { 2 } else { 1 };
    name.chars().map(weight).sum::<usize>() < FEW_LETTERS
}

/// True for ideographs, kana, and Hangul syllables: names often have only two of them.
fn is_syllable(char: char) -> bool {
    has_no_spaces(char) && char >= '\u{3005}' || matches!(char, '가'..='힣')
}

/// True for a name that has a meaning in reports.
pub(super) fn is_of_code(name: &str) -> bool {
    name.is_empty() || NAMES_OF_CODE.contains(&name)
}

/// True for a name that can be replaced inside other text. Counts cannot, and neither can the words that pseudonyms consist of, which would
/// be replaced again.
pub(super) fn is_name(text: &str) -> bool {
    let is_number = !text.chars().any(char::is_alphabetic);
    let is_count = is_number && text.chars().count() < FEW_DIGITS;
    !is_count && !is_like_pseudonym(text)
}

/// True for `user`, `path-12` and similar words.
fn is_like_pseudonym(text: &str) -> bool {
    let (kind, number) = text.split_once('-').unwrap_or((text, ""));
    RedactedKind::ALL.iter().any(|known| known.name().eq_ignore_ascii_case(kind))
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if the text may contain a pseudonym, so that another name may have become identical to it.
pub(super) fn may_have_pseudonym(text: &str) -> bool {
    text.contains('-')
        && RedactedKind::ALL
            .iter()
            .any(|kind| text.match_indices(kind.name()).any(|(at, name)| text[at + name.len()..].starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_code_are_found() {
        for word in ["max", "Max", "runner", "std", "work"] {
            assert_eq!(reach_of(word, Reach::Everywhere), Reach::Paths, "{word}");
        }
        for (name, reach) in [("jane", Reach::Everywhere), ("太郎", Reach::Everywhere), ("민준", Reach::Everywhere)]
        {
            assert_eq!(reach_of(name, Reach::Everywhere), reach, "{name}");
        }
        for name in ["明", "jo", "민"] {
            assert_eq!(reach_of(name, Reach::Everywhere), Reach::Paths, "{name}");
        }
    }

    #[test]
    fn counts_and_pseudonyms_are_no_names() {
        for text in ["1", "2026", "3-4", "user", "Path", "path-12", "process-1"] {
            assert!(!is_name(text), "{text}");
        }
        for text in ["jane", "mac-1", "user-jane", "1234567890123", "x1"] {
            assert!(is_name(text), "{text}");
        }
        assert!(may_have_pseudonym("a user-1") && !may_have_pseudonym("a-b user"));
    }
}
