//! Demangles Swift names as Instruments does, in the form of `swift demangle -simplified`.
//!
//! The demangler (`symbolic-demangle`, Swift's own in C++) prints either the types of parameters, or no parameters at all. The displayed
//! form has only labels. Therefore both forms are printed and compared: the longer form adds parameters, of which the labels are kept, and
//! signatures of closures, which are dropped.
//!
//! ```text
//! bare    closure #1 in Widget.draw
//! full    closure #1 @Sendable (NSTimer) in Widget.draw(scale: Int)
//! shown   closure #1 in Widget.draw(scale:)
//! ```

use std::collections::HashSet;

use symbolic_common::{Language, Name, NameMangling};
use symbolic_demangle::{Demangle, DemangleOptions};

use super::swift_guard::is_harmless;

/// The maximum number of comparison steps, more than any real name takes.
const MOST_STEPS: usize = 1 << 16;

/// Returns the simplified name; `None` if it is not a Swift name, or if it is not safe to demangle.
pub(super) fn simplified(name: &str) -> Option<String> {
    if !is_harmless(name) {
        return None;
    }
    let name = Name::new(name, NameMangling::Mangled, Language::Swift);
    let bare = name.demangle(DemangleOptions::name_only())?;
    let full = name.demangle(DemangleOptions::name_only().parameters(true))?;
    if bare == full { Some(bare) } else { Comparison::new(&bare, &full).run() }
}

/// The current positions in the two spellings of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    bare: usize,
    full: usize,
}

/// Compares a bare spelling with the full one to find the parts that only the full one has.
struct Comparison<'n> {
    bare: &'n str,
    full: &'n str,
    shown: String,
    /// The points with several ways to continue: an untried way, and the length of the output there.
    choices: Vec<(Place, Step, usize)>,
    dead_ends: HashSet<(Place, Step)>,
}

/// How the full spelling continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// Like the bare one.
    Same,
    /// With parameters.
    Parameters,
    /// With types instead of the labels in the bare one.
    Types,
    /// With the signature of a closure, which has this length.
    Signature(usize),
}

impl<'n> Comparison<'n> {
    fn new(bare: &'n str, full: &'n str) -> Self {
        Self { bare, full, shown: String::with_capacity(full.len()), choices: Vec::new(), dead_ends: HashSet::new() }
    }

    fn run(mut self) -> Option<String> {
        let mut place = Place { bare: 0, full: 0 };
        for _ in 0..MOST_STEPS {
            if place.bare == self.bare.len() && place.full == self.full.len() {
                return Some(self.shown);
            }
            self.find_choices(place);
            place = self.take_choice()?;
        }
        None
    }

    /// Finds all ways to continue, the most likely last.
    fn find_choices(&mut self, place: Place) {
        let (bare, full) = (&self.bare[place.bare..], &self.full[place.full..]);
        let mut add = |step| {
            if self.dead_ends.insert((place, step)) {
                self.choices.push((place, step, self.shown.len()));
            }
        };
        if full.starts_with('(') {
            if bare.starts_with('(') {
                add(Step::Types);
            }
            add(Step::Parameters);
        }
        let is_same = !full.is_empty() && full.as_bytes().first() == bare.as_bytes().first();
        if is_same {
            add(Step::Same);
        }
        if is_behind_closure(&self.bare[..place.bare]) && !full.starts_with(" in ") {
            // The shortest one last.
            let ends = group_ends(full);
            ends.into_iter().rev().for_each(|end| add(Step::Signature(end)));
        }
    }

    /// Takes the most likely untried way that succeeds, and returns the positions after it.
    fn take_choice(&mut self) -> Option<Place> {
        while let Some((place, step, length)) = self.choices.pop() {
            self.shown.truncate(length);
            if let Some(next) = self.take(place, step) {
                return Some(next);
            }
        }
        None
    }

    fn take(&mut self, place: Place, step: Step) -> Option<Place> {
        let (bare, full) = (&self.bare[place.bare..], &self.full[place.full..]);
        let (bare_length, full_length) = match step {
            Step::Same => {
                let length = same_length(bare, full);
                self.shown.push_str(&full[..length]);
                (length, length)
            }
            Step::Signature(length) => (0, length),
            Step::Parameters => {
                let (labels, end) = labels(full)?;
                self.shown.push_str(&labels);
                (0, end)
            }
            Step::Types => {
                let (labels, end) = labels(full)?;
                bare.starts_with(&labels).then_some(())?;
                self.shown.push_str(&labels);
                (labels.len(), end)
            }
        };
        Some(Place { bare: place.bare + bare_length, full: place.full + full_length })
    }
}

