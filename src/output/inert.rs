//! Makes text from inputs inert, so that it cannot steer a terminal, break lines or reverse other text.
//!
//! Function, thread and file names contain any recorded bytes. All output for people (text, HTML, SVG, messages of the command) passes them
//! through [`inert`]. Formats for programs keep every byte of a name, and use an [`InertWriter`] only on a terminal.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use super::tone::starts_with_colour;

/// Returns the text with visible escapes (`\u{202e}`, `\n`) for every character that is invisible or affects the text around it: control characters,
/// line breaks, directional marks and overrides, tags, and other characters that Unicode classifies as ignorable.
///
/// Characters of all scripts are unchanged, including the characters needed to write them: combining marks, the joiners of Persian and of emoji,
/// variation selectors.
pub fn inert(text: &str) -> Cow<'_, str> {
    if is_inert(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// True if the text contains no acting character. This is fast for ASCII, like most names, in which only control characters act.
fn is_inert(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(acts)
}

/// True for a character that is invisible or affects others: controls (C0, DEL, C1), line and paragraph separators, interlinear annotations, the two
/// noncharacters that XML forbids, and characters with the property Default_Ignorable_Code_Point, except those needed to write words.
pub(super) fn acts(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Joiners and variation selectors, needed for Persian words, Mongolian and Han characters, and emoji.
        '\u{200c}' | '\u{200d}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' => false,
        '\u{e0100}'..='\u{e01ef}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

/// The syntax of a format, which determines its line breaks and escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// Lines of text that end with a line feed. Escapes are the same as in [`inert`].
    Lines,
    /// Lines of text with the colours of a [`Style`](super::Style).
    Coloured,
    /// Like [`Lines`](Self::Lines), but between double quotes a line feed is part of a cell and is escaped.
    Csv,
    /// JSON with its own escapes (`\u202e`), so parsers read the same values.
    Json,
}

impl Syntax {
    /// Writes machine-readable output to `out` so that it is safe on a terminal: acting characters are escaped, as in [`inert`], except the line
    /// breaks of the format.
    ///
    /// # Errors
    /// If `write` or `out` fails.
    pub fn write_inert(
        self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = InertWriter::new(out, self);
        write(&mut out)?;
        out.flush()
    }
}

/// Escapes the characters that pass through it. An incomplete character is written when it is flushed.
struct InertWriter<W> {
    out: W,
    syntax: Syntax,
    is_quoted: bool,
    /// The first bytes of a character that is still incomplete.
    rest: Vec<u8>,
}

impl<W: Write> InertWriter<W> {
    fn new(out: W, syntax: Syntax) -> Self {
        Self { out, syntax, is_quoted: false, rest: Vec::new() }
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let mut start = 0;
        for (at, c) in text.char_indices() {
            self.is_quoted ^= c == '"' && self.syntax == Syntax::Csv;
            let ends_line = c == '\n' && !self.is_quoted;
            let is_colour = || self.syntax == Syntax::Coloured && starts_with_colour(&text[at..]);
            if ends_line || !acts(c) || is_colour() {
                continue;
            }
            self.out.write_all(&text.as_bytes()[start..at])?;
            self.escape(c)?;
            start = at + c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[start..])
    }

    fn escape(&mut self, c: char) -> io::Result<()> {
        match self.syntax {
            Syntax::Lines | Syntax::Coloured | Syntax::Csv => write!(self.out, "{}", c.escape_default()),
            // Line feeds within JSON values are already escaped, so this one is between values.
            Syntax::Json => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(self.out, "\\u{unit:04x}")),
        }
    }

    /// Escapes bytes that are not UTF-8.
    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.iter().try_for_each(|byte| write!(self.out, "\\x{byte:02x}"))
    }
}

impl<W: Write> Write for InertWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut joined = std::mem::take(&mut self.rest);
        let mut text = bytes;
        if !joined.is_empty() {
            joined.extend_from_slice(bytes);
            text = &joined;
        }
        while !text.is_empty() {
            let error = match std::str::from_utf8(text) {
                Ok(text) => {
                    self.write_text(text)?;
                    break;
                }
                Err(error) => error,
            };
            let (valid, others) = text.split_at(error.valid_up_to());
            self.write_text(&String::from_utf8_lossy(valid))?;
            let Some(length) = error.error_len() else {
                self.rest = others.to_vec();
                break;
            };
            self.write_bytes(&others[..length])?;
            text = &others[length..];
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.write_bytes(&rest)?;
        self.out.flush()
    }
}

/// Writes text for people through `write`. All acting characters are escaped here, so no view can forget them. The exceptions are line feeds and,
/// in coloured text, the colour codes. Line feeds in names are escaped by the functions that fit text into a line.
pub(super) fn write_text(
    is_coloured: bool,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let syntax = if is_coloured { Syntax::Coloured } else { Syntax::Lines };
    write(&mut InertWriter::new(out, syntax))
}

