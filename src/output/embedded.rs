//! Data embedded in a page: elements that browsers do not execute, and compression.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The gzip compression level.
const LEVEL: u32 = 6;

/// Writes a data element, which browsers do not execute.
pub(super) fn write_data(
    out: &mut dyn Write,
    id: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "<script id=\"{id}\" type=\"application/octet-stream\">")?;
    write(out)?;
    out.write_all(b"</script>\n")
}

/// Writes the output of `write` as gzip in Base64.
pub(super) fn compressed(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // The gzip header contains neither the time nor the machine, so equal inputs produce equal pages.
    let mut encoder = GzEncoder::new(EncoderWriter::new(out, &STANDARD), Compression::new(LEVEL));
    write(&mut encoder)?;
    encoder.finish()?.finish().map(drop)
}
