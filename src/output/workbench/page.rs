//! A page: the shell around the payloads of one or two recordings, and the search for the smallest reduction that makes the page small enough.
//!
//! Compressing a large page takes longer than everything else. Reductions change only the rows of samples, so stacks and names are compressed once,
//! and the rows of each reduction separately. The sum of both sizes is nearly the size of the page. The complete page is compressed only if the sum
//! is too close to the limit.

use std::io::{self, Write};
use std::sync::LazyLock;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use serde_json::{Value, json};

use super::payload::{self, Content};
use super::reduction::WorkbenchReduction;
use super::titles::Titles;
#[cfg(feature = "fleet")]
use crate::fleet::compare::Comparison;
use crate::memory::Size;
use crate::output::diff::json::write as write_json;
use crate::output::diff::{DiffReport, DiffView};
use crate::output::embedded::{compressed, write_data};
#[cfg(feature = "fleet")]
use crate::output::fleet::comparison::page::page_document;
use crate::output::inert::Text;
use crate::recording::Intervals;
use crate::report::Report;
use crate::report::diff::Change;
use crate::settings::MAX_SIZE;

const SCRIPT: &str = include_str!("workbench.js");
const STYLE: &str = include_str!("workbench.css");
/// The engine that computes the page's answers: this crate as WebAssembly, compressed. `web/engine.mjs` builds it.
const ENGINE: &[u8] = include_bytes!("engine.wasm.gz");
/// The content security policy with the hashes of script and style.
const POLICY: &str = include_str!("policy.txt");

/// The content of a page.
pub(super) struct Page<'p, 'e> {
    title: String,
    payloads: Vec<Source<'p, 'e>>,
    /// The results of the comparison as JSON, escaped so that it cannot close its element.
    facts: Option<String>,
}

/// A recording, and the id of the element with its payload.
pub(super) struct Source<'p, 'e> {
    id: &'static str,
    report: &'p Report<'e>,
    intervals: Option<&'p Intervals>,
    titles: Titles,
}

impl<'p, 'e> Page<'p, 'e> {
    pub(super) fn of_report(report: &'p Report<'e>, intervals: Option<&'p Intervals>) -> Self {
        let [titles] = Titles::of([report]);
        let title = match &*names(report, &titles) {
            "" => "traceparse".to_owned(),
            names => format!("{names} – traceparse"),
        };
        Self { title, payloads: vec![Source { id: "profile", report, intervals, titles }], facts: None }
    }

    /// The page of two recordings, with the intervals of both.
    pub(super) fn of_comparison(diff: &DiffReport<'p, 'e>, options: &WorkbenchOptions<'p>) -> io::Result<Self> {
        let [before, after] = Titles::of([diff.before, diff.after]);
        let title = format!("{} → {} – traceparse", names(diff.before, &before), names(diff.after, &after));
        // A `<` in a name could close the element.
        let facts = Some(facts(diff, options.runs(), [&before, &after])?.replace('<', "\\u003c"));
        let payloads = vec![
            Source { id: "profile", report: diff.after, intervals: options.intervals, titles: after },
            Source { id: "before", report: diff.before, intervals: options.before_intervals, titles: before },
        ];
        Ok(Self { title, payloads, facts })
    }

    /// True if all recordings contain only sums, so rows cannot be merged further.
    pub(super) fn are_sums(&self) -> bool {
        self.payloads.iter().all(|source| source.report.recording.profile.sums().len() > 0)
    }

    /// Writes the page.
    pub(super) fn write(&self, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
        self.write_around(out, |source, out| source.write_compressed(reduction, out))
    }

    /// The size of the page without its payloads, in bytes.
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
             <noscript>This page shows a recording with JavaScript, which is turned off here.</noscript>\n\
             <p id=\"opening\" class=\"notice\">Reading the page … If this line stays, the file is incomplete: download it again.</p>\n</main>\n"
        )?;
        write_data(out, "engine", |out| {
            let mut encoder = EncoderWriter::new(out, &STANDARD);
            encoder.write_all(ENGINE)?;
            encoder.finish().map(drop)
        })?;
        for source in &self.payloads {
            write_data(out, source.id, |out| write_payload(source, out))?;
        }
        if let Some(facts) = &self.facts {
            writeln!(out, "<script id=\"diff\" type=\"application/json\">{facts}</script>")?;
        }
        write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")
    }
}

