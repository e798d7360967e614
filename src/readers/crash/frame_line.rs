//! The line of a frame in a text report.
//!
//! ```text
//! 4   App                             0x0000000104130e78 closure #1 in Scene.push() + 208 (Scene.swift:199)
//! 5   App                             0x0000000104130e78 0x104000000 + 1248888
//! 6   ???                             0x00000001f0000000 ???
//! ```

use crate::readers::images::hex;

/// The parts of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameLine<'l> {
    pub(crate) number: &'l str,
    /// The text from the number to the end of the address.
    pub(crate) middle: &'l str,
    pub(crate) image: &'l str,
    pub(crate) address: u64,
    /// The name of the function.
    pub(crate) symbol: &'l str,
    /// The offset in the function or, after a load address, in the image.
    pub(crate) offset: Option<u64>,
    /// The load address, in place of a name.
    pub(crate) base: Option<u64>,
    pub(crate) source: Option<(&'l str, u32)>,
}

impl<'l> FrameLine<'l> {
    /// Parses a line; `None` if it has another form.
    pub(crate) fn parse(line: &'l str) -> Option<Self> {
        let (number, after) = line.split_at(line.bytes().take_while(u8::is_ascii_digit).count());
        if number.is_empty() || !after.starts_with([' ', '\t']) {
            return None;
        }
        // The name of an image may contain spaces.
        let is_start = |at: usize| after[..at].ends_with([' ', '\t']);
        let (image, start, address) = after
            .match_indices("0x")
            .filter(|&(at, _)| is_start(at))
            .find_map(|(at, _)| {
                let word = after[at..].split([' ', '\t']).next()?;
                let address = hex(word)?;
                let image = after[..at].trim();
                (!image.is_empty()).then_some((image, at + word.len(), address))
            })
            .or_else(|| null_address(after))?;
        let (middle, rest) = after.split_at(start);
        // Some tools mark inlined functions, which have the address of the next frame.
        let rest = rest.trim();
        let (symbol, offset, source) = split(rest.strip_suffix(" [inlined]").unwrap_or(rest));
        let symbol = without_image(symbol, image);
        let base = hex(symbol).or((symbol == "0").then_some(0)).filter(|_| offset.is_some());
        // PLCrashReporter writes the name of the image in place of its address.
        let of_image =
            || offset.filter(|_| symbol == image && source.is_none()).and_then(|offset| address.checked_sub(offset));
        Some(Self { number, middle, image, address, symbol, offset, base: base.or_else(of_image), source })
    }

    /// Returns the name of the function, if there is one.
    pub(crate) fn name(&self) -> Option<&'l str> {
        let is_name = self.base.is_none() && !is_placeholder(self.symbol) && hex(self.symbol).is_none();
        is_name.then_some(self.symbol)
    }
}

/// Removes the image that other tools write after a name: `draw (in App)` and `draw (App + 123)`.
fn without_image<'l>(symbol: &'l str, image: &str) -> &'l str {
    let is_image = |inside: &str| {
        let offset = inside.strip_prefix(image).and_then(|rest| rest.strip_prefix(" + "));
        inside.strip_prefix("in ") == Some(image) || offset.is_some_and(is_digits)
    };
    let parts = symbol.strip_suffix(')').and_then(|symbol| symbol.rsplit_once(" ("));
    parts.filter(|(_, inside)| is_image(inside)).map_or(symbol, |(name, _)| name.trim_end())
}

/// Finds the address of a call of a null pointer. Before macOS 12, it has no prefix: `??? 000000000000000000 0 + 0`.
fn null_address(after: &str) -> Option<(&str, usize, u64)> {
    let word = after.split([' ', '\t']).find(|word| word.len() >= 16 && word.bytes().all(|byte| byte == b'0'))?;
    let at = word.as_ptr() as usize - after.as_ptr() as usize;
    let image = after[..at].trim();
    (!image.is_empty()).then_some((image, at + word.len(), 0))
}

