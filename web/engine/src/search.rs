//! Interprets searches. A text is a regular expression if it is valid and matches something. Otherwise it is plain text if a name contains it, so
//! that pasted names are found: `filter(float*, float)` is also a valid regular expression, but matches other names.

use regex::Regex;
use traceparse::profile::Profile;

use crate::wire::Refused;

/// A search with its interpretation, which is the same in all recordings of a page.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The regular expression with which the command finds the same names.
    pub(crate) pattern: String,
    pub(crate) is_plain: bool,
    /// By recording and function: 1 if its name matches.
    pub(crate) matches: Vec<Vec<u8>>,
}

impl Reading {
    fn of(profiles: &[&Profile], pattern: String, is_plain: bool) -> Result<Self, Refused> {
        let regex = compile(&pattern)?;
        let of_one = |profile: &&Profile| {
            let names = profile.function_ids().map(|id| profile.function_name(id));
            names.map(|name| u8::from(regex.is_match(name))).collect()
        };
        Ok(Self { pattern, is_plain, matches: profiles.iter().map(of_one).collect() })
    }

    fn has_match(&self) -> bool {
        self.matches.iter().any(|of_one| of_one.contains(&1))
    }
}

/// Interprets the typed text.
pub(crate) fn read(profiles: &[&Profile], typed: &str) -> Result<Reading, Refused> {
    let as_pattern = Reading::of(profiles, smart_case(typed, typed), false);
    match &as_pattern {
        Ok(reading) if reading.has_match() => as_pattern,
        _ => match Reading::of(profiles, smart_case(&escaped(typed), typed), true) {
            Ok(reading) if reading.has_match() => Ok(reading),
            _ => as_pattern,
        },
    }
}

/// Makes a search without capital letters ignore case, unless its flags specify otherwise.
fn smart_case(pattern: &str, typed: &str) -> String {
    let says_case =
        typed.strip_prefix("(?").and_then(|rest| rest.split_once(')')).is_some_and(|(flags, _)| flags.contains('i'));
    if says_case || has_capital(typed) { pattern.to_owned() } else { format!("(?i){pattern}") }
}

/// True if a pattern contains a literal capital letter, not just one in an escape such as `\W`.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char == '\\' {
            chars.next();
        } else if char.is_uppercase() {
            return true;
        }
    }
    false
}

/// Compiles a regular expression with the same syntax as in the command.
pub(crate) fn compile(pattern: &str) -> Result<Regex, Refused> {
    Regex::new(pattern).map_err(|error| {
        // The last line contains the reason; the lines before show the position.
        let error = error.to_string();
        let why = error.lines().last().map_or("", |line| line.strip_prefix("error: ").unwrap_or(line));
        Refused(format!("this regular expression cannot be used: {why}"))
    })
}

/// Escapes a text for use as a pattern. Characters that are special only in optional modes are not escaped.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for char in text.chars() {
        if r"\.+*?()|[]{}^$".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}
