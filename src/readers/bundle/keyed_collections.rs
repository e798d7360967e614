//! Lists and dictionaries in keyed archives. Several classes store them, and all are read through one interface.

use super::keyed_archive::{Node, find};
use super::property_list::{Object, References};
use crate::symbols::Broken;

/// The kind of an object, which decides which method can read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// [`Node::boolean`].
    Boolean,
    /// [`Node::integer`], [`Node::number`].
    Integer,
    /// [`Node::real`].
    Real,
    /// [`Node::text`].
    Text,
    /// [`Node::items`].
    List,
    /// Another method, or none, can read it.
    Other,
}

impl<'a> Node<'a> {
    pub(super) fn kind(self) -> Result<Kind, Broken> {
        Ok(match self.object()? {
            _ if self.is_nil() => Kind::Other,
            Object::Boolean(_) => Kind::Boolean,
            Object::Integer(_) => Kind::Integer,
            Object::Real(_) | Object::Date(_) => Kind::Real,
            Object::Ascii(_) | Object::Utf16(_) => Kind::Text,
            Object::Array(_) => Kind::List,
            // `Uid` cannot occur, since references have been followed.
            Object::Null | Object::Data(_) | Object::Uid(_) => Kind::Other,
            Object::Dictionary(keys, _) => self.kind_of_fields(keys)?,
        })
    }

    fn kind_of_fields(self, keys: References<'a>) -> Result<Kind, Broken> {
        self.archive.step(keys.len())?;
        let has = |name| Ok::<_, Broken>(find(&self.archive.list, keys, keys, name)?.is_some());
        Ok(if has("NS.keys")? {
            Kind::Other
        } else if has("NS.objects")? || has("NS.object.0")? {
            Kind::List
        } else if has("NS.string")? {
            Kind::Text
        } else if !has("NS.data")? && self.is_ordered_set()? {
            Kind::List
        } else {
            Kind::Other
        })
    }

    /// True for an ordered set, which may be empty.
    fn is_ordered_set(self) -> Result<bool, Broken> {
        Ok(self.class_name()?.is_some_and(|name| name.ends_with("OrderedSet")))
    }

