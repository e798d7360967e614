//! `uniquing/strings`: a property list of strings, to which rows refer by number. It is XML; a binary one is read, too.

use std::borrow::Cow;
use std::fmt;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::property_list::{Object, PropertyList};
use crate::symbols::Broken;

/// The strings of a run.
#[derive(Debug)]
pub(super) struct Strings<'a>(Vec<Cow<'a, str>>);

impl<'a> Strings<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Broken> {
        if bytes.starts_with(b"bplist") { Self::read_binary(bytes) } else { Self::read_xml(bytes) }
    }

    fn read_binary(bytes: &'a [u8]) -> Result<Self, Broken> {
        let list = PropertyList::read(bytes)?;
        let Object::Array(strings) = list.object(list.top.into())? else {
            return Err(Broken { at: 0, message: "the strings are no array".to_owned() });
        };
        // References to one text may be many; what is made of all of them stays near the size of the file.
        let mut left = bytes.len().saturating_mul(16);
        let text = |index| {
            let no_text = || Broken { at: 0, message: format!("object {index} among the strings is no text") };
            let text = list.object(index)?.text().ok_or_else(no_text)?;
            left = left.checked_sub(text.len()).ok_or_else(|| Broken {
                at: 0,
                message: "the strings repeat their texts to more than 16 times the file".to_owned(),
            })?;
            Ok(text)
        };
        strings.iter().map(text).collect::<Result<_, _>>().map(Self)
    }

    fn read_xml(bytes: &[u8]) -> Result<Self, Broken> {
        let mut xml = Reader::from_reader(bytes);
        let (mut strings, mut open, mut is_complete) = (Vec::new(), None::<String>, false);
        loop {
            let at = xml.buffer_position();
            let broken = |rule: String| Broken { at, message: format!("strings at {at:#x}: {rule}") };
            let event = xml.read_event().map_err(|error| broken(error.to_string()))?;
            match event {
                Event::Start(start) => match (start.name().into_inner(), &open) {
                    ("string", None) => open = Some(String::new()),
                    ("plist" | "array", None) => {}
                    (name, _) => return Err(broken(format!("<{name}> was not expected"))),
                },
                Event::Empty(start) if start.name().into_inner() == "string" => strings.push(Cow::Borrowed("")),
                Event::Empty(start) if start.name().into_inner() == "array" => {}
                Event::Empty(start) => {
                    return Err(broken(format!("<{}/> was not expected", start.name().into_inner())));
                }
                Event::End(end) => {
                    strings.extend(open.take().map(Cow::Owned));
                    is_complete |= end.name().into_inner() == "plist";
                }
                Event::Text(text) => open.iter_mut().for_each(|open| open.push_str(&text)),
                Event::CData(text) => open.iter_mut().for_each(|open| open.push_str(&text)),
                Event::GeneralRef(reference) => {
                    let text = match reference.is_char_ref() {
                        true => reference.resolve_char_ref().ok().flatten().map(String::from),
                        false => quick_xml::escape::resolve_predefined_entity(&reference).map(String::from),
                    };
                    let text = text.ok_or_else(|| broken(format!("the entity &{}; is not defined", &*reference)))?;
                    open.iter_mut().for_each(|open| open.push_str(&text));
                }
                Event::Eof => break,
                Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
            }
        }
        if !is_complete {
            let message = "the strings end before their property list does".to_owned();
            return Err(Broken { at: bytes.len() as u64, message });
        }
        Ok(Self(strings))
    }

    /// A string by its number.
    pub(super) fn get(&self, number: u64) -> Result<&str, BadString> {
        let string = usize::try_from(number).ok().and_then(|index| self.0.get(index));
        string.map(AsRef::as_ref).ok_or(BadString { number, count: self.0.len() })
    }
}

/// A number that refers to no string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadString {
    number: u64,
    count: usize,
}

impl fmt::Display for BadString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "string {} is not there, only {} are", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_read() {
        let texts = ["", "Running", "<a> & \"b\"\n", "Möbius 🚴", " spaces "];
        let value = plist::Value::Array(texts.iter().map(|&text| text.into()).collect());
        for is_binary in [true, false] {
            let mut bytes = Vec::new();
            match is_binary {
                true => value.to_writer_binary(&mut bytes).unwrap(),
                false => value.to_writer_xml(&mut bytes).unwrap(),
            }
            let strings = Strings::read(&bytes).unwrap();
            for (text, number) in texts.iter().zip(0..) {
                assert_eq!(strings.get(number), Ok(*text));
            }
            assert!(strings.get(5).unwrap_err().to_string().contains("only 5 are"));
            assert!(strings.get(u64::MAX).is_err());
            // Cut anywhere, it is no list.
            for end in 0..bytes.len() - 9 {
                assert!(Strings::read(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
            }
        }
    }

    #[test]
    fn other_lists_are_told() {
        for (text, word) in [
            ("<plist><dict/></plist>", "<dict/>"),
            ("<plist><array><integer>1</integer></array></plist>", "<integer>"),
            ("<plist><array><string>&nope;</string></array></plist>", "&nope;"),
            ("<plist><array><string>a<string>b</string></string></array></plist>", "<string>"),
            ("", "end before"),
        ] {
            let broken = Strings::read(text.as_bytes()).unwrap_err();
            assert!(broken.message.contains(word), "{text}: {broken}");
        }
        assert_eq!(Strings::read(b"<plist><array/></plist>").unwrap().0.len(), 0);
    }
}
