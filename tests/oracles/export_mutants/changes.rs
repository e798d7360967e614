//! One change to an export, such as the next Xcode version, a script or a broken disk might make.
//!
//! The document stays well-formed, except after some changes of bytes.

use std::ops::Range;

use super::elements::Element;
use support::Rng;

/// A changed document.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) document: Vec<u8>,
    /// A description of the change.
    pub(crate) what: String,
    /// The position of the change in the original document.
    pub(crate) place: usize,
    /// The index of the changed element in the original document.
    pub(crate) element: usize,
}

/// Names of elements and attributes with a meaning.
const NAMES: [&str; 25] = [
    "thread",
    "process",
    "tid",
    "pid",
    "weight",
    "cycle-weight",
    "core",
    "thread-state",
    "backtrace",
    "tagged-backtrace",
    "frame",
    "binary",
    "source",
    "path",
    "sentinel",
    "uint64",
    "row",
    "sample-time",
    "text-addresses",
    "duration",
    "size-in-bytes",
    "boolean",
    "string",
    "swift-task",
    "new-thing",
];
const KEYS: [&str; 10] = ["id", "ref", "fmt", "name", "addr", "UUID", "load-addr", "arch", "path", "line"];
const TEXTS: [&str; 12] = ["", " ", "0", "1", "x", "-1", "1.5", "18446744073709551616", "7 8", "\n", "Running", "0x10"];

/// Makes one random change; `None` if the chosen change is not possible at the chosen place.
pub(crate) fn change(document: &[u8], elements: &[Element], rng: &mut Rng) -> Option<Mutant> {
    let index = rng.index(elements.len());
    let element = &elements[index];
    let (what, edits) = draw(document, elements, element, rng)?;
    let mut changed = document.to_vec();
    let mut last = usize::MAX;
    for (range, text) in edits.iter().rev() {
        debug_assert!(range.end <= last, "edits are in order");
        last = range.start;
        changed.splice(range.clone(), text.iter().copied());
    }
    let place = edits.first()?.0.start;
    let text = |range: &Range<usize>| String::from_utf8_lossy(&document[range.clone()]).into_owned();
    (changed != document).then(|| Mutant {
        document: changed,
        what: format!("{what} at byte {place}: {}", text(&element.tag)),
        place,
        element: index,
    })
}

/// Parts of the document, in order, and their replacements.
type Edits = Vec<(Range<usize>, Vec<u8>)>;

fn draw(document: &[u8], elements: &[Element], element: &Element, rng: &mut Rng) -> Option<(&'static str, Edits)> {
    let one = |range: Range<usize>, text: &[u8]| vec![(range, text.to_vec())];
    let own = document[element.all()].to_vec();
    Some(match rng.below(19) {
        0 => ("an attribute has another name", attribute_name(document, element, rng)?),
        1 => {
            let attribute = rng.pick(not_empty(&element.attributes)?);
            ("an attribute is gone", one(attribute.key.start - 1..attribute.value.end + 1, b""))
        }
        2..=4 => ("an attribute has another value", attribute_value(document, elements, element, rng)?),
        5 => ("an element has another name", element_name(document, element, rng)),
        6 => ("an element is gone", one(element.all(), b"")),
        7 => ("an element is present twice", one(element.end..element.end, &own)),
        8 => {
            let next =
                elements.iter().find(|other| other.tag.start == element.end && other.parent == element.parent)?;
            ("two elements changed places", one(element.tag.start..next.end, &[&document[next.all()], &own].concat()))
        }
        9 => ("an element is marked as absent", one(element.all(), b"<sentinel/>")),
        10 if !element.is_one_tag() => ("an element is empty", one(element.content.clone(), b"")),
        10 => ("an element has no attributes", one(element.name.end..element.tag.end - 2, b"")),
        11 if !element.is_one_tag() => {
            ("an element has no attributes", one(element.name.end..element.tag.end - 1, b""))
        }
        11 | 12 if element.is_leaf && !element.is_one_tag() => {
            ("a text is another one", text(document, elements, element, rng)?)
        }
        11..=13 => ("an element was added", added(document, element, rng)),
        14 => {
            let id = attribute(document, element, "ref")?;
            let other = elements.iter().find(|other| attribute(document, other, "id") == Some(id))?;
            ("an element is defined again", one(element.all(), &document[other.all()]))
        }
        15 => ("a comment or instruction was added", {
            let text = *rng.pick(&["<!-- a -->", "<?a b?>", "<![CDATA[]]>", "<!---->", "&#32;"]);
            one(element.content.start..element.content.start, text.as_bytes())
                .into_iter()
                .filter(|_| !element.is_one_tag())
                .collect()
        }),
        _ => ("a byte is another one", byte(document, element, rng)),
    })
    .filter(|(_, edits)| !edits.is_empty())
}

fn not_empty<T>(items: &[T]) -> Option<&[T]> {
    (!items.is_empty()).then_some(items)
}

fn attribute<'d>(document: &'d [u8], element: &Element, key: &str) -> Option<&'d [u8]> {
    let found = element.attributes.iter().find(|attribute| &document[attribute.key.clone()] == key.as_bytes())?;
    Some(&document[found.value.clone()])
}

