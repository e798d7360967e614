//! A comparison as GitHub Markdown, for a comment on a pull request or the summary of a job.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::sentences::{
    change, compared, differences, function_change, function_measures, interval, measures_of, method, probability,
    quantity_name, scope, verdict,
};
use crate::fleet::compare::{Comparison, Functions, Verdict};
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
        Verdict::Unknown { .. } => "🟡",
        Verdict::Invalid { .. } => "⛔",
    };
    let colon = if rest.is_empty() { "" } else { ": " };
    writeln!(out, "{mark} **{}**{colon}{}\n", escaped(first), escaped(rest))?;
    compared(comparison).iter().try_for_each(|line| writeln!(out, "{}\n", escaped(line)))?;
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
    let mut text = "| | base | new | change | interval | p (Holm) |\n|---|--:|--:|--:|--:|--:|\n".to_owned();
    for measured in &comparison.measures {
        let total = &measured.total;
        let measures = measures_of(comparison, measured);
        let [base, new] = total.means.map(|mean| measures.text(mean));
        let (ratio, bounds) = match total.effect.zip(total.interval()) {
            Some((effect, (lower, upper))) => (change(effect.difference.exp()), interval((lower.exp(), upper.exp()))),
            None => Default::default(),
        };
        let name = quantity_name(&measured.quantity, comparison.unit);
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {}, {} | {base} | {new} | {ratio} | {bounds} | |", escaped(&name), measures.unit());
    }
    let measures = function_measures(comparison);
    let functions = comparison.functions.iter().flat_map(Functions::changed).take(FUNCTIONS);
    for function in functions {
        let [base, new] = function.means.map(|mean| measures.text(mean));
        let _ = writeln!(
            text,
            "| {}, {} | {base} | {new} | {} | {} | {} |",
            code(&name_of(&function.name).0),
            measures.unit(),
            function_change(function) + if function.moved_from.is_empty() { "" } else { " moved" },
            interval(function.interval),
            probability(function.p_holm)
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
