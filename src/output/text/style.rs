//! Width and colour of text, and fitting names into a limited width: template arguments are shortened first, then the middle is cut.

use std::io::{self, Write};
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::inert::inert;
use crate::output::tone::RESET;
pub(in crate::output) use crate::output::tone::Tone;
use crate::units::is_unit;

/// The width and the colours of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The number of terminal columns; `None` writes everything in full.
    pub width: Option<usize>,
    /// True to write colours (ANSI escape codes).
    pub is_coloured: bool,
    /// True to write function names in full, even if a line then exceeds [`width`](Self::width).
    pub has_full_names: bool,
}

/// Below this width, numbers and labels have no space to spare.
pub(in crate::output) const NARROW: usize = 60;

impl Style {
    /// The minimum width of a column; 0 if the text is narrow.
    pub(in crate::output) fn least(&self, width: usize) -> usize {
        if self.width.is_some_and(|all| all < NARROW) { 0 } else { width }
    }

    /// Returns `text`, cleaned, in the colour of `tone`.
    pub(in crate::output) fn paint(&self, tone: Tone, text: &str) -> String {
        let text = clean(text);
        if !self.is_coloured || text.is_empty() {
            return text;
        }
        format!("\x1b[{}m{text}\x1b[{RESET}m", tone.code())
    }

    /// Writes [wrapped](wrap) text, in the colour of `tone` if given.
    pub(in crate::output) fn write_wrapped(
        &self,
        tone: Option<Tone>,
        indent: usize,
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write_lines(tone, &wrap(text, indent, self.width), out)
    }

    /// Writes lines, in the colour of `tone` if there is one.
    pub(in crate::output) fn write_lines(
        &self,
        tone: Option<Tone>,
        lines: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut lines = lines.iter();
        lines.try_for_each(|line| writeln!(out, "{}", tone.map_or_else(|| line.clone(), |tone| self.paint(tone, line))))
    }

    /// Writes a [heading] in which these parts are names.
    pub(in crate::output) fn write_heading(
        &self,
        parts: &[String],
        is_name: impl Fn(usize) -> bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write_lines(Some(Tone::Title), &heading(parts, is_name, self.width), out)
    }
}

/// Returns `text` with all characters escaped that could move the cursor, change colours or reverse other text.
pub(in crate::output) fn clean(text: &str) -> String {
    inert(text).into_owned()
}

/// `text` in at most `width` columns. The middle is cut, since both ends of a name are informative. A number at the cut is kept whole or
/// removed, since a part of it would be another number.
pub(in crate::output) fn fit(text: &str, width: Option<usize>) -> String {
    let text = clean(text);
    let Some(width) = width.filter(|&width| text.width() > width) else { return text };
    let numbers = numbers(&text);
    let mut start = text.len() - last_columns(&text, width / 3).len();
    if let Some(number) = numbers.iter().find(|number| number.start < start && start < number.end) {
        start = if text[number.start..].width() < width { number.start } else { number.end };
    }
    let head = width.saturating_sub(text[start..].width() + 1);
    let end = before_number(&numbers, first_columns(&text, head).len());
    // The text is a single number. Cut it visibly.
    let [end, start] = if end == 0 && start == text.len() {
        let tail = width / 3;
        let head = width.saturating_sub(tail + 1);
        [first_columns(&text, head).len(), text.len() - last_columns(&text, tail).len()]
    } else {
        [end, start]
    };
    // A joiner or combining mark at the cut would affect the `…`, so remove it.
    let (head, tail) = (text[..end].trim_end_matches('\u{200d}'), &text[start..]);
    format!("{head}…{}", tail.trim_start_matches(|c: char| c.width() == Some(0)))
}

/// `text` in at most `width` columns: the end is cut, and a number at the cut is removed.
pub(in crate::output) fn cut(text: &str, width: Option<usize>) -> String {
    let text = clean(text);
    let Some(width) = width.filter(|&width| text.width() > width) else { return text };
    let head = first_columns(&text, width.saturating_sub(1)).len();
    let end = Some(before_number(&numbers(&text), head)).filter(|&end| end > 0).unwrap_or(head);
    format!("{}…", &text[..end])
}

