//! Helpers for the XML files in bundles: schemas and strings.

use std::borrow::Cow;

use quick_xml::events::Event;

pub(super) use crate::readers::xml::attribute;
use crate::symbols::{Broken, broken};

/// Passes every event of a document to `take`. Up to each event, the document has been checked to be well-formed.
pub(super) fn read(
    bytes: &[u8],
    what: &str,
    mut take: impl FnMut(&Event<'_>) -> Result<(), String>,
) -> Result<(), Broken> {
    crate::readers::xml::read(bytes, |event, _| take(event)).map_err(|(at, rule)| broken(at, what, rule))
}

/// Normalizes line ends as XML requires.
pub(super) fn with_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}
