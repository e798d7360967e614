//! `<name>`, `<nested-name>` and `<local-name>`.

use super::Parser;
use super::encoding::NameState;
use crate::demangle::cpp::node::{Id, Node, Qualifiers};

impl Parser<'_> {
    /// `<name>`. There is a state if the name belongs to an encoding.
    pub(super) fn name(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        match self.peek() {
            b'N' => self.nested_name(state),
            b'Z' => self.in_own_scope(|parser| parser.local_name(state)),
            _ => self.unscoped_name_with_arguments(state),
        }
    }

    /// `<unscoped-name>`, `<unscoped-template-name> <template-args>`
    fn unscoped_name_with_arguments(&mut self, mut state: Option<&mut NameState>) -> Option<Id> {
        let (name, is_substitution) = self.unscoped_name(state.as_deref_mut())?;
        if self.peek() != b'I' {
            return (!is_substitution).then_some(name);
        }
        if !is_substitution {
            self.substitutable(name);
        }
        let arguments = self.template_arguments(state.is_some())?;
        if let Some(state) = state {
            state.ends_with_arguments = true;
        }
        Some(self.add(Node::Templated { name, arguments }))
    }

    /// `[St] [<module-name>] <unqualified-name>`, or a substitution, in which case the second value is true.
    pub(super) fn unscoped_name(&mut self, state: Option<&mut NameState>) -> Option<(Id, bool)> {
        let scope = if self.eat_all(b"St") { Some(self.fixed("std")) } else { None };
        let mut module = None;
        if self.peek() == b'S' {
            let substitution = self.substitution()?;
            if matches!(self.arena.node(substitution), Node::Module(_)) {
                module = Some(substitution);
            } else if scope.is_none() {
                return Some((substitution, true));
            } else {
                return None;
            }
        }
        let name = self.unqualified_name(state, scope, module)?;
        Some((name, false))
    }

    /// `N [<CV-qualifiers>] [<ref-qualifier>] <prefix> <unqualified-name> E`
    fn nested_name(&mut self, mut state: Option<&mut NameState>) -> Option<Id> {
        self.expect(b'N')?;
        let mut qualifiers = Qualifiers::default();
        let has_explicit_object = self.eat(b'H');
        if !has_explicit_object {
            qualifiers = self.qualifiers();
            if self.eat(b'O') {
                qualifiers.add(Qualifiers::RVALUE);
            } else if self.eat(b'R') {
                qualifiers.add(Qualifiers::LVALUE);
            }
        }
        if let Some(state) = state.as_deref_mut() {
            (state.qualifiers, state.has_explicit_object) = (qualifiers, has_explicit_object);
        }
        let mut name = None;
        while !self.eat(b'E') {
            if let Some(state) = state.as_deref_mut() {
                state.ends_with_arguments = false;
            }
            name = Some(self.nested_part(name, state.as_deref_mut())?);
        }
        // The complete name is not a prefix, so it cannot be substituted.
        self.substitutions.pop()?;
        name
    }

    /// Extends the prefix by one part.
    fn nested_part(&mut self, prefix: Option<Id>, mut state: Option<&mut NameState>) -> Option<Id> {
        let part = match (self.peek(), self.peek_at(1)) {
            (b'T', _) if prefix.is_none() => self.template_parameter()?,
            (b'T', _) => return None,
            (b'I', _) => {
                let name = prefix.filter(|&name| !matches!(self.arena.node(name), Node::Templated { .. }))?;
                let arguments = self.template_arguments(state.is_some())?;
                if let Some(state) = state.as_deref_mut() {
                    state.ends_with_arguments = true;
                }
                self.add(Node::Templated { name, arguments })
            }
            (b'D', b't' | b'T') if prefix.is_none() => self.decltype()?,
            (b'D', b't' | b'T') => return None,
            (b'S', _) => {
                let substitution = if self.eat_all(b"St") { self.fixed("std") } else { self.substitution()? };
                if !matches!(self.arena.node(substitution), Node::Module(_)) {
                    // It is already a substitution, so it is not added again.
                    return if prefix.is_none() { Some(substitution) } else { None };
                }
                self.unqualified_name(state, prefix, Some(substitution))?
            }
            _ => self.unqualified_name(state, prefix, None)?,
        };
        self.substitutable(part);
        // The end of `<closure-prefix>`: the rest is in the initializer of this member.
        self.eat(b'M');
        Some(part)
    }

    /// `Z <function encoding> E <entity name> [<discriminator>]`, `Z … Es [<discriminator>]` for string literals, and
    /// `Z … Ed [<parameter>] _ <entity name>` in default arguments.
    fn local_name(&mut self, state: Option<&mut NameState>) -> Option<Id> {
        self.expect(b'Z')?;
        let scope = self.encoding()?;
        self.expect(b'E')?;
        let name = if self.eat(b's') {
            self.discriminator();
            self.fixed("string literal")
        } else if self.eat(b'd') {
            self.number(true);
            self.expect(b'_')?;
            self.name(state)?
        } else {
            let name = self.name(state)?;
            self.discriminator();
            name
        };
        Some(self.add(Node::Nested { scope, joint: "::", name }))
    }

    /// `_ <digit>`, `__ <number> _`, or digits up to the end, which old compilers wrote. Not printed.
    fn discriminator(&mut self) {
        let rest = &self.bytes[self.at..];
        let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += match rest {
            [b'_', digit, ..] if digit.is_ascii_digit() => 2,
            [b'_', b'_', more @ ..] => match digits(more) {
                count if count > 0 && more.get(count) == Some(&b'_') => count + 3,
                _ => 0,
            },
            _ if digits(rest) == rest.len() => rest.len(),
            _ => 0,
        };
    }
}
