//! Parses the lines of a call graph: threads, and the frames below them.

use crate::profile::MAIN_THREAD;
use crate::readers::images::hex;
use crate::units::LONGEST_FUNCTION;

/// The parts of a call graph line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphLine<'l> {
    /// 0 for threads.
    pub(super) depth: usize,
    /// The number of samples through it.
    pub(super) count: u64,
    /// The text after the number.
    pub(super) text: &'l str,
}

impl<'l> GraphLine<'l> {
    /// Parses a line; an error explains what is wrong with it.
    pub(super) fn parse(line: &'l str) -> Result<Self, &'static str> {
        let column = line.find(|character: char| !matches!(character, ' ' | '+' | '!' | ':' | '|'));
        let rest = column.and_then(|column| line.get(column..)).unwrap_or_default();
        let (count, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let (Some(column), true) = (column, is_number) else {
            return Err("a line of the call graph lacks its number of samples");
        };
        let count = count.parse().map_err(|_| "the number of samples is too large")?;
        match column.checked_sub(4) {
            Some(indent) if indent % 2 == 0 => Ok(Self { depth: indent / 2, count, text }),
            _ => Err("a line of the call graph is indented by an odd number of columns"),
        }
    }
}

/// The text of a thread: `Thread_357865: NAME   DispatchQueue_1: com.apple.main-thread  (serial)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadText<'l> {
    /// `None` for `Thread_<multiple>`.
    pub(super) tid: Option<u64>,
    pub(super) name: &'l str,
    /// True for a thread that serves the main queue.
    pub(super) is_main: bool,
}

/// The main queue. It identifies the main thread even in programs that rename it, such as browsers.
const MAIN_QUEUE: &str = "com.apple.main-thread";

impl<'l> ThreadText<'l> {
    /// Returns `None` for text that does not describe a thread.
    pub(super) fn parse(text: &'l str) -> Option<Self> {
        let text = text.strip_prefix("Thread_")?;
        let (thread, queue) = text.split_once("   DispatchQueue_").unwrap_or((text, ""));
        let (number, name) = thread.split_once(": ").unwrap_or((thread, ""));
        let label = queue.split_once(": ").map_or("", |(_, label)| label);
        let label = label.trim_end().trim_end_matches("(serial)").trim_end_matches("(concurrent)").trim_end();
        let is_main = label == MAIN_QUEUE;
        let name = match name.trim() {
            "" if is_main => MAIN_THREAD,
            "" => label,
            name => name,
        };
        let number = number.trim();
        match number.parse() {
            Ok(tid) => Some(Self { tid: Some(tid), name, is_main }),
            Err(_) if number == "<multiple>" => {
                Some(Self { tid: None, name: if name.is_empty() { number } else { name }, is_main })
            }
            Err(_) => None,
        }
    }
}

/// The text of a frame: `SYMBOL  (in BINARY) + OFFSET  [ADDRESS]  FILE:LINE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameText<'l> {
    /// `???` if unknown.
    pub(super) symbol: &'l str,
    /// `None` for `<unknown binary>` and for text in another form.
    pub(super) binary: Option<&'l str>,
    /// The first address, if there are several.
    pub(super) address: Option<u64>,
    /// The load address of the binary, if present.
    pub(super) load_address: Option<u64>,
    /// File and line.
    pub(super) source: Option<(&'l str, u32)>,
    /// True if the symbol is too far from the address to be the function.
    pub(super) is_far: bool,
}

impl<'l> FrameText<'l> {
    /// Parses any text as a frame; text in an unknown form becomes the symbol.
    pub(super) fn parse(text: &'l str) -> Self {
        // Swift and C++ names may contain the separator, so the last one is used.
        let Some((symbol, rest)) = text.rsplit_once("  (in ") else { return Self { symbol: text, ..Self::default() } };
        let Some((binary, place)) = binary_and_place(rest) else { return Self { symbol: text, ..Self::default() } };
        let binary = Some(binary).filter(|&binary| binary != "<unknown binary>");
        let (before, address, source) = match place.split_once('[').and_then(|(before, rest)| {
            let (addresses, source) = rest.split_once(']')?;
            Some((before, addresses, source))
        }) {
            Some((before, addresses, source)) => {
                (before, addresses.split(',').next().and_then(hex), source_line(source))
            }
            None => (place, None, source_line(place)),
        };
        let load = before.trim_start().strip_prefix("load address ").and_then(|load| load.split(' ').next());
        let offset = before.trim_start().strip_prefix("+ ").and_then(|offset| offset.trim_end().split(',').next());
        let is_far = offset.and_then(|offset| offset.parse().ok()).is_some_and(|offset: u64| offset > LONGEST_FUNCTION);
        Self { symbol, binary, address, load_address: load.and_then(hex), source, is_far }
    }

