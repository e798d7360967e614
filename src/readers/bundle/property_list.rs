//! Binary property lists (`bplist00`), read in place.
//!
//! ```text
//! "bplist00"  objects …  offset table  trailer
//! ```
//!
//! | part | bytes |
//! |---|---|
//! | object | a byte with the kind (upper half) and size (lower half; `F`: an integer object with the size follows), then its bytes |
//! | offset table | the offset of each object; the trailer contains the size of an offset |
//! | trailer | 5 unused, 1 sort version, 1 size of an offset, 1 size of a reference, u64 count of objects, u64 the top object, u64 offset of the offset table |
//!
//! Numbers are big-endian. Arrays and dictionaries refer to objects by index. Objects are read on demand and never expanded, so an object that is
//! shared a thousand times costs no more than one that is used once, and a list of many megabytes is not copied. A parser that builds a tree
//! cannot do this.

use std::borrow::Cow;

use crate::symbols::{Broken, broken};

const MAGIC: &[u8; 8] = b"bplist00";
const TRAILER_SIZE: usize = 32;

/// A property list with a valid offset table.
#[derive(Clone, Copy, Debug)]
pub(super) struct PropertyList<'a> {
    /// The bytes before the offset table.
    bytes: &'a [u8],
    // Each offset is within `bytes`, after the magic number.
    offsets: References<'a>,
    /// The size of a reference in arrays and dictionaries.
    reference_size: u8,
    /// The index of the top object.
    pub(super) top: u32,
}

/// An object of a property list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Object<'a> {
    Null,
    Boolean(bool),
    /// An integer. Sizes of 1, 2 and 4 bytes are unsigned; 8 and 16 bytes are signed.
    Integer(i128),
    /// A floating-point number of 4 or 8 bytes.
    Real(f64),
    /// Seconds since 2001-01-01T00:00:00Z.
    Date(f64),
    Data(&'a [u8]),
    /// An ASCII string.
    Ascii(&'a [u8]),
    /// A big-endian UTF-16 string.
    Utf16(&'a [u8]),
    /// A reference between the objects of a keyed archive.
    Uid(u64),
    /// An array or a set.
    Array(References<'a>),
    /// The keys and values of a dictionary; both have the same length.
    Dictionary(References<'a>, References<'a>),
}

impl<'a> PropertyList<'a> {
    /// Parses and checks the trailer and the offset table.
    pub(super) fn read(file: &'a [u8]) -> Result<Self, Broken> {
        if !file.starts_with(MAGIC) {
            return Err(broken(0, "property list", "it does not begin with bplist00"));
        }
        let Some((body, trailer)) = file.split_last_chunk::<TRAILER_SIZE>() else {
            return Err(broken(0, "property list", format_args!("{:#x} bytes are too few for a trailer", file.len())));
        };
        let at = body.len();
        let (offset_size, reference_size) = (trailer[6], trailer[7]);
        if !(1..=8).contains(&offset_size) || !(1..=8).contains(&reference_size) {
            let rule =
                format_args!("offsets have {offset_size} bytes, and references {reference_size}; expected 1 to 8");
            return Err(broken(at, "trailer", rule));
        }
        let [count, top, table] = [8, 16, 24].map(|field| unsigned(&trailer[field..field + 8]));
        if top >= count || count > u64::from(u32::MAX) {
            return Err(broken(
                at,
                "trailer",
                format_args!("the top object {top} does not exist; there are {count} objects"),
            ));
        }
        let end = count.checked_mul(u64::from(offset_size)).and_then(|size| size.checked_add(table));
        if table < MAGIC.len() as u64 || end.is_none_or(|end| end > at as u64) {
            let rule = format_args!("an offset table of {count} objects at {table:#x} does not end before the trailer");
            return Err(broken(at, "trailer", rule));
        }
        let (bytes, offsets) = body.split_at(table as usize);
        let offsets = References { bytes: &offsets[..count as usize * usize::from(offset_size)], size: offset_size };
        let is_outside = |offset: u64| !(MAGIC.len() as u64..table).contains(&offset);
        if let Some(index) = offsets.iter().position(is_outside) {
            let offset = offsets.get(index).unwrap_or_default();
            let rule = format_args!("it is {offset:#x}, and objects are between 0x8 and {table:#x}");
            return Err(broken(bytes.len() + index * usize::from(offset_size), format_args!("offset {index}"), rule));
        }
        Ok(Self { bytes, offsets, reference_size, top: top as u32 })
    }

    /// The total size of its objects in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The offset of an object; 0 if it does not exist.
    pub(super) fn offset(&self, index: u32) -> usize {
        self.offsets.get(index as usize).unwrap_or_default() as usize
    }

    /// Reads an object, but not the objects that it refers to.
    pub(super) fn object(&self, index: u64) -> Result<Object<'a>, Broken> {
        let Some(offset) = usize::try_from(index).ok().and_then(|index| self.offsets.get(index)) else {
            let rule = format_args!("object {index} does not exist; there are {}", self.offsets.len());
            return Err(broken(self.bytes.len(), "offset table", rule));
        };
        let mut reader = ObjectReader { bytes: self.bytes, start: offset as usize, at: offset as usize };
        reader.object(self.reference_size)
    }
}

/// A sequence of equally sized numbers: references to objects, or their offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct References<'a> {
    bytes: &'a [u8],
    size: u8,
}

impl References<'_> {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.size)
    }

    pub(super) fn get(&self, index: usize) -> Option<u64> {
        let size = usize::from(self.size);
        let at = index.checked_mul(size)?;
        self.bytes.get(at..at.checked_add(size)?).map(unsigned)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = u64> {
        self.bytes.chunks_exact(usize::from(self.size)).map(unsigned)
    }
}

