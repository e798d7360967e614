//! A report on a fleet as one HTML page, for people.
//!
//! The page needs no network and no other file, and works without its script, which sorts and filters tables and
//! switches between light and dark. Everything from input is escaped text of elements or attributes, and never part of
//! the script. Plots are SVG in the page, and use the page's colours (`plots`).
//!
//! The page begins with the same summary as text: findings, percentiles with their runs, the heaviest runs, and failures. Then it
//! contains, in order: inputs, alerts, the trend over versions or dates, CPU use across runs, by
//! second of the recordings and within runs, and the largest differences between cohorts. Then follow tables of
//! processes, threads, binaries and functions, runs, and the definitions of the numbers. Tables below the summary are
//! folded; long ones are cut, with a note; JSON and CSV are complete. Each part is a function that returns HTML, which is empty if the report has no such part.

mod alerts;
mod cohorts;
mod definitions;
mod figures;
mod histograms;
mod outline;
mod plots;
mod run_pages;
mod runs;
mod scopes;
mod summary;
mod table;

use std::io::{self, Write};

use crate::fleet::FleetReport;
use run_pages::Links;
pub use run_pages::{RunPage, RunPlace};

const STYLE: &str = include_str!("report.css");
/// The style of links to pages of runs, if there are any.
const LINKS_STYLE: &str = include_str!("run_pages.css");
const SCRIPT: &str = include_str!("report.js");

/// The content security policy: the page loads nothing, and only its script and its styles apply, by their hashes.
const POLICY: &str = include_str!("policy.txt");

/// Writes the page, with links to these pages of runs.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &FleetReport, pages: &[RunPage], out: &mut dyn Write) -> io::Result<()> {
    let links = &Links::new(report, pages);
    let mut put = |html: String| out.write_all(html.as_bytes());
    put(head(report, links))?;
    put(definitions::header(report, links))?;
    put("<main>\n".to_owned())?;
    put(alerts::alerts(report, links))?;
    put(figures::trends(report))?;
    put(cohorts::across_runs(report, links))?;
    put(histograms::histograms(report))?;
    put(figures::over_time(report))?;
    put(cohorts::within_runs(report, links))?;
    put(scopes::contrasts(report))?;
    put(scopes::scopes(report, links))?;
    put(runs::runs(report, links))?;
    put(definitions::method(report))?;
    put("</main>\n".to_owned())?;
    put(definitions::footer(report))?;
    put(format!("<script>{SCRIPT}</script>\n</body>\n</html>\n"))
}

fn head(report: &FleetReport, links: &Links<'_>) -> String {
    let title = definitions::title(report);
    let links_style = if links.counts().is_some() { format!("<style>{LINKS_STYLE}</style>\n") } else { String::new() };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"traceparse {}\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n{links_style}</head>\n<body>\n",
        env!("CARGO_PKG_VERSION")
    )
}
