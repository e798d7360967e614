//! Strings composed of typed parts: messages and narratives.
//!
//! A column with such a string contains the index of a *typed array* (`uniquing/typedArrayUniquer`, with the same layout as arrays). The
//! array's numbers come in pairs: the index of a type in `uniquing/EngineeringTypes.etypes`, and a value, stored like a field of that type.
//! The list of types depends on the version of Instruments, so each run's own list is used.
//!
//! ```text
//! [XRSignpostNameTypeID, string "load"]  [XRNarrativeTextTypeID, string " took "]  [XRDurationTypeID, 1280000000]
//! ```

use std::collections::HashSet;
use std::path::Path;

use super::budget::Budget;
use super::damage::Unreadable;
use super::engineering_types::{Storage, storage};
use super::file::{Content, Room, broken_file};
use super::keyed_archive::KeyedArchive;
use super::strings::Strings;
use super::uniquer::{Arrays, NONE, reference};
use crate::error::{Diagnostic, Error};
use crate::files::Files;
use crate::symbols::Broken;
use crate::units::Weight;

/// The maximum nesting depth; real narratives have a depth of 2.
const MAX_DEPTH: usize = 16;
/// The maximum number of parts at all depths; real narratives have a few. Without a limit, typed arrays could refer to each other exponentially
/// often.
const MAX_PARTS: usize = 1_000;
/// The maximum length in bytes.
const MAX_TEXT: usize = 16 << 10;

/// The typed arrays of a run, and their types.
pub(super) struct Narratives {
    arrays: Arrays,
    types: Vec<String>,
}

impl Narratives {
    /// Reads the folder `uniquing` of a run. Returns a diagnostic if the arrays are out of order.
    pub(super) fn read(files: &dyn Files, uniquing: &Path, room: &Room) -> Result<(Self, Option<Diagnostic>), Error> {
        let path = uniquing.join("EngineeringTypes.etypes");
        let bytes = Content::require(files, &path)?.read_all(room)?;
        let types = types(&bytes).map_err(|broken| broken_file(&path, &broken))?;
        let (arrays, data) = Arrays::open(files, &uniquing.join("typedArrayUniquer"), room)?;
        let odd = arrays.fill(data)?;
        Ok((Self { arrays, types }, odd))
    }

    /// Composes the string of a typed array, separating its parts with `joint`.
    pub(super) fn text(&self, number: u64, joint: &str, strings: &Strings<'_>) -> Result<String, Unreadable> {
        let mut writer = Writer { narratives: self, strings, text: String::new(), parts: 0 };
        writer.append(number, joint, 0)?;
        Ok(writer.text)
    }
}

struct Writer<'a> {
    narratives: &'a Narratives,
    strings: &'a Strings<'a>,
    text: String,
    /// The number of parts so far.
    parts: usize,
}

impl Writer<'_> {
    /// Appends the parts of a typed array, separated by `joint`.
    fn append(&mut self, number: u64, joint: &str, depth: usize) -> Result<(), Unreadable> {
        let no_text = |count| format!("typed array {number} of {count} numbers is not a string, or is too long");
        let reference = reference(number).ok_or_else(|| no_text(0))?;
        let Narratives { arrays, types } = self.narratives;
        let array = arrays.get(reference)?;
        let odd = || no_text(array.len());
        self.parts += array.len() / 2;
        if depth > MAX_DEPTH || !array.len().is_multiple_of(2) || self.parts > MAX_PARTS {
            return Err(odd().into());
        }
        let (places, values) = (array.iter().step_by(2), array.iter().skip(1).step_by(2));
        for (index, (place, value)) in places.zip(values).enumerate() {
            if index > 0 {
                self.text.push_str(joint);
            }
            let kind = usize::try_from(place).ok().and_then(|place| types.get(place)).ok_or_else(odd)?;
            self.part(kind, value, depth)?;
            if self.text.len() > MAX_TEXT {
                return Err(odd().into());
            }
        }
        Ok(())
    }

    /// Appends a part in the spelling of exports. A part of an unknown type is written as the type's name and the number, so it cannot be
    /// mistaken for anything else.
    fn part(&mut self, kind: &str, value: u64, depth: usize) -> Result<(), Unreadable> {
        let storage = storage(kind);
        let is_reference = matches!(storage, Storage::Text | Storage::Narrative | Storage::Metadata);
        // All bits set means no value, even in 32-bit references.
        let is_none = value == u64::MAX || (value == u64::from(NONE) && is_reference);
        match storage {
            _ if kind == "XRPrototypeValueTypeID" => separated(&mut self.text, value),
            _ if is_none => {}
            Storage::Metadata => self.append(value, " ", depth + 1)?,
            Storage::Narrative => self.append(value, "", depth + 1)?,
            Storage::Text => self.text.push_str(self.strings.get(value)?),
            _ if kind == "XRDurationTypeID" => self.text.push_str(&Weight::nanos(value).to_string()),
            _ => self.text.extend(["<", kind, " ", &value.to_string(), ">"]),
        }
        Ok(())
    }
}

/// Writes a number with commas as thousands separators.
fn separated(text: &mut String, number: u64) {
    let digits = number.to_string();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
}

/// Reads the type names in order. Duplicates and names of another form are errors, since Instruments never writes them.
fn types(bytes: &[u8]) -> Result<Vec<String>, Broken> {
    let archive = KeyedArchive::read(bytes)?;
    let root = archive.top("root")?.ok_or_else(|| Broken::rule("root: it is missing"))?;
    let mut budget = Budget::new(&archive);
    let name = |node| budget.string(node)?.ok_or_else(|| Broken::rule("a type has no name"));
    let types = root.items()?.into_iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    let is_type = |name: &str| name.starts_with("XR") && name.ends_with("TypeID");
    match types.iter().position(|name| !is_type(name) || !seen.insert(name.as_str())) {
        Some(other) => Err(Broken::rule(format_args!("{:?} is not a type, or occurs twice", types[other]))),
        None => Ok(types),
    }
}
