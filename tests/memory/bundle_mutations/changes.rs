//! The changes in a bundle: of content that is still well-formed, or of the form itself.

use std::collections::{BTreeMap, BTreeSet};

use plist::Value;

use support::bundle::Files;
use support::bundle::unpacked::{inflated, u32_at};

/// The broken bundle with its well-formed content as it was before, and what is still changed.
pub(super) fn without_content(files: &Files, broken: &Files) -> (Files, Vec<String>) {
    let known: BTreeMap<&str, &[u8]> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    // Of two files with one path the last one counts.
    let all: BTreeMap<&str, &[u8]> = broken.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let (mut restored, mut left) = (Files::new(), Vec::new());
    for (&path, &bytes) in &all {
        let before = known.get(path).map(|before| inflated(before).unwrap_or_else(|_| before.to_vec()));
        let after = match (inflated(bytes), before) {
            (Ok(after), Some(before)) if after == before => after,
            (Ok(after), Some(before)) => {
                let again = restore(path, &before, after);
                if again != before {
                    left.push(format!("{path} {}", difference(&before, &again)));
                }
                again
            }
            (_, before) => {
                left.push(format!("{path} {}", if before.is_some() { "is damaged" } else { "is new" }));
                bytes.to_vec()
            }
        };
        restored.push((path.to_owned(), after));
    }
    left.extend(known.keys().filter(|path| !all.contains_key(*path)).map(|path| format!("{path} is missing")));
    (restored, left)
}

fn difference(before: &[u8], after: &[u8]) -> String {
    let same = before.iter().zip(after).take_while(|(one, two)| one == two).count();
    let shown = |bytes: &[u8]| {
        let bytes = &bytes[same.saturating_sub(8).min(bytes.len())..(same + 24).min(bytes.len())];
        bytes.escape_ascii().to_string()
    };
    format!("at {same:#x} ({} bytes, {} before): {} was {}", after.len(), before.len(), shown(after), shown(before))
}

/// The file as it is now, but what a reader cannot tell from good content as it was.
fn restore(path: &str, before: &[u8], after: Vec<u8>) -> Vec<u8> {
    match path.rsplit('/').next().unwrap_or_default() {
        "bulkstore" if before.len() == after.len() => {
            put_back(before, after, |before, _| std::iter::once(0x1000..before.len()).collect())
        }
        "integeruniquer.data" if before.len() == after.len() => put_back(before, after, numbers),
        "strings" if strings(&after).is_some() => before.to_vec(),
        "form.template" | "EngineeringTypes.etypes" if same_form(before, &after) => before.to_vec(),
        "form.template" | "EngineeringTypes.etypes" if before.len() == after.len() => {
            put_back(before, after, values_that_changed)
        }
        _ => after,
    }
}

/// The stretches of objects that are changed and that, each alone, leave the form as it was.
fn values_that_changed(before: &[u8], after: &[u8]) -> Ranges {
    let (mut stretches, objects) = (Ranges::new(), object_offsets(before));
    for at in (0..before.len()).filter(|&at| before[at] != after[at]) {
        let is_one_object = |last: usize| !objects.iter().any(|object| (last + 1..=at).contains(object));
        match stretches.last_mut() {
            Some(last) if at < last.end + 8 && is_one_object(last.end - 1) => last.end = at + 1,
            _ => stretches.push(at..at + 1),
        }
    }
    stretches.retain(|range| {
        let mut one = before.to_vec();
        one[range.clone()].copy_from_slice(&after[range.clone()]);
        same_form(before, &one)
    });
    stretches
}

/// The positions of the objects of a binary property list: its trailer tells where the table of them is, and how wide.
fn object_offsets(list: &[u8]) -> Vec<usize> {
    let trailer = &list[list.len() - 32..];
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
    let (width, count, table) = (usize::from(trailer[6]), number(&trailer[8..16]), number(&trailer[24..32]));
    list[table..].chunks(width).take(count).map(number).collect()
}

type Ranges = Vec<std::ops::Range<usize>>;

fn put_back(before: &[u8], mut after: Vec<u8>, ranges: impl Fn(&[u8], &[u8]) -> Ranges) -> Vec<u8> {
    for range in ranges(before, &after) {
        after[range.clone()].copy_from_slice(&before[range]);
    }
    after
}

/// The places of the numbers in arrays, without the count of each array; arrays lie one behind the other, or begin a block.
fn numbers(data: &[u8], _: &[u8]) -> Ranges {
    let mut ranges = Ranges::new();
    let mut at = 32;
    while let Ok(count) = u32_at(data, at) {
        let end = at + 4 + 8 * count as usize;
        ranges.push(at + 4..end);
        at = end;
    }
    ranges
}

/// The strings of a property list that another reader takes for one.
fn strings(bytes: &[u8]) -> Option<Vec<String>> {
    let list = Value::from_reader(std::io::Cursor::new(bytes)).ok()?.into_array()?;
    list.into_iter().map(Value::into_string).collect()
}

/// True if two keyed archives hold the same objects but for their texts, numbers and references.
fn same_form(before: &[u8], after: &[u8]) -> bool {
    let objects = |bytes: &[u8]| {
        let archive = Value::from_reader(std::io::Cursor::new(bytes)).ok()?.into_dictionary()?;
        Some((archive.get("$top")?.clone(), archive.get("$objects")?.as_array()?.clone()))
    };
    let (Some((top, objects_before)), Some((top_after, objects_after))) = (objects(before), objects(after)) else {
        return false;
    };
    let keys = keys(&objects_before);
    let is_alike = |(index, (before, after)): (usize, (&Value, &Value))| {
        (before == after || !keys.contains(&(index as u64))) && is_alike(before, after)
    };
    top == top_after
        && objects_before.len() == objects_after.len()
        && objects_before.iter().zip(&objects_after).enumerate().all(is_alike)
}

/// The objects that are names in dictionaries or of classes: a name that is another one is another thing.
fn keys(objects: &[Value]) -> BTreeSet<u64> {
    let lists = objects.iter().filter_map(|object| object.as_dictionary()?.get("NS.keys")?.as_array());
    lists.flatten().filter_map(|key| Some(key.as_uid()?.get())).collect()
}

/// True if both are values of one kind with fields of the same names.
fn is_alike(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_alike(before, after))
        }
        (Value::Dictionary(before), Value::Dictionary(after)) => {
            let alike = |(name, value): (&String, &Value)| after.get(name).is_some_and(|after| is_alike(value, after));
            before.len() == after.len() && before.iter().all(alike)
        }
        (Value::Data(before), Value::Data(after)) => before.len() == after.len(),
        (Value::Integer(_), Value::Integer(_))
        | (Value::String(_), Value::String(_))
        | (Value::Uid(_), Value::Uid(_))
        | (Value::Real(_), Value::Real(_))
        | (Value::Boolean(_), Value::Boolean(_))
        | (Value::Date(_), Value::Date(_)) => true,
        _ => false,
    }
}
