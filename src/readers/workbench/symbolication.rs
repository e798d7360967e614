//! Reads the summary of symbolication in the head. It has only the binaries with missing names, as `output::json` writes them.

use serde_json::Value;

use crate::symbolicate::{BinarySummary, Missing, SymbolicationSummary};
use crate::symbols::{Found, SourceKind};
use crate::units::Uuid;

/// Reads the summary; `None` if no symbol files were used. A binary with a reason from another version has no reason.
pub(super) fn read(head: &Value) -> Option<SymbolicationSummary> {
    let value = head["summary"].get("symbolication")?;
    Some(SymbolicationSummary {
        binaries: rows(&value["binaries"]).map(binary).collect(),
        images: value["images"].as_u64(),
        frames_without_binary: value["frames_without_binary"].as_u64().unwrap_or(0),
        notes: Vec::new(),
    })
}

fn binary(value: &Value) -> BinarySummary {
    let count = |field: &str| value[field].as_u64().unwrap_or(0);
    BinarySummary {
        name: text(value, "name"),
        uuid: value["uuid"].as_str().and_then(Uuid::parse),
        arch: text(value, "arch"),
        frames: count("frames"),
        named_before: count("named_before"),
        named_now: count("named_now"),
        nameless: count("nameless"),
        disagreements: count("disagreements"),
        frames_now: count("frames_now"),
        used: rows(&value["files"]).filter_map(found).collect(),
        missing: match value["missing"].as_str() {
            Some("no-file") => {
                Some(Missing::NoFile { same_name: rows(&value["other_builds"]).filter_map(found).collect() })
            }
            Some("outside-functions") => Some(Missing::OutsideFunctions),
            Some("nameless") => Some(Missing::Nameless),
            _ => None,
        },
    }
}

fn found(value: &Value) -> Option<Found> {
    Some(Found {
        path: text(value, "path").into(),
        kind: SourceKind::ALL.into_iter().find(|kind| value["kind"] == kind.name())?,
        uuid: Uuid::parse(value["uuid"].as_str()?)?,
        arch: text(value, "arch"),
        name: String::new(),
        image_path: None,
        text_address: None,
        text_size: None,
        range: (0, 0),
    })
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
