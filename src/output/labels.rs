//! The names of things in every format.

use std::borrow::Cow;

use crate::calltree::Label;
use crate::profile::{Process, Profile, StringId, Thread};
use crate::report::{Scope, SeriesReport};

pub(super) use crate::report::NO_STACK;

/// The name of a node; the root has none.
pub(super) fn function_of(profile: &Profile, label: Label) -> &str {
    match label {
        Label::Root => "",
        Label::NoStack => NO_STACK,
        Label::Function(id) => profile.function_name(id),
    }
}

/// The name of a node's binary.
pub(super) fn binary_of(profile: &Profile, label: Label) -> Option<&str> {
    match label {
        Label::Function(id) => profile.binary_name(id),
        Label::Root | Label::NoStack => None,
    }
}

/// `NAME (PID)`, or what of it there is.
pub(super) fn process_label(profile: &Profile, process: &Process) -> String {
    label(profile.string(process.name), process.pid.map(|pid| pid.to_string()), "unknown process")
}

/// `NAME (0xTID)`, as Instruments writes it since 26.4, or what of it there is.
pub(super) fn thread_label(profile: &Profile, thread: &Thread) -> String {
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

/// The origin of samples, and the unit of their weights.
pub(super) fn series_label(profile: &Profile, series: &SeriesReport) -> String {
    let row = profile.series(series.series);
    let run = profile.run(row.run);
    let (input, schema) = (profile.string(run.input), profile.string(row.schema));
    format!("{schema} of run {} in {input}, in {}", run.number, series.unit)
}

/// A thread state.
pub(super) fn state_label(profile: &Profile, state: Option<StringId>) -> &str {
    state.map_or("no state recorded", |state| profile.string(state))
}

/// A kind of core.
pub(super) fn core_kind_label(profile: &Profile, kind: Option<StringId>) -> &str {
    kind.map_or("unknown kind of core", |kind| profile.string(kind))
}

/// The labels of a tree's scope, from the whole to the part: process and thread, or process, state or kind of core, or nothing.
pub(super) fn scope_labels(profile: &Profile, scope: Scope) -> Vec<String> {
    match scope {
        Scope::Thread(id) => {
            let thread = profile.thread(id);
            vec![process_label(profile, profile.process(thread.process)), thread_label(profile, thread)]
        }
        Scope::Process(id) => vec![process_label(profile, profile.process(id))],
        Scope::State(state) => vec![state_label(profile, state).to_owned()],
        Scope::CoreKind(kind) => vec![core_kind_label(profile, kind).to_owned()],
        Scope::All => Vec::new(),
    }
}

/// A name as one element of a stack whose elements are joined by `;`.
///
/// `;`, line feed and carriage return become `%3B`, `%0A` and `%0D`, and so does a `%` that would read as such an
/// escape (`%25`); nothing else changes. Decoding `%3B`, `%0A`, `%0D` and `%25` gives the name back.
pub(super) fn escape_folded(name: &str) -> Cow<'_, str> {
    let is_special = |(at, byte): (usize, u8)| match byte {
        b';' | b'\n' | b'\r' => true,
        b'%' => ["3B", "0A", "0D", "25"].iter().any(|code| name[at + 1..].starts_with(code)),
        _ => false,
    };
    if !name.bytes().enumerate().any(is_special) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for (at, text) in name.char_indices() {
        match text {
            ';' => out.push_str("%3B"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            '%' if is_special((at, b'%')) => out.push_str("%25"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_escaped_and_come_back() {
        for (name, escaped) in [
            ("operator%(int)", "operator%(int)"),
            ("f(T = int; U)", "f(T = int%3B U)"),
            ("a%3Bb", "a%253Bb"),
            ("é;\r\n", "é%3B%0D%0A"),
            ("%", "%"),
        ] {
            assert_eq!(escape_folded(name), escaped);
            let decoded = escaped.replace("%3B", ";").replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%");
            assert_eq!(decoded, name);
        }
    }
}
