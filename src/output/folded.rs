//! Folded stacks: `process;thread;root;…;leaf WEIGHT`, the input of flame graph tools.
//!
//! There is one line for each node with self weight, or with weight that pruning hid below it. Separators in names are escaped
//! ([`escape_folded`]). Functions with the same name in several binaries produce several lines with the same stack; readers add up their weights.

use std::borrow::Cow;
use std::io::{self, Write};

use super::byte_writer::{FunctionTexts, push_number};
use crate::calltree::Draft;
use crate::report::{Report, SeriesReport, scope_labels};
use crate::settings::{RUN, SCHEMA};

/// [`NO_STACK`](crate::report::Report::NO_STACK) with its separator.
const NO_STACK_ELEMENT: &[u8] = b";[no stack recorded]";
/// The element for weight that pruning hid directly below the root.
const HIDDEN_ELEMENT: &[u8] = b";[below the limits]";

impl Report<'_> {
    /// Checks that all weights may be added up, for formats that contain a single measurement: one schema and unit, and no run twice. A line of
    /// folded stacks, for example, does not record what its number measures.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) with the names of the measurements if they cannot be added up.
    pub fn check_one_measurement(&self) -> io::Result<()> {
        let profile = &self.recording.profile;
        let asked: Vec<&SeriesReport> = self.series.iter().filter(|series| !series.is_filtered_out()).collect();
        let mut runs: Vec<_> = asked.iter().map(|series| profile.series(series.series).run).collect();
        runs.sort_unstable();
        runs.dedup();
        let kind = |series: &SeriesReport| (profile.series(series.series).schema, series.unit);
        let is_one_kind = asked.windows(2).all(|pair| kind(pair[0]) == kind(pair[1]));
        if is_one_kind && runs.len() == asked.len() {
            return Ok(());
        }
        let describe = |series: &&SeriesReport| {
            let row = profile.series(series.series);
            format!("{} (run {}, {})", profile.string(row.schema), profile.run(row.run).number, series.unit)
        };
        let list = asked.iter().map(describe).collect::<Vec<_>>().join(", ");
        let text = format!(
            "the input has several measurements that cannot be summed: {list}; choose one with {SCHEMA} or {RUN}"
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

/// Writes the trees of a report of [`View::Tree`](crate::report::View::Tree). Depending on how trees are separated, every stack starts with the
/// process and thread, only the process, the state or kind of core, or none of these.
///
/// # Errors
/// If `out` fails, or the series of the report cannot be added up ([`Report::check_one_measurement`]).
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    report.check_one_measurement()?;
    let profile = &report.recording.profile;
    let texts = FunctionTexts::new(profile, |id, out| {
        out.push(b';');
        out.extend_from_slice(escape_folded(profile.function_name(id)).as_bytes());
        // An unnamed function is shown as an offset, which may also occur in other binaries. The name of the binary distinguishes them.
        let function = profile.function(id);
        let binary = function.binary.filter(|_| !function.is_named).map(|id| profile.binary(id));
        if let Some(binary) = binary.filter(|binary| binary.load_address.get() == 0) {
            out.extend_from_slice(format!(" (in {})", escape_folded(profile.string(binary.name))).as_bytes());
        }
    });
    let mut line = Vec::new();
    for series in &report.series {
        report.walk_trees(series, &series.scopes, |row, tree| {
            let labels = scope_labels(profile, row.scope);
            let labels: Vec<_> = labels.iter().map(|label| escape_folded(label)).collect();
            line.clear();
            line.extend_from_slice(labels.join(";").as_bytes());
            write_tree(tree, &texts, &mut line, out)
        })?;
    }
    Ok(())
}

/// Writes the lines of a tree. All of them start with the content of `line`.
fn write_tree(tree: &Draft, texts: &FunctionTexts, line: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    let prefix = line.len();
    let mut below_root = 0;
    // The length of the line after each chain above this one; first, the prefix.
    let mut ends = vec![prefix];
    tree.walk(|chain| {
        // Weight hidden by pruning still belongs to the node.
        let weight = chain.last.self_weight + chain.last.hidden_weight;
        if chain.level == 0 {
            below_root = weight;
            return Ok(());
        }
        ends.truncate(chain.level);
        line.truncate(ends[chain.level - 1]);
        for &function in chain.functions {
            match function {
                Some(function) => push_element(texts.get(function), line),
                None => push_element(NO_STACK_ELEMENT, line),
            }
        }
        ends.push(line.len());
        write_line(line, weight, out)
    })?;
    if below_root > 0 {
        line.truncate(prefix);
        push_element(HIDDEN_ELEMENT, line);
        write_line(line, below_root, out)?;
    }
    Ok(())
}

/// Appends an element with its separator, or without it at the start of a line.
fn push_element(element: &[u8], line: &mut Vec<u8>) {
    let start = usize::from(line.is_empty());
    line.extend_from_slice(&element[start..]);
}

/// Writes a line, unless its weight is zero.
fn write_line(line: &mut Vec<u8>, weight: u64, out: &mut dyn Write) -> io::Result<()> {
    if weight == 0 {
        return Ok(());
    }
    line.push(b' ');
    push_number(weight, line);
    line.push(b'\n');
    out.write_all(line)
}

/// Escapes a name for use as an element of a stack whose elements are joined by `;`.
///
/// `;`, line feed and carriage return become `%3B`, `%0A` and `%0D`. A `%` that would be mistaken for the start of such an escape becomes `%25`.
/// Decoding `%3B`, `%0A`, `%0D` and `%25` restores the name.
pub(super) fn escape_folded(name: &str) -> Cow<'_, str> {
    let is_special = |(at, byte): (usize, u8)| match byte {
        b';' | b'\n' | b'\r' => true,
        b'%' => ["3B", "0A", "0D", "25"].iter().any(|code| name[at + 1..].starts_with(code)),
        _ => false,
    };
    if !name.bytes().enumerate().any(is_special) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for (at, text) in name.char_indices() {
        match text {
            ';' => out.push_str("%3B"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            '%' if is_special((at, b'%')) => out.push_str("%25"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_escaped_and_come_back() {
        for (name, escaped) in [
            ("operator%(int)", "operator%(int)"),
            ("f(T = int; U)", "f(T = int%3B U)"),
            ("a%3Bb", "a%253Bb"),
            ("é;\r\n", "é%3B%0D%0A"),
            ("%", "%"),
        ] {
            assert_eq!(escape_folded(name), escaped);
            let decoded = escaped.replace("%3B", ";").replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%");
            assert_eq!(decoded, name);
        }
    }
}
