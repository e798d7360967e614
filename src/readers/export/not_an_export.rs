//! Describes inputs that are not exports, with advice for each.

use memchr::memmem;

use crate::recording::export_to_file;
use crate::settings::DSYM;

/// True if an input starts like XML.
pub(super) fn is_markup(head: &[u8]) -> bool {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start().starts_with(b"<")
}

/// Returns a sentence about an input that contains no document.
pub(super) fn describe(head: &[u8]) -> String {
    if let Some(sentence) = recognise(head) {
        return sentence;
    }
    if is_markup(head) {
        return "the file ends before its document starts; export it again".to_owned();
    }
    let command = export_to_file("X.trace", None, &["time-profile"]);
    format!("this is not an xctrace export; pass the recording (.trace) itself, or export it: {command}")
}

/// Returns a sentence about an input whose first bytes rule out an export.
pub(super) fn recognise(head: &[u8]) -> Option<String> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let lower: Vec<u8> = text.iter().take(64).map(u8::to_ascii_lowercase).collect();
    let is = |magic: &[u8]| head.starts_with(magic);
    let sentence = if head.is_empty() {
        "the file is empty: the program that wrote it failed; run it again and read what it prints"
    } else if is(b"PK\x03\x04") {
        "this is a zip archive, not an export; unpack it (a zip with one recording, export or report is read, if the file is named and \
         does not come through a pipe)"
    } else if head.get(257..262) == Some(b"ustar") {
        "this is a tar archive, not an export; unpack it (a tar with one recording, export or report is read, if the file is named and \
         does not come through a pipe)"
    } else if is(b"bplist00") {
        "this is a binary property list, perhaps part of a recording; pass the .trace folder itself"
    } else if is(b"\xff\xfe") || is(b"\xfe\xff") || is(b"<\0") || is(b"\0<") {
        "the text is UTF-16 (a Windows shell redirect?); xctrace writes UTF-8, so convert it or export again"
    } else if is(b"\xcf\xfa\xed\xfe") || is(b"\xca\xfe\xba\xbe") {
        return Some(format!(
            "this is a Mach-O binary, which has names but no samples; pass a recording, and this file with {DSYM}"
        ));
    } else if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        "this is a web page, not an export"
    } else if lower.starts_with(b"{") || lower.starts_with(b"[") {
        "this is JSON, not an export; xctrace writes XML"
    } else if memmem::find(text, b"Document Missing Template Error").is_some() {
        "xctrace could not open the recording (\"Document Missing Template Error\"), which was not saved completely"
    } else {
        return None;
    };
    Some(sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_their_first_bytes() {
        for (head, word) in [
            (&b""[..], "empty"),
            (b"PK\x03\x04rest", "zip"),
            (&[&[b'x'; 257][..], b"ustar\0"].concat(), "tar archive"),
            (b"bplist00\xd4", "pass the .trace folder"),
            (b"\xff\xfe<\0", "UTF-16"),
            (b"<\0?\0x\0", "UTF-16"),
            (b"\n<!DOCTYPE html><html>", "web page"),
            (b"{\"a\": 1}", "JSON"),
            (b"<?xml version=\"1.0\"?>", "ends before"),
            (b"Document Missing Template Error", "not saved"),
            (b"hello", "xcrun xctrace export"),
        ] {
            let sentence = describe(head);
            assert!(sentence.contains(word), "{sentence}");
        }
    }
}
