//! Sentences about what a thread did during a hang. Each sentence states its evidence.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::{BinaryId, FunctionId, Profile};
use crate::report::{Hang, HangActivity, HangReport, HangVerdict, is_own_binary, thread_label};
use crate::units::{capitalized, counted, several};

/// What a thread did, in a few words.
pub(in crate::output) fn did(activity: &HangActivity) -> String {
    let [low, high] = activity.cpu_percent.unwrap_or([0.0, 100.0]);
    match (activity.verdict, activity.waits_for) {
        (HangVerdict::Busy, _) => "busy".to_owned(),
        (HangVerdict::Starved, _) => "starved of a core".to_owned(),
        (HangVerdict::Waiting, None) => "waiting".to_owned(),
        (HangVerdict::Waiting, Some(reason)) => format!("waiting for {reason}"),
        (HangVerdict::OffCpu, _) => "off the CPU".to_owned(),
        (HangVerdict::PartlyBusy, _) => format!("partly busy, {:.0}–{:.0}%", low.floor(), high.ceil()),
        (HangVerdict::NotBusy, _) => format!("not busy, at most {:.0}%", high.ceil()),
        (HangVerdict::InCode, _) => "running or runnable".to_owned(),
        (HangVerdict::Unknown, _) => "unknown".to_owned(),
    }
}

/// What a thread did, as a sentence with the evidence.
pub(in crate::output) fn evidence(hang: &Hang) -> String {
    let activity = &hang.activity;
    let HangActivity { samples, running, waiting, queued, .. } = *activity;
    let [low, high] = activity.cpu_percent.unwrap_or([0.0, 100.0]).map(|percent| percent.clamp(0.0, 100.0));
    let at_most = format!("on the CPU for at most {:.0}% of it", high.ceil());
    let of_samples =
        |part: u64, what: &str| format!("{what} in {} of its {}", counted(part), several(samples, "sample"));
    let sentence = match activity.verdict {
        HangVerdict::Busy if hang.is_report => format!("Busy: {}", of_samples(running, "running")),
        HangVerdict::Busy => format!("Busy: on the CPU for at least {:.0}% of it", low.floor()),
        HangVerdict::Starved => format!("Starved of a core: {}", of_samples(queued, "ready to run")),
        HangVerdict::Waiting => {
            let did = match activity.waits_for.filter(|_| activity.has_other_waits) {
                Some(reason) => format!("Waiting, mostly for {reason}"),
                None => capitalized(&did(activity)),
            };
            format!("{did}: {}", of_samples(waiting, "it waits"))
        }
        HangVerdict::OffCpu => format!("Off the CPU: {at_most}"),
        HangVerdict::PartlyBusy => {
            let text = format!("Partly busy: on the CPU for {:.0} to {:.0}% of it", low.floor(), high.ceil());
            match activity.waits_for {
                Some(reason) => format!("{text}; otherwise it waits for {reason}"),
                None => text,
            }
        }
        HangVerdict::NotBusy => format!("Not busy: {at_most}; what else it did is unknown"),
        HangVerdict::InCode => {
            format!("Running or ready to run: {}", of_samples(running, "in code that does not wait"))
        }
        HangVerdict::Unknown => format!("Unknown: {}", activity.reason.as_deref().unwrap_or_default()),
    };
    let uncovered = activity.uncovered_percent;
    let is_partly_covered = uncovered >= 1.0 && activity.verdict != HangVerdict::Unknown;
    if is_partly_covered { format!("{sentence}. No sample covers {uncovered:.0}% of it") } else { sentence }
}

/// A sentence about the thread that holds the lock that a thread is waiting for.
pub(super) fn holder(activity: &HangActivity, is_of_report: bool, profile: &Profile) -> Option<String> {
    let label = |id| thread_label(profile, profile.thread(id));
    let of_process = |id| {
        let process = profile.process(profile.thread(id).process);
        let pid = process.pid.map(|pid| format!(" ({pid})")).unwrap_or_default();
        format!("{} of {}{pid}", label(id), profile.string(process.name))
    };
    match activity.holder {
        Some(thread) if activity.is_owner => {
            let waits = if activity.holder_waits { "; it waits, too" } else { "" };
            Some(format!("{} holds it, as the report states{waits}", of_process(thread)))
        }
        None if !activity.blocked_by.is_empty() => {
            let more = match activity.blocked_by.len() - 1 {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            Some(format!("The report states: blocked by {}{more}", activity.blocked_by[0]))
        }
        Some(thread) if is_of_report => Some(format!(
            "{} may hold it: of all threads, only it does not wait, and its stacks have methods of the same type",
            label(thread)
        )),
        Some(thread) => Some(format!(
            "{} may hold it: it worked during the wait, and it is the only thread with a function that began and ended with the wait",
            label(thread)
        )),
        None if activity.waits_for == Some("a lock") => Some("Which thread holds it is unknown".to_owned()),
        None => None,
    }
}

/// The app binaries with unnamed functions in the stacks of hangs, each with the number of these functions, largest first.
pub(super) fn missing(report: &HangReport, profile: &Profile) -> Vec<(BinaryId, usize)> {
    let of_activity = |it: &Hang| {
        let stacks = it.activity.heaviest.iter().chain(&it.activity.off_cpu).chain(&it.activity.also_busy);
        stacks.flat_map(|stack| stack.functions.iter().map(|(id, _)| *id)).collect::<Vec<_>>()
    };
    let nameless: BTreeSet<FunctionId> = report.hangs.iter().flat_map(of_activity).collect();
    let mut counts: BTreeMap<BinaryId, usize> = BTreeMap::new();
    for function in nameless.into_iter().map(|id| profile.function(id)).filter(|function| !function.is_named) {
        if let Some(binary) = function.binary.filter(|&binary| is_own_binary(profile, binary)) {
            *counts.entry(binary).or_default() += 1;
        }
    }
    let mut counts: Vec<(BinaryId, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(binary, count)| (std::cmp::Reverse(count), binary));
    counts
}
