//! Converts a report to a document of a recording.

use super::graph::{FrameText, ThreadText};
use super::report::{Node, Report, Top};
use crate::error::{Diagnostic, Error, ErrorKind};
use crate::hash::HashMap;
use crate::profile::{Binary, BinaryId, FrameId, Full, Meaning, SourceLine, StackId};
use crate::readers::lines::{LineStart, Lines};
use crate::recording::{
    FrameKind, InputBuilder, RecordingBuilder, RejectReason, Table, TableKind, Toc, TocProcess, TocRun,
};
use crate::units::Address;

/// Adds a report.
///
/// # Errors
/// If the recording is full.
pub(super) fn add<R>(report: &Report, lines: &Lines<'_, R>, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let name = lines.name();
    let mut input = recording.input(name)?;
    // The report's own table covers all threads, so it is comparable only if all of them were read.
    let is_complete = report.unread.iter().all(|unread| unread.reason != RejectReason::UnreadThread);
    let cut = (!report.is_whole).then(|| note(report, lines, INCOMPLETE.to_owned()));
    check(report, lines).filter(|_| is_complete).into_iter().chain(cut).for_each(|noted| input.note(noted));
    let table = Table { run: 1, schema: Some("sample".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, Meaning::Presence, name.to_owned());
    let mut writer = Writer { report, binaries: HashMap::default(), path: Vec::new(), input };
    for unread in &report.unread {
        writer.input.leave_out(unread.reason, unread.samples, lines.place(unread.line), unread.what);
    }
    writer.add_nodes(lines)?;
    writer.input.finish(contents(report));
    Ok(())
}

/// Adds the nodes of a report in order.
struct Writer<'r, 'i> {
    report: &'r Report,
    input: InputBuilder<'i>,
    /// Keyed by image, or by name if the image is unknown.
    binaries: HashMap<(Option<usize>, Option<&'r str>), BinaryId>,
    /// The stack at each open depth; the first entry belongs to the thread.
    path: Vec<Option<StackId>>,
}

impl<'r> Writer<'r, '_> {
    fn add_nodes<R>(&mut self, lines: &Lines<'_, R>) -> Result<(), Error> {
        let full = |full: Full, line| lines.error(ErrorKind::Limit(full.to_string()), line);
        let process =
            self.input.process(self.report.pid, &self.report.process).map_err(|error| full(error, LineStart::FIRST))?;
        let mut thread = 0;
        for node in &self.report.nodes {
            if node.depth == 0 {
                let ThreadText { tid, name, is_main } = ThreadText::parse(&node.text).unwrap_or_default();
                thread = self.input.thread(tid, Some(process), name).map_err(|error| full(error, node.line))?;
                if is_main {
                    self.input.mark_main_thread(thread);
                }
            }
            self.add(node, thread).map_err(|error| full(error, node.line))?;
        }
        Ok(())
    }

    fn add(&mut self, node: &'r Node, thread: u32) -> Result<(), Full> {
        self.path.truncate(node.depth);
        let stack = match self.path.last() {
            Some(&callers) => {
                let frame = self.frame(node)?;
                self.input.stack(callers, &[frame])?
            }
            None => None,
        };
        self.path.push(stack);
        match node.own() {
            0 => Ok(()),
            own => self.input.add_samples(thread, stack, own),
        }
    }

    fn frame(&mut self, node: &'r Node) -> Result<FrameId, Full> {
        let text = FrameText::parse(&node.text);
        let kind = if node.is_caller() { FrameKind::RawCaller } else { FrameKind::RawLeaf };
        let binary = self.binary(&text)?;
        let source = |(path, line)| Ok(SourceLine { path: self.input.string(path)?, line });
        let source = text.source.map(source).transpose()?;
        match text.address {
            Some(address) if !text.is_named() || text.is_far => self.input.frame(kind, address, binary),
            address => self.input.named_frame((kind, address.unwrap_or_default()), binary, text.symbol, source),
        }
    }

    /// Returns the binary of a frame: the image that contains its address, or a binary with a name only.
    fn binary(&mut self, text: &FrameText<'r>) -> Result<Option<BinaryId>, Full> {
        let images = &self.report.images;
        let found = text.address.and_then(|address| images.find(address));
        // If the image list contradicts the call graph, symbols would come from the wrong binary.
        let found = found.filter(|&index| {
            images.get(index).is_some_and(|image| text.binary.is_none_or(|binary| binary == image.name))
        });
        let key = (found, text.binary.filter(|_| found.is_none()));
        if key == (None, None) {
            return Ok(None);
        }
        if let Some(&id) = self.binaries.get(&key) {
            return Ok(Some(id));
        }
        let (name, path, uuid, load_address) = match (found.and_then(|index| images.get(index)), text.binary) {
            (Some(image), _) => (image.name.as_str(), image.path.as_str(), image.uuid, image.low),
            (None, name) => {
                (name.unwrap_or_default(), name.unwrap_or_default(), None, text.load_address.unwrap_or_default())
            }
        };
        let (name, path) = (self.input.string(name)?, self.input.string(path)?);
        let load_address = Address::new(load_address);
        let id = self.input.binary(Binary { name, uuid, arch: None, load_address, path })?;
        self.binaries.insert(key, id);
        Ok(Some(id))
    }
}

/// The diagnostic for a report whose end is missing.
const INCOMPLETE: &str = "the end of the report is missing, or its list of images cannot be read: some binaries have no UUID, so symbols cannot name \
                          them; was the file cut?";

/// A diagnostic about a report, at the position of its first thread.
fn note<R>(report: &Report, lines: &Lines<'_, R>, message: String) -> Diagnostic {
    let first = report.nodes.first().map_or(LineStart::FIRST, |node| node.line);
    Diagnostic { at: Some(lines.place(first)), message, count: 1 }
}

/// Returns a diagnostic if the call graph contradicts the report's own table.
fn check<R>(report: &Report, lines: &Lines<'_, R>) -> Option<Diagnostic> {
    let mut own: HashMap<Top, u64> = HashMap::default();
    for node in report.nodes.iter().filter(|node| node.depth > 0 && node.own() > 0) {
        let sum = own.entry(Top::of(&FrameText::parse(&node.text))).or_default();
        *sum = sum.saturating_add(node.own());
    }
    let different = report.tops.iter().filter(|&(top, samples)| own.get(top) != Some(samples)).count();
    let message = format!(
        "{different} of {} rows of the report's table of functions at the top of stacks differ from its call graph; was it edited?",
        report.tops.len()
    );
    (different > 0).then(|| note(report, lines, message))
}

/// The table of contents from the report's head: process, system and time.
fn contents(report: &Report) -> Toc {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let device = report.field("OS Version").into_iter().flat_map(TocRun::system).collect();
    let process = [Some(pair("name", &report.process)), report.pid.map(|pid| pair("pid", &pid.to_string()))];
    let path = report.field("Path").unwrap_or_default().to_owned();
    let start = report.field("Date/Time").and_then(TocRun::date);
    let run = TocRun {
        number: 1,
        device,
        process: process.into_iter().flatten().collect(),
        summary: start.map(|start| pair("start-date", &start)).into_iter().collect(),
        processes: vec![TocProcess { name: report.process.clone(), pid: report.pid, path }],
        ..TocRun::default()
    };
    Toc { runs: vec![run] }
}
