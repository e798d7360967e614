//! The tree of a name: small nodes in one table, which refer to each other by index, and the steps that print them.
//!
//! A substitution (`S1_`) and a template parameter (`T_`) are indices of existing nodes, so the tree is a graph in which a node may have many
//! parents. They increase only the output, never the table.

use std::num::NonZeroU32;

use super::operators::{Operator, Precedence};

/// The index of a node in the [`Arena`] of the current name, plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct Id(NonZeroU32);

impl Id {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A list of nodes: the index in [`Arena::lists`] of their count, which is followed by the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct List(u32);

impl List {
    pub(in crate::demangle) const EMPTY: Self = Self(0);
}

/// Bytes of the mangled name that are printed unchanged.
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
}

/// The shape of a type in a declaration, which may have parts on both sides of the declared name: `int (&` … `) [3]`.
///
/// If a type depends on a pack or on later arguments, its shape is unknown until it is printed.
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

    /// True for an array or function: a pointer to it needs parentheses.
    pub(in crate::demangle) fn needs_parentheses(self) -> bool {
        self.0 & 6 != 0
    }

    pub(in crate::demangle) fn is_array(self) -> bool {
        self.0 & 2 != 0
    }

    pub(in crate::demangle) fn is_unknown(self) -> bool {
        self == Self::UNKNOWN
    }

    /// The shape of a pointer to this type.
    pub(in crate::demangle) fn of_pointer(self) -> Self {
        if self.is_unknown() { self } else { Self(self.0 & 1) }
    }
}

/// A class whose abbreviation is `S` and this letter.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::demangle) struct StdClass {
    letter: u8,
    pub(in crate::demangle) name: &'static str,
    /// The template that the constructors belong to.
    pub(in crate::demangle) spelled_out: &'static str,
}

impl StdClass {
    const fn new(letter: u8, name: &'static str, spelled_out: &'static str) -> Self {
        Self { letter, name, spelled_out }
    }

    pub(in crate::demangle) fn find(letter: u8) -> Option<&'static Self> {
        static CLASSES: [StdClass; 6] = [
            StdClass::new(b'a', "std::allocator", "std::allocator"),
            StdClass::new(b'b', "std::basic_string", "std::basic_string"),
            StdClass::new(b's', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char>>"),
            StdClass::new(b'i', "std::istream", "std::basic_istream<char, std::char_traits<char>>"),
            StdClass::new(b'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char>>"),
            StdClass::new(b'd', "std::iostream", "std::basic_iostream<char, std::char_traits<char>>"),
        ];
        CLASSES.iter().find(|class| class.letter == letter)
    }
}

/// The types of floating-point template arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) enum FloatKind {
    Float,
    Double,
    LongDouble,
}

