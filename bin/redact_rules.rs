//! Rules about names (`--redact-rules`): one on a line.
//!
//! ```text
//! # Names of a product that is not out yet.
//! function /Tangerine(\w*)/ => Feature$1
//! function /^SecretSauce::/ => secret-{n}
//! binary   "TangerineKit"   => Kit
//! thread   /^com\.tangerine\./ => app.
//! signpost /Tangerine/      => Feature
//! ```

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use regex::{Regex, RegexBuilder};
use traceparse::redact::{RedactRule, RedactedKind};

use crate::resource_limits;
use crate::unchanged::read_whole;

const KINDS: [RedactedKind; 4] =
    [RedactedKind::Function, RedactedKind::Binary, RedactedKind::Thread, RedactedKind::Signpost];

/// About how many bytes a rule takes besides its text and its regular expression.
const RULE: u64 = 256;

/// The rules of a file.
pub(crate) fn read_rules(path: &Path) -> Result<Vec<RedactRule>> {
    let name = path.display();
    let bytes = read_whole(path, resource_limits::FILE_LIST)?;
    let text = String::from_utf8(bytes).with_context(|| format!("{name}: rules are UTF-8"))?;
    parse_rules(text.strip_prefix('\u{feff}').unwrap_or(&text)).with_context(|| format!("{name}: not redaction rules"))
}

fn parse_rules(text: &str) -> Result<Vec<RedactRule>> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let rules = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let rules: Vec<RedactRule> = rules
        .map(|(number, line)| parse_rule(line, number).with_context(|| format!("line {number}")))
        .collect::<Result<_>>()?;
    if rules.is_empty() {
        bail!("it contains no rule");
    }
    Ok(rules)
}

fn parse_rule(line: &str, number: usize) -> Result<RedactRule> {
    resource_limits::keep(RULE + 4 * line.len() as u64)?;
    const FORM: &str = "a rule is KIND /REGEX/ => REPLACEMENT, or KIND \"NAME\" => REPLACEMENT";
    let Some((left, replacement)) = line.rsplit_once(" =>") else { bail!("{FORM}") };
    let Some((kind, pattern)) = left.trim().split_once(char::is_whitespace) else { bail!("{FORM}") };
    let Some(kind) = KINDS.into_iter().find(|known| known.name() == kind) else {
        bail!("the first word is not a kind; use function, binary, thread or signpost");
    };
    let replacement = replacement.trim().to_owned();
    if replacement.is_empty() {
        bail!("the replacement is empty; use a word that shows that a name was replaced");
    }
    let pattern = pattern.trim();
    let inner = |quote: char| pattern.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let text = format!("{} of line {number}", kind.name());
    match (inner('/'), inner('"')) {
        (Some(""), _) | (_, Some("")) => bail!("an empty name would match everything"),
        (Some(regex), _) => {
            let regex = compile(regex)?;
            check_groups(&regex, &replacement)?;
            let replace = move |name: &str| {
                regex.is_match(name).then(|| named(regex.replace_all(name, replacement.as_str()).into_owned()))
            };
            Ok(RedactRule::new(kind, text, replace))
        }
        (None, Some(whole)) => {
            let whole = whole.to_owned();
            let replace = move |name: &str| (name == whole).then(|| replacement.clone());
            Ok(RedactRule::new(kind, text, replace))
        }
        (None, None) => bail!("{FORM}"),
    }
}

/// Compiles a regular expression and takes its memory from the budget: the smallest power of two in which it fits.
fn compile(pattern: &str) -> Result<Regex> {
    const LARGEST: usize = 16 << 20;
    let mut size = 16 << 10;
    loop {
        match RegexBuilder::new(pattern).size_limit(size).build() {
            Err(regex::Error::CompiledTooBig(_)) if size < LARGEST => size *= 2,
            compiled => {
                resource_limits::keep(size as u64)?;
                return compiled.map_err(without_pattern);
            }
        }
    }
}

/// The error of a regular expression without the expression, which may contain a secret name.
fn without_pattern(error: regex::Error) -> anyhow::Error {
    let text = error.to_string();
    let reason = text.lines().find_map(|line| line.strip_prefix("error: "));
    // The error marks the position below the pattern, which is indented by four.
    let place =
        text.lines().find(|line| line.trim_start().starts_with('^')).and_then(|line| line.find('^')?.checked_sub(4));
    match (reason, place) {
        (Some(reason), Some(place)) => {
            anyhow!("the regular expression is invalid at character {}: {reason}", place + 1)
        }
        (Some(reason), None) => anyhow!("the regular expression is invalid: {reason}"),
        (None, _) => anyhow!("the regular expression is invalid or too large"),
    }
}

/// Rejects groups that the regular expression lacks, since they would be replaced by nothing. `$1x` is the group `1x`.
fn check_groups(regex: &Regex, replacement: &str) -> Result<()> {
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
            bail!("the regular expression has no group ${group}; write ${{1}}x for group 1 followed by x");
        }
    }
    Ok(())
}

/// A name that is not empty.
fn named(name: String) -> String {
    if name.is_empty() { "(redacted)".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(rule: &str, name: &str) -> Option<String> {
        parse_rule(rule, 1).unwrap().replaced(name)
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
            let error = parse_rules(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn reports_errors_without_names() {
        for (rule, reason) in [
            ("function /Tangerine(/ => b", "at its character 10: unclosed group"),
            ("Tangerine /a/ => b", "not a kind"),
            ("function /Tangerine{9999}{9999}/ => b", "too large"),
        ] {
            let error = format!("{:#}", parse_rules(rule).expect_err(rule));
            assert!(error.contains(reason) && !error.contains("Tangerine"), "{rule}: {error}");
        }
    }
}
