//! Demangles Swift types in the Objective-C runtime, which still use the mangling from before Swift 4. The spelling follows
//! `swift demangle -simplified`.
//!
//! ```text
//! _TtCC4Demo6Widget4Part        Widget.Part
//! _TtGC4Demo4NodeGS0_Si__       Node<Node<Int>>
//! ```
//!
//! The kind of each part precedes it, and `_` ends a list. `C`, `V` and `O` are a class, a structure and an enumeration. They are followed by a
//! context (a module, or another type) and a name, which is preceded by its length. `G` is a generic type with its arguments. After their first
//! use, modules and types are `S_`, `S0_`, …; other letters after `S` are standard library types.
//!
//! Functions only occur as contexts of local types, and as arguments. Names may come from untrusted sources, so length and depth are limited.

use std::borrow::Cow;

use super::punycode;

/// Longer names stay mangled.
const LONGEST: usize = 4 << 10;
/// More deeply nested names stay mangled.
const DEEPEST: u32 = 200;

/// Types of the standard library.
const STANDARD: [(&str, &str); 16] = [
    ("a", "Array"),
    ("b", "Bool"),
    ("c", "UnicodeScalar"),
    ("d", "Double"),
    ("f", "Float"),
    ("i", "Int"),
    ("V", "UnsafeRawPointer"),
    ("v", "UnsafeMutableRawPointer"),
    ("P", "UnsafePointer"),
    ("p", "UnsafeMutablePointer"),
    ("q", "Optional"),
    ("Q", "ImplicitlyUnwrappedOptional"),
    ("R", "UnsafeBufferPointer"),
    ("r", "UnsafeMutableBufferPointer"),
    ("S", "String"),
    ("u", "UInt"),
];

/// Demangles a name with one or two leading underscores, in at most `longest` bytes. `None` for other names, malformed
/// names, and names that are nested too deeply or would be too long.
pub(super) fn simplified(name: &str, longest: usize) -> Option<String> {
    let rest = name.strip_prefix("__Tt").or_else(|| name.strip_prefix("_Tt"))?;
    // Other scripts are encoded in ASCII.
    if name.len() > LONGEST || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut reader = Reader { rest, known: Vec::new(), depth: 0 };
    let Type { text, .. } = reader.ty()?;
    // Linkers append suffixes after a dot.
    let is_end = reader.rest.is_empty() || reader.rest.starts_with('.');
    (is_end && text.len() <= longest).then_some(text)
}

/// The spelling of a type.
struct Type {
    text: String,
    /// False if it needs parentheses before `?`.
    is_simple: bool,
}

impl Type {
    fn simple(text: String) -> Option<Self> {
        Some(Self { text, is_simple: true })
    }

    fn followed_by(&self, end: &str) -> Option<Self> {
        let text = &self.text;
        Self::simple(if self.is_simple { format!("{text}{end}") } else { format!("({text}){end}") })
    }
}

/// A type or function with its context. A module is not displayed, and has no parts.
#[derive(Clone, Default)]
struct Named {
    parts: Vec<String>,
    /// The enclosing function or type, if the parts are local.
    behind: String,
    /// True for functions and types in them, which cannot be followed by a dot and a member.
    is_closed: bool,
    /// True for members of extensions. The parts do not determine their generic arguments.
    is_extended: bool,
    is_of_swift: bool,
}

impl Named {
    fn member(&self, name: String) -> Self {
        let (parts, behind) = match self.is_closed {
            true => (vec![name], self.text()),
            false => ([&self.parts[..], &[name]].concat(), self.behind.clone()),
        };
        let is_of_swift = self.is_of_swift && self.parts.is_empty();
        Self { parts, behind, is_closed: false, is_extended: self.is_extended, is_of_swift }
    }

    fn text(&self) -> String {
        let text = self.parts.join(".");
        if self.behind.is_empty() { text } else { format!("{text} in {}", self.behind) }
    }
}

struct Reader<'n> {
    rest: &'n str,
    /// Modules and types by index.
    known: Vec<Named>,
    depth: u32,
}

