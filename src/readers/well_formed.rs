//! Checks the rules of well-formed XML that the tokenizer does not check.
//!
//! quick-xml finds where tags, text and references start and end. This module checks everything in between: names, attributes, references
//! and characters, as defined in [XML 1.0](https://www.w3.org/TR/xml/). A malformed document is never accepted: `<t&read-state ref="7"/>`
//! is not a `thread-state`, and `&ame="main"` is not a name.

use std::borrow::Cow;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::BytesStart;

/// The rule that a part of a document violates.
pub(super) type Broken = Cow<'static, str>;

/// The length of the longest reference, unless its number has leading zeros.
const LONGEST_REFERENCE: usize = 10;

/// The maximum number of attributes of an element; real ones have up to 20.
const MAX_ATTRIBUTES: usize = 1_024;

/// Checks that the name and attributes of a start tag are well-formed.
#[inline]
pub(super) fn check_tag(start: &BytesStart<'_>) -> Result<(), Broken> {
    let (name, raw) = (start.name().into_inner(), start.attributes_raw());
    let is_usual = is_usual_name(name) && (raw.is_empty() || is_lone_number(raw));
    if is_usual { Ok(()) } else { check_name_and_attributes(name, raw) }
}

#[inline(never)]
fn check_name_and_attributes(name: &str, raw: &str) -> Result<(), Broken> {
    let checked = check_name(name, "an element").and_then(|()| check_attributes(raw));
    // A `<` is invalid anywhere inside a tag.
    let is_cut = || [name, raw].iter().any(|text| memchr::memchr(b'<', text.as_bytes()).is_some());
    checked.map_err(|broken| if is_cut() { "a tag is truncated: there is a < inside it".into() } else { broken })
}

/// True if the attributes are only ` id="N"` or ` ref="N"`, as in nearly all elements.
fn is_lone_number(raw: &str) -> bool {
    let value = raw.strip_prefix(" ref=\"").or_else(|| raw.strip_prefix(" id=\""));
    let digits = value.and_then(|value| value.strip_suffix('"'));
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True if a name consists of letters, digits and hyphens, as nearly all names do.
#[inline]
fn is_usual_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn check_name(name: &str, of: &str) -> Result<(), Broken> {
    if is_usual_name(name) {
        return Ok(());
    }
    let mut characters = name.chars();
    if characters.next().is_some_and(starts_name) && characters.all(continues_name) {
        return Ok(());
    }
    Err(format!("{of} cannot be named {name:?}").into())
}

fn starts_name(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z')
        || matches!(u32::from(c), 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..=0x2ff | 0x370..=0x37d | 0x37f..=0x1fff
            | 0x200c..=0x200d | 0x2070..=0x218f | 0x2c00..=0x2fef | 0x3001..=0xd7ff | 0xf900..=0xfdcf
            | 0xfdf0..=0xfffd | 0x10000..=0xeffff)
}

fn continues_name(c: char) -> bool {
    starts_name(c)
        || matches!(c, '-' | '.' | '0'..='9')
        || matches!(u32::from(c), 0xb7 | 0x300..=0x36f | 0x203f..=0x2040)
}

/// Checks a list of attributes: each follows white space, has a value in quotes, and occurs once.
fn check_attributes(raw: &str) -> Result<(), Broken> {
    // On the stack, since an allocation per tag would cost more than all the checks.
    let (mut first, mut more, mut count) = ([""; 16], Vec::new(), 0);
    let mut rest = raw;
    loop {
        let next = without_space(rest);
        if next.is_empty() {
            return Ok(());
        }
        if next.len() == rest.len() {
            return Err("an attribute does not follow white space".into());
        }
        let (name, value, after) = attribute(next)?;
        check_name(name, "an attribute")?;
        check_value(value)?;
        if first[..count.min(first.len())].contains(&name) || more.contains(&name) {
            return Err(format!("the attribute {name} is present twice").into());
        }
        match first.get_mut(count) {
            Some(place) => *place = name,
            None if count < MAX_ATTRIBUTES => more.push(name),
            None => return Err(format!("an element has more than {MAX_ATTRIBUTES} attributes").into()),
        }
        (count, rest) = (count + 1, after);
    }
}

/// Returns the raw names and values of a start tag's attributes. [`check_tag`] must have accepted the tag.
#[inline]
pub(super) fn attributes<'t>(start: &'t BytesStart<'_>) -> impl Iterator<Item = Result<(&'t str, &'t str), Broken>> {
    let mut rest = without_space(start.attributes_raw());
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        Some(attribute(rest).map(|(name, value, after)| {
            rest = without_space(after);
            (name, value)
        }))
    })
}

