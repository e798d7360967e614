//! Names, functions, lambdas, and the declarations of template parameters.

use super::{Printer, Step};
use crate::demangle::cpp::node::{Id, List, Node, ParameterKind, Qualifiers, StdClass};

impl Printer<'_> {
    /// Writes the left side of a node that is a name; returns false for other nodes.
    pub(super) fn left_of_name(&mut self, node: &Node) -> bool {
        match *node {
            Node::Name(name) => self.write_slice(name),
            Node::Fixed(text) => self.write(text),
            Node::Nested { scope, name } => {
                self.then(&[Step::Whole(scope), Step::Text("::"), Step::Whole(name)]);
            }
            Node::Friend { scope, name } => {
                self.then(&[Step::Whole(scope), Step::Text("::friend "), Step::Whole(name)]);
            }
            Node::Templated { name, arguments } => {
                self.then_arguments(arguments, ">");
                self.steps.push(Step::Whole(name));
            }
            Node::Module { parent, name, is_partition } => self.module(parent, name, is_partition),
            Node::InModule { name, module } => {
                self.then(&[Step::Whole(name), Step::Text("@"), Step::Whole(module)]);
            }
            Node::Tagged { name, tag } => {
                self.then(&[Step::Whole(name), Step::Text("[abi:"), Step::Slice(tag), Step::Text("]")]);
            }
            Node::Std { class, is_spelled_out } => self.write(std_name(class, is_spelled_out)),
            Node::Constructor { class, is_destructor } => self.constructor(class, is_destructor),
            Node::Destructor(class) => {
                self.write("~");
                self.steps.push(Step::Left(class));
            }
            Node::Bindings(names) => self.then(&[Step::Text("["), Step::List(names), Step::Text("]")]),
            Node::Unnamed { kind, number } => {
                self.then(&[Step::Text(kind), Step::Slice(number), Step::Text("'")]);
            }
            Node::Lambda { number, signature } => {
                self.then(&[Step::Text("'lambda"), Step::Slice(number), Step::Text("'"), Step::Whole(signature)]);
            }
            Node::Prefixed(text, name) => {
                self.write(text);
                self.steps.push(Step::Whole(name));
            }
            Node::Suffixed(name, text) => self.then(&[Step::Left(name), Step::Text(text)]),
            _ => return self.left_of_function(node) || self.left_of_template_parameter(node),
        }
        true
    }

    fn left_of_function(&mut self, node: &Node) -> bool {
        match *node {
            Node::Signature { template_parameters, requires, parameters, trailing_requires } => {
                self.signature(template_parameters, requires, parameters, trailing_requires);
            }
            Node::Encoding { result, name, .. } => {
                self.steps.push(Step::Whole(name));
                if let Some(result) = result {
                    self.then(&[Step::Left(result), Step::SpaceUnlessRight(result)]);
                }
            }
            Node::ConstructionVtable { derived, base } => self.then(&[
                Step::Text("construction vtable for "),
                Step::Whole(base),
                Step::Text("-in-"),
                Step::Whole(derived),
            ]),
            Node::Clone { encoding, suffix } => {
                self.then(&[Step::Whole(encoding), Step::Text(" ("), Step::Slice(suffix), Step::Text(")")]);
            }
            _ => return false,
        }
        true
    }

    fn left_of_template_parameter(&mut self, node: &Node) -> bool {
        match *node {
            Node::MadeUpName { kind, index } => self.made_up_name(kind, index),
            Node::TypeParameter(_) => self.write("typename "),
            Node::ConstrainedParameter { constraint, .. } => {
                self.then(&[Step::Whole(constraint), Step::Text(" ")]);
            }
            Node::ValueParameter { ty, .. } => self.then(&[Step::Left(ty), Step::SpaceUnlessRight(ty)]),
            Node::TemplateParameter { parameters, .. } => {
                self.then_arguments(parameters, "> typename ");
                self.write("template");
            }
            Node::PackParameter(parameter) => self.then(&[Step::Left(parameter), Step::Text("...")]),
            _ => return false,
        }
        true
    }

    /// Writes the right side of a name.
    pub(super) fn right_of_name(&mut self, node: &Node) {
        match *node {
            Node::Encoding { result, parameters, qualifiers, enable_if, requires, .. } => {
                self.then_requires(requires);
                if let Some(conditions) = enable_if {
                    self.then(&[Step::Text(" [enable_if:"), Step::List(conditions), Step::Text("]")]);
                }
                self.then_function(result, parameters, qualifiers);
            }
            Node::TypeParameter(name) | Node::ConstrainedParameter { name, .. } => self.steps.push(Step::Whole(name)),
            Node::ValueParameter { ty, name } => self.then(&[Step::Whole(name), Step::Right(ty)]),
            Node::TemplateParameter { name, requires, .. } => {
                self.then_requires(requires);
                self.steps.push(Step::Whole(name));
            }
            Node::PackParameter(parameter) => self.steps.push(Step::Right(parameter)),
            _ => {}
        }
    }

    /// Adds the next steps: `(parameters)`, the right side of the result, and the qualifiers.
    pub(super) fn then_function(&mut self, result: Option<Id>, parameters: List, qualifiers: Qualifiers) {
        if !qualifiers.is_empty() {
            self.steps.push(Step::Qualifiers(qualifiers));
        }
        if let Some(result) = result {
            self.steps.push(Step::Right(result));
        }
        self.then(&[Step::Open("("), Step::List(parameters), Step::Close(")")]);
    }

    fn then_requires(&mut self, requires: Option<Id>) {
        if let Some(constraint) = requires {
            self.then(&[Step::Text(" requires "), Step::Whole(constraint)]);
        }
    }

    fn signature(
        &mut self,
        template_parameters: List,
        requires: Option<Id>,
        parameters: List,
        trailing_requires: Option<Id>,
    ) {
        self.then_requires(trailing_requires);
        self.then(&[Step::Open("("), Step::List(parameters), Step::Close(")")]);
        if requires.is_some() {
            self.steps.push(Step::Text(" "));
            self.then_requires(requires);
        }
        if template_parameters != List::EMPTY {
            self.then_arguments(template_parameters, ">");
        }
    }

    fn module(&mut self, parent: Option<Id>, name: Id, is_partition: bool) {
        self.steps.push(Step::Whole(name));
        if is_partition {
            self.steps.push(Step::Text(":"));
        } else if parent.is_some() {
            self.steps.push(Step::Text("."));
        }
        if let Some(parent) = parent {
            self.steps.push(Step::Whole(parent));
        }
    }

    fn constructor(&mut self, class: Id, is_destructor: bool) {
        if is_destructor {
            self.write("~");
        }
        let mut class = class;
        loop {
            self.work += 1;
            class = match *self.arena.node(class) {
                Node::Nested { name, .. }
                | Node::Friend { name, .. }
                | Node::Templated { name, .. }
                | Node::InModule { name, .. }
                | Node::Tagged { name, .. }
                | Node::Prefixed("::", name) => name,
                Node::Name(name) => return self.write_slice(name),
                Node::Fixed(text) => return self.write(text),
                Node::Std { class, is_spelled_out } => return self.write(std_class_name(class, is_spelled_out)),
                // A node without a name.
                _ => return,
            };
        }
    }

    fn made_up_name(&mut self, kind: ParameterKind, index: u32) {
        self.write(match kind {
            ParameterKind::Type => "$T",
            ParameterKind::Value => "$N",
            ParameterKind::Template => "$TT",
        });
        if index > 0 {
            self.write(&(index - 1).to_string());
        }
    }

    /// `[](parameters){...}`
    pub(super) fn lambda_expression(&mut self, lambda: Id) {
        self.write("[]");
        if let Node::Lambda { signature, .. } = *self.arena.node(lambda) {
            self.then(&[Step::Whole(signature), Step::Text("{...}")]);
        }
    }
}

/// A class of the standard library, with its scope. Its constructors belong to the template.
fn std_name(class: StdClass, is_spelled_out: bool) -> &'static str {
    match (class, is_spelled_out) {
        (StdClass::Allocator, _) => "std::allocator",
        (StdClass::BasicString, _) => "std::basic_string",
        (StdClass::String, false) => "std::string",
        (StdClass::String, true) => "std::basic_string<char, std::char_traits<char>, std::allocator<char>>",
        (StdClass::Istream, false) => "std::istream",
        (StdClass::Istream, true) => "std::basic_istream<char, std::char_traits<char>>",
        (StdClass::Ostream, false) => "std::ostream",
        (StdClass::Ostream, true) => "std::basic_ostream<char, std::char_traits<char>>",
        (StdClass::Iostream, false) => "std::iostream",
        (StdClass::Iostream, true) => "std::basic_iostream<char, std::char_traits<char>>",
    }
}

/// The class without scope and arguments.
fn std_class_name(class: StdClass, is_spelled_out: bool) -> &'static str {
    let name = std_name(class, is_spelled_out);
    let name = name.split('<').next().unwrap_or(name);
    name.strip_prefix("std::").unwrap_or(name)
}
