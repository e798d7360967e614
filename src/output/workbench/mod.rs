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
mod comparison;
mod head;
mod payload;
mod reduction;
mod rows;
mod stacks;
mod tables;
mod texts;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::answer::Answer;
use super::diff::DiffReport;
use super::markup::Text;
use crate::recording::Intervals;
use crate::report::Report;
use base64::Base64Writer;
pub use reduction::WorkbenchReduction;

const SCRIPT: &str = include_str!("workbench.js");
const STYLE: &str = include_str!("workbench.css");
/// The content security policy, with the hashes of both.
const POLICY: &str = include_str!("policy.txt");

/// What a page shows beside the samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkbenchOptions<'a> {
    /// Signposts and hangs of the recording; of a comparison, of the second one.
    pub intervals: Option<&'a Intervals>,
    /// Those of the first recording of a comparison.
    pub before_intervals: Option<&'a Intervals>,
    /// What is left out of samples, so that the page is not too large.
    pub reduction: WorkbenchReduction,
}

impl WorkbenchOptions<'_> {
    /// The same options with the first reduction that makes the page of an answer at most so many bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the page is larger with each of them, or if the answer has no page.
    pub fn fitting<'r, 'e: 'r>(self, answer: impl Into<Answer<'r, 'e>>, max_size: u64) -> io::Result<Self> {
        let none = Intervals::default();
        let [intervals, before] = [self.intervals, self.before_intervals].map(|found| found.unwrap_or(&none));
        let (payloads, more) = match answer.into() {
            Answer::Report(report) => (vec![(report, intervals)], 0),
            Answer::Diff(diff) => {
                (vec![(diff.after, intervals), (diff.before, before)], comparison::facts(diff)?.len() as u64)
            }
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "only recordings have a page")),
        };
        let are_sums = payloads.iter().all(|(report, _)| report.recording.profile.sums().len() > 0);
        let mut least = u64::MAX;
        // Nothing can be joined in sums.
        for &reduction in &WorkbenchReduction::ALL[..if are_sums { 1 } else { WorkbenchReduction::ALL.len() }] {
            let mut size = SHELL + more + (SCRIPT.len() + STYLE.len() + POLICY.len()) as u64;
            for &(report, intervals) in &payloads {
                size += size_of(report, intervals, reduction, max_size.saturating_sub(size))?;
            }
            if size <= max_size {
                return Ok(Self { reduction, ..self });
            }
            least = least.min(size);
        }
        let text = format!(
            "the page would have {least} bytes or more, even if no times were kept; allow more, or select less of the recording"
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

/// The bytes of a page beside its data, its script and its style: more than there are, but for a title of many names.
const SHELL: u64 = 4 << 10;

/// At least the size of a payload in the page; exactly that if it might be more than `limit`.
fn size_of(report: &Report<'_>, intervals: &Intervals, reduction: WorkbenchReduction, limit: u64) -> io::Result<u64> {
    let plain = payload::size(report, intervals, reduction)?;
    // What cannot be compressed takes five bytes more for each 16 KiB.
    let most = (plain + plain / 2_048 + 64).div_ceil(3) * 4;
    if most <= limit {
        return Ok(most);
    }
    let mut counter = Counter::default();
    write_compressed(report, intervals, reduction, &mut counter)?;
    Ok(counter.0)
}

/// Counts what is written.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the page of a report.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write(report: &Report<'_>, options: &WorkbenchOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let title = names(report).map_or_else(|| "traceparse".to_owned(), |names| format!("{names} – traceparse"));
    write_page(&title, out, |out| write_payload("profile", report, (options.intervals, options.reduction), out))
}

/// Writes the page of a comparison: both recordings, and what the command finds.
///
/// # Errors
/// When `out` fails.
pub(crate) fn write_comparison(
    diff: &DiffReport<'_, '_>,
    options: &WorkbenchOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [before, after] = [diff.before, diff.after].map(|report| names(report).unwrap_or_default());
    write_page(&format!("{before} → {after} – traceparse"), out, |out| {
        write_payload("profile", diff.after, (options.intervals, options.reduction), out)?;
        write_payload("before", diff.before, (options.before_intervals, options.reduction), out)?;
        // A `<` in a name would begin the end of the element.
        let facts = comparison::facts(diff)?.replace('<', "\\u003c");
        write!(out, "<script id=\"diff\" type=\"application/json\">{facts}</script>\n")
    })
}

/// Writes a page with this title around elements of data.
fn write_page(
    title: &str,
    out: &mut dyn Write,
    write_data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let title = Text(title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <main id=\"workbench\">\n<h1>{title}</h1>\n\
         <noscript>This page shows a recording with JavaScript, which is turned off here.</noscript>\n</main>\n"
    )?;
    write_data(out)?;
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// Writes an element that holds the payload of a report.
fn write_payload(
    id: &str,
    report: &Report<'_>,
    (intervals, reduction): (Option<&Intervals>, WorkbenchReduction),
    out: &mut dyn Write,
) -> io::Result<()> {
    let none = Intervals::default();
    write!(out, "<script id=\"{id}\" type=\"application/octet-stream\">")?;
    write_compressed(report, intervals.unwrap_or(&none), reduction, out)?;
    out.write_all(b"</script>\n")
}

/// Writes the payload, compressed and in letters that HTML leaves alone.
fn write_compressed(
    report: &Report<'_>,
    intervals: &Intervals,
    reduction: WorkbenchReduction,
    out: &mut dyn Write,
) -> io::Result<()> {
    // The header of gzip says nothing of time or machine, so that equal input gives an equal page.
    let mut encoder = GzEncoder::new(Base64Writer::new(out), Compression::new(LEVEL));
    payload::write(report, intervals, reduction, &mut encoder)?;
    encoder.finish()?.finish()
}

/// The effort of gzip.
const LEVEL: u32 = 6;

/// The names of the inputs, without their folders; `None` without inputs.
fn names(report: &Report<'_>) -> Option<String> {
    let mut names: Vec<&str> = report.recording.documents.iter().map(|document| document.input.as_str()).collect();
    names.dedup();
    let names: Vec<&str> = names.iter().map(|name| name.rsplit(['/', '\\']).next().unwrap_or(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
