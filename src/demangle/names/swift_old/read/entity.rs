//! Functions, variables and nominal types, and the contexts they are in.

use std::borrow::Cow;

use super::super::node::{Entity, Id, Kind, Name, Node, Nominal, Scope};
use super::Reader;

impl<'n> Reader<'n> {
    /// An entity, or a nominal type.
    pub(super) fn entity(&mut self) -> Option<Id> {
        self.nested(|reader| {
            if !reader.skip("Z") {
                return reader.instance_entity();
            }
            reader.peek().filter(|byte| matches!(byte, b'F' | b'v' | b'I' | b'i'))?;
            let entity = reader.instance_entity()?;
            reader.add(Node::Static(entity))
        })
    }

    fn instance_entity(&mut self) -> Option<Id> {
        match self.next()? {
            b'F' => self.function(),
            b'v' => {
                let (context, name) = (self.context()?, self.declared_name()?);
                self.typed(Kind::Variable, context, Some(name))
            }
            b'I' => self.initializer(),
            b'i' => {
                let context = self.context()?;
                self.declared_name()?;
                self.typed(Kind::Subscript, context, None)
            }
            byte => self.nominal_of(byte),
        }
    }

    /// A class, a structure, an enumeration or a protocol, by the letter for it.
    pub(super) fn nominal_of(&mut self, byte: u8) -> Option<Id> {
        let kind = match byte {
            b'C' => Nominal::Class,
            b'V' => Nominal::Structure,
            b'O' => Nominal::Enumeration,
            b'P' => Nominal::Protocol,
            _ => return None,
        };
        self.nominal(kind)
    }

    /// A class or another type by its name in a context.
    pub(super) fn nominal(&mut self, kind: Nominal) -> Option<Id> {
        let (context, name) = (self.context()?, self.declared_name()?);
        self.add_known(Node::Nominal { kind, context, name })
    }

    pub(super) fn protocol_in(&mut self, context: Id) -> Option<Id> {
        let name = self.declared_name()?;
        self.add_known(Node::Nominal { kind: Nominal::Protocol, context, name })
    }

    /// A function, an accessor, a closure, or another piece of code.
    fn function(&mut self) -> Option<Id> {
        let context = self.context()?;
        if let Some(kind) = self.untyped_kind() {
            return self.add(Node::Entity(Entity { kind, context, name: None, ty: None }));
        }
        if let Some(word) = self.accessor() {
            return self.storage(context, word);
        }
        let kind = match self.peek()? {
            b'C' => Kind::Allocator,
            b'c' => Kind::Constructor,
            b'U' | b'u' => {
                let kind = if self.next() == Some(b'U') { Kind::Closure } else { Kind::ImplicitClosure };
                let kind = kind(self.index()?);
                return self.typed(kind, context, None);
            }
            _ => {
                let name = self.declared_name()?;
                return self.typed(Kind::Function, context, Some(name));
            }
        };
        self.next();
        self.typed(kind, context, None)
    }

    fn untyped_kind(&mut self) -> Option<Kind> {
        let kind = match self.peek()? {
            b'D' => Kind::Deallocator,
            b'd' => Kind::Destructor,
            b'e' => Kind::IvarInitializer,
            b'E' => Kind::IvarDestroyer,
            _ => return None,
        };
        self.next();
        Some(kind)
    }

