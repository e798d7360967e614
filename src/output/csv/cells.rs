//! Writes text in cells verbatim, or protects it from spreadsheets that might evaluate it as a formula.

use std::borrow::Cow;

use crate::output::inert::acts;

/// The form of text in cells. Numbers are the same in both forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cells {
    /// Verbatim, for programs.
    #[default]
    AsTheyAre,
    /// With an apostrophe before text that a spreadsheet would evaluate as a formula (`=`, `+`, `-`, `@` and their full-width forms, also
    /// after spaces and invisible characters), and before leading white space (tab, line breaks, a null byte). `-[Widget draw:]` becomes `'-[Widget draw:]`.
    ForSpreadsheets,
}

impl Cells {
    /// Returns the text of a cell, without quotes.
    ///
    /// Some spreadsheets use `;` or tabs as separators and split the text there, so the part after each of these characters is also protected.
    pub(super) fn text(self, text: &str) -> Cow<'_, str> {
        let mut starts: Vec<usize> = Vec::new();
        if self == Self::ForSpreadsheets {
            starts.extend(Some(0).filter(|_| starts_formula(text)));
            let behind = text.match_indices([';', '\t', '\n', '\r']).map(|(at, _)| at + 1);
            starts.extend(behind.filter(|&at| starts_formula(&text[at..])));
        }
        if starts.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + starts.len());
        let mut from = 0;
        for at in starts {
            out.push_str(&text[from..at]);
            out.push('\'');
            from = at;
        }
        Cow::Owned(out + &text[from..])
    }
}

/// True if a spreadsheet may evaluate a cell as a formula. Quotes are CSV syntax, and spreadsheets may ignore spaces and invisible characters
/// before a formula.
fn starts_formula(cell: &str) -> bool {
    let formula = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let is_ignored = |c: char| c == '"' || c.is_whitespace() || acts(c) || is_joiner(c);
    cell.starts_with(['\t', '\r', '\n', '\0']) || cell.trim_start_matches(is_ignored).starts_with(formula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text() {
        for (text, safe) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-[Widget draw:]", "'-[Widget draw:]"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t'=1"),
            ("\r=1", "'\r'=1"),
            ("\"=1", "'\"=1"),
            (" =1", "' =1"),
            ("\u{a0}=1", "'\u{a0}=1"),
            ("\u{200b}\u{feff}=1", "'\u{200b}\u{feff}=1"),
            ("\u{3000}\u{200d}\u{202e}@1", "'\u{3000}\u{200d}\u{202e}@1"),
            ("a;\u{feff}+1", "a;'\u{feff}+1"),
            ("＝1", "'＝1"),
            ("main;=1", "main;'=1"),
            ("a\n@b", "a\n'@b"),
        ] {
            assert_eq!(Cells::ForSpreadsheets.text(text), safe);
            assert_eq!(Cells::AsTheyAre.text(text), text);
        }
        for text in ["", "main", "a = b", "operator-(int)", "f(T = int; U)", "日本", "a;b", "'x'"] {
            assert!(matches!(Cells::ForSpreadsheets.text(text), Cow::Borrowed(same) if same == text));
        }
    }
}
