//! Names the frames of a text report. As in the output of Apple's tools, each inlined function has a line and a number.
//!
//! ```text
//! 4   App                             0x0000000104130e78 clamp (util.h:12)
//! 5   App                             0x0000000104130e78 draw + 92 (image.cc:140)
//! ```

use super::named::{Edit, Function, NamedReport};
use crate::output::text::style::clean;
use crate::readers::crash::{Frame, FrameLine, Stack, with_marks};

pub(super) fn edits(named: &NamedReport<'_>) -> Vec<Edit> {
    let text = with_marks(&named.report.bytes);
    let mut edits = Vec::new();
    for stack in named.report.report.stacks() {
        if stack.list.is_some() {
            edits.extend(list(named, stack, &text));
            continue;
        }
        // The number of lines that were added before.
        let mut added = 0;
        for frame in &stack.frames {
            added += add_edits(named, frame, (&text, added), &mut edits).unwrap_or_default();
        }
    }
    edits
}

/// Adds the changes to the line of a frame that is `added` lines further down. Returns the number of lines that it adds.
fn add_edits(
    named: &NamedReport<'_>,
    frame: &Frame,
    (text, added): (&str, usize),
    edits: &mut Vec<Edit>,
) -> Option<usize> {
    let functions = named.of(frame);
    if functions.is_empty() && added == 0 {
        return None;
    }
    let line = FrameLine::parse(&text[frame.span.clone()])?;
    let number = line.number.parse::<usize>().ok()? + added;
    let end = line_end(text, frame.span.end);
    let count = functions.len().saturating_sub(1);
    let mut before = String::new();
    for (index, function) in functions[..count].iter().enumerate() {
        let (number, rest) = numbered(number + index, &line);
        before += &format!("{number}{rest} {}{end}", called(function));
    }
    let (number, rest) = numbered(number + count, &line);
    let start = frame.span.start;
    let after_address = start + line.number.len() + line.middle.len();
    edits.push((start..after_address - rest.len(), before + &number));
    if let Some(function) = functions.last() {
        edits.push((after_address..frame.span.end, format!(" {}", called(function))));
    }
    Some(count)
}

/// A number with the spaces after it, and the rest of the line up to the address. The columns stay, if there is room.
fn numbered<'l>(number: usize, line: &FrameLine<'l>) -> (String, &'l str) {
    let rest = line.middle.trim_start_matches(' ');
    let width = line.number.len() + line.middle.len() - rest.len();
    let mut number = number.to_string();
    let spaces = width.saturating_sub(number.len()).max(usize::from(!rest.starts_with('\t')));
    number.extend(std::iter::repeat_n(' ', spaces));
    (number, rest)
}

/// `draw + 92 (image.cc:140)`.
fn called(function: &Function) -> String {
    let offset = function.offset.map(|offset| format!(" + {offset}")).unwrap_or_default();
    let source = function.source.as_ref().map(|(file, line)| format!(" ({}:{line})", clean(file)));
    clean(&function.name) + &offset + &source.unwrap_or_default()
}

/// The lines in place of a list of addresses, if any of them has a name.
fn list(named: &NamedReport<'_>, stack: &Stack, text: &str) -> Option<Edit> {
    let span = stack.list.clone()?;
    // A word of the list that cannot be read would be lost.
    if stack.unread.is_some() || stack.frames.iter().all(|frame| named.of(frame).is_empty()) {
        return None;
    }
    let mut lines = Vec::new();
    for frame in &stack.frames {
        let image = frame.image.and_then(|index| named.report.report.images.get(index));
        let (base, name) = image.map_or((0, "???"), |image| (image.base, image.name.as_str()));
        let address = base.saturating_add(frame.address);
        let mut add = |text: &str| lines.push(format!("{:<3} {name:<30}\t{address:#018x} {text}", lines.len()));
        match named.of(frame) {
            [] if image.is_none() => add("???"),
            [] => add(&format!("{base:#x} + {}", frame.address)),
            functions => functions.iter().for_each(|function| add(&called(function))),
        }
    }
    let lines = lines.join(line_end(text, span.end));
    Some((span, lines))
}

/// The end of the line that ends here.
fn line_end(text: &str, at: usize) -> &'static str {
    if text[at..].starts_with('\r') { "\r\n" } else { "\n" }
}
