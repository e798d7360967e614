//! Rows of tables that are not CPU tables: counted by looking at what follows each `<`, without reading them as XML.
//!
//! That is quick, and it takes rows that are not well formed (VM Tracker writes an attribute named `resident-%`).
//! Elements that a later CPU table may refer to are the exception: ids are one numbering for the whole document, so a
//! thread or frame that is first seen here is read here.

use super::tokens::Step;

/// The longest name of an element that is looked for with its id, and more than most others have.
const LOOK_AHEAD: usize = "<os-signpost-identifier id=\"18446744073709551615\"".len();

/// What is told of the rows that are passed by.
pub(super) trait SkipRows {
    /// A row began.
    fn count_row(&mut self);

    /// Whether elements of this name are read where they define an id.
    fn is_needed(name: &str) -> bool;

    /// An element that is not read defines this id.
    fn define_other(&mut self, id: u64);
}

/// Counts rows until the end of the table or a definition to be read, which is where it stops.
pub(super) fn rows<R: SkipRows>(reader: &mut R, bytes: &[u8], is_end: bool) -> Step {
    for at in memchr::memchr_iter(b'<', bytes) {
        let rest = &bytes[at + 1..];
        if rest.len() < LOOK_AHEAD && !is_end {
            return Step { used: at, needs_more: true };
        }
        if starts_row(rest) {
            reader.count_row();
        } else if rest.starts_with(b"/node") {
            return Step { used: at, needs_more: false };
        } else {
            match definition::<R>(rest) {
                Some((true, _)) => return Step { used: at, needs_more: false },
                Some((false, Some(id))) => reader.define_other(id),
                Some((false, None)) | None => {}
            }
        }
    }
    Step { used: bytes.len(), needs_more: true }
}

fn starts_row(rest: &[u8]) -> bool {
    rest.strip_prefix(b"row").is_some_and(|after| after.first().is_some_and(|byte| b" />\t\r\n".contains(byte)))
}

/// Whether an element that defines an id is one to be read, and its id.
fn definition<R: SkipRows>(rest: &[u8]) -> Option<(bool, Option<u64>)> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name_end = rest.iter().take(LOOK_AHEAD).position(|byte| !is_name(byte)).filter(|&end| end > 0)?;
    let value = rest[name_end..].strip_prefix(b" id=\"")?;
    let name = std::str::from_utf8(&rest[..name_end]).ok()?;
    let digits = value.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let id = std::str::from_utf8(&value[..digits]).ok().and_then(|digits| digits.parse().ok());
    Some((R::is_needed(name), id))
}
