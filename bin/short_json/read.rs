//! Reads a document of any size, and keeps what a short answer may contain.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The depth of a document up to which it is kept. `serde_json` refuses to read below 128 levels.
const MOST_LEVELS: usize = 100;
/// The longest text of an answer that is not complete.
pub(super) const LONGEST_TEXT: usize = 240;
/// The number of items that are kept in all lists: some MB. Later items are only counted.
const MOST_ITEMS: usize = 100_000;

/// A value, of which only the beginning is kept.
#[derive(Debug)]
pub(super) enum Part {
    Scalar(Value),
    Text {
        kept: String,
        length: usize,
    },
    List {
        kept: Vec<Part>,
        length: usize,
    },
    Object(Vec<(String, Part)>),
    /// A list or an object below the last level.
    TooDeep,
    /// Nothing is at the requested place.
    Missing,
}

/// What may still be kept.
#[derive(Debug)]
pub(super) struct Room {
    items: Cell<usize>,
    /// Characters of texts. After so many, the document cannot fit as a whole, so the beginnings of texts are enough.
    text: Cell<usize>,
    is_rest: Cell<bool>,
}

impl Room {
    pub(super) fn new(most: usize) -> Self {
        Self { items: Cell::new(MOST_ITEMS), text: Cell::new(most), is_rest: Cell::new(false) }
    }

    /// True if the requested place is within a list or a text.
    pub(super) fn is_rest(&self) -> bool {
        self.is_rest.get()
    }
}

/// Reads a value.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r> {
    /// Where the part that is read is, in the value.
    pub(super) path: &'r [String],
    /// The size of the answer.
    pub(super) most: usize,
    pub(super) room: &'r Room,
    pub(super) depth: usize,
}

impl<'r> Reader<'r> {
    fn below(self, path: &'r [String]) -> Self {
        Self { path, depth: self.depth + 1, ..self }
    }

    fn scalar(self, value: impl Into<Value>) -> Part {
        if self.path.is_empty() { Part::Scalar(value.into()) } else { Part::Missing }
    }

    /// The number of the first item or character that is read, and the path below it. `None` if the path has no number.
    fn start(self) -> Option<(usize, &'r [String])> {
        match self.path {
            [] => Some((0, &[])),
            [number, below @ ..] => Some((number.parse().ok()?, below)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        match self.depth < MOST_LEVELS {
            true => deserializer.deserialize_any(self),
            false => {
                let part = if self.path.is_empty() { Part::TooDeep } else { Part::Missing };
                IgnoredAny::deserialize(deserializer).map(|_| part)
            }
        }
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Part, E> {
        Ok(self.scalar(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Part, E> {
        Ok(self.scalar(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Part, E> {
        Ok(self.scalar(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Part, E> {
        Ok(self.scalar(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Part, E> {
        Ok(self.scalar(Value::Null))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Part, E> {
        let Some((start, [])) = self.start() else { return Ok(Part::Missing) };
        let most = if self.room.text.get() > 0 || !self.path.is_empty() { self.most } else { LONGEST_TEXT };
        let kept: String = text.chars().skip(start).take(most).collect();
        if !self.path.is_empty() {
            self.room.is_rest.set(true);
            if kept.is_empty() {
                return Ok(Part::Missing);
            }
        }
        self.room.text.set(self.room.text.get().saturating_sub(kept.len()));
        Ok(Part::Text { kept, length: text.chars().count() - start })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Part, A::Error> {
        let (start, below) = self.start().unwrap_or((usize::MAX, &[]));
        for _ in 0..start {
            if source.next_element::<IgnoredAny>()?.is_none() {
                return Ok(Part::Missing);
            }
        }
        if !below.is_empty() {
            let item = source.next_element_seed(self.below(below))?;
            while source.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(item.unwrap_or(Part::Missing));
        }
        let (mut kept, mut more) = (Vec::new(), 0);
        while kept.len() < self.most && self.room.items.get() > 0 {
            let Some(part) = source.next_element_seed(self.below(&[]))? else { break };
            self.room.items.set(self.room.items.get().saturating_sub(1));
            kept.push(part);
        }
        while source.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        if !self.path.is_empty() {
            self.room.is_rest.set(true);
            if kept.is_empty() {
                return Ok(Part::Missing);
            }
        }
        Ok(Part::List { length: kept.len() + more, kept })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Part, A::Error> {
        let Some((wanted, below)) = self.path.split_first() else {
            let mut fields = Vec::new();
            while let Some(name) = source.next_key()? {
                fields.push((name, source.next_value_seed(self.below(&[]))?));
            }
            return Ok(Part::Object(fields));
        };
        let mut found = Part::Missing;
        while let Some(name) = source.next_key::<String>()? {
            if name == *wanted {
                found = source.next_value_seed(self.below(below))?;
            } else {
                source.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
