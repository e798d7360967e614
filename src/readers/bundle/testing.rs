//! Writes keyed archives and signatures for tests.

use std::io::Read;
use std::path::PathBuf;

use plist::{Dictionary, Uid, Value};

/// A keyed archive that is written object by object. Methods that add an object return the reference to it.
pub(super) struct ArchiveWriter {
    objects: Vec<Value>,
}

/// A reference to nil.
pub(super) const NIL: u64 = 0;

/// A reference to an object.
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

    /// Adds an object of a class with fields in place.
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

    /// Adds a dictionary whose keys are strings.
    pub(super) fn named(&mut self, entries: &[(&str, u64)]) -> u64 {
        let entries: Vec<_> = entries.iter().map(|&(name, value)| (self.add(name), value)).collect();
        self.dictionary(&entries)
    }

    /// Adds one of the dictionaries that Instruments has for integers.
    pub(super) fn integer_keyed(&mut self, entries: &[(u64, u64)]) -> u64 {
        let mut fields = vec![("$0".to_owned(), Value::from(entries.len() as u64))];
        for (at, &(key, value)) in entries.iter().enumerate() {
            let key = self.add(key);
            fields.push((format!("${}", 2 * at + 1), reference(key)));
            fields.push((format!("${}", 2 * at + 2), reference(value)));
        }
        self.object("XRIntKeyedDictionary", fields)
    }

    /// The archive, with these objects at the top.
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

/// An image to be written: the first byte of its UUID, its path, and its segments (name, address, size).
pub(super) struct InventedImage<'a> {
    pub(super) uuid: u8,
    pub(super) path: &'a str,
    pub(super) segments: &'a [(&'a str, u64, u64)],
}

/// A signature of images of arm64e, with a shared cache (the first byte of its UUID, and where it begins).
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

/// The UUID that begins with a byte and is zeros otherwise.
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