/// Moves a cut within a number to its start.
fn before_number(numbers: &[Range<usize>], end: usize) -> usize {
    numbers.iter().find(|number| number.start < end && end < number.end).map_or(end, |number| number.start)
}

/// Finds numbers: `485.00`, `-1,234`, `0x2a117`, `00:00.312`, `2026-03-05`. Digits in names (`utf8`) are not numbers.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let is_number = is_digit(at);
        let is_sign = |sign: usize| b"+-".contains(&bytes[sign]) && (sign == 0 || !is_word(bytes[sign - 1]));
        let start = at.checked_sub(1).filter(|&sign| is_sign(sign)).unwrap_or(at);
        let is_part = |at: usize| {
            bytes.get(at).is_some_and(|&byte| is_word(byte) || is_number && b".,:-".contains(&byte) && is_digit(at + 1))
        };
        while is_part(at) {
            at += 1;
        }
        numbers.extend(is_number.then_some(start..at));
    }
    numbers
}

/// Wraps text at this width, with a hanging indent. Words longer than a line lose their middle.
pub(in crate::output) fn wrap(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    wrap_behind(&" ".repeat(indent), text, indent + 2, width)
}

/// Wraps text that follows a label; all lines after the first are indented by `hanging` spaces.
pub(super) fn wrap_behind(label: &str, text: &str, hanging: usize, width: Option<usize>) -> Vec<String> {
    let text = clean(text);
    let Some(width) = width else { return vec![format!("{label}{text}")] };
    let mut lines = Vec::new();
    let mut line = label.to_owned();
    let mut is_empty = true;
    for word in words(&text) {
        let word = fit(word, Some(width.saturating_sub(hanging).max(2)));
        if !is_empty && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// Splits text at spaces, except between a number and its unit: a line must not begin with `% of one core`.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let word = &text[start..at];
        if !(word.ends_with(|c: char| c.is_ascii_digit()) && starts_with_unit(&text[at + 1..])) {
            words.push(word);
            start = at + 1;
        }
    }
    words.push(&text[start..]);
    words
}

fn starts_with_unit(text: &str) -> bool {
    let unit = text.split(|c: char| !c.is_alphanumeric() && c != '%').next().unwrap_or_default();
    unit == "%" || is_unit(unit)
}

/// Longer text needs at least this width next to its label.
const BESIDE: usize = 24;

/// Wraps text next to its label, or below it if there is too little space.
pub(in crate::output) fn labelled(label: &str, text: &str, width: Option<usize>) -> Vec<String> {
    let label = clean(label);
    let used = label.width();
    if width.is_none_or(|width| used + text.width().min(BESIDE) <= width) {
        return wrap_behind(&label, text, used, width);
    }
    let indent = label.len() - label.trim_start().len() + 2;
    let text = wrap_behind(&" ".repeat(indent), text, indent, width);
    std::iter::once(fit(label.trim_end(), width)).chain(text).collect()
}

/// The separator between the parts of a heading.
const BETWEEN: &str = " · ";
/// The width to which names in a heading may be cut before it takes several lines.
const PART: usize = 24;

/// The lines of a heading. If it is too wide, the parts that are names lose their middle, the widest first. If that is not enough, the parts
/// take several lines.
pub(in crate::output) fn heading(
    parts: &[String],
    is_name: impl Fn(usize) -> bool,
    width: Option<usize>,
) -> Vec<String> {
    let mut shorter: Vec<String> = parts.iter().map(|part| clean(part)).collect();
    loop {
        let line = shorter.join(BETWEEN);
        let over = line.width().saturating_sub(width.unwrap_or(usize::MAX));
        if over == 0 {
            return vec![line];
        }
        let names = shorter.iter_mut().enumerate().filter(|(index, part)| is_name(*index) && part.width() > PART);
        let Some((_, widest)) = names.max_by_key(|(_, part)| part.width()) else { break };
        *widest = fit(widest, Some(widest.width().saturating_sub(over).max(PART)));
    }
    lines_of_parts(parts, 2, width)
}

