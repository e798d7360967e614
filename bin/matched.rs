//! Notes about the processes, threads and binaries that filters match.

use traceparse::profile::{Matcher, Profile, Thread};
use traceparse::recording::Intervals;
use traceparse::units::first_of;

use crate::filters::SelectionArgs;
use crate::messages::nearest;
use crate::{note_once, warning};

/// An item that a filter matches.
struct Matched {
    /// True if the filter is the complete name or number of the item.
    is_exact: bool,
    /// The name in notes.
    label: String,
}

/// Notes which filters match only a part of a name, and which match nothing.
pub(crate) fn note_names(profile: &Profile, args: &SelectionArgs) {
    let names = || profile.process_ids().map(|id| profile.string(profile.process(id).name));
    for matcher in &args.processes.process {
        tell("--process", "process", matcher, processes(profile, matcher), names());
    }
    let names = || profile.thread_ids().map(|id| profile.string(profile.thread(id).name));
    for matcher in &args.thread {
        tell("--thread", "thread", matcher, threads(profile, matcher), names());
    }
    if args.main.only_main_thread {
        note_main_threads(profile);
    }
    let names = || profile.binary_ids().map(|id| profile.string(profile.binary(id).name));
    for (option, matchers) in [("--binary", &args.binary), ("--leaf-binary", &args.leaf_binary)] {
        for matcher in matchers {
            tell(option, "binary", matcher, binaries(profile, matcher), names());
        }
    }
}

/// Does the same for the processes of intervals.
pub(crate) fn note_interval_processes(intervals: &Intervals, matchers: &[Matcher]) {
    for matcher in matchers {
        let matched = intervals.processes(matcher).into_iter();
        let matched = matched.map(|(pid, name)| matched_process(matcher, pid, name)).collect();
        let names = intervals.intervals.iter().filter_map(|row| row.process.as_deref());
        tell("--process", "process", matcher, matched, names);
    }
}

fn processes(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let processes = matcher.processes(profile).into_iter().map(|id| profile.process(id));
    processes.map(|process| matched_process(matcher, process.pid, profile.string(process.name))).collect()
}

fn matched_process(matcher: &Matcher, pid: Option<u64>, name: &str) -> Matched {
    let number = pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    Matched { is_exact: matcher.is_exact(pid, name), label: format!("{}{number}", named(name)) }
}

fn threads(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let is_exact = |thread: &Thread| matcher.is_exact(thread.tid, profile.string(thread.name));
    let ids = matcher.threads(profile).into_iter();
    ids.map(|id| matched_thread(profile, profile.thread(id), is_exact)).collect()
}

fn matched_thread(profile: &Profile, thread: &Thread, is_exact: impl Fn(&Thread) -> bool) -> Matched {
    let [name, process] = [thread.name, profile.process(thread.process).name].map(|name| profile.string(name));
    Matched { is_exact: is_exact(thread), label: format!("{} ({})", named(name), named(process)) }
}

fn binaries(profile: &Profile, matcher: &Matcher) -> Vec<Matched> {
    let matched = matcher.binaries(profile).into_iter().map(|id| {
        let binary = profile.binary(id);
        let [name, path] = [binary.name, binary.path].map(|text| profile.string(text));
        let is_exact = matcher.is_exact(None, name) || matcher.is_exact(None, path);
        Matched { is_exact, label: named(name).to_owned() }
    });
    matched.collect()
}

fn named(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

/// Notes the names that a matcher matched, unless a name matched exactly.
fn tell<'p>(option: &str, kind: &str, matcher: &Matcher, matched: Vec<Matched>, names: impl Iterator<Item = &'p str>) {
    let option = format!("{option} '{}'", matcher.text());
    if !matched.is_empty() {
        return note_matched(&option, &matched);
    }
    let nearest = nearest(matcher, names).map_or_else(String::new, |names| format!("; {names}"));
    warning(&format!("{option} matches no {kind}{nearest}"));
}

fn note_main_threads(profile: &Profile) {
    let is_usual = |thread: &Thread| profile.string(thread.name) == "Main Thread";
    let threads = profile.thread_ids().map(|id| profile.thread(id)).filter(|thread| thread.is_main);
    let matched: Vec<Matched> = threads.map(|thread| matched_thread(profile, thread, is_usual)).collect();
    if matched.is_empty() {
        warning(
            "--only-main-thread: the recording marks no thread as a main thread, and none is named Main Thread or main",
        );
    }
    note_matched("--only-main-thread", &matched);
}

fn note_matched(option: &str, matched: &[Matched]) {
    if matched.iter().all(|thing| thing.is_exact) {
        return;
    }
    // In the order of the recording. Workers of a pool may have the same name.
    let mut labels: Vec<(&str, usize)> = Vec::new();
    for thing in matched {
        match labels.iter_mut().find(|(label, _)| *label == thing.label) {
            Some((_, times)) => *times += 1,
            None => labels.push((&thing.label, 1)),
        }
    }
    let label = |(label, times): &(&str, usize)| match times {
        1 => (*label).to_owned(),
        _ => format!("{label} ×{times}"),
    };
    let labels: Vec<String> = labels.iter().map(label).collect();
    note_once(&format!("{option}: {}", first_of(&labels)));
}
