//! Changes to one file.

use super::super::lists::{List, Object};
use super::{Base, Changes, Edit};
use support::Rng;
use support::bundle::unpacked::{u32_at, u64_at};

type Done = (&'static str, Vec<Edit>);

fn replace(at: usize, length: usize, new: Vec<u8>) -> Edit {
    Edit { at, length, new }
}

/// Numbers that are often on the wrong side of a check.
const EDGES: [u64; 10] = [0, 1, 2, 3, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff, 0x1_0000_0000, i64::MAX as u64, u64::MAX];

/// Replaces a number of this many bytes with another number.
fn other_number(number: u64, width: usize, rng: &mut Rng) -> Vec<u8> {
    let number = match rng.below(8) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 | 3 => rng.below(200),
        4 => number ^ 1 << rng.below(8 * width as u64),
        // Only half of the number.
        5 if width == 8 => number & 0xffff_ffff_0000_0000 | rng.below(100),
        6 if width == 8 => number & 0xffff_ffff | rng.below(100) << 32,
        _ => *rng.pick(&EDGES),
    };
    number.to_le_bytes()[..width].to_vec()
}

/// The start of the rows, the size of each, and their number.
fn shape(store: &[u8]) -> Option<(usize, usize, usize)> {
    let (start, size) = (u32_at(store, 12).ok()? as usize, u32_at(store, 16).ok()? as usize);
    let end = store.iter().rposition(|&byte| byte != 0)? + 1;
    let count = end.checked_sub(start)?.div_ceil(size);
    (count > 0).then_some((start, size, count))
}

/// A cell of a row, or the order of rows.
pub(crate) fn rows(store: &[u8], rng: &mut Rng) -> Option<Done> {
    let (start, size, count) = shape(store)?;
    let (one, other) = (start + size * rng.index(count), start + size * rng.index(count));
    let bytes = |at: usize, length: usize| store[at..at + length].to_vec();
    // In old versions, columns are not aligned to words.
    let width = if rng.one_in(3) && size >= 8 { 8 } else { 4 };
    let within = |rng: &mut Rng| rng.index(size - width + 1) & if size.is_multiple_of(4) { !3 } else { !0 };
    let (cell, other_cell) = (within(rng), within(rng));
    Some(match rng.below(12) {
        0 => ("exchanged rows", vec![replace(one, size, bytes(other, size)), replace(other, size, bytes(one, size))]),
        1 => ("doubled row", vec![replace(one, size, bytes(other, size))]),
        2 => ("cell of another row", vec![replace(one + cell, width, bytes(other + cell, width))]),
        3 => ("another cell of the row", vec![replace(one + cell, width, bytes(one + other_cell, width))]),
        4 if rng.one_in(4) => {
            ("cut", vec![replace(store.len() - 1 - rng.index(store.len() - start), 1 + rng.index(1), vec![])])
        }
        4 if rng.one_in(3) => ("room", vec![replace(store.len(), 0, vec![0; 1 + rng.index(100)])]),
        _ => {
            let mut word = [0; 8];
            word[..width].copy_from_slice(&store[one + cell..one + cell + width]);
            ("cell", vec![replace(one + cell, width, other_number(u64::from_le_bytes(word), width, rng))])
        }
    })
}

/// Fewer rows, with a descriptor that matches.
pub(crate) fn fewer_rows(base: &Base, path: &str, rng: &mut Rng) -> Option<(&'static str, Changes)> {
    let (start, size, count) = shape(&base.files[path])?;
    let gone = 1 + rng.index(count.min(3));
    let first = rng.index(count - gone + 1);
    Some(("fewer rows", without_rows(base, path, (start, size, count), first, gone)))
}

/// Only the first rows; `None` if there are not more.
pub(crate) fn shortened(base: &Base, path: &str, rows: usize) -> Option<Vec<(String, Vec<Edit>)>> {
    let (start, size, count) = shape(&base.files[path]).filter(|&(.., count)| count > rows)?;
    let changes = without_rows(base, path, (start, size, count), rows, count - rows);
    Some(changes.into_iter().filter_map(|(path, edits)| Some((path, edits?))).collect())
}

/// A store without the `gone` rows that begin at `first`.
fn without_rows(
    base: &Base,
    path: &str,
    (start, size, count): (usize, usize, usize),
    first: usize,
    gone: usize,
) -> Changes {
    let store = &base.files[path];
    let descriptor_path = format!("{path}_descriptor");
    let descriptor = &base.files[&descriptor_path];
    let (at, end) = (start + first * size, start + count * size);
    let mut left = store[at + gone * size..end].to_vec();
    left.resize(end - at, 0);
    let list = List::read(descriptor);
    let is_count = |object: &&Object| {
        object.kind == 1 && super::super::lists::number(&descriptor[object.at..object.at + object.width]) == count
    };
    let numbers: Vec<Edit> = list
        .objects
        .iter()
        .filter(is_count)
        .map(|object| {
            replace(object.at, object.width, ((count - gone) as u64).to_be_bytes()[8 - object.width..].to_vec())
        })
        .collect();
    let rows = vec![replace(at, end - at, left)];
    vec![(path.to_owned(), Some(rows)), (descriptor_path, Some(numbers))]
}

