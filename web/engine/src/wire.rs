//! The encoding of answers: JSON, followed by arrays.
//!
//! ```text
//! length of the head (u32) ─► head: JSON, padded with spaces so that 4 + its length is a multiple of 8 ─► the bytes of the arrays
//! ```
//!
//! The head is `{"ok": …}` or `{"refused": "sentence"}`. An array in it is `{"$f64": [place, count]}`, where the place is an offset in the bytes of
//! the arrays, a multiple of 8. Numbers from 2^53 on, which doubles cannot represent exactly, are `{"$big": "…"}`.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use ts_rs::{Config, TS};

/// A sentence with the reason why there is no answer.
#[derive(Clone, Debug)]
pub struct Refused(pub String);

thread_local! {
    /// The arrays of the answer being encoded.
    static ARRAYS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Encodes an answer.
pub(crate) fn encode(answer: Result<impl Serialize, Refused>) -> Vec<u8> {
    ARRAYS.with_borrow_mut(Vec::clear);
    let head = match &answer {
        Ok(value) => serde_json::to_vec(&Ok_ { ok: value }),
        Err(Refused(refused)) => serde_json::to_vec(&Refused_ { refused }),
    };
    let head =
        head.unwrap_or_else(|error| format!(r#"{{"refused": "the answer cannot be sent: {error}"}}"#).into_bytes());
    let padded = (4 + head.len()).next_multiple_of(8) - 4;
    let arrays = ARRAYS.take();
    let mut bytes = Vec::with_capacity(4 + padded + arrays.len());
    bytes.extend((padded as u32).to_le_bytes());
    bytes.extend(head);
    bytes.resize(4 + padded, b' ');
    bytes.extend(arrays);
    bytes
}

#[derive(serde::Serialize)]
struct Ok_<'v, V> {
    ok: &'v V,
}

#[derive(serde::Serialize)]
struct Refused_<'v> {
    refused: &'v str,
}

/// Adds an array to the answer, and serializes its place.
fn array<S: Serializer>(
    name: &'static str,
    bytes: impl Iterator<Item = u8>,
    count: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let place = ARRAYS.with_borrow_mut(|arrays| {
        let place = arrays.len().next_multiple_of(8);
        arrays.resize(place, 0);
        arrays.extend(bytes);
        place
    });
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(name, &[place, count])?;
    map.end()
}

macro_rules! array_type {
    ($name:ident, $number:ty, $tag:literal, $typescript:literal) => {
        #[doc = concat!("A `", $typescript, "`.")]
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name(pub(crate) Vec<$number>);

        impl FromIterator<$number> for $name {
            fn from_iter<I: IntoIterator<Item = $number>>(numbers: I) -> Self {
                Self(numbers.into_iter().collect())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                array($tag, self.0.iter().flat_map(|number| number.to_le_bytes()), self.0.len(), serializer)
            }
        }

        typescript!($name, $typescript);
    };
}

/// Defines the TypeScript name of a type.
macro_rules! typescript {
    ($name:ident, $typescript:literal) => {
        impl TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;

            fn name(_: &Config) -> String {
                $typescript.to_owned()
            }

            fn inline(_: &Config) -> String {
                $typescript.to_owned()
            }
        }
    };
}

array_type!(F64s, f64, "$f64", "Float64Array");
array_type!(F32s, f32, "$f32", "Float32Array");
array_type!(I32s, i32, "$i32", "Int32Array");
array_type!(U8s, u8, "$u8", "Uint8Array");

/// From this number on, not all integers are exact as doubles.
const INEXACT: u64 = 1 << 53;

/// Exact numbers: a `Float64Array`, or an array of numbers and bigints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column(pub(crate) Vec<u64>);

impl FromIterator<u64> for Column {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.len();
        if self.0.iter().all(|&number| number < INEXACT) {
            return array("$f64", self.0.iter().flat_map(|&number| (number as f64).to_le_bytes()), count, serializer);
        }
        array("$u64", self.0.iter().flat_map(|number| number.to_le_bytes()), count, serializer)
    }
}

typescript!(Column, "Column");

/// An exact number: a `number`, or from 2^53 on a `bigint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact(pub(crate) u128);

impl From<u64> for Exact {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 < INEXACT.into() {
            return serializer.serialize_u64(self.0 as u64);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("$big", &Cow::<str>::Owned(self.0.to_string()))?;
        map.end()
    }
}

typescript!(Exact, "Exact");
