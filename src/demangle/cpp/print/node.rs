//! Prints the two sides of each node.

use super::Printer;
use crate::demangle::cpp::node::{Id, Node, Shape, Slice, StdClass, Step};
use crate::demangle::cpp::operators::{Operator, Precedence};

impl Printer<'_> {
    /// Prints the part of a node before the declared name, which is everything for most nodes.
    pub(super) fn left(&mut self, id: Id) {
        match *self.arena.node(id) {
            Node::Phrase(phrase) | Node::Module(phrase) | Node::Designated(phrase) => self.then_phrase(phrase),
            Node::Sides { left, .. } => self.then_phrase(left),
            Node::Name(name) => self.write_slice(name),
            Node::Fixed(text) => self.write(text),
            Node::Nested { scope, joint, name } => {
                self.then(&[Step::Whole(scope), Step::Text(joint), Step::Whole(name)]);
            }
            Node::Templated { name, arguments } => self.then(&[Step::Whole(name), Step::Arguments(arguments, ">")]),
            Node::InModule { name, module } => {
                self.then(&[Step::Whole(name), Step::Text("@"), Step::Whole(module)]);
            }
            Node::Tagged { name, tag } => {
                self.then(&[Step::Whole(name), Step::Text("[abi:"), Step::Slice(tag), Step::Text("]")]);
            }
            Node::Std { class, is_spelled_out } => self.write(std_name(class, is_spelled_out)),
            Node::Constructor { class, is_destructor } => {
                self.write(if is_destructor { "~" } else { "" });
                self.class_name(class);
            }
            Node::MadeUpName { start, index } => {
                self.write(start);
                if index > 0 {
                    self.write(&(index - 1).to_string());
                }
            }
            Node::Binary { left, operator, right } => self.binary(left, operator, right),
            Node::Float { kind, digits } => {
                let digits = self.name.get(digits.start as usize..digits.end as usize).unwrap_or("");
                self.write(&super::float::hexadecimal(kind, digits));
            }
            _ => self.left_of_type(id),
        }
    }

    fn left_of_type(&mut self, id: Id) {
        match *self.arena.node(id) {
            Node::Qualified { ty, qualifiers } => self.then(&[Step::Left(ty), Step::Qualifiers(qualifiers)]),
            Node::Pointer(ty) => self.pointer(ty),
            Node::Reference { ty, is_rvalue } => self.reference(ty, is_rvalue),
            Node::MemberPointer { class, member } => {
                let open = if self.shape(member).needs_parentheses() { "(" } else { " " };
                self.then(&[Step::Left(member), Step::Text(open), Step::Whole(class), Step::Text("::*")]);
            }
            Node::ObjcProtocol { ty, protocol } => {
                self.then(&[Step::Whole(ty), Step::Text("<"), Step::Slice(protocol), Step::Text(">")]);
            }
            Node::Pack(pack) => {
                let element = self.element(pack);
                self.steps.extend(element.map(Step::Left));
            }
            Node::Elements(elements) => self.list(elements),
            Node::Declared(argument) => self.whole(argument),
            Node::Forward { .. } => self.forward_side(id, Step::Left),
            _ => {}
        }
    }

    pub(super) fn right(&mut self, id: Id) {
        match *self.arena.node(id) {
            Node::Sides { right, .. } => self.then_phrase(right),
            Node::Qualified { ty, .. } => self.steps.push(Step::Right(ty)),
            Node::Pointer(ty) if self.protocol_of_id(ty).is_none() => self.right_of_pointer(ty),
            Node::Reference { ty, .. } => {
                if let Some((ty, _)) = self.collapsed(ty, true) {
                    self.right_of_pointer(ty);
                }
            }
            Node::MemberPointer { member, .. } => self.right_of_pointer(member),
            Node::Pack(pack) => {
                let element = self.element(pack);
                self.steps.extend(element.map(Step::Right));
            }
            Node::Forward { .. } => self.forward_side(id, Step::Right),
            _ => {}
        }
    }

    fn forward_side(&mut self, id: Id, side: fn(Id) -> Step) {
        if let Some(target) = self.forward(id) {
            self.forwards.push(id);
            self.then(&[side(target), Step::LeaveForward]);
        }
    }

    fn binary(&mut self, left: Id, operator: &Operator, right: Id) {
        let (symbol, precedence) = (operator.symbol(), operator.precedence);
        let space = if symbol == "," { "" } else { " " };
        // Assignments are right-associative, all other operators left-associative.
        let (left, right) = if precedence == Precedence::Assignment {
            (Step::Operand(left, Precedence::LogicalOr), Step::LastOperand(right, precedence))
        } else {
            (Step::LastOperand(left, precedence), Step::Operand(right, precedence))
        };
        // In template arguments, `>` would end them.
        let needs_parentheses = self.open == 0 && matches!(symbol, ">" | ">>");
        if needs_parentheses {
            self.steps.push(Step::Close(")"));
        }
        self.then(&[left, Step::Text(space), Step::Text(symbol), Step::Text(" "), right]);
        if needs_parentheses {
            self.steps.push(Step::Open("("));
        }
    }

    /// Prints the last part of a class name.
    fn class_name(&mut self, class: Id) {
        let mut class = class;
        loop {
            self.work += 1;
            class = match *self.arena.node(class) {
                Node::Nested { name, .. }
                | Node::Templated { name, .. }
                | Node::InModule { name, .. }
                | Node::Tagged { name, .. } => name,
                Node::Name(name) => return self.write_slice(name),
                Node::Fixed(text) => return self.write(text),
                Node::Std { class, is_spelled_out } => {
                    let name = std_name(class, is_spelled_out).split('<').next().unwrap_or_default();
                    return self.write(name.trim_start_matches("std::"));
                }
                // A node without a name.
                _ => return,
            };
        }
    }

    fn right_of_pointer(&mut self, ty: Id) {
        if self.shape(ty).needs_parentheses() {
            self.write(")");
        }
        self.steps.push(Step::Right(ty));
    }

    /// Prints `id<protocol>`, or a type and `*`.
    fn pointer(&mut self, ty: Id) {
        if let Some(protocol) = self.protocol_of_id(ty) {
            self.then(&[Step::Text("id<"), Step::Slice(protocol), Step::Text(">")]);
        } else {
            let shape = self.shape(ty);
            self.then(&[Step::Left(ty), Step::Text(with_parenthesis(shape, "*", "(*", " (*"))]);
        }
    }

    fn reference(&mut self, ty: Id, is_rvalue: bool) {
        let Some((ty, is_rvalue)) = self.collapsed(ty, is_rvalue) else { return };
        let shape = self.shape(ty);
        let ampersands = if is_rvalue {
            with_parenthesis(shape, "&&", "(&&", " (&&")
        } else {
            with_parenthesis(shape, "&", "(&", " (&")
        };
        self.then(&[Step::Left(ty), Step::Text(ampersands)]);
    }

    /// Returns the type that a reference refers to, and true for `&&`, after collapsing: `T&&` is `int&` if `T` is `int&`.
    fn collapsed(&mut self, ty: Id, is_rvalue: bool) -> Option<(Id, bool)> {
        let (mut ty, mut is_rvalue) = (ty, is_rvalue);
        // A reference to a reference is one node, so a longer chain is a cycle.
        for _ in 0..64 {
            let meaning = self.meaning(ty);
            let Node::Reference { ty: inner, is_rvalue: is_inner_rvalue } = *self.arena.node(meaning) else {
                return Some((ty, is_rvalue));
            };
            ty = inner;
            is_rvalue &= is_inner_rvalue;
        }
        None
    }

    /// Returns the protocol if the type is an Objective-C object of which only the protocol is known.
    fn protocol_of_id(&self, ty: Id) -> Option<Slice> {
        let Node::ObjcProtocol { ty, protocol } = *self.arena.node(ty) else { return None };
        let Node::Name(name) = *self.arena.node(ty) else { return None };
        let is_object = self.name.get(name.start as usize..name.end as usize) == Some("objc_object");
        is_object.then_some(protocol)
    }
}

/// The symbol of a pointer: plain, with the parenthesis for a function, or with the parenthesis for an array.
fn with_parenthesis(shape: Shape, plain: &'static str, function: &'static str, array: &'static str) -> &'static str {
    if shape.is_array() {
        array
    } else if shape.needs_parentheses() {
        function
    } else {
        plain
    }
}

/// Returns the name of a standard library class, with its scope.
fn std_name(class: &StdClass, is_spelled_out: bool) -> &'static str {
    if is_spelled_out { class.spelled_out } else { class.name }
}