/// A step in printing a node.
#[derive(Clone, Copy, Debug)]
pub(in crate::demangle) enum Step {
    /// Both sides of a node.
    Whole(Id),
    /// The part before the declared name.
    Left(Id),
    /// The part after the declared name.
    Right(Id),
    /// A node, in parentheses if it binds as loosely as this, or more loosely.
    Operand(Id, Precedence),
    /// A node, in parentheses if it binds more loosely than this.
    LastOperand(Id, Precedence),
    /// Nodes separated by commas.
    List(List),
    /// Template arguments or parameters in `<`, and the text that ends them.
    Arguments(List, &'static str),
    /// The `<type>` of a cast.
    TypeArgument(Id),
    /// `node, node`, for the elements of the packs in it.
    Expand(Id),
    Text(&'static str),
    Slice(Slice),
    /// A number, which may be negative.
    Number(Slice),
    Qualifiers(Qualifiers),
    /// An opening bracket, inside which `>` does not end template arguments.
    Open(&'static str),
    Close(&'static str),
    /// A space, if the right side of the type is empty.
    SpaceUnlessRight(Id),
    /// `[`, preceded by a space unless it follows another array.
    ArrayBracket,

    // Work in progress.
    /// More nodes of a list.
    Items(Items),
    /// More elements of an expansion.
    Elements(Elements),
    /// Text, and the number of open brackets after it.
    Angle(&'static str, u32),
    /// The target of a forward reference was printed.
    LeaveForward,
}

/// The position in a list that is being printed. Items with empty output, such as empty packs, get no comma.
#[derive(Clone, Copy, Debug)]
pub(in crate::demangle) struct Items {
    pub(in crate::demangle) list: List,
    pub(in crate::demangle) next: u32,
    /// The length of the output before the last comma, and after it.
    pub(in crate::demangle) before: u32,
    pub(in crate::demangle) after: u32,
    pub(in crate::demangle) is_first: bool,
}

/// The position in an expansion that is being printed.
#[derive(Clone, Copy, Debug)]
pub(in crate::demangle) struct Elements {
    pub(in crate::demangle) pattern: Id,
    pub(in crate::demangle) next: u32,
    /// The length of the output before the expansion.
    pub(in crate::demangle) start: u32,
    pub(in crate::demangle) outer: PackState,
}

/// The current element of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct PackState {
    pub(in crate::demangle) index: u32,
    /// The number of elements in the first pack that was found, which is the length of the expansion.
    pub(in crate::demangle) count: u32,
}

impl PackState {
    /// The count if no pack was found. Names are too short for this many elements.
    pub(in crate::demangle) const NO_PACK: u32 = u32::MAX;
    pub(in crate::demangle) const NONE: Self = Self { index: 0, count: Self::NO_PACK };
}

/// Consecutive steps: a range of [`Arena::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demangle) struct Phrase {
    start: u32,
    end: u32,
}

/// One part of a name. The comments show its spelling.
#[derive(Clone, Copy, Debug)]
pub(in crate::demangle) enum Node {
    /// A node whose spelling is completely known when it is parsed.
    Phrase(Phrase),
    /// A function, an array, or the declaration of a template parameter, with the two sides of the declared name.
    Sides { left: Phrase, right: Phrase, shape: Shape },

    // Names.
    /// `name`
    Name(Slice),
    /// `int`, `operator+`
    Fixed(&'static str),
    /// `scope::name`, or `scope::friend name`
    Nested { scope: Id, joint: &'static str, name: Id },
    /// `name<arguments>`
    Templated { name: Id, arguments: List },
    /// `parent.name`, `parent:name`
    Module(Phrase),
    /// `name@module`
    InModule { name: Id, module: Id },
    /// `name[abi:tag]`
    Tagged { name: Id, tag: Slice },
    /// `std::string`, or `std::basic_string<…>` before a constructor.
    Std { class: &'static StdClass, is_spelled_out: bool },
    /// `class`, `~class`: the last part of the class's own name
    Constructor { class: Id, is_destructor: bool },

    // Types.
    /// `type const`
    Qualified { ty: Id, qualifiers: Qualifiers },
    /// `type*`
    Pointer(Id),
    /// `type&`, `type&&`
    Reference { ty: Id, is_rvalue: bool },
    /// `member class::*`
    MemberPointer { class: Id, member: Id },
    /// `type<protocol>`, and `id<protocol>` for the pointer to it
    ObjcProtocol { ty: Id, protocol: Slice },

    // Templates.
    /// The current element of the list in an expansion
    Pack(List),
    /// All elements: `a, b`
    Elements(List),
    /// A template argument with a declaration of its parameter, which is not printed
    Declared(Id),
    /// A template argument that follows later in the mangled name, so it is unknown until the name is parsed.
    Forward { index: u32, target: Option<Id> },
    /// `$T`, `$T0`: the prefix of the name, and its number
    MadeUpName { start: &'static str, index: u32 },

    // Expressions.
    /// `left + right`
    Binary { left: Id, operator: &'static Operator, right: Id },
    /// `.field = value`, `[index] = value`
    Designated(Phrase),
    /// `0x1p+0f`
    Float { kind: FloatKind, digits: Slice },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    node: Node,
    shape: Shape,
    precedence: Precedence,
}

/// The nodes of one name, with their lists and steps.
#[derive(Debug)]
pub(in crate::demangle) struct Arena {
    entries: Vec<Entry>,
    lists: Vec<u32>,
    steps: Vec<Step>,
}

impl Arena {
    /// Creates an arena for a name of this length.
    pub(in crate::demangle) fn new(length: usize) -> Self {
        let mut lists = Vec::with_capacity(1 + length);
        lists.push(0);
        Self { entries: Vec::with_capacity(length), lists, steps: Vec::with_capacity(length) }
    }

    pub(in crate::demangle) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(in crate::demangle) fn add(&mut self, node: Node) -> Id {
        self.add_expression(node, Precedence::Primary)
    }

    /// Adds a node that needs parentheses as an operand of a tighter operator.
    pub(in crate::demangle) fn add_expression(&mut self, node: Node, precedence: Precedence) -> Id {
        let shape = self.shape_of(&node);
        self.entries.push(Entry { node, shape, precedence });
        // `parse` checks that a name is shorter than 4 GB / 16, and it has fewer than 16 nodes per byte.
        let count = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        Id(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))
    }

    pub(in crate::demangle) fn add_phrase(&mut self, steps: &[Step]) -> Phrase {
        let start = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.extend_from_slice(steps);
        Phrase { start, end: u32::try_from(self.steps.len()).unwrap_or(u32::MAX) }
    }

    pub(in crate::demangle) fn steps(&self, phrase: Phrase) -> &[Step] {
        self.steps.get(phrase.start as usize..phrase.end as usize).unwrap_or_default()
    }

    fn shape_of(&self, node: &Node) -> Shape {
        match *node {
            Node::Qualified { ty, .. } => self.shape(ty),
            Node::Pointer(ty) | Node::Reference { ty, .. } | Node::MemberPointer { member: ty, .. } => {
                self.shape(ty).of_pointer()
            }
            Node::Sides { shape, .. } => shape,
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
