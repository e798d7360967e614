//! Broken copies of bundles, as caused by disks, attackers and newer versions.
//!
//! Most changes are made to the content of a file before it is compressed. A changed byte in a compressed file nearly always causes only a
//! wrong checksum.

use plist::{Uid, Value};

use super::super::random::Rng;
use super::archive::binary;
use super::pack::{Files, deflated};
use super::unpacked::inflated;

/// Numbers that are often on the wrong side of a check.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    0x28,
    0xff,
    0x1000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// Changes some files of a bundle, or the list of files.
pub fn mutate_bundle(files: &mut Files, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        match rng.below(10) {
            _ if files.is_empty() => return,
            0 => mutate_list(files, rng),
            1 => {
                let file = rng.index(files.len());
                mutate_bytes(&mut files[file].1, rng);
            }
            _ => {
                let file = chosen(files, rng);
                mutate_content(&mut files[file].1, rng);
            }
        }
    }
}

/// Selects any file, but usually an essential one.
fn chosen(files: &Files, rng: &mut Rng) -> usize {
    const WEIGHTY: [&str; 7] = [
        "form.template",
        "bulkstore_descriptor",
        "bulkstore",
        "schema.xml",
        "tables.plist",
        "integeruniquer.index",
        "strings",
    ];
    let name = *rng.pick(&WEIGHTY);
    let named: Vec<usize> = (0..files.len()).filter(|&file| files[file].0.ends_with(name)).collect();
    if named.is_empty() || rng.one_in(3) { rng.index(files.len()) } else { *rng.pick(&named) }
}

/// Deletes, duplicates, exchanges or renames a file.
fn mutate_list(files: &mut Files, rng: &mut Rng) {
    let (one, other) = (rng.index(files.len()), rng.index(files.len()));
    match rng.below(5) {
        0 => drop(files.swap_remove(one)),
        1 => {
            let bytes = files[one].1.clone();
            files[other].1 = bytes;
        }
        2 => {
            let bytes = std::mem::take(&mut files[one].1);
            files[one].1 = std::mem::replace(&mut files[other].1, bytes);
        }
        3 => {
            let number = rng.below(40);
            files[one].0 = files[one].0.replace("indexed-store-", &format!("indexed-store-{number}"));
        }
        _ => files[one].0 = files[one].0.replace("run1", "run2"),
    }
}

/// Changes the content of a file and packs it again, in the same form or the other.
fn mutate_content(file: &mut Vec<u8>, rng: &mut Rng) {
    let was_compressed = file.first() == Some(&0x78);
    let Ok(mut content) = inflated(file) else { return mutate_bytes(file, rng) };
    match rng.below(4) {
        // The same content in the other form is valid, and readers must accept it.
        0 if rng.one_in(4) => {}
        0 | 1 => mutate_numbers(&mut content, rng),
        2 => exchange_words(&mut content, rng),
        _ => mutate_bytes(&mut content, rng),
    }
    let is_compressed = if rng.one_in(5) { !was_compressed } else { was_compressed };
    *file = if is_compressed { deflated(&content) } else { content };
}

/// A position in a file, often near the start, where headers are.
fn place(length: usize, rng: &mut Rng) -> usize {
    match rng.below(4) {
        0 => rng.index(length.min(64)),
        // In the rows of a table, not in the free space after them.
        1 if length > 0x1000 => 0x1000 + rng.index((length - 0x1000).min(4_000)),
        _ => rng.index(length),
    }
}

/// Sets a number to an extreme value, or changes it slightly.
fn mutate_numbers(bytes: &mut [u8], rng: &mut Rng) {
    if bytes.len() < 8 {
        return;
    }
    let at = place(bytes.len() - 7, rng) & !3;
    let width = if rng.one_in(2) { 4 } else { 8 };
    let mut word = [0; 8];
    word[..width].copy_from_slice(&bytes[at..at + width]);
    let number = u64::from_le_bytes(word);
    let number = match rng.below(4) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => rng.below(bytes.len() as u64),
        _ => *rng.pick(&EDGES),
    };
    bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
}

/// Exchanges two words, such as references of rows or entries of an index.
fn exchange_words(bytes: &mut [u8], rng: &mut Rng) {
    if bytes.len() < 8 {
        return;
    }
    let (one, other) = (place(bytes.len() - 3, rng) & !3, place(bytes.len() - 3, rng) & !3);
    for byte in 0..4 {
        bytes.swap(one + byte, other + byte);
    }
}

/// Changes, removes, duplicates or cuts bytes.
fn mutate_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        return bytes.extend(rng.next_u64().to_le_bytes());
    }
    let at = place(bytes.len(), rng);
    let end = (at + rng.index(40)).min(bytes.len());
    match rng.below(5) {
        0 => bytes[at] = rng.next_u64() as u8,
        1 => bytes[at] ^= 1 << rng.below(8),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        _ => {
            let piece = bytes[at..end].to_vec();
            let to = rng.index(bytes.len());
            drop(bytes.splice(to..to, piece));
        }
    }
}

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
