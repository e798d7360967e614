//! Parses `uniquing/strings`, a property list of the strings that rows refer to by index. It is XML; binary lists are also supported.

use std::borrow::Cow;

use quick_xml::events::Event;

use super::property_list::{Object, PropertyList};
use super::xml;
use crate::readers::well_formed::resolve;
use crate::symbols::Broken;

#[derive(Debug)]
pub(super) struct Strings<'a>(Vec<Cow<'a, str>>);

impl<'a> Strings<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Broken> {
        if bytes.starts_with(b"bplist") { Self::read_binary(bytes) } else { Self::read_xml(bytes) }
    }

    fn read_binary(bytes: &'a [u8]) -> Result<Self, Broken> {
        let list = PropertyList::read(bytes)?;
        let Object::Array(strings) = list.object(list.top.into())? else {
            return Err(Broken::rule("the strings are not an array"));
        };
        // Many references can share one string; the limit keeps the total near the size of the file.
        let mut left = bytes.len().saturating_mul(16);
        let text = |index| {
            let no_text = || Broken::rule(format_args!("object {index} among the strings is not a string"));
            let text = list.object(index)?.text().ok_or_else(no_text)?;
            let too_long = || Broken::rule("repeated strings are more than 16 times as long as the file");
            left = left.checked_sub(text.len()).ok_or_else(too_long)?;
            Ok(text)
        };
        strings.iter().map(text).collect::<Result<_, _>>().map(Self)
    }

    fn read_xml(bytes: &[u8]) -> Result<Self, Broken> {
        let mut list = XmlList::default();
        xml::read(bytes, "strings", |event| list.take(event))?;
        if !list.is_list {
            return Err(Broken::rule("the strings are not an array"));
        }
        Ok(Self(list.strings))
    }

    /// Returns the string with this index.
    pub(super) fn get(&self, number: u64) -> Result<&str, String> {
        let string = usize::try_from(number).ok().and_then(|index| self.0.get(index));
        string.map(AsRef::as_ref).ok_or_else(|| format!("string {number} does not exist; there are {}", self.0.len()))
    }
}

/// The state of parsing an XML property list.
#[derive(Debug, Default)]
struct XmlList<'a> {
    strings: Vec<Cow<'a, str>>,
    /// The content of the current string element.
    open: Option<String>,
    /// The number of enclosing lists: `plist`, then `array`.
    depth: usize,
    is_list: bool,
}

impl XmlList<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(start) => self.start(start.name().into_inner())?,
            Event::Empty(start) => {
                self.start(start.name().into_inner())?;
                self.end();
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.add(&xml::with_line_ends(text))?,
            Event::CData(text) => self.add(&xml::with_line_ends(text))?,
            Event::GeneralRef(reference) => {
                self.add(resolve(reference).unwrap_or_default().encode_utf8(&mut [0; 4]))?
            }
            Event::Eof | Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &str) -> Result<(), String> {
        match (name, self.depth, &self.open) {
            ("plist", 0, None) | ("array", 1, None) => {
                self.depth += 1;
                self.is_list |= name == "array";
            }
            ("string", 2, None) => self.open = Some(String::new()),
            _ => return Err(format!("<{name}> was not expected")),
        }
        Ok(())
    }

    fn end(&mut self) {
        match self.open.take() {
            Some(text) => self.strings.push(Cow::Owned(text)),
            // A second array would be a second list.
            None => self.depth = if self.depth == 2 { 3 } else { 0 },
        }
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        match &mut self.open {
            Some(open) => open.push_str(text),
            None if text.trim_ascii().is_empty() => {}
            None => return Err("text outside of the strings".to_owned()),
        }
        Ok(())
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
            assert!(strings.get(5).unwrap_err().contains("there are 5"));
            assert!(strings.get(u64::MAX).is_err());
            // A list that is cut off anywhere is an error.
            for end in 0..bytes.len() - 9 {
                assert!(Strings::read(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
            }
        }
    }

    #[test]
    fn other_lists_are_told() {
        for (text, word) in [
            ("<plist><dict/></plist>", "<dict> was"),
            ("<plist><array><integer>1</integer></array></plist>", "<integer>"),
            ("<plist><array><string>&nope;</string></array></plist>", "&nope;"),
            ("<plist><array><string>a<string>b</string></string></array></plist>", "<string>"),
            ("", "has 0 at the top"),
            ("<plist></plist>", "not an array"),
            ("<plist><array/><array/></plist>", "<array> was"),
        ] {
            let broken = Strings::read(text.as_bytes()).unwrap_err();
            assert!(broken.message.contains(word), "{text}: {broken}");
        }
        assert_eq!(Strings::read(b"<plist><array/></plist>").unwrap().0.len(), 0);
    }
}
