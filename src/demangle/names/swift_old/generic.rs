//! Generic parameters, types associated with them, and signatures.

use super::node::{Form, Id, Node, Nominal};
use super::reader::Reader;

/// Generic parameters of one depth that are written.
const MOST_PARAMETERS: u32 = 128;

impl Reader<'_> {
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
        self.phrase(Form::Simple, signature_text(&counts))
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
                match self.nodes.get(known) {
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
        self.phrase(Form::Simple, parameter_text(depth, index))
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
            matches!(self.nodes.get(known), Node::Associated).then_some(known)?
        } else {
            let protocol = if self.skip("P") { Some(self.protocol()?) } else { None };
            let name = self.identifier()?;
            let text = protocol.map_or_else(|| name.to_string(), |protocol| format!("{}.{name}", self.text(protocol)));
            let associated = self.nodes.add(Node::Associated, text)?;
            self.known(associated)
        };
        self.phrase(Form::Simple, format!("{}.{}", self.text(base), self.text(associated)))
    }

    /// Reads a type after `Q` that is associated with a protocol's `Self`, or with another such type.
    pub(super) fn archetype(&mut self) -> Option<Id> {
        self.nested(|reader| {
            let root = match reader.next()? {
                b'Q' => reader.archetype()?,
                b'S' => {
                    let known = reader.mention()?;
                    (!matches!(reader.nodes.get(known), Node::Associated)).then_some(known)?
                }
                b's' => reader.nodes.add(Node::Module { is_swift: true }, "")?,
                _ => return None,
            };
            let name = reader.identifier()?;
            let text = format!("{}.{name}", reader.text(root));
            reader.phrase(Form::Simple, text).map(|id| reader.known(id))
        })
    }
}

/// `A` to `Z`, then `AB`, `BB`, …; with the depth if there are parameters further out.
fn parameter_text(depth: u32, index: u32) -> String {
    let mut letters = String::new();
    let mut rest = Some(index);
    while let Some(index) = rest {
        letters.push(char::from(b'A' + (index % 26) as u8));
        rest = Some(index / 26).filter(|&index| index > 0);
    }
    if depth > 0 { format!("{letters}{depth}") } else { letters }
}

/// `<A, B><A1>`
fn signature_text(counts: &[u32]) -> String {
    let at_depth = |(depth, &count): (u32, &u32)| {
        let mut parameters: Vec<String> =
            (0..count.min(MOST_PARAMETERS)).map(|index| parameter_text(depth, index)).collect();
        parameters.extend((count > MOST_PARAMETERS).then(|| "...".to_owned()));
        format!("<{}>", parameters.join(", "))
    };
    (0..).zip(counts).map(at_depth).collect()
}
