//! Names in little room: arguments of templates go first, then the middle.

use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone, clean, fit};

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
            return (clean(name), self.paint(Tone::Dim, &clean(&owner)));
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

/// `f(…)` for `f(int, int)`, and `f(…) const` for `f(int) const`; `None` where a name has no parameters at its end.
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