/// Changes a number in an array, or the array's length.
pub(crate) fn arrays(data: &[u8], index: &[u8], rng: &mut Rng) -> Option<Done> {
    let block = u32_at(index, 28).ok()? as usize;
    // A run may have no typed arrays.
    let entries = index.len().checked_sub(40).filter(|&bytes| bytes >= 8)? / 8;
    let place = |rng: &mut Rng| {
        let entry = 40 + 8 * rng.index(entries);
        let at = u32_at(index, entry).ok()? as usize + block * u32_at(index, entry + 4).ok()? as usize;
        Some((at, u32_at(data, at).ok()? as usize)).filter(|(at, count)| *at >= 32 && at + 4 + 8 * count <= data.len())
    };
    let ((at, count), (from, from_count)) = (place(rng)?, place(rng)?);
    if count == 0 || rng.one_in(20) {
        return Some(("length of an array", vec![replace(at, 4, other_number(count as u64, 4, rng))]));
    }
    let number = at + 4 + 8 * rng.index(count);
    let other = from + 4 + 8 * rng.index(from_count.max(1));
    Some(match rng.below(4) {
        0 if from_count > 0 => ("number of another array", vec![replace(number, 8, data[other..other + 8].to_vec())]),
        _ => ("number of an array", vec![replace(number, 8, other_number(u64_at(data, number).ok()?, 8, rng))]),
    })
}

/// Changes an index entry, which contains the position of an array.
pub(crate) fn index(index: &[u8], rng: &mut Rng) -> Option<Done> {
    let entries = index.len().checked_sub(40).filter(|&bytes| bytes >= 8)? / 8;
    let (one, other) = (40 + 8 * rng.index(entries), 40 + 8 * rng.index(entries));
    let entry = |at: usize| index[at..at + 8].to_vec();
    Some(match rng.below(5) {
        0 => ("exchanged entries", vec![replace(one, 8, entry(other)), replace(other, 8, entry(one))]),
        1 => ("entry of another array", vec![replace(one, 8, entry(other))]),
        2 => ("no entry", vec![replace(one, 8, vec![0; 8])]),
        3 => ("cut index", vec![replace(one, index.len() - one, Vec::new())]),
        _ => {
            let half = one + 4 * rng.index(2);
            ("entry", vec![replace(half, 4, other_number(u32_at(index, half).ok()?.into(), 4, rng))])
        }
    })
}

/// Changes an object of a property list; in a long list, an object that affects the result.
pub(crate) fn list(bytes: &[u8], list: &List, seen: Option<&[usize]>, rng: &mut Rng) -> Option<Done> {
    let pick = |rng: &mut Rng| match seen {
        Some(seen) if !rng.one_in(20) => *rng.pick(seen),
        _ => rng.index(list.objects.len()),
    };
    let (one, other) = (pick(rng), pick(rng));
    let Object { at, count, kind, width } = list.objects[one];
    let size = count * width;
    if rng.one_in(25) {
        let place = |object: usize| list.table + object * list.offset_width;
        let offset = |object: usize| bytes[place(object)..place(object) + list.offset_width].to_vec();
        let edits = vec![
            replace(place(one), list.offset_width, offset(other)),
            replace(place(other), list.offset_width, offset(one)),
        ];
        return Some(("exchanged objects", edits));
    }
    if size == 0 {
        return None;
    }
    let thing = at + width * rng.index(count);
    let number = bytes[thing..thing + width.min(8)].iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let new_number = |rng: &mut Rng, number: u64, limit: usize| {
        let new =
            if rng.one_in(2) { rng.below(limit as u64 + 2) } else { number.wrapping_add(rng.below(5)).wrapping_sub(2) };
        new.to_be_bytes()[8 - width.min(8)..].to_vec()
    };
    Some(match kind {
        1..=3 if width <= 8 => {
            let mut new = other_number(number, width, rng);
            new.reverse();
            ("number of a list", vec![replace(at, width, new)])
        }
        5 | 6 => {
            let letter = *rng.pick(b"abcdeXYZ0123456789 -./");
            let new = if width == 1 { vec![letter] } else { vec![rng.below(3) as u8, letter] };
            ("letter of a list", vec![replace(thing, width, new)])
        }
        4 => {
            let byte = at + if rng.one_in(2) { rng.index(size.min(120)) } else { rng.index(size) };
            ("byte of data", vec![replace(byte, 1, vec![bytes[byte] ^ 1 << rng.below(8)])])
        }
        8 => ("reference of a list", vec![replace(at, width, new_number(rng, number, list.objects.len()))]),
        0xa..=0xd => ("member of a list", vec![replace(thing, width, new_number(rng, number, list.objects.len() - 2))]),
        _ => return None,
    })
}

