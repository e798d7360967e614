//! Reads keyed archives slowly, object by object, for tests.

use plist::{Dictionary, Value};

/// A complete archive.
pub struct Keyed {
    objects: Vec<Value>,
    top: Dictionary,
}

impl Keyed {
    /// Fails if the data is not a keyed archive, or if it refers to an object that does not exist.
    pub fn read(bytes: &[u8]) -> Result<Keyed, String> {
        let archive = Value::from_reader(std::io::Cursor::new(bytes)).map_err(|error| error.to_string())?;
        let mut archive = archive.into_dictionary().ok_or("an archive is a dictionary")?;
        let version = archive.get("$version").and_then(Value::as_unsigned_integer);
        let archiver = archive.get("$archiver").and_then(Value::as_string);
        if version != Some(100_000) || archiver != Some("NSKeyedArchiver") {
            return Err(format!("not a keyed archive: {version:?} {archiver:?}"));
        }
        let top = archive.remove("$top").and_then(Value::into_dictionary).ok_or("an archive has $top")?;
        let objects = archive.remove("$objects").and_then(Value::into_array).ok_or("an archive has $objects")?;
        if objects.first().and_then(Value::as_string) != Some("$null") {
            return Err("object 0 is not $null".to_owned());
        }
        let keyed = Keyed { objects, top };
        for object in keyed.objects.iter().chain(keyed.top.values()) {
            keyed.check_references(object)?;
        }
        Ok(keyed)
    }

    fn check_references(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::Uid(_) => self.get(value).map(|_| ()),
            Value::Array(items) => items.iter().try_for_each(|item| self.check_references(item)),
            Value::Dictionary(fields) => fields.values().try_for_each(|field| self.check_references(field)),
            _ => Ok(()),
        }
    }

    /// The object to which a value refers, or the value itself if it is not a reference.
    pub fn get<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let Value::Uid(uid) = value else { return Ok(value) };
        let object = usize::try_from(uid.get()).ok().and_then(|index| self.objects.get(index));
        object.ok_or_else(|| format!("there is no object {}", uid.get()))
    }

    pub fn top(&self, name: &str) -> Result<&Value, String> {
        self.get(self.top.get(name).ok_or_else(|| format!("no {name} at the top"))?)
    }

    pub fn field<'a>(&'a self, object: &'a Value, name: &str) -> Result<&'a Value, String> {
        let fields = object.as_dictionary().ok_or_else(|| format!("not an object with {name}: {object:?}"))?;
        self.get(fields.get(name).ok_or_else(|| format!("no field {name} in {fields:?}"))?)
    }

    pub fn class<'a>(&'a self, object: &'a Value) -> Result<&'a str, String> {
        let class = self.field(object, "$class")?;
        self.field(class, "$classname")?.as_string().ok_or_else(|| "a class has a name".to_owned())
    }

    pub fn items<'a>(&'a self, object: &'a Value) -> Result<Vec<&'a Value>, String> {
        let items = self.field(object, "NS.objects")?.as_array().ok_or("NS.objects is an array")?;
        items.iter().map(|item| self.get(item)).collect()
    }

    /// The entries of a dictionary of either kind.
    pub fn entries<'a>(&'a self, object: &'a Value) -> Result<Vec<(&'a Value, &'a Value)>, String> {
        if self.class(object)? == "XRIntKeyedDictionary" {
            let count = self.number(self.field(object, "$0")?)?;
            let fields = object.as_dictionary().map_or(0, Dictionary::len) as u64;
            if fields != 2 * count + 2 {
                return Err(format!("{fields} fields for {count} entries"));
            }
            let entry = |index: u64| {
                let key = self.field(object, &format!("${}", 2 * index + 1))?;
                Ok((key, self.field(object, &format!("${}", 2 * index + 2))?))
            };
            return (0..count).map(entry).collect();
        }
        let keys = self.field(object, "NS.keys")?.as_array().ok_or("NS.keys is an array")?;
        let keys = keys.iter().map(|key| self.get(key)).collect::<Result<Vec<_>, _>>()?;
        let values = self.items(object)?;
        if keys.len() != values.len() {
            return Err(format!("{} keys and {} values", keys.len(), values.len()));
        }
        Ok(keys.into_iter().zip(values).collect())
    }

    /// The value of a string key.
    pub fn entry<'a>(&'a self, object: &'a Value, name: &str) -> Result<&'a Value, String> {
        let entries = self.entries(object)?;
        let entry = entries.into_iter().find(|(key, _)| self.text(key).is_ok_and(|key| key == name));
        entry.map(|(_, value)| value).ok_or_else(|| format!("no entry {name}"))
    }

    /// The value of a numeric key.
    pub fn numbered<'a>(&'a self, object: &'a Value, number: u64) -> Result<&'a Value, String> {
        let entries = self.entries(object)?;
        let entry = entries.into_iter().find(|(key, _)| key.as_unsigned_integer() == Some(number));
        entry.map(|(_, value)| value).ok_or_else(|| format!("no entry {number}"))
    }

    pub fn text<'a>(&'a self, object: &'a Value) -> Result<&'a str, String> {
        let text = if object.as_dictionary().is_some() { self.field(object, "NS.string")? } else { object };
        text.as_string().ok_or_else(|| format!("not a string: {object:?}"))
    }

    pub fn number(&self, object: &Value) -> Result<u64, String> {
        object.as_unsigned_integer().ok_or_else(|| format!("not a number: {object:?}"))
    }

    pub fn data<'a>(&'a self, object: &'a Value) -> Result<&'a [u8], String> {
        self.field(object, "NS.data")?.as_data().ok_or_else(|| "NS.data is data".to_owned())
    }
}