/// Returns the raw value of the attribute with this name.
pub(super) fn attribute_of<'t>(start: &'t BytesStart<'_>, name: &str) -> Option<&'t str> {
    attributes(start).flatten().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Splits off the first attribute of `text`. Returns its name, its value and the rest.
#[inline]
fn attribute(text: &str) -> Result<(&str, &str, &str), Broken> {
    let broken = || Broken::from("an attribute has no value in quotes");
    // Names are short, so `memchr` would not be faster.
    let equals = text.bytes().position(|byte| byte == b'=').ok_or_else(broken)?;
    let rest = without_space(&text[equals + 1..]);
    let quote = rest.bytes().next().filter(|quote| matches!(quote, b'"' | b'\'')).ok_or_else(broken)?;
    let value = &rest[1..];
    let end = memchr::memchr(quote, value.as_bytes()).ok_or_else(broken)?;
    let name = &text[..equals];
    let name = if name.ends_with(is_space) { name.trim_end_matches(is_space) } else { name };
    Ok((name, &value[..end], &value[end + 1..]))
}

fn check_value(value: &str) -> Result<(), Broken> {
    if !any_byte(value.as_bytes(), |byte| is_odd(byte) | (byte == b'&') | (byte == b'<')) {
        return Ok(());
    }
    check_characters(value)?;
    if memchr::memchr(b'<', value.as_bytes()).is_some() {
        return Err("there is a < inside an attribute".into());
    }
    for at in memchr::memchr_iter(b'&', value.as_bytes()) {
        let rest = &value[at + 1..];
        let end = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';').or_else(|| rest.find(';'));
        match end.map(|end| &rest[..end]) {
            Some(reference) if resolve(reference).is_some() => {}
            Some(number) if number.starts_with('#') => {
                return Err(format!("the character &{number}; is not allowed in XML").into());
            }
            _ => return Err("there is an & inside an attribute that starts no entity".into()),
        }
    }
    Ok(())
}

/// Returns the character for `&reference;`: one of the five predefined entities, or a character by its number.
pub(super) fn resolve(reference: &str) -> Option<char> {
    let Some(number) = reference.strip_prefix('#') else {
        return resolve_predefined_entity(reference)?.chars().next();
    };
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
    // `from_str_radix` would accept a sign.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = is_number.then(|| u32::from_str_radix(digits, radix).ok()).flatten()?;
    char::from_u32(code).filter(|&c| is_allowed(c))
}

/// Checks a piece of text between two tags or references.
pub(super) fn check_text(text: &str) -> Result<(), Broken> {
    if !any_byte(text.as_bytes(), |byte| is_odd(byte) | (byte == b']')) {
        return Ok(());
    }
    if text.contains("]]>") {
        return Err("there is a ]]> in the text".into());
    }
    check_characters(text)
}

/// True if a byte may belong to a character that XML does not allow.
const fn is_odd(byte: u8) -> bool {
    byte < b' ' || byte >= 0xef
}

/// True if any byte passes the test. Tests blocks without stopping early, which is faster.
#[inline]
fn any_byte(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    let in_block = |block: &[u8; 16]| block.iter().fold(false, |any, &byte| any | test(byte));
    match bytes.last_chunk() {
        // The last block covers the remainder and overlaps the one before.
        Some(last) => bytes.as_chunks().0.iter().fold(in_block(last), |any, block| any | in_block(block)),
        None => bytes.iter().fold(false, |any, &byte| any | test(byte)),
    }
}

