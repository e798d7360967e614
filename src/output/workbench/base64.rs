//! Base64 as a stream: the complete payload is never in memory.

use std::io::{self, Write};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes that are encoded at a time; three make four letters.
const BLOCK: usize = 3 * 4_096;

/// A writer that encodes what it is given, and writes it on. [`finish`](Self::finish) writes the end.
pub(super) struct Base64Writer<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
}

impl<'o> Base64Writer<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out, bytes: Vec::with_capacity(BLOCK) }
    }

    /// Writes what is left, with `=` where a group is not full.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.encode()
    }

    fn encode(&mut self) -> io::Result<()> {
        let mut text = Vec::with_capacity(self.bytes.len().div_ceil(3) * 4);
        for group in self.bytes.chunks(3) {
            let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
            let letters = [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63]);
            text.extend_from_slice(&letters[..group.len() + 1]);
            text.extend_from_slice(&b"=="[..3 - group.len()]);
        }
        self.bytes.clear();
        self.out.write_all(&text)
    }
}

impl Write for Base64Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        if self.bytes.len() == BLOCK {
            self.encode()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let mut writer = Base64Writer::new(&mut out);
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn encodes_the_examples_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
        assert_eq!(encoded(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn blocks_join_without_a_seam() {
        let bytes = vec![b'a'; 2 * BLOCK + 1];
        let text = encoded(&bytes);
        assert_eq!(text.len(), 2 * BLOCK / 3 * 4 + 4);
        assert_eq!(text, format!("{}YQ==", "YWFh".repeat(2 * BLOCK / 3)));
    }
}
