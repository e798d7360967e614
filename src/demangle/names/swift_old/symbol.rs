//! Whole symbols: entities, and all that a compiler makes for types, functions and conformances. Of the arguments that a function was
//! specialised for, all that is shown is `specialized`.
//!
//! ```text
//! _TTSg5Si___TF4Demo5twiceurFxx           Demo.twice<A>(A) -> A, where A is Int
//! _TTSf4cpi3_d___TF4Demo3addFTSiSi_Si    Demo.add, where the first argument is 3, and the second is not used
//! ```

use super::node::{Form, Id, Node, Nominal};
use super::reader::Reader;

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
    /// Reads and spells what follows `_T`.
    pub(super) fn symbol(&mut self) -> Option<String> {
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
        Some(format!("{attribute}{}", self.text(global)))
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
        self.phrase(Form::Open, "partial apply".to_owned())
    }

    /// A node with text before it.
    fn of(&mut self, text: &str, node: Id) -> Option<Id> {
        self.phrase(Form::Open, format!("{text}{}", self.text(node)))
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
        self.of(&format!("{witness} for "), ty)
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

    fn lazy_table(&mut self, text: &str) -> Option<Id> {
        let (ty, conformance) = (self.ty()?, self.conformance()?);
        self.of(&format!("{text}{} and conformance ", self.text(ty)), conformance)
    }

    fn associated_accessor(&mut self, has_protocol: bool) -> Option<Id> {
        let (conformance, name) = (self.conformance()?, self.declared_name()?);
        let mut text = "associated type metadata accessor for ";
        let mut protocol = String::new();
        if has_protocol {
            text = "associated type witness table accessor for ";
            let id = self.protocol()?;
            protocol = format!(" : {}", self.text(id));
        }
        self.of(&format!("{text}{}{protocol} in ", self.text(name)), conformance)
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
                self.of(&format!("protocol witness for {} in conformance ", self.text(witness)), conformance)
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
            match reader.nodes.get(known) {
                Node::Nominal { kind: Nominal::Protocol, .. } => Some(known),
                Node::Module { .. } => reader.protocol_in(known),
                _ => None,
            }
        })
    }

    /// Reads a specialisation after `TS`: the number of an optimiser pass, and arguments.
    fn specialization(&mut self) -> Option<()> {
        let is_generic = match self.next()? {
            b'g' | b'r' => true,
            b'f' => false,
            _ => return None,
        };
        self.skip("q");
        self.next().filter(u8::is_ascii_digit)?;
        let argument = if is_generic { Self::generic_argument } else { Self::argument };
        self.list(argument)?;
        // References in the rest of the name start again.
        self.known.clear();
        Some(())
    }

    /// A type, and how it conforms to the requirements.
    fn generic_argument(&mut self) -> Option<()> {
        self.ty()?;
        self.list(Self::conformance)?;
        Some(())
    }

    fn argument(&mut self) -> Option<()> {
        if self.skip("cp") {
            return self.constant();
        }
        if self.skip("cl") {
            self.identifier_or_operator()?;
            self.list(Self::ty)?;
            return Some(());
        }
        if ["n_", "i_", "k_", "r_"].iter().any(|word| self.skip(word)) {
            return Some(());
        }
        let options = ["d", "g", "o", "s"].iter().filter(|option| self.skip(option)).count();
        self.expect("_").filter(|()| options > 0)
    }

    fn constant(&mut self) -> Option<()> {
        if self.skip("fr") || self.skip("g") {
            self.identifier_or_operator()?;
        } else if self.skip("i") || self.skip("fl") {
            let (_, rest) = self.rest.split_at_checked(self.rest.find('_')?)?;
            self.rest = rest;
        } else if self.skip("se0v") || self.skip("se1v") {
            self.identifier_or_operator()?;
        } else {
            return None;
        }
        self.expect("_")
    }
}
