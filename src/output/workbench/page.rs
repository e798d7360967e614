//! A page: its shell around the payloads of one recording or two, and its size.

use std::io::{self, Write};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::base64::Base64Writer;
use super::payload;
use super::reduction::WorkbenchReduction;
use crate::output::diff::json::write as write_json;
use crate::output::diff::{DiffReport, DiffView};
use crate::output::markup::Text;
use crate::recording::Intervals;
use crate::report::Report;
use crate::report::diff::Change;

const SCRIPT: &str = include_str!("workbench.js");
const STYLE: &str = include_str!("workbench.css");
/// The content security policy, with the hashes of both.
const POLICY: &str = include_str!("policy.txt");
/// The effort of gzip.
const LEVEL: u32 = 6;

/// The parts of a page.
pub(super) struct Page<'p, 'e> {
    title: String,
    payloads: Vec<Source<'p, 'e>>,
    /// What the command finds out about two recordings, as JSON that ends no element.
    facts: Option<String>,
}

/// A recording, and the id of the element that has its payload.
pub(super) struct Source<'p, 'e> {
    id: &'static str,
    report: &'p Report<'e>,
    intervals: Option<&'p Intervals>,
}

impl<'p, 'e> Page<'p, 'e> {
    /// The page of one recording.
    pub(super) fn of_report(report: &'p Report<'e>, intervals: Option<&'p Intervals>) -> Self {
        let title = names(report).map_or_else(|| "traceparse".to_owned(), |names| format!("{names} – traceparse"));
        Self { title, payloads: vec![Source { id: "profile", report, intervals }], facts: None }
    }

    /// The page of two recordings, with the intervals of the first and of the second.
    pub(super) fn of_comparison(
        diff: &DiffReport<'p, 'e>,
        [before, after]: [Option<&'p Intervals>; 2],
    ) -> io::Result<Self> {
        let [first, second] = [diff.before, diff.after].map(|report| names(report).unwrap_or_default());
        Ok(Self {
            title: format!("{first} → {second} – traceparse"),
            payloads: vec![
                Source { id: "profile", report: diff.after, intervals: after },
                Source { id: "before", report: diff.before, intervals: before },
            ],
            // A `<` in a name would begin the end of the element.
            facts: Some(facts(diff)?.replace('<', "\\u003c")),
        })
    }

    /// True if all recordings are sums, in which nothing can be joined.
    pub(super) fn are_sums(&self) -> bool {
        self.payloads.iter().all(|source| source.report.recording.profile.sums().len() > 0)
    }

    /// Writes the page.
    pub(super) fn write(&self, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
        self.write_around(out, |source, out| source.write_compressed(reduction, out))
    }

    /// The bytes of the page around its payloads.
    pub(super) fn size_around(&self) -> io::Result<u64> {
        let mut counter = Counter::up_to(u64::MAX);
        self.write_around(&mut counter, |_, _| Ok(()))?;
        Ok(counter.bytes)
    }

    /// The recordings of the page.
    pub(super) fn sources(&self) -> &[Source<'p, 'e>] {
        &self.payloads
    }

    fn write_around(
        &self,
        out: &mut dyn Write,
        write_payload: impl Fn(&Source<'_, '_>, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let title = Text(&self.title);
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <main id=\"workbench\">\n<h1>{title}</h1>\n\
             <noscript>This page shows a recording with JavaScript, which is turned off here.</noscript>\n</main>\n"
        )?;
        for source in &self.payloads {
            write!(out, "<script id=\"{}\" type=\"application/octet-stream\">", source.id)?;
            write_payload(source, out)?;
            out.write_all(b"</script>\n")?;
        }
        if let Some(facts) = &self.facts {
            writeln!(out, "<script id=\"diff\" type=\"application/json\">{facts}</script>")?;
        }
        write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")
    }
}

impl Source<'_, '_> {
    /// Writes the payload, compressed and in letters that HTML leaves alone.
    fn write_compressed(&self, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
        compressed(out, |out| payload::write(self.report, self.intervals(), reduction, out))
    }

    /// The largest size of the compressed payload, from the plain one.
    pub(super) fn most(&self, reduction: WorkbenchReduction) -> io::Result<u64> {
        let plain = payload::size(self.report, self.intervals(), reduction)?;
        // Incompressible data grows by five bytes for each 16 KiB.
        Ok((plain + plain / 2_048 + 64).div_ceil(3) * 4)
    }

    /// The size of the compressed payload; `None` above a limit.
    pub(super) fn size(&self, reduction: WorkbenchReduction, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| self.write_compressed(reduction, out))
    }

    /// The size of what no reduction changes, compressed by itself; `None` above a limit.
    pub(super) fn recording_size(&self, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| compressed(out, |out| payload::write_recording(self.report, self.intervals(), out)))
    }

    /// The size of the rows, compressed by themselves; `None` above a limit.
    pub(super) fn rows_size(&self, reduction: WorkbenchReduction, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| compressed(out, |out| payload::write_rows(self.report, reduction, out)))
    }

    fn intervals(&self) -> &Intervals {
        static NONE: LazyLock<Intervals> = LazyLock::new(Intervals::default);
        self.intervals.unwrap_or(&NONE)
    }
}

/// Writes what `write` writes as gzip in base64.
fn compressed(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // The gzip header records no time or machine, so equal input gives an equal page.
    let mut encoder = GzEncoder::new(Base64Writer::new(out), Compression::new(LEVEL));
    write(&mut encoder)?;
    encoder.finish()?.finish()
}

/// The number of bytes that are written; `None` above a limit, where the rest is not even made.
fn counted(limit: u64, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Option<u64>> {
    let mut counter = Counter::up_to(limit);
    let done = write(&mut counter);
    if counter.bytes > limit { Ok(None) } else { done.map(|()| Some(counter.bytes)) }
}

/// Counts what is written, and fails above a limit.
struct Counter {
    bytes: u64,
    limit: u64,
}

impl Counter {
    fn up_to(limit: u64) -> Self {
        Self { bytes: 0, limit }
    }
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.limit { Err(io::Error::other("the limit is reached")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The names of the inputs, without their folders; `None` without inputs.
fn names(report: &Report<'_>) -> Option<String> {
    let mut names: Vec<&str> = report.recording.documents.iter().map(|document| document.input.as_str()).collect();
    names.dedup();
    let names: Vec<&str> = names.iter().map(|name| name.rsplit(['/', '\\']).next().unwrap_or(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The JSON of the overview of a comparison, and the values that the page needs to compute the rest.
fn facts(report: &DiffReport<'_, '_>) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(&DiffReport { view: DiffView::Overview, top: None, ..*report }, &mut text)?;
    let mut facts = String::from_utf8(text).map_err(io::Error::other)?;
    // As text: reading its fractions and writing them again would round them.
    facts.truncate(facts.trim_end().len() - 1);
    let more = [
        ("is_scaled", json!(report.diff.is_scaled)),
        ("beyond_noise", json!(Change::BEYOND_NOISE)),
        ("sentences", report.sentences()),
    ];
    for (name, value) in more {
        facts += &format!(",\"{name}\":{value}");
    }
    facts.push('}');
    Ok(facts)
}
