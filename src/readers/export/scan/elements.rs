//! Scans elements that define something, with attributes, text and children.

use super::super::tag::Tag;
use super::super::tape::{Op, Span};
use super::Scanner;
use super::bytes::{has_known_entities, look, number, text_end, time_end, value_end};

/// The maximum depth of nested elements in a row; real ones are 6 deep.
const MAX_NESTING: u32 = 8;

/// The start tag of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) tag: Tag,
    /// The start of the element, and the end of its name.
    pub(super) at: usize,
    pub(super) name_end: usize,
    pub(super) id: u32,
    pub(super) fields: Fields,
    /// True if the tag also ends the element.
    is_empty: bool,
    /// The end of the start tag.
    pub(super) end: usize,
}

impl Start {
    /// A `backtrace` without a display string.
    pub(super) fn of_backtrace(id: u32, at: usize, name_end: usize, end: usize) -> Self {
        Self { tag: Tag::Backtrace, at, name_end, id, fields: Fields::NONE, is_empty: false, end }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) fmt: Span,
    /// For a frame: name and address. For a binary: name, UUID, architecture, load address and path.
    names: [Span; 5],
    is_inlined: bool,
    line: Option<u32>,
    /// One bit for each known attribute that is present.
    seen: u16,
}

impl Fields {
    const NONE: Self = Self { fmt: Span::NONE, names: [Span::NONE; 5], is_inlined: false, line: None, seen: 0 };
}

/// The known attributes apart from `id`. Elements with any other attribute are not scanned.
#[derive(Clone, Copy)]
enum Key {
    Fmt,
    Name,
    Addr,
    Inlined,
    Uuid,
    Arch,
    LoadAddr,
    Path,
    Line,
    Truncated,
}

impl Key {
    #[inline(always)]
    fn of(key: &[u8]) -> Option<Self> {
        Some(match key {
            b"fmt" => Self::Fmt,
            b"name" => Self::Name,
            b"addr" => Self::Addr,
            b"inlined" => Self::Inlined,
            b"UUID" => Self::Uuid,
            b"arch" => Self::Arch,
            b"load-addr" => Self::LoadAddr,
            b"path" => Self::Path,
            b"line" => Self::Line,
            b"truncated" => Self::Truncated,
            _ => return None,
        })
    }
}

