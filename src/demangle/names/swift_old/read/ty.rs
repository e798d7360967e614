//! Types.

use super::super::node::{Element, Form, Id, Node, Nominal, Part};
use super::Reader;
use super::bound::separated;

impl Reader<'_> {
    pub(super) fn ty(&mut self) -> Option<Id> {
        self.nested(|reader| match reader.next()? {
            b'B' => reader.builtin(),
            b'a' => reader.nominal(Nominal::Alias),
            b'b' => reader.function_type(Form::Open, "@convention(block) "),
            b'c' => reader.function_type(Form::Convention, "@convention(c) "),
            b'D' => {
                reader.ty()?;
                reader.phrase(Form::Simple, [Part::Text("Self")])
            }
            b'E' => {
                reader.expect("RR")?;
                reader.phrase(Form::Simple, [Part::Text("<ERROR TYPE>")])
            }
            b'F' | b'f' => reader.function_type(Form::Function, ""),
            b'G' => reader.bound(),
            b'K' => reader.function_type(Form::Open, "@autoclosure "),
            b'M' => reader.metatype(""),
            b'P' => reader.existential(),
            b'Q' => reader.archetype(),
            b'q' => reader.dependent(),
            b'x' => reader.add(Node::Parameter { depth: 0, index: 0 }),
            b'w' => reader.associated_of_parameter(),
            b'W' => reader.associated_chain(),
            b'R' => reader.behind("inout "),
            b'S' => reader.mentioned_type(),
            b'T' => reader.tuple(false),
            b't' => reader.tuple(true),
            b'u' => {
                let (signature, inner) = (reader.signature()?, reader.ty()?);
                reader.add(Node::Generic { signature, inner })
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
        match self.tree.get(ty) {
            Some(Node::Phrase { form: Form::Simple | Form::Existential { is_simple: true }, .. }) => true,
            Some(Node::Phrase { .. }) => false,
            _ => true,
        }
    }

    /// A word and the type after it.
    fn behind(&mut self, word: &'static str) -> Option<Id> {
        let ty = self.ty()?;
        self.phrase(Form::Open, [Part::Text(word), Part::Node(ty)])
    }

    fn mentioned_type(&mut self) -> Option<Id> {
        let known = self.mention()?;
        self.tree.get(known).filter(|node| matches!(node, Node::Nominal { .. } | Node::Phrase { .. }))?;
        Some(known)
    }

    fn builtin(&mut self) -> Option<Id> {
        let parts = match self.next()? {
            b'b' => vec![Part::Text("Builtin.BridgeObject")],
            b'B' => vec![Part::Text("Builtin.UnsafeValueBuffer")],
            b'O' => vec![Part::Text("Builtin.UnknownObject")],
            b'o' => vec![Part::Text("Builtin.NativeObject")],
            b'p' => vec![Part::Text("Builtin.RawPointer")],
            b't' => vec![Part::Text("Builtin.SILToken")],
            b'w' => vec![Part::Text("Builtin.Word")],
            b'f' => vec![Part::Text("Builtin.FPIEEE"), self.size()?],
            b'i' => vec![Part::Text("Builtin.Int"), self.size()?],
            b'v' => {
                let count = Part::Number(self.natural()?);
                self.expect("B")?;
                let mut parts = vec![Part::Text("Builtin.Vec"), count];
                match self.next()? {
                    b'i' => parts.extend([Part::Text("xInt"), self.size()?]),
                    b'f' => parts.extend([Part::Text("xFPIEEE"), self.size()?]),
                    b'p' => parts.push(Part::Text("xRawPointer")),
                    _ => return None,
                }
                parts
            }
            _ => return None,
        };
        self.phrase(Form::Simple, parts)
    }

    fn size(&mut self) -> Option<Part> {
        let size = self.natural()?;
        self.expect("_")?;
        Some(Part::Number(size))
    }

    /// The parameters of a function, shown by their labels. The result is not shown.
    fn function_type(&mut self, form: Form, convention: &'static str) -> Option<Id> {
        self.skip("z");
        // Newer compilers write here how a function is differentiated; older ones almost never began a type like this.
        self.peek().filter(|byte| *byte != b'D')?;
        let (parameters, _result) = (self.ty()?, self.ty()?);
        let mut parts = vec![Part::Text(convention), Part::Text("(")];
        match self.tree.get(parameters)? {
            Node::Tuple(elements) => {
                for element in elements {
                    parts.push(element.label.map_or(Part::Text("_"), Part::Node));
                    parts.push(Part::Text(":"));
                }
            }
            _ => parts.push(Part::Text("_:")),
        }
        parts.push(Part::Text(")"));
        self.phrase(form, parts)
    }

    fn tuple(&mut self, is_variadic: bool) -> Option<Id> {
        let mut elements = self.list(Self::element)?;
        if let Some(last) = elements.last_mut() {
            last.is_variadic = is_variadic;
        }
        self.add(Node::Tuple(elements))
    }

    fn element(&mut self) -> Option<Element> {
        let label = if self.peek()?.is_ascii_digit() {
            let label = self.identifier()?;
            Some(self.name(label)?)
        } else {
            None
        };
        Some(Element { label, ty: self.ty()?, is_variadic: false })
    }

    fn metatype(&mut self, representation: &'static str) -> Option<Id> {
        let ty = self.ty()?;
        let is_existential = matches!(self.tree.get(ty)?, Node::Phrase { form: Form::Existential { .. }, .. });
        let mut parts = vec![Part::Text(representation)];
        parts.extend(self.with_parentheses(ty, if is_existential { ".Protocol" } else { ".Type" }));
        self.phrase(Form::Simple, parts)
    }

    fn existential_metatype(&mut self, representation: &'static str) -> Option<Id> {
        let ty = self.ty()?;
        let parts = [Part::Text(representation), Part::Node(ty), Part::Text(".Type")];
        self.phrase(Form::Existential { is_simple: true }, parts)
    }

    /// Values of any type that conforms to some protocols, or the type of such a type.
    fn existential(&mut self) -> Option<Id> {
        if self.skip("M") {
            return self.existential_metatype("");
        }
        let protocols = self.list(Self::protocol)?;
        let mut parts = Vec::with_capacity(1);
        if protocols.is_empty() {
            parts.push(Part::Text("Any"));
        }
        separated(&mut parts, &protocols, " & ");
        self.phrase(Form::Existential { is_simple: protocols.len() < 2 }, parts)
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
                self.phrase(Form::Simple, [Part::Text("@box "), Part::Node(ty)])
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
            b'F' => self.implementation(),
            _ => None,
        }
    }

    /// A box with fields: `{ var A, let B }`, with a signature before it and arguments after it if it is generic.
    fn boxed(&mut self) -> Option<Id> {
        let signature = if self.skip("G") { Some(self.signature()?) } else { None };
        let mut parts = Vec::new();
        if let Some(signature) = signature {
            parts.extend([Part::Node(signature), Part::Text(" ")]);
        }
        parts.push(Part::Text("{"));
        let fields = self.list(|reader| {
            let word = if reader.skip("m") { " var " } else { reader.expect("i").map(|()| " let ")? };
            Some((word, reader.ty()?))
        })?;
        for (index, (word, ty)) in fields.into_iter().enumerate() {
            parts.push(Part::Text(if index > 0 { "," } else { "" }));
            parts.extend([Part::Text(word), Part::Node(ty)]);
        }
        parts.push(Part::Text(" }"));
        if signature.is_some() {
            parts.push(Part::Text(" <"));
            let arguments = self.list(Self::ty)?;
            separated(&mut parts, &arguments, ", ");
            parts.push(Part::Text(">"));
        }
        self.phrase(Form::Simple, parts)
    }
}
