//! Parses the elements of a report.

use std::collections::HashSet;

use quick_xml::events::{BytesStart, Event};

use crate::error::ErrorKind;
use crate::readers::rounded::Rounded;
use crate::readers::xml::{self, attribute};

/// A byte offset, and the error there.
pub(super) type Fault = (usize, ErrorKind);

pub(super) struct Element {
    pub(super) kind: Kind,
    /// The name of a function, or the stack of an instance.
    pub(super) text: String,
    pub(super) total: Rounded,
    pub(super) own: Rounded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function {
        /// The number of instances according to the report.
        instances: Option<u64>,
    },
    Instance,
}

/// The function names in a report.
#[derive(Default)]
pub(super) struct Names {
    /// Names without a slash.
    pub(super) plain: HashSet<String>,
    /// Names with a slash, which is also the separator of stacks.
    pub(super) with_slash: HashSet<String>,
    /// The maximum number of slashes in a name.
    pub(super) most_slashes: usize,
}

impl Names {
    /// Reads the names, and checks that the document is a report with call stacks.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let (mut names, mut has_instances) = (Self::default(), false);
        read(bytes, |element, _| {
            match element.kind {
                Kind::Function { .. } => {
                    let slashes = element.text.matches('/').count();
                    names.most_slashes = names.most_slashes.max(slashes);
                    let list = if slashes == 0 { &mut names.plain } else { &mut names.with_slash };
                    list.insert(element.text);
                }
                Kind::Instance => has_instances = true,
            }
            Ok(())
        })?;
        if has_instances { Ok(names) } else { Err((0, ErrorKind::NotAnExport(FLAT.to_owned()))) }
    }
}

const FLAT: &str = "this dotTrace report has functions without their callers, so it is not a call tree; write it again with \
                    PrintCallstacks=\"Full\" in its pattern";
const TRACING: &str = "this dotTrace report is about tracing (Calls), whose times include the cost of tracing; profile again with sampling";
const UNKNOWN_TYPE: &str =
    "this dotTrace report has no Samples, so it is unknown how it was measured; report on a snapshot of sampling";
const OTHER_FORM: &str = "this dotTrace report has no TotalTime and OwnTime for each function, like reports that compare snapshots; write a \
                          report about one snapshot: Reporter.exe report SNAPSHOT --pattern=FILE --save-to=FILE";

/// Passes the functions and instances of a report, with their offsets, to `take` in order.
pub(super) fn read(bytes: &[u8], mut take: impl FnMut(Element, usize) -> Result<(), Fault>) -> Result<(), Fault> {
    // The number of open elements, and the names of the outermost ones.
    let (mut depth, mut path) = (0, Vec::<String>::new());
    let mut fault = None;
    let result = xml::read(bytes, |event, at| {
        let (Event::Start(start) | Event::Empty(start)) = event else {
            depth -= usize::from(matches!(event, Event::End(_)));
            path.truncate(depth);
            return Ok(());
        };
        let outer: Vec<&str> = path.iter().map(String::as_str).collect();
        let element = element(start, &outer).map_err(|kind| (at, kind));
        if let Err(refused) = element.and_then(|element| element.map_or(Ok(()), |element| take(element, at))) {
            fault = Some(refused);
            return Err(String::new());
        }
        if matches!(event, Event::Start(_)) {
            depth += 1;
            path.extend((depth <= 3).then(|| start.name().into_inner().to_owned()));
        }
        Ok(())
    });
    result.map_err(|(at, rule)| fault.unwrap_or((at, ErrorKind::Malformed(rule))))
}

/// Parses an element inside these ancestors; `None` unless it is a function or an instance.
fn element(start: &BytesStart<'_>, outer: &[&str]) -> Result<Option<Element>, ErrorKind> {
    let malformed = |text: &str| ErrorKind::Malformed(text.to_owned());
    let refused = |text: &str| Err(ErrorKind::NotAnExport(text.to_owned()));
    let time = |name: &str| {
        let text = attribute(start, name).ok_or_else(|| ErrorKind::NotAnExport(OTHER_FORM.to_owned()))?;
        let wrong =
            |what| ErrorKind::Malformed(format!("{name} {text:?} is not milliseconds with a decimal point: {what}"));
        Rounded::parse(&text, Some('.'), 1_000_000).map_err(wrong)
    };
    let (kind, text) = match (outer, start.name().into_inner()) {
        (["Report"], "Function") => {
            if attribute(start, "Calls").is_some() {
                return refused(TRACING);
            }
            if attribute(start, "Samples").is_none() {
                return refused(UNKNOWN_TYPE);
            }
            let instances = attribute(start, "Instances").map(|number| number.parse());
            let instances = instances.transpose().map_err(|_| malformed("Instances is not a number"))?;
            (Kind::Function { instances }, attribute(start, "FQN"))
        }
        (["Report", "Function"], "Instance") => (Kind::Instance, attribute(start, "CallStack")),
        ([], "Report") => return Ok(None),
        ([], _) => return refused("this XML is not a dotTrace report"),
        (_, "Function" | "Instance" | "Report") => return Err(malformed("an element is in the wrong place")),
        _ => return Ok(None),
    };
    let text = text.filter(|text| !text.is_empty()).ok_or_else(|| malformed("an element has no FQN or CallStack"))?;
    Ok(Some(Element { kind, text, total: time("TotalTime")?, own: time("OwnTime")? }))
}
