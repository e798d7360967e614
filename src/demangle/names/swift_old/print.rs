//! Writes the tree of a name in the short form.
//!
//! A context precedes a name, with a dot, if both are single words: `Widget.draw`. Otherwise it follows the name:
//! `closure #1 in Widget.draw(scale:)`.

use std::fmt::{Error, Write};

use super::node::{Element, Entity, Form, Id, Kind, Name, Node, Nominal, Part, Scope, Tree};
use crate::demangle::error::Bounded;

/// Names whose tree is deeper than this stay mangled.
const DEEPEST: u32 = 400;
/// Steps for each byte that may be written. Names that take more stay mangled.
const STEPS: usize = 16;
/// Generic parameters of one depth that are written.
const MOST_PARAMETERS: u32 = 128;

/// The short form, if it is not too long and does not nest too deeply.
pub(super) fn print(tree: &Tree<'_>, longest: usize) -> Option<String> {
    let text = Bounded { text: String::new(), longest };
    let mut printer = Printer { tree, text, depth: 0, steps: longest.saturating_mul(STEPS) };
    printer.parts(&tree.roots).ok()?;
    Some(printer.text.text)
}

struct Printer<'t> {
    tree: &'t Tree<'t>,
    text: Bounded,
    depth: u32,
    steps: usize,
}

/// An entity in words.
struct Words {
    id: Id,
    context: Id,
    name: Option<Id>,
    /// A word in place of the name.
    replaced: &'static str,
    /// Words after the name, or before `of NAME` if the name is local; and their number.
    extra: &'static str,
    number: Option<u32>,
    /// If true, it never precedes a dot.
    has_type: bool,
    /// The type whose labels are shown.
    ty: Option<Id>,
    joint: &'static str,
}

impl Words {
    fn new(id: Id, context: Id) -> Self {
        let (replaced, extra, joint) = ("", "", " in ");
        Self { id, context, name: None, replaced, extra, number: None, has_type: false, ty: None, joint }
    }

    fn of_entity(id: Id, entity: &Entity, is_in_class: bool) -> Self {
        let words = Self::new(id, entity.context);
        let (extra, number) = match entity.kind {
            Kind::Function => return Self { name: entity.name, has_type: true, ty: entity.ty, ..words },
            Kind::Variable => return Self { name: entity.name, has_type: true, ..words },
            Kind::Subscript => return Self { replaced: "subscript", has_type: true, ty: entity.ty, ..words },
            Kind::Allocator => {
                let extra = if is_in_class { "__allocating_init" } else { "init" };
                return Self { extra, has_type: true, ty: entity.ty, ..words };
            }
            Kind::Constructor => return Self { extra: "init", has_type: true, ty: entity.ty, ..words },
            Kind::Destructor => ("deinit", None),
            Kind::Deallocator => (if is_in_class { "__deallocating_deinit" } else { "deinit" }, None),
            Kind::IvarInitializer => ("__ivar_initializer", None),
            Kind::IvarDestroyer => ("__ivar_destroyer", None),
            Kind::Closure(index) => ("closure #", Some(index + 1)),
            Kind::ImplicitClosure(index) => ("implicit closure #", Some(index + 1)),
            Kind::DefaultArgument(index) => ("default argument ", Some(index)),
            Kind::VariableInitializer => ("variable initialization expression", None),
        };
        let joint = match entity.kind {
            Kind::DefaultArgument(_) | Kind::VariableInitializer => " of ",
            _ => words.joint,
        };
        Self { extra, number, joint, ..words }
    }
}

impl<'t> Printer<'t> {
    fn get(&self, id: Id) -> Result<&'t Node<'t>, Error> {
        self.tree.get(id).ok_or(Error)
    }

    fn parts(&mut self, parts: &[Part]) -> Result<(), Error> {
        for part in parts {
            match part {
                Part::Text(text) => self.text.write_str(text)?,
                Part::Number(number) => write!(self.text, "{number}")?,
                Part::Node(id) => self.whole(*id)?,
            }
        }
        Ok(())
    }

    /// Writes a node with its context.
    fn whole(&mut self, id: Id) -> Result<(), Error> {
        self.node(id, false).map(drop)
    }

    /// Writes a node. Before a dot, returns the context that must follow the rest of the name.
    fn node(&mut self, id: Id, is_prefix: bool) -> Result<Option<Id>, Error> {
        self.steps = self.steps.checked_sub(1).ok_or(Error)?;
        if self.depth == DEEPEST {
            return Err(Error);
        }
        self.depth += 1;
        let behind = self.shallow(id, is_prefix)?;
        self.depth -= 1;
        Ok(behind)
    }

