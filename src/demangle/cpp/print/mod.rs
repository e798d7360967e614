//! Prints the nodes of a name as C++.
//!
//! Each node is printed in a few [`Step`]s: text, other nodes, lists. The steps are kept on a separate stack, so names and their
//! substitutions may be nested to any depth.
//!
//! A substitution is printed each time it is used, so a short name may have an enormous expansion, and empty packs take time without any
//! output. Therefore both the output and the work per byte of output are limited.

mod float;
mod node;

use super::node::{Arena, Elements, Id, Items, List, Node, PackState, Phrase, Qualifiers, Shape, Slice, Step};
use super::operators::Precedence;
use crate::demangle::error::Error;

/// The maximum number of steps and bytes per node and per byte of output. Real names need a few.
const WORK_FACTOR: usize = 64;

/// Prints a node in at most `max_output` bytes.
pub(in crate::demangle) fn print(name: &str, arena: &Arena, root: Id, max_output: usize) -> Result<String, Error> {
    let mut steps = Vec::with_capacity(64);
    steps.push(Step::Whole(root));
    let (output, forwards, max_output) = (String::new(), Vec::new(), max_output.min(u32::MAX as usize));
    Printer { name, arena, steps, output, max_output, work: 0, open: 1, pack: PackState::NONE, forwards }.run()
}

struct Printer<'a> {
    name: &'a str,
    arena: &'a Arena,
    steps: Vec<Step>,
    output: String,
    max_output: usize,
    /// Steps and printed bytes, including bytes that were removed again.
    work: usize,
    /// The number of open brackets since the last `<` of template arguments. There is one around the complete name.
    open: u32,
    pack: PackState,
    /// Forward references that are being printed. A reference may contain itself.
    forwards: Vec<Id>,
}

