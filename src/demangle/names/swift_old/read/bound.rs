//! Generic types with their arguments.
//!
//! ```text
//! GVV4Demo5Lunch6DinnerSi_SS_    Lunch<Int>.Dinner<String>
//! GSaGSqSi__                     [Int?]
//! ```

use super::super::node::{Entity, Form, Id, Kind, Name, Node, Nominal, Part, Scope};
use super::Reader;

impl Reader<'_> {
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
        let outer = match self.tree.get(id)? {
            Node::Nominal { context, .. } => *context,
            Node::Entity(Entity { context, .. }) => *context,
            Node::Accessor { storage, .. } => *storage,
            Node::Static(entity) => *entity,
            _ => return None,
        };
        let is_last = match self.tree.get(outer)? {
            Node::Module { .. } | Node::Extension { .. } => true,
            Node::Entity(entity) => entity.kind == Kind::Function,
            _ => false,
        };
        Some((!is_last).then_some(outer))
    }

    /// A copy of the node in another context.
    fn moved(&mut self, id: Id, context: Id) -> Option<Id> {
        let moved = match self.tree.get(id)? {
            Node::Nominal { kind, name, .. } => Node::Nominal { kind: *kind, context, name: *name },
            Node::Entity(entity) => Node::Entity(Entity { context, ..*entity }),
            Node::Accessor { word, .. } => Node::Accessor { word, storage: context },
            Node::Static(_) => Node::Static(context),
            _ => return None,
        };
        self.add(moved)
    }

    fn with_arguments(&mut self, nominal: Id, arguments: &[Id]) -> Option<Id> {
        let Node::Nominal { kind, context, name } = *self.tree.get(nominal)? else { return None };
        let is_swift = matches!(self.tree.get(context)?, Node::Module { is_swift: true });
        let sugar = match self.tree.get(name)? {
            Node::Name(Name { text, fixity: "", scope: Scope::Open }) if is_swift => self.sugar(text, kind, arguments),
            _ => None,
        };
        if let Some(parts) = sugar {
            return self.phrase(Form::Simple, parts);
        }
        if matches!(kind, Nominal::Protocol | Nominal::Alias) {
            return None;
        }
        let mut parts = vec![Part::Node(nominal), Part::Text("<")];
        separated(&mut parts, arguments, ", ");
        parts.push(Part::Text(">"));
        self.phrase(Form::Simple, parts)
    }

    /// `[A]`, `[A : B]`, `A?` and `A!`.
    fn sugar(&self, name: &str, kind: Nominal, arguments: &[Id]) -> Option<Vec<Part>> {
        let parts = match (kind, name, arguments) {
            (Nominal::Structure, "Array", [element]) => {
                vec![Part::Text("["), Part::Node(*element), Part::Text("]")]
            }
            (Nominal::Structure, "Dictionary", [key, value]) => {
                vec![Part::Text("["), Part::Node(*key), Part::Text(" : "), Part::Node(*value), Part::Text("]")]
            }
            (Nominal::Enumeration, "Optional", [wrapped]) => self.with_parentheses(*wrapped, "?"),
            (Nominal::Enumeration, "ImplicitlyUnwrappedOptional", [wrapped]) => self.with_parentheses(*wrapped, "!"),
            _ => return None,
        };
        Some(parts)
    }

    /// A type, in parentheses if it consists of several parts, and the text after it.
    pub(super) fn with_parentheses(&self, ty: Id, behind: &'static str) -> Vec<Part> {
        if self.is_simple(ty) {
            vec![Part::Node(ty), Part::Text(behind)]
        } else {
            vec![Part::Text("("), Part::Node(ty), Part::Text(")"), Part::Text(behind)]
        }
    }
}

/// Adds nodes with a separator between them.
pub(super) fn separated(parts: &mut Vec<Part>, nodes: &[Id], separator: &'static str) {
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 {
            parts.push(Part::Text(separator));
        }
        parts.push(Part::Node(*node));
    }
}