impl Scanner<'_> {
    /// Reads the element at `at`. Returns its end.
    pub(super) fn element(&mut self, at: usize, nesting: u32) -> Option<usize> {
        if nesting > MAX_NESTING {
            return None;
        }
        let (tag, name_end) = self.name(at)?;
        if self.bytes[name_end..].starts_with(b" ref=\"") {
            let (id, end) = self.reference(name_end + b" ref=\"".len())?;
            self.tape.ops.push(Op::Ref { tag, at: self.place(at), id });
            return Some(end);
        }
        let start = self.start(tag, at, name_end)?;
        if nesting == 0 && tag == Tag::Thread {
            self.thread = start.id;
        }
        match tag {
            Tag::Frame => None,
            Tag::Binary => self.binary(&start),
            Tag::Source => self.source(&start, nesting),
            _ if start.is_empty => self.leaf(&start, Span::new(start.end, start.end), start.end),
            Tag::Backtrace if self.bytes[start.end..].starts_with(b"<frame ") => self.stack(&start, nesting),
            _ if self.bytes[start.end] == b'<' && self.bytes[start.end + 1] != b'/' => self.parent(&start, nesting),
            _ => {
                let text_end = text_end(self.bytes, start.end)?;
                let end = self.close(&start, text_end)?;
                self.leaf(&start, Span::new(start.end, text_end), end)
            }
        }
    }

    /// Reads the time in exactly this form, which nearly every row has: `<sample-time id="1" fmt="00:00.648.438">648438208</sample-time>`.
    #[inline(always)]
    pub(super) fn sample_time(&mut self, at: usize) -> Option<usize> {
        let (id, value, end) = self.usual_time(at)?;
        let id = self.define(id)?;
        self.tape.ops.push(Op::Number { tag: Tag::Time, at: self.place(at), id, value });
        Some(end)
    }

    /// Returns the id, value and end of such a time. Its id must be the next one.
    #[inline(always)]
    pub(super) fn usual_time(&self, at: usize) -> Option<(u64, u64, usize)> {
        const START: &[u8] = b"<sample-time id=\"";
        const FMT: &[u8] = b"\" fmt=\"";
        const END: &[u8] = b"</sample-time>";
        if !look(self.bytes, at)?.starts_with(START) {
            return None;
        }
        let (id, after_id) = number(self.bytes, at + START.len())?;
        if id != u64::from(self.next_id) || !look(self.bytes, after_id)?.starts_with(FMT) {
            return None;
        }
        let after_fmt = time_end(self.bytes, after_id + FMT.len())?;
        let (value, end) = number(self.bytes, after_fmt)?;
        look(self.bytes, end)?.starts_with(END).then_some((id, value, end + END.len()))
    }

    /// Returns the tag of the element at `at`, and the end of its name.
    fn name(&self, at: usize) -> Option<(Tag, usize)> {
        let name = self.bytes.get(at..)?.strip_prefix(b"<")?;
        let is_name = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
        let length = name.iter().take_while(is_name).count();
        let name = std::str::from_utf8(&name[..length]).ok()?;
        // Names that start with a digit or `xml` are invalid, so they do not occur.
        let is_usual = name.starts_with(|first: char| first.is_ascii_lowercase());
        let tag = Tag::of(name);
        (is_usual && !tag.is_structure()).then_some((tag, at + 1 + length))
    }

    /// Reads a start tag without a `ref`.
    fn start(&mut self, tag: Tag, at: usize, name_end: usize) -> Option<Start> {
        let mut start = Start { tag, at, name_end, id: 0, fields: Fields::NONE, is_empty: false, end: name_end };
        if self.bytes[name_end..].starts_with(b" id=\"") {
            (start.id, start.end) = self.definition(name_end + b" id=\"".len())?;
        }
        loop {
            match *self.bytes.get(start.end)? {
                b'>' => {
                    start.end += 1;
                    return Some(start);
                }
                b'/' if self.bytes[start.end + 1] == b'>' => {
                    (start.is_empty, start.end) = (true, start.end + 2);
                    return Some(start);
                }
                b' ' => start.end = self.attribute(tag, start.end + 1, &mut start.fields)?,
                _ => return None,
            }
        }
    }

    /// Reads the attribute at `at`. Returns its end.
    fn attribute(&self, tag: Tag, at: usize, fields: &mut Fields) -> Option<usize> {
        // All known names are shorter than `PADDING`.
        let length = look(self.bytes, at)?.iter().position(|&byte| byte == b'=')?;
        let key = Key::of(&self.bytes[at..at + length])?;
        let value = at + length + b"=\"".len();
        if fields.seen & 1 << key as u16 != 0 || *self.bytes.get(value - 1)? != b'"' {
            return None;
        }
        fields.seen |= 1 << key as u16;
        let end = value_end(self.bytes, value)?;
        let text = &self.bytes[value..end];
        let has_entities = memchr::memchr(b'&', text).is_some();
        if text.len() > self.name_bytes || (has_entities && !has_known_entities(text)) {
            return None;
        }
        let span = Span::new(value, end);
        match (tag, key) {
            (Tag::Frame | Tag::Binary, Key::Name) => fields.names[0] = span,
            (Tag::Frame, Key::Addr) | (Tag::Binary, Key::Uuid) if !has_entities => fields.names[1] = span,
            (Tag::Frame, Key::Inlined) => fields.is_inlined = text == b"true",
            (Tag::Binary, Key::Arch) => fields.names[2] = span,
            (Tag::Binary, Key::LoadAddr) if !has_entities => fields.names[3] = span,
            (Tag::Binary, Key::Path) => fields.names[4] = span,
            (Tag::Source, Key::Line) => {
                let (line, line_end) = number(self.bytes, value)?;
                fields.line = Some(u32::try_from(line).ok().filter(|_| line_end == end)?);
            }
            (Tag::Other, Key::Addr | Key::Uuid | Key::LoadAddr) => return None,
            (tag, Key::Fmt) if tag.has_display_name() => fields.fmt = span,
            (Tag::Frame | Tag::Binary, _) => return None,
            _ => {}
        }
        Some(end + 1)
    }

    /// Reads the end tag of an element at `at`. Returns its end.
    #[inline(always)]
    pub(super) fn close(&self, start: &Start, at: usize) -> Option<usize> {
        let name = &self.bytes[start.at + 1..start.name_end];
        let rest = self.bytes[at..].strip_prefix(b"</")?.strip_prefix(name)?;
        (*rest.first()? == b'>').then_some(at + 2 + name.len() + 1)
    }

    /// Adds an element without children, which ends at `end`.
    fn leaf(&mut self, start: &Start, text: Span, end: usize) -> Option<usize> {
        let &Start { tag, id, at, fields, .. } = start;
        let place = self.place(at);
        let value = if tag.has_number() && !start.is_empty { number(self.bytes, start.end) } else { None };
        let op = match value {
            Some((value, number_end)) if self.bytes[number_end] == b'<' => Op::Number { tag, at: place, id, value },
            _ => Op::Leaf { tag, at: place, id, spans: self.tape.spans([fields.fmt, text]) },
        };
        self.tape.ops.push(op);
        Some(end)
    }

    /// Adds an element with children.
    fn parent(&mut self, start: &Start, nesting: u32) -> Option<usize> {
        if start.tag.has_text() || start.tag == Tag::Sentinel {
            return None;
        }
        let spans = self.tape.spans([start.fields.fmt]);
        self.tape.ops.push(Op::Open { tag: start.tag, at: self.place(start.at), id: start.id, spans });
        let end = self.children(start, nesting)?;
        self.tape.ops.push(Op::Close);
        self.close(start, end)
    }

    /// Reads the children of an element up to its end tag. Returns the start of the end tag.
    fn children(&mut self, start: &Start, nesting: u32) -> Option<usize> {
        let mut at = start.end;
        self.enter(start);
        while *self.bytes.get(at + 1)? != b'/' {
            at = self.element(at, nesting + 1)?;
        }
        self.leave(start);
        Some(at)
    }

    /// Marks the element as open.
    #[inline(always)]
    pub(super) fn enter(&mut self, start: &Start) {
        if start.id > 0 {
            self.open.push(start.id);
        }
    }

    #[inline(always)]
    pub(super) fn leave(&mut self, start: &Start) {
        if start.id > 0 {
            self.open.pop();
        }
    }

    fn binary(&mut self, start: &Start) -> Option<usize> {
        let end = if start.is_empty { start.end } else { self.close(start, start.end)? };
        let spans = self.tape.spans(start.fields.names);
        self.tape.ops.push(Op::Binary { at: self.place(start.at), id: start.id, spans });
        Some(end)
    }

    fn source(&mut self, start: &Start, nesting: u32) -> Option<usize> {
        let line = start.fields.line.filter(|_| start.id == 0)?;
        self.tape.ops.push(Op::OpenSource { at: self.place(start.at), line });
        let end = if start.is_empty {
            start.end
        } else {
            let end = self.children(start, nesting)?;
            self.close(start, end)?
        };
        self.tape.ops.push(Op::Close);
        Some(end)
    }

    /// Reads a frame that is defined in a stack. Returns its id and its end.
    pub(super) fn frame(&mut self, at: usize, is_first_child: bool, nesting: u32) -> Option<(u32, usize)> {
        let (tag, name_end) = self.name(at)?;
        if tag != Tag::Frame {
            return None;
        }
        let start = self.start(tag, at, name_end)?;
        let [name, address, ..] = start.fields.names;
        if start.id == 0 {
            return None;
        }
        let spans = self.tape.spans([name, address]);
        let (is_inlined, at, id) = (start.fields.is_inlined, self.place(at), start.id);
        self.tape.ops.push(Op::OpenFrame { is_inlined, is_first_child, at, id, spans });
        let end = if start.is_empty {
            start.end
        } else {
            let end = self.children(&start, nesting)?;
            self.close(&start, end)?
        };
        self.tape.ops.push(Op::CloseFrame);
        Some((id, end))
    }
}
