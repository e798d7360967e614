//! Writes keyed archives and signatures for bundle tests, and tests keyed archives by writing, reading and corrupting them.

use std::io::Read;
use std::path::PathBuf;

use plist::{Dictionary, Uid, Value};
use proptest::prelude::*;

use super::keyed_archive::{KeyedArchive, Node};
use super::keyed_collections::Kind;
use crate::symbols::Broken;
use crate::units::Uuid;

/// Builds a keyed archive object by object. Methods that add an object return its index.
pub(super) struct ArchiveWriter {
    objects: Vec<Value>,
}

/// A reference to nil.
pub(super) const NIL: u64 = 0;

pub(super) fn reference(object: u64) -> Value {
    Value::Uid(Uid::new(object))
}

impl ArchiveWriter {
    pub(super) fn new() -> Self {
        Self { objects: vec!["$null".into()] }
    }

    /// Adds a value without a class: a string or a number.
    pub(super) fn add(&mut self, value: impl Into<Value>) -> u64 {
        self.objects.push(value.into());
        self.objects.len() as u64 - 1
    }

    /// Adds an object of a class with inline fields.
    pub(super) fn object(&mut self, class: &str, fields: impl IntoIterator<Item = (String, Value)>) -> u64 {
        let named = [("$classname".to_owned(), Value::from(class))];
        let class = self.add(Value::Dictionary(named.into_iter().collect()));
        let mut fields: Dictionary = fields.into_iter().collect();
        fields.insert("$class".to_owned(), reference(class));
        self.add(Value::Dictionary(fields))
    }

    /// Adds an object with one field.
    pub(super) fn wrapped(&mut self, class: &str, field: &str, value: impl Into<Value>) -> u64 {
        self.object(class, [(field.to_owned(), value.into())])
    }

    pub(super) fn data(&mut self, bytes: &[u8]) -> u64 {
        self.wrapped("NSMutableData", "NS.data", Value::Data(bytes.to_vec()))
    }

    pub(super) fn array(&mut self, items: &[u64]) -> u64 {
        let items: Vec<Value> = items.iter().copied().map(reference).collect();
        self.wrapped("NSArray", "NS.objects", items)
    }

    pub(super) fn dictionary(&mut self, entries: &[(u64, u64)]) -> u64 {
        let (keys, values): (Vec<_>, Vec<_>) =
            entries.iter().map(|&(key, value)| (reference(key), reference(value))).unzip();
        let fields = [("NS.keys".to_owned(), keys.into()), ("NS.objects".to_owned(), values.into())];
        self.object("NSDictionary", fields)
    }

    /// Adds a dictionary with string keys.
    pub(super) fn named(&mut self, entries: &[(&str, u64)]) -> u64 {
        let entries: Vec<_> = entries.iter().map(|&(name, value)| (self.add(name), value)).collect();
        self.dictionary(&entries)
    }

    /// Adds an `XRIntKeyedDictionary`, the class that Instruments uses for integer keys.
    pub(super) fn integer_keyed(&mut self, entries: &[(u64, u64)]) -> u64 {
        let mut fields = vec![("$0".to_owned(), Value::from(entries.len() as u64))];
        for (at, &(key, value)) in entries.iter().enumerate() {
            let key = self.add(key);
            fields.push((format!("${}", 2 * at + 1), reference(key)));
            fields.push((format!("${}", 2 * at + 2), reference(value)));
        }
        self.object("XRIntKeyedDictionary", fields)
    }

    /// Writes the archive with these top-level objects.
    pub(super) fn finish(&self, top: &[(&str, u64)]) -> Vec<u8> {
        let top: Dictionary = top.iter().map(|&(name, object)| (name.to_owned(), reference(object))).collect();
        let root: Dictionary = [
            ("$version".to_owned(), Value::from(100_000_u64)),
            ("$archiver".to_owned(), Value::from("NSKeyedArchiver")),
            ("$top".to_owned(), Value::Dictionary(top)),
            ("$objects".to_owned(), Value::Array(self.objects.clone())),
        ]
        .into_iter()
        .collect();
        let mut bytes = Vec::new();
        Value::Dictionary(root).to_writer_binary(&mut bytes).unwrap_or_default();
        bytes
    }
}