    /// The word for an accessor.
    fn accessor(&mut self) -> Option<&'static str> {
        let accessors = [
            ("aO", "owningMutableAddressor"),
            ("ao", "nativeOwningMutableAddressor"),
            ("ap", "nativePinningMutableAddressor"),
            ("au", "unsafeMutableAddressor"),
            ("lO", "owningAddressor"),
            ("lo", "nativeOwningAddressor"),
            ("lp", "nativePinningAddressor"),
            ("lu", "unsafeAddressor"),
            ("g", "getter"),
            ("G", "getter"),
            ("s", "setter"),
            ("m", "materializeForSet"),
            ("w", "willset"),
            ("W", "didset"),
        ];
        accessors.into_iter().find(|(code, _)| self.skip(code)).map(|(_, word)| word)
    }

    fn storage(&mut self, context: Id, word: &'static str) -> Option<Id> {
        let name = self.declared_name()?;
        let is_subscript = match self.tree.get(name)? {
            Node::Name(Name { text, fixity: "", scope: Scope::Open | Scope::File }) => text == "subscript",
            _ => false,
        };
        let storage = if is_subscript {
            self.typed(Kind::Subscript, context, None)?
        } else {
            self.typed(Kind::Variable, context, Some(name))?
        };
        self.add(Node::Accessor { word, storage })
    }

    fn typed(&mut self, kind: Kind, context: Id, name: Option<Id>) -> Option<Id> {
        let ty = Some(self.ty()?);
        self.add(Node::Entity(Entity { kind, context, name, ty }))
    }

    /// The first value of a variable, or of an argument that is left out.
    fn initializer(&mut self) -> Option<Id> {
        let context = self.context()?;
        let kind = match self.next()? {
            b'A' => Kind::DefaultArgument(self.index()?),
            b'i' => Kind::VariableInitializer,
            _ => return None,
        };
        self.add(Node::Entity(Entity { kind, context, name: None, ty: None }))
    }

    /// The place of a declaration: a module, a type, a function, an extension of a type.
    pub(super) fn context(&mut self) -> Option<Id> {
        self.nested(|reader| match reader.peek()? {
            b'E' | b'e' => reader.extension(),
            b'S' => {
                reader.next();
                let known = reader.mention()?;
                reader.tree.get(known).filter(|node| matches!(node, Node::Module { .. } | Node::Nominal { .. }))?;
                Some(known)
            }
            b'G' => {
                reader.next();
                reader.bound()
            }
            b'F' | b'I' | b'v' | b'P' | b'Z' | b'C' | b'V' | b'O' => reader.entity(),
            _ => reader.module(),
        })
    }

    fn extension(&mut self) -> Option<Id> {
        let is_constrained = self.next() == Some(b'e');
        self.module()?;
        let signature = if is_constrained { Some(self.signature()?) } else { None };
        let of = self.context()?;
        self.add(Node::Extension { of, signature })
    }

    fn module(&mut self) -> Option<Id> {
        if self.skip("s") {
            return self.add(Node::Module { is_swift: true });
        }
        if self.skip("S") {
            let known = self.mention()?;
            self.tree.get(known).filter(|node| matches!(node, Node::Module { .. }))?;
            return Some(known);
        }
        let name = self.identifier()?;
        self.add_known(Node::Module { is_swift: name == "Swift" })
    }

    /// Reads a reference after `S`: a letter for a type of the standard library, or the number of an earlier name.
    pub(super) fn mention(&mut self) -> Option<Id> {
        let (kind, name) = match self.peek()? {
            b'o' | b'C' => {
                self.next();
                return self.add(Node::Module { is_swift: false });
            }
            b'a' => (Nominal::Structure, "Array"),
            b'b' => (Nominal::Structure, "Bool"),
            b'c' => (Nominal::Structure, "UnicodeScalar"),
            b'd' => (Nominal::Structure, "Double"),
            b'f' => (Nominal::Structure, "Float"),
            b'i' => (Nominal::Structure, "Int"),
            b'V' => (Nominal::Structure, "UnsafeRawPointer"),
            b'v' => (Nominal::Structure, "UnsafeMutableRawPointer"),
            b'P' => (Nominal::Structure, "UnsafePointer"),
            b'p' => (Nominal::Structure, "UnsafeMutablePointer"),
            b'q' => (Nominal::Enumeration, "Optional"),
            b'Q' => (Nominal::Enumeration, "ImplicitlyUnwrappedOptional"),
            b'R' => (Nominal::Structure, "UnsafeBufferPointer"),
            b'r' => (Nominal::Structure, "UnsafeMutableBufferPointer"),
            b'S' => (Nominal::Structure, "String"),
            b'u' => (Nominal::Structure, "UInt"),
            _ => {
                let index = usize::try_from(self.index()?).ok()?;
                return self.known.get(index).copied();
            }
        };
        self.next();
        let (context, name) = (self.add(Node::Module { is_swift: true })?, self.name(Cow::Borrowed(name))?);
        self.add(Node::Nominal { kind, context, name })
    }

    /// A name, of a declaration in a function (`L_4draw`) or private to a file (`P5_DISC4draw`) perhaps.
    pub(super) fn declared_name(&mut self) -> Option<Id> {
        let scope = if self.skip("L") {
            Scope::Local(self.index()?)
        } else if self.skip("P") {
            self.identifier()?;
            Scope::File
        } else {
            Scope::Open
        };
        let (text, fixity) = self.identifier_or_operator()?;
        self.add(Node::Name(Name { text, fixity, scope }))
    }
}