fn attribute_name(document: &[u8], element: &Element, rng: &mut Rng) -> Option<Edits> {
    let key = rng.pick(not_empty(&element.attributes)?).key.clone();
    let mut name = document[key.clone()].to_vec();
    match rng.below(4) {
        0 => name = rng.pick(&KEYS).as_bytes().to_vec(),
        1 => name.push(b'x'),
        2 => name.insert(0, *rng.pick(b"x&-1_")),
        _ => {
            let at = rng.index(name.len());
            name[at] = *rng.pick(b"abcxyz&-.");
        }
    }
    Some(vec![(key, name)])
}

fn attribute_value(document: &[u8], elements: &[Element], element: &Element, rng: &mut Rng) -> Option<Edits> {
    let attribute = rng.pick(not_empty(&element.attributes)?);
    let (key, value) = (&document[attribute.key.clone()], attribute.value.clone());
    let mut text = document[value.clone()].to_vec();
    match rng.below(6) {
        0 => text = rng.pick(&TEXTS).as_bytes().to_vec(),
        1 | 2 if matches!(key, b"id" | b"ref") => {
            text = (1 + rng.below(elements.len() as u64 + 5)).to_string().into_bytes();
        }
        // The value of another element of this kind.
        1..=3 => {
            let name = &document[element.name.clone()];
            let others = elements.iter().filter(|other| &document[other.name.clone()] == name);
            let others: Vec<&[u8]> =
                others.filter_map(|other| self::attribute(document, other, std::str::from_utf8(key).ok()?)).collect();
            text = rng.pick(not_empty(&others)?).to_vec();
        }
        4 if !text.is_empty() => {
            text.remove(rng.index(text.len()));
        }
        _ => text.insert(rng.index(text.len() + 1), *rng.pick(b"0123456789abcxf(), &<>'")),
    }
    Some(vec![(value, text)])
}

fn element_name(document: &[u8], element: &Element, rng: &mut Rng) -> Edits {
    let mut name = document[element.name.clone()].to_vec();
    match rng.below(3) {
        0 => name = rng.pick(&NAMES).as_bytes().to_vec(),
        1 => name.push(b'x'),
        _ => {
            let at = rng.index(name.len());
            name[at] = *rng.pick(b"abcdexyz-&1");
        }
    }
    let mut edits = vec![(element.name.clone(), name.clone())];
    if !element.is_one_tag() {
        let start = element.content.end + 2;
        edits.push((start..element.end - 1, name));
    }
    edits
}

fn text(document: &[u8], elements: &[Element], element: &Element, rng: &mut Rng) -> Option<Edits> {
    let content = element.content.clone();
    let mut text = document[content.clone()].to_vec();
    match rng.below(8) {
        // The value of another element with this name, such as the type of another column.
        6 | 7 => {
            let name = &document[element.name.clone()];
            let others = elements.iter().filter(|other| other.is_leaf && &document[other.name.clone()] == name);
            let others: Vec<_> = others.map(|other| &document[other.content.clone()]).collect();
            text = rng.pick(not_empty(&others)?).to_vec();
        }
        0 => text = rng.pick(&TEXTS).as_bytes().to_vec(),
        1 if !text.is_empty() => {
            let at = rng.index(text.len());
            text[at] = *rng.pick(b"0123456789 x&]>");
        }
        2 => {
            let at = rng.index(text.len() + 1);
            text.splice(at..at, rng.pick(&["<a/>", "<!-- b -->", "<sentinel/>", "&#48;", "]]>"]).bytes());
        }
        3 => text = [b"<![CDATA[", text.as_slice(), b"]]>"].concat(),
        4 if !text.is_empty() => {
            let at = rng.index(text.len());
            let reference = format!("&#{};", text[at]);
            text.splice(at..=at, reference.bytes());
        }
        _ => text = [b" ", text.as_slice(), b"\n"].concat(),
    }
    Some(vec![(content, text)])
}

/// Inserts an element before another element, or as its first or last child.
fn added(document: &[u8], element: &Element, rng: &mut Rng) -> Edits {
    let name = *rng.pick(&NAMES);
    let id = 1 + rng.below(60);
    let new = match rng.below(5) {
        0 => format!("<{name}/>"),
        1 => format!("<{name} ref=\"{id}\"/>"),
        2 => format!("<{name} id=\"{id}\">7</{name}>"),
        3 => format!("<{name}>7</{name}>"),
        _ => format!("<{name} id=\"99999\" fmt=\"x\"/>"),
    };
    let at = match rng.below(3) {
        0 if !element.is_one_tag() => element.content.start,
        1 if !element.is_one_tag() => element.content.end,
        _ => element.tag.start,
    };
    debug_assert!(at <= document.len());
    vec![(at..at, new.into_bytes())]
}

/// Changes any byte of a tag, or after it.
fn byte(document: &[u8], element: &Element, rng: &mut Rng) -> Edits {
    let end = element.content.end.min(element.tag.end + 20).max(element.tag.end);
    let at = element.tag.start + rng.index(end - element.tag.start);
    let new = *rng.pick(b"&<>\"'/= ax1-]\n\x01\xff");
    match rng.below(3) {
        0 => vec![(at..at + 1, vec![new])],
        1 => vec![(at..at, vec![new])],
        _ => vec![(at..at + 1, vec![document[at] ^ 1 << rng.below(8)])],
    }
}
