//! Implements `Serialize` for answers. The result is exactly the JSON that [`write()`] produces, so there is only one schema.

use std::io;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::Value;

use super::{Answer, DiffReport, Format, write};
#[cfg(feature = "fleet")]
use crate::fleet::FleetReport;
use crate::report::Report;

/// The document that [`Format::Json`] writes, as a value. `docs/formats.md` describes every field.
fn document(answer: Answer<'_, '_>) -> io::Result<Value> {
    let mut json = Vec::new();
    write(answer, &Format::Json, &mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

fn serialize<S: Serializer>(answer: Answer<'_, '_>, serializer: S) -> Result<S::Ok, S::Error> {
    document(answer).map_err(S::Error::custom)?.serialize(serializer)
}

/// Serializes the document that [`Format::Json`] writes. Unlike [`write()`], this keeps the complete document in memory.
impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.into(), serializer)
    }
}

/// Serializes the document that [`Format::Json`] writes.
impl Serialize for DiffReport<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.into(), serializer)
    }
}

/// Serializes the document that [`Format::Json`] writes.
#[cfg(feature = "fleet")]
impl Serialize for FleetReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.into(), serializer)
    }
}
