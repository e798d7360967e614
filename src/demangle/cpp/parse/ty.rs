//! `<type>`

use super::{Item, Parser, enclosed};
use crate::demangle::cpp::node::{Id, List, Node, Qualifiers, Shape, Slice, Step};

impl Parser<'_> {
    /// `<type>`
    pub(super) fn ty(&mut self) -> Option<Id> {
        if let Some(name) = builtin_type(self.peek()) {
            self.at += 1;
            return Some(self.fixed(name));
        }
        self.nested(Self::compound_type)
    }

    /// Types except `<builtin-type>`s. Types can be substituted unless they are shorter than a substitution.
    fn compound_type(&mut self) -> Option<Id> {
        let ty = match self.peek() {
            b'r' | b'V' | b'K' if !self.is_qualified_function() => self.qualified_type()?,
            b'r' | b'V' | b'K' | b'F' => self.function_type()?,
            b'U' => self.vendor_qualified_type()?,
            b'u' => self.vendor_type()?,
            b'A' => self.array_type()?,
            b'M' => self.member_pointer_type()?,
            b'P' | b'R' | b'O' | b'C' | b'G' => self.prefixed_type()?,
            b'T' if !matches!(self.peek_at(1), b's' | b'u' | b'e') => self.template_parameter_type()?,
            b'S' => return self.substituted_type(),
            b'D' => return self.d_type(),
            _ => self.class_enum_type()?,
        };
        Some(self.substitutable(ty))
    }

    /// `P`, `R`, `O`, `C` and `G` before a type
    fn prefixed_type(&mut self) -> Option<Id> {
        let prefix = self.peek();
        self.at += 1;
        let ty = self.ty()?;
        let node = match prefix {
            b'P' => Node::Pointer(ty),
            b'R' => self.reference(ty, false),
            b'O' => self.reference(ty, true),
            b'C' => return Some(self.phrase(&[Step::Left(ty), Step::Text(" complex")])),
            _ => return Some(self.phrase(&[Step::Left(ty), Step::Text(" imaginary")])),
        };
        Some(self.add(node))
    }

    /// Creates a reference. A reference to a reference is collapsed, so long chains stay short.
    fn reference(&self, ty: Id, is_rvalue: bool) -> Node {
        match *self.arena.node(ty) {
            Node::Reference { ty, is_rvalue: is_inner_rvalue } => {
                Node::Reference { ty, is_rvalue: is_rvalue && is_inner_rvalue }
            }
            _ => Node::Reference { ty, is_rvalue },
        }
    }

    // Qualifiers.

    /// `<CV-qualifiers>`
    pub(super) fn qualifiers(&mut self) -> Qualifiers {
        let mut qualifiers = Qualifiers::default();
        for (letter, qualifier) in
            [(b'r', Qualifiers::RESTRICT), (b'V', Qualifiers::VOLATILE), (b'K', Qualifiers::CONST)]
        {
            if self.eat(letter) {
                qualifiers.add(qualifier);
            }
        }
        qualifiers
    }

    /// True if a function type follows the qualifiers, which then belong to the function.
    fn is_qualified_function(&self) -> bool {
        let mut ahead = 0;
        for letter in *b"rVK" {
            ahead += usize::from(self.peek_at(ahead) == letter);
        }
        match self.peek_at(ahead) {
            b'F' => true,
            b'D' => matches!(self.peek_at(ahead + 1), b'o' | b'O' | b'w' | b'x'),
            _ => false,
        }
    }

    /// `<CV-qualifiers> <type>`
    fn qualified_type(&mut self) -> Option<Id> {
        let qualifiers = self.qualifiers();
        let ty = self.ty()?;
        Some(self.add(Node::Qualified { ty, qualifiers }))
    }

    /// `U <source-name> [<template-args>] <type>`. Objective-C protocols are `U <length> objcproto <source-name>`.
    fn vendor_qualified_type(&mut self) -> Option<Id> {
        self.expect(b'U')?;
        let qualifier = self.identifier()?;
        if self.text(qualifier).starts_with("objcproto") {
            let protocol = self.protocol(qualifier)?;
            let ty = self.qualifier_operand()?;
            return Some(self.add(Node::ObjcProtocol { ty, protocol }));
        }
        let arguments = if self.peek() == b'I' { Some(self.template_arguments(false)?) } else { None };
        let mut steps = vec![Step::Whole(self.qualifier_operand()?), Step::Text(" "), Step::Slice(qualifier)];
        steps.extend(arguments.map(|arguments| Step::Arguments(arguments, ">")));
        Some(self.phrase(&steps))
    }

    /// Parses the type after a vendor qualifier. More qualifiers belong to the same type, which is substituted as one.
    fn qualifier_operand(&mut self) -> Option<Id> {
        match self.peek() {
            b'U' => self.nested(Self::vendor_qualified_type),
            b'r' | b'V' | b'K' => self.qualified_type(),
            _ => self.ty(),
        }
    }

    /// The name in `objcproto1P`.
    fn protocol(&mut self, qualifier: Slice) -> Option<Slice> {
        let end = self.at;
        self.at = qualifier.start as usize + "objcproto".len();
        let protocol = self.identifier();
        self.at = end;
        protocol.filter(|protocol| protocol.end <= qualifier.end)
    }

    // Functions, arrays, members.

    /// `[<CV-qualifiers>] [<exception-spec>] [Dx] F [Y] <result type> <parameter type>* [<ref-qualifier>] E`
    fn function_type(&mut self) -> Option<Id> {
        let mut qualifiers = self.qualifiers();
        let exceptions = self.exception_specification()?;
        self.eat_all(b"Dx");
        self.expect(b'F')?;
        self.eat(b'Y');
        let result = self.ty()?;
        let parameters = self.list(|parser| {
            while parser.eat(b'v') {}
            if parser.eat(b'E') {
                return Some(Item::End);
            }
            if parser.eat_all(b"RE") {
                qualifiers.add(Qualifiers::LVALUE);
                return Some(Item::End);
            }
            if parser.eat_all(b"OE") {
                qualifiers.add(Qualifiers::RVALUE);
                return Some(Item::End);
            }
            parser.ty().map(Item::Is)
        })?;
        let mut right = Vec::from(enclosed("", Step::List(parameters)));
        right.extend([Step::Right(result), Step::Qualifiers(qualifiers)]);
        if let Some(exceptions) = exceptions {
            right.extend([Step::Text(" "), Step::Whole(exceptions)]);
        }
        Some(self.sides(&[Step::Left(result), Step::Text(" ")], &right, Shape::FUNCTION))
    }

    /// `Do`, `DO <expression> E`, `Dw <type>+ E`
    fn exception_specification(&mut self) -> Option<Option<Id>> {
        if self.eat_all(b"Do") {
            return Some(Some(self.fixed("noexcept")));
        }
        if self.eat_all(b"DO") {
            let inner = self.expression()?;
            self.expect(b'E')?;
            return Some(Some(self.phrase(&enclosed("noexcept", Step::Whole(inner)))));
        }
        if self.eat_all(b"Dw") {
            let items = self.list_to_end(Self::ty)?;
            return Some(Some(self.phrase(&enclosed("throw", Step::List(items)))));
        }
        Some(None)
    }

    /// `A [<number>] _ <element type>`, `A <expression> _ <element type>`
    fn array_type(&mut self) -> Option<Id> {
        self.expect(b'A')?;
        let size = self.bound()?;
        let element = self.ty()?;
        let mut right = vec![Step::ArrayBracket];
        right.extend(size.map(Step::Whole));
        right.extend([Step::Text("]"), Step::Right(element)]);
        Some(self.sides(&[Step::Left(element)], &right, Shape::ARRAY))
    }

    /// A number or an expression, followed by `_`; or `_` alone.
    fn bound(&mut self) -> Option<Option<Id>> {
        if self.eat(b'_') {
            return Some(None);
        }
        let bound = if self.peek().is_ascii_digit() {
            let number = self.number(false);
            self.add(Node::Name(number))
        } else {
            self.expression()?
        };
        self.expect(b'_')?;
        Some(Some(bound))
    }

    /// `M <class type> <member type>`
    fn member_pointer_type(&mut self) -> Option<Id> {
        self.expect(b'M')?;
        let class = self.ty()?;
        let member = self.ty()?;
        Some(self.add(Node::MemberPointer { class, member }))
    }

    // Types with names.

    /// `[Ts | Tu | Te] <name>`
    fn class_enum_type(&mut self) -> Option<Id> {
        let prefix = match [self.peek(), self.peek_at(1)] {
            [b'T', b's'] => "struct ",
            [b'T', b'u'] => "union ",
            [b'T', b'e'] => "enum ",
            _ => return self.name(None),
        };
        self.at += 2;
        let name = self.name(None)?;
        Some(self.prefixed(prefix, name))
    }

    /// `<template-param>`, `<template-template-param> <template-args>`
    fn template_parameter_type(&mut self) -> Option<Id> {
        let name = self.template_parameter()?;
        if !self.takes_arguments || self.peek() != b'I' {
            return Some(name);
        }
        // According to the ABI, the name can also be substituted. LLVM does not do so, and its spelling is authoritative.
        let arguments = self.template_arguments(false)?;
        Some(self.add(Node::Templated { name, arguments }))
    }

    /// A type that starts with a substitution or `St`.
    fn substituted_type(&mut self) -> Option<Id> {
        let (name, is_substitution) = self.unscoped_name(None)?;
        let ty = if self.peek() == b'I' && (!is_substitution || self.takes_arguments) {
            if !is_substitution {
                self.substitutable(name);
            }
            let arguments = self.template_arguments(false)?;
            self.add(Node::Templated { name, arguments })
        } else if is_substitution {
            return Some(name);
        } else {
            name
        };
        Some(self.substitutable(ty))
    }

    /// `u <source-name> [I <type> E]`
    fn vendor_type(&mut self) -> Option<Id> {
        self.expect(b'u')?;
        let name = self.identifier()?;
        if !self.eat(b'I') {
            return Some(self.add(Node::Name(name)));
        }
        let inner = self.ty()?;
        self.expect(b'E')?;
        Some(self.phrase(&[Step::Slice(name), Step::Text("("), Step::Whole(inner), Step::Text(")")]))
    }

    // Types that start with `D`.

    fn d_type(&mut self) -> Option<Id> {
        let letter = self.peek_at(1);
        if let Some(name) = builtin_d_type(letter) {
            self.at += 2;
            return Some(self.fixed(name));
        }
        let ty = match letter {
            b'F' => return self.sized_float_type(),
            b'B' | b'U' => return self.bit_int_type(letter == b'B'),
            b'k' | b'K' => return self.constrained_auto(letter == b'K'),
            b't' | b'T' => self.decltype()?,
            b'v' => self.vector_type()?,
            b'p' => {
                self.at += 2;
                let pattern = self.ty()?;
                self.phrase(&[Step::Expand(pattern)])
            }
            b'o' | b'O' | b'w' | b'x' => self.function_type()?,
            _ => return None,
        };
        Some(self.substitutable(ty))
    }

    /// `DF <number> _`
    fn sized_float_type(&mut self) -> Option<Id> {
        self.at += 2;
        let number = self.number(false);
        self.expect(b'_')?;
        let bits = self.add(Node::Name(number));
        Some(self.prefixed("_Float", bits))
    }

    /// `DB <number or expression> _`, `DU …`
    fn bit_int_type(&mut self, is_signed: bool) -> Option<Id> {
        self.at += 2;
        let inner = self.bound()??;
        let prefix = if is_signed { "_BitInt" } else { "unsigned _BitInt" };
        Some(self.phrase(&enclosed(prefix, Step::Whole(inner))))
    }

    /// `Dk <constraint name>`, `DK <constraint name>`
    fn constrained_auto(&mut self, is_decltype: bool) -> Option<Id> {
        self.at += 2;
        let constraint = self.name(None)?;
        let auto = if is_decltype { " decltype(auto)" } else { " auto" };
        Some(self.phrase(&[Step::Left(constraint), Step::Text(auto)]))
    }

    /// `Dt <expression> E`, `DT <expression> E`
    pub(super) fn decltype(&mut self) -> Option<Id> {
        self.at += 2;
        let inner = self.expression()?;
        self.expect(b'E')?;
        Some(self.phrase(&enclosed("decltype", Step::Whole(inner))))
    }

    /// `Dv <number> _ <element type>`, `Dv <expression> _ …`, `Dv <number> _ p` for pixels
    fn vector_type(&mut self) -> Option<Id> {
        self.at += 2;
        let is_number = self.peek().is_ascii_digit();
        if self.peek() == b'0' {
            return None;
        }
        let size = self.bound()?;
        let element = if is_number && self.eat(b'p') { self.fixed("pixel") } else { self.ty()? };
        let mut steps = vec![Step::Whole(element), Step::Text(" vector[")];
        steps.extend(size.map(Step::Whole));
        steps.push(Step::Text("]"));
        Some(self.phrase(&steps))
    }

    /// Types up to this byte.
    pub(super) fn types_until(&mut self, end: u8) -> Option<List> {
        self.list(|parser| if parser.eat(end) { Some(Item::End) } else { parser.ty().map(Item::Is) })
    }
}

/// `<builtin-type>` with one letter
pub(super) fn builtin_type(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'v' => "void",
        b'w' => "wchar_t",
        b'b' => "bool",
        b'c' => "char",
        b'a' => "signed char",
        b'h' => "unsigned char",
        b's' => "short",
        b't' => "unsigned short",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b'f' => "float",
        b'd' => "double",
        b'e' => "long double",
        b'g' => "__float128",
        b'z' => "...",
        _ => return None,
    })
}

/// `<builtin-type>` with `D` and a letter
fn builtin_d_type(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'd' => "decimal64",
        b'e' => "decimal128",
        b'f' => "decimal32",
        b'h' => "half",
        b'i' => "char32_t",
        b'u' => "char8_t",
        b's' => "char16_t",
        b'a' => "auto",
        b'c' => "decltype(auto)",
        b'n' => "std::nullptr_t",
        _ => return None,
    })
}