impl<'n> Reader<'n> {
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= DEEPEST)?;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.rest.bytes().next()?;
        self.rest = &self.rest[1..];
        Some(byte)
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads items up to `_`.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.skip("_") {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn natural(&mut self) -> Option<usize> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits.parse().ok()
    }

    /// Reads an index: `_` is 0, `0_` is 1.
    fn index(&mut self) -> Option<usize> {
        if self.skip("_") {
            return Some(0);
        }
        let number = self.natural()?;
        self.skip("_").then_some(number.checked_add(1)?)
    }

    /// Reads an identifier such as `4draw`, or `X3wxa` for `λ`.
    fn identifier(&mut self) -> Option<Cow<'n, str>> {
        let is_coded = self.skip("X");
        let length = self.natural().filter(|length| *length > 0)?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        if is_coded { Some(Cow::Owned(punycode::decode(text)?)) } else { Some(Cow::Borrowed(text)) }
    }

    fn ty(&mut self) -> Option<Type> {
        self.nested(|reader| match reader.next()? {
            b'C' | b'V' | b'O' => Type::simple(reader.nominal()?.text()),
            b'S' => Type::simple(reader.mention().filter(|named| !named.parts.is_empty())?.text()),
            b'G' => reader.bound(),
            b'P' => reader.protocols(),
            b'T' => Type::simple(reader.tuple()?.0),
            b'F' | b'f' => Some(Type { text: reader.function()?, is_simple: false }),
            _ => None,
        })
    }

    /// Reads a nominal type: a context and a name.
    fn nominal(&mut self) -> Option<Named> {
        let context = self.context()?;
        self.member_of(&context)
    }

    /// Reads the name of a type, which may be local to a function (`L_4Part`) or private to a file (`P5_DISC4Part`).
    fn member_of(&mut self, context: &Named) -> Option<Named> {
        let local = if self.skip("L") { Some(self.index()?) } else { None };
        if local.is_none() && self.skip("P") {
            self.identifier()?;
        }
        let name = self.identifier()?;
        let named = match local {
            Some(_) if !context.is_closed => return None,
            Some(index) => Named { is_closed: true, ..context.member(format!("{name} #{}", index.checked_add(1)?)) },
            None => context.member(name.into_owned()),
        };
        self.known.push(named.clone());
        Some(named)
    }

    fn context(&mut self) -> Option<Named> {
        self.nested(|reader| match reader.rest.bytes().next()? {
            b'C' | b'V' | b'O' => {
                reader.next();
                reader.nominal()
            }
            b'F' => {
                reader.next();
                let (context, name) = (reader.context()?, reader.identifier()?);
                reader.skip("f").then_some(()).or_else(|| reader.skip("F").then_some(()))?;
                let labels = reader.function()?;
                Some(Named { is_closed: true, ..context.member(format!("{name}{labels}")) })
            }
            b'E' => {
                reader.next();
                reader.module()?;
                Some(Named { is_extended: true, ..reader.context()? })
            }
            b'S' => {
                reader.next();
                reader.mention()
            }
            _ => reader.module(),
        })
    }

    fn module(&mut self) -> Option<Named> {
        if self.skip("s") {
            return Some(Named { is_of_swift: true, ..Named::default() });
        }
        if self.skip("S") {
            return self.mention().filter(|named| named.parts.is_empty());
        }
        let module = Named { is_of_swift: self.identifier()? == "Swift", ..Named::default() };
        self.known.push(module.clone());
        Some(module)
    }

    /// Reads a reference after `S`: a letter for a type of the standard library, or the number of an earlier name.
    fn mention(&mut self) -> Option<Named> {
        if self.skip("o") || self.skip("C") {
            return Some(Named::default());
        }
        let Some((_, name)) = STANDARD.into_iter().find(|(letter, _)| self.skip(letter)) else {
            let index = self.index()?;
            return self.known.get(index).cloned();
        };
        Some(Named { parts: vec![name.to_owned()], is_of_swift: true, ..Named::default() })
    }

    /// Reads a generic type after `G`. The arguments of the outermost type come first.
    fn bound(&mut self) -> Option<Type> {
        let named = match self.next()? {
            b'S' => self.mention()?,
            b'C' | b'V' | b'O' => self.nominal()?,
            _ => return None,
        };
        if named.parts.is_empty() || named.is_extended || !named.behind.is_empty() {
            return None;
        }
        let arguments: Vec<Vec<Type>> = named.parts.iter().map(|_| self.list(Self::ty)).collect::<Option<_>>()?;
        match (named.parts[0].as_str(), &arguments[0][..]) {
            _ if !named.is_of_swift => {}
            ("Array", [element]) => return Type::simple(format!("[{}]", element.text)),
            ("Dictionary", [key, value]) => return Type::simple(format!("[{} : {}]", key.text, value.text)),
            ("Optional", [wrapped]) => return wrapped.followed_by("?"),
            ("ImplicitlyUnwrappedOptional", [wrapped]) => return wrapped.followed_by("!"),
            _ => {}
        }
        let bound = |(part, arguments): (&String, &Vec<Type>)| match arguments.is_empty() {
            true => part.clone(),
            false => format!("{part}<{}>", joined(arguments, ", ")),
        };
        Type::simple(named.parts.iter().zip(&arguments).map(bound).collect::<Vec<_>>().join("."))
    }

    /// Reads a type that is composed of protocols.
    fn protocols(&mut self) -> Option<Type> {
        let protocols = self.list(|reader| {
            if !reader.skip("S") {
                return Type::simple(reader.nominal()?.text());
            }
            let known = reader.mention()?;
            Type::simple(if known.parts.is_empty() { reader.member_of(&known)? } else { known }.text())
        })?;
        let text = if protocols.is_empty() { "Any".to_owned() } else { joined(&protocols, " & ") };
        Some(Type { text, is_simple: protocols.len() < 2 })
    }

    /// Reads a tuple, and returns it with its labels.
    fn tuple(&mut self) -> Option<(String, String)> {
        let elements = self.list(|reader| {
            let is_labelled = reader.rest.starts_with(|c: char| c.is_ascii_digit());
            let label = if is_labelled { Some(reader.identifier()?) } else { None };
            Some((label, reader.ty()?.text))
        })?;
        let element = |(label, ty): &(Option<Cow<'_, str>>, String)| match label {
            Some(label) => format!("{label}: {ty}"),
            None => ty.clone(),
        };
        let labels = elements.iter().map(|(label, _)| format!("{}:", label.as_deref().unwrap_or("_"))).collect();
        Some((format!("({})", elements.iter().map(element).collect::<Vec<_>>().join(", ")), labels))
    }

    /// Reads the parameters of a function, and returns their labels. The result type is not displayed.
    fn function(&mut self) -> Option<String> {
        self.skip("z");
        let labels = if self.skip("T") { self.tuple()?.1 } else { self.ty().map(|_| "_:".to_owned())? };
        self.ty()?;
        Some(format!("({labels})"))
    }
}

