//! Width and colour of text, and names in little room: arguments of templates go first, then the middle.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::inert::inert;
use crate::output::tone::RESET;
pub(in crate::output) use crate::output::tone::Tone;

/// The width and the colours of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; `None` writes everything in full length.
    pub width: Option<usize>,
    /// True to write colours (ANSI escape codes).
    pub is_coloured: bool,
    /// True to write names of functions in full length, even if a line is then wider than [`width`](Self::width).
    pub has_full_names: bool,
}

impl Style {
    /// `text`, cleaned, in the colour of `tone`.
    pub(in crate::output) fn paint(&self, tone: Tone, text: &str) -> String {
        let text = clean(text);
        if !self.is_coloured || text.is_empty() {
            return text;
        }
        format!("\x1b[{}m{text}\x1b[{RESET}m", tone.code())
    }
}

/// `text` without characters that could move the cursor, change colours or reverse other text.
pub(in crate::output) fn clean(text: &str) -> String {
    inert(text).into_owned()
}

/// `text` in at most `width` columns. The middle is cut, since both ends of a name are informative.
pub(in crate::output) fn fit(text: &str, width: Option<usize>) -> String {
    let text = clean(text);
    let Some(width) = width.filter(|&width| text.width() > width) else { return text };
    let tail = width / 3;
    let head = width.saturating_sub(tail + 1);
    let mut out = take_columns(text.chars(), head);
    // What joins two characters joins none of them to the mark between.
    out.truncate(out.trim_end_matches('\u{200d}').len());
    out.push('…');
    let tail: String = take_columns(text.chars().rev(), tail).chars().rev().collect();
    out + tail.trim_start_matches(|c: char| c.width() == Some(0))
}

/// `text` in at most `width` columns: the end goes.
pub(in crate::output) fn cut(text: &str, width: Option<usize>) -> String {
    let text = clean(text);
    let Some(width) = width.filter(|&width| text.width() > width) else { return text };
    take_columns(text.chars(), width.saturating_sub(1)) + "…"
}

/// Wraps text at this width. The middle of a word longer than a line is cut.
pub(in crate::output) fn wrap(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let text = clean(text);
    let Some(width) = width else { return vec![format!("{}{text}", " ".repeat(indent))] };
    let hanging = indent + 2;
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut is_empty = true;
    for word in text.split(' ') {
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

fn take_columns(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = chars.take_while(|&c| {
        // An emoji that would be text without this selector is one column wider with it.
        used += if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) };
        used <= width
    });
    fits.collect()
}

/// `text` and spaces up to `width` columns.
pub(in crate::output) fn pad(text: &str, width: usize) -> String {
    let text = clean(text);
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The least width of a name, even on a narrow terminal.
pub(super) const MIN_NAME: usize = 16;
/// The least width of an owner (including the two spaces before it).
const MIN_OWNER: usize = 10;

/// Names of more bytes than this lose their middle at once: finding lists in lists takes time for each level.
const LONG: usize = 2_000;
/// Arguments that are not longer than this stay.
const SHORT: usize = 4;

impl Style {
    /// A name in at most `room` columns; template arguments are cut first.
    pub(in crate::output) fn name(&self, name: &str, room: Option<usize>) -> String {
        fit_name(name, room.filter(|_| !self.has_full_names))
    }

    /// A name within a sentence, in at most `room` columns. If it is too long, its parameters are cut, then its middle.
    pub(in crate::output) fn name_in_text(&self, name: &str, room: usize) -> String {
        let fitted = self.name(name, Some(room));
        let is_cut = |text: &str| text.contains('…') && !text.contains("<…>");
        match without_parameters(name).filter(|_| is_cut(&fitted)) {
            Some(short) => self.name(&short, Some(room)),
            None => fitted,
        }
    }

    /// A name and what it belongs to, in the columns right of `used`; the second gives way first.
    pub(in crate::output) fn two_parts(&self, name: &str, owner: &str, used: usize) -> (String, String) {
        let Some(width) = self.width else {
            let owner = if owner.is_empty() { String::new() } else { format!("  {owner}") };
            return (clean(name), self.paint(Tone::Dim, &owner));
        };
        let room = width.saturating_sub(used).max(MIN_NAME);
        let name = self.name(name, Some(room));
        let left = room.saturating_sub(name.width());
        if owner.is_empty() || left < MIN_OWNER {
            return (name, String::new());
        }
        let owner = format!("  {}", fit(owner, Some(left - 2)));
        (name, self.paint(Tone::Dim, &owner))
    }
}

/// A name in at most `width` columns. If it is too long, template arguments are folded to `<…>`, the innermost first, and then its middle
/// is cut.
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

/// `f(…)` for `f(int, int)`, and `f(…) const` for `f(int) const`; `None` if a name has no parameters at its end.
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

/// The name with the most deeply nested template arguments folded; `None` if there are no more.
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
    /// The number of lists around it.
    depth: usize,
}

/// The lists that are long enough to be folded, in the order of their ends. Brackets that open no list belong to operators (`operator<`,
/// `->`) and to Rust's `<T as Trait>`, which names the owner of the function.
fn argument_lists(name: &str) -> Vec<ArgumentList> {
    let mut lists = Vec::new();
    // The positions after open brackets, and whether they open arguments.
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

/// The signs of an operator before its last one, at most: `<=>`.
const MOST_SIGNS: usize = 2;

/// True if a bracket follows `operator`, or the start of an operator with brackets such as `operator<<`.
fn is_operator(before: &str) -> bool {
    let signs = before.bytes().rev().take_while(|byte| b"<>-=".contains(byte)).take(MOST_SIGNS).count();
    before[..before.len() - signs].ends_with("operator")
}

/// True if a bracket after this string opens arguments: it follows a name, or the `::` that Rust puts between.
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
