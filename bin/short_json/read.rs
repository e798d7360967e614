//! Reads a document of any size, and keeps what a short answer may contain.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The depth of a document up to which it is kept. `serde_json` refuses to read below 128 levels.
const MOST_LEVELS: usize = 100;
/// The number of values that are kept in lists: some MB. Later items are only counted.
pub(super) const MOST_PARTS: usize = 100_000;

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
}

impl Part {
    /// A list without its first items, or a text without its first characters. `None` if that leaves nothing, or if it is neither.
    pub(super) fn rest(self, start: usize) -> Option<Self> {
        match self {
            Self::List { mut kept, length } if start < kept.len() => {
                Some(Self::List { kept: kept.split_off(start), length: length - start })
            }
            Self::Text { kept, length } => {
                let (at, _) = kept.char_indices().nth(start)?;
                Some(Self::Text { kept: kept[at..].to_owned(), length: length - start })
            }
            _ => None,
        }
    }
}

/// Reads a value.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r> {
    /// The number of items of a list, or characters of a text, that are kept.
    pub(super) items: usize,
    /// The number of values that may still be kept in lists.
    pub(super) room: &'r Cell<usize>,
    pub(super) depth: usize,
}

impl Reader<'_> {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        match self.depth < MOST_LEVELS {
            true => deserializer.deserialize_any(self),
            false => IgnoredAny::deserialize(deserializer).map(|_| Part::TooDeep),
        }
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Part, E> {
        Ok(Part::Scalar(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Part, E> {
        Ok(Part::Scalar(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Part, E> {
        Ok(Part::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Part, E> {
        Ok(Part::Scalar(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Part, E> {
        Ok(Part::Scalar(Value::Null))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Text { kept: text.chars().take(self.items).collect(), length: text.chars().count() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Part, A::Error> {
        let (mut kept, mut length) = (Vec::new(), 0);
        while kept.len() < self.items && self.room.get() > 0 {
            let Some(part) = source.next_element_seed(self.below())? else {
                return Ok(Part::List { length: kept.len(), kept });
            };
            self.room.set(self.room.get().saturating_sub(1));
            kept.push(part);
        }
        while source.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(Part::List { length: length + kept.len(), kept })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Part, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = source.next_key()? {
            fields.push((name, source.next_value_seed(self.below())?));
        }
        Ok(Part::Object(fields))
    }
}
