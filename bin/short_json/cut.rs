//! Cuts a value to a size.
//!
//! Each value has a rank: the lower, the more important. A field that is a list or an object ranks one below its object, and a little below the fields
//! before it; a list of sentences ranks like a single one. An item ranks below its list by the binary logarithm of its number, so later items have fewer details. As many ranks are shown as fit.
//! Then the longest lists that occur once take the rest of the size.

use serde_json::{Map, Value};

use super::pointer::{LEFT_OUT, escaped};
use super::read::{LONGEST_TEXT, Part};

/// The lengths to which texts are cut, one after the other. Most names are shorter than the first.
const TEXTS: [usize; 4] = [LONGEST_TEXT, 120, 60, 30];
/// Fields of documents that repeat the question, or how it was answered; they rank lower.
const CONTEXT: [&str; 5] = ["asked", "documents", "options", "tables", "unnamed"];
const OF_CONTEXT: f64 = 50.0;
/// How much a field ranks below the one before it.
const OF_FIELD: f64 = 0.1;
/// How much slower the ranks of items grow if all of them are texts.
const OF_SENTENCE: f64 = 0.25;
/// Ranks above all that occur.
const ALL: f64 = 1e6;

/// The part of a document that an answer has.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Where the answer begins; `None` for the beginning of the document.
    pub(super) from: Option<String>,
    /// The pointer to the value of which this is a part.
    pub(super) whole: String,
    /// The number of items or characters before it.
    pub(super) start: usize,
}

/// How much is shown.
#[derive(Clone, Debug)]
struct Limits {
    /// The last rank.
    rank: f64,
    /// Characters of each text.
    text: usize,
    /// Items of single lists, by pointer, whatever their ranks.
    lists: Vec<(String, usize)>,
}

/// Returns the value, or as much of it as fits.
pub(super) fn fit(part: &Part, most: usize, place: &Place) -> Value {
    let mut limits = Limits { rank: ALL, text: usize::MAX, lists: Vec::new() };
    let fits = |limits: &Limits| cut(part, limits, place, most).is_some_and(|value| value.to_string().len() <= most);
    if fits(&limits) {
        return cut(part, &limits, place, usize::MAX).unwrap_or_default();
    }
    limits.rank = 0.0;
    for text in TEXTS {
        limits.text = text;
        if fits(&limits) {
            break;
        }
    }
    // In thousandths.
    let with_rank = |rank: usize| Limits { rank: rank as f64 / 1000.0, ..limits.clone() };
    limits = with_rank(last(0, 100_000, |rank| fits(&with_rank(rank))));
    for (list, shown, length) in longest_lists(&cut(part, &limits, place, usize::MAX).unwrap_or_default(), place) {
        let with = |items| {
            let mut limits = limits.clone();
            limits.lists.push((list.clone(), items));
            limits
        };
        limits = with(last(shown, length, |items| fits(&with(items))));
    }
    if matches!(part, Part::Text { .. }) {
        limits.text = last(limits.text, most, |text| fits(&Limits { text, ..limits.clone() }));
    }
    cut(part, &limits, place, usize::MAX).unwrap_or_default()
}

/// The last number up to `high` that fits. `low` fits.
fn last(mut low: usize, mut high: usize, fits: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The lists that are cut and occur once: their pointers, how many of their items are shown, and how many they have. The longest is first.
fn longest_lists(value: &Value, place: &Place) -> Vec<(String, usize, usize)> {
    let left_out = value.get(LEFT_OUT).and_then(Value::as_object).into_iter().flatten();
    let mut lists: Vec<(String, usize, usize)> = left_out
        .filter_map(|(pointer, count)| {
            let (list, first) = pointer.rsplit_once('/').filter(|(list, _)| !list.contains('*'))?;
            let start = if list == place.whole { place.start } else { 0 };
            let (shown, count) = (first.parse::<usize>().ok()? - start, usize::try_from(count.as_u64()?).ok()?);
            Some((list.to_owned(), shown, shown + count))
        })
        .collect();
    lists.sort_by_key(|(_, shown, length)| std::cmp::Reverse(length - shown));
    lists
}

/// Cuts a value, and adds what is left out. `None` if it certainly takes more bytes than `most`, which is found without cutting all of it.
fn cut(part: &Part, limits: &Limits, place: &Place, most: usize) -> Option<Value> {
    let mut cutter = Cutter { limits, place, left_out: Map::new(), room: most };
    let value = cutter.value(part, &place.whole, 0.0).unwrap_or_default();
    if cutter.room == 0 {
        return None;
    }
    let mut answer = match (&place.from, value) {
        (None, Value::Object(fields)) => fields,
        (None, value) => Map::from_iter([("value".to_owned(), value)]),
        (Some(from), value) => Map::from_iter([("from".to_owned(), from.as_str().into()), ("value".to_owned(), value)]),
    };
    if !cutter.left_out.is_empty() {
        answer.insert(LEFT_OUT.to_owned(), cutter.left_out.into());
    }
    Some(Value::Object(answer))
}

impl Part {
    /// True if short JSON does not have such a field at all.
    fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(value) => value.is_null(),
            Self::Text { length, .. } | Self::List { length, .. } => *length == 0,
            Self::Object(fields) => fields.iter().all(|(_, field)| field.is_empty()),
            Self::TooDeep | Self::Missing => false,
        }
    }

    /// True for a text or a list of texts.
    fn is_text(&self) -> bool {
        match self {
            Self::Text { .. } => true,
            Self::List { kept, .. } => is_of_texts(kept),
            _ => false,
        }
    }

    /// How far a field ranks below its object.
    fn rank(&self) -> f64 {
        match self {
            Self::Scalar(_) | Self::Text { .. } => 0.0,
            Self::List { kept, .. } if is_of_texts(kept) => 0.0,
            // Sentences.
            Self::Object(fields) if fields.iter().all(|(_, field)| field.is_text()) => 0.0,
            _ => 1.0,
        }
    }
}