/// The parts of a heading in as few lines as possible, all but the first indented. Only a part that is wider than a line is cut.
pub(in crate::output) fn lines_of_parts(
    parts: impl IntoIterator<Item = impl AsRef<str>>,
    indent: usize,
    width: Option<usize>,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let indent = if lines.is_empty() { 0 } else { indent };
        let part = fit(part.as_ref(), width.map(|width| width.saturating_sub(indent)));
        let has_room = |line: &String| width.is_none_or(|width| line.width() + BETWEEN.width() + part.width() <= width);
        match lines.last_mut().filter(|line| has_room(line)) {
            Some(line) => *line += &format!("{BETWEEN}{part}"),
            None => lines.push(format!("{:indent$}{part}", "")),
        }
    }
    lines
}

/// Returns the first characters that fit in `width` columns.
fn first_columns(text: &str, width: usize) -> &str {
    let bytes = columns(text.chars(), width);
    &text[..bytes]
}

/// Returns the last characters that fit in `width` columns.
fn last_columns(text: &str, width: usize) -> &str {
    let bytes = columns(text.chars().rev(), width);
    &text[text.len() - bytes..]
}

/// Counts the bytes of the first characters that fit in `width` columns.
fn columns(chars: impl Iterator<Item = char>, width: usize) -> usize {
    let mut used = 0;
    let fits = chars.take_while(|&c| {
        // This selector turns a character into an emoji, which is one column wider.
        used += if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) };
        used <= width
    });
    fits.map(char::len_utf8).sum()
}

/// Pads `text` with spaces to `width` columns.
pub(in crate::output) fn pad(text: &str, width: usize) -> String {
    let text = clean(text);
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The width that layouts reserve for a name.
pub(super) const MIN_NAME: usize = 16;
/// The minimum width of a name on a narrow terminal.
pub(in crate::output) const LEAST_NAME: usize = 10;
/// The minimum width of an owner, including the two spaces before it.
const MIN_OWNER: usize = 10;

/// Names longer than this many bytes just lose their middle, since folding nested lists takes time for each level.
const LONG: usize = 2_000;
/// Argument lists up to this length are not folded.
const SHORT: usize = 4;

impl Style {
    /// Fits a name into `room` columns. Template arguments are shortened first.
    pub(in crate::output) fn name(&self, name: &str, room: Option<usize>) -> String {
        fit_name(name, room.filter(|_| !self.has_full_names))
    }

    /// Fits a name within a sentence into `room` columns. If it is too long, its parameters are shortened, then its middle is cut.
    pub(in crate::output) fn name_in_text(&self, name: &str, room: usize) -> String {
        let fitted = self.name(name, Some(room));
        let is_cut = |text: &str| text.contains('…') && !text.contains("<…>");
        match without_parameters(name).filter(|_| is_cut(&fitted)) {
            Some(short) => self.name(&short, Some(room)),
            None => fitted,
        }
    }

    /// Fits a name and its owner into the columns to the right of `used`. The owner is shortened first.
    pub(in crate::output) fn two_parts(&self, name: &str, owner: &str, used: usize) -> (String, String) {
        let Some(width) = self.width else {
            let owner = if owner.is_empty() { String::new() } else { format!("  {owner}") };
            return (clean(name), self.paint(Tone::Dim, &owner));
        };
        let room = width.saturating_sub(used).max(LEAST_NAME);
        let name = self.name(name, Some(room));
        let left = room.saturating_sub(name.width());
        if owner.is_empty() || left < MIN_OWNER {
            return (name, String::new());
        }
        let owner = format!("  {}", fit(owner, Some(left - 2)));
        (name, self.paint(Tone::Dim, &owner))
    }
}

/// Fits a name into `width` columns. If it is too long, template arguments are folded to `<…>`, innermost first, and then the middle is cut.
fn fit_name(name: &str, width: Option<usize>) -> String {
    let name = clean(name);
    let Some(width) = width.filter(|&width| name.width() > width) else { return name };
    let mut folded = name;
    while folded.width() > width && folded.len() <= LONG {
        let Some(shorter) = fold_deepest(&folded) else { break };
        folded = shorter;
    }
    fit(&folded, Some(width))
}

/// Turns `f(int, int)` into `f(…)`, and `f(int) const` into `f(…) const`. `None` if a name does not end with parameters.
fn without_parameters(name: &str) -> Option<String> {
    let (call, rest) = match name.rfind(')') {
        Some(end) if matches!(&name[end + 1..], "" | " const" | " const &" | " &&") => name.split_at(end + 1),
        _ => return None,
    };
    let mut depth = 0;
    for (at, c) in call.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| format!("{}(…){rest}", &call[..at]));
        }
    }
    None
}

