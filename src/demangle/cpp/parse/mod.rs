//! Parses a mangled name into nodes.
//!
//! The functions are named after the rules of the ABI's grammar. Each function parses one rule: it consumes the bytes of the rule, and
//! returns the node or `None`. There is no backtracking, so a name is parsed in linear time.
//!
//! The functions call each other as the rules do. [`Parser::nested`] counts their depth, and stops at [`MAX_DEPTH`], so that no name can
//! overflow the stack.

mod encoding;
mod expression;
mod literal;
mod name;
mod special;
mod template;
mod ty;
mod unqualified;
mod unresolved;

use super::node::{Arena, Id, List, Node, Slice, Step};
use super::operators::Precedence;
use crate::demangle::error::Error;

/// The maximum number of nested types, expressions and encodings. A template inside a template counts as one level.
///
/// These levels take up to 256 KiB of stack, and 768 KiB in unoptimized builds. The deepest known names, lists of types created by
/// recursive templates, have fewer than a hundred levels.
const MAX_DEPTH: u32 = 512;

/// Parses a complete mangled name.
pub(in crate::demangle) fn parse(name: &str) -> Result<(Arena, Id), Error> {
    // Nodes and bytes are counted by `u32`.
    if name.len() > (u32::MAX / 16) as usize {
        return Err(Error::TooLong);
    }
    let mut parser = Parser {
        name,
        bytes: name.as_bytes(),
        at: 0,
        depth: 0,
        is_too_deep: false,
        arena: Arena::new(name.len() / 2),
        substitutions: Vec::new(),
        pending: Vec::new(),
        parameters: Vec::new(),
        levels: Vec::new(),
        forwards: Vec::new(),
        first_level: 0,
        auto_level: None,
        takes_arguments: true,
        allows_forwards: false,
        is_in_constraint: false,
        made_up: [0; 3],
    };
    match parser.mangled_name() {
        Some(root) => Ok((parser.arena, root)),
        None if parser.is_too_deep => Err(Error::TooDeep),
        None => Err(Error::Malformed { at: parser.at }),
    }
}

/// The state of the parser. Fields that are not tables depend on the current position in the name.
struct Parser<'a> {
    name: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    is_too_deep: bool,
    arena: Arena,
    /// The nodes that `S_`, `S0_` … refer to.
    substitutions: Vec<Id>,
    /// A stack of the members of unfinished lists.
    pending: Vec<Id>,
    /// The nodes of the template parameters of all levels. The last level is at the end.
    parameters: Vec<Id>,
    /// The start of each level in `parameters`. A level consists of the parameters of one template.
    levels: Vec<u32>,
    /// Template parameters in the names of conversion operators, which precede their arguments.
    forwards: Vec<Id>,
    /// The level of the outermost template of the current function. Functions inside names only use levels from here on.
    first_level: usize,
    /// The level at which a missing template parameter is an `auto` of a lambda.
    auto_level: Option<usize>,
    /// False in a conversion operator's type, where `T_I…E` is the type followed by the arguments of the operator.
    takes_arguments: bool,
    /// True in the name of a conversion operator: template parameters may refer to later arguments.
    allows_forwards: bool,
    /// True in constraints, where all levels are in scope. Parameters are printed by number there, as LLVM does.
    is_in_constraint: bool,
    /// The number of names made up for type, value and template parameters.
    made_up: [u32; 3],
}

