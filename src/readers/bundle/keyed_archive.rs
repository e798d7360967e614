//! Keyed archives: object graphs that `NSKeyedArchiver` writes as binary property lists.
//!
//! ```text
//! {$archiver: NSKeyedArchiver, $version: 100000, $top: {root: →1}, $objects: [
//!   0: $null
//!   1: {$class: →3, name: →2, count: 7}       an object: its fields, by reference or inline
//!   2: "Finder"
//!   3: {$classname: Subject, $classes: […]} ]}
//! ```
//!
//! Collections are objects too: `{NS.keys: […], NS.objects: […]}`, `{NS.objects: […]}`, `{NS.object.0: …}`. A [`Node`] is one object, decoded on
//! demand, with all references followed. Object 0 is nil: it has no fields, items, text or number, and reading them is not an error. Any other
//! object of an unexpected shape is an error.
//!
//! An archive can refer to one object a million times, and each copy takes memory. Real archives rarely share long objects, so the data copied
//! out of an archive is limited to a few times its size.

use std::borrow::Cow;
use std::cell::Cell;

use super::property_list::{Object, PropertyList, References};
use crate::symbols::{Broken, broken};
use crate::units::Uuid;

/// References usually lead directly to an object. A longer chain is treated as a cycle.
const MAX_HOPS: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct KeyedArchive<'a> {
    pub(super) list: PropertyList<'a>,
    /// `$objects`.
    objects: References<'a>,
    /// The keys and values of `$top`.
    top: (References<'a>, References<'a>),
    /// The remaining number of objects that may be visited.
    steps: Cell<u64>,
}

/// The number of visits allowed per byte of the archive. Reading a real archive visits each object about once. Without a limit, many references
/// to one large object would make the work quadratic in the file size.
const STEPS: u64 = 8;
/// Visits allowed regardless of the archive's size.
const FREE_STEPS: u64 = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) archive: &'a KeyedArchive<'a>,
    /// Index of the object in the property list; references have been followed.
    index: u32,
}

impl<'a> KeyedArchive<'a> {
    /// Parses the archive's `$objects` and `$top`.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Broken> {
        let list = PropertyList::read(bytes)?;
        let at = list.offset(list.top);
        let Object::Dictionary(keys, values) = list.object(list.top.into())? else {
            return Err(broken(at, "keyed archive", "it is not a dictionary"));
        };
        let part = |name: &str| match find(&list, keys, values, name)? {
            Some(index) => list.object(index),
            None => Err(broken(at, "keyed archive", format_args!("it has no {name}"))),
        };
        let Object::Array(objects) = part("$objects")? else {
            return Err(broken(at, "keyed archive", "its $objects are not an array"));
        };
        let Object::Dictionary(top_keys, top_values) = part("$top")? else {
            return Err(broken(at, "keyed archive", "its $top is not a dictionary"));
        };
        let steps = Cell::new(STEPS * list.size() as u64 + FREE_STEPS);
        Ok(Self { list, objects, top: (top_keys, top_values), steps })
    }

    /// The size of its objects in bytes.
    pub(super) fn size(&self) -> usize {
        self.list.size()
    }

    /// Returns the top-level object with this name, such as `root`.
    pub(super) fn top(&'a self, name: &str) -> Result<Option<Node<'a>>, Broken> {
        find(&self.list, self.top.0, self.top.1, name)?.map(|index| self.node(index)).transpose()
    }

    /// Charges visited objects against the limit.
    pub(super) fn step(&self, count: usize) -> Result<(), Broken> {
        let left = self.steps.get().checked_sub(count as u64);
        let rule = "its objects refer to each other so often that reading them would never end";
        self.steps.set(left.ok_or_else(|| broken(self.list.offset(self.list.top), "keyed archive", rule))?);
        Ok(())
    }

    /// Returns the object at an index of the property list, following references.
    pub(super) fn node(&'a self, mut index: u64) -> Result<Node<'a>, Broken> {
        self.step(1)?;
        for _ in 0..MAX_HOPS {
            let object = self.list.object(index)?;
            // Reading the object has shown that the index fits 32 bits.
            let here = index as u32;
            let Object::Uid(uid) = object else {
                return Ok(Node { archive: self, index: here });
            };
            let referred = usize::try_from(uid).ok().and_then(|uid| self.objects.get(uid));
            index = referred.ok_or_else(|| {
                let rule = format_args!("it refers to {uid} of {} objects", self.objects.len());
                broken(self.list.offset(here), "reference", rule)
            })?;
        }
        Err(broken(self.list.offset(index as u32), "reference", format_args!("more than {MAX_HOPS} in a row")))
    }

    pub(super) fn nodes(&'a self, references: References<'a>) -> Result<Vec<Node<'a>>, Broken> {
        self.step(references.len())?;
        references.iter().map(|index| self.node(index)).collect()
    }
}

/// Finds the index of a value in a dictionary by name. Checks all names: a duplicate, or a name that is not a string, could hide the requested value.
pub(super) fn find(
    list: &PropertyList<'_>,
    keys: References<'_>,
    values: References<'_>,
    name: &str,
) -> Result<Option<u64>, Broken> {
    let mut found = None;
    for (key, value) in keys.iter().zip(values.iter()) {
        // Reading the key has shown that the index fits 32 bits.
        let at = |key| list.offset(key as u32);
        match list.object(key)? {
            Object::Ascii(bytes) if bytes == name.as_bytes() => {
                if found.replace(value).is_some() {
                    return Err(broken(at(key), "dictionary", format_args!("it has {name} twice")));
                }
            }
            Object::Ascii(_) | Object::Utf16(_) => {}
            _ => return Err(broken(at(key), "dictionary", "one of its names is not a string")),
        }
    }
    Ok(found)
}

