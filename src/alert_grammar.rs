//! The grammar of alert rules, for comparisons (`report::diff`), fleets (`fleet`) and intervals (`intervals`).
//!
//! ```text
//! rule       = path comparison number [ unit ]
//! path       = subject { "." part } | part { "." part }
//! subject    = "total" | kind "(" ( name | "*" ) ")"
//! kind       = "process" | "thread" | "binary" | "function" | "interval"
//! part       = word | "window" "(" digits [ "s" ] ")"
//! comparison = ">" | ">=" | "<" | "<="
//! number     = [ "+" ] digits [ "." digits ] [ "e" [ "+" | "-" ] digits ]
//! unit       = "%" | "ns" | "us" | "ms" | "s" | "min" | "B" | "KB" | "KiB" | … | [ prefix ] counted [ "/s" ]
//! prefix     = "k" | "K" | "M" | "G" | "T"
//! counted    = "cycles" | "events" | "samples"
//! name       = word | '"' { character | '\"' | '\\' } '"'
//! ```
//!
//! All of these may be separated by spaces. A name is not empty. If only the other command has a rule, the error reports that.

use std::fmt;

use crate::units::{UNITS_OF_SIZE, UNITS_OF_TIME, Unit};

/// The name of the preset for the limit that iOS sets on apps.
pub(crate) const SYSTEM_CPU_LIMIT: &str = "system-cpu-limit";

/// The kinds of things that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Process,
    Thread,
    Binary,
    Function,
    Interval,
}

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("process", Self::Process),
        ("thread", Self::Thread),
        ("binary", Self::Binary),
        ("function", Self::Function),
        ("interval", Self::Interval),
    ];
}

/// The subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The complete recording or run.
    Total,
    /// Everything of a name, which is not empty.
    Named(Kind, String),
    /// Each one of a kind.
    Each(Kind),
}

/// A word after the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// `self`, `p99.9`.
    Word(&'t str),
    /// `window(60s)`; not 0.
    Window(u32),
}

impl<'t> Part<'t> {
    /// The text of a word; `window` of a window.
    pub(crate) fn word(self) -> &'t str {
        match self {
            Self::Word(word) => word,
            Self::Window(_) => "window",
        }
    }
}

/// The parts of a rule, before checking that they fit together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule<'t> {
    /// Its subject; `None` if it begins with a part.
    pub(crate) subject: Option<Subject>,
    /// The parts before the comparison; at least one if there is no subject.
    pub(crate) parts: Vec<Part<'t>>,
    pub(crate) comparison: Comparison,
    pub(crate) limit: Limit<'t>,
}

/// Reads a rule.
///
/// # Errors
/// If the string is not a rule. The error names the part that was not understood, and what may be there instead.
pub(crate) fn parse<'t>(text: &'t str, dialect: &Dialect) -> Result<Rule<'t>, AlertError> {
    let mut lexer = Lexer::new(text);
    let start = lexer.rest();
    let word = lexer.word();
    if word.is_empty() {
        return Err(dialect.error(start, dialect.subjects));
    }
    let subject = subject(word, &mut lexer, dialect)?;
    let mut parts = Vec::new();
    if subject.is_none() {
        parts.push(part(word, &mut lexer, dialect)?);
    }
    let comparison = loop {
        if let Some(comparison) = lexer.comparison() {
            break comparison;
        }
        if !lexer.take('.') {
            return Err(dialect.error(lexer.rest(), "a dot and a word, or a comparison with >, >=, < or <="));
        }
        let rest = lexer.rest();
        match lexer.word() {
            "" => return Err(dialect.error(rest, "a word, which follows a dot")),
            word => parts.push(part(word, &mut lexer, dialect)?),
        }
    };
    Ok(Rule { subject, parts, comparison, limit: limit(&mut lexer, dialect)? })
}

/// The subject that begins with a word; `None` for another word.
fn subject(word: &str, lexer: &mut Lexer<'_>, dialect: &Dialect) -> Result<Option<Subject>, AlertError> {
    if word == "total" {
        return Ok(Some(Subject::Total));
    }
    let Some((_, kind)) = Kind::ALL.into_iter().find(|(name, _)| *name == word) else {
        let is_unknown = word != "window" && lexer.rest().starts_with('(');
        return if is_unknown { Err(dialect.error(word, dialect.subjects)) } else { Ok(None) };
    };
    let rest = lexer.rest();
    let error =
        || dialect.error(rest, "a name in double quotes and parentheses, with \\\" and \\\\ for \" and \\, or (*)");
    let is_open = lexer.take('(');
    let subject = match is_open && lexer.take('*') {
        true => Subject::Each(kind),
        false => Subject::Named(kind, lexer.name().filter(|name| is_open && !name.is_empty()).ok_or_else(error)?),
    };
    if lexer.take(')') { Ok(Some(subject)) } else { Err(error()) }
}

