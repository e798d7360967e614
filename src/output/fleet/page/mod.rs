//! A fleet report as one HTML page, for people.
//!
//! ```text
//! shell ─► the report as JSON, compressed, as Base64 in a `<script>` that browsers do not execute ─► the script that draws it
//! ```
//!
//! The script and its style are in `web/src/fleet/`; `web/build.mjs` builds them with their content security policy. Names are in the document; the
//! script inserts them as text. Without JavaScript, the page shows the findings.

mod document;
mod run_pages;

use std::io::{self, Write};

use super::sentences::points;
use crate::fleet::FleetReport;
use crate::output::embedded::{compressed, write_data};
use crate::output::inert::Text;
pub use run_pages::{RunPage, RunPlace};

const SCRIPT: &str = include_str!("fleet.js");
const STYLE: &str = include_str!("fleet.css");
/// The content security policy with the hashes of script and style.
const POLICY: &str = include_str!("policy.txt");

/// Writes the page with links to these run pages.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &FleetReport, pages: &[RunPage], out: &mut dyn Write) -> io::Result<()> {
    let title = document::title(report);
    let title = Text(&title);
    let findings: String = points(report).iter().map(|point| format!("<li>{}</li>\n", Text(&point.text))).collect();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<div id=\"fleet\">\n<h1>{title}</h1>\n\
         <noscript>\n<ul>\n{findings}</ul>\n<p>This page shows more with JavaScript, which is turned off here.</p>\n</noscript>\n</div>\n"
    )?;
    write_data(out, "report", |out| compressed(out, |out| document::write(report, pages, out)))?;
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")
}
