//! Names the frames of an `.ips` file, with the members that Apple's tools write.
//!
//! ```text
//! {"symbol":"clamp","inline":true,"imageIndex":0,"imageOffset":912,"sourceLine":12,"sourceFile":"util.h"},
//! {"imageOffset":912,"imageIndex":0,"symbol":"draw","symbolLocation":92,"sourceLine":140,"sourceFile":"image.cc"}
//! ```

use super::named::{Edit, Function, NamedReport};
use crate::readers::crash::{Frame, FrameObject, NAMED};

pub(super) fn edits(named: &NamedReport<'_>) -> Vec<Edit> {
    let frames = named.report.report.stacks().flat_map(|stack| &stack.frames);
    frames.flat_map(|frame| edits_of(named, frame).unwrap_or_default()).collect()
}

/// The changes to a frame; `None` without a new name.
fn edits_of(named: &NamedReport<'_>, frame: &Frame) -> Option<Vec<Edit>> {
    let (function, inlined) = named.of(frame).split_last()?;
    let bytes = &named.report.bytes;
    let text = std::str::from_utf8(&bytes[frame.span.clone()]).ok()?;
    let object = FrameObject::parse(text.as_bytes()).ok()?;
    let start = frame.span.start;
    let spaces = bytes[..start].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let between = std::str::from_utf8(&bytes[start - spaces..start]).ok()?;
    let mut edits = Vec::new();
    if !inlined.is_empty() {
        let objects = inlined.iter().map(|function| inlined_object(function, frame, text, &object) + "," + between);
        edits.push((start..start, objects.collect()));
    }
    let mut added = String::new();
    for (index, value) in values(function).into_iter().enumerate() {
        match (&object.values[index], value) {
            (Some(span), Some(value)) => edits.push((start + span.start..start + span.end, value)),
            (None, Some(value)) => added += &(",".to_owned() + &member(NAMED[index], &value, text, &object)),
            // An old distance may refer to another function.
            (Some(span), None) if NAMED[index] == "symbolLocation" => {
                edits.push((start + span.start..start + span.end, "0".to_owned()));
            }
            (_, None) => {}
        }
    }
    if !added.is_empty() {
        edits.push((start + object.end..start + object.end, added));
    }
    Some(edits)
}

/// The values of [`NAMED`].
fn values(function: &Function) -> [Option<String>; NAMED.len()] {
    let (file, line) = function.source.as_ref().map(|(file, line)| (string(file), line.to_string())).unzip();
    [Some(string(&function.name)), function.offset.map(|offset| offset.to_string()), line, file]
}

fn inlined_object(function: &Function, frame: &Frame, text: &str, object: &FrameObject) -> String {
    let [symbol, _, line, file] = values(function);
    let members = [
        ("symbol", symbol),
        ("inline", Some("true".to_owned())),
        ("imageIndex", frame.image.map(|index| index.to_string())),
        ("imageOffset", Some(frame.address.to_string())),
        ("sourceLine", line),
        ("sourceFile", file),
    ];
    let members = members.into_iter().filter_map(|(key, value)| Some(member(key, &value?, text, object)));
    format!("{{{}{}", members.collect::<Vec<_>>().join(","), &text[object.end..])
}

/// A member, with white space as in the frame.
fn member(key: &str, value: &str, text: &str, object: &FrameObject) -> String {
    format!("{}\"{key}\"{}{value}", &text[object.indent.clone()], &text[object.colon.clone()])
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
