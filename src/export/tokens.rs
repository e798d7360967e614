//! From bytes to tokens: quick-xml on the part of the input that is in memory, as far as whole tokens go.

use quick_xml::encoding::EncodingError;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::{BytesText, Event};
use quick_xml::reader::Reader;

use super::document::DocumentReader;
use super::fault::Fault;

/// How far a pass over the bytes in memory came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Bytes that were read.
    pub(super) used: usize,
    /// Whether the token that follows is not complete in memory.
    pub(super) needs_more: bool,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads tokens until rows follow that are not read as tokens, or the bytes end; at least one if there is one.
///
/// `window` is what is in memory, from the byte `window_offset` of the input on; its first `used` bytes were read.
pub(super) fn read(
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
        if reader.is_skipping() || reader.is_at_rows() {
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
