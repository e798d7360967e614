//! Hangs and hitches for people: a table, longest hang first, and details on the longest hangs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::sentences::{did, evidence, holder, missing};
use crate::calltree::percent;
use crate::output::text::table::{Column, KEPT, Row, Table};
use crate::output::text::{Style, Tone};
use crate::profile::{FunctionId, Meaning, Profile};
use crate::recording::{Interval, Recording};
use crate::report::{Hang, HangActivity, HangReport, HangStack, HangVerdict, HangWait, Hitches, thread_label};
use crate::settings::{DSYM, FORMAT, PROCESS};
use crate::units::{Nanos, Weight, first_of, several};

/// The number of hangs described below the table.
const DESCRIBED: usize = 3;
/// The number of rows in the table.
const ROWS: usize = 20;
/// The width of the column that names the main function of a hang.
const PLACE: usize = 24;
/// The number of functions shown of a stack, innermost first.
const FRAMES: usize = 10;
/// The number of system calls and states shown for a hang, largest total first.
const WAITS: usize = 3;
/// The number of hitches shown per process, and of processes with hitches.
const HITCHES: usize = 5;
/// Apple's limits for the hitch time ratio, in milliseconds per second: below the first, users do not notice hitches; from the second on, hitches are
/// disturbing. Source: "Explore UI animation hitches and the render loop", Apple Tech Talks 2021.
const RATIO: [f64; 2] = [5.0, 10.0];

const NOT_RECORDED: &str = "Hangs were not recorded, so it is unknown whether there was one";

/// The first line, without its end.
pub(super) fn answer(report: &HangReport, recording: &Recording) -> String {
    Page { profile: &recording.profile, style: &Style::default(), report }.title()
}

pub(in crate::output) fn write_text(
    report: &HangReport,
    recording: &Recording,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page { profile: &recording.profile, style, report };
    style.write_wrapped(Some(Tone::Title), 0, &page.title(), out)?;
    if !report.hangs.is_empty() {
        page.table(out)?;
        page.remarks(out)?;
    }
    let described = report.hangs.iter().filter(|hang| page.is_described(hang)).take(DESCRIBED);
    described.into_iter().try_for_each(|hang| page.hang(hang, out))?;
    report.hitches.iter().take(HITCHES).try_for_each(|hitches| page.hitches(hitches, out))?;
    page.missing(out)?;
    let rest = report.hitches.iter().skip(HITCHES);
    let (processes, late) = rest.fold((0, 0), |(count, late), it| (count + 1, late + it.late().as_nanos()));
    if processes > 0 {
        let text = format!("Hitches of {processes} more processes: {} late together", Weight::nanos(late));
        writeln!(out)?;
        style.write_wrapped(None, 0, &text, out)?;
    }
    Ok(())
}

struct Page<'a> {
    profile: &'a Profile,
    style: &'a Style,
    report: &'a HangReport,
}

