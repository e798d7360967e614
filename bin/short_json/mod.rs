//! Short JSON: a document cut to a number of bytes, for agents.
//!
//! Lists keep their first items, which are the most important ones, and texts their beginning. What is left out is counted, each count at the place
//! where `--from` continues. Even a large document takes little memory: what cannot be needed is dropped while it is written.

use std::io::{self, BufReader, Read, Write};

use anyhow::{Result, anyhow, bail};
use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_json::de::{Deserializer, IoRead};

mod cut;
mod pointer;
mod read;

use cut::{Place, fit};
use pointer::LEFT_OUT;
pub(crate) use pointer::Pointer;
use read::{Part, Reader, Room};

/// The least size: the fields that every document has, and counts.
pub(crate) const LEAST_BYTES: usize = 1000;

/// How a document is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    /// The maximum size of the result, in bytes.
    pub(crate) most: usize,
    /// Where to continue; `None` for the beginning.
    pub(crate) from: Option<Pointer>,
}

impl Short {
    /// Returns the beginning, or another part, of the document that `write` writes.
    pub(crate) fn shorten(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Value> {
        let (source, mut sink) = io::pipe()?;
        let (written, read) = std::thread::scope(|scope| {
            let read = scope.spawn(move || self.read(source));
            let written = write(&mut sink).and_then(|()| sink.flush());
            drop(sink);
            (written, read.join().unwrap_or_else(|_| Err(anyhow!("the answer cannot be cut"))))
        });
        match written {
            // The reader failed first, and closed the pipe.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
            _ => {}
        }
        let (part, place) = read?;
        let value = fit(&part, self.most, &place);
        if value.to_string().len() > self.most {
            bail!(
                "the answer does not fit into {} bytes: pass a larger --max-size, or select less, such as fewer columns",
                self.most
            );
        }
        Ok(value)
    }

    /// Reads as much of a document, or of the part at `from`, as can be needed.
    fn read(&self, source: impl Read) -> Result<(Part, Place)> {
        let path = self.from.as_ref().map_or(&[][..], |from| &from.0);
        let room = Room::new(self.most);
        let reader = Reader { path, most: self.most, room: &room, depth: 0 };
        let mut source = Deserializer::new(IoRead::new(BufReader::with_capacity(64 << 10, source)));
        let part = reader.deserialize(&mut source)?;
        source.end()?;
        let Some(from) = &self.from else { return Ok((part, Place::default())) };
        if matches!(part, Part::Missing) {
            bail!("the answer has nothing at {from}; its field {LEFT_OUT} has the places to continue at");
        }
        // `/functions/5` is the rest of `/functions`.
        let start = if room.is_rest() { path.last().and_then(|number| number.parse().ok()) } else { None };
        let whole = &path[..path.len() - usize::from(start.is_some())];
        let whole = Pointer(whole.to_vec()).to_string();
        Ok((part, Place { from: Some(from.to_string()), whole, start: start.unwrap_or(0) }))
    }
}