impl<'e> Source<'_, 'e> {
    /// Writes the payload, compressed and in Base64, which needs no escaping in HTML.
    fn write_compressed(&self, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
        compressed(out, |out| payload::write(self.content(), reduction, out))
    }

    /// An upper bound for the size of the compressed payload, computed from the uncompressed size.
    pub(super) fn most(&self, reduction: WorkbenchReduction) -> io::Result<u64> {
        let plain = payload::size(self.content(), reduction)?;
        // Incompressible data grows by five bytes per 16 KiB.
        Ok((plain + plain / 2_048 + 64).div_ceil(3) * 4)
    }

    /// The size of the compressed payload; `None` above `limit`.
    pub(super) fn size(&self, reduction: WorkbenchReduction, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| self.write_compressed(reduction, out))
    }

    /// The size of the part that no reduction changes, compressed separately; `None` above `limit`.
    pub(super) fn recording_size(&self, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| compressed(out, |out| payload::write_recording(self.content(), out)))
    }

    /// The size of the rows, compressed separately; `None` above `limit`.
    pub(super) fn rows_size(&self, reduction: WorkbenchReduction, limit: u64) -> io::Result<Option<u64>> {
        counted(limit, |out| compressed(out, |out| payload::write_rows(self.report, reduction, out)))
    }

    fn content(&self) -> Content<'_, 'e> {
        static NONE: LazyLock<Intervals> = LazyLock::new(Intervals::default);
        Content { report: self.report, intervals: self.intervals.unwrap_or(&NONE), titles: &self.titles }
    }
}

/// Counts the bytes that `write` writes. Returns `None`, and stops early, above `limit`.
fn counted(limit: u64, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Option<u64>> {
    let mut counter = Counter::up_to(limit);
    let done = write(&mut counter);
    if counter.bytes > limit { Ok(None) } else { done.map(|()| Some(counter.bytes)) }
}

/// A writer that counts bytes and fails if they exceed a limit.
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

/// The names of the inputs, and of a selected run.
fn names(report: &Report<'_>, titles: &Titles) -> String {
    let mut names: Vec<&str> = report.recording.documents.iter().map(|document| titles.get(&document.input)).collect();
    names.dedup();
    let number = match report.options.selection.runs[..] {
        [number] if report.recording.profile.run_ids().len() > 1 => format!(" (run {number})"),
        _ => String::new(),
    };
    format!("{}{number}", names.join(", "))
}

/// The JSON of the overview of a comparison, with additional values from which the page computes the rest.
fn facts(report: &DiffReport<'_, '_>, runs: Value, titles: [&Titles; 2]) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(&DiffReport { view: DiffView::Overview, top: None, ..*report }, &mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    let mut facts = titles.iter().fold(text, |text, titles| titles.apply_to_text(&text));
    // Append text instead of parsing the JSON, which would round its fractions.
    facts.truncate(facts.trim_end().len() - 1);
    let more = [
        ("is_scaled", json!(report.diff.is_scaled)),
        ("beyond_noise", json!(Change::BEYOND_NOISE)),
        ("noise_factor", json!(report.diff.noise_factor)),
        ("comparison", runs),
        ("sentences", report.sentences()),
    ];
    for (name, value) in more {
        facts += &format!(",\"{name}\":{value}");
    }
    facts.push('}');
    Ok(facts)
}

/// The content of a page in addition to samples, and the reduction of samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkbenchOptions<'a> {
    /// Signposts and hangs of the recording; in a comparison, of the second recording.
    pub intervals: Option<&'a Intervals>,
    /// Signposts and hangs of the first recording of a comparison.
    pub before_intervals: Option<&'a Intervals>,
    /// The reduction of samples that keeps the page small.
    pub reduction: WorkbenchReduction,
    /// The comparison of groups of runs whose sums the page compares, and the address of the folder that run paths are relative to. Without an
    /// address, runs are not linked.
    #[cfg(feature = "fleet")]
    pub comparison: Option<(&'a Comparison, Option<&'a str>)>,
}

