//! The XML in bundles, which must be well-formed: schemas, and strings. The events of the reader are read by those who ask; here is what
//! it lets pass.

use std::fmt::Display;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::symbols::Broken;

/// Gives every event of a document and where it begins to `take`; fails where the document is not well-formed.
pub(super) fn read(
    bytes: &[u8],
    what: &str,
    mut take: impl FnMut(&Event<'_>) -> Result<(), String>,
) -> Result<(), Broken> {
    let broken = |at: u64, rule: &dyn Display| Broken { at, message: format!("{what} at {at:#x}: {rule}") };
    if let Some(at) = forbidden(bytes) {
        return Err(broken(at as u64, &"a character that no document may have"));
    }
    let mut xml = Reader::from_reader(bytes);
    xml.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0_usize, 0);
    loop {
        let at = xml.buffer_position();
        let event = xml.read_event().map_err(|error| broken(at, &error))?;
        match &event {
            Event::Start(start) => {
                roots += usize::from(depth == 0);
                depth += 1;
                check_tag(start).map_err(|rule| broken(at, &rule))?;
            }
            Event::Empty(start) => {
                roots += usize::from(depth == 0);
                check_tag(start).map_err(|rule| broken(at, &rule))?;
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) if text.contains("]]>") => return Err(broken(at, &"]]> in a text")),
            Event::Text(text) if depth == 0 && !text.trim_ascii().is_empty() => {
                return Err(broken(at, &"a text outside of all elements"));
            }
            Event::GeneralRef(reference) if depth == 0 || resolved(reference).is_none() => {
                return Err(broken(at, &format_args!("the entity &{}; is not defined", &**reference)));
            }
            Event::CData(_) if depth == 0 => return Err(broken(at, &"a text outside of all elements")),
            Event::Decl(_) if at > 0 => return Err(broken(at, &"a declaration that is not at the beginning")),
            Event::DocType(_) if roots > 0 => return Err(broken(at, &"a document type behind the beginning")),
            Event::Eof if depth > 0 || roots != 1 => {
                return Err(broken(at, &format_args!("it ends in {depth} open elements, and has {roots} at the top")));
            }
            _ => {}
        }
        take(&event).map_err(|rule| broken(at, &rule))?;
        if matches!(event, Event::Eof) {
            return Ok(());
        }
    }
}

/// The character that a reference stands for.
pub(super) fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    if reference.is_char_ref() {
        let character = reference.resolve_char_ref().ok().flatten()?;
        return Some(character.to_string()).filter(|text| forbidden(text.as_bytes()).is_none());
    }
    quick_xml::escape::resolve_predefined_entity(reference).map(str::to_owned)
}

/// A text as a document has it: ends of lines are one character.
pub(super) fn with_line_ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The value of an attribute; `None` where it has none.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.attributes().flatten().find(|attribute| attribute.key.0 == name)?;
    let value = quick_xml::escape::unescape(&found.value).ok()?;
    // Of white space, only what a reference stands for stays as it is.
    Some(if found.value.contains('&') { value.into_owned() } else { value.replace(['\t', '\n', '\r'], " ") })
}

/// The first byte of a character that must not be in a document, not even by reference.
fn forbidden(bytes: &[u8]) -> Option<usize> {
    let is_control = |&byte: &u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    // U+FFFE and U+FFFF.
    let is_none = |three: &[u8]| three[0] == 0xef && three[1] == 0xbf && three[2] >= 0xbe;
    let control = bytes.iter().position(is_control);
    control.or_else(|| bytes.windows(3).position(is_none))
}

/// A tag has a name, and attributes that each have a name of their own, a space in front and a value.
fn check_tag(start: &BytesStart<'_>) -> Result<(), String> {
    let name = start.name().into_inner();
    if !is_name(name) {
        return Err(format!("<{name}> is no name of an element"));
    }
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let (name, value) = (attribute.key.0, &attribute.value);
        if !is_name(name) {
            return Err(format!("{name} is no name of an attribute"));
        }
        let text = quick_xml::escape::unescape(value).map_err(|error| error.to_string())?;
        if value.contains('<') || forbidden(text.as_bytes()).is_some() {
            return Err(format!("the value of {name} has a character that none may have"));
        }
    }
    if !has_spaces(&start[start.name().into_inner().len()..]) {
        return Err("no space between two attributes".to_owned());
    }
    Ok(())
}

/// True if there is a space behind each value but the last.
fn has_spaces(attributes: &str) -> bool {
    let (mut quote, mut after_value) = (None, false);
    for character in attributes.chars() {
        match quote {
            Some(open) if character == open => (quote, after_value) = (None, true),
            Some(_) => {}
            None if after_value && !character.is_ascii_whitespace() => return false,
            None => {
                after_value = false;
                quote = Some(character).filter(|character| matches!(character, '"' | '\''));
            }
        }
    }
    true
}

fn is_name(name: &str) -> bool {
    let is_first =
        |character: char| character.is_ascii_alphabetic() || matches!(character, '_' | ':') || !character.is_ascii();
    let is_next = |character: char| is_first(character) || character.is_ascii_digit() || matches!(character, '-' | '.');
    name.starts_with(is_first) && name.chars().all(is_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(document: &str) -> bool {
        read(document.as_bytes(), "test", |_| Ok(())).is_ok()
    }

    #[test]
    fn documents_are_well_formed() {
        assert!(is_read(
            "<?xml version=\"1.0\"?><!DOCTYPE a><a b=\"1\" c='&lt;&#x41;'>x &amp;<!-- y --><![CDATA[<]]><d/></a>\n"
        ));
        let others = [
            "",
            "<a>",
            "<a/><b/>",
            "x<a/>",
            "<a/>x",
            "<a></b>",
            "<a b=1/>",
            "<a b/>",
            "<a b=\"1\" b=\"2\"/>",
            "<a b=\"1\"c=\"2\"/>",
            "<a b=\"<\"/>",
            "<a b=\"&\"/>",
            "<a b=\"&x;\"/>",
            "<a>&x;</a>",
            "<a>&</a>",
            "<a>&#0;</a>",
            "<a>&#1;</a>",
            "<a>\u{1}</a>",
            "<a>]]></a>",
            "<a>\u{ffff}</a>",
            "<a><!-- -- --></a>",
            "<1/>",
            "<a 1=\"\"/>",
            " <?xml version=\"1.0\"?><a/>",
            "<a/><!DOCTYPE a>",
        ];
        let read: Vec<&str> = others.into_iter().filter(|document| is_read(document)).collect();
        assert!(read.is_empty(), "{read:?}");
    }
}