/// Folds the most deeply nested template arguments of a name; `None` if there are none left.
fn fold_deepest(name: &str) -> Option<String> {
    let lists = argument_lists(name);
    let deepest = lists.iter().map(|list| list.depth).max()?;
    let mut out = String::with_capacity(name.len());
    let mut at = 0;
    for list in lists.iter().filter(|list| list.depth == deepest) {
        out.push_str(&name[at..list.start]);
        out.push('…');
        at = list.end;
    }
    out.push_str(&name[at..]);
    Some(out)
}

/// A list of template arguments, without its brackets.
struct ArgumentList {
    start: usize,
    end: usize,
    /// The number of enclosing lists.
    depth: usize,
}

/// Finds the lists that are long enough to be folded, in the order of their ends. Brackets that do not open a list belong to operators (`operator<`,
/// `->`) and to Rust's `<T as Trait>`, which names the owner of the function.
fn argument_lists(name: &str) -> Vec<ArgumentList> {
    let mut lists = Vec::new();
    // The positions after open brackets, and whether each bracket opens arguments.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, c) in name.char_indices() {
        let before = &name[..at];
        match c {
            '<' if !is_operator(before) => open.push((at + 1, opens_arguments(before))),
            '>' if !before.ends_with('-') && !is_operator(before) => {
                let Some((start, true)) = open.pop() else { continue };
                if name[start..at].chars().count() > SHORT {
                    let depth = open.iter().filter(|(_, is_list)| *is_list).count();
                    lists.push(ArgumentList { start, end: at, depth });
                }
            }
            _ => {}
        }
    }
    lists
}

/// The maximum number of signs of an operator before its last one: `<=>`.
const MOST_SIGNS: usize = 2;

/// True if a bracket after this string belongs to an operator: it follows `operator` or the first signs of one such as `operator<<`.
fn is_operator(before: &str) -> bool {
    let signs = before.bytes().rev().take_while(|byte| b"<>-=".contains(byte)).take(MOST_SIGNS).count();
    before[..before.len() - signs].ends_with("operator")
}

