//! Whole symbols: entities, and all that a compiler makes for types, functions and conformances.

use super::super::node::{Form, Id, Node, Nominal, Part};
use super::Reader;

/// The functions that every type has, by their letters.
const VALUE_WITNESSES: [(&str, &str); 24] = [
    ("al", "allocateBuffer"),
    ("ca", "assignWithCopy"),
    ("ta", "assignWithTake"),
    ("de", "deallocateBuffer"),
    ("xx", "destroy"),
    ("XX", "destroyBuffer"),
    ("Xx", "destroyArray"),
    ("CP", "initializeBufferWithCopyOfBuffer"),
    ("Cp", "initializeBufferWithCopy"),
    ("cp", "initializeWithCopy"),
    ("Tk", "initializeBufferWithTake"),
    ("tk", "initializeWithTake"),
    ("pr", "projectBuffer"),
    ("TK", "initializeBufferWithTakeOfBuffer"),
    ("Cc", "initializeArrayWithCopy"),
    ("Tt", "initializeArrayWithTakeFrontToBack"),
    ("tT", "initializeArrayWithTakeBackToFront"),
    ("xs", "storeExtraInhabitant"),
    ("xg", "getExtraInhabitantIndex"),
    ("ug", "getEnumTag"),
    ("up", "destructiveProjectEnumData"),
    ("ui", "destructiveInjectEnumTag"),
    ("et", "getEnumTagSinglePayload"),
    ("st", "storeEnumTagSinglePayload"),
];