/// Returns the length of the common prefix of two spellings, up to the first choice.
fn same_length(bare: &str, full: &str) -> usize {
    let pairs = bare.bytes().zip(full.bytes()).enumerate();
    let same = pairs.take_while(|&(index, (one, other))| one == other && (index == 0 || other != b'('));
    let mut length = same.count();
    while !full.is_char_boundary(length) {
        length -= 1;
    }
    behind_closure(&full[..length]).unwrap_or(length)
}

const CLOSURE: &str = "closure #";

/// Returns the end of the first `closure #N` in a string.
fn behind_closure(text: &str) -> Option<usize> {
    let number = text.find(CLOSURE)? + CLOSURE.len();
    Some(number + text[number..].bytes().take_while(u8::is_ascii_digit).count())
}

/// True if a string ends with `closure #N`.
fn is_behind_closure(text: &str) -> bool {
    let without_number = text.trim_end_matches(|c: char| c.is_ascii_digit());
    without_number.len() < text.len() && without_number.ends_with(CLOSURE)
}

/// Returns the bytes of a string, each with the bracket depth after it.
fn depths(text: &str) -> impl Iterator<Item = (usize, u8, i32)> {
    let (mut depth, mut before) = (0, 0);
    text.bytes().enumerate().map(move |(index, byte)| {
        match byte {
            b'(' | b'<' | b'[' => depth += 1,
            // Part of an arrow.
            b'>' if before == b'-' => {}
            b')' | b'>' | b']' => depth -= 1,
            _ => {}
        }
        before = byte;
        (index, byte, depth)
    })
}

/// Returns the ends of the outermost parentheses.
fn group_ends(text: &str) -> Vec<usize> {
    const MOST: usize = 8;
    let ends =
        depths(text).take_while(|&(_, _, depth)| depth >= 0).filter(|&(_, byte, depth)| byte == b')' && depth == 0);
    ends.take(MOST).map(|(index, ..)| index + 1).collect()
}

/// Returns `(scale:_:)` for `(scale: Int, (A, B))…`, and the length of the parameters.
fn labels(full: &str) -> Option<(String, usize)> {
    let (mut labels, mut start, mut is_type) = (String::from("("), 1, false);
    for (index, byte, depth) in depths(full) {
        match (byte, depth) {
            (b':', 1) if !is_type => {
                labels.push_str(full[start..=index].trim_start());
                is_type = true;
            }
            (b',', 1) | (b')', 0) => {
                if !is_type && !full[start..index].trim().is_empty() {
                    labels.push_str("_:");
                }
                (is_type, start) = (false, index + 1);
            }
            _ => {}
        }
        if depth == 0 {
            labels.push(')');
            return (byte == b')').then_some((labels, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_labels_and_signatures_of_closures_go() {
        for (bare, full, shown) in [
            ("Widget.draw", "Widget.draw(scale: Int, _: (A, B))", "Widget.draw(scale:_:)"),
            (
                "closure #1 in Widget.draw",
                "closure #1 @Sendable (NSTimer) in Widget.draw()",
                "closure #1 in Widget.draw()",
            ),
            ("closure #12 in f", "closure #12 <A>(A, (Int)) in f([A : B], @escaping (A))", "closure #12 in f(_:_:)"),
            ("Box<(, Int)>.get", "Box<((Int), Int)>.get(a: Int)", "Box<((_:), Int)>.get(a:)"),
            ("ключ", "ключ(имя: Int)", "ключ(имя:)"),
            ("f in (g)", "f(a: B) in (g)", "f(a:) in (g)"),
        ] {
            assert_eq!(Comparison::new(bare, full).run().as_deref(), Some(shown), "{full}");
        }
        assert_eq!(Comparison::new("f", "g").run(), None);
        assert_eq!(Comparison::new("f", "f(").run(), None);
        assert_eq!(Comparison::new("", "((((").run(), None);
    }
}
