//! The grammar of alert rules, for comparisons (`report::diff`) and fleets (`fleet`).
//!
//! ```text
//! rule       = path comparison number [ unit ]
//! path       = subject { "." part } | part { "." part }
//! subject    = "total" | kind "(" ( name | "*" ) ")"
//! kind       = "process" | "thread" | "binary" | "function"
//! part       = word | "window" "(" digits [ "s" ] ")"
//! comparison = ">" | ">=" | "<" | "<="
//! number     = [ "+" ] digits [ "." digits ] [ "e" [ "+" | "-" ] digits ]
//! unit       = "%" | "ns" | "us" | "µs" | "ms" | "s" | [ prefix ] counted [ "/s" ]
//! prefix     = "k" | "K" | "M" | "G" | "T"
//! counted    = "cycles" | "events" | "samples"
//! name       = '"' { character | '\"' | '\\' } '"'
//! ```
//!
//! All of these may be separated by spaces. A name is not empty. If only the other command has a rule, the error reports that.

mod dialect;
mod lexer;
mod limit;

pub use dialect::AlertError;
pub(crate) use dialect::Dialect;
pub(crate) use lexer::Comparison;
use lexer::Lexer;
pub(crate) use limit::{Limit, LimitUnit};

/// The name of the preset for the limit that iOS sets on apps.
pub(crate) const SYSTEM_CPU_LIMIT: &str = "system-cpu-limit";

/// The kinds of things that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Process,
    Thread,
    Binary,
    Function,
}

impl Kind {
    const ALL: [(&'static str, Self); 4] =
        [("process", Self::Process), ("thread", Self::Thread), ("binary", Self::Binary), ("function", Self::Function)];
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

/// A rule in parts, of which nothing says yet that they go together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule<'t> {
    /// Its subject; `None` where it begins with a part.
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
    Ok(Rule { subject, parts, comparison, limit: limit::limit(&mut lexer, dialect)? })
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