/// Displays text as the content of an element or as an attribute value in double quotes.
///
/// Characters that [act](acts) are escaped as `\u{202e}`, as in all text, so different names always look different.
pub(super) struct Text<'t>(pub(super) &'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if acts(c) => write!(f, "{}", c.escape_default())?,
                c => f.write_str(c.encode_utf8(&mut [0; 4]))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::{Style, Tone};

    /// Characters that must not reach a reader, each with its escape.
    const ACTING: [(char, &str); 26] = [
        ('\0', "\\u{0}"),
        ('\u{7}', "\\u{7}"),
        ('\t', "\\t"),
        ('\n', "\\n"),
        ('\r', "\\r"),
        ('\u{1b}', "\\u{1b}"),
        ('\u{7f}', "\\u{7f}"),
        ('\u{85}', "\\u{85}"),
        ('\u{9b}', "\\u{9b}"),
        ('\u{ad}', "\\u{ad}"),
        ('\u{61c}', "\\u{61c}"),
        ('\u{200b}', "\\u{200b}"),
        ('\u{200e}', "\\u{200e}"),
        ('\u{200f}', "\\u{200f}"),
        ('\u{2028}', "\\u{2028}"),
        ('\u{2029}', "\\u{2029}"),
        ('\u{202a}', "\\u{202a}"),
        ('\u{202e}', "\\u{202e}"),
        ('\u{2060}', "\\u{2060}"),
        ('\u{2066}', "\\u{2066}"),
        ('\u{2069}', "\\u{2069}"),
        ('\u{3164}', "\\u{3164}"),
        ('\u{feff}', "\\u{feff}"),
        ('\u{fff9}', "\\u{fff9}"),
        ('\u{e0041}', "\\u{e0041}"),
        ('\u{e007f}', "\\u{e007f}"),
    ];

    /// Ordinary names in many scripts.
    const NAMES: [&str; 8] = [
        "-[Widget draw:]",
        "std::vector<int>::~vector()",
        "日本語のスレッド",
        "Größe café cafe\u{301}",
        "خيط الرسم",
        "می\u{200c}خواهم",
        "שלום",
        "👩\u{200d}💻 ☺\u{fe0f} 葛\u{e0100}",
    ];

    #[test]
    fn what_acts_is_escaped_and_the_rest_stays() {
        for (c, shown) in ACTING {
            assert_eq!(inert(&format!("a{c}é")), format!("a{shown}é"), "{:04x}", u32::from(c));
        }
        for name in NAMES {
            assert!(matches!(inert(name), Cow::Borrowed(same) if same == name), "{name}");
        }
    }

    fn shown(text: &[u8], syntax: Syntax, step: usize) -> String {
        let mut writer = InertWriter::new(Vec::new(), syntax);
        text.chunks(step).for_each(|chunk| writer.write_all(chunk).unwrap());
        writer.flush().unwrap();
        String::from_utf8(writer.out).unwrap()
    }

    #[test]
    fn formats_keep_their_own_line_breaks() {
        let (lines, csv) = ("a\tb;c\u{202e} 1\nd 2\n", "a,\"b\nc\"\"\n\"\n\u{9b}d,e\n");
        let json = "{\n  \"a\u{202e}\": \"\u{e0041}\u{7f}\"\n}\n";
        for step in [1, 2, 3, 100] {
            assert_eq!(shown(lines.as_bytes(), Syntax::Lines, step), "a\\tb;c\\u{202e} 1\nd 2\n");
            assert_eq!(shown(csv.as_bytes(), Syntax::Csv, step), "a,\"b\\nc\"\"\\n\"\n\\u{9b}d,e\n");
            let json_shown = shown(json.as_bytes(), Syntax::Json, step);
            assert_eq!(json_shown, "{\n  \"a\\u202e\": \"\\udb40\\udc41\\u007f\"\n}\n");
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(&json_shown), read(json), "the values are the same");
        }
    }

    #[test]
    fn coloured_text_keeps_only_the_colours_of_a_style() {
        let style = Style { is_coloured: true, ..Style::default() };
        let own = style.paint(Tone::Bad, "a\u{1b}[2J\n") + "\n";
        let text = own.clone() + "\u{1b}[5m\u{1b}[1;32mb\u{1b}]0;c\u{7}\u{9b}2J\u{1b}[3";
        let escaped = own + "\\u{1b}[5m\\u{1b}[1;32mb\\u{1b}]0;c\\u{7}\\u{9b}2J\\u{1b}[3";
        assert_eq!(shown(text.as_bytes(), Syntax::Coloured, text.len()), escaped);
        assert!(escaped.starts_with("\u{1b}[1;31ma\\u{1b}[2J\\n\u{1b}[0m\n"), "{escaped}");
    }

    #[test]
    fn shows_bytes_that_are_not_text() {
        for step in [1, 2, 100] {
            assert_eq!(shown(b"a\xffb\xe6\x97", Syntax::Lines, step), "a\\xffb\\xe6\\x97");
            assert_eq!(shown(b"\x9b2J \xc2\x9b", Syntax::Lines, step), "\\x9b2J \\u{9b}");
        }
    }

    #[test]
    fn keeps_ordinary_text() {
        let text = NAMES.join(",\n");
        for syntax in [Syntax::Lines, Syntax::Csv, Syntax::Json] {
            assert_eq!(shown(text.as_bytes(), syntax, 5), text);
        }
    }

    #[test]
    fn what_html_would_read_is_escaped() {
        let text = Text("<b a=\"1\" c='2'>&amp;</b>").to_string();
        assert_eq!(text, "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
    }

    #[test]
    fn shows_invisible_characters() {
        assert_eq!(Text("a\u{202e}b\0\n\u{85}").to_string(), "a\\u{202e}b\\u{0}\\n\\u{85}");
        // Characters of all scripts and the joiners of emoji are kept.
        assert_eq!(Text("Größe שלום 👩\u{200d}💻").to_string(), "Größe שלום 👩\u{200d}💻");
    }
}
