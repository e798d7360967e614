//! Reads XML documents in memory: files of bundles, and reports of other tools. Documents must be well-formed.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Read;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::error::{Error, Position};
use crate::memory::{MemoryBudget, Reservation};
use crate::readers::well_formed::{
    attribute_of, attributes, check_characters, check_declaration, check_tag, check_text, resolve,
};

/// Passes every event with its offset to `take`. Up to each event, the document has been checked to be well-formed.
///
/// # Errors
/// Returns the rule and the offset of an event that violates it or that `take` rejects.
pub(super) fn read(
    bytes: &[u8],
    mut take: impl FnMut(&Event<'_>, usize) -> Result<(), String>,
) -> Result<(), (usize, String)> {
    let mut xml = Reader::from_reader(bytes);
    xml.config_mut().check_comments = true;
    let mut place = Place::default();
    loop {
        let at = xml.buffer_position();
        let broken = |rule: &dyn Display| (at as usize, rule.to_string());
        let event = xml.read_event().map_err(|error| broken(&error))?;
        place.check(&event, at).map_err(|rule| broken(&rule))?;
        take(&event, at as usize).map_err(|rule| broken(&rule))?;
        if matches!(event, Event::Eof) {
            return Ok(());
        }
    }
}

pub(super) struct Document<'n> {
    name: &'n str,
    pub(super) bytes: Vec<u8>,
    held: Reservation,
}

impl<'n> Document<'n> {
    /// Reads a document, after reserving memory for it. `name` identifies it in errors.
    pub(super) fn read<R: Read>(mut source: R, name: &'n str, memory: &MemoryBudget) -> Result<Self, Error> {
        const PIECE: u64 = 64 << 10;
        let mut document = Self { name, bytes: Vec::new(), held: memory.nothing() };
        loop {
            // A `Vec` doubles as it grows, and the caller may store names.
            let reserved = document.held.resize(4 * (document.bytes.len() as u64 + PIECE));
            reserved.map_err(|over| Error::memory(over, Some(document.place(document.bytes.len()))))?;
            let read = source.by_ref().take(PIECE).read_to_end(&mut document.bytes);
            if read.map_err(|error| Error::io(error, Some(document.place(document.bytes.len()))))? == 0 {
                return Ok(document);
            }
        }
    }

    pub(super) fn place(&self, at: usize) -> Position {
        let before = self.bytes.get(..at).unwrap_or(&self.bytes);
        let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
        Position { input: self.name.to_owned(), line, byte: before.len() as u64 }
    }
}

/// The position in a document.
#[derive(Debug, Default)]
struct Place {
    /// The number of open elements.
    depth: usize,
    /// The number of top-level elements.
    roots: usize,
    /// The declared prefixes, each with the depth of the element that declares it.
    prefixes: Vec<(usize, String)>,
}

impl Place {
    fn check(&mut self, event: &Event<'_>, at: u64) -> Result<(), Cow<'static, str>> {
        match event {
            Event::Start(start) | Event::Empty(start) => {
                self.roots += usize::from(self.depth == 0);
                self.depth += usize::from(matches!(event, Event::Start(_)));
                check_tag(start)?;
                let checked = self.check_prefixes(start, self.depth + usize::from(matches!(event, Event::Empty(_))));
                self.leave();
                checked
            }
            Event::End(_) => {
                self.depth -= 1;
                self.leave();
                Ok(())
            }
            Event::Text(text) if self.depth == 0 && !text.trim_ascii().is_empty() => Err(OUTSIDE.into()),
            Event::Text(text) => check_text(text),
            Event::CData(_) if self.depth == 0 => Err(OUTSIDE.into()),
            Event::CData(text) => check_characters(text),
            Event::GeneralRef(reference) if self.depth == 0 || resolve(reference).is_none() => {
                Err(format!("the entity &{}; is not defined", &**reference).into())
            }
            Event::GeneralRef(_) => Ok(()),
            Event::Decl(_) if at > 0 => Err("a declaration that is not at the beginning".into()),
            Event::Decl(declaration) => check_declaration(declaration),
            Event::DocType(_) if self.roots > 0 => Err("a document type after the beginning".into()),
            Event::DocType(text) => check_characters(text),
            Event::Comment(text) => check_characters(text),
            Event::PI(instruction) => check_characters(instruction),
            Event::Eof if self.depth > 0 || self.roots != 1 => {
                Err(format!("it ends in {} open elements, and has {} at the top", self.depth, self.roots).into())
            }
            Event::Eof => Ok(()),
        }
    }
}

impl Place {
    /// Checks that this or an open element declares the prefixes of all names. `depth` is the depth inside the element.
    fn check_prefixes(&mut self, start: &BytesStart<'_>, depth: usize) -> Result<(), Cow<'static, str>> {
        let names =
            || std::iter::once(start.name().into_inner()).chain(attributes(start).flatten().map(|(name, _)| name));
        let parts = || names().filter_map(|name| name.split_once(':'));
        let declared = parts().filter(|(prefix, _)| *prefix == "xmlns").map(|(_, name)| (depth, name.to_owned()));
        self.prefixes.extend(declared);
        let is_known = |prefix: &str| {
            ["xml", "xmlns"].contains(&prefix) || self.prefixes.iter().any(|(_, declared)| declared == prefix)
        };
        match parts().find(|(prefix, _)| !is_known(prefix)) {
            Some((prefix, _)) => Err(format!("the prefix {prefix} is not declared by xmlns:{prefix}").into()),
            None => Ok(()),
        }
    }

    /// Drops the prefixes of closed elements.
    fn leave(&mut self) {
        self.prefixes.retain(|(depth, _)| *depth <= self.depth);
    }
}

const OUTSIDE: &str = "text outside of all elements";

/// Returns the value of an attribute, unescaped.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let raw = attribute_of(start, name)?;
    // As XML requires, line ends and tabs become spaces, unless they are written as references.
    let plain = raw.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    Some(quick_xml::escape::unescape(&plain).ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_in_attributes_are_spaces() {
        let value = |content: &str| attribute(&BytesStart::from_content(content, 1), "b");
        assert_eq!(value("a b=\"1\r\n2\t3&#xA;&amp;\n4\"").as_deref(), Some("1 2 3\n& 4"));
        assert_eq!(value("a b='&nope;'"), None);
    }

    fn is_read(document: &str) -> bool {
        read(document.as_bytes(), |_, _| Ok(())).is_ok()
    }

    #[test]
    fn documents_are_well_formed() {
        assert!(is_read(
            "<?xml version=\"1.0\"?><!DOCTYPE a><a b=\"1\" c='&lt;&#x41;'>x &amp;<!-- y --><![CDATA[<]]><d/></a>\n"
        ));
        assert!(is_read("<x:a xmlns:x=\"u\" xml:lang=\"en\"><x:b><c x:d=\"1\"/></x:b></x:a>"));
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
            "<?xml version=\"1.0\" encodng=\"utf-8\"?><a/>",
            "<?xml version=\"1.0\" encoding=\"utf-0\"?><a/>",
            "<x:a/>",
            "<a x:b=\"1\"/>",
            "<a><b xmlns:x=\"u\"/><x:c/></a>",
            "<a><b xmlns:x=\"u\"></b><x:c/></a>",
        ];
        let read: Vec<&str> = others.into_iter().filter(|document| is_read(document)).collect();
        assert!(read.is_empty(), "{read:?}");
    }
}
