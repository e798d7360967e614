//! Parses rules about names ([`RedactRule::parse_rules`](super::RedactRule::parse_rules)), one per line.
//!
//! ```text
//! # Names of a product that is not out yet.
//! function /Tangerine(\w*)/ => Feature$1
//! function /^SecretSauce::/ => secret-{n}
//! binary   "TangerineKit"   => Kit
//! thread   /^com\.tangerine\./ => app.
//! signpost /Tangerine/      => Feature
//! ```

use regex::{Regex, RegexBuilder};

use super::{RedactRule, RedactedKind};
use crate::memory::{MemoryBudget, Reservation};

const KINDS: [RedactedKind; 4] =
    [RedactedKind::Function, RedactedKind::Binary, RedactedKind::Thread, RedactedKind::Signpost];

/// The approximate memory of a rule in addition to its text and its regular expression, in bytes.
const RULE: u64 = 256;

impl RedactRule {
    /// Parses rules, one per line, as in the example in `docs/redaction.md`. Their memory is charged to the budget.
    ///
    /// # Errors
    /// If a line is not a rule, there are no rules, or they exceed the budget. The message contains no name from the text, since names may be
    /// secret.
    pub fn parse_rules(text: &str, budget: &MemoryBudget) -> Result<Vec<Self>, String> {
        let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().map(str::trim).zip(1..);
        let rules = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let rules: Vec<Self> =
            rules.map(|(line, number)| parse_rule(line, number, budget)).collect::<Result<_, String>>()?;
        if rules.is_empty() {
            Err("it contains no rule; write one per line, such as function /^Secret/ => Public".to_owned())
        } else {
            Ok(rules)
        }
    }
}

fn parse_rule(line: &str, number: usize, budget: &MemoryBudget) -> Result<RedactRule, String> {
    let wrong = |reason: &str| Err(format!("line {number}: {reason}"));
    let held = budget.reserve(RULE + 4 * line.len() as u64).map_err(|error| format!("line {number}: {error}"))?;
    const FORM: &str = "this is not a rule; write KIND /REGEX/ => REPLACEMENT, or KIND \"NAME\" => REPLACEMENT, such as function /^Secret/ => Public";
    let Some((left, replacement)) = line.rsplit_once(" =>") else { return wrong(FORM) };
    let Some((kind, pattern)) = left.trim().split_once(char::is_whitespace) else { return wrong(FORM) };
    let Some(kind) = KINDS.into_iter().find(|known| known.name() == kind) else {
        return wrong("the first word is not a kind; use function, binary, thread or signpost");
    };
    let replacement = replacement.trim().to_owned();
    if replacement.is_empty() {
        return wrong("the replacement is empty; use a word that shows that a name was replaced");
    }
    let pattern = pattern.trim();
    let inner = |quote: char| pattern.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let text = format!("{} of line {number}", kind.name());
    match (inner('/'), inner('"')) {
        (Some(""), _) | (_, Some("")) => wrong("an empty name would match everything"),
        (Some(regex), _) => {
            let (regex, memory) = compile(regex, budget, number)?;
            check_groups(&regex, &replacement).map_err(|reason| format!("line {number}: {reason}"))?;
            let replace = move |name: &str| {
                let _held = (&held, &memory);
                regex.is_match(name).then(|| named(regex.replace_all(name, replacement.as_str()).into_owned()))
            };
            Ok(RedactRule::new(kind, text, replace))
        }
        (None, Some(whole)) => {
            let whole = whole.to_owned();
            let replace = move |name: &str| {
                let _held = &held;
                (name == whole).then(|| replacement.clone())
            };
            Ok(RedactRule::new(kind, text, replace))
        }
        (None, None) => wrong(FORM),
    }
}

/// Compiles a regular expression and charges its memory to the budget: the smallest power of two that is sufficient.
fn compile(pattern: &str, budget: &MemoryBudget, line: usize) -> Result<(Regex, Reservation), String> {
    const LARGEST: usize = 16 << 20;
    let mut size = 16 << 10;
    loop {
        match RegexBuilder::new(pattern).size_limit(size).build() {
            Err(regex::Error::CompiledTooBig(_)) if size < LARGEST => size *= 2,
            compiled => {
                let held = budget.reserve(size as u64).map_err(|error| format!("line {line}: {error}"))?;
                let regex = compiled.map_err(|error| format!("line {line}: {}", without_pattern(&error)))?;
                return Ok((regex, held));
            }
        }
    }
}