/// Parses one object.
struct ObjectReader<'a> {
    bytes: &'a [u8],
    /// The start of the object, for messages.
    start: usize,
    at: usize,
}

impl<'a> ObjectReader<'a> {
    fn object(&mut self, reference_size: u8) -> Result<Object<'a>, Broken> {
        let marker = self.take(1)?[0];
        let low = marker & 0xf;
        Ok(match marker >> 4 {
            0x0 if low == 0 => Object::Null,
            0x0 if low == 8 || low == 9 => Object::Boolean(low == 9),
            0x1 if low <= 4 => Object::Integer(signed(self.take(1 << low)?)),
            0x2 if low == 2 => Object::Real(f32::from_bits(unsigned(self.take(4)?) as u32).into()),
            0x2 if low == 3 => Object::Real(f64::from_bits(unsigned(self.take(8)?))),
            0x3 if low == 3 => Object::Date(f64::from_bits(unsigned(self.take(8)?))),
            0x4 => Object::Data(self.sized(low, 1)?),
            0x5 => match self.sized(low, 1)? {
                text if text.is_ascii() => Object::Ascii(text),
                _ => return Err(broken(self.start, "object", "it is an ASCII string, but contains other bytes")),
            },
            0x6 => Object::Utf16(self.sized(low, 2)?),
            0x8 if low < 8 => Object::Uid(unsigned(self.take(u64::from(low) + 1)?)),
            // An array, an ordered set or a set.
            0xa..=0xc => Object::Array(References { bytes: self.sized(low, reference_size)?, size: reference_size }),
            0xd => {
                let both = self.sized(low, 2 * reference_size)?;
                let (keys, values) = both.split_at(both.len() / 2);
                let references = |bytes| References { bytes, size: reference_size };
                Object::Dictionary(references(keys), references(values))
            }
            _ => return Err(broken(self.start, "object", format_args!("{marker:#04x} is not an object type"))),
        })
    }

    /// Returns the bytes of an object with elements of `size` bytes. The lower half of the marker is the number of elements.
    fn sized(&mut self, low: u8, size: u8) -> Result<&'a [u8], Broken> {
        let count = if low < 0xf { u64::from(low) } else { self.count()? };
        self.take(count.saturating_mul(u64::from(size)))
    }

    /// Reads a size that does not fit in the marker.
    fn count(&mut self) -> Result<u64, Broken> {
        let marker = self.take(1)?[0];
        if !(0x10..=0x13).contains(&marker) {
            return Err(broken(
                self.start,
                "object",
                format_args!("its size is {marker:#04x}, which is not an integer"),
            ));
        }
        Ok(unsigned(self.take(1 << (marker & 0xf))?))
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8], Broken> {
        let rest = &self.bytes[self.at..];
        if size > rest.len() as u64 {
            let rule = format_args!("{size:#x} bytes are more than the {:#x} that are left", rest.len());
            return Err(broken(self.start, "object", rule));
        }
        self.at += size as usize;
        Ok(&rest[..size as usize])
    }
}

impl<'a> Object<'a> {
    /// Decodes a string, replacing invalid characters with U+FFFD.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Ascii(bytes) => Some(String::from_utf8_lossy(bytes)),
            Self::Utf16(bytes) => {
                let units = bytes.as_chunks().0.iter().map(|&unit| u16::from_be_bytes(unit));
                let decoded = char::decode_utf16(units);
                Some(decoded.map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
            }
            _ => None,
        }
    }
}

