//! The tree of a name: small nodes in one table, which refer to each other by number.
//!
//! A substitution (`S1_`) and a template parameter (`T_`) are the numbers of nodes that are there already, so the tree
//! is a graph in which a node may have many parents. Only what is written grows by that, never the table.

use std::num::NonZeroU32;

use super::operators::{Operator, Precedence};

/// The number of a node in the [`Arena`] of the name that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct Id(NonZeroU32);

impl Id {
    pub(in crate::demangle) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A list of nodes: the index in [`Arena::lists`] of their count, which the nodes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct List(u32);

impl List {
    pub(in crate::demangle) const EMPTY: Self = Self(0);
}

/// Bytes of the mangled name that are shown unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct Slice {
    pub(in crate::demangle) start: u32,
    pub(in crate::demangle) end: u32,
}

impl Slice {
    pub(in crate::demangle) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// `const`, `volatile`, `restrict`, and the `&` or `&&` of a member function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::demangle) struct Qualifiers(u8);

impl Qualifiers {
    pub(in crate::demangle) const RESTRICT: Self = Self(1);
    pub(in crate::demangle) const VOLATILE: Self = Self(2);
    pub(in crate::demangle) const CONST: Self = Self(4);
    pub(in crate::demangle) const LVALUE: Self = Self(8);
    pub(in crate::demangle) const RVALUE: Self = Self(16);

    pub(in crate::demangle) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::demangle) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(in crate::demangle) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The shape of a type in a declaration, of which parts may be on both sides of the declared name: `int (&` … `) [3]`.
///
/// The shape of a type that depends on a pack or on arguments that follow is not known before it is printed. Then both bits are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::demangle) struct Shape(u8);

impl Shape {
    /// The right side is empty.
    pub(in crate::demangle) const PLAIN: Self = Self(0);
    /// The right side is not empty.
    pub(in crate::demangle) const RIGHT: Self = Self(1);
    pub(in crate::demangle) const ARRAY: Self = Self(1 | 2);
    pub(in crate::demangle) const FUNCTION: Self = Self(1 | 4);
    /// Unknown until the node it refers to is examined.
    pub(in crate::demangle) const UNKNOWN: Self = Self(8);

    pub(in crate::demangle) fn has_right(self) -> bool {
        self.0 & 1 != 0
    }

    /// Array or function: a pointer to it needs parentheses.
    pub(in crate::demangle) fn needs_parentheses(self) -> bool {
        self.0 & 6 != 0
    }

    pub(in crate::demangle) fn is_array(self) -> bool {
        self.0 & 2 != 0
    }

    pub(in crate::demangle) fn is_unknown(self) -> bool {
        self == Self::UNKNOWN
    }

    /// The shape of a pointer to this.
    pub(in crate::demangle) fn of_pointer(self) -> Self {
        if self.is_unknown() { self } else { Self(self.0 & 1) }
    }
}

/// The classes that have abbreviations of two letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) enum StdClass {
    Allocator,
    BasicString,
    String,
    Istream,
    Ostream,
    Iostream,
}

/// The kind of template parameter that has a made-up name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) enum ParameterKind {
    Type,
    Value,
    Template,
}

/// The types of numbers with a fraction that can be template arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) enum FloatKind {
    Float,
    Double,
    LongDouble,
}