/// Splits `f() + 12 (File.swift:34)` into name, offset and source line. A line of −1 is unknown.
fn split(text: &str) -> (&str, Option<u64>, Option<(&str, u32)>) {
    let colon = text.strip_suffix(')').and_then(|text| Some((text.rfind(':')?, text.len())));
    let colon = colon.filter(|&(colon, end)| is_digits(text[colon + 1..end].trim_start_matches('-')));
    // The source line, if it starts here.
    let source = |start: usize| {
        let (colon, end) = colon.filter(|&(colon, _)| text[start..].starts_with(" (") && start + 2 <= colon)?;
        let (file, line) = (&text[start + 2..colon], &text[colon + 1..end]);
        // `file.swift:12:5` also has a column.
        let (file, line) = file.rsplit_once(':').filter(|(_, line)| is_digits(line)).unwrap_or((file, line));
        let line = line.parse().ok();
        Some(line.filter(|_| !file.is_empty()).map(|line| (file, line)))
    };
    for (at, plus) in text.rmatch_indices(" + ") {
        let start = at + plus.len();
        let end = start + text[start..].bytes().take_while(u8::is_ascii_digit).count();
        let line = if end == text.len() { Some(None) } else { source(end) };
        if let Some(line) = line.filter(|_| end > start) {
            return (&text[..at], text[start..end].parse().ok(), line);
        }
    }
    let without_offset = text.rfind(" (").and_then(|at| Some((at, source(at)?)));
    without_offset.map_or((text, None, None), |(at, source)| (&text[..at], None, source))
}

/// True for text in place of the name of a function.
pub(super) fn is_placeholder(name: &str) -> bool {
    matches!(name, "" | "???" | "<redacted>" | "<unknown>")
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_of_every_form() {
        let line = |line| {
            FrameLine::parse(line)
                .map(|line| (line.image, line.address, line.name(), line.offset, line.base, line.source))
        };
        for (text, expected) in [
            (
                "4   My App                        \t0x0000000104130e78 closure #1 in A.b(_:) + 208 (A.swift:199)",
                Some(("My App", 0x1_0413_0e78, Some("closure #1 in A.b(_:)"), Some(208), None, Some(("A.swift", 199)))),
            ),
            ("12  App  0x10 0x8 + 8", Some(("App", 0x10, None, Some(8), Some(8), None))),
            ("1   App  0x10 App + 8", Some(("App", 0x10, None, Some(8), Some(8), None))),
            ("1   App  0x10 f() (f.c:3)", Some(("App", 0x10, Some("f()"), None, None, Some(("f.c", 3))))),
            ("1   App  0x10 f() (f.c:3:14)", Some(("App", 0x10, Some("f()"), None, None, Some(("f.c", 3))))),
            (
                "1   App  0x10 draw() (in App) (a.c:3)",
                Some(("App", 0x10, Some("draw()"), None, None, Some(("a.c", 3)))),
            ),
            ("1   App  0x10 -[A b:] (in App) + 8", Some(("App", 0x10, Some("-[A b:]"), Some(8), None, None))),
            ("1   App  0x10 draw() (App + 16)", Some(("App", 0x10, Some("draw()"), None, None, None))),
            ("1   App  0x10 draw() (in Other)", Some(("App", 0x10, Some("draw() (in Other)"), None, None, None))),
            ("1   App  0x10 0x8 (in App) + 8", Some(("App", 0x10, None, Some(8), Some(8), None))),
            ("1   App  0x10 0x10 (in App)", Some(("App", 0x10, None, None, None, None))),
            (
                "1   App  0x10 f() + 24 (a.c:4) [inlined]",
                Some(("App", 0x10, Some("f()"), Some(24), None, Some(("a.c", 4)))),
            ),
            ("1   App  0x10 trap + 8 (:-1)", Some(("App", 0x10, Some("trap"), Some(8), None, None))),
            ("1   ???  0x10 ???", Some(("???", 0x10, None, None, None, None))),
            ("1   App  0x10", Some(("App", 0x10, None, None, None, None))),
            ("0   ???    \t000000000000000000 0 + 0", Some(("???", 0, None, Some(0), Some(0), None))),
            (
                "0   ???  0x00000001deadbeef 0 + 8030240495",
                Some(("???", 0x1_dead_beef, None, Some(8_030_240_495), Some(0), None)),
            ),
            (
                "1   App  0x10 a + b + 0 (C (1).cc:2)",
                Some(("App", 0x10, Some("a + b"), Some(0), None, Some(("C (1).cc", 2)))),
            ),
            ("1   0x10", None),
            ("1 App", None),
            ("x0: 0x10 x1: 0x20", None),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }
}