fn joined(types: &[Type], separator: &str) -> String {
    types.iter().map(|ty| ty.text.as_str()).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, simplified};

    fn shown(name: &str) -> Option<String> {
        simplified(name, LONGEST)
    }

    #[test]
    fn only_complete_names_are_types() {
        for name in ["_TtC4Demo6Widget", "__TtC4Demo6Widget", "_TtC4Demo6Widget.llvm.7"] {
            assert_eq!(shown(name).as_deref(), Some("Widget"), "{name}");
        }
        for name in ["TtC4Demo6Widget", "___TtC4Demo6Widget", "", "_", "_T", "_Tt", "_TtSize", "_TtSiRead", "_TIFF"] {
            assert_eq!(shown(name), None, "{name}");
        }
        assert_eq!(simplified("_TtC4Demo6Widget", 5), None);
    }

    #[test]
    fn nesting_is_bounded() {
        for (start, more, middle, end) in [
            ("_Tt", "GSq", "Si", "_"),
            ("_Tt", "T", "", "_"),
            ("_Tt", "FT_", "Si", ""),
            ("_TtC", "C", "1a1b", "1c"),
            ("_TtC", "E1a", "s", "1b"),
            ("_TtCF", "F", "1a1bFT_T_", "1cFT_T_"),
            ("_TtP", "P", "1a1b", "1c"),
        ] {
            let name = format!("{start}{}{middle}{}", more.repeat(300), end.repeat(300));
            assert_eq!(shown(&name), None, "{start}{more}");
        }
        let optional = |depth: usize| format!("_Tt{}Si{}", "GSq".repeat(depth), "_".repeat(depth));
        assert_eq!(shown(&optional(100)).map(|shown| shown.len()), Some(103));
        assert_eq!(shown(&format!("_TtT{}_", "Si".repeat(LONGEST))), None);
    }
}
