//! Parses a store's `schema.xml`: its columns, in export order.
//!
//! ```xml
//! <schema name="cpu-profile" topology="XRT64_CC32_R_TypeID"><column mnemonic="time" engineeringName="Sample Time"
//!   engineeringType="XRSampleTimestampTypeID" topologyField="XRTraceRelativeTimestampFieldID"/>…</schema>
//! ```

use quick_xml::events::{BytesStart, Event};

use super::xml;
use crate::symbols::Broken;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SchemaColumn {
    /// The column's identifier, such as `thread-state`.
    pub(super) mnemonic: String,
    /// The type of its values, such as `XRThreadStateTypeID`.
    pub(super) engineering_type: String,
    /// The topology field that contains its value; empty if it has a separate field.
    pub(super) topology_field: String,
}

/// The used parts of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Schema {
    pub(super) name: String,
    pub(super) columns: Vec<SchemaColumn>,
}

/// Real schemas have a few dozen columns.
const MAX_COLUMNS: usize = 1_000;

impl Schema {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut schema = None;
        xml::read(bytes, "schema", |event| match event {
            Event::Start(start) | Event::Empty(start) => add_element(start, &mut schema),
            _ => Ok(()),
        })?;
        schema.ok_or_else(|| Broken::rule("it contains no schema"))
    }
}

/// Adds an element; the first one must be the schema.
fn add_element(start: &BytesStart<'_>, schema: &mut Option<Schema>) -> Result<(), String> {
    match (start.name().into_inner(), schema) {
        ("schema", schema @ None) => {
            let name = xml::attribute(start, "name").ok_or("it has no name")?;
            *schema = Some(Schema { name, columns: Vec::new() });
        }
        ("column", Some(schema)) if schema.columns.len() < MAX_COLUMNS => {
            let column = column(start).ok_or("a column has no name or no type")?;
            if schema.columns.iter().any(|known| known.mnemonic == column.mnemonic) {
                return Err(format!("two columns are called {}", column.mnemonic));
            }
            schema.columns.push(column);
        }
        (name, _) => return Err(format!("<{name}> was not expected")),
    }
    Ok(())
}

fn column(start: &BytesStart<'_>) -> Option<SchemaColumn> {
    Some(SchemaColumn {
        mnemonic: xml::attribute(start, "mnemonic").filter(|name| !name.is_empty())?,
        engineering_type: xml::attribute(start, "engineeringType").filter(|name| !name.is_empty())?,
        topology_field: xml::attribute(start, "topologyField").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::engineering_types::exported_type;
    use super::*;

    #[test]
    fn columns_stand_in_their_order() {
        let xml = br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<schema name="a&amp;b" topology="XRT64_CC32_R_TypeID"><column mnemonic="time" engineeringName="T"
 engineeringType="XRSampleTimestampTypeID" topologyField="XRTraceRelativeTimestampFieldID"/><column
 engineeringType="XRCPUCoreTypeID" mnemonic="core"></column></schema>"#;
        let schema = Schema::read(xml).unwrap();
        assert_eq!(schema.name, "a&b");
        let columns: Vec<_> = schema
            .columns
            .iter()
            .map(|column| (column.mnemonic.as_str(), exported_type(&column.engineering_type)))
            .collect();
        assert_eq!(columns, [("time", "sample-time"), ("core", "core")]);
        assert_eq!(schema.columns[0].topology_field, "XRTraceRelativeTimestampFieldID");
    }

    #[test]
    fn other_documents_are_told() {
        for (text, word) in [
            ("", "has 0 at the top"),
            ("<schema name='a'>", "1 open elements"),
            (
                "<schema name='a'><column mnemonic='b' engineeringType='c'/><column mnemonic='b' engineeringType='d'/></schema>",
                "two columns",
            ),
            ("<schema/>", "no name"),
            ("<schema name='a'><column mnemonic='b'/></schema>", "no type"),
            ("<html><body/></html>", "<html> was not expected"),
            ("<schema name='a'><column", "schema at"),
        ] {
            let broken = Schema::read(text.as_bytes()).unwrap_err();
            assert!(broken.message.contains(word), "{text}: {broken}");
        }
    }
}
