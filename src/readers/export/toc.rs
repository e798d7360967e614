//! Reads the table of contents of a recording, as written by `xctrace export --toc`.

use std::cell::Cell;

use quick_xml::events::attributes::Attributes;

use super::position::Fault;
use crate::recording::{Toc, TocProcess, TocRun, TocTable, lookup};

/// Tables of contents have few levels; a deeper document is something else.
const MAX_DEPTH: usize = 64;
/// Real ones have a few hundred elements, or a few thousand if they list every process of a machine.
const MAX_ELEMENTS: usize = 200_000;

/// Builds a table of contents from tokens.
#[derive(Debug, Default)]
pub(super) struct TocReader {
    toc: Toc,
    path: Vec<String>,
    text: String,
    elements: usize,
    /// The approximate memory of the contents, in bytes.
    bytes: u64,
}

impl TocReader {
    /// The path of open elements, for messages.
    pub(super) fn path(&self) -> String {
        let names = std::iter::once("trace-toc").chain(self.path.iter().map(String::as_str));
        names.collect::<Vec<_>>().join("/")
    }

    pub(super) fn finish(self) -> Toc {
        self.toc
    }

    /// The approximate memory in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.bytes + (self.text.capacity() + self.path.len() * size_of::<String>()) as u64
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.path.last().is_some_and(|name| name == "environment")
            && !text.trim().is_empty()
            && let Some(run) = self.toc.runs.last_mut()
        {
            run.environment_variables += 1;
        }
        if self.path.iter().any(|name| name == "summary") {
            self.text.push_str(text);
        }
    }

    pub(super) fn start(&mut self, name: &str, mut attributes: Attributes<'_>, at: u64) -> Result<(), Fault> {
        if self.path.len() >= MAX_DEPTH {
            return Err(Fault::malformed("a table of contents is not nested so deep", at));
        }
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(Fault::limit(format!("a table of contents has more than {MAX_ELEMENTS} elements"), at));
        }
        let bytes = Cell::new((size_of::<TocTable>() + name.len()) as u64);
        let pairs = attributes.with_checks(false).flatten().map(|attribute| {
            let value = quick_xml::escape::unescape(&attribute.value).unwrap_or_default().into_owned();
            bytes.set(bytes.get() + (size_of::<(String, String)>() + attribute.key.0.len() + value.len()) as u64);
            (attribute.key.0.to_owned(), value)
        });
        let parents: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match (parents.as_slice(), name) {
            ([], "run") => {
                let pairs: Vec<_> = pairs.collect();
                let number = lookup(&pairs, "number").and_then(|number| number.parse().ok());
                let number = number.unwrap_or(self.toc.runs.len() as u32 + 1);
                self.toc.runs.push(TocRun { number, ..TocRun::default() });
            }
            (["run", rest @ ..], _) => {
                if let Some(run) = self.toc.runs.last_mut() {
                    add_element(run, rest, name, pairs);
                }
            }
            _ => {}
        }
        self.bytes += bytes.get();
        self.text.clear();
        self.path.push(name.to_owned());
        Ok(())
    }

    /// Closes an element; returns true if it was the document.
    pub(super) fn end(&mut self, name: &str, at: u64) -> Result<bool, Fault> {
        let Some(open) = self.path.pop() else {
            return if name == "trace-toc" {
                Ok(true)
            } else {
                Err(Fault::malformed(format!("</{name}> closes an element with a different name"), at))
            };
        };
        if open != name {
            return Err(Fault::malformed(format!("</{name}> closes <{open}>"), at));
        }
        if self.path == ["run", "info", "summary"]
            && let Some(run) = self.toc.runs.last_mut()
        {
            self.bytes += (size_of::<(String, String)>() + open.len() + self.text.len()) as u64;
            run.summary.push((open, self.text.trim().to_owned()));
        }
        Ok(false)
    }
}

fn add_element(run: &mut TocRun, parents: &[&str], name: &str, pairs: impl Iterator<Item = (String, String)>) {
    match (parents, name) {
        (["info", "target"], "device") => run.device = pairs.collect(),
        (["info", "target"], "host-device") => run.host_device = pairs.collect(),
        (["info", "target"], "process") => {
            let (arguments, process): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key == "arguments");
            run.process = process;
            run.has_arguments |= arguments.iter().any(|(_, value)| !value.is_empty());
        }
        (["info", ..], "environment") => run.environment_variables += pairs.count() as u64,
        (["info", .., "environment"], _) => run.environment_variables += 1,
        (["info", "target"], "all-processes") => run.is_all_processes = true,
        (["processes"], "process") => {
            let pairs: Vec<_> = pairs.collect();
            let text = |key| lookup(&pairs, key).unwrap_or_default().to_owned();
            let pid = lookup(&pairs, "pid").and_then(|pid| pid.parse().ok());
            run.processes.push(TocProcess { name: text("name"), pid, path: text("path") });
        }
        (["data"], "table") => {
            let (schema, mut attributes): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key == "schema");
            attributes.sort();
            let schema = schema.into_iter().next().map(|(_, schema)| schema).unwrap_or_default();
            let position = u32::try_from(run.tables.len() + 1).ok();
            run.tables.push(TocTable { position, schema, attributes, rows: None });
        }
        (["tracks"], "track") => run.tracks.extend(pairs.filter(|(key, _)| key == "name").map(|(_, name)| name)),
        _ => {}
    }
}