/// Describes the error of a regular expression without the expression itself, which may contain a secret name.
fn without_pattern(error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().find_map(|line| line.strip_prefix("error: "));
    // The error marks the position below the pattern, which is indented by four.
    let place =
        text.lines().find(|line| line.trim_start().starts_with('^')).and_then(|line| line.find('^')?.checked_sub(4));
    match (reason, place) {
        (Some(reason), Some(place)) => {
            format!("the regular expression is invalid at character {}: {reason}", place + 1)
        }
        (Some(reason), None) => format!("the regular expression is invalid: {reason}"),
        (None, _) => "the regular expression is invalid or too large".to_owned(),
    }
}

/// Rejects references to groups that the regular expression lacks, since they would be replaced with nothing. `$1x` is the group `1x`.
fn check_groups(regex: &Regex, replacement: &str) -> Result<(), String> {
    for rest in replacement.split('$').skip(1) {
        let is_name = |char: &char| char.is_ascii_alphanumeric() || *char == '_';
        let group: String = match rest.strip_prefix('{') {
            Some(rest) => rest.chars().take_while(|char| *char != '}').collect(),
            None => rest.chars().take_while(is_name).collect(),
        };
        let is_known = match group.parse::<usize>() {
            Ok(number) => number < regex.captures_len(),
            Err(_) => group.is_empty() || regex.capture_names().flatten().any(|name| name == group),
        };
        if !is_known {
            return Err(format!(
                "the regular expression has no group ${group}; write ${{1}}x for group 1 followed by x"
            ));
        }
    }
    Ok(())
}

/// Replaces an empty name.
fn named(name: String) -> String {
    if name.is_empty() { "(redacted)".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(rule: &str, name: &str) -> Option<String> {
        parse_rule(rule, 1, &MemoryBudget::unlimited()).unwrap().replaced(name)
    }

    #[test]
    fn rules_replace_what_they_match() {
        assert_eq!(replaced("function /Tan(\\w+)/ => F$1", "a.Tango.Tanya").as_deref(), Some("a.Fgo.Fya"));
        assert_eq!(replaced("function /Tan(\\w+)/ => F", "a.b"), None);
        assert_eq!(replaced("binary \"Kit\" => K {n}", "Kit").as_deref(), Some("K {n}"));
        assert_eq!(replaced("binary \"Kit\" => K", "Kits"), None);
        assert_eq!(replaced("thread /a => b/ => c", "a => b").as_deref(), Some("c"));
        assert_eq!(replaced("signpost /(x?)y/ => $1", "y").as_deref(), Some("(redacted)"));
    }

    #[test]
    fn rejects_invalid_rules_with_their_line() {
        for (text, message) in [
            ("", "contains no rule"),
            ("# only this\n", "contains no rule"),
            ("function /a/ => b\nfunktion /a/ => b", "line 2"),
            ("\nfunction /(/ => b", "line 2"),
            ("function /a/ =>", "line 1"),
            ("function // => b", "line 1"),
            ("function a => b", "line 1"),
            ("function /a/ b", "line 1"),
            ("function /a/ => $1", "line 1"),
            ("function /(a)/ => $1x", "line 1"),
        ] {
            let error = RedactRule::parse_rules(text, &MemoryBudget::unlimited()).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn reports_errors_without_names() {
        for (rule, reason) in [
            ("function /Tangerine(/ => b", "at character 10: unclosed group"),
            ("Tangerine /a/ => b", "not a kind"),
            ("function /Tangerine{9999}{9999}/ => b", "too large"),
        ] {
            let error = RedactRule::parse_rules(rule, &MemoryBudget::unlimited()).expect_err(rule).to_string();
            assert!(error.contains(reason) && !error.contains("Tangerine"), "{rule}: {error}");
        }
    }
}