    /// The items of an array, a set or an ordered set.
    pub(super) fn items(self) -> Result<Vec<Node<'a>>, Broken> {
        match self.object()? {
            Object::Array(references) => self.archive.nodes(references),
            Object::Dictionary(keys, values) => match self.list("NS.objects", keys, values)? {
                Some(references) => self.archive.nodes(references),
                None => self.ordered_items(keys, values),
            },
            _ if self.is_nil() => Ok(Vec::new()),
            other => Err(self.unlike("a list", other)),
        }
    }

    /// The items of an ordered set: `NS.object.0`, `NS.object.1` …
    fn ordered_items(self, keys: References<'a>, values: References<'a>) -> Result<Vec<Node<'a>>, Broken> {
        let numbered = self.numbered(keys, values, b"NS.object.")?;
        let is_set = !numbered.is_empty() || self.is_ordered_set()?;
        if !is_set {
            return Err(self.broken("object", "expected a list, but NS.objects is missing"));
        }
        if let Some((at, _)) = numbered.iter().enumerate().find(|(at, (number, _))| *at as u64 != *number) {
            return Err(self.broken("ordered set", format_args!("it has no NS.object.{at}")));
        }
        numbered.into_iter().map(|(_, index)| self.archive.node(index)).collect()
    }

    /// The entries of a dictionary. It stores either `NS.keys` and `NS.objects` or, for integer keys, `$0` for the count, `$1` for a key, `$2`
    /// for its value, and so on.
    pub(super) fn entries(self) -> Result<Vec<(Node<'a>, Node<'a>)>, Broken> {
        let (keys, values) = match self.object()? {
            Object::Dictionary(keys, values) => (keys, values),
            _ if self.is_nil() => return Ok(Vec::new()),
            other => return Err(self.unlike("a dictionary", other)),
        };
        match (self.list("NS.keys", keys, values)?, self.list("NS.objects", keys, values)?) {
            (Some(keys), Some(values)) if keys.len() == values.len() => {
                self.archive.step(keys.len())?;
                let pairs = keys.iter().zip(values.iter());
                pairs.map(|(key, value)| Ok((self.archive.node(key)?, self.archive.node(value)?))).collect()
            }
            (Some(keys), Some(values)) => {
                let rule = format_args!("it has {} keys and {} values", keys.len(), values.len());
                Err(self.broken("dictionary", rule))
            }
            (None, None) if self.is_integer_keyed()? => self.integer_keyed_entries(keys, values),
            _ => Err(self.broken("object", "expected a dictionary, but NS.keys or NS.objects is missing")),
        }
    }

    /// Looks up a name in a dictionary, or returns the field with this name of any other object.
    pub(super) fn member(self, name: &str) -> Result<Option<Node<'a>>, Broken> {
        let is_dictionary = !self.is_nil() && self.field("NS.keys")?.is_some();
        if !is_dictionary {
            return self.field(name);
        }
        let is_named = |key: Node<'a>| Ok(key.kind()? == Kind::Text && key.text()?.is_some_and(|text| text == name));
        let mut found = None;
        for (key, value) in self.entries()? {
            if is_named(key)? && found.replace(value).is_some() {
                return Err(self.broken("dictionary", format_args!("it has {name} twice")));
            }
        }
        Ok(found)
    }

    fn is_integer_keyed(self) -> Result<bool, Broken> {
        Ok(self.class_name()?.is_some_and(|name| name == "XRIntKeyedDictionary"))
    }

    fn integer_keyed_entries(
        self,
        keys: References<'a>,
        values: References<'a>,
    ) -> Result<Vec<(Node<'a>, Node<'a>)>, Broken> {
        let numbered = self.numbered(keys, values, b"$")?;
        let Some((&(0, count), fields)) = numbered.split_first() else {
            return Err(self.broken("dictionary of integers", "it has no count in $0"));
        };
        let count = self.archive.node(count)?.number()?;
        let is_in_order = fields.iter().enumerate().all(|(at, (number, _))| at as u64 + 1 == *number);
        if !is_in_order || count.and_then(|count| count.checked_mul(2)) != Some(fields.len() as u64) {
            let rule = format_args!("{} keys and values do not match {count:?} entries", fields.len());
            return Err(self.broken("dictionary of integers", rule));
        }
        let pairs = fields.as_chunks::<2>().0.iter();
        pairs.map(|&[(_, key), (_, value)]| Ok((self.archive.node(key)?, self.archive.node(value)?))).collect()
    }

    /// Finds the fields named `prefix` plus a number. Returns these numbers with the indices of the values, sorted by number.
    fn numbered(self, keys: References<'a>, values: References<'a>, prefix: &[u8]) -> Result<Vec<(u64, u64)>, Broken> {
        self.archive.step(keys.len())?;
        let mut numbered = Vec::new();
        for (key, value) in keys.iter().zip(values.iter()) {
            let Object::Ascii(name) = self.archive.list.object(key)? else {
                continue;
            };
            let digits = name.strip_prefix(prefix).and_then(|digits| std::str::from_utf8(digits).ok());
            if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                numbered.push((number, value));
            }
        }
        numbered.sort_unstable();
        Ok(numbered)
    }

    /// The references in an array field.
    fn list(self, name: &str, keys: References<'a>, values: References<'a>) -> Result<Option<References<'a>>, Broken> {
        self.archive.step(keys.len())?;
        let Some(index) = find(&self.archive.list, keys, values, name)? else {
            return Ok(None);
        };
        match self.archive.list.object(index)? {
            Object::Array(references) => Ok(Some(references)),
            other => Err(self.unlike(&format!("an array in {name}"), other)),
        }
    }
}
