//! Reads the bytes of a name.
//!
//! Each other file reads one level of the grammar: `symbol` the top, `entity` functions and their contexts, `ty` types.

use std::borrow::Cow;

use super::node::{Form, Id, Node, Nodes, Scope};
use super::punycode;

/// Names that nest more deeply stay mangled.
const DEEPEST: u32 = 200;
/// Larger numbers do not occur for closures, parameters or sizes.
const LARGEST: u32 = 1 << 24;

pub(super) struct Reader<'n> {
    pub(super) rest: &'n str,
    pub(super) nodes: Nodes,
    /// The nodes that `S_`, `S0_`, … refer to.
    pub(super) known: Vec<Id>,
    depth: u32,
    /// True once there was an identifier. Without one, many names of C could be names of Swift.
    has_identifier: bool,
}

impl<'n> Reader<'n> {
    /// A reader of what follows `_T`, with this many bytes for the spellings of all parts.
    pub(super) fn new(rest: &'n str, room: usize) -> Self {
        Self { rest, nodes: Nodes::new(room), known: Vec::new(), depth: 0, has_identifier: false }
    }

    /// Reads a part of the grammar that may contain itself.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.bytes().next()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.rest = self.rest.get(1..)?;
        Some(byte)
    }

    pub(super) fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Requires this string.
    pub(super) fn expect(&mut self, text: &str) -> Option<()> {
        self.skip(text).then_some(())
    }

    /// Reads items up to `_`.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.skip("_") {
            items.push(item(self)?);
        }
        Some(items)
    }

    pub(super) fn natural(&mut self) -> Option<u32> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        digits.parse().ok().filter(|number| *number < LARGEST)
    }

    /// `_` is 0, `0_` is 1.
    pub(super) fn index(&mut self) -> Option<u32> {
        if self.skip("_") {
            return Some(0);
        }
        let number = self.natural()?;
        self.expect("_")?;
        Some(number + 1)
    }

    /// Lets a node be named again by its number.
    pub(super) fn known(&mut self, id: Id) -> Id {
        self.known.push(id);
        id
    }

    pub(super) fn phrase(&mut self, form: Form, text: String) -> Option<Id> {
        self.nodes.add(Node::Phrase(form), text)
    }

    pub(super) fn text(&self, id: Id) -> &str {
        self.nodes.text(id)
    }

    /// A name without a context.
    pub(super) fn name(&mut self, text: &str) -> Option<Id> {
        self.nodes.add(Node::Name(Scope::Open), text)
    }

    /// `4draw`, or `X3wxa` for `λ`.
    pub(super) fn identifier(&mut self) -> Option<Cow<'n, str>> {
        let is_coded = self.skip("X");
        self.counted(is_coded)
    }

    fn counted(&mut self, is_coded: bool) -> Option<Cow<'n, str>> {
        let length = usize::try_from(self.natural()?).ok().filter(|length| *length > 0)?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.has_identifier = true;
        if is_coded { Some(Cow::Owned(punycode::decode(text)?)) } else { Some(Cow::Borrowed(text)) }
    }

    /// An identifier, or an operator (`oi2pp` is `++ infix`) and its place among its operands.
    pub(super) fn identifier_or_operator(&mut self) -> Option<(Cow<'n, str>, &'static str)> {
        let is_coded = self.skip("X");
        let is_operator = self.skip("o");
        let fixity = match is_operator.then(|| self.next()) {
            None => "",
            Some(Some(b'p')) => " prefix",
            Some(Some(b'P')) => " postfix",
            Some(Some(b'i')) => " infix",
            Some(_) => return None,
        };
        let text = self.counted(is_coded)?;
        if !is_operator {
            return Some((text, fixity));
        }
        let operator: Option<String> = text.chars().map(operator_character).collect();
        Some((Cow::Owned(operator?), fixity))
    }

    /// True if the rest may follow a name. Optimisers and linkers add to names, which is not shown.
    pub(super) fn may_end(&self) -> bool {
        let rest = self.rest.strip_prefix('_').unwrap_or(self.rest).trim_start_matches("merged");
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        self.has_identifier || rest.is_empty() || rest.starts_with('.')
    }
}

/// The character of an operator that a letter encodes.
fn operator_character(letter: char) -> Option<char> {
    let operator = match letter {
        'a' => '&',
        'c' => '@',
        'd' => '/',
        'e' => '=',
        'g' => '>',
        'l' => '<',
        'm' => '*',
        'n' => '!',
        'o' => '|',
        'p' => '+',
        'q' => '?',
        'r' => '%',
        's' => '-',
        't' => '~',
        'x' => '^',
        'z' => '.',
        other if !other.is_ascii() => other,
        _ => return None,
    };
    Some(operator)
}