impl<'a> Node<'a> {
    /// Returns an error with this object's position: "`what` at 0x1c0: `rule`".
    pub(super) fn broken(self, what: impl std::fmt::Display, rule: impl std::fmt::Display) -> Broken {
        broken(self.archive.list.offset(self.index), what, rule)
    }

    pub(super) fn is_nil(self) -> bool {
        self.archive.objects.get(0) == Some(u64::from(self.index))
    }

    /// The name of its class; `None` for objects without a class, such as inline strings and numbers.
    pub(super) fn class_name(self) -> Result<Option<Cow<'a, str>>, Broken> {
        let Object::Dictionary(..) = self.object()? else {
            return Ok(None);
        };
        let Some(class) = self.field("$class")? else {
            return Ok(None);
        };
        class.field("$classname")?.map_or(Ok(None), Node::text)
    }

    /// Returns the field with this name.
    pub(super) fn field(self, name: &str) -> Result<Option<Node<'a>>, Broken> {
        match self.object()? {
            Object::Dictionary(keys, values) => {
                self.archive.step(keys.len())?;
                find(&self.archive.list, keys, values, name)?.map(|index| self.archive.node(index)).transpose()
            }
            _ if self.is_nil() => Ok(None),
            other => Err(self.unlike("an object with fields", other)),
        }
    }

    /// A string; `None` for nil.
    pub(super) fn text(self) -> Result<Option<Cow<'a, str>>, Broken> {
        self.read(self.value("NS.string")?, "a string", |object| object.text())
    }

    /// Bytes; `None` for nil.
    pub(super) fn data(self) -> Result<Option<&'a [u8]>, Broken> {
        self.read(self.value("NS.data")?, "data", as_data)
    }

    /// A UUID; `None` for nil.
    pub(super) fn uuid(self) -> Result<Option<Uuid>, Broken> {
        let bytes = self.read(self.value("NS.uuidbytes")?, "a UUID", as_data)?;
        let uuid = |bytes: &[u8]| match bytes.try_into() {
            Ok(bytes) => Ok(Uuid::from_bytes(bytes)),
            Err(_) => Err(self.broken("UUID", format_args!("it has {} bytes, not 16", bytes.len()))),
        };
        bytes.map(uuid).transpose()
    }

    /// An integer; `None` for nil.
    pub(super) fn integer(self) -> Result<Option<i64>, Broken> {
        self.whole("a 64-bit integer")
    }

    /// A non-negative integer; `None` for nil.
    pub(super) fn number(self) -> Result<Option<u64>, Broken> {
        self.whole("a non-negative 64-bit integer")
    }

    fn whole<N: TryFrom<i128>>(self, what: &str) -> Result<Option<N>, Broken> {
        let integer = |object| if let Object::Integer(number) = object { Some(number) } else { None };
        let in_range = |number: i128| {
            let rule = format_args!("{what} was expected, and {number} was found");
            N::try_from(number).map_err(|_| self.broken("object", rule))
        };
        self.read(self.object()?, what, integer)?.map(in_range).transpose()
    }

    /// Any number; `None` for nil.
    pub(super) fn real(self) -> Result<Option<f64>, Broken> {
        self.read(self.object()?, "a number", |object| match object {
            Object::Real(number) => Some(number),
            Object::Integer(number) => Some(number as f64),
            _ => None,
        })
    }

    /// A boolean; `None` for nil.
    pub(super) fn boolean(self) -> Result<Option<bool>, Broken> {
        let boolean = |object| if let Object::Boolean(is_true) = object { Some(is_true) } else { None };
        self.read(self.object()?, "true or false", boolean)
    }

    /// Converts an object with `content`, and fails if it does not have the `expected` kind. `None` for nil.
    fn read<T>(
        self,
        object: Object<'a>,
        expected: &str,
        content: impl Fn(Object<'a>) -> Option<T>,
    ) -> Result<Option<T>, Broken> {
        match content(object) {
            _ if self.is_nil() => Ok(None),
            None => Err(self.unlike(expected, object)),
            content => Ok(content),
        }
    }

    /// If the object has fields, returns the content of this field if present; otherwise returns the object itself.
    fn value(self, field: &str) -> Result<Object<'a>, Broken> {
        let object = self.object()?;
        match object {
            Object::Dictionary(..) => self.field(field)?.map_or(Ok(object), Node::object),
            _ => Ok(object),
        }
    }

    pub(super) fn object(self) -> Result<Object<'a>, Broken> {
        self.archive.list.object(self.index.into())
    }

    /// Error for an object of an unexpected kind.
    pub(super) fn unlike(self, expected: &str, found: Object<'_>) -> Broken {
        let found = match found {
            Object::Null => "nothing",
            Object::Boolean(_) => "true or false",
            Object::Integer(_) => "a whole number",
            Object::Real(_) => "a number",
            Object::Date(_) => "a date",
            Object::Data(_) => "data",
            Object::Ascii(_) | Object::Utf16(_) => "a string",
            Object::Uid(_) => "a reference",
            Object::Array(_) => "an array",
            Object::Dictionary(..) => "an object",
        };
        self.broken("object", format_args!("{expected} was expected, and {found} was found"))
    }
}

fn as_data<'a>(object: Object<'a>) -> Option<&'a [u8]> {
    if let Object::Data(bytes) = object { Some(bytes) } else { None }
}
