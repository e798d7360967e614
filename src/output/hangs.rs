//! Hangs and hitches, as text or JSON. `docs/formats.md` describes every field.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::text::{Style, Tone, amount_text, fit, wrap};
use crate::calltree::{Node, percent};
use crate::profile::Profile;
use crate::recording::{Interval, Recording};
use crate::report::{Hang, HangActivity, HangReport, HangWait, OtherThread, binary_of, function_of, thread_label};
use crate::units::{Nanos, Weight, several};

/// The version of the JSON. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;
/// Functions of a stack that text shows, the innermost ones.
const FRAMES: usize = 12;
/// System calls and states of a hang that text shows, those with the largest total.
const WAITS: usize = 3;
/// Hitches that text shows, the longest ones.
const HITCHES: usize = 10;
/// Apple's limits of the hitch time ratio, in milliseconds per second: below the first a user does not notice hitches, from the second on they
/// are disturbing. Source: "Explore UI animation hitches and the render loop", Apple Tech Talks 2021.
const RATIO: [f64; 2] = [5.0, 10.0];

/// Writes hangs for people.
pub(super) fn write_text(
    report: &HangReport,
    recording: &Recording,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page { profile: &recording.profile, style, is_recorded: report.is_recorded };
    for line in wrap(&title(report), 0, style.width) {
        writeln!(out, "{}", style.paint(Tone::Title, &line))?;
    }
    for hang in &report.hangs {
        page.hang(hang, out)?;
    }
    page.hitches(report, out)
}

/// `2 hangs; the longest takes 2.08 s`.
fn title(report: &HangReport) -> String {
    let count = report.hangs.len();
    let longest = report.hangs.iter().filter_map(|hang| hang.interval.duration()).max();
    let limit = Weight::nanos(HangReport::BUSY_STRETCH.as_nanos());
    match (longest, report.is_recorded) {
        (None, true) if report.rejected > 0 => {
            format!("Hangs were recorded, but none of their {} could be read", several(report.rejected, "row"))
        }
        (None, true) => "No hang was recorded".to_owned(),
        (None, false) if !report.has_samples => {
            "The input has no table of hangs, and no CPU samples of main threads".to_owned()
        }
        (None, false) => {
            format!("Hangs were not recorded, and no main thread was on the CPU for {limit} without a pause")
        }
        (Some(longest), true) => {
            format!("{}; the longest takes {}", several(count, "hang"), Weight::nanos(longest.as_nanos()))
        }
        (Some(longest), false) => format!(
            "Hangs were not recorded. {}, a main thread was busy for at least {limit} without a pause, at most for {}; when it only waited is \
             not known",
            if count == 1 { "Once".to_owned() } else { format!("{count} times") },
            Weight::nanos(longest.as_nanos())
        ),
    }
}

/// `4.933 s`.
fn clock(time: Nanos) -> String {
    let millis = time.as_nanos() / 1_000_000;
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

struct Page<'a> {
    profile: &'a Profile,
    style: &'a Style,
    is_recorded: bool,
}

