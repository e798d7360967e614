//! Types, and types of lowered functions with the ownership of their values.
//!
//! ```text
//! XFo_oSSiSi_dSb_    @callee_owned (@owned String, @in Int) -> (@unowned Bool)
//! ```

use super::node::{Form, Id, Node, Nominal};
use super::reader::Reader;

impl Reader<'_> {
    pub(super) fn ty(&mut self) -> Option<Id> {
        self.nested(|reader| match reader.next()? {
            b'B' => reader.builtin(),
            b'a' => reader.nominal(Nominal::Alias),
            b'b' => reader.function_type(Form::Open, "@convention(block) "),
            b'c' => reader.function_type(Form::Convention, "@convention(c) "),
            b'D' => {
                reader.ty()?;
                reader.phrase(Form::Simple, "Self".to_owned())
            }
            b'E' => {
                reader.expect("RR")?;
                reader.phrase(Form::Simple, "<ERROR TYPE>".to_owned())
            }
            b'F' | b'f' => reader.function_type(Form::Function, ""),
            b'G' => reader.bound(),
            b'K' => reader.function_type(Form::Open, "@autoclosure "),
            b'M' => reader.metatype(""),
            b'P' => reader.existential(),
            b'Q' => reader.archetype(),
            b'q' => reader.dependent(),
            b'x' => reader.phrase(Form::Simple, "A".to_owned()),
            b'w' => reader.associated_of_parameter(),
            b'W' => reader.associated_chain(),
            b'R' => reader.behind("inout "),
            b'S' => reader.mentioned_type(),
            b'T' => reader.tuple(false),
            b't' => reader.tuple(true),
            b'u' => {
                let (signature, inner) = (reader.signature()?, reader.ty()?);
                let space = reader.nodes.space_before(inner);
                let text = format!("{}{space}{}", reader.text(signature), reader.text(inner));
                reader.nodes.add(Node::Generic { inner }, text)
            }
            b'X' => reader.special(),
            b'C' => reader.nominal(Nominal::Class),
            b'V' => reader.nominal(Nominal::Structure),
            b'O' => reader.nominal(Nominal::Enumeration),
            _ => None,
        })
    }

    /// True for types of one piece, which need no parentheses.
    pub(super) fn is_simple(&self, ty: Id) -> bool {
        match self.nodes.get(ty) {
            Node::Phrase(form) => matches!(form, Form::Simple | Form::Existential { is_simple: true }),
            _ => true,
        }
    }

    /// A word and the type after it.
    fn behind(&mut self, word: &'static str) -> Option<Id> {
        let ty = self.ty()?;
        self.phrase(Form::Open, format!("{word}{}", self.text(ty)))
    }

    fn mentioned_type(&mut self) -> Option<Id> {
        let known = self.mention()?;
        matches!(self.nodes.get(known), Node::Nominal { .. } | Node::Phrase(_)).then_some(known)
    }

    fn builtin(&mut self) -> Option<Id> {
        let name = match self.next()? {
            b'b' => "BridgeObject".to_owned(),
            b'B' => "UnsafeValueBuffer".to_owned(),
            b'O' => "UnknownObject".to_owned(),
            b'o' => "NativeObject".to_owned(),
            b'p' => "RawPointer".to_owned(),
            b't' => "SILToken".to_owned(),
            b'w' => "Word".to_owned(),
            b'f' => format!("FPIEEE{}", self.size()?),
            b'i' => format!("Int{}", self.size()?),
            b'v' => {
                let count = self.natural()?;
                self.expect("B")?;
                match self.next()? {
                    b'i' => format!("Vec{count}xInt{}", self.size()?),
                    b'f' => format!("Vec{count}xFPIEEE{}", self.size()?),
                    b'p' => format!("Vec{count}xRawPointer"),
                    _ => return None,
                }
            }
            _ => return None,
        };
        self.phrase(Form::Simple, format!("Builtin.{name}"))
    }

    fn size(&mut self) -> Option<u32> {
        let size = self.natural()?;
        self.expect("_").map(|()| size)
    }

    /// The parameters of a function, shown by their labels. The result is not shown.
    fn function_type(&mut self, form: Form, convention: &str) -> Option<Id> {
        self.skip("z");
        // Newer compilers write here how a function is differentiated; older ones almost never began a type like this.
        self.peek().filter(|byte| *byte != b'D')?;
        let (parameters, _result) = (self.ty()?, self.ty()?);
        let labels = match self.nodes.get(parameters) {
            Node::Tuple { labels } => self.text(labels),
            _ => "_:",
        };
        self.phrase(form, format!("{convention}({labels})"))
    }

    fn tuple(&mut self, is_variadic: bool) -> Option<Id> {
        let elements = self.list(Self::element)?;
        let labels: String =
            elements.iter().map(|(label, _)| format!("{}:", label.as_deref().unwrap_or("_"))).collect();
        let element = |(label, ty): &(Option<_>, Id)| match label {
            Some(label) => format!("{label}: {}", self.text(*ty)),
            None => self.text(*ty).to_owned(),
        };
        let types = elements.iter().map(element).collect::<Vec<_>>().join(", ");
        let variadic = if is_variadic && !elements.is_empty() { "..." } else { "" };
        let labels = self.phrase(Form::Open, labels)?;
        self.nodes.add(Node::Tuple { labels }, format!("({types}{variadic})"))
    }

    fn element(&mut self) -> Option<(Option<String>, Id)> {
        let label = if self.peek()?.is_ascii_digit() { Some(self.identifier()?.into_owned()) } else { None };
        Some((label, self.ty()?))
    }

    fn metatype(&mut self, representation: &str) -> Option<Id> {
        let ty = self.ty()?;
        let is_existential = matches!(self.nodes.get(ty), Node::Phrase(Form::Existential { .. }));
        let behind = if is_existential { ".Protocol" } else { ".Type" };
        self.phrase(Form::Simple, format!("{representation}{}", self.with_parentheses(ty, behind)))
    }

    fn existential_metatype(&mut self, representation: &str) -> Option<Id> {
        let ty = self.ty()?;
        self.phrase(Form::Existential { is_simple: true }, format!("{representation}{}.Type", self.text(ty)))
    }

    /// Values of any type that conforms to some protocols, or the type of such a type.
    fn existential(&mut self) -> Option<Id> {
        if self.skip("M") {
            return self.existential_metatype("");
        }
        let protocols = self.list(Self::protocol)?;
        let text = if protocols.is_empty() { "Any".to_owned() } else { self.nodes.joined(&protocols, " & ") };
        self.phrase(Form::Existential { is_simple: protocols.len() < 2 }, text)
    }

    fn representation(&mut self) -> Option<&'static str> {
        match self.next()? {
            b't' => Some("@thin "),
            b'T' => Some("@thick "),
            b'o' => Some("@objc_metatype "),
            _ => None,
        }
    }

    /// Reads types after `X`, which are rare in source code.
    fn special(&mut self) -> Option<Id> {
        match self.next()? {
            b'b' => {
                let ty = self.ty()?;
                self.phrase(Form::Simple, format!("@box {}", self.text(ty)))
            }
            b'B' => self.boxed(),
            b'M' => {
                let representation = self.representation()?;
                self.metatype(representation)
            }
            b'P' if self.skip("M") => {
                let representation = self.representation()?;
                self.existential_metatype(representation)
            }
            b'P' => self.existential(),
            b'f' => self.function_type(Form::Convention, "@convention(thin) "),
            b'o' => self.behind("unowned "),
            b'u' => self.behind("unowned(unsafe) "),
            b'w' => self.behind("weak "),
            b'F' => self.lowered_function(),
            _ => None,
        }
    }

    /// A box with fields: `{ var A, let B }`, with a signature before it and arguments after it if it is generic.
    fn boxed(&mut self) -> Option<Id> {
        let signature = if self.skip("G") { Some(self.signature()?) } else { None };
        let fields = self.list(|reader| {
            let word = if reader.skip("m") { " var " } else { reader.expect("i").map(|()| " let ")? };
            let ty = reader.ty()?;
            Some(format!("{word}{}", reader.text(ty)))
        })?;
        let fields = format!("{{{} }}", fields.join(","));
        let Some(signature) = signature else { return self.phrase(Form::Simple, fields) };
        let arguments = self.list(Self::ty)?;
        let (signature, arguments) = (self.text(signature), self.nodes.joined(&arguments, ", "));
        self.phrase(Form::Simple, format!("{signature} {fields} <{arguments}>"))
    }

    /// Reads what follows `XF`.
    fn lowered_function(&mut self) -> Option<Id> {
        let callee = match self.next()? {
            b't' => "@convention(thin) ",
            b'd' => "@callee_unowned ",
            b'g' => "@callee_guaranteed ",
            b'o' => "@callee_owned ",
            _ => return None,
        };
        let convention = if self.skip("C") { self.convention()? } else { "" };
        let mut signature = String::new();
        if self.skip("G") || self.skip("g") {
            let id = self.signature()?;
            signature = format!("{} ", self.text(id));
        }
        self.expect("_")?;
        let parameters = self.list(Self::lowered_parameter)?.join(", ");
        let results = self.list(Self::lowered_result)?.join(", ");
        self.phrase(Form::Open, format!("{callee}{convention}{signature}({parameters}) -> ({results})"))
    }

    fn convention(&mut self) -> Option<&'static str> {
        match self.next()? {
            b'b' => Some("@convention(block) "),
            b'c' => Some("@convention(c) "),
            b'm' => Some("@convention(method) "),
            b'O' => Some("@convention(objc_method) "),
            b'w' => Some("@convention(witness_method) "),
            _ => None,
        }
    }

    fn lowered_parameter(&mut self) -> Option<String> {
        let ownership = match self.next()? {
            b'd' => "@unowned ",
            b'g' => "@guaranteed ",
            b'e' => "@deallocating ",
            b'i' => "@in ",
            b'l' => "@inout ",
            b'o' => "@owned ",
            _ => return None,
        };
        let ty = self.ty()?;
        Some(format!("{ownership}{}", self.text(ty)))
    }

    fn lowered_result(&mut self) -> Option<String> {
        let error = if self.skip("z") { "@error " } else { "" };
        let ownership = match self.next()? {
            b'a' => "@autoreleased ",
            b'd' => "@unowned ",
            b'D' => "@unowned_inner_pointer ",
            b'i' => "@out ",
            b'o' => "@owned ",
            _ => return None,
        };
        let ty = self.ty()?;
        Some(format!("{error}{ownership}{}", self.text(ty)))
    }
}
