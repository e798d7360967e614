//! Tokenizes the part of the input that is in memory with quick-xml, up to the last complete token.

use quick_xml::encoding::EncodingError;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::reader::Reader;

use super::super::position::Fault;
use super::{Content, DocumentReader};
use crate::readers::well_formed::{
    Broken, check_characters, check_declaration, check_instruction, check_tag, check_text, resolve,
};

/// The progress of a pass over the bytes in memory.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Step {
    /// The number of bytes that were read.
    pub(in super::super) used: usize,
    /// True if the next token is incomplete in memory.
    pub(in super::super) needs_more: bool,
}

impl<C: Content> DocumentReader<'_, C> {
    /// Checks a start tag for well-formedness, and handles it.
    #[inline]
    fn start_tag(&mut self, start: &BytesStart<'_>, at: u64, is_empty: bool) -> Result<(), Fault> {
        self.is_behind_declaration = false;
        match check_tag(start) {
            Err(broken) if !self.starts_unread_row(start.name().into_inner()) => Err(Fault::malformed(broken, at)),
            _ => self.take_start(start, at, is_empty),
        }
    }

    /// Nothing may precede an XML declaration. Anything between two documents belongs to the first one.
    fn begin_prolog(&mut self) {
        self.is_behind_declaration |= !self.has_documents() && !self.is_in_document();
    }

    /// Checks the next token, at byte `at`, for well-formedness, and handles it.
    fn token(&mut self, event: Event<'_>, at: u64) -> Result<(), Fault> {
        let broken = |broken: Broken| Fault::malformed(broken, at);
        match event {
            Event::Start(start) => self.start_tag(&start, at, false),
            Event::Empty(start) => self.start_tag(&start, at, true),
            Event::End(end) => self.take_end(end.name().into_inner(), at),
            Event::Text(text) => check_text(&text).map_err(broken).and_then(|()| self.take_text(&text, at)),
            Event::CData(text) => check_characters(&text).map_err(broken).and_then(|()| self.take_text(&text, at)),
            Event::GeneralRef(reference) => {
                let undefined = || Fault::malformed(format!("the entity &{}; is not defined", &*reference), at);
                let character = resolve(&reference).ok_or_else(undefined)?;
                self.take_text(character.encode_utf8(&mut [0; 4]), at)
            }
            Event::DocType(_) if !self.is_in_document() => {
                Err(Fault::not_an_export("no export has a DOCTYPE; is this a web page?", at))
            }
            Event::DocType(_) => Err(Fault::malformed("a DOCTYPE inside the document", at)),
            Event::Decl(declaration) => {
                check_declaration(&declaration).map_err(broken)?;
                if std::mem::replace(&mut self.is_behind_declaration, true) {
                    return Err(Fault::malformed("an XML declaration is not at the start of its document", at));
                }
                self.cut_if_open(at)
            }
            Event::Comment(text) => check_characters(&text).map_err(broken).map(|()| self.begin_prolog()),
            Event::PI(instruction) => check_instruction(&instruction).map_err(broken).map(|()| self.begin_prolog()),
            Event::Eof => Ok(()),
        }
    }
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads tokens up to rows that are not read as tokens, or to the end of the bytes. Reads at least one token, if there is one.
///
/// `window` contains the bytes in memory, starting at `window_offset` of the input. Its first `used` bytes have been read.
pub(super) fn read<C: Content>(
    reader: &mut DocumentReader<'_, C>,
    window: &[u8],
    used: usize,
    window_offset: u64,
    is_end: bool,
) -> Result<Step, Fault> {
    let (bytes, offset) = (&window[used..], window_offset + used as u64);
    // quick-xml removes a byte order mark at the start of every slice without counting it. After the start of the input, the mark is text.
    if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        if offset > 0 {
            reader.token(Event::Text(BytesText::from_escaped(BYTE_ORDER_MARK)), offset)?;
        }
        return Ok(Step { used: BYTE_ORDER_MARK.len(), needs_more: false });
    }
    let mut xml = Reader::from_reader(bytes);
    let config = xml.config_mut();
    // The document reader tracks open elements across windows; quick-xml sees only one window.
    config.check_end_names = false;
    config.check_comments = true;
    config.allow_unmatched_ends = true;
    loop {
        let start = xml.buffer_position();
        let at = offset + start;
        let event = match xml.read_event() {
            Ok(Event::Eof) => return Ok(Step { used: bytes.len(), needs_more: true }),
            Ok(Event::Text(_)) if !is_end && xml.buffer_position() == bytes.len() as u64 => {
                // The text may continue after the window.
                return Ok(Step { used: start as usize, needs_more: true });
            }
            Ok(event) => event,
            Err(error) if is_incomplete(&error, &xml, bytes, start as usize) => {
                return Ok(Step { used: start as usize, needs_more: true });
            }
            Err(error) => return Err(Fault::malformed(describe(&error), at)),
        };
        reader.token(event, at)?;
        reader.remember_line(at, |from, to| {
            let range = (from - window_offset) as usize..(to - window_offset) as usize;
            memchr::memchr_iter(b'\n', &window[range]).count() as u64
        });
        if reader.wants_no_tokens() {
            return Ok(Step { used: xml.buffer_position() as usize, needs_more: false });
        }
    }
}

/// True if the error may only mean that the token continues beyond the bytes in memory.
fn is_incomplete(error: &quick_xml::Error, xml: &Reader<&[u8]>, bytes: &[u8], start: usize) -> bool {
    match error {
        // `<!` alone may be the start of a comment or CDATA; `<!x` may not.
        quick_xml::Error::Syntax(SyntaxError::InvalidBangMarkup) => {
            ["<!--", "<![CDATA[", "<!DOCTYPE"].iter().any(|markup| markup.as_bytes().starts_with(&bytes[start..]))
        }
        quick_xml::Error::Syntax(_) => true,
        quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => xml.buffer_position() == bytes.len() as u64,
        quick_xml::Error::Encoding(EncodingError::Utf8(error)) => error.error_len().is_none(),
        _ => false,
    }
}

fn describe(error: &quick_xml::Error) -> String {
    match error {
        quick_xml::Error::Encoding(_) => "the text is not valid UTF-8".to_owned(),
        error => format!("not well-formed XML: {error}"),
    }
}
