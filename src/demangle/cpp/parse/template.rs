//! Template arguments, template parameters, and constraints.

use super::{Item, Parser};
use crate::demangle::cpp::node::{Id, List, Node, Shape, Step};

impl Parser<'_> {
    /// `I <template-arg>* [Q <constraint expression>] E`
    ///
    /// Template parameters after the function's name refer to its own arguments, which replace those of the enclosing scope.
    pub(super) fn template_arguments(&mut self, are_own: bool) -> Option<List> {
        self.expect(b'I')?;
        if are_own {
            self.start_own_arguments();
        }
        let mut is_first = true;
        self.list(|parser| {
            if parser.eat(b'E') {
                return Some(Item::End);
            }
            if !std::mem::replace(&mut is_first, false) && parser.peek() == b'Q' {
                // LLVM does not print it.
                parser.requires_clause()?;
                return parser.expect(b'E').map(|()| Item::End);
            }
            let argument = parser.template_argument()?;
            if are_own {
                let parameter = match *parser.arena.node(argument) {
                    // LLVM does not check for a pack after a declaration.
                    Node::Declared(argument) => argument,
                    Node::Elements(elements) => parser.add(Node::Pack(elements)),
                    _ => argument,
                };
                parser.parameters.push(parameter);
            }
            Some(Item::Is(argument))
        })
    }

    /// `<template-arg>`: a type, `X <expression> E`, a literal, `J <template-arg>* E`, or
    /// `<template-param-decl> <template-arg>`, of which only the argument is printed
    pub(super) fn template_argument(&mut self) -> Option<Id> {
        match self.peek() {
            b'X' => {
                self.at += 1;
                let expression = self.expression()?;
                self.expect(b'E')?;
                Some(expression)
            }
            b'J' => {
                self.at += 1;
                let elements = self.nested(|parser| parser.list_to_end(Self::template_argument))?;
                Some(self.add(Node::Elements(elements)))
            }
            b'L' if self.peek_at(1) == b'Z' => {
                self.at += 2;
                let encoding = self.encoding()?;
                self.expect(b'E')?;
                Some(encoding)
            }
            b'L' => self.literal(),
            b'T' if self.is_template_parameter_declaration() => {
                self.template_parameter_declaration(false)?;
                let argument = self.nested(Self::template_argument)?;
                Some(self.add(Node::Declared(argument)))
            }
            _ => self.ty(),
        }
    }

    // Template parameters.

    /// `<template-param>`: `T_`, `T <number> _`, `TL <level> __`, `TL <level> _ <number> _`
    pub(super) fn template_parameter(&mut self) -> Option<Id> {
        let start = self.at;
        self.expect(b'T')?;
        let mut level = 0;
        if self.eat(b'L') {
            level = self.count()?.saturating_add(1);
            self.expect(b'_')?;
        }
        let index = if self.peek() == b'_' { 0 } else { self.count()?.saturating_add(1) };
        self.expect(b'_')?;
        if self.is_in_constraint {
            let text = self.slice_between(start, self.at - 1);
            return Some(self.add(Node::Name(text)));
        }
        if self.allows_forwards && level == 0 {
            let index = u32::try_from(index).ok()?;
            let forward = self.add(Node::Forward { index, target: None });
            self.forwards.push(forward);
            return Some(forward);
        }
        self.parameter_at(level, index).or_else(|| self.auto_parameter(level))
    }

    /// An undeclared parameter: an `auto` in the parameters of a lambda.
    fn auto_parameter(&mut self, level: usize) -> Option<Id> {
        if self.auto_level != Some(level) || level > self.level_count() {
            return None;
        }
        if level == self.level_count() {
            self.enter_level();
        }
        Some(self.fixed("auto"))
    }

    /// Returns the node of a parameter, if it exists.
    pub(super) fn parameter_at(&self, level: usize, index: usize) -> Option<Id> {
        let levels = self.levels.get(self.first_level..)?;
        let start = *levels.get(level)? as usize;
        let end = levels.get(level + 1).map_or(self.parameters.len(), |&end| end as usize);
        self.parameters.get(start..end)?.get(index).copied()
    }

    /// The number of enclosing templates within the current encoding.
    pub(super) fn level_count(&self) -> usize {
        self.levels.len() - self.first_level
    }

    fn enter_level(&mut self) {
        // There are fewer parameters than bytes.
        let start = u32::try_from(self.parameters.len()).unwrap_or(u32::MAX);
        self.levels.push(start);
    }

    pub(super) fn leave_level(&mut self) {
        if let Some(start) = self.levels.pop() {
            self.parameters.truncate(start as usize);
        }
    }

    /// Parses a rule with a new level of template parameters.
    pub(super) fn in_new_level<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (levels, parameters) = (self.levels.len(), self.parameters.len());
        self.enter_level();
        let result = rule(self);
        self.levels.truncate(levels);
        self.parameters.truncate(parameters);
        result
    }

    /// Parses a rule that does not refer to the template parameters around it.
    pub(super) fn in_own_scope<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (first_level, parameters) = (self.first_level, self.parameters.len());
        self.first_level = self.levels.len();
        let result = rule(self);
        self.levels.truncate(self.first_level);
        self.parameters.truncate(parameters);
        self.first_level = first_level;
        result
    }

    /// Starts the function's own arguments, which become the outermost level.
    fn start_own_arguments(&mut self) {
        self.leave_all_levels();
        self.enter_level();
    }

    pub(super) fn leave_all_levels(&mut self) {
        while self.level_count() > 0 {
            self.leave_level();
        }
    }

    // Declarations of template parameters.

    pub(super) fn is_template_parameter_declaration(&self) -> bool {
        self.peek() == b'T' && matches!(self.peek_at(1), b'y' | b'p' | b't' | b'n' | b'k')
    }

    /// `<template-param-decl>`. If it is in scope, the parameter is added to the innermost level.
    pub(super) fn template_parameter_declaration(&mut self, is_in_scope: bool) -> Option<Id> {
        if !self.is_template_parameter_declaration() {
            return None;
        }
        let kind = self.peek_at(1);
        self.at += 2;
        self.nested(|parser| {
            Some(match kind {
                b'y' => {
                    let name = parser.made_up_name(0, is_in_scope);
                    parser.sides(&[Step::Text("typename ")], &[Step::Whole(name)], Shape::RIGHT)
                }
                b'k' => {
                    let constraint = parser.name(None)?;
                    let name = parser.made_up_name(0, is_in_scope);
                    parser.sides(&[Step::Whole(constraint), Step::Text(" ")], &[Step::Whole(name)], Shape::RIGHT)
                }
                b'n' => {
                    let name = parser.made_up_name(1, is_in_scope);
                    let ty = parser.ty()?;
                    let left = [Step::Left(ty), Step::SpaceUnlessRight(ty)];
                    parser.sides(&left, &[Step::Whole(name), Step::Right(ty)], Shape::RIGHT)
                }
                b't' => {
                    let name = parser.made_up_name(2, is_in_scope);
                    let (parameters, requires) = parser.in_new_level(Self::template_head)?;
                    let left = [Step::Text("template"), Step::Arguments(parameters, "> typename ")];
                    let mut right = vec![Step::Whole(name)];
                    right.extend(requires.into_iter().flat_map(requires_steps));
                    parser.sides(&left, &right, Shape::RIGHT)
                }
                _ => {
                    let parameter = parser.template_parameter_declaration(is_in_scope)?;
                    let left = [Step::Left(parameter), Step::Text("...")];
                    parser.sides(&left, &[Step::Right(parameter)], Shape::RIGHT)
                }
            })
        })
    }

    /// `<template-param-decl>* [Q <constraint expression>] E` of a template template parameter
    fn template_head(&mut self) -> Option<(List, Option<Id>)> {
        let (mut requires, mut is_first) = (None, true);
        let parameters = self.list(|parser| {
            if !std::mem::replace(&mut is_first, false) && parser.peek() == b'Q' {
                requires = parser.requires_clause()?;
                return parser.expect(b'E').map(|()| Item::End);
            }
            if parser.eat(b'E') {
                return Some(Item::End);
            }
            parser.template_parameter_declaration(true).map(Item::Is)
        })?;
        Some((parameters, requires))
    }

    /// Makes up a name for a type, value or template parameter (`$T`, `$T0`, …), since mangled names do not contain the source name.
    fn made_up_name(&mut self, kind: usize, is_in_scope: bool) -> Id {
        let start = ["$T", "$N", "$TT"][kind];
        let index = self.made_up[kind];
        self.made_up[kind] += 1;
        let name = self.add(Node::MadeUpName { start, index });
        if is_in_scope {
            self.parameters.push(name);
        }
        name
    }

    // Constraints.

    /// `[Q <constraint expression>]`
    pub(super) fn requires_clause(&mut self) -> Option<Option<Id>> {
        if self.eat(b'Q') { self.constraint().map(Some) } else { Some(None) }
    }

    /// `<constraint-expression>`
    pub(super) fn constraint(&mut self) -> Option<Id> {
        let was_in_constraint = std::mem::replace(&mut self.is_in_constraint, true);
        let constraint = self.expression();
        self.is_in_constraint = was_in_constraint;
        constraint
    }
}

/// ` requires constraint`
pub(super) fn requires_steps(constraint: Id) -> [Step; 2] {
    [Step::Text(" requires "), Step::Whole(constraint)]
}
