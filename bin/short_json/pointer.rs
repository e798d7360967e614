//! The places in a document.

use std::fmt;

/// The field with what is left out.
pub(super) const LEFT_OUT: &str = "left_out";

/// A JSON pointer (RFC 6901). After the name of a list, a number is its first item, and after the name of a text, its first character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(pub(super) Vec<String>);

impl Pointer {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('/').filter(|path| !path.is_empty()) else {
            return Err(format!("it starts with a slash, such as /functions/5: the field {LEFT_OUT} has them"));
        };
        if path.split('/').any(|name| name == "*") {
            return Err("* stands for any number: put the number of an item in its place".to_owned());
        }
        Ok(Self(path.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "/{}", escaped(name)))
    }
}

/// A name in a pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
