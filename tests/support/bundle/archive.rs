//! Keyed archives, as Cocoa writes them: a flat list of objects that refer to each other by number.
//!
//! ```text
//! { $version, $archiver, $top: { root: UID 1 }, $objects: [ "$null", { NS.keys, NS.objects, $class }, ... ] }
//! ```
//!
//! Strings, numbers and classes are written once and shared, as in real archives.

use std::collections::HashMap;

use plist::{Dictionary, Uid, Value};

/// An archive under construction.
pub struct Archive {
    objects: Vec<Value>,
    strings: HashMap<String, u64>,
    numbers: HashMap<u64, u64>,
    classes: HashMap<&'static str, u64>,
}

/// The ancestors of a class of Cocoa; all other classes directly inherit from `NSObject`.
fn ancestors(class: &str) -> &'static [&'static str] {
    match class {
        "NSMutableDictionary" => &["NSDictionary"],
        "NSMutableArray" => &["NSArray"],
        "NSMutableSet" => &["NSSet"],
        "NSMutableString" => &["NSString"],
        "NSMutableData" => &["NSData"],
        _ => &[],
    }
}

impl Default for Archive {
    fn default() -> Archive {
        Archive {
            objects: vec![Value::String("$null".to_owned())],
            strings: HashMap::new(),
            numbers: HashMap::new(),
            classes: HashMap::new(),
        }
    }
}

impl Archive {
    /// The null object.
    pub fn nil(&self) -> Value {
        uid(0)
    }

    fn push(&mut self, object: Value) -> Value {
        self.objects.push(object);
        uid(self.objects.len() as u64 - 1)
    }

    pub fn string(&mut self, text: &str) -> Value {
        if let Some(&known) = self.strings.get(text) {
            return uid(known);
        }
        self.strings.insert(text.to_owned(), self.objects.len() as u64);
        self.push(Value::String(text.to_owned()))
    }

    pub fn number(&mut self, number: u64) -> Value {
        if let Some(&known) = self.numbers.get(&number) {
            return uid(known);
        }
        self.numbers.insert(number, self.objects.len() as u64);
        self.push(Value::Integer(number.into()))
    }

    pub fn real(&mut self, number: f64) -> Value {
        self.push(Value::Real(number))
    }

    pub fn boolean(&mut self, is_true: bool) -> Value {
        self.push(Value::Boolean(is_true))
    }

    /// An instance of a class. Fields are written unchanged: values from other methods here, or plain numbers.
    pub fn object(&mut self, class: &'static str, fields: Vec<(&str, Value)>) -> Value {
        let mut object: Dictionary = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        object.insert("$class".to_owned(), self.class(class));
        self.push(Value::Dictionary(object))
    }

    fn class(&mut self, class: &'static str) -> Value {
        if let Some(&known) = self.classes.get(class) {
            return uid(known);
        }
        self.classes.insert(class, self.objects.len() as u64);
        let lineage = [class].into_iter().chain(ancestors(class).iter().copied()).chain(["NSObject"]);
        let mut description = Dictionary::new();
        description.insert("$classname".to_owned(), Value::String(class.to_owned()));
        let lineage = lineage.map(|name| Value::String(name.to_owned())).collect();
        description.insert("$classes".to_owned(), Value::Array(lineage));
        self.push(Value::Dictionary(description))
    }

    /// An `NSDictionary` or `NSMutableDictionary`.
    pub fn dictionary(&mut self, class: &'static str, entries: Vec<(Value, Value)>) -> Value {
        let (keys, values): (Vec<Value>, Vec<Value>) = entries.into_iter().unzip();
        self.object(class, vec![("NS.keys", Value::Array(keys)), ("NS.objects", Value::Array(values))])
    }

    /// A mutable dictionary whose keys are strings.
    pub fn named(&mut self, entries: Vec<(&str, Value)>) -> Value {
        let entries = entries.into_iter().map(|(name, value)| (self.string(name), value)).collect();
        self.dictionary("NSMutableDictionary", entries)
    }

    /// Arrays and sets of every class.
    pub fn list(&mut self, class: &'static str, items: Vec<Value>) -> Value {
        self.object(class, vec![("NS.objects", Value::Array(items))])
    }

    pub fn strings(&mut self, class: &'static str, texts: &[String]) -> Value {
        let items = texts.iter().map(|text| self.string(text)).collect();
        self.list(class, items)
    }

    /// An ordered set, whose objects are fields.
    pub fn ordered_set(&mut self, items: Vec<Value>) -> Value {
        let names: Vec<String> = (0..items.len()).map(|index| format!("NS.object.{index}")).collect();
        let fields = names.iter().map(String::as_str).zip(items).collect();
        self.object("NSOrderedSet", fields)
    }

    pub fn mutable_string(&mut self, text: &str) -> Value {
        self.object("NSMutableString", vec![("NS.string", Value::String(text.to_owned()))])
    }

    pub fn data(&mut self, bytes: Vec<u8>) -> Value {
        self.object("NSMutableData", vec![("NS.data", Value::Data(bytes))])
    }

    pub fn uuid(&mut self, bytes: [u8; 16]) -> Value {
        self.object("NSUUID", vec![("NS.uuidbytes", Value::Data(bytes.to_vec()))])
    }

    /// A dictionary with numbered fields: `$0` is the number of entries, then `$1` a key, `$2` its value, and so on.
    pub fn by_number(&mut self, entries: Vec<(u64, Value)>) -> Value {
        let mut fields = vec![("$0".to_owned(), Value::Integer((entries.len() as u64).into()))];
        for (index, (key, value)) in entries.into_iter().enumerate() {
            fields.push((format!("${}", 2 * index + 1), self.number(key)));
            fields.push((format!("${}", 2 * index + 2), value));
        }
        let fields = fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        self.object("XRIntKeyedDictionary", fields)
    }

    /// The archive as a binary property list.
    pub fn finish(self, top: Vec<(&str, Value)>) -> Vec<u8> {
        let mut archive = Dictionary::new();
        archive.insert("$version".to_owned(), Value::Integer(100_000.into()));
        archive.insert("$archiver".to_owned(), Value::String("NSKeyedArchiver".to_owned()));
        let top: Dictionary = top.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        archive.insert("$top".to_owned(), Value::Dictionary(top));
        archive.insert("$objects".to_owned(), Value::Array(self.objects));
        binary(&Value::Dictionary(archive))
    }
}

fn uid(index: u64) -> Value {
    Value::Uid(Uid::new(index))
}

/// A plain number, for fields that contain one instead of an object.
pub fn plain(number: u64) -> Value {
    Value::Integer(number.into())
}

/// A binary property list.
pub fn binary(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.to_writer_binary(&mut bytes).expect("writing to memory");
    bytes
}

/// A property list as text.
pub fn xml(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.to_writer_xml(&mut bytes).expect("writing to memory");
    bytes
}