impl Printer<'_> {
    fn run(mut self) -> Result<String, Error> {
        while let Some(step) = self.steps.pop() {
            self.work += 1;
            let allowance = 1024 + WORK_FACTOR * (self.arena.len() + self.output.len());
            if self.output.len() > self.max_output || self.work > allowance {
                return Err(Error::TooLong);
            }
            self.step(step);
        }
        if self.output.len() > self.max_output { Err(Error::TooLong) } else { Ok(self.output) }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Whole(id) => self.whole(id),
            Step::Left(id) => self.left(id),
            Step::Right(id) => self.right(id),
            Step::Operand(id, limit) => self.operand(id, self.arena.precedence(id) >= limit),
            Step::LastOperand(id, limit) => self.operand(id, self.arena.precedence(id) > limit),
            Step::List(list) => self.list(list),
            Step::Arguments(list, close) => {
                self.then(&[Step::Angle("<", 0), Step::List(list), Step::Angle(close, self.open)]);
            }
            Step::TypeArgument(ty) => self.then(&[Step::Angle("<", 0), Step::Left(ty), Step::Angle(">", self.open)]),
            Step::Items(items) => self.items(items),
            Step::Expand(pattern) => self.expand(pattern),
            Step::Elements(elements) => self.elements(elements),
            Step::Text(text) => self.write(text),
            Step::Slice(slice) => self.write_slice(slice),
            Step::Number(number) => self.write_number(number),
            Step::Qualifiers(qualifiers) => self.qualifiers(qualifiers),
            Step::Open(bracket) => {
                self.open += 1;
                self.write(bracket);
            }
            Step::Close(bracket) => {
                self.open -= 1;
                self.write(bracket);
            }
            Step::Angle(bracket, open) => {
                self.open = open;
                self.write(bracket);
            }
            Step::SpaceUnlessRight(id) => {
                if !self.shape(id).has_right() {
                    self.write(" ");
                }
            }
            Step::ArrayBracket => self.write(if self.output.ends_with(']') { "[" } else { " [" }),
            Step::LeaveForward => drop(self.forwards.pop()),
        }
    }

    /// Schedules these steps next, in this order.
    fn then(&mut self, steps: &[Step]) {
        self.steps.extend(steps.iter().rev());
    }

    fn then_phrase(&mut self, phrase: Phrase) {
        self.then(self.arena.steps(phrase));
    }

    fn write(&mut self, text: &str) {
        self.work += text.len();
        // Output that would be too long is truncated, and `run` detects this.
        if self.output.len() <= self.max_output {
            self.output.push_str(text);
        }
    }

    fn write_slice(&mut self, slice: Slice) {
        let name = self.name;
        self.write(name.get(slice.start as usize..slice.end as usize).unwrap_or(""));
    }

    /// Prints a number with the sign as in C++.
    fn write_number(&mut self, number: Slice) {
        let is_negative = self.name.as_bytes().get(number.start as usize) == Some(&b'n') && number.start < number.end;
        if is_negative {
            self.write("-");
        }
        self.write_slice(Slice { start: number.start + u32::from(is_negative), ..number });
    }

    fn qualifiers(&mut self, qualifiers: Qualifiers) {
        for (qualifier, text) in [
            (Qualifiers::CONST, " const"),
            (Qualifiers::VOLATILE, " volatile"),
            (Qualifiers::RESTRICT, " restrict"),
            (Qualifiers::LVALUE, " &"),
            (Qualifiers::RVALUE, " &&"),
        ] {
            if qualifiers.has(qualifier) {
                self.write(text);
            }
        }
    }

    fn length(&self) -> u32 {
        // `max_output` is at most this, and longer output is not continued.
        u32::try_from(self.output.len()).unwrap_or(u32::MAX)
    }

    // Nodes.

    fn whole(&mut self, id: Id) {
        if self.arena.shape(id) != Shape::PLAIN {
            self.steps.push(Step::Right(id));
        }
        self.left(id);
    }

    fn operand(&mut self, id: Id, needs_parentheses: bool) {
        if needs_parentheses {
            self.then(&[Step::Open("("), Step::Whole(id), Step::Close(")")]);
        } else {
            self.whole(id);
        }
    }

    fn list(&mut self, list: List) {
        let length = self.length();
        self.items(Items { list, next: 0, before: length, after: length, is_first: true });
    }

    fn items(&mut self, mut items: Items) {
        if self.length() != items.after {
            items.is_first = false;
        } else if items.next > 0 {
            self.output.truncate(items.before as usize);
        }
        let Some(item) = self.arena.item(items.list, items.next) else { return };
        items.before = self.length();
        if !items.is_first {
            self.write(", ");
        }
        items.after = self.length();
        items.next += 1;
        self.steps.push(Step::Items(items));
        self.operand(item, self.arena.precedence(item) >= Precedence::Comma);
    }

    // Packs and references.

    /// Returns the current element of a pack. The first pack in an expansion determines its length.
    fn element(&mut self, pack: List) -> Option<Id> {
        if self.pack == PackState::NONE {
            self.pack = PackState { index: 0, count: self.arena.count(pack) };
        }
        self.arena.item(pack, self.pack.index)
    }

    fn expand(&mut self, pattern: Id) {
        let outer = std::mem::replace(&mut self.pack, PackState::NONE);
        let elements = Elements { pattern, next: 1, start: self.length(), outer };
        self.then(&[Step::Whole(pattern), Step::Elements(elements)]);
    }

    fn elements(&mut self, mut elements: Elements) {
        match self.pack.count {
            // The expansion contains no pack, as with a pack of function parameters.
            PackState::NO_PACK => self.write("..."),
            0 => self.output.truncate(elements.start as usize),
            count if elements.next < count => {
                self.write(", ");
                self.pack.index = elements.next;
                elements.next += 1;
                self.then(&[Step::Whole(elements.pattern), Step::Elements(elements)]);
                return;
            }
            _ => {}
        }
        self.pack = elements.outer;
    }

    /// Returns the target of a forward reference, unless it is already being printed.
    fn forward(&mut self, id: Id) -> Option<Id> {
        self.work += self.forwards.len();
        match *self.arena.node(id) {
            Node::Forward { target, .. } if !self.forwards.contains(&id) => target,
            _ => None,
        }
    }

    /// Returns the node itself, or the current target of a pack or forward reference.
    fn meaning(&mut self, id: Id) -> Id {
        let mut id = id;
        // A longer chain of references is a cycle.
        for _ in 0..64 {
            let next = match *self.arena.node(id) {
                Node::Pack(pack) => self.element(pack),
                Node::Forward { .. } => self.forward(id),
                _ => None,
            };
            match next {
                Some(next) => id = next,
                None => break,
            }
        }
        id
    }

    /// Returns the shape of a node at this point.
    fn shape(&mut self, id: Id) -> Shape {
        let (mut id, mut is_pointer) = (id, false);
        while self.arena.shape(id).is_unknown() {
            self.work += 1;
            let inner = match *self.arena.node(id) {
                Node::Qualified { ty, .. } => ty,
                Node::Pointer(ty) | Node::Reference { ty, .. } | Node::MemberPointer { member: ty, .. } => {
                    is_pointer = true;
                    ty
                }
                _ => self.meaning(id),
            };
            // Cycles end at forward references, which have no target while they are printed.
            if inner == id || self.work > 1024 + WORK_FACTOR * (self.arena.len() + self.output.len()) {
                return Shape::PLAIN;
            }
            id = inner;
        }
        let shape = self.arena.shape(id);
        if is_pointer { shape.of_pointer() } else { shape }
    }
}
