//! Compressed input, recognised by its first bytes.

use std::io::{self, BufReader, Cursor, Read};

/// `source`, decompressed if it starts as gzip (also of several members) or zstd do; any other input as it is.
///
/// # Errors
/// When the first bytes cannot be read, or the decompressor cannot start.
pub fn decompress<'a, R: Read + Send + 'a>(mut source: R) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut head = [0_u8; 4];
    let mut length = 0;
    while length < head.len() {
        match source.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let all = Cursor::new(head).take(length as u64).chain(source);
    Ok(match &head[..length] {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 17, all))),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(all)?),
        _ => Box::new(all),
    })
}
