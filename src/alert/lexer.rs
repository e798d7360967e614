//! Splits a rule into tokens.

use super::comparison::Comparison;
use super::subject::{AlertSubject, Kind};
use super::topic::{AlertError, Topic};
use super::unit::LimitUnit;

/// A part of a rule after the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// A word such as `self` or `p99.9`.
    Word(&'t str),
    /// A window such as `window(60s)`; never 0.
    Window(u32),
}

impl<'t> Part<'t> {
    /// The text of a word; `window` for a window.
    pub(super) fn word(self) -> &'t str {
        match self {
            Self::Word(word) => word,
            Self::Window(_) => "window",
        }
    }
}

/// The unread rest of a rule. White space before each token is skipped.
pub(super) struct Lexer<'t> {
    rest: &'t str,
    topic: &'t Topic,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(rest: &'t str, topic: &'t Topic) -> Self {
        Self { rest, topic }
    }

    pub(super) fn beginning(&mut self) -> Result<(AlertSubject, Vec<Part<'t>>, Comparison), AlertError> {
        let start = self.rest();
        let word = self.word();
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == word);
        let is_unknown = word.is_empty() || word != "window" && kind.is_none() && self.rest().starts_with('(');
        if is_unknown {
            return Err(self.topic.error(if word.is_empty() { start } else { word }, self.topic.beginning));
        }
        let mut parts = Vec::new();
        let subject = match kind {
            Some(kind) => self.name_of(kind)?,
            None if word == "total" => AlertSubject::Total,
            None => {
                parts.push(self.part(word)?);
                AlertSubject::Run
            }
        };
        while self.take('.') {
            let rest = self.rest();
            match self.word() {
                "" => return Err(self.topic.error(rest, "a word, which follows a dot")),
                word => parts.push(self.part(word)?),
            }
        }
        let rest = self.rest();
        let find = |comparison: &Comparison| rest.starts_with(comparison.sign());
        let wanted = "a dot and a word, or a comparison with >, >=, < or <=";
        let comparison = Comparison::ALL.into_iter().find(find).ok_or_else(|| self.topic.error(rest, wanted))?;
        self.split(comparison.sign().len());
        Ok((subject, parts, comparison))
    }

    /// Reads the name of a subject in parentheses, or a star.
    fn name_of(&mut self, kind: Kind) -> Result<AlertSubject, AlertError> {
        let (rest, topic) = (self.rest(), self.topic);
        let is_open = self.take('(');
        let subject = match is_open && self.take('*') {
            true => Some(AlertSubject::Each(kind)),
            false => self.name().filter(|name| is_open && !name.is_empty()).map(|name| AlertSubject::Named(kind, name)),
        };
        let wanted = "a name in double quotes and parentheses, with \\\" and \\\\ for \" and \\, or (*)";
        subject.filter(|_| self.take(')')).ok_or_else(|| topic.error(rest, wanted))
    }

    /// Reads the part that begins with a word.
    fn part(&mut self, word: &'t str) -> Result<Part<'t>, AlertError> {
        let rest = self.rest();
        if word != "window" || !self.take('(') {
            return Ok(Part::Word(word));
        }
        let digits = self.word();
        let number = digits.strip_suffix('s');
        if number.is_none() {
            self.take('s');
        }
        let seconds = number.unwrap_or(digits).parse().ok().filter(|&seconds: &u32| seconds > 0 && self.take(')'));
        Ok(Part::Window(seconds.ok_or_else(|| self.topic.error(rest, "a number of seconds, such as window(60s)"))?))
    }

    /// Reads the limit, which `wanted` describes. `accept` converts it, or rejects it with `None`.
    pub(super) fn limit<T>(
        &mut self,
        wanted: &str,
        accept: impl FnOnce(f64, LimitUnit) -> Option<T>,
    ) -> Result<T, AlertError> {
        let text = self.rest();
        let number = self.number();
        let unit = LimitUnit::parse(self.rest());
        let scaled = number.zip(unit).and_then(|(number, (unit, scale))| Some((scaled(number, scale)?, unit)));
        let limit = scaled.filter(|(number, _)| number.is_finite()).and_then(|(number, unit)| accept(number, unit));
        limit.ok_or_else(|| self.topic.error(text, wanted))
    }

    fn rest(&self) -> &'t str {
        self.rest.trim_start()
    }

    /// Reads a character, if it is next.
    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads letters, digits, `-` and `_`, and dots before digits: `p99.9` is one word. Empty if something else is next.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_digit_at = |at: usize| rest[at..].starts_with(|c: char| c.is_ascii_digit());
        let is_inside = |at: usize, c: char| match c {
            '.' => at > 0 && is_digit_at(at + 1),
            c => c.is_alphanumeric() || matches!(c, '-' | '_'),
        };
        let end = rest.char_indices().find(|&(at, c)| !is_inside(at, c)).map_or(rest.len(), |(at, _)| at);
        self.split(end)
    }

    /// Reads a word, or a name in double quotes, in which `\"` is a quote and `\\` a backslash. Returns `None` for any other escape: otherwise, a
    /// pasted name that contains a backslash would become a different name.
    fn name(&mut self) -> Option<String> {
        let Some(inner) = self.rest().strip_prefix('"') else { return Some(self.word().to_owned()) };
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

    /// The digits of a number that is not below zero, and finite.
    fn number(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let unsigned = rest.strip_prefix('+').unwrap_or(rest);
        let digits = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let end = rest.len() - unsigned.len() + digits;
        let end = end + exponent(&rest[end..]);
        rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(self.split(end))
    }

    fn split(&mut self, at: usize) -> &'t str {
        let (read, rest) = self.rest().split_at(at);
        self.rest = rest;
        read
    }
}

/// Multiplies a decimal number. The decimal point moves before the number is rounded to a double: 2.01 ms are 2,010,000 ns, and not 2.01 as
/// a double times a million.
fn scaled(number: &str, factor: u64) -> Option<f64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (mut rest, mut exponent) = (factor, exponent.parse::<i32>().ok()?);
    while rest.is_multiple_of(10) {
        (rest, exponent) = (rest / 10, exponent.checked_add(1)?);
    }
    Some(format!("{mantissa}e{exponent}").parse::<f64>().ok()? * rest as f64)
}

/// The length of the exponent at the start: `e3`, `E-12`; 0 if there is none.
fn exponent(text: &str) -> usize {
    let Some(signed) = text.strip_prefix(['e', 'E']) else { return 0 };
    let unsigned = signed.strip_prefix(['+', '-']).unwrap_or(signed);
    let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits == 0 { 0 } else { text.len() - unsigned.len() + digits }
}