impl Page<'_> {
    fn hang(&self, hang: &Hang, out: &mut dyn Write) -> io::Result<()> {
        let interval = &hang.interval;
        let length = interval.duration().map_or_else(
            || "until the recording ended".to_owned(),
            |length| Weight::nanos(length.as_nanos()).to_string(),
        );
        let kind = match (&interval.hang_type, self.is_recorded) {
            (Some(kind), _) => kind.to_string(),
            (None, true) => "Hang".to_owned(),
            (None, false) => format!("busy for {length}"),
        };
        let head = format!("At {} of run {}: {kind}, {length}", clock(interval.start), interval.run);
        let head = if self.is_recorded {
            head
        } else {
            format!("At {} of run {}: {kind}", clock(interval.start), interval.run)
        };
        let tone = if self.is_recorded { Tone::Bad } else { Tone::Title };
        writeln!(out, "\n{}", self.style.paint(tone, &fit(&head, self.style.width)))?;
        self.line(&format!("{} of {}", self.thread(hang), process(interval)), out)?;
        match &hang.activity {
            Some(activity) => self.activity(activity, interval.duration(), out)?,
            None => self.line("What the thread did is unknown: the input has no CPU samples of the run", out)?,
        }
        for wait in hang.waits.iter().take(WAITS) {
            let HangWait { table, name, count, total } = wait;
            let total = Weight::nanos(total.as_nanos());
            self.line(&format!("{total} in {name} ({}, {table})", several(*count, "time")), out)?;
        }
        if !hang.signposts.is_empty() {
            let names: Vec<&str> = hang.signposts.iter().map(AsRef::as_ref).collect();
            self.line(&format!("Open signposts: {}", names.join(", ")), out)?;
        }
        Ok(())
    }

    fn thread(&self, hang: &Hang) -> String {
        match (hang.thread, hang.interval.tid) {
            (Some(thread), _) => thread_label(self.profile, self.profile.thread(thread)),
            (None, Some(tid)) => format!("thread {tid:#x}"),
            (None, None) => "the main thread".to_owned(),
        }
    }

    fn line(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        wrap(text, 2, self.style.width).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn activity(&self, activity: &HangActivity, length: Option<Nanos>, out: &mut dyn Write) -> io::Result<()> {
        let HangActivity { on_cpu, percent, is_busy, heaviest, off_cpu, waiting, other } = activity;
        let (heaviest, waiting) = (heaviest.as_slice(), waiting.as_slice());
        let state = match is_busy {
            Some(true) => "Busy",
            Some(false) => "Blocked or waiting",
            None => "On the CPU",
        };
        let share = match (percent, length) {
            (Some(percent), _) => format!("{percent:.0}% of the time on the CPU, {}", amount_text(*on_cpu)),
            _ => amount_text(*on_cpu),
        };
        self.line(&format!("{state}: {share}"), out)?;
        let on = || ("Heaviest stack on the CPU:", heaviest, on_cpu.weight);
        let off = || ("Heaviest stack off the CPU:", waiting, off_cpu.weight);
        if *is_busy != Some(false) {
            self.stack(on(), out)?;
        }
        if off_cpu.samples > 0 {
            self.line(&format!("Off the CPU: {}", amount_text(*off_cpu)), out)?;
        }
        self.stack(off(), out)?;
        if let Some(OtherThread { thread, on_cpu, heaviest }) = other {
            let thread = thread_label(self.profile, self.profile.thread(*thread));
            let title = format!("Busiest other thread, {thread}, {}:", amount_text(*on_cpu));
            self.stack((&title, heaviest, on_cpu.weight), out)?;
        }
        if *is_busy == Some(false) { self.stack(on(), out) } else { Ok(()) }
    }

    /// The innermost functions of a stack, each below its caller.
    fn stack(&self, (title, nodes, total): (&str, &[Node], Weight), out: &mut dyn Write) -> io::Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        self.line(title, out)?;
        let hidden = nodes.len().saturating_sub(FRAMES);
        if hidden > 0 {
            self.line(&format!("         … {}", several(hidden, "caller")), out)?;
        }
        for node in &nodes[hidden..] {
            let share = format!("    {:>5.1}%  ", percent(node.all_weight, total.value));
            let (name, binary) = self.style.two_parts(
                function_of(self.profile, node.label),
                binary_of(self.profile, node.label).unwrap_or_default(),
                share.len(),
            );
            writeln!(out, "{}{name}{binary}", self.style.paint(Tone::Weight, &share))?;
        }
        Ok(())
    }

    fn hitches(&self, report: &HangReport, out: &mut dyn Write) -> io::Result<()> {
        if report.hitches.is_empty() {
            return Ok(());
        }
        let mut longest: Vec<&Hang> = report.hitches.iter().collect();
        longest.sort_by_key(|hitch| std::cmp::Reverse(hitch.interval.duration()));
        let total: u64 = longest.iter().filter_map(|hitch| hitch.interval.duration()).map(Nanos::as_nanos).sum();
        let count = several(longest.len(), "hitch").replace("hitchs", "hitches");
        let title = format!("{count}: frames were {} late together", Weight::nanos(total));
        writeln!(out, "\n{}", self.style.paint(Tone::Title, &title))?;
        if let Some(ratio) = report.hitch_ratio {
            let word = match ratio {
                _ if ratio < RATIO[0] => "good: below 5",
                _ if ratio < RATIO[1] => "noticeable: 5 to 10",
                _ => "disturbing: 10 or more",
            };
            self.line(&format!("{ratio:.1} ms of hitches per second recorded ({word}, by Apple's limits)"), out)?;
        }
        for hitch in longest.iter().take(HITCHES) {
            let interval = &hitch.interval;
            let late = interval.duration().map_or_else(String::new, |late| Weight::nanos(late.as_nanos()).to_string());
            let cause = interval.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("no cause was recorded");
            let busy = match hitch.activity.as_ref().and_then(|activity| activity.percent) {
                Some(percent) => format!("; its main thread was on the CPU for {percent:.0}%"),
                None => String::new(),
            };
            let text = format!("{late:>9} late at {} in {}: {cause}{busy}", clock(interval.start), process(interval));
            self.line(&text, out)?;
        }
        if longest.len() > HITCHES {
            self.line(&format!("… {} shorter ones", longest.len() - HITCHES), out)?;
        }
        Ok(())
    }
}