/// An image to write: the first byte of its UUID, its path, and its segments (name, address, size).
pub(super) struct InventedImage<'a> {
    pub(super) uuid: u8,
    pub(super) path: &'a str,
    pub(super) segments: &'a [(&'a str, u64, u64)],
}

/// Writes a signature of arm64e images, with a shared cache (the first byte of its UUID, and its base address).
pub(super) fn signature(images: &[InventedImage<'_>], cache: Option<(u8, u64)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let numbers = |bytes: &mut Vec<u8>, all: &[u32]| all.iter().for_each(|one| bytes.extend(one.to_le_bytes()));
    numbers(&mut bytes, &[0xff01_ff02, 1, 0, 0, 0x2000, images.len() as u32]);
    for image in images {
        let path_size = image.path.len().next_multiple_of(4) + 4;
        bytes.extend(uuid_bytes(image.uuid));
        numbers(&mut bytes, &[0, 0, 0, 0, u32::MAX, 0x7fff_ffff]);
        numbers(&mut bytes, &[0x0100_000c, 2, image.segments.len() as u32, path_size as u32]);
        bytes.extend(image.path.as_bytes());
        bytes.extend(vec![0; path_size - image.path.len()]);
        for (name, address, size) in image.segments {
            bytes.extend(name.as_bytes());
            bytes.extend(vec![0; 16 - name.len()]);
            bytes.extend(address.to_le_bytes());
            bytes.extend(size.to_le_bytes());
        }
    }
    if let Some((uuid, base)) = cache {
        numbers(&mut bytes, &[0x00c0_ffee, 4]);
        bytes.extend(uuid_bytes(uuid));
        bytes.extend(base.to_le_bytes());
        bytes.extend([0; 24]);
    }
    bytes
}

/// A UUID with this first byte, and zeros otherwise.
pub(super) fn uuid_bytes(first: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = first;
    bytes
}

/// The `form.template` of a real recording, and the folder of its exports; `None` without the corpus.
#[cfg(test)]
pub(super) fn form_template_of_finder() -> Option<(Vec<u8>, PathBuf)> {
    let folder = PathBuf::from(std::env::var_os("TRACEPARSE_CORPUS")?).join("xctrace/26.2");
    let file = std::fs::File::open(folder.join("finder.trace.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    let mut bytes = Vec::new();
    zip.by_name("finder.trace/form.template").unwrap().read_to_end(&mut bytes).unwrap();
    Some((bytes, folder))
}

/// An archive with an object of each kind.
fn sample() -> Vec<u8> {
    let mut writer = ArchiveWriter::new();
    let name = writer.add("Finder");
    let mutable = writer.wrapped("NSMutableString", "NS.string", "Dock");
    let data = writer.data(&[1, 2, 3]);
    let uuid = writer.wrapped("NSUUID", "NS.uuidbytes", Value::Data((0..16).collect()));
    let array = writer.array(&[name, mutable, NIL]);
    let items = [("NS.object.1".to_owned(), reference(data)), ("NS.object.0".to_owned(), reference(name))];
    let ordered = writer.object("NSOrderedSet", items);
    let nothing = writer.object("NSOrderedSet", []);
    let names = writer.named(&[("first", name), ("second", mutable)]);
    let integers = writer.integer_keyed(&[(7, name), (9, NIL)]);
    let fields = [
        ("name", reference(name)),
        ("mutable", reference(mutable)),
        ("data", reference(data)),
        ("uuid", reference(uuid)),
        ("array", reference(array)),
        ("ordered", reference(ordered)),
        ("nothing", reference(nothing)),
        ("names", reference(names)),
        ("integers", reference(integers)),
        ("nil", reference(NIL)),
        ("count", Value::from(7_u64)),
        ("below", Value::from(-7_i64)),
        ("largest", Value::from(u64::MAX)),
        ("seconds", Value::from(1.5)),
        ("is", Value::from(true)),
    ];
    let root = writer.object("XRThing", fields.map(|(name, value)| (name.to_owned(), value)));
    writer.finish(&[("root", root), ("other", name)])
}

fn texts(nodes: Vec<Node<'_>>) -> Vec<String> {
    nodes.into_iter().map(|node| node.text().unwrap().unwrap_or_default().into_owned()).collect()
}

#[test]
fn fields_are_what_was_archived() {
    let bytes = sample();
    let archive = KeyedArchive::read(&bytes).unwrap();
    let root = archive.top("root").unwrap().unwrap();
    let field = |name: &str| root.field(name).unwrap().unwrap();
    assert_eq!(root.class_name().unwrap().as_deref(), Some("XRThing"));
    assert_eq!(archive.top("other").unwrap().unwrap().text().unwrap().as_deref(), Some("Finder"));
    assert!(archive.top("no").unwrap().is_none() && root.field("no").unwrap().is_none());
    assert_eq!(field("name").text().unwrap().as_deref(), Some("Finder"));
    assert_eq!(field("mutable").text().unwrap().as_deref(), Some("Dock"));
    assert_eq!(field("data").data().unwrap(), Some(&[1, 2, 3][..]));
    assert_eq!(field("uuid").uuid().unwrap(), Uuid::parse("000102030405060708090A0B0C0D0E0F"));
    assert_eq!((field("count").number(), field("count").integer()), (Ok(Some(7)), Ok(Some(7))));
    assert_eq!(field("below").integer(), Ok(Some(-7)));
    assert_eq!(field("largest").number(), Ok(Some(u64::MAX)));
    assert_eq!((field("seconds").real(), field("count").real()), (Ok(Some(1.5)), Ok(Some(7.0))));
    assert_eq!(field("is").boolean(), Ok(Some(true)));
    assert_eq!(texts(field("array").items().unwrap()), ["Finder", "Dock", ""]);
    assert_eq!(field("ordered").items().unwrap()[1].data(), Ok(Some(&[1, 2, 3][..])));
    assert!(field("nothing").items().unwrap().is_empty());
    let (names, values): (Vec<_>, Vec<_>) = field("names").entries().unwrap().into_iter().unzip();
    assert_eq!(
        (texts(names), texts(values)),
        (vec!["first".into(), "second".into()], vec!["Finder".into(), "Dock".into()])
    );
    let integers = field("integers").entries().unwrap();
    let keys: Vec<_> = integers.iter().map(|(key, _)| key.number().unwrap().unwrap()).collect();
    assert_eq!(
        (keys, integers[0].1.text().unwrap().as_deref(), integers[1].1.is_nil()),
        (vec![7, 9], Some("Finder"), true)
    );
}

#[test]
fn kinds_say_what_answers() {
    let bytes = sample();
    let archive = KeyedArchive::read(&bytes).unwrap();
    let root = archive.top("root").unwrap().unwrap();
    assert_eq!(root.kind(), Ok(Kind::Other));
    for (name, kind) in [
        ("name", Kind::Text),
        ("mutable", Kind::Text),
        ("data", Kind::Other),
        ("uuid", Kind::Other),
        ("array", Kind::List),
        ("ordered", Kind::List),
        ("nothing", Kind::List),
        ("names", Kind::Other),
        ("integers", Kind::Other),
        ("nil", Kind::Other),
        ("below", Kind::Integer),
        ("seconds", Kind::Real),
        ("is", Kind::Boolean),
    ] {
        assert_eq!(root.field(name).unwrap().unwrap().kind(), Ok(kind), "{name}");
    }
}

#[test]
fn nil_is_nothing_and_other_shapes_are_errors() {
    let bytes = sample();
    let archive = KeyedArchive::read(&bytes).unwrap();
    let root = archive.top("root").unwrap().unwrap();
    let nil = root.field("nil").unwrap().unwrap();
    assert!(nil.is_nil() && nil.items().unwrap().is_empty() && nil.entries().unwrap().is_empty());
    assert!(nil.field("any").unwrap().is_none());
    assert_eq!((nil.text(), nil.number(), nil.real(), nil.boolean()), (Ok(None), Ok(None), Ok(None), Ok(None)));
    assert_eq!((nil.data(), nil.uuid(), nil.class_name()), (Ok(None), Ok(None), Ok(None)));
    let name = root.field("name").unwrap().unwrap();
    let Broken { at, message } = name.integer().unwrap_err();
    let told = format!("object at {at:#x}: a 64-bit integer was expected, and a string was found");
    assert_eq!((at > 0, message), (true, told));
    assert!(name.field("any").is_err() && name.items().is_err() && name.entries().is_err() && name.uuid().is_err());
    let below = root.field("below").unwrap().unwrap();
    assert!(below.number().is_err() && below.text().is_err() && below.data().is_err() && below.boolean().is_err());
    assert!(root.items().is_err() && root.entries().is_err() && root.text().is_err());
    assert!(root.field("data").unwrap().unwrap().uuid().is_err());
}

#[test]
fn circles_and_references_to_nothing_are_errors() {
    let mut writer = ArchiveWriter::new();
    writer.add(reference(2));
    writer.add(reference(1));
    let bytes = writer.finish(&[("circle", 1), ("nothing", 99)]);
    let archive = KeyedArchive::read(&bytes).unwrap();
    assert!(archive.top("circle").unwrap_err().message.ends_with("more than 8 in a row"));
    assert!(archive.top("nothing").unwrap_err().message.ends_with("it refers to 99 of 3 objects"));
}

#[test]
fn dictionaries_that_do_not_add_up_are_errors() {
    let mut writer = ArchiveWriter::new();
    let keys =
        [("NS.keys".to_owned(), Value::Array(vec![reference(0)])), ("NS.objects".to_owned(), Value::Array(vec![]))];
    let unequal = writer.object("NSDictionary", keys);
    let short = writer.object("XRIntKeyedDictionary", [("$0".to_owned(), Value::from(1_u64))]);
    let gap = writer.object("NSOrderedSet", [("NS.object.1".to_owned(), reference(0))]);
    let bytes = writer.finish(&[("unequal", unequal), ("short", short), ("gap", gap)]);
    let archive = KeyedArchive::read(&bytes).unwrap();
    let top = |name: &str| archive.top(name).unwrap().unwrap();
    assert!(top("unequal").entries().unwrap_err().message.ends_with("it has 1 keys and 0 values"));
    assert!(top("short").entries().is_err());
    assert!(top("gap").items().unwrap_err().message.ends_with("it has no NS.object.0"));
}

/// Calls all methods on an object and everything below it.
fn visit(node: Node<'_>, depth: usize, budget: &mut usize) {
    *budget = budget.saturating_sub(1);
    if depth == 0 || *budget == 0 {
        return;
    }
    let _ = (node.kind(), node.class_name(), node.text(), node.data(), node.uuid());
    let _ = (node.integer(), node.number(), node.real(), node.boolean());
    for name in ["array", "names", "integers", "ordered", "data"] {
        if let Ok(Some(field)) = node.field(name) {
            visit(field, depth - 1, budget);
        }
    }
    node.items().into_iter().flatten().for_each(|item| visit(item, depth - 1, budget));
    for (key, value) in node.entries().into_iter().flatten() {
        visit(key, depth - 1, budget);
        visit(value, depth - 1, budget);
    }
}

proptest! {
    #[test]
    fn no_mutation_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = sample();
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        let archive = KeyedArchive::read(&bytes);
        if let Ok(Ok(Some(root))) = archive.as_ref().map(|archive| archive.top("root")) {
            visit(root, 4, &mut 2000);
        }
    }
}