    fn shallow(&mut self, id: Id, is_prefix: bool) -> Result<Option<Id>, Error> {
        match self.get(id)? {
            Node::Module { .. } => {}
            Node::Name(name) => self.name(name)?,
            Node::Nominal { context, name, .. } => {
                return self.entity(Words { name: Some(*name), ..Words::new(id, *context) }, is_prefix);
            }
            Node::Entity(entity) => return self.entity(self.words(id, entity)?, is_prefix),
            Node::Accessor { word, storage } => {
                let Node::Entity(entity) = self.get(*storage)? else { return Err(Error) };
                let words = Words { extra: word, ty: None, ..self.words(*storage, entity)? };
                return self.entity(words, is_prefix);
            }
            Node::Static(entity) => {
                self.text.write_str("static ")?;
                self.whole(*entity)?;
            }
            Node::Extension { of, signature } => {
                self.whole(*of)?;
                signature.map_or(Ok(()), |signature| self.whole(signature))?;
            }
            Node::Associated { protocol, name } => {
                if let Some(protocol) = protocol {
                    self.whole(*protocol)?;
                    self.text.write_str(".")?;
                }
                self.whole(*name)?;
            }
            Node::Parameter { depth, index } => self.parameter(*depth, *index)?,
            Node::Signature(counts) => self.signature(counts)?,
            Node::Generic { signature, inner } => {
                self.whole(*signature)?;
                if self.needs_space(*inner)? {
                    self.text.write_str(" ")?;
                }
                self.whole(*inner)?;
            }
            Node::Tuple(elements) => self.tuple(elements)?,
            Node::Phrase { parts, .. } => self.parts(parts)?,
        }
        Ok(None)
    }

    fn words(&self, id: Id, entity: &Entity) -> Result<Words, Error> {
        let is_in_class = matches!(self.get(entity.context)?, Node::Nominal { kind: Nominal::Class, .. });
        Ok(Words::of_entity(id, entity, is_in_class))
    }

    fn name(&mut self, name: &Name<'_>) -> Result<(), Error> {
        self.text.write_str(&name.text)?;
        self.text.write_str(name.fixity)?;
        match name.scope {
            Scope::Local(index) => write!(self.text, " #{}", index + 1),
            Scope::Open | Scope::File => Ok(()),
        }
    }

    fn entity(&mut self, words: Words, is_prefix: bool) -> Result<Option<Id>, Error> {
        let is_local = match words.name {
            Some(name) => matches!(self.get(name)?, Node::Name(Name { scope: Scope::Local(_), .. })),
            None => false,
        };
        let has_spaces = is_local || words.extra.contains(' ');
        if is_prefix && (words.has_type || has_spaces) {
            return Ok(Some(words.id));
        }
        let mut behind = Some(words.context);
        if !has_spaces {
            let start = self.text.text.len();
            behind = self.node(words.context, true)?;
            if self.text.text.len() > start {
                self.text.write_str(".")?;
            }
        }
        self.entity_name(&words, has_spaces)?;
        if let Some(ty) = words.ty {
            self.labels(ty, has_spaces)?;
        }
        match behind {
            Some(context) if !is_prefix => {
                self.text.write_str(words.joint)?;
                self.whole(context)?;
                Ok(None)
            }
            _ => Ok(behind),
        }
    }

    fn entity_name(&mut self, words: &Words, has_spaces: bool) -> Result<(), Error> {
        let has_name = words.name.is_some() || !words.replaced.is_empty();
        let is_in_front = has_name && has_spaces;
        if is_in_front && !words.extra.is_empty() {
            self.text.write_str(words.extra)?;
            self.text.write_str(" of ")?;
        }
        self.text.write_str(words.replaced)?;
        words.name.map_or(Ok(()), |name| self.whole(name))?;
        if is_in_front || words.extra.is_empty() {
            return Ok(());
        }
        if has_name {
            self.text.write_str(".")?;
        }
        self.text.write_str(words.extra)?;
        words.number.map_or(Ok(()), |number| write!(self.text, "{number}"))
    }

    /// The parameters of a function, if it is one.
    fn labels(&mut self, ty: Id, has_spaces: bool) -> Result<(), Error> {
        let mut inner = ty;
        while let Node::Generic { inner: next, .. } = self.get(inner)? {
            inner = *next;
        }
        if !matches!(self.get(inner)?, Node::Phrase { form: Form::Function | Form::Convention, .. }) {
            return Ok(());
        }
        if has_spaces || self.needs_space(ty)? {
            self.text.write_str(" ")?;
        }
        self.whole(ty)
    }

    /// False for types that start with a bracket.
    fn needs_space(&self, ty: Id) -> Result<bool, Error> {
        Ok(!matches!(self.get(ty)?, Node::Generic { .. } | Node::Phrase { form: Form::Function, .. }))
    }

    /// `A` to `Z`, then `AB`, `BB`, …; with the depth if there are parameters further out.
    fn parameter(&mut self, depth: u32, mut index: u32) -> Result<(), Error> {
        loop {
            let letter = b'A' + u8::try_from(index % 26).unwrap_or(0);
            self.text.write_char(char::from(letter))?;
            index /= 26;
            if index == 0 {
                break;
            }
        }
        if depth > 0 { write!(self.text, "{depth}") } else { Ok(()) }
    }

    fn signature(&mut self, counts: &[u32]) -> Result<(), Error> {
        for (depth, count) in (0..).zip(counts) {
            self.text.write_str(if depth > 0 { "><" } else { "<" })?;
            for index in 0..*count {
                self.text.write_str(if index > 0 { ", " } else { "" })?;
                if index == MOST_PARAMETERS {
                    self.text.write_str("...")?;
                    break;
                }
                self.parameter(depth, index)?;
            }
        }
        self.text.write_str(">")
    }

    fn tuple(&mut self, elements: &[Element]) -> Result<(), Error> {
        self.text.write_str("(")?;
        for (index, element) in elements.iter().enumerate() {
            self.text.write_str(if index > 0 { ", " } else { "" })?;
            if let Some(label) = element.label {
                self.whole(label)?;
                self.text.write_str(": ")?;
            }
            self.whole(element.ty)?;
            self.text.write_str(if element.is_variadic { "..." } else { "" })?;
        }
        self.text.write_str(")")
    }
}