    /// True for a frame with a name.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.symbol, "???" | "")
    }
}

/// Splits `NAME) + …`. Names may contain parentheses, but the text after a name starts with spaces.
fn binary_and_place(text: &str) -> Option<(&str, &str)> {
    let ends = [") + ", ")  load address ", ")  ["];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    match end {
        Some(end) => Some((&text[..end], text.get(end + 1..)?)),
        None => text.trim_end().strip_suffix(')').map(|binary| (binary, "")),
    }
}

fn source_line(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.trim().rsplit_once(':')?;
    Some((file, line.parse().ok()?)).filter(|(file, _)| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_depths() {
        let line = |depth, count, text| Ok(GraphLine { depth, count, text });
        assert_eq!(GraphLine::parse("    2891 Thread_1"), line(0, 2891, "Thread_1"));
        assert_eq!(GraphLine::parse("    + ! : | 7 f  (in a)"), line(4, 7, "f  (in a)"));
        assert!(GraphLine::parse("    +  825 start").unwrap_err().contains("odd"));
        assert!(GraphLine::parse("825 start").unwrap_err().contains("odd"));
        assert!(GraphLine::parse("    + start 8").unwrap_err().contains("lacks its number"));
        assert!(GraphLine::parse("    + 99999999999999999999 start").unwrap_err().contains("large"));
    }

    #[test]
    fn threads_of_every_form() {
        let thread = |tid, name| Some(ThreadText { tid, name, is_main: false });
        let main = |tid, name| Some(ThreadText { tid, name, is_main: true });
        for (text, expected) in [
            ("Thread_357865   DispatchQueue_1: com.apple.main-thread  (serial)", main(Some(357_865), "Main Thread")),
            ("Thread_7: MainThread   DispatchQueue_1: com.apple.main-thread  (serial)", main(Some(7), "MainThread")),
            ("Thread_7: Main Thread", thread(Some(7), "Main Thread")),
            ("Thread_8: press: worker", thread(Some(8), "press: worker")),
            (
                "Thread_9   DispatchQueue_12: com.example.press (x)  (concurrent)",
                thread(Some(9), "com.example.press (x)"),
            ),
            ("Thread_10", thread(Some(10), "")),
            ("Thread_10   DispatchQueue_2", thread(Some(10), "")),
            ("Thread_<multiple>", thread(None, "<multiple>")),
            ("Thread_<multiple>   DispatchQueue_<multiple>", thread(None, "<multiple>")),
            ("start  (in dyld)", None),
            ("Thread_x", None),
        ] {
            assert_eq!(ThreadText::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn frames_of_every_form() {
        let frame = FrameText { symbol: "f", binary: Some("a"), address: Some(0x10), ..FrameText::default() };
        let cases = [
            ("f  (in a) + 6992  [0x10]", frame.clone()),
            ("f  (in a) + 1,2,...  [0x10,0x20,...]", frame.clone()),
            ("f  (in a) + 1  [0x10]  press.c:12", FrameText { source: Some(("press.c", 12)), ..frame.clone() }),
            ("f(int)  (in b)  (in a) + 1  [0x10]", FrameText { symbol: "f(int)  (in b)", ..frame.clone() }),
            ("f  (in a (b).dylib) + 1  [0x10]", FrameText { binary: Some("a (b).dylib"), ..frame.clone() }),
            (
                "???  (in a)  load address 0x8 + 0x8  [0x10]",
                FrameText { symbol: "???", load_address: Some(8), ..frame.clone() },
            ),
            ("???  (in <unknown binary>)  [0x10]", FrameText { symbol: "???", binary: None, ..frame.clone() }),
            ("f  (in a) + 262144  [0x10]", frame.clone()),
            ("f  (in a) + 262145  [0x10]", FrameText { is_far: true, ..frame.clone() }),
            ("f  (in a)", FrameText { address: None, ..frame.clone() }),
            ("anything else", FrameText { symbol: "anything else", ..FrameText::default() }),
        ];
        for (text, expected) in cases {
            assert_eq!(FrameText::parse(text), expected, "{text}");
        }
    }
}