/// The elements of a document that begin like this, and where each ends.
fn elements(document: &[u8], begin: &[u8]) -> Vec<(usize, usize)> {
    let end: &[u8] = if begin == b"<string>" { b"</string>" } else { b"/>" };
    let found = |from: usize, what: &[u8]| {
        document[from..].windows(what.len()).position(|bytes| bytes == what).map(|at| from + at)
    };
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(start) = found(at, begin) {
        let Some(close) = found(start, end) else { break };
        at = close + end.len();
        all.push((start, at));
    }
    all
}

/// Strings with a meaning in a document, and strings that are not allowed in one.
const MARKUP: [&[u8]; 18] = [
    b"&#x41;",
    b"&amp;",
    b"&lt;",
    b"&quot;",
    b"&#0;",
    b"&",
    b"<",
    b">",
    b"\"",
    b"'",
    b"\r\n",
    b"\t",
    b" ",
    b"\x01",
    b"\xff",
    b"]]>",
    b"<!-- -->",
    b"<![CDATA[x]]>",
];

/// Changes an element of a document, a character, or the order of elements. If the document is malformed, both readers must notice.
pub(crate) fn xml(document: &[u8], begin: &[u8], rng: &mut Rng) -> Option<Done> {
    let all = elements(document, begin);
    if all.is_empty() {
        return None;
    }
    // Most references point to the first strings.
    let pick = |rng: &mut Rng| if rng.one_in(2) { rng.index(all.len().min(40)) } else { rng.index(all.len()) };
    let ((start, end), (from, to)) = (all[pick(rng)], all[pick(rng)]);
    let (element, other) = (document[start..end].to_vec(), document[from..to].to_vec());
    let at = start + rng.index(end - start);
    let insert = |at: usize, new: &[u8]| vec![replace(at, 0, new.to_vec())];
    Some(match rng.below(10) {
        0 if from > start => {
            ("exchanged elements", vec![replace(from, to - from, element), replace(start, end - start, other)])
        }
        1 => ("element gone", vec![replace(start, end - start, Vec::new())]),
        2 => ("doubled element", insert(start, &element)),
        3 => ("another element", vec![replace(start, end - start, other)]),
        4 => ("markup", insert(at, MARKUP[rng.index(MARKUP.len())])),
        5 => ("letter gone", vec![replace(at, 1, Vec::new())]),
        6 if begin == b"<string>" => ("empty text", vec![replace(start, end - start, b"<string></string>".to_vec())]),
        _ => ("letter", vec![replace(at, 1, vec![*rng.pick(b"abcdeXYZ0123456789 -=\"'&<>/")])]),
    })
}

/// A type for each kind of storage, and an unknown type.
const TYPES: [&str; 17] = [
    "StartTime",
    "Duration",
    "PrototypeValue",
    "Boolean",
    "CPUCore",
    "PrototypeString",
    "Thread",
    "Process",
    "ThreadName",
    "UUID",
    "TextSymbol",
    "CoreProfilePMCEventsArray",
    "Backtrace",
    "TaggedBacktrace",
    "CoreProfileCallstack",
    "OSLogMetadata",
    "Invented",
];

/// A column with a different type.
pub(crate) fn other_type(schema: &[u8], rng: &mut Rng) -> Option<Done> {
    let all = elements(schema, b"<column ");
    let (start, end) = *all.get(rng.index(all.len().max(1)))?;
    let text = String::from_utf8_lossy(&schema[start..end]).into_owned();
    let at = text.find("engineeringType=\"")? + 17;
    let length = text[at..].find('"')?;
    let new = format!("XR{}TypeID", rng.pick(&TYPES));
    Some(("type of a column", vec![replace(start + at, length, new.into_bytes())]))
}

/// A column with a different name, in the schema and in the descriptor.
pub(crate) fn renamed_column(base: &Base, path: &str, rng: &mut Rng) -> Option<(&'static str, Changes)> {
    let schema = &base.files[path];
    let all = elements(schema, b"<column ");
    let (start, end) = *all.get(rng.index(all.len().max(1)))?;
    let text = String::from_utf8_lossy(&schema[start..end]).into_owned();
    let name = text.split_once("mnemonic=\"")?.1.split('"').next()?.to_owned();
    let at = start + text.find("mnemonic=\"")? + 10;
    let letter = rng.index(name.len());
    let descriptor_path = path.replace("schema.xml", "bulkstore_descriptor");
    let descriptor = &base.files[&descriptor_path];
    let list = List::read(descriptor);
    let fields = (0..list.objects.len()).filter(|&object| list.text(descriptor, object) == name);
    let in_descriptor: Vec<Edit> =
        fields.map(|object| replace(list.objects[object].at + letter, 1, b"x".to_vec())).collect();
    let in_schema = vec![replace(at + letter, 1, b"x".to_vec())];
    Some(("renamed column", vec![(path.to_owned(), Some(in_schema)), (descriptor_path, Some(in_descriptor))]))
}
