//! Short JSON (`--max-size`): it is small, has the values of the complete document, and loses nothing: its pieces are the whole again.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::command::{all_exports, fails, fixture, json, ok, orchard};

/// The complete document, without what short JSON leaves out of every document.
fn full(args: &[&str]) -> Value {
    without_absent(json(args)).expect("there are fields")
}

/// The value without fields that are null or empty. Items of lists stay where they are.
fn without_absent(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Value::String(text)).filter(|text| text != ""),
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(|item| without_absent(item).unwrap_or_default()).collect();
            Some(items).filter(|items| !items.is_empty()).map(Value::Array)
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().filter_map(|(name, value)| Some((name, without_absent(value)?)));
            Some(fields.collect::<Map<_, _>>()).filter(|fields| !fields.is_empty()).map(Value::Object)
        }
        value => Some(value),
    }
}

/// A piece of a document, and the places that are missing, with numbers in place of `*`.
fn short(args: &[&str], size: usize, from: Option<&str>) -> (Value, Vec<(String, u64)>) {
    let size_text = format!("{size}B");
    let from: Vec<&str> = from.into_iter().flat_map(|from| ["--from", from]).collect();
    let text = ok(&[args, &["--format", "json", "--max-size", &size_text], &from].concat());
    assert!(text.len() <= size + 1, "{args:?}: {} of {size} bytes", text.len());
    let mut piece: Value = serde_json::from_str(&text).expect("the output is JSON");
    let left_out = piece.as_object_mut().and_then(|fields| fields.shift_remove("left_out")).unwrap_or_default();
    let places = left_out.as_object().into_iter().flatten();
    (piece, places.map(|(place, count)| (place.clone(), count.as_u64().expect("a count"))).collect())
}

/// Checks that a piece has the same values as the document, as far as it goes.
fn check(piece: &Value, whole: &Value, at: &str) {
    match (piece, whole) {
        (Value::Object(fields), Value::Object(all)) => {
            for (name, value) in fields {
                check(value, all.get(name).unwrap_or(&Value::Null), &format!("{at}/{name}"));
            }
        }
        (Value::Array(items), Value::Array(all)) => {
            assert!(items.len() <= all.len(), "{at}");
            items
                .iter()
                .zip(all)
                .enumerate()
                .for_each(|(index, (item, whole))| check(item, whole, &format!("{at}/{index}")));
        }
        (Value::String(text), Value::String(whole)) => {
            assert!(whole.starts_with(text.as_str()), "{at}: {text} {whole}")
        }
        // An item of which nothing fits.
        (Value::Null, _) => {}
        _ => assert_eq!(piece, whole, "{at}"),
    }
}

/// The number of values.
fn count(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Null => 0,
        _ => 1,
    }
}

/// The pointers to which a place with `*` refers in the document.
fn places(whole: &Value, place: &str) -> Vec<String> {
    let mut found = vec![(String::new(), whole)];
    let names: Vec<&str> = place[1..].split('/').collect();
    for (index, name) in names.iter().enumerate() {
        let is_last = index + 1 == names.len();
        found = found
            .into_iter()
            .flat_map(|(path, value)| -> Vec<(String, &Value)> {
                match value {
                    Value::Array(items) if *name == "*" => {
                        items.iter().enumerate().map(|(index, item)| (format!("{path}/{index}"), item)).collect()
                    }
                    Value::Array(items) if is_last => {
                        let start: usize = name.parse().expect("a number");
                        if start < items.len() { vec![(format!("{path}/{name}"), &Value::Null)] } else { Vec::new() }
                    }
                    Value::String(text) if is_last => {
                        let start: usize = name.parse().expect("a number");
                        if start < text.chars().count() {
                            vec![(format!("{path}/{name}"), &Value::Null)]
                        } else {
                            Vec::new()
                        }
                    }
                    _ => {
                        let name_text = name.replace("~1", "/").replace("~0", "~");
                        let below = value.get(&name_text).or_else(|| value.get(name.parse::<usize>().ok()?));
                        below.map(|below| (format!("{path}/{name}"), below)).into_iter().collect()
                    }
                }
            })
            .collect();
    }
    found.into_iter().map(|(path, _)| path).collect()
}

/// The value at a place, from the item or the character that it names.
fn at(whole: &Value, place: &str) -> Value {
    let (parent, last) = place.rsplit_once('/').expect("a slash");
    let number = || last.parse::<usize>().expect("a number");
    match whole.pointer(parent) {
        Some(Value::Array(items)) => items[number()..].to_vec().into(),
        Some(Value::String(text)) => text.chars().skip(number()).collect::<String>().into(),
        _ => whole.pointer(place).cloned().unwrap_or_default(),
    }
}

