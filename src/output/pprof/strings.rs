//! The texts of a profile, each of which is known by its place.

use std::borrow::Cow;
use std::io;

use super::message::put_bytes;
use crate::hash::HashMap;
use crate::output::byte_writer::ByteWriter;

/// The texts that were asked for so far. The first one is the empty one.
pub(super) struct Strings<'p> {
    places: HashMap<Cow<'p, str>, u64>,
    texts: Vec<Cow<'p, str>>,
}

impl<'p> Strings<'p> {
    pub(super) fn new() -> Self {
        let mut strings = Self { places: HashMap::default(), texts: Vec::new() };
        strings.id("");
        strings
    }

    /// The place of a text.
    pub(super) fn id(&mut self, text: impl Into<Cow<'p, str>>) -> u64 {
        let (text, next) = (text.into(), self.texts.len() as u64);
        if let Some(&place) = self.places.get(&text) {
            return place;
        }
        self.places.insert(text.clone(), next);
        self.texts.push(text);
        next
    }

    /// Writes them all, in the order of their places.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        for text in &self.texts {
            put_bytes(6, text.as_bytes(), &mut writer.text);
            writer.flush_if_full()?;
        }
        Ok(())
    }
}
