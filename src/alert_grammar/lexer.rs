//! The words, names, numbers and signs of rules.

/// Signs that begin with another one come first.
const SIGNS: [(&str, Comparison); 4] =
    [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Above), ("<", Comparison::Below)];

/// A rule of which a part was read. White space before each token is skipped.
pub(super) struct Lexer<'t> {
    rest: &'t str,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text.trim() }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.rest.trim_start()
    }

    /// Reads a sign, if it is the next one.
    pub(super) fn take(&mut self, sign: char) -> bool {
        let rest = self.rest().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Letters, digits, `-` and `_`, and dots in front of digits: `p99.9` is a word. Empty where something else is next.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_digit_at = |at: usize| rest[at..].starts_with(|c: char| c.is_ascii_digit());
        let is_inside = |at: usize, c: char| match c {
            '.' => at > 0 && is_digit_at(at + 1),
            c => c.is_alphanumeric() || matches!(c, '-' | '_'),
        };
        let end = rest.char_indices().find(|&(at, c)| !is_inside(at, c)).map_or(rest.len(), |(at, _)| at);
        self.split(end)
    }

    /// A name in double quotes, in which `\"` is a quote and `\\` a backslash. `None` without quotes or with any other escape: otherwise, a
    /// pasted name with one backslash would become another name.
    pub(super) fn name(&mut self) -> Option<String> {
        let inner = self.rest().strip_prefix('"')?;
        let mut name = String::new();
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &inner[at + 1..];
                    return Some(name);
                }
                '\\' => name.push(chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
                c => name.push(c),
            }
        }
        None
    }

    /// A comparison.
    pub(super) fn comparison(&mut self) -> Option<Comparison> {
        let rest = self.rest();
        let mut found = SIGNS.into_iter().filter_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, comparison)));
        let (rest, comparison) = found.next()?;
        self.rest = rest;
        Some(comparison)
    }

    /// A number that is not below zero, and finite.
    pub(super) fn number(&mut self) -> Option<f64> {
        let rest = self.rest();
        let unsigned = rest.strip_prefix('+').unwrap_or(rest);
        let digits = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let end = rest.len() - unsigned.len() + digits;
        let end = end + exponent(&rest[end..]);
        let number = rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
        self.split(end);
        Some(number)
    }

    fn split(&mut self, at: usize) -> &'t str {
        let (read, rest) = self.rest().split_at(at);
        self.rest = rest;
        read
    }
}

/// The length of the exponent at the start: `e3`, `E-12`; 0 without an exponent.
fn exponent(text: &str) -> usize {
    let Some(signed) = text.strip_prefix(['e', 'E']) else { return 0 };
    let unsigned = signed.strip_prefix(['+', '-']).unwrap_or(signed);
    let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits == 0 { 0 } else { text.len() - unsigned.len() + digits }
}

/// The side of a threshold on which a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}
