//! A comparison as GitHub Markdown, for a pull request comment or a job summary.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::sentences::{
    block_name, change, compared, confidence, differences, function_change, function_interval, function_measures,
    interval, measures, method, probability, quantity_name, scope, verdict,
};
use crate::fleet::compare::{Comparison, Functions, Verdict};
use crate::output::fleet::opening::name_of;
use crate::output::inert::inert;

/// The maximum numbers of blocks and functions in the table.
const BLOCKS: usize = 10;
const FUNCTIONS: usize = 10;

/// Writes the verdict, a table, and the method, which is collapsed.
///
/// # Errors
/// If `out` fails.
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
    // Writing to a string cannot fail.
    for block in comparison.blocks.iter().take(BLOCKS) {
        let measures = measures(comparison);
        let means = [0, 1].map(|side| block.geometric_mean(side));
        let ratio = means[0].zip(means[1]).map_or_else(String::new, |(base, new)| change(new / base));
        let [base, new] = means.map(|mean| measures.text(mean.unwrap_or_default()));
        let name = if block.labels.is_empty() { "all runs".to_owned() } else { block_name(&block.labels) };
        let _ = writeln!(text, "| {}, {} | {base} | {new} | {ratio} | | |", escaped(&name), measures.unit());
    }
    for measured in &comparison.measures {
        let total = &measured.total;
        let Some((effect, (lower, upper))) = total.effect.zip(total.interval()) else { continue };
        let name = quantity_name(&measured.quantity, comparison.unit);
        let (ratio, bounds) = (change(effect.difference.exp()), interval((lower.exp(), upper.exp())));
        let level = confidence(2.0 * total.levels.slower);
        let _ = writeln!(text, "| total: {} | | | {ratio} | {level}: {bounds} | |", escaped(&name));
    }
    let measures = function_measures(comparison);
    let functions = comparison.functions.iter().flat_map(Functions::changed).take(FUNCTIONS);
    let level = confidence(2.0 * comparison.levels.functions);
    for function in functions {
        let [base, new] = function.means.map(|mean| measures.text(mean));
        let _ = writeln!(
            text,
            "| {}, {} | {base} | {new} | {} | {level}: {} | {} |",
            code(&name_of(&function.name).0),
            measures.unit(),
            function_change(function) + if function.moved_from.is_empty() { "" } else { " (moved?)" },
            function_interval(function),
            probability(function.p_holm)
        );
    }
    text
}

/// Formats a name as code, in which GitHub recognises no mentions and no issue numbers.
fn code(name: &str) -> String {
    format!("<code>{}</code>", escaped(name))
}

/// Escapes text so that Markdown never interprets it: every ASCII punctuation mark becomes a character reference.
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
