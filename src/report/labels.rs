//! Labels of functions, threads, processes and scopes, which all formats share.

use super::listing::NO_STACK;
use super::{Scope, SeriesReport};
use crate::calltree::Label;
use crate::profile::{Process, Profile, StringId, Thread};

/// The function name of a node; empty for the root.
pub(crate) fn function_of(profile: &Profile, label: Label) -> &str {
    match label {
        Label::Root => "",
        Label::NoStack => NO_STACK,
        Label::Function(id) => profile.function_name(id),
    }
}

/// The binary name of a node.
pub(crate) fn binary_of(profile: &Profile, label: Label) -> Option<&str> {
    match label {
        Label::Function(id) => profile.binary_name(id),
        Label::Root | Label::NoStack => None,
    }
}

/// `NAME (PID)`, or only the known part of it.
pub(crate) fn process_label(profile: &Profile, process: &Process) -> String {
    label(profile.string(process.name), process.pid.map(|pid| pid.to_string()), "unknown process")
}

/// `NAME (0xTID)`, like Instruments since 26.4, or only the known part of it.
pub(crate) fn thread_label(profile: &Profile, thread: &Thread) -> String {
    label(profile.string(thread.name), thread.tid.map(|tid| format!("{tid:#x}")), "unknown thread")
}

fn label(name: &str, number: Option<String>, unknown: &str) -> String {
    match (name, number) {
        ("", None) => unknown.to_owned(),
        ("", Some(number)) => number,
        (name, None) => name.to_owned(),
        (name, Some(number)) => format!("{name} ({number})"),
    }
}

/// The table that samples come from, and the unit of their weights.
pub(crate) fn series_label(profile: &Profile, series: &SeriesReport) -> String {
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let (input, schema) = (profile.string(run.input), profile.string(row.schema));
    format!("{schema} of run {} in {input}, in {}", run.number, series.unit)
}

/// The process, the thread, and the state, kind of core or label that limit a scope.
#[derive(Clone, Copy, Default)]
pub(crate) struct ScopeParts<'p> {
    pub(crate) process: Option<&'p Process>,
    pub(crate) thread: Option<&'p Thread>,
    pub(crate) part: Option<StringId>,
}

impl Scope {
    pub(crate) fn parts(self, profile: &Profile) -> ScopeParts<'_> {
        match self {
            Self::Thread(id) => {
                let thread = profile.thread(id);
                ScopeParts { process: Some(profile.process(thread.process)), thread: Some(thread), part: None }
            }
            Self::Process(id) => ScopeParts { process: Some(profile.process(id)), ..ScopeParts::default() },
            Self::State(part) | Self::CoreKind(part) | Self::Label(part) => {
                ScopeParts { part, ..ScopeParts::default() }
            }
            Self::All => ScopeParts::default(),
        }
    }
}

/// The labels of a scope, most general first: process and thread, or only the process, state, kind of core or label.
pub(crate) fn scope_labels(profile: &Profile, scope: Scope) -> Vec<String> {
    let named =
        |part: Option<StringId>, unknown: &str| vec![part.map_or(unknown, |part| profile.string(part)).to_owned()];
    match scope {
        Scope::State(state) => named(state, "no state recorded"),
        Scope::CoreKind(kind) => named(kind, "unknown kind of core"),
        Scope::Label(label) => named(label, "in none"),
        Scope::Thread(_) | Scope::Process(_) | Scope::All => {
            let ScopeParts { process, thread, .. } = scope.parts(profile);
            let process = process.map(|process| process_label(profile, process));
            process.into_iter().chain(thread.map(|thread| thread_label(profile, thread))).collect()
        }
    }
}
