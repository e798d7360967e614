//! From bytes to tokens: quick-xml on the part of the input that is in memory, as far as whole tokens go.

use std::io::{self, Read};

use quick_xml::encoding::EncodingError;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::{BytesText, Event};
use quick_xml::reader::Reader;

use super::document::{DocumentReader, Unfinished};
use super::fault::Fault;
use super::window::Window;
use super::{Options, skip};
use crate::error::{Error, ErrorKind, Position};

/// How far a pass over the bytes in memory came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Bytes that were read.
    pub(super) used: usize,
    /// Whether the token that follows is not complete in memory.
    pub(super) needs_more: bool,
}

/// Reads all documents of an input; gives the number of bytes.
pub(super) fn read_documents<R: Read>(
    source: R,
    input: &str,
    reader: &mut DocumentReader<'_>,
    options: &Options,
) -> Result<u64, Error> {
    let mut window = Window::new(source, options.buffer_size);
    let mut head = Vec::new();
    loop {
        window.fill().map_err(|error| {
            let byte = window.offset() + window.bytes().len() as u64;
            Error::io(error, Some(Position { input: input.to_owned(), line: window.line_of(byte), byte }))
        })?;
        if window.offset() == 0 {
            head.clear();
            head.extend(window.bytes().iter().take(HEAD));
        }
        reader.enter_window(window.offset(), window.line_of(window.offset()));
        let used = read_window(reader, &window).map_err(|fault| {
            let is_nothing_yet = reader.documents.is_empty() && reader.unfinished().is_none();
            match fault.kind {
                // What is broken before any document starts is no export at all.
                ErrorKind::Malformed(_) if is_nothing_yet => {
                    let kind = ErrorKind::NotAnExport(super::sniff::describe(&head));
                    locate(Fault { kind, ..fault }, input, &window)
                }
                _ => locate(fault, input, &window),
            }
        })?;
        reader.locate_diagnostics(|byte| window.line_of(byte));
        window.consume(used);
        if window.is_at_end() && (window.bytes().is_empty() || used == 0) {
            return finish(reader, input, &mut window, &head, options);
        }
        if used == 0 && window.capacity() > options.limits.token_bytes {
            let limit = options.limits.token_bytes;
            let kind = ErrorKind::Limit(format!("a single tag or text is larger than {limit} bytes"));
            return Err(locate(Fault { kind, byte: window.offset(), line: None }, input, &window));
        }
    }
}

/// How much of the start of an input is kept to say what it looks like.
const HEAD: usize = 512;

/// Ends the input: it should be between documents, and hold one at least.
fn finish<R: Read>(
    reader: &mut DocumentReader<'_>,
    input: &str,
    window: &mut Window<R>,
    head: &[u8],
    options: &Options,
) -> Result<u64, Error> {
    let end = window.offset() + window.bytes().len() as u64;
    let cut = window.take_cut();
    let is_compressed_cut = cut.is_some();
    let fail = |kind, byte, line, cut: Option<io::Error>| {
        let source = cut.map(|error| Box::new(error) as _);
        Err(Error { source, ..locate(Fault { kind, byte, line }, input, window) })
    };
    if let Some(Unfinished { inside, byte, line }) = reader.unfinished() {
        if !options.allow_truncated {
            return fail(ErrorKind::Truncated { inside, end, rows: reader.rows }, byte, Some(line), cut);
        }
        reader.accept_cut(end);
        return Ok(end);
    }
    if reader.documents.is_empty() {
        return match cut {
            Some(_) => {
                fail(ErrorKind::Truncated { inside: "compressed data".to_owned(), end, rows: 0 }, end, None, cut)
            }
            None => fail(ErrorKind::NotAnExport(super::sniff::describe(head)), 0, Some(1), None),
        };
    }
    // All documents are complete; is something behind them that is not?
    if is_compressed_cut || window.bytes().starts_with(b"<") {
        if !options.allow_truncated {
            let inside = "what follows the document".to_owned();
            return fail(ErrorKind::Truncated { inside, end, rows: reader.rows }, window.offset(), None, cut);
        }
        reader.mark_cut(end);
    }
    Ok(end)
}

fn locate<R: Read>(fault: Fault, input: &str, window: &Window<R>) -> Error {
    let line = fault.line.unwrap_or_else(|| window.line_of(fault.byte));
    let at = Position { input: input.to_owned(), line, byte: fault.byte };
    Error::new(fault.kind, Some(at))
}

/// Reads the whole tokens in the window; gives the bytes read.
fn read_window<R: Read>(reader: &mut DocumentReader<'_>, window: &Window<R>) -> Result<usize, Fault> {
    let (bytes, offset) = (window.bytes(), window.offset());
    let mut used = 0;
    while used < bytes.len() {
        let rest = &bytes[used..];
        let step = if reader.is_skipping() {
            skip::rows(reader, rest, window.is_at_end())
        } else {
            Step { used: 0, needs_more: false }
        };
        used += step.used;
        if step.needs_more {
            break;
        }
        let step = tokens(reader, bytes, used, offset, window.is_at_end())?;
        used += step.used;
        if step.needs_more {
            break;
        }
    }
    Ok(used)
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads tokens until the rows of a table pass by that is not read, or the bytes end; at least one if there is one.
///
/// `window` is what is in memory, from the byte `window_offset` of the input on; its first `used` bytes were read.
fn tokens(
    reader: &mut DocumentReader<'_>,
    window: &[u8],
    used: usize,
    window_offset: u64,
    is_end: bool,
) -> Result<Step, Fault> {
    let (bytes, offset) = (&window[used..], window_offset + used as u64);
    // quick-xml takes a byte order mark away at the start of every slice, and does not count it. At the start of the
    // input it is none of the text; anywhere else it is.
    if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        if offset > 0 {
            reader.token(Event::Text(BytesText::from_escaped(BYTE_ORDER_MARK)), offset)?;
        }
        return Ok(Step { used: BYTE_ORDER_MARK.len(), needs_more: false });
    }
    let mut xml = Reader::from_reader(bytes);
    let config = xml.config_mut();
    // The document reader knows what is open, across windows; quick-xml sees one window only.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    loop {
        let start = xml.buffer_position();
        let at = offset + start;
        let event = match xml.read_event() {
            Ok(Event::Eof) => return Ok(Step { used: bytes.len(), needs_more: true }),
            Ok(Event::Text(_)) if !is_end && xml.buffer_position() == bytes.len() as u64 => {
                // The text may go on beyond the window.
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
        if reader.is_skipping() {
            return Ok(Step { used: xml.buffer_position() as usize, needs_more: false });
        }
    }
}

/// Whether the error may be only that the token goes on beyond the bytes in memory.
fn is_incomplete(error: &quick_xml::Error, xml: &Reader<&[u8]>, bytes: &[u8], start: usize) -> bool {
    match error {
        // `<!` alone is the start of a comment or CDATA; `<!x` is not.
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
