//! `<unqualified-name>`: identifiers, operators, constructors, lambdas and other names without a scope.

use super::encoding::NameState;
use super::template::requires_steps;
use super::{Item, Parser, enclosed};
use crate::demangle::cpp::node::{Id, List, Node, Slice, StdClass, Step};
use crate::demangle::cpp::operators::{Form, Operator};

impl Parser<'_> {
    /// `[<module-name>] [F] [L] <unqualified-name> [<abi-tags>]`, in a scope that was already parsed
    pub(super) fn unqualified_name(
        &mut self,
        state: Option<&mut NameState>,
        scope: Option<Id>,
        module: Option<Id>,
    ) -> Option<Id> {
        let module = self.module_name(module)?;
        let is_friend = scope.is_some() && self.eat(b'F');
        // Names with internal linkage.
        self.eat(b'L');
        let mut scope = scope;
        let name = match (self.peek(), self.peek_at(1)) {
            (b'1'..=b'9', _) => self.source_name()?,
            (b'U', _) => {
                if state.is_some() {
                    // As for template arguments, parameters no longer refer to earlier levels.
                    self.leave_all_levels();
                }
                self.unnamed_type_name()?
            }
            (b'D', b'C') => self.structured_binding()?,
            (b'C' | b'D', _) => {
                let class = self.spelled_out(scope.filter(|_| module.is_none())?);
                scope = Some(class);
                self.constructor_name(state, class)?
            }
            _ => self.operator_name(state)?,
        };
        let name = module.map_or(name, |module| self.add(Node::InModule { name, module }));
        let name = self.abi_tags(name)?;
        let joint = if is_friend { "::friend " } else { "::" };
        Some(scope.map_or(name, |scope| self.add(Node::Nested { scope, joint, name })))
    }

    /// `(W [P] <source-name>)*`, after a module that was already read. The inner value is `None` if there is no module.
    pub(super) fn module_name(&mut self, parent: Option<Id>) -> Option<Option<Id>> {
        let mut module = parent;
        while self.eat(b'W') {
            let is_partition = self.eat(b'P');
            let name = self.source_name()?;
            let mut steps: Vec<Step> = module.map(Step::Whole).into_iter().collect();
            if is_partition {
                steps.push(Step::Text(":"));
            } else if module.is_some() {
                steps.push(Step::Text("."));
            }
            steps.push(Step::Whole(name));
            let part = self.arena.add_phrase(&steps);
            let part = self.add(Node::Module(part));
            module = Some(self.substitutable(part));
        }
        Some(module)
    }

    /// `<source-name>`
    pub(super) fn source_name(&mut self) -> Option<Id> {
        let name = self.identifier()?;
        if self.text(name).starts_with("_GLOBAL__N") {
            return Some(self.fixed("(anonymous namespace)"));
        }
        Some(self.add(Node::Name(name)))
    }

    /// `(B <source-name>)*`
    pub(super) fn abi_tags(&mut self, name: Id) -> Option<Id> {
        let mut name = name;
        while self.eat(b'B') {
            let tag = self.identifier()?;
            name = self.add(Node::Tagged { name, tag });
        }
        Some(name)
    }

    /// `DC <source-name>+ E`
    fn structured_binding(&mut self) -> Option<Id> {
        self.at += 2;
        let names = self.list_to_end(Self::source_name)?;
        (names != List::EMPTY).then(|| self.phrase(&[Step::Text("["), Step::List(names), Step::Text("]")]))
    }

    /// Returns `std::basic_string<…>` for `std::string`, since the constructor is named after the template.
    fn spelled_out(&mut self, class: Id) -> Id {
        match *self.arena.node(class) {
            Node::Std { class, .. } => self.add(Node::Std { class, is_spelled_out: true }),
            _ => class,
        }
    }

    /// `<ctor-dtor-name>`: `C1` … `C5`, `CI1 <base class type>`, `D0` … `D5`
    fn constructor_name(&mut self, mut state: Option<&mut NameState>, class: Id) -> Option<Id> {
        let is_destructor = self.eat(b'D');
        let is_inherited = !is_destructor && {
            self.expect(b'C')?;
            self.eat(b'I')
        };
        match self.peek() {
            b'1'..=b'5' if !is_destructor => {}
            b'0' | b'1' | b'2' | b'4' | b'5' if is_destructor => {}
            _ => return None,
        }
        self.at += 1;
        if let Some(state) = state.as_deref_mut() {
            state.has_no_result = true;
        }
        if is_inherited {
            self.nested(|parser| parser.name(state))?;
        }
        Some(self.add(Node::Constructor { class, is_destructor }))
    }

    // Operators.

    /// Consumes the next two letters if they are an operator, and returns it.
    pub(super) fn operator_letters(&mut self) -> Option<&'static Operator> {
        let operator = Operator::find([self.peek(), self.peek_at(1)])?;
        self.at += 2;
        Some(operator)
    }

    /// `<operator-name>`
    pub(super) fn operator_name(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        if let Some(operator) = self.operator_letters() {
            return match operator.form {
                Form::Conversion => self.conversion_name(state),
                form if form.is_name() => Some(self.fixed(operator.name)),
                _ => None,
            };
        }
        if self.eat_all(b"li") {
            let suffix = self.source_name()?;
            return Some(self.prefixed("operator\"\" ", suffix));
        }
        if self.eat(b'v') && self.peek().is_ascii_digit() {
            self.at += 1;
            let name = self.source_name()?;
            return Some(self.prefixed("operator ", name));
        }
        None
    }

    /// `cv <type>`. The type may use template parameters whose arguments follow the name.
    fn conversion_name(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        let (takes_arguments, allows_forwards) = (self.takes_arguments, self.allows_forwards);
        self.takes_arguments = false;
        self.allows_forwards |= state.is_some();
        let ty = self.ty();
        (self.takes_arguments, self.allows_forwards) = (takes_arguments, allows_forwards);
        if let Some(state) = state {
            state.has_no_result = true;
        }
        let ty = ty?;
        Some(self.prefixed("operator ", ty))
    }

    // Types without a name.

    /// `<unnamed-type-name>`: `Ut [<number>] _`, `Ub [<number>] _`, `<closure-type-name>`
    pub(super) fn unnamed_type_name(&mut self) -> Option<Id> {
        let (kind, number, signature) = match self.peek_at(1) {
            b'l' => {
                let (number, signature) = self.closure_type()?;
                ("'lambda", number, Some(signature))
            }
            letter @ (b't' | b'b') => {
                self.at += 2;
                let number = self.number(false);
                self.expect(b'_')?;
                // Blocks are numbered, but LLVM does not print the number.
                if letter == b't' { ("'unnamed", number, None) } else { ("'block-literal", self.slice(self.at), None) }
            }
            _ => return None,
        };
        Some(self.unnamed(kind, number, signature))
    }

    fn unnamed(&mut self, kind: &'static str, number: Slice, signature: Option<Id>) -> Id {
        let mut steps = vec![Step::Text(kind), Step::Slice(number), Step::Text("'")];
        steps.extend(signature.map(Step::Whole));
        self.phrase(&steps)
    }

    /// `Ul <lambda-sig> E [<number>] _`. Returns the number and the signature.
    pub(super) fn closure_type(&mut self) -> Option<(Slice, Id)> {
        self.at += 2;
        let auto_level = self.auto_level.replace(self.level_count());
        let signature = self.in_new_level(Self::lambda_signature);
        self.auto_level = auto_level;
        let signature = signature?;
        self.expect(b'E')?;
        let number = self.number(false);
        self.expect(b'_')?;
        Some((number, signature))
    }

    /// `<template-param-decl>* [Q <requires-clause expression>] (v | <parameter type>+) [Q <expression>]`
    fn lambda_signature(&mut self) -> Option<Id> {
        let template_parameters = self.list(|parser| {
            if parser.is_template_parameter_declaration() {
                parser.template_parameter_declaration(true).map(Item::Is)
            } else {
                Some(Item::End)
            }
        })?;
        if template_parameters == List::EMPTY {
            // An empty level would hide that the parameters of this level are `auto`.
            self.leave_level();
        }
        let requires = self.requires_clause()?;
        let parameters = self.parameters(false, |parser| matches!(parser.peek(), b'E' | b'Q'))?;
        let trailing_requires = self.requires_clause()?;
        Some(self.phrase(&signature_steps(template_parameters, requires, parameters, trailing_requires)))
    }

    // Substitutions.

    /// `<substitution>`: `S_`, `S <seq-id> _`, or a class of the standard library, which may have ABI tags
    pub(super) fn substitution(&mut self) -> Option<Id> {
        self.expect(b'S')?;
        let Some(class) = StdClass::find(self.peek()) else {
            let index = self.sequence_number().map_or(0, |number| number.saturating_add(1));
            self.expect(b'_')?;
            return self.substitutions.get(index).copied();
        };
        self.at += 1;
        let name = self.add(Node::Std { class, is_spelled_out: false });
        if self.peek() != b'B' {
            return Some(name);
        }
        let tagged = self.abi_tags(name)?;
        Some(self.substitutable(tagged))
    }
}

fn signature_steps(
    template_parameters: List,
    requires: Option<Id>,
    parameters: List,
    trailing: Option<Id>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if template_parameters != List::EMPTY {
        steps.push(Step::Arguments(template_parameters, ">"));
    }
    if let Some(requires) = requires {
        steps.extend(requires_steps(requires).into_iter().chain([Step::Text(" ")]));
    }
    steps.extend(enclosed("", Step::List(parameters)));
    steps.extend(trailing.into_iter().flat_map(requires_steps));
    steps
}
