//! The byte positions of an export's elements. The document must be well-formed, in the spelling of `xctrace`.

use std::ops::Range;

/// An element, as byte positions in the document.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) name: Range<usize>,
    /// The start tag, including `<` and `>`.
    pub(crate) tag: Range<usize>,
    /// The content; empty for an element with a single tag.
    pub(crate) content: Range<usize>,
    /// The end of the element.
    pub(crate) end: usize,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) parent: Option<usize>,
    /// True if the element contains no other elements.
    pub(crate) is_leaf: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

impl Element {
    pub(crate) fn is_one_tag(&self) -> bool {
        self.tag.end == self.end
    }

    /// All bytes of the element.
    pub(crate) fn all(&self) -> Range<usize> {
        self.tag.start..self.end
    }
}

/// The elements of a document, in the order of their start tags.
pub(crate) fn elements(document: &[u8]) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(start) = find(document, at, b'<') {
        let end = find(document, start, b'>').expect("a tag ends") + 1;
        match document[start + 1] {
            b'?' | b'!' => {}
            b'/' => {
                let closed = open.pop().expect("an end tag has a start tag");
                (found[closed].content, found[closed].end) = (found[closed].tag.end..start, end);
            }
            _ => {
                let parent = open.last().copied();
                if let Some(parent) = parent {
                    found[parent].is_leaf = false;
                }
                let is_one_tag = document[end - 2] == b'/';
                if !is_one_tag {
                    open.push(found.len());
                }
                found.push(element(document, start..end, parent));
            }
        }
        at = end;
    }
    found
}

fn element(document: &[u8], tag: Range<usize>, parent: Option<usize>) -> Element {
    let is_name = |byte: &u8| !b" />\n\t".contains(byte);
    let name_end = tag.start + 1 + document[tag.start + 1..].iter().take_while(|byte| is_name(byte)).count();
    let mut attributes = Vec::new();
    let mut at = name_end;
    while let Some(equals) = find(&document[..tag.end], at, b'=') {
        let key_start = equals - document[..equals].iter().rev().take_while(|byte| is_name(byte)).count();
        let quote = document[equals + 1];
        let end = find(&document[..tag.end], equals + 2, quote).expect("a value ends");
        attributes.push(Attribute { key: key_start..equals, value: equals + 2..end });
        at = end + 1;
    }
    let (name, content, end) = (tag.start + 1..name_end, tag.end..tag.end, tag.end);
    Element { name, tag, content, end, attributes, parent, is_leaf: true }
}

fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    bytes[from..].iter().position(|&other| other == byte).map(|place| from + place)
}
