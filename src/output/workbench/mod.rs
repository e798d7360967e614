//! The workbench: one HTML file in which anyone can explore a recording, without a server and without a network.
//!
//! ```text
//! shell ─► the payload, compressed, as base64 in a `<script>` that no browser runs ─► the script that reads it
//! ```
//!
//! The script and its style are made of `web/` by `web/build.mjs`, which also hashes them for the content security policy: nothing
//! else runs in the page, and it loads nothing. Names are in the payload, from which the script writes them as text.

mod base64;
mod columns;
mod head;
mod payload;
mod rows;
mod stacks;
mod tables;
mod texts;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::markup::Text;
use crate::recording::Intervals;
use crate::report::Report;
use base64::Base64Writer;

const SCRIPT: &str = include_str!("workbench.js");
const STYLE: &str = include_str!("workbench.css");
/// The content security policy, with the hashes of both.
const POLICY: &str = include_str!("policy.txt");

/// Writes the page of a report, with these signposts and hangs.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &Report<'_>, intervals: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    let title = title(report);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <main id=\"workbench\">\n<h1>{title}</h1>\n\
         <noscript>This page shows a recording with JavaScript, which is turned off here.</noscript>\n</main>\n\
         <script id=\"profile\" type=\"application/octet-stream\">"
    )?;
    write_compressed(report, intervals, out)?;
    write!(out, "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// Writes the payload, compressed and in letters that HTML leaves alone.
fn write_compressed(report: &Report<'_>, intervals: &Intervals, out: &mut dyn Write) -> io::Result<()> {
    // The header of gzip says nothing of time or machine, so that equal input gives an equal page.
    let mut encoder = GzEncoder::new(Base64Writer::new(out), Compression::new(LEVEL));
    payload::write(report, intervals, &mut encoder)?;
    encoder.finish()?.finish()
}

/// The effort of gzip.
const LEVEL: u32 = 6;

/// The names of the inputs, without their folders.
fn title(report: &Report<'_>) -> String {
    let mut names: Vec<&str> = report.recording.documents.iter().map(|document| document.input.as_str()).collect();
    names.dedup();
    let names: Vec<String> =
        names.iter().map(|name| Text(name.rsplit(['/', '\\']).next().unwrap_or(name)).to_string()).collect();
    if names.is_empty() { "traceparse".to_owned() } else { format!("{} – traceparse", names.join(", ")) }
}
