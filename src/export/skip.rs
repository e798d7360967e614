//! Rows of tables that are not CPU tables: counted by looking at what follows each `<`, without reading them as XML.
//!
//! That is quick, and it takes rows that are not well formed (VM Tracker writes an attribute named `resident-%`).
//! Elements that a later CPU table may refer to are the exception: ids are one numbering for the whole document, so a
//! thread or frame that is first seen here is read here.

use super::document::DocumentReader;
use super::tag::Tag;
use super::tokens::Step;

/// The longest name of an element that is looked for, and what must follow it.
const LOOK_AHEAD: usize = "<time-sample-kind id=\"".len();

/// Counts rows until the end of the table or a definition to be read, which is where it stops.
pub(super) fn rows(reader: &mut DocumentReader<'_>, bytes: &[u8], is_end: bool) -> Step {
    for at in memchr::memchr_iter(b'<', bytes) {
        let rest = &bytes[at + 1..];
        if rest.len() < LOOK_AHEAD && !is_end {
            return Step { used: at, needs_more: true };
        }
        if starts_row(rest) {
            reader.count_row();
        } else if rest.starts_with(b"/node") || starts_definition(rest) {
            return Step { used: at, needs_more: false };
        }
    }
    Step { used: bytes.len(), needs_more: true }
}

fn starts_row(rest: &[u8]) -> bool {
    rest.strip_prefix(b"row").is_some_and(|after| after.first().is_some_and(|byte| b" />\t\r\n".contains(byte)))
}

fn starts_definition(rest: &[u8]) -> bool {
    let name_end = rest.iter().take(LOOK_AHEAD).position(|byte| !(byte.is_ascii_lowercase() || *byte == b'-'));
    let Some(name_end) = name_end.filter(|&end| end > 0) else { return false };
    rest[name_end..].starts_with(b" id=")
        && std::str::from_utf8(&rest[..name_end]).is_ok_and(|name| Tag::of(name).is_shared())
}