/// Adds the pointers to all values, without objects and lists. `start` is the number of items before a list.
fn pointers(value: &Value, at: &str, start: usize, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            pointers(value, &format!("{at}/{name}"), 0, found);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            pointers(item, &format!("{at}/{}", start + index), 0, found);
        }),
        Value::Null => {}
        _ => drop(found.insert(at.to_owned())),
    }
}

/// Reads a document in pieces, and checks that they have all of it. Returns the number of pieces.
fn read_in_pieces(args: &[&str], size: usize) -> usize {
    let whole = full(args);
    let (piece, left_out) = short(args, size, None);
    check(&piece, &whole, "");
    let mut values = BTreeSet::new();
    pointers(&piece, "", 0, &mut values);
    let follow = |left_out: &[(String, u64)]| -> Vec<String> {
        let found: Vec<Vec<String>> = left_out.iter().map(|(place, _)| places(&whole, place)).collect();
        assert!(found.iter().all(|places| !places.is_empty()), "{args:?}: {left_out:?}");
        found.concat()
    };
    let mut open = follow(&left_out);
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    assert_eq!(left_out.is_empty(), count(&piece) == count(&whole), "{args:?}: {left_out:?}");
    let mut pieces = 1;
    while let Some(place) = open.pop() {
        assert!(pieces < 400, "{args:?} at {place}: it does not end");
        let (piece, left_out) = short(args, size, Some(&place));
        check(&piece["value"], &at(&whole, &place), &place);
        assert_ne!(piece["value"], Value::Null, "{args:?}: each piece has something, at {place}");
        let (parent, last) = place.rsplit_once('/').expect("a slash");
        let start = if whole.pointer(parent).is_some_and(Value::is_array) { last.parse().ok() } else { None };
        pointers(&piece["value"], if start.is_some() { parent } else { &place }, start.unwrap_or(0), &mut values);
        for place in follow(&left_out) {
            if seen.insert(place.clone()) {
                open.push(place);
            }
        }
        pieces += 1;
    }
    let mut all = BTreeSet::new();
    pointers(&whole, "", 0, &mut all);
    // The rest of a text has the pointer of its first character.
    let missing: Vec<&String> = all.difference(&values).collect();
    assert!(missing.is_empty(), "{args:?}: {missing:?}");
    pieces
}

#[test]
fn answers_of_four_kilobytes_have_the_numbers_of_the_complete_ones() {
    let exports = all_exports();
    for export in &exports {
        for args in [&[export.as_str(), "--view", "overview"][..], &[export, "--view", "functions"], &["hangs", export]]
        {
            let whole = full(args);
            let (piece, left_out) = short(args, 4000, None);
            check(&piece, &whole, "");
            assert_eq!(left_out.is_empty(), piece == whole, "{args:?}: what is missing is counted");
        }
    }
}

#[test]
fn pieces_are_the_whole() {
    let orchard = orchard();
    assert!(read_in_pieces(&[&orchard, "--view", "functions"], 2000) > 3);
    assert!(read_in_pieces(&[&orchard, "--view", "overview"], 1000) > 3);
    read_in_pieces(&[&orchard, "--view", "tree", "--no-threads", "--min-percent", "5"], 4000);
    read_in_pieces(&["hangs", &fixture("27/signposts")], 1000);
    read_in_pieces(&["tables", &fixture("27/several-tables")], 1000);
}

#[test]
fn places_that_do_not_exist_are_refused() {
    let orchard = orchard();
    let of = |from: &str| {
        fails(1, &[&orchard, "--view", "functions", "--format", "json", "--max-size", "2kB", "--from", from])
    };
    for from in ["/nothing", "/functions/99999", "/functions/x", "/series/0/unit/9", "/functions/0/self_weight/1"] {
        assert!(of(from).contains(&format!("the answer has nothing at {from}; its field left_out")), "{from}");
    }
    let wrong = |args: &[&str]| fails(2, &[&[orchard.as_str(), "--format", "json"], args].concat());
    assert!(wrong(&["--max-size", "2kB", "--from", "functions"]).contains("it starts with a slash"));
    assert!(wrong(&["--max-size", "2kB", "--from", "/functions/*/name/3"]).contains("* stands for any number"));
    assert!(wrong(&["--max-size", "999B"]).contains("--max-size of JSON is at least 1kB"));
    assert!(wrong(&["--from", "/functions/3"]).contains("--max-size"));
    assert!(fails(2, &[&orchard, "--max-size", "2kB"]).contains("--max-size only applies to --format html and json"));
}
