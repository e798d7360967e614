//! Generic parameters, types associated with them, and signatures.

use std::borrow::Cow;

use super::super::node::{Form, Id, Node, Nominal, Part};
use super::Reader;

impl<'n> Reader<'n> {
    /// The number of parameters at each depth, up to `r`. The requirements between them are not shown.
    pub(super) fn signature(&mut self) -> Option<Id> {
        let mut counts = Vec::new();
        while !matches!(self.peek()?, b'R' | b'r') {
            counts.push(if self.skip("z") { 0 } else { self.index()? + 1 });
        }
        if counts.is_empty() {
            counts.push(1);
        }
        if self.next() == Some(b'R') {
            while !self.skip("r") {
                self.requirement()?;
            }
        }
        self.add(Node::Signature(counts))
    }

    fn requirement(&mut self) -> Option<()> {
        if self.skip("w") {
            self.associated_of_parameter()?;
        } else if self.skip("W") {
            self.associated_chain()?;
        } else {
            self.parameter()?;
        }
        if self.skip("z") {
            self.ty()?;
            return Some(());
        }
        if self.skip("l") {
            return self.layout();
        }
        match self.peek()? {
            b'C' => {
                self.ty()?;
            }
            b'S' => {
                self.next();
                let known = self.mention()?;
                match self.tree.get(known)? {
                    Node::Nominal { kind: Nominal::Protocol | Nominal::Class, .. } => {}
                    Node::Module { .. } => {
                        self.protocol_in(known)?;
                    }
                    _ => return None,
                }
            }
            _ => {
                self.protocol()?;
            }
        }
        Some(())
    }

    /// A requirement on the layout of values in memory: a size, and optionally an alignment.
    fn layout(&mut self) -> Option<()> {
        match self.next()? {
            b'U' | b'R' | b'N' | b'T' => {}
            b'e' | b'm' => {
                self.natural()?;
            }
            b'E' | b'M' => {
                self.natural()?;
                self.expect("_")?;
                self.natural()?;
            }
            _ => return None,
        }
        Some(())
    }

    /// `x` is the first parameter, and `_` the second; `d` precedes a depth and the number at that depth.
    pub(super) fn parameter(&mut self) -> Option<Id> {
        let (depth, index) = if self.skip("d") {
            (self.index()? + 1, self.index()?)
        } else if self.skip("x") {
            (0, 0)
        } else {
            (0, self.index()? + 1)
        };
        self.add(Node::Parameter { depth, index })
    }

    /// Reads a parameter, or a type associated with another type, after `q`.
    pub(super) fn dependent(&mut self) -> Option<Id> {
        if matches!(self.peek()?, b'd' | b'_' | b'0'..=b'9') {
            return self.parameter();
        }
        let base = self.ty()?;
        self.member(base)
    }

    pub(super) fn associated_of_parameter(&mut self) -> Option<Id> {
        let base = self.parameter()?;
        self.member(base)
    }

    pub(super) fn associated_chain(&mut self) -> Option<Id> {
        let mut base = self.parameter()?;
        while !self.skip("_") {
            base = self.member(base)?;
        }
        Some(base)
    }

    /// A type with an associated type, whose name follows.
    fn member(&mut self, base: Id) -> Option<Id> {
        let associated = if self.skip("S") {
            let known = self.mention()?;
            self.tree.get(known).filter(|node| matches!(node, Node::Associated { .. }))?;
            known
        } else {
            let protocol = if self.skip("P") { Some(self.protocol()?) } else { None };
            let name = self.identifier()?;
            let name = self.name(name)?;
            self.add_known(Node::Associated { protocol, name })?
        };
        self.phrase(Form::Simple, [Part::Node(base), Part::Text("."), Part::Node(associated)])
    }

    /// Reads a type after `Q` that is associated with a protocol's `Self`, or with another such type.
    pub(super) fn archetype(&mut self) -> Option<Id> {
        self.nested(|reader| {
            let root = match reader.next()? {
                b'Q' => reader.archetype()?,
                b'S' => {
                    let known = reader.mention()?;
                    reader.tree.get(known).filter(|node| !matches!(node, Node::Associated { .. }))?;
                    known
                }
                b's' => reader.add(Node::Module { is_swift: true })?,
                _ => return None,
            };
            let name: Cow<'n, str> = reader.identifier()?;
            let name = reader.name(name)?;
            let parts = vec![Part::Node(root), Part::Text("."), Part::Node(name)];
            reader.add_known(Node::Phrase { form: Form::Simple, parts })
        })
    }
}
