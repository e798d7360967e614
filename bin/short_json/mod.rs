//! Short JSON: a document cut to a number of bytes, for agents.
//!
//! Lists keep their first items, which are the most important ones, and texts their beginning. What is left out is counted, each count at the place
//! where `--from` continues. Even a large document takes little memory: what cannot be needed is dropped while it is written.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read, Write};

use serde_json::Value;
use serde_json::de::{Deserializer, IoRead};

mod cut;
mod read;

use cut::{Place, fit};
use read::{Part, Reader};

/// The least size: the fields that every document has, and counts.
pub(crate) const LEAST_BYTES: usize = 1000;
/// The field with what is left out.
pub(crate) const LEFT_OUT: &str = "left_out";

/// How a document is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    /// The maximum size of the result, in bytes.
    pub(crate) most: usize,
    /// Where to continue; `None` for the beginning.
    pub(crate) from: Option<Pointer>,
}

/// A JSON pointer (RFC 6901). After the name of a list, a number is its first item, and after the name of a text, its first character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<String>);

impl Pointer {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('/').filter(|path| !path.is_empty()) else {
            return Err(format!("it starts with a slash, such as /functions/5: the field {LEFT_OUT} has them"));
        };
        if path.split('/').any(|name| name == "*") {
            return Err("* stands for any number: put the number of an item in its place".to_owned());
        }
        Ok(Self(path.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The largest number in the pointer: so many items must be read.
    fn largest(&self) -> usize {
        self.0.iter().filter_map(|name| name.parse().ok()).max().unwrap_or(0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "/{}", escaped(name)))
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl Short {
    /// Writes the beginning, or another part, of the document that `write` writes.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (source, mut sink) = io::pipe()?;
        let part = std::thread::scope(|scope| {
            let read = scope.spawn(move || self.read(source));
            let written = write(&mut sink).and_then(|()| sink.flush());
            drop(sink);
            let read = read.join().unwrap_or_else(|_| Err(io::Error::other("the answer cannot be cut")));
            match written {
                // The reader failed first, and closed the pipe.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                _ => read,
            }
        })?;
        let value = self.cut(part).map_err(io::Error::other)?;
        serde_json::to_writer(&mut *out, &value)?;
        out.write_all(b"\n")
    }

    /// Reads as much of a document as can be needed.
    fn read(&self, source: impl Read) -> io::Result<Part> {
        let items = self.most.saturating_add(self.from.as_ref().map_or(0, Pointer::largest));
        let reader = Reader { items, room: &Cell::new(read::MOST_PARTS), depth: 0 };
        let mut source = Deserializer::new(IoRead::new(BufReader::with_capacity(64 << 10, source)));
        let part = serde::de::DeserializeSeed::deserialize(reader, &mut source)?;
        source.end()?;
        Ok(part)
    }

    /// The document, or the part that begins at `from`, in the size.
    fn cut(&self, document: Part) -> Result<Value, String> {
        let Some(from) = &self.from else { return Ok(fit(&document, self.most, &Place::default())) };
        let mut part = document;
        let mut start = 0;
        for (index, name) in from.0.iter().enumerate() {
            let is_last = index + 1 == from.0.len();
            let number = name.parse().ok();
            let next = match part {
                Part::Object(fields) => fields.into_iter().find(|(field, _)| field == name).map(|(_, value)| value),
                Part::List { .. } | Part::Text { .. } if is_last => {
                    start = number.unwrap_or(0);
                    number.and_then(|number| part.rest(number))
                }
                Part::List { kept, .. } => number.and_then(|number| kept.into_iter().nth(number)),
                _ => None,
            };
            part = next.ok_or_else(|| {
                format!("the answer has nothing at {from}; its field {LEFT_OUT} has the places to continue at")
            })?;
        }
        let whole = if start > 0 { &from.0[..from.0.len() - 1] } else { &from.0[..] };
        let whole = Pointer(whole.to_vec()).to_string();
        Ok(fit(&part, self.most, &Place { from: Some(from.to_string()), whole, start }))
    }
}
