//! `traceparse demangle`: demangles names in arguments or text.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use traceparse::demangle::Demangler;

use crate::exit_codes::EXIT_CODES;
use crate::guard::will_write;
use crate::printable;
use crate::sink::write_to;
use crate::unchanged::InputFile;

/// The maximum length of a demangled name, and of a word that is treated as a name.
const LONGEST: usize = 1 << 20;

const EXAMPLES: &str = "\
Examples:
  traceparse demangle __ZN3foo3barEi '$s4Demo6WidgetC4draw5scaleS2i_tF'
      foo::bar(int), and Widget.draw(scale:)
  nm --just-symbol-name App | traceparse demangle | sort
      All names of a program
  traceparse demangle < crash.txt
      The text with mangled names replaced, and nothing else changed";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct DemangleArgs {
    /// Mangled names [default: read from standard input]
    ///
    /// Without names, standard input is copied, and its mangled names are replaced.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// Demangles the arguments or, without arguments, the names in standard input.
pub(crate) fn demangle(args: &DemangleArgs) -> Result<()> {
    will_write(None);
    let demangler = Demangler::new(LONGEST);
    if !args.names.is_empty() {
        return write_to(None, |out| {
            args.names.iter().try_for_each(|name| {
                let demangled = demangler.demangle(name);
                writeln!(out, "{}", printable(demangled.as_deref().unwrap_or(name)))
            })
        });
    }
    let input = InputFile::open(Path::new("-"))?;
    // Reading may fail while writing succeeds, and the two errors have different messages.
    let mut failed = None;
    write_to(None, |out| {
        let mut text = Text { demangler, word: Vec::new(), out };
        failed = text.copy(&mut BufReader::with_capacity(1 << 16, &input))?.err();
        text.end_word()
    })?;
    failed.map_or(Ok(()), Err).context("standard input cannot be read")?;
    input.unless_changed(Ok(()))
}

/// Copies text and demangles its words.
struct Text<'o> {
    demangler: Demangler,
    /// The current word, whose end has not been read yet.
    word: Vec<u8>,
    out: &'o mut dyn Write,
}

impl Text<'_> {
    /// Copies all input. The outer error is about the output, the inner error about the input.
    fn copy(&mut self, input: &mut dyn BufRead) -> io::Result<io::Result<()>> {
        loop {
            let length = match input.fill_buf() {
                Ok([]) => return Ok(Ok(())),
                Ok(bytes) => {
                    self.add(bytes)?;
                    bytes.len()
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(error) => return Ok(Err(error)),
            };
            input.consume(length);
            // Flush, since a program that writes line by line may wait for our output.
            self.out.flush()?;
        }
    }

    fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let length = bytes.iter().position(|&byte| !is_of_name(byte)).unwrap_or(bytes.len());
            let (word, rest) = bytes.split_at(length);
            self.word.extend_from_slice(word);
            if self.word.len() > LONGEST {
                // Too long for a name.
                self.out.write_all(&self.word)?;
                self.word.clear();
            }
            let between = rest.iter().position(|&byte| is_of_name(byte)).unwrap_or(rest.len());
            if between > 0 {
                self.end_word()?;
                self.out.write_all(&rest[..between])?;
            }
            bytes = &rest[between..];
        }
        Ok(())
    }

    /// Writes the word, demangled if it is a name.
    fn end_word(&mut self) -> io::Result<()> {
        let word = std::mem::take(&mut self.word);
        // Identifiers may contain any script, and a name may be followed by punctuation of another script.
        let last_ascii = word.iter().rposition(u8::is_ascii).map_or(0, |last| last + 1);
        let first_other = word.iter().position(|byte| !byte.is_ascii()).unwrap_or(word.len());
        let mut ends = [word.len(), last_ascii, first_other].into_iter();
        let name_end = ends.find_map(|end| Some((self.name(&word[..end])?, end)));
        match name_end {
            Some((name, end)) => {
                self.out.write_all(name.as_bytes())?;
                self.out.write_all(&word[end..])?;
            }
            None => self.out.write_all(&word)?,
        }
        self.word = word;
        self.word.clear();
        Ok(())
    }

    fn name(&self, word: &[u8]) -> Option<String> {
        self.demangler.demangle(std::str::from_utf8(word).ok()?)
    }
}

/// True if a mangled name may contain this byte.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &[u8], piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut copy = Text { demangler: Demangler::new(LONGEST), word: Vec::new(), out: &mut out };
        copy.copy(&mut BufReader::with_capacity(piece, text)).unwrap().unwrap();
        copy.end_word().unwrap();
        out
    }

    #[test]
    fn replaces_names_in_text_and_copies_the_rest() {
        let text =
            "0x1 __ZN3foo3barEi + 4\r\n\t(_RNvCs1234_7orchard3foo)\n_Z1f_ main Zebra T0 R $ \u{1}\n_ZN2é1fEv→ _Z1fv";
        let expected = "0x1 foo::bar(int) + 4\r\n\t(orchard::foo)\n_Z1f_ main Zebra T0 R $ \u{1}\né::f()→ f()";
        for piece in 1..text.len() {
            assert_eq!(String::from_utf8(copied(text.as_bytes(), piece)).unwrap(), expected, "{piece}");
        }
    }

    #[test]
    fn copies_bytes_that_are_not_text() {
        let bytes: Vec<u8> = (0..=255).chain([0xff, b'_', b'Z', 0xfe]).collect();
        assert_eq!(copied(&bytes, 7), bytes);
        let long = vec![b'_'; 3 * LONGEST];
        assert_eq!(copied(&long, 1 << 16), long);
    }
}