/// True if a bracket after this string opens arguments: it follows a name, or the `::` that Rust writes in between.
fn opens_arguments(before: &str) -> bool {
    before.ends_with("::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(fit("abcdefghij", Some(10)), "abcdefghij");
        assert_eq!(fit("abcdefghijk", Some(10)), "abcdef…ijk");
        assert_eq!(fit("日本語日本語", Some(7)).width(), 7);
        assert_eq!(fit("a\x1b[31mb", None), "a\\u{1b}[31mb");
    }

    #[test]
    fn keeps_or_removes_whole_numbers() {
        let shown = |text: &str, width: usize| [fit(text, Some(width)), cut(text, Some(width))];
        assert_eq!(shown("Orchard Helper (4150)", 16), ["Orchard He…4150)", "Orchard Helper …"]);
        assert_eq!(shown("press worker 1 (0x2a117)", 12), ["pre…0x2a117)", "press worke…"]);
        assert_eq!(shown("12,345 rows in 67,890", 10), ["…67,890", "12,345 ro…"]);
        assert_eq!(shown("total +1,234.50 ms", 9), ["total… ms", "total …"]);
        assert_eq!(shown("a list of 18, 19, 20", 14), ["a list of…, 20", "a list of 18,…"]);
        assert_eq!(shown("utf8_to_utf16 of utf32", 10), ["utf8_t…f32", "utf8_to_u…"]);
        assert_eq!(shown("0x0000000102fb8a5c", 12), ["0x00000…8a5c", "0x000000010…"]);
        let numbers = ["485.00", "-1,234", "0x2a117", "00:00.312", "2026-03-05"];
        let text = numbers.join(" and ");
        for width in 10..text.len() {
            for shown in [fit(&text, Some(width)), cut(&text, Some(width))] {
                assert!(shown.width() <= width, "{shown}");
                for word in shown.split([' ', '…']).filter(|word| word.contains(|c: char| c.is_ascii_digit())) {
                    assert!(numbers.contains(&word), "{shown}");
                }
            }
        }
    }

    #[test]
    fn keeps_numbers_and_their_units_on_one_line() {
        assert_eq!(wrap("took 96 % of 1.5 s", 0, Some(8)), ["took", "  96 %", "  of", "  1.5 s"]);
        assert_eq!(wrap("in 20 Mcycles/s, 3 states", 0, Some(15)), ["in", "  20 Mcycles/s,", "  3 states"]);
    }

    #[test]
    fn cuts_names_in_headings_or_wraps_them() {
        let parts =
            ["time-profile", "/a/folder/with/a/long/path/input.xml", "485.00 ms in 485 samples"].map(str::to_owned);
        let lines = |width: usize| heading(&parts, |index| index == 1, Some(width));
        assert_eq!(lines(80), [parts.join(" · ")]);
        assert_eq!(lines(70), ["time-profile · /a/folder/with/a/l…input.xml · 485.00 ms in 485 samples"]);
        assert_eq!(lines(60), ["time-profile · /a/folder/with/a/long/path/input.xml", "  485.00 ms in 485 samples"]);
        assert_eq!(lines(30), ["time-profile", "  /a/folder/with/a/l…input.xml", "  485.00 ms in 485 samples"]);
    }

    #[test]
    fn wraps_text_next_to_or_below_its_label() {
        let text = "one two three four five six seven";
        assert_eq!(labelled("  name  ", text, Some(32)), ["  name  one two three four five", "        six seven"]);
        assert_eq!(labelled("  name  ", text, Some(30)), ["  name", "    one two three four five", "    six seven"]);
        assert_eq!(labelled("  name  ", "one", Some(12)), ["  name  one"]);
    }

    #[test]
    fn nothing_exceeds_its_width() {
        let parts = [
            "a",
            "é",
            "e\u{301}",
            "語",
            "☺\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻",
            "🇩🇪",
            "👍🏽",
            "لا",
            "شُ",
            "กำ",
            "한",
            "क्ष",
            "\u{202e}",
            "\n",
            "\u{1b}",
            "葛\u{e0100}",
            "ﷺ",
            "ᨕᨗ\u{200d}ᨐ",
            "ꓹꓼ",
            "ⵏ\u{2d7f}ⵏ",
        ];
        let mut state = 1_usize;
        for length in (1..40).cycle().take(2_000) {
            let part = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                parts[(state >> 33) % parts.len()]
            };
            let text: String = (0..length).map(part).collect();
            for width in 2..30 {
                let shown = fit(&text, Some(width));
                assert!(shown.width() <= width, "{text:?} in {width}: {shown:?} has {}", shown.width());
                assert!(cut(&text, Some(width)).width() <= width, "{text:?} in {width}");
                let style = Style { width: Some(width + 40), ..Style::default() };
                let (name, owner) = style.two_parts(&text, &text, 30);
                assert!((name + &owner).width() <= (width + 10).max(MIN_NAME), "{text:?} in {width}");
            }
        }
    }

    #[test]
    fn owners_give_way_first() {
        let style = Style { width: Some(40), ..Style::default() };
        let (name, owner) = style.two_parts("run", "libdispatch.dylib", 10);
        assert_eq!((name.as_str(), owner.as_str()), ("run", "  libdispatch.dylib"));
        let (name, owner) = style.two_parts("a function with a name of thirty", "app", 10);
        assert_eq!((name.width(), owner.as_str()), (30, ""));
        let (name, owner) = Style::default().two_parts("f", "app", 10);
        assert_eq!(name + &owner, "f  app");
    }

    #[test]
    fn arguments_go_before_the_middle() {
        let name = "std::__1::map<int, std::__1::vector<Apple, std::__1::allocator<Apple>>>::operator[](int const&)";
        assert_eq!(fit_name(name, None), name);
        assert_eq!(fit_name(name, Some(name.len())), name);
        assert_eq!(
            fit_name(name, Some(name.len() - 4)),
            "std::__1::map<int, std::__1::vector<Apple, std::__1::allocator<…>>>::operator[](int const&)"
        );
        assert_eq!(fit_name(name, Some(70)), "std::__1::map<int, std::__1::vector<…>>::operator[](int const&)");
        assert_eq!(fit_name(name, Some(50)), "std::__1::map<…>::operator[](int const&)");
        assert_eq!(fit_name(name, Some(20)), "std::__1::map…onst&)");
    }

    #[test]
    fn distinguishes_operators_from_brackets() {
        for name in
            ["bool operator<(Apple const&, Apple const&)", "Ptr::operator->() const", "operator<<(std::ostream&, int)"]
        {
            assert!(argument_lists(name).is_empty(), "{name}");
        }
        assert_eq!(
            fit_name("std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char)", Some(60)).width(),
            60
        );
        assert_eq!(
            fit_name("<alloc::vec::Vec<orchard::Apple> as core::fmt::Debug>::fmt", Some(46)),
            "<alloc::vec::Vec<…> as core::fmt::Debug>::fmt"
        );
        assert_eq!(fit_name("iter::collect::<alloc::vec::Vec<u8>>", Some(20)), "iter::collect::<…>");
        assert_eq!(
            fit_name("specialized Array<Orchard.Apple>.append(_:)", Some(32)),
            "specialized Array<…>.append(_:)"
        );
    }

    #[test]
    fn parameters_go_before_the_middle_of_a_name_in_a_sentence() {
        let style = Style::default();
        let shown = |name: &str, room| style.name_in_text(name, room);
        assert_eq!(shown("Press::filter(float*, unsigned long, float)", 30), "Press::filter(…)");
        assert_eq!(shown("Press::filter(float*)", 30), "Press::filter(float*)");
        assert_eq!(shown("Press::operator()(float*, unsigned long) const", 30), "Press::operator()(…) const");
        assert_eq!(
            shown("(anonymous namespace)::filter(float*, unsigned long)", 34),
            "(anonymous namespace)::filter(…)"
        );
        assert_eq!(shown("map<int, vector<Apple>>::insert(int const&)", 30), "map<…>::insert(int const&)");
        assert_eq!(shown("-[Feed layoutItemsWithinRectangle:]", 20), "-[Feed layout…ngle:]");
    }

    #[test]
    fn brackets_without_partners_are_text() {
        for name in ["a>b<c<d", "<<<<<<<<", ">>>>>>>>", "-[Foo a:b:]", "f<g<hhhhhhh"] {
            assert_eq!(fit_name(name, Some(40)), name);
            assert!(fit_name(name, Some(6)).width() <= 6, "{name}");
        }
    }
}
