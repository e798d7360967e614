//! The elements of a report.

use std::collections::HashSet;

use quick_xml::events::{BytesStart, Event};

use super::function::{Element, Times};
use crate::error::ErrorKind;
use crate::readers::xml::{self, attribute};

/// A byte offset, and what is wrong there.
pub(super) type Fault = (usize, ErrorKind);

/// The names of functions of a report.
pub(super) struct Names {
    pub(super) all: HashSet<String>,
    /// Those with a slash, which is in stacks between names.
    pub(super) with_slash: Vec<String>,
}

impl Names {
    /// Reads the names, and checks that it is a report about sampling with call stacks.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let (mut names, mut has_instances) = (Self { all: HashSet::default(), with_slash: Vec::new() }, false);
        read(bytes, |element, _| {
            match element {
                Element::Function { name, .. } if name.contains('/') => names.with_slash.push(name.to_owned()),
                Element::Function { name, .. } => drop(names.all.insert(name.to_owned())),
                Element::Instance { .. } => has_instances = true,
            }
            Ok(())
        })?;
        match (names.all.is_empty() && names.with_slash.is_empty(), has_instances) {
            (true, _) => Err((0, ErrorKind::NotAnExport("this report of dotTrace has no functions".to_owned()))),
            (_, false) => Err((0, ErrorKind::NotAnExport(FLAT.to_owned()))),
            (_, true) => Ok(names),
        }
    }
}

const FLAT: &str = "this report of dotTrace has functions without their callers, so it is not a call tree; write it again with \
                    PrintCallstacks=\"Full\" in its pattern";
const TRACING: &str = "this report of dotTrace is about tracing (Calls), whose times include the cost of tracing; profile again with sampling";
const UNKNOWN_TYPE: &str =
    "this report of dotTrace has no Samples, so it is unknown how it was measured; report on a snapshot of sampling";

/// Passes the functions and instances of a report with their offsets, in order.
pub(super) fn read(bytes: &[u8], mut take: impl FnMut(Element<'_>, usize) -> Result<(), Fault>) -> Result<(), Fault> {
    // The open elements.
    let mut path: Vec<String> = Vec::new();
    let mut refused = None;
    let result = xml::read(bytes, |event, at| {
        let (start, is_open) = match event {
            Event::Start(start) => (start, true),
            Event::Empty(start) => (start, false),
            Event::End(_) => {
                path.pop();
                return Ok(());
            }
            _ => return Ok(()),
        };
        let outer: Vec<&str> = path.iter().map(String::as_str).collect();
        if let Err(fault) = read_element(start, &outer, at, &mut take) {
            refused = Some(fault);
            return Err(String::new());
        }
        if is_open {
            path.push(start.name().into_inner().to_owned());
        }
        Ok(())
    });
    result.map_err(|(at, rule)| refused.unwrap_or((at, ErrorKind::Malformed(rule))))
}

fn read_element(
    start: &BytesStart<'_>,
    outer: &[&str],
    at: usize,
    take: &mut impl FnMut(Element<'_>, usize) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let malformed = |text: &str| (at, ErrorKind::Malformed(text.to_owned()));
    let refused = |text: &str| Err((at, ErrorKind::NotAnExport(text.to_owned())));
    let times = || Times::of(start).map_err(|kind| (at, kind));
    match (outer, start.name().into_inner()) {
        (["Report"], "Function") => {
            match (attribute(start, "Calls"), attribute(start, "Samples")) {
                (Some(_), _) => return refused(TRACING),
                (None, None) => return refused(UNKNOWN_TYPE),
                (None, Some(_)) => {}
            }
            let name = attribute(start, "FQN").filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| malformed("a function has no FQN"))?;
            let instances = attribute(start, "Instances").map(|number| number.parse());
            let instances = instances.transpose().map_err(|_| malformed("Instances is not a number"))?;
            take(Element::Function { name: &name, times: times()?, instances }, at)
        }
        (["Report", "Function"], "Instance") => {
            let stack = attribute(start, "CallStack").ok_or_else(|| malformed("an instance has no CallStack"))?;
            take(Element::Instance { stack: &stack, times: times()? }, at)
        }
        ([], "Report") => Ok(()),
        ([], _) => refused("this XML is not a report of dotTrace"),
        (_, "Function" | "Instance" | "Report") => Err(malformed("an element is in the wrong place")),
        _ => Ok(()),
    }
}