/// Checks that XML allows all characters.
pub(super) fn check_characters(text: &str) -> Result<(), Broken> {
    // Nearly all text is printable ASCII, for which this test is faster than stopping at the first match.
    if !any_byte(text.as_bytes(), is_odd) {
        return Ok(());
    }
    match text.chars().find(|&c| !is_allowed(c)) {
        Some(c) => Err(format!("the character U+{:04X} is not allowed", u32::from(c)).into()),
        None => Ok(()),
    }
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..) && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Strips leading white space.
#[inline]
fn without_space(text: &str) -> &str {
    &text[text.bytes().take_while(|&byte| is_space(char::from(byte))).count()..]
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Checks that a document may contain `<?content?>`.
pub(super) fn check_instruction(content: &str) -> Result<(), Broken> {
    let target = content.split(is_space).next().unwrap_or_default();
    check_name(target, "a processing instruction")?;
    if target.eq_ignore_ascii_case("xml") {
        return Err("an XML declaration is truncated".into());
    }
    check_characters(content)
}

/// Checks that `<?content?>` is an XML declaration of a supported document.
pub(super) fn check_declaration(content: &str) -> Result<(), Broken> {
    let broken = || Broken::from("the XML declaration is broken");
    let raw = content.strip_prefix("xml").ok_or_else(broken)?;
    check_attributes(raw)?;
    let mut rest = raw.trim_matches(is_space);
    for key in ["version", "encoding", "standalone"] {
        if !rest.starts_with(key) {
            continue;
        }
        let (name, value, after) = attribute(rest)?;
        let is_known = match name {
            "version" if value != "1.0" => {
                return Err(format!("XML {value} is not read; write the file again as XML 1.0").into());
            }
            "encoding" if !["UTF-8", "US-ASCII", "ASCII"].iter().any(|known| value.eq_ignore_ascii_case(known)) => {
                let advice = "convert the file to UTF-8, or export it again";
                return Err(format!("the encoding {value} of the XML declaration is not read; {advice}").into());
            }
            "standalone" => matches!(value, "yes" | "no"),
            _ => true,
        };
        if !is_known {
            return Err(broken());
        }
        rest = after.trim_start_matches(is_space);
    }
    if raw.trim_start_matches(is_space).starts_with("version") && rest.is_empty() { Ok(()) } else { Err(broken()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(content: &str) -> Result<(), Broken> {
        let length = content.find([' ', '\t', '\n']).unwrap_or(content.len());
        check_tag(&BytesStart::from_content(content, length))
    }

    #[test]
    fn tags_are_well_formed_or_not() {
        for good in [
            "thread",
            "thread id=\"7\"",
            "thread ref=\"7\" ",
            "thread\n id = '7'\tfmt=\"a > b &amp; c &#233; &#xe9;\"",
            "a:b-c.d_1 x:y=''",
            "é ü=\"\"",
            "frame name=\"-[X y]\" addr=\"0x1\"",
        ] {
            assert_eq!(tag(good), Ok(()), "{good}");
        }
        for bad in [
            "t&read-state ref=\"7\"",
            "7th",
            "-a",
            "",
            "thread id=\"7",
            "thread id=7",
            "thread id",
            "thread re&=\"27\"",
            "thread ref\"27\"",
            "thread id=\"7\"fmt=\"\"",
            "frame &ame=\"main\"",
            "thread id=\"1\" id=\"2\"",
            "thread fmt=\"a & b\"",
            "thread fmt=\"&nbsp;\"",
            "thread fmt=\"&#0;\"",
            "thread fmt=\"&#x1;\"",
            "thread fmt=\"&#+5;\"",
            "thread fmt=\"&#xd800;\"",
            "thread fmt=\"a\u{1}\"",
            "thread fmt=\"\u{ffff}\"",
            "thread fmt=\"a<b\"",
            "thread id=\"7\" \"",
        ] {
            assert!(tag(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn text_declarations_and_instructions() {
        assert_eq!(check_text("a\tb\r\n ← µ"), Ok(()));
        for bad in ["a\u{0}", "\u{fffe}", "]]>"] {
            assert!(check_text(bad).is_err(), "{bad:?}");
        }
        for good in ["xml version=\"1.0\"", "xml version='1.0' encoding=\"utf-8\" standalone='no' "] {
            assert_eq!(check_declaration(good), Ok(()), "{good}");
        }
        for bad in [
            "xml",
            "xml version=\"1.1\"",
            "xml version=\"2.0\"",
            "xml version=\"1.0\" encoding=\"UTF-16\"",
            "xml encoding=\"UTF-8\"",
            "xml encoding=\"UTF-8\" version=\"1.0\"",
            "xml version=\"1.0\" encoding=\"ISO-8859-1\"",
            "xml version=\"1.0\" standalone=\"maybe\"",
            "xml vers&on=\"1.0\"",
        ] {
            assert!(check_declaration(bad).is_err(), "{bad}");
        }
        assert_eq!(check_instruction("xml-stylesheet href=\"a\""), Ok(()));
        for bad in ["XML version=\"1.0\"", "", " a", "a \u{2}"] {
            assert!(check_instruction(bad).is_err(), "{bad:?}");
        }
    }
}
