//! `<unresolved-name>`: names in expressions that depend on template parameters.

use super::Parser;
use crate::demangle::cpp::node::{Id, Node, Step};

impl Parser<'_> {
    /// ```text
    /// [gs] <base-unresolved-name>
    /// sr <unresolved-type> <base-unresolved-name>
    /// srN <unresolved-type> <unresolved-qualifier-level>+ E <base-unresolved-name>
    /// [gs] sr <unresolved-qualifier-level>+ E <base-unresolved-name>
    /// ```
    pub(super) fn unresolved_name(&mut self, is_global: bool) -> Option<Id> {
        if self.eat_all(b"srN") {
            let mut scope = self.unresolved_type_with_arguments()?;
            while !self.eat(b'E') {
                let name = self.simple_id()?;
                scope = self.add(Node::Nested { scope, joint: "::", name });
            }
            return self.qualified_base(scope);
        }
        if !self.eat_all(b"sr") {
            let name = self.base_unresolved_name()?;
            return Some(if is_global { self.prefixed("::", name) } else { name });
        }
        if !self.peek().is_ascii_digit() {
            let scope = self.unresolved_type_with_arguments()?;
            return self.qualified_base(scope);
        }
        let mut scope = self.simple_id()?;
        if is_global {
            scope = self.prefixed("::", scope);
        }
        while !self.eat(b'E') {
            let name = self.simple_id()?;
            scope = self.add(Node::Nested { scope, joint: "::", name });
        }
        self.qualified_base(scope)
    }

    fn qualified_base(&mut self, scope: Id) -> Option<Id> {
        let name = self.base_unresolved_name()?;
        Some(self.add(Node::Nested { scope, joint: "::", name }))
    }

    /// `<unresolved-type> [<template-args>]`
    fn unresolved_type_with_arguments(&mut self) -> Option<Id> {
        let ty = self.unresolved_type()?;
        self.with_arguments(ty)
    }

    /// `<template-param>`, `<decltype>`, `<substitution>`
    fn unresolved_type(&mut self) -> Option<Id> {
        let ty = match self.peek() {
            b'T' => self.template_parameter()?,
            b'D' if matches!(self.peek_at(1), b't' | b'T') => self.decltype()?,
            _ => return self.substitution(),
        };
        Some(self.substitutable(ty))
    }

    /// `<simple-id>`: `<source-name> [<template-args>]`
    fn simple_id(&mut self) -> Option<Id> {
        let name = self.source_name()?;
        self.with_arguments(name)
    }

    /// `<simple-id>`, `[on] <operator-name> [<template-args>]`, `dn <destructor-name>`
    fn base_unresolved_name(&mut self) -> Option<Id> {
        if self.peek().is_ascii_digit() {
            return self.simple_id();
        }
        if self.eat_all(b"dn") {
            let class = if self.peek().is_ascii_digit() { self.simple_id()? } else { self.unresolved_type()? };
            return Some(self.phrase(&[Step::Text("~"), Step::Left(class)]));
        }
        self.eat_all(b"on");
        let operator = self.operator_name(None)?;
        self.with_arguments(operator)
    }

    fn with_arguments(&mut self, name: Id) -> Option<Id> {
        if self.peek() != b'I' {
            return Some(name);
        }
        let arguments = self.template_arguments(false)?;
        Some(self.add(Node::Templated { name, arguments }))
    }
}