/// `Orchard (512)`.
fn process(interval: &Interval) -> String {
    let name = interval.process.as_deref().unwrap_or_default();
    match interval.pid {
        Some(pid) if name.is_empty() => format!("process {pid}"),
        Some(pid) => format!("{name} ({pid})"),
        None if name.is_empty() => "an unknown process".to_owned(),
        None => name.to_owned(),
    }
}

/// Writes the same as one document.
pub(super) fn write_json(report: &HangReport, recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let values = |hangs: &[Hang]| hangs.iter().map(|hang| value(hang, &recording.profile)).collect::<Value>();
    let document = json!({
        "format": "traceparse-hangs",
        "version": VERSION,
        "is_recorded": report.is_recorded,
        "rejected_rows": report.rejected,
        "hangs": values(&report.hangs),
        "hitches": values(&report.hitches),
        "hitch_ms_per_second": report.hitch_ratio,
    });
    writeln!(out, "{document}")
}

fn value(hang: &Hang, profile: &Profile) -> Value {
    let interval = &hang.interval;
    let stack = |nodes: &[Node]| {
        let frame = |node: &Node| {
            json!({
                "function": function_of(profile, node.label),
                "binary": binary_of(profile, node.label),
                "all_weight": node.all_weight,
            })
        };
        nodes.iter().map(frame).collect::<Value>()
    };
    let activity = hang.activity.as_ref().map(|activity| {
        let HangActivity { on_cpu, percent, is_busy, heaviest, off_cpu, waiting, other } = activity;
        let other = other.as_ref().map(|OtherThread { thread, on_cpu, heaviest }| {
            let thread = profile.thread(*thread);
            json!({
                "thread": profile.string(thread.name),
                "tid": thread.tid,
                "weight": on_cpu.weight.value,
                "samples": on_cpu.samples,
                "heaviest_stack": stack(heaviest),
            })
        });
        json!({
            "unit": on_cpu.weight.unit.name(),
            "weight": on_cpu.weight.value,
            "samples": on_cpu.samples,
            "percent": percent,
            "is_busy": is_busy,
            "heaviest_stack": stack(heaviest),
            "off_cpu": {"weight": off_cpu.weight.value, "samples": off_cpu.samples, "heaviest_stack": stack(waiting)},
            "busiest_other_thread": other,
        })
    });
    let wait = |HangWait { table, name, count, total }: &HangWait| json!({"table": table.as_ref(), "name": name.as_ref(), "count": count, "total_ns": total.as_nanos()});
    json!({
        "run": interval.run,
        "start_ns": interval.start.as_nanos(),
        "duration_ns": interval.duration().map(Nanos::as_nanos),
        "type": interval.hang_type.as_deref(),
        "cause": interval.name.as_deref(),
        "process": interval.process.as_deref(),
        "pid": interval.pid,
        "thread": hang.thread.map(|thread| profile.string(profile.thread(thread).name)),
        "tid": interval.tid,
        "signposts": hang.signposts.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "waits": hang.waits.iter().map(wait).collect::<Value>(),
        "activity": activity,
    })
}