/// Decodes a big-endian number of at most 8 bytes.
fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Decodes an integer object: 1, 2 and 4 bytes are unsigned, the other sizes are signed.
fn signed(bytes: &[u8]) -> i128 {
    match bytes.len() {
        8 => i128::from(unsigned(bytes) as i64),
        _ => bytes.iter().fold(0, |number, &byte| number << 8 | i128::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use plist::Value;
    use proptest::prelude::*;

    use super::*;

    fn written(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.to_writer_binary(&mut bytes).unwrap();
        bytes
    }

    /// Expands an object completely, to compare it with the result of the `plist` crate.
    fn expanded(list: &PropertyList<'_>, index: u64) -> Value {
        let all = |references: References<'_>| references.iter().map(|index| expanded(list, index)).collect::<Vec<_>>();
        match list.object(index).unwrap() {
            Object::Boolean(is_true) => Value::Boolean(is_true),
            Object::Integer(number) => match i64::try_from(number) {
                Ok(number) => Value::Integer(number.into()),
                Err(_) => Value::Integer(u64::try_from(number).unwrap().into()),
            },
            Object::Real(number) => Value::Real(number),
            Object::Data(bytes) => Value::Data(bytes.to_vec()),
            string @ (Object::Ascii(_) | Object::Utf16(_)) => Value::String(string.text().unwrap().into_owned()),
            Object::Uid(uid) => Value::Uid(plist::Uid::new(uid)),
            Object::Array(items) => Value::Array(all(items)),
            Object::Dictionary(keys, values) => {
                let keys = all(keys).into_iter().map(|key| key.into_string().unwrap());
                Value::Dictionary(keys.zip(all(values)).collect())
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(|number| Value::Integer(number.into())),
            any::<u64>().prop_map(|number| Value::Integer(number.into())),
            (0_u64..70_000).prop_map(|number| Value::Integer(number.into())),
            any::<f64>().prop_filter("equal to itself", |number| !number.is_nan()).prop_map(Value::Real),
            prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Data),
            "[ -~]{0,20}".prop_map(Value::String),
            any::<String>().prop_map(Value::String),
            any::<u64>().prop_map(|uid| Value::Uid(plist::Uid::new(uid))),
        ];
        leaf.prop_recursive(4, 300, 20, |inner| {
            let named = (any::<String>(), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..20).prop_map(Value::Array),
                prop::collection::vec(named, 0..20).prop_map(|pairs| Value::Dictionary(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_another_crate_writes(value in values()) {
            let bytes = written(&value);
            let list = PropertyList::read(&bytes).unwrap();
            prop_assert_eq!(expanded(&list, list.top.into()), value);
        }

        #[test]
        fn no_mutation_is_more_than_an_error(
            value in values(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            in_trailer in any::<bool>(),
        ) {
            let mut bytes = written(&value);
            for (place, byte) in changes {
                let room = if in_trailer { TRAILER_SIZE } else { bytes.len() };
                let at = bytes.len() - room + place.index(room);
                bytes[at] = byte;
            }
            if let Ok(list) = PropertyList::read(&bytes) {
                for index in 0..list.offsets.len() as u64 {
                    let _ = list.object(index).map(|object| object.text().map(|text| text.len()));
                }
            }
        }
    }

    #[test]
    fn kinds_that_others_do_not_write_are_read() {
        // Null, a 4-byte float, a date, a 16-byte integer, and a set that contains object 0.
        let objects: [&[u8]; 5] = [
            &[0x00],
            &[0x22, 0x3f, 0xc0, 0, 0],
            &[0x33, 0x40, 0, 0, 0, 0, 0, 0, 0],
            &[0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
            &[0xc1, 0],
        ];
        let mut bytes = MAGIC.to_vec();
        let offsets: Vec<u8> = objects.iter().map(|object| (bytes.len() as u8, bytes.extend(*object)).0).collect();
        let table = bytes.len() as u8;
        bytes.extend(&offsets);
        bytes.extend([
            0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, table,
        ]);
        let list = PropertyList::read(&bytes).unwrap();
        assert_eq!(list.object(0), Ok(Object::Null));
        assert_eq!(list.object(1), Ok(Object::Real(1.5)));
        assert_eq!(list.object(2), Ok(Object::Date(2.0)));
        assert_eq!(list.object(3), Ok(Object::Integer(0xffff_ffff_ffff_fffe)));
        let Ok(Object::Array(set)) = list.object(list.top.into()) else { unreachable!() };
        assert_eq!((set.len(), set.get(0), set.get(1)), (1, Some(0), None));
    }

    #[test]
    fn what_is_broken_is_told_with_its_offset() {
        let bytes = written(&Value::Array(vec![Value::Integer(1.into())]));
        let error = |bytes: &[u8]| PropertyList::read(bytes).unwrap_err();
        assert_eq!(error(b"bplist00").to_string(), "property list at 0x0: 0x8 bytes are too few for a trailer");
        assert_eq!(error(b"<?xml").at, 0);
        let trailer = bytes.len() - TRAILER_SIZE;
        let changed = |at: usize, byte: u8| {
            let mut changed = bytes.clone();
            changed[at] = byte;
            changed
        };
        assert_eq!(error(&changed(trailer + 6, 9)).at, trailer as u64, "size of offsets");
        assert_eq!(error(&changed(trailer + 15, 200)).at, trailer as u64, "more objects than offsets");
        assert_eq!(error(&changed(trailer + 23, 2)).at, trailer as u64, "a top object that is not there");
        assert_eq!(error(&changed(trailer + 31, 3)).at, trailer as u64, "an offset table in the magic");
        assert_eq!(error(&changed(trailer - 1, 7)).at, trailer as u64 - 1, "an offset in the magic");
        let longer = changed(8, 0xae);
        let list = PropertyList::read(&longer).unwrap();
        let told = "object at 0x8: 0xe bytes are more than the 0x3 that are left";
        assert_eq!(list.object(0).unwrap_err().to_string(), told);
        assert_eq!(list.object(2).unwrap_err().at, trailer as u64 - 2, "a reference to no object");
    }
}
