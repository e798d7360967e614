//! `<mangled-name>` and `<encoding>`: functions, variables, and clones and blocks derived from them.

use super::template::requires_steps;
use super::{Item, Parser, enclosed};
use crate::demangle::cpp::node::{Id, List, Node, Qualifiers, Shape, Step};

/// Properties of a name that determine how the parameters after it are parsed.
#[derive(Debug, Default)]
pub(super) struct NameState {
    /// The name ends with template arguments, so a result type follows.
    pub(super) ends_with_arguments: bool,
    /// Constructors, destructors and conversion operators have no result type.
    pub(super) has_no_result: bool,
    pub(super) qualifiers: Qualifiers,
    /// The first parameter is `this`.
    pub(super) has_explicit_object: bool,
    /// The number of forward references before this name.
    forwards: usize,
}

impl Parser<'_> {
    /// `_Z <encoding> [. <suffix>]`, or a block: `___Z <encoding> _block_invoke [[_] <number>] [. <suffix>]`
    pub(super) fn mangled_name(&mut self) -> Option<Id> {
        let is_block = self.eat_all(b"___Z");
        if !is_block && !self.eat_all(b"_Z") {
            return None;
        }
        let encoding = self.encoding()?;
        let root = if is_block { self.block_invocation(encoding)? } else { self.clone_suffix(encoding) };
        self.is_at_end().then_some(root)
    }

    fn block_invocation(&mut self, encoding: Id) -> Option<Id> {
        if !self.eat_all(b"_block_invoke") {
            return None;
        }
        let needs_number = self.eat(b'_');
        let number = self.number(false);
        if needs_number && number.is_empty() {
            return None;
        }
        if self.peek() == b'.' {
            self.at = self.bytes.len();
        }
        Some(self.prefixed("invocation function for block in ", encoding))
    }

    fn clone_suffix(&mut self, encoding: Id) -> Id {
        if self.peek() != b'.' {
            return encoding;
        }
        let start = self.at;
        self.at = self.bytes.len();
        let suffix = self.slice(start);
        self.phrase(&[Step::Whole(encoding), Step::Text(" ("), Step::Slice(suffix), Step::Text(")")])
    }

    /// `<encoding>`: a `<special-name>`, or a `<name>`, which is followed by parameters if it names a function.
    pub(super) fn encoding(&mut self) -> Option<Id> {
        self.nested(|parser| {
            parser.in_own_scope(|parser| match parser.peek() {
                b'T' | b'G' => parser.special_name(),
                _ => parser.function_or_variable(),
            })
        })
    }

    fn function_or_variable(&mut self) -> Option<Id> {
        let mut state = NameState { forwards: self.forwards.len(), ..NameState::default() };
        let name = self.name(Some(&mut state))?;
        self.resolve_forwards(state.forwards)?;
        if self.is_end_of_encoding() {
            return Some(name);
        }
        let enable_if = self.enable_if()?;
        let result = if state.ends_with_arguments && !state.has_no_result { Some(self.ty()?) } else { None };
        let is_end = |parser: &Self| parser.is_end_of_encoding() || parser.peek() == b'Q';
        let parameters = self.parameters(state.has_explicit_object, is_end)?;
        let requires = self.requires_clause()?;
        Some(self.function(&state, name, result, parameters, enable_if, requires))
    }

    fn function(
        &mut self,
        state: &NameState,
        name: Id,
        result: Option<Id>,
        parameters: List,
        enable_if: Option<List>,
        requires: Option<Id>,
    ) -> Id {
        let (mut left, mut right) = (Vec::with_capacity(3), Vec::from(enclosed("", Step::List(parameters))));
        if let Some(result) = result {
            left.extend([Step::Left(result), Step::SpaceUnlessRight(result)]);
            right.push(Step::Right(result));
        }
        left.push(Step::Whole(name));
        right.push(Step::Qualifiers(state.qualifiers));
        if let Some(conditions) = enable_if {
            right.extend([Step::Text(" [enable_if:"), Step::List(conditions), Step::Text("]")]);
        }
        right.extend(requires.into_iter().flat_map(requires_steps));
        self.sides(&left, &right, Shape::FUNCTION)
    }

    /// True if no parameters follow: the name ends, an outer rule ends, or a suffix starts.
    fn is_end_of_encoding(&self) -> bool {
        self.is_at_end() || matches!(self.peek(), b'E' | b'.' | b'_')
    }

    /// Clang's `enable_if` attributes: `Ua9enable_ifI <template-arg>* E`
    fn enable_if(&mut self) -> Option<Option<List>> {
        if !self.eat_all(b"Ua9enable_ifI") {
            return Some(None);
        }
        self.list_to_end(Self::template_argument).map(Some)
    }

    /// `<bare-function-type>`: `v`, or types. `is_end` is checked after the first type.
    pub(super) fn parameters(&mut self, has_explicit_object: bool, is_end: impl Fn(&Self) -> bool) -> Option<List> {
        if self.eat(b'v') {
            return Some(List::EMPTY);
        }
        let mut is_first = true;
        self.list(|parser| {
            if !is_first && is_end(parser) {
                return Some(Item::End);
            }
            let mut ty = parser.ty()?;
            if is_first && has_explicit_object {
                ty = parser.prefixed("this ", ty);
            }
            is_first = false;
            Some(Item::Is(ty))
        })
    }

    /// `left name right`
    pub(super) fn sides(&mut self, left: &[Step], right: &[Step], shape: Shape) -> Id {
        let (left, right) = (self.arena.add_phrase(left), self.arena.add_phrase(right));
        self.add(Node::Sides { left, right, shape })
    }

    /// Sets the targets of this name's forward references to the outermost template arguments, which are now known.
    fn resolve_forwards(&mut self, start: usize) -> Option<()> {
        while self.forwards.len() > start {
            let forward = self.forwards.pop()?;
            let Node::Forward { index, .. } = *self.arena.node(forward) else { return None };
            let target = self.parameter_at(0, index as usize)?;
            self.arena.set_target(forward, target);
        }
        Some(())
    }
}
