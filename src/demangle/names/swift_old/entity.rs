//! Functions, variables and nominal types, and the contexts they are in; generic types with their arguments.
//!
//! ```text
//! GVV4Demo5Lunch6DinnerSi_SS_    Lunch<Int>.Dinner<String>
//! GSaGSqSi__                     [Int?]
//! ```

use super::node::{Entity, Form, Id, Kind, Node, Nominal, Scope};
use super::reader::Reader;

impl Reader<'_> {
    /// An entity, or a nominal type.
    pub(super) fn entity(&mut self) -> Option<Id> {
        self.nested(|reader| {
            if !reader.skip("Z") {
                return reader.instance_entity();
            }
            reader.peek().filter(|byte| matches!(byte, b'F' | b'v' | b'I' | b'i'))?;
            let entity = reader.instance_entity()?;
            let text = format!("static {}", reader.text(entity));
            reader.nodes.add(Node::Static(entity), text)
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
        self.nodes.nominal(kind, context, name).map(|id| self.known(id))
    }

    pub(super) fn protocol_in(&mut self, context: Id) -> Option<Id> {
        let name = self.declared_name()?;
        self.nodes.nominal(Nominal::Protocol, context, name).map(|id| self.known(id))
    }

    /// A function, an accessor, a closure, or another piece of code.
    fn function(&mut self) -> Option<Id> {
        let context = self.context()?;
        if let Some(kind) = self.untyped_kind() {
            return self.nodes.entity(Entity { kind, context, name: None, ty: None });
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
        let is_subscript = self.text(name) == "subscript";
        let storage = if is_subscript {
            self.typed(Kind::Subscript, context, None)?
        } else {
            self.typed(Kind::Variable, context, Some(name))?
        };
        self.nodes.accessor(word, storage)
    }

    fn typed(&mut self, kind: Kind, context: Id, name: Option<Id>) -> Option<Id> {
        let ty = Some(self.ty()?);
        self.nodes.entity(Entity { kind, context, name, ty })
    }

    /// The first value of a variable, or of an argument that is left out.
    fn initializer(&mut self) -> Option<Id> {
        let context = self.context()?;
        let kind = match self.next()? {
            b'A' => Kind::DefaultArgument(self.index()?),
            b'i' => Kind::VariableInitializer,
            _ => return None,
        };
        self.nodes.entity(Entity { kind, context, name: None, ty: None })
    }

    /// The place of a declaration: a module, a type, a function, an extension of a type.
    pub(super) fn context(&mut self) -> Option<Id> {
        self.nested(|reader| match reader.peek()? {
            b'E' | b'e' => reader.extension(),
            b'S' => {
                reader.next();
                let known = reader.mention()?;
                matches!(reader.nodes.get(known), Node::Module { .. } | Node::Nominal { .. }).then_some(known)
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
        let signature = signature.map_or("", |signature| self.text(signature));
        let text = format!("{}{signature}", self.text(of));
        self.nodes.add(Node::Extension, text)
    }

    fn module(&mut self) -> Option<Id> {
        if self.skip("s") {
            return self.nodes.add(Node::Module { is_swift: true }, "");
        }
        if self.skip("S") {
            let known = self.mention()?;
            return matches!(self.nodes.get(known), Node::Module { .. }).then_some(known);
        }
        let is_swift = self.identifier()? == "Swift";
        self.nodes.add(Node::Module { is_swift }, "").map(|id| self.known(id))
    }

    /// Reads a reference after `S`: a letter for a type of the standard library, or the number of an earlier name.
    pub(super) fn mention(&mut self) -> Option<Id> {
        let (kind, name) = match self.peek()? {
            b'o' | b'C' => {
                self.next();
                return self.nodes.add(Node::Module { is_swift: false }, "");
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
        let (context, name) = (self.nodes.add(Node::Module { is_swift: true }, "")?, self.name(name)?);
        self.nodes.nominal(kind, context, name)
    }

    /// A name, of a declaration in a function (`L_4draw`) or private to a file (`P5_DISC4draw`) perhaps.
    pub(super) fn declared_name(&mut self) -> Option<Id> {
        let local = if self.skip("L") { Some(self.index()?) } else { None };
        let is_private = local.is_none() && self.skip("P");
        if is_private {
            self.identifier()?;
        }
        let (text, fixity) = self.identifier_or_operator()?;
        match local {
            Some(index) => self.nodes.add(Node::Name(Scope::Local), format!("{text}{fixity} #{}", index + 1)),
            None if is_private || !fixity.is_empty() => {
                self.nodes.add(Node::Name(Scope::Other), format!("{text}{fixity}"))
            }
            None => self.name(&text),
        }
    }

    /// Reads a generic type after `G`, and its arguments. The arguments of the outermost type come first.
    pub(super) fn bound(&mut self) -> Option<Id> {
        let nominal = match self.next()? {
            b'S' => self.mention()?,
            byte => self.nominal_of(byte)?,
        };
        let mut levels = vec![nominal];
        while let Some(outer) = self.generic_outer(*levels.last()?)? {
            levels.push(outer);
        }
        let mut inner = None;
        while let Some(level) = levels.pop() {
            let level = match inner {
                Some(outer) => self.moved(level, outer)?,
                None => level,
            };
            let arguments = self.list(Self::ty)?;
            inner = Some(if arguments.is_empty() { level } else { self.with_arguments(level, &arguments)? });
        }
        inner
    }

    /// The context that may have generic arguments, if there is one. `None` for nodes without a context.
    fn generic_outer(&self, id: Id) -> Option<Option<Id>> {
        let outer = match self.nodes.get(id) {
            Node::Nominal { context, .. } | Node::Entity(Entity { context, .. }) => context,
            Node::Accessor { storage, .. } => storage,
            Node::Static(entity) => entity,
            _ => return None,
        };
        let is_last = match self.nodes.get(outer) {
            Node::Module { .. } | Node::Extension => true,
            Node::Entity(entity) => entity.kind == Kind::Function,
            _ => false,
        };
        Some((!is_last).then_some(outer))
    }

    /// A copy of the node in another context.
    fn moved(&mut self, id: Id, context: Id) -> Option<Id> {
        match self.nodes.get(id) {
            Node::Nominal { kind, name, .. } => self.nodes.nominal(kind, context, name),
            Node::Entity(entity) => self.nodes.entity(Entity { context, ..entity }),
            Node::Accessor { word, .. } => self.nodes.accessor(word, context),
            Node::Static(_) => {
                let text = format!("static {}", self.text(context));
                self.nodes.add(Node::Static(context), text)
            }
            _ => None,
        }
    }

    fn with_arguments(&mut self, nominal: Id, arguments: &[Id]) -> Option<Id> {
        let Node::Nominal { kind, context, name } = self.nodes.get(nominal) else { return None };
        let is_swift = matches!(self.nodes.get(context), Node::Module { is_swift: true });
        let has_sugar = is_swift && matches!(self.nodes.get(name), Node::Name(Scope::Open));
        let text = match (kind, self.text(name), arguments) {
            (Nominal::Structure, "Array", [element]) if has_sugar => format!("[{}]", self.text(*element)),
            (Nominal::Structure, "Dictionary", [key, value]) if has_sugar => {
                format!("[{} : {}]", self.text(*key), self.text(*value))
            }
            (Nominal::Enumeration, "Optional", [wrapped]) if has_sugar => self.with_parentheses(*wrapped, "?"),
            (Nominal::Enumeration, "ImplicitlyUnwrappedOptional", [wrapped]) if has_sugar => {
                self.with_parentheses(*wrapped, "!")
            }
            (Nominal::Protocol | Nominal::Alias, ..) => return None,
            _ => format!("{}<{}>", self.text(nominal), self.nodes.joined(arguments, ", ")),
        };
        self.phrase(Form::Simple, text)
    }

    /// A type, in parentheses if it consists of several parts, and the text after it.
    pub(super) fn with_parentheses(&self, ty: Id, behind: &str) -> String {
        let text = self.text(ty);
        if self.is_simple(ty) { format!("{text}{behind}") } else { format!("({text}){behind}") }
    }
}
