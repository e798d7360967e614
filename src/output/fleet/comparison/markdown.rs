//! A comparison as GitHub Markdown, for a comment on a pull request or the summary of a job.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::sentences::{
    change, confidence, differences, function_change, interval, measures, method, probability, scope, verdict,
};
use crate::fleet::compare::{ComparedFunction, Comparison, Functions, Verdict};
use crate::output::fleet::opening::name_of;
use crate::output::inert::inert;

/// Functions in the table.
const FUNCTIONS: usize = 10;

/// Writes the verdict, a table and, folded, the method.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let text = verdict(comparison);
    let (first, rest) = text.split_once(": ").unwrap_or((text.as_str(), ""));
    let mark = match comparison.verdict {
        Verdict::Slower(_) => "🔴",
        Verdict::Faster(_) | Verdict::NoSlowdown { .. } => "🟢",
        Verdict::CannotTell { .. } => "🟡",
    };
    let colon = if rest.is_empty() { "" } else { ": " };
    writeln!(out, "{mark} **{}**{colon}{}\n", escaped(first), escaped(rest))?;
    out.write_all(table(comparison).as_bytes())?;
    let mut lines = vec![scope(comparison)];
    lines.extend(method(comparison));
    lines.extend(differences(comparison).into_iter().map(|difference| format!("Only on one side: {difference}.")));
    for warning in &comparison.warnings {
        writeln!(out, "\n⚠️ {}", escaped(warning))?;
    }
    writeln!(out, "\n<details><summary>Method</summary>\n")?;
    lines.iter().try_for_each(|line| writeln!(out, "- {}", escaped(line)))?;
    writeln!(out, "\n</details>")
}

fn table(comparison: &Comparison) -> String {
    let (measures, total) = (measures(comparison), &comparison.total);
    let mut text = format!(
        "| | base | new | change | {} | p |\n|---|--:|--:|--:|--:|--:|\n",
        confidence(comparison.options.alpha)
    );
    let [base, new] = total.means.map(|mean| measures.text(mean));
    let (ratio, bounds, p) = match total.effect.zip(total.interval()) {
        Some((effect, (lower, upper))) => {
            (change(effect.difference.exp()), interval((lower.exp(), upper.exp())), probability(effect.p(0.0)))
        }
        None => Default::default(),
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "| total, {} | {base} | {new} | {ratio} | {bounds} | {p} |", measures.unit());
    let functions = comparison.functions.iter().flat_map(Functions::changed).take(FUNCTIONS);
    for function in functions {
        let [base, new] = function.means.map(|mean| measures.text(mean));
        let ComparedFunction { p_holm, .. } = function;
        let _ = writeln!(
            text,
            "| {} | {base} | {new} | {} | {} | {} |",
            code(&name_of(&function.name).0),
            function_change(function),
            interval(function.interval),
            probability(*p_holm)
        );
    }
    text
}

/// A name as code. Within it, GitHub looks for no mentions and no issues.
fn code(name: &str) -> String {
    format!("<code>{}</code>", escaped(name))
}

/// Text that is nothing but text: every mark of ASCII is a character reference, which Markdown never reads as syntax.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in inert(text).chars() {
        match c {
            '.' | ',' | ' ' | '%' | '+' | '(' | ')' | ';' | '-' if !text.contains("www.") && !text.contains("://") => {
                escaped.push(c)
            }
            c if c.is_ascii_punctuation() => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
