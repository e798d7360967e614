//! Hangs and hitches as a JSON document.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::sentences::missing;
use super::text::answer;
use crate::output::json::values;
use crate::profile::{Profile, ThreadId};
use crate::recording::{Interval, Recording};
use crate::report::{Hang, HangActivity, HangReport, HangStack, HangWait, Hitches};
use crate::units::Nanos;

/// The version of the JSON. Added fields keep the version; removed fields and changed meanings increase it.
const VERSION: u64 = 1;

/// Writes the report as JSON.
pub(in crate::output) fn write_json(report: &HangReport, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let profile = &recording.profile;
    let symbols = |(binary, functions)| {
        let row = profile.binary(binary);
        json!({"binary": profile.string(row.name), "uuid": row.uuid.map(|uuid| uuid.to_string()), "functions": functions})
    };
    let head = json!({
        "format": "traceparse-hangs",
        "version": VERSION,
        "answer": answer(report, recording),
        "is_recorded": report.is_recorded,
        "rejected_rows": report.rejected,
        "missing_symbols": missing(report, profile).into_iter().map(symbols).collect::<Value>(),
    });
    write!(out, "{}", head.to_string().trim_end_matches('}'))?;
    values(out, "hangs", report.hangs.iter().map(|hang| value(hang, profile)))?;
    values(out, "hitches", report.hitches.iter().map(hitches))?;
    out.write_all(b"}\n")
}

fn value(hang: &Hang, profile: &Profile) -> Value {
    let Hang { interval, length, is_report, activity, signposts, waits, .. } = hang;
    let wait = |HangWait { table, name, count, total }: &HangWait| json!({"table": table.as_ref(), "name": name.as_ref(), "count": count, "total_ns": total.as_nanos()});
    json!({
        "run": interval.run,
        "start_ns": (!is_report).then_some(interval.start.as_nanos()),
        "duration_ns": length.map(Nanos::as_nanos),
        "is_open": interval.end.is_none(),
        "type": interval.hang_type.as_deref(),
        "process": interval.process.as_deref(),
        "pid": interval.pid,
        "thread": hang.thread.map(|thread| profile.string(profile.thread(thread).name)),
        "tid": interval.tid.or_else(|| profile.thread(hang.thread?).tid),
        "activity": of_activity(activity, profile),
        "signposts": signposts.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "waits": waits.iter().map(wait).collect::<Value>(),
    })
}

fn of_activity(activity: &HangActivity, profile: &Profile) -> Value {
    let HangActivity { verdict, reason, cpu_percent, uncovered_percent, samples, running, waiting, queued, .. } =
        activity;
    let HangActivity { heaviest, off_cpu, waits_for, holder, also_busy, .. } = activity;
    let stack = |it: &Option<HangStack>| it.as_ref().map(|it| stack(it, profile));
    let busy = |it: &HangStack| {
        let mut value = thread(it.thread, profile);
        value["heaviest_stack"] = self::stack(it, profile);
        value
    };
    let holder = holder.map(|holder| {
        let mut value = thread(holder, profile);
        value["is_recorded"] = activity.is_owner.into();
        value["waits"] = activity.holder_waits.into();
        value
    });
    json!({
        "verdict": verdict.name(),
        "reason": reason,
        "least_cpu_percent": cpu_percent.map(|[low, _]| low),
        "most_cpu_percent": cpu_percent.map(|[_, high]| high),
        "uncovered_percent": uncovered_percent,
        "samples": {"all": samples, "running": running, "waiting": waiting, "runnable": queued},
        "waits_for": waits_for,
        "holder": holder,
        "blocked_by": activity.blocked_by,
        "heaviest_stack": stack(heaviest),
        "off_cpu_stack": stack(off_cpu),
        "also_busy": also_busy.iter().map(busy).collect::<Value>(),
    })
}

fn thread(id: ThreadId, profile: &Profile) -> Value {
    let thread = profile.thread(id);
    json!({"thread": profile.string(thread.name), "tid": thread.tid})
}

fn stack(stack: &HangStack, profile: &Profile) -> Value {
    let frame = |&(id, weight): &(_, u64)| {
        let (function, binary) = (profile.function_name(id), profile.binary_name(id));
        json!({"function": function, "binary": binary, "percent": 100.0 * weight as f64 / stack.weight.max(1) as f64})
    };
    stack.functions.iter().map(frame).collect()
}

fn hitches(hitches: &Hitches) -> Value {
    let row = |row: &Interval| json!({"start_ns": row.start.as_nanos(), "late_ns": row.duration().map(Nanos::as_nanos), "cause": row.name.as_deref()});
    json!({
        "run": hitches.run,
        "process": hitches.process.as_deref(),
        "pid": hitches.pid,
        "late_ns": hitches.late().as_nanos(),
        "animations": hitches.animations.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "animated_ns": hitches.animated.as_nanos(),
        "late_ms_per_second": hitches.ratio(),
        "rows": hitches.rows.iter().map(row).collect::<Value>(),
    })
}
