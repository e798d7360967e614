//! Changes of the files of bundles, as caused by disks and newer versions.

use plist::{Uid, Value};

use super::archive::binary;
use super::pack::{Files, deflated};
use super::unpacked::inflated;

/// Changes the content of one file. A compressed file is compressed again.
pub fn edit(files: &mut Files, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let (_, bytes) = files.iter_mut().find(|(name, _)| name == path).unwrap_or_else(|| panic!("there is no {path}"));
    let mut content = inflated(bytes).expect("a file that is whole");
    change(&mut content);
    *bytes = if bytes.first() == Some(&0x78) { deflated(&content) } else { content };
}

/// Removes all files whose paths start with this prefix.
pub fn remove(files: &mut Files, prefix: &str) {
    files.retain(|(path, _)| !path.starts_with(prefix));
}

/// Changes the type of a field in a `bulkstore_descriptor`.
pub fn set_field_type(descriptor: &mut Vec<u8>, field: &str, kind: u64) {
    let mut archive = Value::from_reader(std::io::Cursor::new(&*descriptor)).expect("a keyed archive");
    let objects = archive.as_dictionary_mut().and_then(|archive| archive.get_mut("$objects")?.as_array_mut());
    let objects = objects.expect("objects");
    objects.push(Value::Integer(kind.into()));
    let new = Value::Uid(Uid::new(objects.len() as u64 - 1));
    let text = |value: &Value| value.as_uid().and_then(|uid| objects[uid.get() as usize].as_string());
    let list = |object: &Value, name: &str| object.as_dictionary()?.get(name)?.as_array().cloned();
    let place = objects.iter().enumerate().find_map(|(index, object)| {
        let (keys, values) = (list(object, "NS.keys")?, list(object, "NS.objects")?);
        let at = |name| keys.iter().position(|key| text(key) == Some(name));
        (text(&values[at("_name")?]) == Some(field)).then_some((index, at("_type")?))
    });
    let (object, entry) = place.unwrap_or_else(|| panic!("there is no field {field}"));
    let values = objects[object].as_dictionary_mut().and_then(|object| object.get_mut("NS.objects")?.as_array_mut());
    values.expect("values")[entry] = new;
    *descriptor = binary(&archive);
}
