//! Parses the text of a frame in a stack line.

use crate::readers::images::hex;
use crate::units::LONGEST_FUNCTION;

/// A frame: `SYMBOL + 35 (File.swift:31,1 in BINARY + 17460019) [0x10772db33] (STATE) 1-49`. Only the symbol is required.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameText<'l> {
    /// `???` if unknown.
    pub(super) symbol: &'l str,
    /// The name of the binary, or `<UUID>`.
    pub(super) binary: Option<&'l str>,
    /// The offset in the binary.
    pub(super) offset: Option<u64>,
    pub(super) address: Option<u64>,
    /// File and line.
    pub(super) source: Option<(&'l str, u32)>,
    /// The state of the thread in samples that end here, such as `running` or `blocked by wait4 on spindump [546]`.
    pub(super) state: Option<&'l str>,
    /// The steps in which the frame was seen, such as `1-49`.
    pub(super) steps: Option<&'l str>,
}

impl<'l> FrameText<'l> {
    /// Parses any text as a frame; text in an unknown form becomes the symbol.
    pub(super) fn parse(text: &'l str) -> Self {
        let (text, steps) = match text.rsplit_once(' ') {
            Some((before, steps)) if before.ends_with([']', ')', '>']) && is_steps(steps) => (before, Some(steps)),
            _ => (text, None),
        };
        let (function, address, after) = address(text);
        let state = after.trim().strip_prefix('(').and_then(|state| state.strip_suffix(')'));
        let mut frame = Self { symbol: function, address, state, steps, ..Self::default() };
        if let Some((symbol, place)) = last_group(function) {
            let (place, offset) = with_offset(place);
            let (source, binary) = match place.split_once(" in ") {
                Some((source, binary)) if source.contains(['.', '<']) => (source_line(source), binary),
                _ => (None, place),
            };
            (frame.symbol, frame.binary, frame.offset, frame.source) = (symbol, Some(binary), offset, source);
        }
        let (symbol, from_start) = with_offset(frame.symbol);
        let is_far = frame.address.is_some() && from_start.is_some_and(|offset| offset > LONGEST_FUNCTION);
        frame.symbol = if is_far { UNKNOWN } else { symbol };
        frame
    }

    /// True for a note instead of a function, such as `<User mode>`. Its samples belong to the function above it.
    pub(super) fn is_pseudo(&self) -> bool {
        let is_note = self.symbol.starts_with('<') && self.symbol.ends_with('>');
        is_note && self.address.is_none() && self.binary.is_none() && self.symbol != TRUNCATED
    }

    /// True for a frame with a name.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.symbol, UNKNOWN | "")
    }
}

/// The symbol of unnamed code.
const UNKNOWN: &str = "???";

/// A note that replaces unrecorded callers. It is kept, since the function below it would otherwise look like the start of its thread.
const TRUNCATED: &str = "<truncated backtrace>";

fn is_steps(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','))
}

/// Returns the function, the address in brackets, and the text after it.
fn address(text: &str) -> (&str, Option<u64>, &str) {
    match bracketed(text, |address| hex(address).or_else(|| (address == "0").then_some(0))) {
        Some((function, address, after)) => (function, Some(address), after),
        None => match text.split_once("> (") {
            Some((note, _)) if text.starts_with('<') => {
                let (note, after) = text.split_at(note.len() + 1);
                (note, None, after)
            }
            _ => (text, None, ""),
        },
    }
}

/// Finds the first text in ` [brackets]` that `parse` accepts. Returns the text before it, its value, and the text after it.
pub(super) fn bracketed<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<(&str, T, &str)> {
    let mut rest = 0;
    // Searching from each opening bracket for its end would take quadratic time.
    text.match_indices(']').find_map(|(end, _)| {
        let part = std::mem::replace(&mut rest, end + 1);
        let at = part + text[part..end].rfind(" [")?;
        Some((&text[..at], parse(&text[at + 2..end])?, &text[end + 1..]))
    })
}

/// Splits off the last text in parentheses, which a space precedes. Binary names may contain parentheses.
fn last_group(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let mut open = 1;
    let at = inner.rfind(|character| {
        open += match character {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        open == 0
    })?;
    Some((inner[..at].strip_suffix(' ')?, &inner[at + 1..]))
}

/// Splits `NAME + 12`.
fn with_offset(text: &str) -> (&str, Option<u64>) {
    let parts = text.rsplit_once(" + ").and_then(|(name, offset)| Some((name, offset.parse().ok()?)));
    parts.map_or((text, None), |(name, offset)| (name, Some(offset)))
}

/// Parses `File.swift:31,1` or `File.swift:31`, discarding the column.
fn source_line(text: &str) -> Option<(&str, u32)> {
    let (file, place) = text.rsplit_once(':')?;
    let line = place.split_once(',').map_or(place, |(line, _)| line);
    Some((file, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_in_brackets_is_found() {
        let number = |text: &'static str| bracketed(text, |number| number.parse::<u32>().ok());
        assert_eq!(number("App [2] x [3]"), Some(("App", 2, " x [3]")));
        assert_eq!(number("a [b [c] [d] [[4] [5]"), Some(("a [b [c] [d] [[4]", 5, "")));
        assert_eq!(number("a [6"), None);
        assert_eq!(number("a[7]]8]"), None);
        assert_eq!(number(" [[ [9]]"), Some((" [[", 9, "]")));
    }
}
