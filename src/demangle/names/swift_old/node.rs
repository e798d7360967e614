//! The tree of a name: nodes in one table, which refer to each other by number.
//!
//! A node that a name mentions again has several parents, so what is written may be far larger than the tree.

use std::borrow::Cow;

/// The number of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(u32);

#[derive(Debug, Default)]
pub(super) struct Tree<'n> {
    nodes: Vec<Node<'n>>,
    /// The whole symbol, from left to right.
    pub(super) roots: Vec<Part>,
}

impl<'n> Tree<'n> {
    /// `None` if there are more nodes than any name has.
    pub(super) fn add(&mut self, node: Node<'n>) -> Option<Id> {
        let id = u32::try_from(self.nodes.len()).ok()?;
        self.nodes.push(node);
        Some(Id(id))
    }

    pub(super) fn get(&self, id: Id) -> Option<&Node<'n>> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }
}

#[derive(Debug)]
pub(super) enum Node<'n> {
    /// A module is not shown. Types of the module `Swift` may have a shorter spelling.
    Module {
        is_swift: bool,
    },
    Name(Name<'n>),
    Nominal {
        kind: Nominal,
        context: Id,
        name: Id,
    },
    Entity(Entity),
    /// `getter` and others, of a variable or a subscript.
    Accessor {
        word: &'static str,
        storage: Id,
    },
    Static(Id),
    /// The context that a type has in an extension of it, with the extension's signature if that has one.
    Extension {
        of: Id,
        signature: Option<Id>,
    },
    /// The name of an associated type, after its protocol if known.
    Associated {
        protocol: Option<Id>,
        name: Id,
    },
    /// The generic parameter at a depth.
    Parameter {
        depth: u32,
        index: u32,
    },
    /// The number of generic parameters at each depth.
    Signature(Vec<u32>),
    /// A type with generic parameters.
    Generic {
        signature: Id,
        inner: Id,
    },
    Tuple(Vec<Element>),
    /// All that is written as it is read.
    Phrase {
        form: Form,
        parts: Vec<Part>,
    },
}

/// A string, or a node that is written here.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Text(&'static str),
    Number(u32),
    Node(Id),
}

#[derive(Debug)]
pub(super) struct Name<'n> {
    pub(super) text: Cow<'n, str>,
    /// ` infix`, ` prefix` or ` postfix` for operators.
    pub(super) fixity: &'static str,
    pub(super) scope: Scope,
}

/// The part of a program in which a name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Open,
    File,
    /// Local to a function, after this many others with the same name.
    Local(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nominal {
    Class,
    Structure,
    Enumeration,
    Protocol,
    Alias,
}

/// A function, a variable and what else may be in a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entity {
    pub(super) kind: Kind,
    pub(super) context: Id,
    pub(super) name: Option<Id>,
    /// `None` if the name has no type.
    pub(super) ty: Option<Id>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Variable,
    Subscript,
    Allocator,
    Constructor,
    Destructor,
    Deallocator,
    IvarInitializer,
    IvarDestroyer,
    /// Counted from 0.
    Closure(u32),
    ImplicitClosure(u32),
    DefaultArgument(u32),
    VariableInitializer,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) label: Option<Id>,
    pub(super) ty: Id,
    pub(super) is_variadic: bool,
}

/// The role of a phrase, which decides what may surround it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A type of one piece.
    Simple,
    /// Any other type. Before `?` or `.Type`, it is put in parentheses.
    Open,
    /// The type of a value of any type that conforms to protocols. With more than one, it is not of one piece.
    Existential { is_simple: bool },
    /// The labels of a function's parameters.
    Function,
    /// A function type after a convention.
    Convention,
}