impl WorkbenchOptions<'_> {
    /// Returns the uncompressed payload of a page, for a program that shows the page itself. [`Payload`](crate::Payload) reads it.
    ///
    /// # Errors
    /// If it does not fit in the memory [budget](crate::profile::Profile::budget) of the recording.
    pub fn payload(&self, report: &Report<'_>) -> io::Result<Vec<u8>> {
        let [titles] = Titles::of([report]);
        let source = Source { id: "profile", report, intervals: self.intervals, titles };
        payload::bytes(source.content(), self.reduction)
    }

    /// Returns the content of the page of a comparison: the uncompressed payloads of the first and the second recording, and the results as JSON.
    ///
    /// # Errors
    /// As for [`payload`](Self::payload), and if the comparison cannot be written.
    pub fn comparison(&self, diff: &DiffReport<'_, '_>) -> io::Result<([Vec<u8>; 2], String)> {
        let Page { payloads, facts, .. } = Page::of_comparison(diff, self)?;
        let bytes = |source: &Source<'_, '_>| payload::bytes(source.content(), self.reduction);
        let [after, before] = payloads.as_slice() else {
            return Err(io::Error::other("a comparison has two recordings"));
        };
        Ok(([bytes(before)?, bytes(after)?], facts.unwrap_or_default()))
    }

    /// Returns the options with the first reduction that makes the page of a report at most `max_size` bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the page is larger with every reduction.
    pub fn fitting(self, report: &Report<'_>, max_size: u64) -> io::Result<Self> {
        let reduction = first_fitting(&Page::of_report(report, self.intervals), max_size)?;
        Ok(Self { reduction, ..self })
    }

    /// Like [`fitting`](Self::fitting), for the page of a comparison.
    ///
    /// # Errors
    /// The same as for one report, and if the comparison cannot be written.
    pub fn fitting_comparison(self, diff: &DiffReport<'_, '_>, max_size: u64) -> io::Result<Self> {
        let page = Page::of_comparison(diff, &self)?;
        Ok(Self { reduction: first_fitting(&page, max_size)?, ..self })
    }

    /// A sentence about the omitted content, if the page would be larger than `max_size` bytes with everything.
    pub fn note(&self, max_size: u64) -> Option<String> {
        let is_reduced = self.reduction != WorkbenchReduction::None;
        is_reduced.then(|| format!("the page would be larger than {}: {} ({MAX_SIZE})", Size(max_size), self.reduction))
    }

    /// The comparison of groups of runs; null for two recordings.
    fn runs(&self) -> Value {
        #[cfg(feature = "fleet")]
        if let Some((comparison, root)) = self.comparison {
            return page_document(comparison, root);
        }
        Value::Null
    }
}

/// For each recording, the maximum difference between compressing two parts separately and together: the gzip window, which is empty at the start of
/// the second part, in Base64, times two.
const SEAM: u64 = 88 << 10;
/// Separately compressed parts have different gzip blocks, which changes the size by less than one part in `SHARE`.
const SHARE: u64 = 64;

/// The first reduction that makes a page at most `max_size` bytes.
fn first_fitting(page: &Page<'_, '_>, max_size: u64) -> io::Result<WorkbenchReduction> {
    let around = page.size_around()?;
    let limit = max_size.saturating_sub(around);
    let sources = page.sources();
    if sum(sources, |source| source.most(WorkbenchReduction::None).map(Some))?.is_some_and(|most| most <= limit) {
        return Ok(WorkbenchReduction::None);
    }
    let all = &WorkbenchReduction::ALL[..if page.are_sums() { 1 } else { WorkbenchReduction::ALL.len() }];
    let slack = SEAM * sources.len() as u64 + limit / SHARE;
    if let Some(recording) = sum(sources, |source| source.recording_size(limit + slack))? {
        for &reduction in all {
            if is_fitting(sources, recording, reduction, limit, slack)? {
                return Ok(reduction);
            }
        }
    }
    let least = all.last().copied().unwrap_or_default();
    let size = around + sum(sources, |source| source.size(least, u64::MAX))?.unwrap_or_default();
    let text = format!(
        "the page would have {size} bytes or more, even if no times were kept; allow {} or more, or select less of the recording ({MAX_SIZE} is {})",
        Size::in_megabytes(size),
        Size(max_size)
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// True if the payloads have at most `limit` bytes. `recording` is the size of the part that no reduction changes.
fn is_fitting(
    sources: &[Source<'_, '_>],
    recording: u64,
    reduction: WorkbenchReduction,
    limit: u64,
    slack: u64,
) -> io::Result<bool> {
    let rest = (limit + slack).saturating_sub(recording);
    let Some(rows) = sum(sources, |source| source.rows_size(reduction, rest))? else { return Ok(false) };
    match recording + rows {
        size if size > limit + slack => Ok(false),
        size if size + slack <= limit => Ok(true),
        _ => Ok(sum(sources, |source| source.size(reduction, limit))?.is_some_and(|size| size <= limit)),
    }
}

/// The total size over all recordings; `None` if the size of one of them is `None`.
fn sum(
    sources: &[Source<'_, '_>],
    size: impl Fn(&Source<'_, '_>) -> io::Result<Option<u64>>,
) -> io::Result<Option<u64>> {
    let mut sum = 0;
    for source in sources {
        let Some(size) = size(source)? else { return Ok(None) };
        sum += size;
    }
    Ok(Some(sum))
}