impl Parser<'_> {
    // Bytes.

    /// Returns the next byte, or 0 at the end; no rule starts with 0.
    fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn eat_all(&mut self, bytes: &[u8]) -> bool {
        let is_next = self.bytes[self.at..].starts_with(bytes);
        self.at += if is_next { bytes.len() } else { 0 };
        is_next
    }

    /// Like [`Self::eat`], for a required byte.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    // Numbers.

    /// `<number>`, verbatim.
    fn number(&mut self, allows_negative: bool) -> Slice {
        let start = self.at;
        if allows_negative {
            self.eat(b'n');
        }
        let digits = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        // Without a digit, it is not a number.
        self.slice(if self.at == digits { digits } else { start })
    }

    /// An unsigned number.
    fn count(&mut self) -> Option<usize> {
        let slice = self.number(false);
        let digits = &self.bytes[slice.start as usize..slice.end as usize];
        if digits.is_empty() {
            return None;
        }
        Some(digits.iter().fold(0, |count: usize, digit| {
            // A number that is too large for a name is still too large after multiplying by ten.
            count.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
        }))
    }

    /// `<seq-id>`: a base-36 number in digits and capital letters.
    fn sequence_number(&mut self) -> Option<usize> {
        let mut value = None;
        loop {
            let digit = match self.peek() {
                digit @ b'0'..=b'9' => digit - b'0',
                letter @ b'A'..=b'Z' => letter - b'A' + 10,
                _ => return value,
            };
            value = Some(value.unwrap_or(0_usize).saturating_mul(36).saturating_add(usize::from(digit)));
            self.at += 1;
        }
    }

    /// The bytes between `start` and the current position.
    fn slice(&self, start: usize) -> Slice {
        self.slice_between(start, self.at)
    }

    fn slice_between(&self, start: usize, end: usize) -> Slice {
        // `parse` rejects names that are too long for this.
        Slice { start: u32::try_from(start).unwrap_or(0), end: u32::try_from(end).unwrap_or(0) }
    }

    fn text(&self, slice: Slice) -> &str {
        self.name.get(slice.start as usize..slice.end as usize).unwrap_or("")
    }

    /// The bytes of a `<source-name>`: a length, followed by that many bytes.
    fn identifier(&mut self) -> Option<Slice> {
        let length = self.count()?;
        let start = self.at;
        let end = start.checked_add(length)?;
        // `get` also rejects a range that ends inside a character.
        if length == 0 || self.name.get(start..end).is_none() {
            return None;
        }
        self.at = end;
        Some(self.slice(start))
    }

    // Nodes.

    fn add(&mut self, node: Node) -> Id {
        self.arena.add(node)
    }

    fn fixed(&mut self, text: &'static str) -> Id {
        self.add(Node::Fixed(text))
    }

    /// Adds a node that is printed by these steps.
    fn phrase(&mut self, steps: &[Step]) -> Id {
        self.operation_phrase(steps, Precedence::Primary)
    }

    /// Like [`phrase`](Self::phrase), for an expression with this precedence.
    fn operation_phrase(&mut self, steps: &[Step], precedence: Precedence) -> Id {
        let phrase = self.arena.add_phrase(steps);
        self.arena.add_expression(Node::Phrase(phrase), precedence)
    }

    /// Adds a node with text before it, as in `vtable for node`
    fn prefixed(&mut self, text: &'static str, node: Id) -> Id {
        self.phrase(&[Step::Text(text), Step::Whole(node)])
    }

    /// Allows `S…_` to refer to a node.
    fn substitutable(&mut self, id: Id) -> Id {
        self.substitutions.push(id);
        id
    }

    /// Parses a nested rule, unless the depth limit is reached.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MAX_DEPTH {
            self.is_too_deep = true;
            return None;
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Parses nodes with a rule until the list ends.
    fn list(&mut self, mut rule: impl FnMut(&mut Self) -> Option<Item>) -> Option<List> {
        let start = self.pending.len();
        while let Item::Is(id) = rule(self)? {
            self.pending.push(id);
        }
        Some(self.finish_list(start))
    }

    /// Parses nodes with a rule until `E`.
    fn list_to_end(&mut self, mut rule: impl FnMut(&mut Self) -> Option<Id>) -> Option<List> {
        self.list(|parser| if parser.eat(b'E') { Some(Item::End) } else { rule(parser).map(Item::Is) })
    }

    /// Turns the pending nodes from an index on into a list.
    fn finish_list(&mut self, start: usize) -> List {
        let list = self.arena.add_list(&self.pending[start..]);
        self.pending.truncate(start);
        list
    }
}

/// Text, followed by a step in parentheses.
fn enclosed(prefix: &'static str, inner: Step) -> [Step; 4] {
    [Step::Text(prefix), Step::Open("("), inner, Step::Close(")")]
}

/// The next member of a list, or its end.
enum Item {
    Is(Id),
    End,
}