impl Reader<'_> {
    /// Reads what follows `_T`.
    pub(super) fn symbol(&mut self) -> Option<()> {
        let attribute = if self.skip("TS") {
            self.specialization()?;
            while self.skip("_TTS") {
                self.specialization()?;
            }
            self.expect("_T")?;
            "specialized "
        } else {
            self.attribute()
        };
        let global = self.global()?;
        self.tree.roots = vec![Part::Text(attribute), Part::Node(global)];
        Some(())
    }

    fn attribute(&mut self) -> &'static str {
        let attributes =
            [("To", "@objc "), ("TO", "@nonobjc "), ("TD", "dynamic "), ("Td", "super "), ("TV", "override ")];
        attributes.into_iter().find(|(code, _)| self.skip(code)).map_or("", |(_, word)| word)
    }

    fn global(&mut self) -> Option<Id> {
        self.nested(|reader| {
            if reader.skip("PA") {
                return reader.partial_apply();
            }
            match reader.peek()? {
                b'M' => reader.metadata(),
                b't' => {
                    reader.next();
                    reader.ty()
                }
                b'w' => reader.value_witness(),
                b'W' => reader.table(),
                b'T' => reader.thunk(),
                _ => reader.entity(),
            }
        })
    }

    fn partial_apply(&mut self) -> Option<Id> {
        self.skip("o");
        if self.skip("__T") {
            let global = self.global()?;
            return self.of("partial apply for ", global);
        }
        // The function is not always named. Then a number may follow.
        self.peek().filter(|byte| *byte == b'_')?;
        self.phrase(Form::Open, [Part::Text("partial apply")])
    }

    /// A node with text before it.
    fn of(&mut self, text: &'static str, node: Id) -> Option<Id> {
        self.phrase(Form::Open, [Part::Text(text), Part::Node(node)])
    }

    fn metadata(&mut self) -> Option<Id> {
        self.expect("M")?;
        if self.skip("p") {
            let protocol = self.protocol()?;
            return self.of("protocol descriptor for ", protocol);
        }
        let kinds = [
            ("P", "generic type metadata pattern for "),
            ("a", "type metadata accessor for "),
            ("L", "lazy cache variable for type metadata for "),
            ("m", "metaclass for "),
            ("n", "nominal type descriptor for "),
            ("f", "full type metadata for "),
        ];
        let kind = kinds.into_iter().find(|(code, _)| self.skip(code));
        let ty = self.ty()?;
        self.of(kind.map_or("type metadata for ", |(_, text)| text), ty)
    }

    fn value_witness(&mut self) -> Option<Id> {
        self.expect("w")?;
        let (_, witness) = VALUE_WITNESSES.into_iter().find(|(code, _)| self.skip(code))?;
        let ty = self.ty()?;
        self.phrase(Form::Open, [Part::Text(witness), Part::Text(" for "), Part::Node(ty)])
    }

    /// Tables of witnesses, what reads them, and offsets of fields.
    fn table(&mut self) -> Option<Id> {
        self.expect("W")?;
        let (text, node) = match self.next()? {
            b'V' => ("value witness table for ", self.ty()?),
            b'v' => return self.field_offset(),
            b'P' => ("protocol witness table for ", self.conformance()?),
            b'G' => ("generic protocol witness table for ", self.conformance()?),
            b'I' => ("instantiation function for generic protocol witness table for ", self.conformance()?),
            b'a' => ("protocol witness table accessor for ", self.conformance()?),
            b'l' => return self.lazy_table("lazy protocol witness table accessor for type "),
            b'L' => return self.lazy_table("lazy protocol witness table cache variable for type "),
            b't' => return self.associated_accessor(false),
            b'T' => return self.associated_accessor(true),
            _ => return None,
        };
        self.of(text, node)
    }

    fn field_offset(&mut self) -> Option<Id> {
        let text = match self.next()? {
            b'd' => "direct field offset for ",
            b'i' => "indirect field offset for ",
            _ => return None,
        };
        let field = self.entity()?;
        self.of(text, field)
    }

    fn lazy_table(&mut self, text: &'static str) -> Option<Id> {
        let (ty, conformance) = (self.ty()?, self.conformance()?);
        let parts = [Part::Text(text), Part::Node(ty), Part::Text(" and conformance "), Part::Node(conformance)];
        self.phrase(Form::Open, parts)
    }

    fn associated_accessor(&mut self, has_protocol: bool) -> Option<Id> {
        let (conformance, name) = (self.conformance()?, self.declared_name()?);
        let in_conformance = [Part::Text(" in "), Part::Node(conformance)];
        let mut parts = Vec::with_capacity(6);
        if has_protocol {
            let protocol = self.protocol()?;
            parts.push(Part::Text("associated type witness table accessor for "));
            parts.extend([Part::Node(name), Part::Text(" : "), Part::Node(protocol)]);
        } else {
            parts.extend([Part::Text("associated type metadata accessor for "), Part::Node(name)]);
        }
        parts.extend(in_conformance);
        self.phrase(Form::Open, parts)
    }

    fn thunk(&mut self) -> Option<Id> {
        self.expect("T")?;
        match self.next()? {
            b'R' | b'r' => {
                if self.skip("G") {
                    self.signature()?;
                }
                self.ty()?;
                let ty = self.ty()?;
                self.of("thunk for ", ty)
            }
            b'W' => {
                let (conformance, witness) = (self.conformance()?, self.entity()?);
                let parts = [
                    Part::Text("protocol witness for "),
                    Part::Node(witness),
                    Part::Text(" in conformance "),
                    Part::Node(conformance),
                ];
                self.phrase(Form::Open, parts)
            }
            _ => None,
        }
    }

    /// A conformance of a type to a protocol. Only the type is shown.
    pub(super) fn conformance(&mut self) -> Option<Id> {
        let ty = self.ty()?;
        self.protocol()?;
        self.context()?;
        Some(ty)
    }

    /// A protocol by its name, or by a reference.
    pub(super) fn protocol(&mut self) -> Option<Id> {
        self.nested(|reader| {
            if !reader.skip("S") {
                let context = reader.context()?;
                return reader.protocol_in(context);
            }
            let known = reader.mention()?;
            match reader.tree.get(known)? {
                Node::Nominal { kind: Nominal::Protocol, .. } => Some(known),
                Node::Module { .. } => reader.protocol_in(known),
                _ => None,
            }
        })
    }
}
