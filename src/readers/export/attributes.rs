//! Parses the attributes that an element's value depends on.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use super::position::Fault;
use super::tag::Tag;
use crate::readers::well_formed::attributes;

/// Where an element's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// The element itself; nothing can refer to it.
    None,
    /// The element itself, which defines this id.
    Id(u64),
    /// The element that defined this id.
    Ref(u64),
}

/// The attributes that an element's value depends on, unescaped.
#[derive(Debug)]
pub(super) enum Fields<'a> {
    None,
    Frame(FrameFields<'a>),
    Binary(BinaryFields<'a>),
    /// The line of a source; `None` if it is not a number.
    Line(Option<u32>),
    /// The display string (`fmt`) of an element, which is the only place with its name.
    DisplayName(Cow<'a, str>),
    /// An unknown element with an address: a new kind of frame.
    UnknownFrame,
}

#[derive(Debug, Default)]
pub(super) struct FrameFields<'a> {
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) address: Option<Cow<'a, str>>,
    pub(super) is_inlined: bool,
    /// True if there are unknown attributes.
    pub(super) has_others: bool,
}

#[derive(Debug, Default)]
pub(super) struct BinaryFields<'a> {
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) uuid: Option<Cow<'a, str>>,
    pub(super) arch: Option<Cow<'a, str>>,
    pub(super) load_address: Option<Cow<'a, str>>,
    pub(super) path: Option<Cow<'a, str>>,
    /// True if there are unknown attributes.
    pub(super) has_others: bool,
}

/// Parses the attributes, in any order, of an element that starts at byte `at`.
pub(super) fn read<'a>(
    tag: Tag,
    start: &'a BytesStart<'_>,
    at: u64,
    name_bytes: usize,
) -> Result<(Identity, Fields<'a>), Fault> {
    if let Some(identity) = only_identity(tag, start.attributes_raw()) {
        return Ok((identity, Fields::None));
    }
    let mut identity = Identity::None;
    let mut fields = match tag {
        Tag::Frame => Fields::Frame(FrameFields::default()),
        Tag::Binary => Fields::Binary(BinaryFields::default()),
        Tag::Source => Fields::Line(None),
        _ => Fields::None,
    };
    let has_names = !matches!(fields, Fields::None) || tag.has_short_name();
    for attribute in attributes(start) {
        let (key, value) = attribute.map_err(|broken| Fault::malformed(broken, at))?;
        if has_names && value.len() > name_bytes && !matches!(key, "id" | "ref") {
            return Err(Fault::limit(format!("a name or path is longer than {name_bytes} bytes"), at));
        }
        match (key, &mut fields) {
            ("id" | "ref", _) => {
                let bad = || Fault::malformed(format!("{key}=\"{value}\" is not a number"), at);
                let number = parse_number(value).ok_or_else(bad)?;
                if identity != Identity::None {
                    return Err(Fault::malformed("an element has both an id and a ref", at));
                }
                identity = if key == "id" { Identity::Id(number) } else { Identity::Ref(number) };
            }
            ("name", Fields::Frame(frame)) => frame.name = Some(unescape(value, at)?),
            ("addr", Fields::Frame(frame)) => frame.address = Some(value.into()),
            ("inlined", Fields::Frame(frame)) => frame.is_inlined = value == "true",
            ("name", Fields::Binary(binary)) => binary.name = Some(unescape(value, at)?),
            ("UUID", Fields::Binary(binary)) => binary.uuid = Some(value.into()),
            ("arch", Fields::Binary(binary)) => binary.arch = Some(unescape(value, at)?),
            ("load-addr", Fields::Binary(binary)) => binary.load_address = Some(value.into()),
            ("path", Fields::Binary(binary)) => binary.path = Some(unescape(value, at)?),
            ("line", Fields::Line(line)) => *line = parse_number(value).and_then(|line| u32::try_from(line).ok()),
            ("addr", Fields::None) if tag == Tag::Other => fields = Fields::UnknownFrame,
            ("fmt", _) if tag.has_display_name() => fields = Fields::DisplayName(unescape(value, at)?),
            (_, Fields::Frame(frame)) => frame.has_others = true,
            (_, Fields::Binary(binary)) => binary.has_others = true,
            _ => {}
        }
    }
    Ok((identity, fields))
}

/// Parses `id="N"` or `ref="N"` in the spelling of `xctrace`, if it is the first attribute and nothing else is needed. This covers nine out of
/// ten elements, and avoids a loop over all attributes.
fn only_identity(tag: Tag, raw: &str) -> Option<Identity> {
    if let Some(rest) = raw.strip_prefix(" ref=\"") {
        let (number, after) = rest.split_once('"')?;
        let is_alone = after.trim_ascii_start().is_empty();
        return is_alone.then(|| parse_number(number)).flatten().map(Identity::Ref);
    }
    if tag.has_display_name() || matches!(tag, Tag::Frame | Tag::Binary | Tag::Source | Tag::Other) {
        return None;
    }
    if raw.is_empty() {
        return Some(Identity::None);
    }
    let (number, rest) = raw.strip_prefix(" id=\"")?.split_once('"')?;
    if rest.contains(" ref") { None } else { parse_number(number).map(Identity::Id) }
}

/// Replaces the entities in an attribute value.
///
/// Each white space character becomes a space, as [XML requires](https://www.w3.org/TR/xml/#AVNormalize).
pub(super) fn unescape(value: &str, at: u64) -> Result<Cow<'_, str>, Fault> {
    let malformed = |error| Fault::malformed(format!("an attribute: {error}"), at);
    if !value.bytes().fold(false, |has_control, byte| has_control | (byte < b' ')) {
        return quick_xml::escape::unescape(value).map_err(malformed);
    }
    let value = value.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    Ok(Cow::Owned(quick_xml::escape::unescape(&value).map_err(malformed)?.into_owned()))
}

pub(super) fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    // `str::parse` would accept a plus sign.
    text.as_bytes().first().filter(|byte| byte.is_ascii_digit()).and_then(|_| text.parse().ok())
}