fn is_of_texts(items: &[Part]) -> bool {
    items.iter().all(|item| matches!(item, Part::Text { .. }))
}

struct Cutter<'c> {
    limits: &'c Limits,
    place: &'c Place,
    /// The number of items or characters left out, by the pointer to the first of them.
    left_out: Map<String, Value>,
    /// The number of bytes that may still be used; 0 if the value is too large.
    room: usize,
}

impl Cutter<'_> {
    /// The value with what is shown of it; `None` if it is null or empty. `path` points to it, with `*` for the numbers of items.
    fn value(&mut self, part: &Part, path: &str, rank: f64) -> Option<Value> {
        match part {
            Part::Scalar(value) => {
                self.take(1);
                Some(value).filter(|value| !value.is_null()).cloned()
            }
            Part::Text { kept, length } => {
                let text: String = kept.chars().take(self.limits.text).collect();
                self.take(text.len() + 2);
                self.leave_out(path, text.chars().count(), *length);
                Some(text).filter(|text| !text.is_empty()).map(Value::String)
            }
            Part::List { kept, length } => {
                let values = self.items(kept, path, rank);
                self.leave_out(path, values.len(), *length);
                Some(values).filter(|_| *length > 0).map(Value::Array)
            }
            Part::Object(fields) => {
                Some(self.fields(fields, path, rank)).filter(|fields| !fields.is_empty()).map(Value::Object)
            }
            Part::TooDeep | Part::Missing => {
                self.add(path.to_owned(), 1);
                None
            }
        }
    }

    fn take(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }

    fn items(&mut self, items: &[Part], path: &str, rank: f64) -> Vec<Value> {
        let shown = self.limits.lists.iter().find(|(list, _)| list == path).map(|(_, items)| *items);
        let step = if is_of_texts(items) { OF_SENTENCE } else { 1.0 };
        let rank_of = |index: usize| rank + step * ((index + 1) as f64).log2();
        let is_shown = |index: usize| shown.map_or(rank_of(index) <= self.limits.rank, |shown| index < shown);
        let count = (0..items.len()).take_while(|&index| is_shown(index)).count();
        let below = format!("{path}/*");
        let mut values = Vec::new();
        for (index, item) in items.iter().take(count).enumerate() {
            if self.room == 0 {
                break;
            }
            let value = self.value(item, &below, rank_of(index).min(self.limits.rank));
            // An object of which nothing is shown is not null.
            let is_hidden = matches!(item, Part::Object(_)) && !item.is_empty();
            values.push(value.unwrap_or_else(|| if is_hidden { Value::Object(Map::new()) } else { Value::Null }));
        }
        values
    }

    fn fields(&mut self, fields: &[(String, Part)], path: &str, rank: f64) -> Map<String, Value> {
        let mut values = Map::new();
        let mut before = 0.0;
        for (name, field) in fields.iter().filter(|(_, field)| !field.is_empty()) {
            if self.room == 0 {
                break;
            }
            self.take(name.len() + 4);
            let below = format!("{path}/{}", escaped(name));
            let is_context = path.is_empty() && CONTEXT.contains(&name.as_str());
            let mut rank = rank + field.rank();
            if field.rank() > 0.0 {
                rank += before + if is_context { OF_CONTEXT } else { 0.0 };
                before += OF_FIELD;
            }
            match field {
                _ if self.has_shown(field, rank) => {
                    values.extend(self.value(field, &below, rank).map(|value| (name.clone(), value)));
                }
                Part::List { length, .. } => self.leave_out(&below, 0, *length),
                _ => self.add(below, 1),
            }
        }
        values
    }

    /// True if a field, or anything in it, is shown.
    fn has_shown(&self, part: &Part, rank: f64) -> bool {
        rank <= self.limits.rank
            && match part {
                Part::Object(fields) => {
                    fields.iter().any(|(_, field)| !field.is_empty() && self.has_shown(field, rank + field.rank()))
                }
                _ => true,
            }
    }

    fn leave_out(&mut self, path: &str, shown: usize, length: usize) {
        if shown < length {
            let start = if path == self.place.whole { self.place.start } else { 0 };
            self.add(format!("{path}/{}", start + shown), length - shown);
        }
    }

    fn add(&mut self, pointer: String, count: usize) {
        let counted = self.left_out.get(&pointer).and_then(Value::as_u64).unwrap_or(0);
        self.left_out.insert(pointer, (counted + count as u64).into());
    }
}
