//! Folds names to a canonical spelling for comparison: `Björn`, `björn` with a separate diaeresis, `BJÖRN` and `Bj%C3%B6rn` are the same name.
//!
//! Folded letters are lowercase and have no marks, so `Bjorn` is the same name too. It is better to replace too many names than too few.

use unicode_normalization::char::decompose_canonical;

/// A folded letter, and its start in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) folded: char,
    pub(super) start: usize,
    /// The end of the letter, including its marks.
    pub(super) end: usize,
}

pub(super) fn fold(text: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((char, end)) = next(text, at) {
        if is_mark(char) {
            if let Some(last) = letters.last_mut() {
                last.end = end;
            }
        } else {
            add_letters(char, |folded| letters.push(Letter { folded, start: at, end }));
        }
        at = end;
    }
    letters
}

/// Returns only the folded letters.
pub(super) fn folded(text: &str) -> Vec<char> {
    fold(text).into_iter().map(|letter| letter.folded).collect()
}

/// Returns the character at an offset, decoded if it is percent-encoded, and the offset after it.
fn next(text: &str, at: usize) -> Option<(char, usize)> {
    let char = text[at..].chars().next()?;
    if char != '%' {
        return Some((char, at + char.len_utf8()));
    }
    let encoded: Vec<u8> = (0..4).map_while(|index| percent(text.as_bytes(), at + 3 * index)).collect();
    // The shortest prefix that is valid UTF-8 is one character.
    let decoded = (1..=encoded.len()).find_map(|length| {
        let char = std::str::from_utf8(&encoded[..length]).ok()?.chars().next()?;
        Some((char, at + 3 * length))
    });
    Some(decoded.unwrap_or(('%', at + 1)))
}

/// Decodes a percent-encoded byte such as `%C3`.
fn percent(bytes: &[u8], at: usize) -> Option<u8> {
    let digits = bytes.get(at..at + 3)?.strip_prefix(b"%")?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(digits[0])? * 16 + digit(digits[1])?) as u8)
}

/// True for marks that follow their letter.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Adds the letters of a character in lower case and without marks. A Hangul syllable consists of several letters.
fn add_letters(char: char, mut add: impl FnMut(char)) {
    match char {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => add('\''),
        '\u{a0}' | '\u{202f}' => add(' '),
        _ => decompose_canonical(char, |part| match part {
            mark if is_mark(mark) => {}
            'ß' | 'ẞ' => "ss".chars().for_each(&mut add),
            letter => letter.to_lowercase().for_each(&mut add),
        }),
    }
}

/// True for a Hangul letter that does not start a syllable.
pub(super) fn ends_syllable(folded: char) -> bool {
    matches!(folded, '\u{1160}'..='\u{11ff}')
}

/// True for scripts that do not separate words with spaces (Thai, Lao, Tibetan, Burmese, Khmer, kana, ideographs), and for Hangul, in which
/// particles follow a name directly.
pub(super) fn has_no_spaces(folded: char) -> bool {
    matches!(folded,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        folded(text).into_iter().collect()
    }

    #[test]
    fn spellings_of_one_name_are_one() {
        for (name, others) in [
            ("björn", &["Björn", "BJÖRN", "Bjo\u{308}rn", "Bj%C3%B6rn", "bjo%CC%88rn"][..]),
            ("jane's iphone", &["Jane’s iPhone", "Jane's%20iPhone", "Jane\u{2019}s\u{a0}iPhone"]),
            ("がぎ", &["\u{304b}\u{3099}\u{304d}\u{3099}", "%E3%81%8C%E3%81%8E"]),
            ("ポ", &["\u{30db}\u{309a}"]),
            ("한글", &["\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"]),
            ("Йорг", &["\u{438}\u{306}орг"]),
            ("Ἕλλη", &["Ἕλλη"]),
            ("tiếng", &["tie\u{302}\u{301}ng", "TIẾNG"]),
        ] {
            for other in others {
                assert_eq!(spelled(name), spelled(other), "{name} {other}");
            }
        }
        assert_ne!(spelled("jane"), spelled("jan"));
    }

    #[test]
    fn letters_know_their_bytes() {
        let text = "a%C3%B6e\u{301}%zz";
        let bytes: Vec<(char, &str)> =
            fold(text).iter().map(|letter| (letter.folded, &text[letter.start..letter.end])).collect();
        assert_eq!(bytes, [('a', "a"), ('o', "%C3%B6"), ('e', "e\u{301}"), ('%', "%"), ('z', "z"), ('z', "z")]);
    }
}
