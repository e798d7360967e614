//! The parts of a name, each with its spelling.
//!
//! A part is spelled when it is read. A context precedes a name, with a dot, if both are single words: `Widget.draw`. Otherwise it follows
//! the name: `closure #1 in Widget.draw(scale:)`. Parts may mention others, so their spellings may be far longer than the name; all of them
//! together have a limit.

use std::rc::Rc;

/// The number of a node in [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(usize);

#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<(Node, Text)>,
    /// The number of bytes that may still be spelled.
    room: usize,
}

/// The spelling of a node.
#[derive(Clone, Debug, Default)]
struct Text {
    /// With its context.
    whole: Rc<str>,
    /// Before a dot, and what must then follow the rest of the name.
    prefix: Rc<str>,
    behind: Option<Rc<str>>,
}

/// A node, as far as others depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// A module is not shown. Types of the module `Swift` may have a shorter spelling.
    Module {
        is_swift: bool,
    },
    Name(Scope),
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
    /// The context that a type has in an extension of it.
    Extension,
    /// The name of an associated type, after its protocol if known.
    Associated,
    /// A type with generic parameters.
    Generic {
        inner: Id,
    },
    /// `(a: A, B)`, and `a:_:`
    Tuple {
        labels: Id,
    },
    Phrase(Form),
}

/// The part of a program in which a name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Open,
    /// An operator, or a name that is private to a file.
    Other,
    /// Local to a function, after others with the same name.
    Local,
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

/// An entity in words.
struct Words<'n> {
    name: &'n str,
    is_local: bool,
    /// Words after the name, or before `of NAME` if the name is local.
    extra: String,
    /// If true, it never precedes a dot.
    has_type: bool,
    /// The type whose labels are shown.
    labels: Option<Id>,
    joint: &'static str,
}

impl Nodes {
    /// Nodes whose spellings have at most this many bytes together.
    pub(super) fn new(room: usize) -> Self {
        Self { nodes: Vec::new(), room }
    }

    pub(super) fn get(&self, id: Id) -> Node {
        self.nodes[id.0].0
    }

    /// The spelling of a node with its context.
    pub(super) fn text(&self, id: Id) -> &str {
        &self.nodes[id.0].1.whole
    }

    fn push(&mut self, node: Node, text: Text) -> Option<Id> {
        self.room = self.room.checked_sub(1 + text.whole.len() + text.prefix.len())?;
        self.nodes.push((node, text));
        Some(Id(self.nodes.len() - 1))
    }

    /// Adds a node that has the same spelling everywhere. `None` if there is no room for it.
    pub(super) fn add(&mut self, node: Node, text: impl Into<Rc<str>>) -> Option<Id> {
        let whole: Rc<str> = text.into();
        self.push(node, Text { prefix: Rc::clone(&whole), whole, behind: None })
    }

    pub(super) fn nominal(&mut self, kind: Nominal, context: Id, name: Id) -> Option<Id> {
        let words = self.words("", Some(name));
        let text = self.spelled(context, &words, None);
        self.push(Node::Nominal { kind, context, name }, text)
    }

    pub(super) fn entity(&mut self, entity: Entity) -> Option<Id> {
        let text = self.spelled(entity.context, &self.words_of(&entity), None);
        self.push(Node::Entity(entity), text)
    }

    pub(super) fn accessor(&mut self, word: &'static str, storage: Id) -> Option<Id> {
        let Node::Entity(entity) = self.get(storage) else { return None };
        let words = Words { extra: word.to_owned(), labels: None, ..self.words_of(&entity) };
        let text = self.spelled(entity.context, &words, Some(storage));
        self.push(Node::Accessor { word, storage }, text)
    }