/// One part of a name. The comments show its spelling.
#[derive(Clone, Copy, Debug)]
pub(in crate::demangle) enum Node {
    // Names.
    /// `name`
    Name(Slice),
    /// `int`, `operator+`
    Fixed(&'static str),
    /// `scope::name`
    Nested { scope: Id, name: Id },
    /// `scope::friend name`
    Friend { scope: Id, name: Id },
    /// `name<arguments>`
    Templated { name: Id, arguments: List },
    /// `parent.name`, `parent:name`
    Module { parent: Option<Id>, name: Id, is_partition: bool },
    /// `name@module`
    InModule { name: Id, module: Id },
    /// `name[abi:tag]`
    Tagged { name: Id, tag: Slice },
    /// `std::string`, or `std::basic_string<…>` where a constructor follows.
    Std { class: StdClass, is_spelled_out: bool },
    /// `class`, `~class`: the last part of the class's own name
    Constructor { class: Id, is_destructor: bool },
    /// `~class` in an expression
    Destructor(Id),
    /// `[a, b]`
    Bindings(List),
    /// `'unnamed0'`, `'block-literal0'`: the text up to the number
    Unnamed { kind: &'static str, number: Slice },
    /// `'lambda0'` and its signature
    Lambda { number: Slice, signature: Id },
    /// `<typename $T> requires … (auto) requires …`
    Signature { template_parameters: List, requires: Option<Id>, parameters: List, trailing_requires: Option<Id> },
    /// The text and the node, as in `vtable for node`
    Prefixed(&'static str, Id),
    /// The node and the text, as in `node complex`
    Suffixed(Id, &'static str),

    // Types.
    /// `type const`
    Qualified { ty: Id, qualifiers: Qualifiers },
    /// `type*`
    Pointer(Id),
    /// `type&`, `type&&`
    Reference { ty: Id, is_rvalue: bool },
    /// `member class::*`
    MemberPointer { class: Id, member: Id },
    /// `element [size]`
    Array { element: Id, size: Option<Id> },
    /// `result (parameters) qualifiers exceptions`
    Function { result: Id, parameters: List, qualifiers: Qualifiers, exceptions: Option<Id> },
    /// `element vector[size]`
    Vector { element: Id, size: Option<Id> },
    /// `type qualifier<arguments>`
    VendorQualified { ty: Id, qualifier: Slice, arguments: Option<List> },
    /// `type<protocol>`, and `id<protocol>` for the pointer to it
    ObjcProtocol { ty: Id, protocol: Slice },
    /// `prefix(inner)`
    Enclosed { prefix: &'static str, inner: Id },
    /// `throw(types)`, `sizeof... (values)`
    EnclosedList { prefix: &'static str, items: List },
    /// `function(inner)`, with a vendor's name
    Transformed { function: Slice, inner: Id },

    // Templates.
    /// Written once for each element of the packs inside: `inner, inner`
    Expansion(Id),
    /// The current element of the list in an expansion
    Pack(List),
    /// All elements: `a, b`
    Elements(List),
    /// A template argument with a declaration of its parameter, which is not shown
    Declared(Id),
    /// A template argument that follows later in the mangled name, so it is unknown until the name is read.
    Forward { index: u32, target: Option<Id> },
    /// `$T0`
    MadeUpName { kind: ParameterKind, index: u32 },
    /// `typename name`
    TypeParameter(Id),
    /// `constraint name`
    ConstrainedParameter { constraint: Id, name: Id },
    /// `type name`
    ValueParameter { ty: Id, name: Id },
    /// `template<parameters> typename name requires …`
    TemplateParameter { parameters: List, name: Id, requires: Option<Id> },
    /// `typename ...name`
    PackParameter(Id),

    // Functions and what belongs to them.
    /// `result name(parameters) qualifiers [enable_if:…] requires …`
    Encoding {
        result: Option<Id>,
        name: Id,
        parameters: List,
        qualifiers: Qualifiers,
        enable_if: Option<List>,
        requires: Option<Id>,
    },
    /// `construction vtable for base-in-derived`
    ConstructionVtable { derived: Id, base: Id },
    /// `encoding (.cold)`
    Clone { encoding: Id, suffix: Slice },

    // Expressions.
    /// `left + right`
    Binary { left: Id, operator: &'static Operator, right: Id },
    /// `-operand`
    Unary { operator: &'static Operator, operand: Id },
    /// `operand++`
    Postfix { operator: &'static Operator, operand: Id },
    /// `array[index]`
    Subscript { array: Id, index: Id },
    /// `object->member`
    Member { object: Id, operator: &'static Operator, member: Id },
    /// `condition ? yes : no`
    Conditional { condition: Id, yes: Id, no: Id },
    /// `callee(arguments)`
    Call { callee: Id, arguments: List },
    /// `static_cast<type>(value)`
    NamedCast { operator: &'static Operator, ty: Id, value: Id },
    /// `(type)(values)`
    Conversion { ty: Id, values: List },
    /// `new(placement) type(initializers)`
    New { placement: List, ty: Id, initializers: List, is_array: bool, is_global: bool },
    /// `delete[] operand`
    Delete { operand: Id, is_array: bool, is_global: bool },
    /// `(pack + ... + initial)`
    Fold { operator: &'static Operator, pack: Id, initial: Option<Id>, is_left: bool },
    /// `type{items}`
    Braces { ty: Option<Id>, items: List },
    /// `.field = value`, `[index] = value`
    Designated { designator: Id, value: Id, is_index: bool },
    /// `[first ... last] = value`
    DesignatedRange { first: Id, last: Id, value: Id },
    /// `sizeof...(pack)`
    SizeofPack(Id),
    /// `value.<type at offset 8>`
    Subobject { ty: Id, value: Id, offset: Slice },
    /// `fp0`
    FunctionParameter(Slice),
    /// `5ul`, `(char)65`
    Integer { ty: &'static str, value: Slice },
    /// `(type)5`
    Enumerator { ty: Id, value: Slice },
    /// `0x1p+0f`
    Float { kind: FloatKind, digits: Slice },
    /// `"<type>"`
    StringLiteral(Id),
    /// `[](parameters){...}`
    LambdaExpression(Id),
    /// `requires (parameters) { requirements }`
    Requires { parameters: List, requirements: List },
    /// ` expression;`, ` {expression} noexcept -> constraint;`
    ExpressionRequirement { expression: Id, is_noexcept: bool, constraint: Option<Id> },
    /// ` typename type;`, ` requires constraint;`
    Requirement { keyword: &'static str, operand: Id },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    node: Node,
    shape: Shape,
    precedence: Precedence,
    /// It is spelled in the same way everywhere, for example because it contains no packs.
    is_constant: bool,
    /// A substitution or a template parameter also refers to it.
    is_shared: bool,
}

/// The nodes of one name, and their lists. The next name reuses the memory.
#[derive(Debug)]
pub(in crate::demangle) struct Arena {
    entries: Vec<Entry>,
    lists: Vec<u32>,
}

impl Arena {
    /// The number of nodes for which an arena keeps memory between names.
    const KEPT: usize = 1 << 14;

    pub(in crate::demangle) fn new() -> Self {
        Self { entries: Vec::new(), lists: vec![0] }
    }

    /// Forgets the nodes, and gives memory back that few names need.
    pub(in crate::demangle) fn clear(&mut self) {
        self.entries.clear();
        self.lists.truncate(1);
        self.entries.shrink_to(Self::KEPT);
        self.lists.shrink_to(Self::KEPT);
    }

    pub(in crate::demangle) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(in crate::demangle) fn add(&mut self, node: Node) -> Id {
        self.add_expression(node, Precedence::Primary)
    }

    /// Adds a node that needs parentheses as an operand of what binds tighter.
    pub(in crate::demangle) fn add_expression(&mut self, node: Node, precedence: Precedence) -> Id {
        let shape = self.shape_of(&node);
        let is_constant = self.is_constant(&node);
        self.entries.push(Entry { node, shape, precedence, is_constant, is_shared: false });
        // A name is shorter than 4 GB / 16, which `parse` checks, and has fewer than 16 nodes for each byte.
        let count = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        Id(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))
    }

    /// True for a node that is written in the same way everywhere. Only the kinds that make up nearly all names are covered.
    fn is_constant(&self, node: &Node) -> bool {
        let is = |id: Id| self.entries[id.index()].is_constant;
        let are = |list| self.items(list).all(is);
        match *node {
            Node::Name(_) | Node::Fixed(_) | Node::Std { .. } | Node::Integer { .. } => true,
            Node::Nested { scope, name } => is(scope) && is(name),
            Node::Templated { name, arguments } => is(name) && are(arguments),
            Node::Tagged { name: inner, .. }
            | Node::Constructor { class: inner, .. }
            | Node::Prefixed(_, inner)
            | Node::Declared(inner)
            | Node::Qualified { ty: inner, .. }
            | Node::Pointer(inner)
            | Node::Reference { ty: inner, .. }
            | Node::Enumerator { ty: inner, .. }
            | Node::Lambda { signature: inner, .. } => is(inner),
            Node::Elements(elements) => are(elements),
            Node::Signature { template_parameters: List::EMPTY, requires: None, parameters, .. } => are(parameters),
            Node::Function { result, parameters, exceptions: None, .. } => is(result) && are(parameters),
            Node::Encoding { result, name, parameters, enable_if: None, requires: None, .. } => {
                result.is_none_or(is) && is(name) && are(parameters)
            }
            _ => false,
        }
    }

    fn shape_of(&self, node: &Node) -> Shape {
        match *node {
            Node::Qualified { ty, .. } => self.shape(ty),
            Node::Pointer(ty) | Node::Reference { ty, .. } | Node::MemberPointer { member: ty, .. } => {
                self.shape(ty).of_pointer()
            }
            Node::Array { .. } => Shape::ARRAY,
            Node::Function { .. } | Node::Encoding { .. } => Shape::FUNCTION,
            Node::TypeParameter(_)
            | Node::ConstrainedParameter { .. }
            | Node::ValueParameter { .. }
            | Node::TemplateParameter { .. }
            | Node::PackParameter(_) => Shape::RIGHT,
            Node::Forward { .. } => Shape::UNKNOWN,
            Node::Pack(elements) => {
                let all_plain = self.items(elements).all(|element| self.shape(element) == Shape::PLAIN);
                if all_plain { Shape::PLAIN } else { Shape::UNKNOWN }
            }
            _ => Shape::PLAIN,
        }
    }

    pub(in crate::demangle) fn node(&self, id: Id) -> &Node {
        &self.entries[id.index()].node
    }

    pub(in crate::demangle) fn shape(&self, id: Id) -> Shape {
        self.entries[id.index()].shape
    }

    pub(in crate::demangle) fn precedence(&self, id: Id) -> Precedence {
        self.entries[id.index()].precedence
    }

    /// Notes that a node is mentioned again.
    pub(in crate::demangle) fn share(&mut self, id: Id) {
        let entry = &mut self.entries[id.index()];
        // Short nodes are faster to write again than to copy.
        let is_long = matches!(entry.node, Node::Nested { .. } | Node::Templated { .. });
        entry.is_shared = is_long && entry.is_constant;
    }

    /// True for a node that will be written again, so that its text is worth remembering.
    pub(in crate::demangle) fn is_shared(&self, id: Id) -> bool {
        self.entries[id.index()].is_shared
    }

    /// Sets the target of a forward reference.
    pub(in crate::demangle) fn set_target(&mut self, id: Id, to: Id) {
        if let Node::Forward { target, .. } = &mut self.entries[id.index()].node {
            *target = Some(to);
        }
    }

    pub(in crate::demangle) fn add_list(&mut self, items: &[Id]) -> List {
        if items.is_empty() {
            return List::EMPTY;
        }
        let list = List(u32::try_from(self.lists.len()).unwrap_or(0));
        self.lists.push(u32::try_from(items.len()).unwrap_or(0));
        self.lists.extend(items.iter().map(|id| id.0.get()));
        list
    }

    pub(in crate::demangle) fn count(&self, list: List) -> u32 {
        self.lists[list.0 as usize]
    }

    /// The node at an index of a list.
    pub(in crate::demangle) fn item(&self, list: List, index: u32) -> Option<Id> {
        if index >= self.count(list) {
            return None;
        }
        NonZeroU32::new(self.lists[list.0 as usize + 1 + index as usize]).map(Id)
    }

    pub(in crate::demangle) fn items(&self, list: List) -> impl Iterator<Item = Id> + '_ {
        (0..self.count(list)).filter_map(move |index| self.item(list, index))
    }
}
