//! Types, and packs of them.

use super::{Printer, Step};
use crate::demangle::cpp::node::{Id, Node, Shape, Slice};

impl Printer<'_> {
    /// Writes the left side of a node that is a type; returns false for other nodes.
    pub(super) fn left_of_type(&mut self, node: &Node) -> bool {
        match *node {
            Node::Qualified { ty, qualifiers } => self.then(&[Step::Left(ty), Step::Qualifiers(qualifiers)]),
            Node::Pointer(ty) => self.pointer(ty),
            Node::Reference { ty, is_rvalue } => self.reference(ty, is_rvalue),
            Node::MemberPointer { class, member } => {
                let open = if self.shape(member).needs_parentheses() { "(" } else { " " };
                self.then(&[Step::Left(member), Step::Text(open), Step::Whole(class), Step::Text("::*")]);
            }
            Node::Array { element, .. } => self.steps.push(Step::Left(element)),
            Node::Function { result, .. } => self.then(&[Step::Left(result), Step::Text(" ")]),
            Node::Vector { element, size } => {
                self.steps.push(Step::Text("]"));
                self.steps.extend(size.map(Step::Whole));
                self.then(&[Step::Whole(element), Step::Text(" vector[")]);
            }
            Node::VendorQualified { ty, qualifier, arguments } => {
                if let Some(arguments) = arguments {
                    self.then_arguments(arguments, ">");
                }
                self.then(&[Step::Whole(ty), Step::Text(" "), Step::Slice(qualifier)]);
            }
            Node::ObjcProtocol { ty, protocol } => {
                self.then(&[Step::Whole(ty), Step::Text("<"), Step::Slice(protocol), Step::Text(">")]);
            }
            Node::Enclosed { prefix, inner } => {
                self.write(prefix);
                self.then(&[Step::Open("("), Step::Whole(inner), Step::Close(")")]);
            }
            Node::EnclosedList { prefix, items } => {
                self.write(prefix);
                self.then(&[Step::Open("("), Step::List(items), Step::Close(")")]);
            }
            Node::Transformed { function, inner } => {
                self.then(&[Step::Slice(function), Step::Text("("), Step::Whole(inner), Step::Text(")")]);
            }
            Node::Expansion(pattern) => self.expand(pattern),
            Node::Elements(elements) => self.list(elements),
            Node::Declared(argument) => self.steps.push(Step::Whole(argument)),
            _ => return false,
        }
        true
    }

    /// Writes the right side of a node.
    pub(super) fn right_of_node(&mut self, node: &Node) {
        match *node {
            Node::Qualified { ty, .. } => self.steps.push(Step::Right(ty)),
            Node::Pointer(ty) => {
                if self.protocol_of_id(ty).is_none() {
                    self.right_of_pointer(ty);
                }
            }
            Node::Reference { ty, .. } => {
                if let Some((ty, _)) = self.collapsed(ty, true) {
                    self.right_of_pointer(ty);
                }
            }
            Node::MemberPointer { member, .. } => self.right_of_pointer(member),
            Node::Array { element, size } => {
                self.then(&[Step::Text("]"), Step::Right(element)]);
                self.steps.extend(size.map(Step::Whole));
                self.steps.push(Step::ArrayBracket);
            }
            Node::Function { result, parameters, qualifiers, exceptions } => {
                if let Some(exceptions) = exceptions {
                    self.then(&[Step::Text(" "), Step::Whole(exceptions)]);
                }
                self.then_function(Some(result), parameters, qualifiers);
            }
            _ => self.right_of_name(node),
        }
    }

    fn right_of_pointer(&mut self, ty: Id) {
        if self.shape(ty).needs_parentheses() {
            self.write(")");
        }
        self.steps.push(Step::Right(ty));
    }

    /// `id<protocol>`, or a type and `*`.
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

    /// The type that a reference refers to, and true for `&&`, after collapsing: `T&&` is `int&` where `T` is `int&`.
    fn collapsed(&mut self, ty: Id, is_rvalue: bool) -> Option<(Id, bool)> {
        let (mut ty, mut is_rvalue) = (ty, is_rvalue);
        // References to references are one node, so a longer chain is a cycle.
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

    /// The protocol, if the type is an object of Objective-C of which nothing else is known.
    fn protocol_of_id(&self, ty: Id) -> Option<Slice> {
        let Node::ObjcProtocol { ty, protocol } = *self.arena.node(ty) else { return None };
        let Node::Name(name) = *self.arena.node(ty) else { return None };
        let is_object = self.name.get(name.start as usize..name.end as usize) == Some("objc_object");
        is_object.then_some(protocol)
    }
}

/// The sign of a pointer: plain, with the parenthesis of a function, or with the parenthesis of an array.
fn with_parenthesis(shape: Shape, plain: &'static str, function: &'static str, array: &'static str) -> &'static str {
    if shape.is_array() {
        array
    } else if shape.needs_parentheses() {
        function
    } else {
        plain
    }
}
