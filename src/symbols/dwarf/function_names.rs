//! Finds the names of a function: its linkage name and its source name.
//!
//! An inlined call has no name, but a reference to the function (`DW_AT_abstract_origin`), which may refer on to its declaration in a class
//! (`DW_AT_specification`). Names are searched along this chain. A linkage name on the declaration is preferred to a plain name found on the way.

use gimli::{AttributeValue, DebugInfoOffset, UnitOffset};

use super::limits::{Budget, Bytes, Fault, MAX_ATTRIBUTES, MAX_STRING_LENGTH, UnitRef};
use super::units::{Unit, Units};

/// The maximum number of references followed from one entry. Compilers write two.
const MAX_REFERENCES: usize = 16;

/// The target of a reference.
enum Reference {
    InUnit(UnitOffset),
    InFile(DebugInfoOffset),
}

/// Returns the names of the entry at `offset`, except unreadable ones.
pub(super) fn names<'data>(
    units: &Units<'data>,
    unit: &Unit<'data>,
    offset: UnitOffset,
    budget: &Budget<'_>,
) -> Names<'data> {
    let mut names = Names::default();
    let (mut unit, mut offset) = (unit, offset);
    for _ in 0..MAX_REFERENCES {
        let next = units.unit_ref(unit).and_then(|unit| read_entry(units, unit, offset, budget, &mut names));
        match next {
            Ok(Some(_)) if names.linkage.is_some() => break,
            Ok(Some(Reference::InUnit(target))) => offset = target,
            Ok(Some(Reference::InFile(target))) => match units.entry(target) {
                Some(target) => (unit, offset) = target,
                None => break,
            },
            Ok(None) | Err(_) => break,
        }
    }
    names
}

/// Adds missing names from one entry, and returns the next reference.
fn read_entry<'data>(
    units: &Units<'data>,
    unit: UnitRef<'_, 'data>,
    offset: UnitOffset,
    budget: &Budget<'_>,
    names: &mut Names<'data>,
) -> Result<Option<Reference>, Fault> {
    let mut entries = unit.entries_raw(Some(offset))?;
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(None) };
    if abbreviation.attributes().len() > MAX_ATTRIBUTES {
        return Err(Fault::TooCostly);
    }
    let mut reference = None;
    for &specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(specification)?;
        match attribute.name() {
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name if names.linkage.is_none() => {
                names.linkage = text(units, unit, attribute.value(), budget)?;
            }
            gimli::DW_AT_name if names.plain.is_none() => names.plain = text(units, unit, attribute.value(), budget)?,
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                reference = match attribute.value() {
                    AttributeValue::UnitRef(offset) => Some(Reference::InUnit(offset)),
                    AttributeValue::DebugInfoRef(offset) => Some(Reference::InFile(offset)),
                    _ => reference,
                };
            }
            _ => {}
        }
    }
    Ok(reference)
}

/// Returns a non-empty UTF-8 string.
fn text<'data>(
    units: &Units<'data>,
    unit: UnitRef<'_, 'data>,
    value: AttributeValue<Bytes<'data>>,
    budget: &Budget<'_>,
) -> Result<Option<&'data str>, Fault> {
    match units.string(unit, value) {
        Ok(bytes) => {
            budget.walk(bytes.len() / 16 + 1)?;
            Ok(std::str::from_utf8(bytes.slice()).ok().filter(|text| !text.is_empty()))
        }
        Err(_) => {
            // This may be an unterminated string, searched to the maximum length.
            budget.walk(MAX_STRING_LENGTH as usize / 16)?;
            Ok(None)
        }
    }
}

/// The names of a function. Empty names are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Names<'data> {
    /// `DW_AT_linkage_name`.
    pub(super) linkage: Option<&'data str>,
    /// `DW_AT_name`. May be missing, since the search stops at the linkage name.
    pub(super) plain: Option<&'data str>,
}

impl<'data> Names<'data> {
    /// The preferred name.
    pub(super) fn best(self) -> Option<&'data str> {
        self.linkage.or(self.plain)
    }
}