/// The part that begins with a word.
fn part<'t>(word: &'t str, lexer: &mut Lexer<'t>, dialect: &Dialect) -> Result<Part<'t>, AlertError> {
    let rest = lexer.rest();
    if word != "window" || !lexer.take('(') {
        return Ok(Part::Word(word));
    }
    let digits = lexer.word();
    let number = digits.strip_suffix('s');
    if number.is_none() {
        lexer.take('s');
    }
    let seconds = number.unwrap_or(digits).parse().ok().filter(|&seconds: &u32| seconds > 0 && lexer.take(')'));
    Ok(Part::Window(seconds.ok_or_else(|| dialect.error(rest, "a number of seconds, such as window(60s)"))?))
}

/// The reason why a string is not an alert rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertError(String);

impl fmt::Display for AlertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AlertError {}

/// The words of a command in errors.
pub(crate) struct Dialect {
    /// Rules that it judges, as examples.
    pub(crate) examples: &'static str,
    /// The beginning of its rules.
    pub(crate) subjects: &'static str,
    /// The limits that its rules may have.
    pub(crate) limits: &'static str,
    /// Its input: `two recordings`.
    pub(crate) input: &'static str,
    /// The command that judges the other rules.
    pub(crate) other: &'static str,
}

impl Dialect {
    /// Reports a string that no rule can contain.
    pub(crate) fn error(&self, found: &str, wanted: &str) -> AlertError {
        AlertError(format!("{found:?} is not {wanted}; write a rule such as: {}", self.examples))
    }

    /// Reports a string that only rules of the other command can contain; `what` names it.
    pub(crate) fn elsewhere(&self, found: &str, what: &str) -> AlertError {
        AlertError(format!("{found:?} does not apply to {}; `{}` has {what}", self.input, self.other))
    }
}

/// Signs that begin with another one come first.
const SIGNS: [(&str, Comparison); 4] =
    [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Above), ("<", Comparison::Below)];

/// A rule of which a part was read. White space before each token is skipped.
struct Lexer<'t> {
    rest: &'t str,
}

impl<'t> Lexer<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text.trim() }
    }

    fn rest(&self) -> &'t str {
        self.rest.trim_start()
    }

    /// Reads a sign, if it is the next one.
    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Letters, digits, `-` and `_`, and dots in front of digits: `p99.9` is a word. Empty where something else is next.
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

    /// A word, or a name in double quotes, in which `\"` is a quote and `\\` a backslash. `None` with any other escape: otherwise, a pasted
    /// name with one backslash would become another name.
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

    /// A comparison.
    fn comparison(&mut self) -> Option<Comparison> {
        let rest = self.rest();
        let mut found = SIGNS.into_iter().filter_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, comparison)));
        let (rest, comparison) = found.next()?;
        self.rest = rest;
        Some(comparison)
    }

    /// A number that is not below zero, and finite.
    fn number(&mut self) -> Option<f64> {
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

#[cfg(feature = "fleet")]
impl Comparison {
    /// True where `value` is beyond `threshold`.
    pub(crate) fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
        }
    }

    /// True where large values are the bad ones.
    pub(crate) const fn is_upper(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

/// The number that another one is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit<'t> {
    /// The rule as typed.
    pub(crate) text: &'t str,
    /// In its unit: percent, nanoseconds, cycles, cycles per second …; not below zero, and finite.
    pub(crate) number: f64,
    pub(crate) unit: LimitUnit,
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitUnit {
    Plain,
    Percent,
    /// A weight in this unit.
    Weight(Unit),
    /// A weight per second in this unit.
    Rate(Unit),
}

const COUNTED: [(&str, Unit); 3] = [("cycles", Unit::Cycles), ("events", Unit::PmcEvents), ("samples", Unit::Samples)];
const PREFIXES: [(&str, f64); 6] = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// Reads the end of a rule.
fn limit<'t>(lexer: &mut Lexer<'t>, dialect: &Dialect) -> Result<Limit<'t>, AlertError> {
    let text = lexer.rest();
    let scaled = lexer.number().and_then(|number| unit(lexer.rest()).map(|(unit, scale)| (number * scale, unit)));
    let (number, unit) =
        scaled.filter(|(number, _)| number.is_finite()).ok_or_else(|| dialect.error(text, dialect.limits))?;
    Ok(Limit { text, number, unit })
}

/// A unit and what a number of it is multiplied by.
fn unit(text: &str) -> Option<(LimitUnit, f64)> {
    match text {
        "" => return Some((LimitUnit::Plain, 1.0)),
        "%" => return Some((LimitUnit::Percent, 1.0)),
        _ => {}
    }
    let scale = |units: &[(&str, u64)], text: &str| Some(units.iter().find(|(name, _)| *name == text)?.1 as f64);
    if let Some(scale) = scale(&UNITS_OF_TIME, text) {
        return Some((LimitUnit::Weight(Unit::Nanoseconds), scale));
    }
    let (counted, is_rate) = text.strip_suffix("/s").map_or((text, false), |counted| (counted, true));
    let limit = |unit| if is_rate { LimitUnit::Rate(unit) } else { LimitUnit::Weight(unit) };
    if let Some(scale) = scale(&UNITS_OF_SIZE, counted) {
        return Some((limit(Unit::Bytes), scale));
    }
    COUNTED.into_iter().find_map(|(name, unit)| {
        let prefix = counted.strip_suffix(name)?.trim_end();
        let (_, scale) = PREFIXES.into_iter().find(|(name, _)| *name == prefix)?;
        Some((limit(unit), scale))
    })
}