impl Page<'_> {
    /// `3 hangs of Orchard (512): 1 Severe Hang, 2 Hang. The longest takes 2.08 s`.
    fn title(&self) -> String {
        let HangReport { hangs, is_recorded, rejected, has_samples, .. } = self.report;
        let limit = Weight::nanos(HangReport::BUSY_STRETCH.as_nanos());
        let whose = self.common(|hang| process(&hang.interval)).map_or_else(String::new, |one| format!(" of {one}"));
        let longest = hangs.iter().max_by_key(|hang| hang.length).and_then(|hang| Some((hang, length(hang.length?))));
        let longest = longest.map_or_else(String::new, |(hang, length)| match hang.interval.end {
            None => format!("at least {length}"),
            Some(_) => length,
        });
        let count = hangs.len() as u64;
        match (count, is_recorded) {
            (0, true) if *rejected > 0 => {
                format!("Hangs were recorded, but none of their {} could be read", several(*rejected, "row"))
            }
            (0, true) => "No hang was recorded".to_owned(),
            (0, false) if self.is_stop() => {
                "The report does not describe a hang: it shows why a process ended".to_owned()
            }
            (0, false) if self.is_report() => {
                let several = self.profile.process_ids().len() > 1 && !self.report.is_of_chosen;
                let choose = if several { format!("; {PROCESS} NAME chooses one of a process") } else { String::new() };
                format!("The report does not state a hang, and it is unknown which of its threads it describes{choose}")
            }
            (0, false) if !has_samples => "The input has no table of hangs, and no CPU samples".to_owned(),
            (0, false) if !self.profile.thread_ids().any(|id| self.profile.thread(id).is_main) => {
                format!("{NOT_RECORDED}: no thread is known to be a main thread")
            }
            (0, false) => format!(
                "{NOT_RECORDED}: no samples show a known main thread on the CPU for {limit} without a pause, and it may have waited"
            ),
            (1, true) if longest.is_empty() => format!("1 hang{whose}"),
            (1, true) => format!("1 hang{whose}, {longest}"),
            (_, true) => {
                let unread = hangs.iter().filter(|hang| hang.length.is_none()).count();
                let known = match unread {
                    0 => format!("; the longest takes {longest}"),
                    _ if longest.is_empty() => "; their lengths cannot be read".to_owned(),
                    _ => format!(
                        "; the lengths of {unread} cannot be read, and the longest of the others takes {longest}"
                    ),
                };
                format!("{}{whose}{}{known}", several(count, "hang"), self.types())
            }
            (_, false) if self.is_report() => {
                format!("The report does not state a hang. What the main thread{whose} did:")
            }
            (_, false) => format!(
                "Hangs were not recorded. {}, samples show a main thread{whose} on the CPU for at least {limit} without a pause, at most for \
                 {longest}; shorter pauses than the sampling interval are invisible",
                if count == 1 { "Once".to_owned() } else { format!("{count} times") },
            ),
        }
    }

    /// True if the input is a crash or memory exception report.
    fn is_stop(&self) -> bool {
        self.profile.series_ids().any(|id| self.profile.series(id).meaning == Meaning::Stop)
    }

    /// True if the input is a report without times.
    fn is_report(&self) -> bool {
        let mut series = self.profile.series_ids().map(|id| self.profile.series(id));
        series.len() > 0 && series.all(|row| !row.has_times)
    }

    /// `: 1 Severe Hang, 2 Hang`.
    fn types(&self) -> String {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for kind in self.report.hangs.iter().filter_map(|hang| hang.interval.hang_type.as_deref()) {
            *counts.entry(kind).or_default() += 1;
        }
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));
        let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) }
    }

    /// The property that all hangs share; `None` if they differ.
    fn common(&self, part: impl Fn(&Hang) -> String) -> Option<String> {
        let mut parts = self.report.hangs.iter().map(part);
        let first = parts.next()?;
        parts.all(|other| other == first).then_some(first)
    }

    /// Writes a row for each hang, without the columns that have the same value in all rows.
    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let hangs = &self.report.hangs;
        let runs = self.common(|hang| hang.interval.run.to_string()).is_none();
        let whose = self.common(|hang| self.whose(hang)).is_none();
        let row = |hang: &Hang| {
            let interval = &hang.interval;
            let start = if hang.is_report { String::new() } else { clock(interval.start) };
            let start = match (runs, start.as_str()) {
                (true, "") => format!("run {}", interval.run),
                (true, start) => format!("{start}, run {}", interval.run),
                _ => start,
            };
            let open = if interval.end.is_none() { "≥ " } else { "" };
            let long = hang.length.map_or_else(String::new, |long| format!("{open}{}", length(long)));
            let kind = interval.hang_type.as_deref().unwrap_or_default().to_owned();
            let whose = if whose { self.whose(hang) } else { String::new() };
            let place = self.place(hang);
            let name = place.map_or("", |id| self.profile.function_name(id));
            let binary = place.and_then(|id| self.profile.binary_name(id)).unwrap_or_default();
            Row::new([start, long, kind, whose, did(&hang.activity)], name, binary)
        };
        let columns = vec![
            Column::new("at", KEPT),
            Column::new("length", KEPT),
            Column::label("type", 1, [10, 40]),
            Column::label("thread", 2, [16, 24]),
            Column::label("it was", 3, [16, 40]),
        ];
        let more = hangs.len().checked_sub(ROWS).filter(|&more| more > 0);
        let more = more
            .map(|more| Row::more([""; 0], &format!("… {}; {FORMAT} json has all", several(more as u64, "more hang"))));
        let rows = hangs.iter().take(ROWS).map(row).chain(more).collect();
        writeln!(out)?;
        let table = Table::new(columns, "mostly in", PLACE, rows).without_empty(|cell| !cell.is_empty());
        table.write("JSON has all.", self.style, out)
    }

    /// Writes remarks that apply to several rows, once each.
    fn remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        let hangs = &self.report.hangs;
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for reason in
            hangs.iter().filter(|hang| !self.is_described(hang)).filter_map(|hang| hang.activity.reason.as_deref())
        {
            *reasons.entry(reason).or_default() += 1;
        }
        for (reason, count) in reasons {
            let of = if count == hangs.len() as u64 { String::new() } else { format!(" ({count})") };
            self.line(&format!("unknown{of}: {reason}"), out)?;
        }
        if hangs.iter().any(|hang| hang.activity.verdict == HangVerdict::OffCpu) {
            self.line("off the CPU: no states were recorded, so it waited or was starved of a core", out)?;
        }
        Ok(())
    }

    /// True if there is more to report about a hang than its row shows.
    fn is_described(&self, hang: &Hang) -> bool {
        let activity = &hang.activity;
        let has_context = !hang.waits.is_empty() || !hang.signposts.is_empty() || !activity.also_busy.is_empty();
        has_context
            || activity.verdict != HangVerdict::Unknown
            || activity.heaviest.is_some()
            || activity.off_cpu.is_some()
    }

    fn hang(&self, hang: &Hang, out: &mut dyn Write) -> io::Result<()> {
        let (activity, interval) = (&hang.activity, &hang.interval);
        let long = hang.length.map_or_else(String::new, length);
        let long =
            if interval.end.is_none() { format!("at least {long}: open when the recording ended") } else { long };
        let long = if long.is_empty() { String::new() } else { format!(", {long}") };
        let run = if self.common(|hang| hang.interval.run.to_string()).is_none() || interval.run > 1 {
            format!(" of run {}", interval.run)
        } else {
            String::new()
        };
        let head = if hang.is_report {
            self.whose(hang)
        } else {
            format!("At {}{run}, {}", clock(interval.start), self.whose(hang))
        };
        let tone = if self.report.is_recorded { Tone::Bad } else { Tone::Title };
        writeln!(out)?;
        self.style.write_wrapped(Some(tone), 0, &format!("{head}{long}"), out)?;
        self.line(&evidence(hang), out)?;
        if let Some(text) = holder(activity, hang.is_report, self.profile) {
            self.line(&text, out)?;
        }
        let is_off = matches!(activity.verdict, HangVerdict::Waiting | HangVerdict::Starved | HangVerdict::OffCpu);
        let is_known = !hang.is_report || activity.verdict != HangVerdict::Unknown;
        let on = if is_known { "Heaviest stack on the CPU:" } else { "Heaviest stack of its samples:" };
        let stacks = [("Heaviest stack off the CPU:", &activity.off_cpu), (on, &activity.heaviest)];
        let stacks: Vec<_> = if is_off { stacks.into_iter().collect() } else { stacks.into_iter().rev().collect() };
        for (title, stack) in stacks {
            self.stack(title, stack.as_ref(), out)?;
        }
        for busy in activity.also_busy.iter().take(WAITS) {
            let label = thread_label(self.profile, self.profile.thread(busy.thread));
            let word = if hang.is_report { "Did not wait" } else { "Busy" };
            self.stack(&format!("{word} meanwhile, {label}:"), Some(busy), out)?;
        }
        if let Some(more) = activity.also_busy.len().checked_sub(WAITS).filter(|&more| more > 0) {
            self.line(&format!("{} more were busy at the same time", several(more as u64, "thread")), out)?;
        }
        self.context(hang, out)
    }

    /// Writes recorded system calls and signposts.
    fn context(&self, hang: &Hang, out: &mut dyn Write) -> io::Result<()> {
        for HangWait { table, name, count, total } in hang.waits.iter().take(WAITS) {
            let total = Weight::nanos(total.as_nanos());
            self.line(&format!("{total} in {name} ({}, {table})", several(*count, "time")), out)?;
        }
        if let more @ 1.. = hang.waits.len().saturating_sub(WAITS) {
            self.line(&format!("… and {more} more; {FORMAT} json lists them"), out)?;
        }
        if hang.signposts.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = hang.signposts.iter().map(AsRef::as_ref).collect();
        self.line(&format!("Open signposts: {}", first_of(&names)), out)
    }

    /// Writes the app binaries with unnamed functions in these hangs.
    fn missing(&self, out: &mut dyn Write) -> io::Result<()> {
        let missing = missing(self.report, self.profile);
        let Some((binary, count)) = missing.first() else { return Ok(()) };
        let row = self.profile.binary(*binary);
        let uuid = row.uuid.map(|uuid| format!(" {uuid}")).unwrap_or_default();
        let name = self.profile.string(row.name);
        let functions = several(*count, "function");
        let more = match missing.len() - 1 {
            0 => "",
            1 => "; another binary of the app also lacks names",
            _ => "; other binaries of the app also lack names",
        };
        writeln!(out)?;
        let have = if *count == 1 { "has" } else { "have" };
        let text = format!(
            "{functions} of {name} in these stacks {have} no name: pass its dSYM{uuid} with {DSYM} (docs/symbols.md){more}"
        );
        self.style.write_wrapped(None, 0, &text, out)
    }

    /// The function that a hang spends most of its time in.
    fn place(&self, hang: &Hang) -> Option<FunctionId> {
        let HangActivity { verdict, heaviest, off_cpu, samples, running, .. } = &hang.activity;
        let stack = match verdict {
            HangVerdict::Busy | HangVerdict::InCode => heaviest,
            HangVerdict::Waiting | HangVerdict::Starved => off_cpu,
            HangVerdict::PartlyBusy if off_cpu.is_some() => {
                if running * 2 > *samples {
                    heaviest
                } else {
                    off_cpu
                }
            }
            // The samples cover too little of the time.
            _ => return None,
        };
        stack.as_ref()?.place(self.profile)
    }

    fn whose(&self, hang: &Hang) -> String {
        let thread = match (hang.thread, hang.interval.tid) {
            (Some(thread), _) => thread_label(self.profile, self.profile.thread(thread)),
            (None, Some(tid)) => format!("thread {tid:#x}"),
            (None, None) => "an unknown thread".to_owned(),
        };
        format!("{thread} of {}", process(&hang.interval))
    }

    fn line(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.style.write_wrapped(None, 2, text, out)
    }

    /// Writes the innermost functions of a stack, each below its caller.
    fn stack(&self, title: &str, stack: Option<&HangStack>, out: &mut dyn Write) -> io::Result<()> {
        let Some(HangStack { weight, functions, .. }) = stack.filter(|stack| !stack.functions.is_empty()) else {
            return Ok(());
        };
        self.line(title, out)?;
        let hidden = functions.len().saturating_sub(FRAMES);
        if hidden > 0 {
            self.line(&format!("         … {}", several(hidden as u64, "caller")), out)?;
        }
        for &(id, in_it) in &functions[hidden..] {
            let share = format!("    {:>5.1}%  ", percent(in_it, *weight));
            let binary = self.profile.binary_name(id).unwrap_or_default();
            let (name, binary) = self.style.two_parts(self.profile.function_name(id), binary, share.len());
            writeln!(out, "{}{name}{binary}", self.style.paint(Tone::Weight, &share))?;
        }
        Ok(())
    }

    fn hitches(&self, hitches: &Hitches, out: &mut dyn Write) -> io::Result<()> {
        let rows = &hitches.rows;
        let Some(first) = rows.first() else { return Ok(()) };
        let count = if rows.len() == 1 { "1 hitch".to_owned() } else { format!("{} hitches", rows.len()) };
        let title = format!("{count} of {}: frames were {} late together", process(first), length(hitches.late()));
        writeln!(out)?;
        self.style.write_wrapped(Some(Tone::Title), 0, &title, out)?;
        self.line(&ratio(hitches), out)?;
        for row in rows.iter().take(HITCHES) {
            let cause = row.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("no cause was recorded");
            let late = row.duration().map_or_else(String::new, length);
            self.line(&format!("{late:>9} late at {}: {cause}", clock(row.start)), out)?;
        }
        if rows.len() > HITCHES {
            self.line(&format!("… {} shorter ones", rows.len() - HITCHES), out)?;
        }
        Ok(())
    }
}

/// The hitch time ratio, if animations were recorded.
fn ratio(hitches: &Hitches) -> String {
    let names: Vec<&str> = hitches.animations.iter().map(AsRef::as_ref).collect();
    let Some(ratio) = hitches.ratio() else {
        return match names.is_empty() {
            true => "Animations were not recorded, so it is unknown whether this is a lot".to_owned(),
            false => format!("{} lasted less than a second: too little for a ratio", first_of(&names)),
        };
    };
    let word = match ratio {
        _ if ratio < RATIO[0] => "good: below 5",
        _ if ratio < RATIO[1] => "noticeable: 5 to 10",
        _ => "disturbing: 10 or more",
    };
    let (late, animated) = (length(hitches.late_in_animations), length(hitches.animated));
    let names = first_of(&names);
    format!("{ratio:.1} ms per second, {late} in {animated} of {names} ({word}, by Apple's limits)")
}

/// `4.933 s`.
fn clock(time: Nanos) -> String {
    let millis = time.as_nanos() / 1_000_000;
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

fn length(time: Nanos) -> String {
    Weight::nanos(time.as_nanos()).to_string()
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