    fn words(&self, extra: &str, name: Option<Id>) -> Words<'_> {
        let is_local = name.is_some_and(|name| matches!(self.get(name), Node::Name(Scope::Local)));
        let name = name.map_or("", |name| self.text(name));
        Words { name, is_local, extra: extra.to_owned(), has_type: false, labels: None, joint: " in " }
    }

    fn words_of(&self, entity: &Entity) -> Words<'_> {
        let is_in_class = matches!(self.get(entity.context), Node::Nominal { kind: Nominal::Class, .. });
        let labels = entity.ty;
        match entity.kind {
            Kind::Function => Words { has_type: true, labels, ..self.words("", entity.name) },
            Kind::Variable => Words { has_type: true, ..self.words("", entity.name) },
            Kind::Subscript => Words { name: "subscript", has_type: true, labels, ..self.words("", None) },
            Kind::Allocator if is_in_class => Words { has_type: true, labels, ..self.words("__allocating_init", None) },
            Kind::Allocator | Kind::Constructor => Words { has_type: true, labels, ..self.words("init", None) },
            Kind::Deallocator if is_in_class => self.words("__deallocating_deinit", None),
            Kind::Destructor | Kind::Deallocator => self.words("deinit", None),
            Kind::IvarInitializer => self.words("__ivar_initializer", None),
            Kind::IvarDestroyer => self.words("__ivar_destroyer", None),
            Kind::Closure(index) => self.words(&format!("closure #{}", index + 1), None),
            Kind::ImplicitClosure(index) => self.words(&format!("implicit closure #{}", index + 1), None),
            Kind::DefaultArgument(index) => {
                Words { joint: " of ", ..self.words(&format!("default argument {index}"), None) }
            }
            Kind::VariableInitializer => {
                Words { joint: " of ", ..self.words("variable initialization expression", None) }
            }
        }
    }

    /// The spelling of an entity in a context. An accessor is in a variable, and is represented by it before a dot.
    fn spelled(&self, context: Id, words: &Words<'_>, variable: Option<Id>) -> Text {
        let Words { name, is_local, ref extra, has_type, labels, joint } = *words;
        let context = &self.nodes[context.0].1;
        let has_spaces = is_local || extra.contains(' ');
        let (mut text, behind) = if has_spaces {
            (String::new(), Some(Rc::clone(&context.whole)))
        } else {
            (context.prefix.to_string(), context.behind.clone())
        };
        let dot = if text.is_empty() { "" } else { "." };
        text += &match (name, extra.as_str()) {
            ("", extra) => format!("{dot}{extra}"),
            (name, "") => format!("{dot}{name}"),
            (name, extra) if has_spaces => format!("{extra} of {name}"),
            (name, extra) => format!("{dot}{name}.{extra}"),
        };
        text += &labels.map(|ty| self.labels(ty, has_spaces)).unwrap_or_default();
        let whole = behind.as_ref().map_or_else(|| text.clone(), |behind| format!("{text}{joint}{behind}"));
        let whole: Rc<str> = whole.into();
        if has_type || has_spaces {
            let variable = variable.map(|variable| Rc::clone(&self.nodes[variable.0].1.whole));
            return Text { behind: variable.or_else(|| Some(Rc::clone(&whole))), whole, prefix: "".into() };
        }
        Text { whole, prefix: text.into(), behind }
    }

    /// The parameters of a function, if it is one.
    fn labels(&self, ty: Id, has_spaces: bool) -> String {
        let mut inner = ty;
        while let Node::Generic { inner: next, .. } = self.get(inner) {
            inner = next;
        }
        match self.get(inner) {
            Node::Phrase(Form::Function | Form::Convention) => {
                let space = if has_spaces { " " } else { self.space_before(ty) };
                format!("{space}{}", self.text(ty))
            }
            _ => String::new(),
        }
    }

    /// A space, but none in front of types that start with a bracket.
    pub(super) fn space_before(&self, ty: Id) -> &'static str {
        if matches!(self.get(ty), Node::Generic { .. } | Node::Phrase(Form::Function)) { "" } else { " " }
    }

    /// The spellings of nodes, with a separator between them.
    pub(super) fn joined(&self, ids: &[Id], separator: &str) -> String {
        ids.iter().map(|&id| self.text(id)).collect::<Vec<_>>().join(separator)
    }
}
