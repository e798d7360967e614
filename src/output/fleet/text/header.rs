//! What was found; and, at the end of the page, the inputs that could not be read and the definitions of numbers.

use std::io;

use super::findings;
use super::page::Page;
use super::words::{first_few, many, thousands};
use crate::fleet::{FailedInput, Finding, FleetReport, Inputs, Measure};
use crate::output::fleet::sentences::counted_threads;
use crate::output::text::style::Tone;
use crate::stats::QuantileMethod;
use crate::units::Unit;

/// Files and runs that are named in a sentence.
const NAMED: usize = 3;

pub(super) fn write(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    let by = if report.options.by.is_empty() { String::new() } else { format!(" by {}", report.options.by.join(", ")) };
    let title = match report.cohorts.len() {
        0 => "Fleet: no runs".to_owned(),
        cohorts => format!("Fleet: {} in {}{by}", many(report.inputs.runs, "run"), many(cohorts as u64, "cohort")),
    };
    page.sentence(Some(Tone::Title), 0, &title)?;
    findings::write(report, page)?;
    if !report.options.processes.is_empty() {
        let processes = report.options.processes.join(", ");
        page.sentence(None, 0, &format!("only what these processes use counts: {processes}"))?;
    }
    if let Some(threads) = counted_threads(&report.options, |names| first_few(names, NAMED)) {
        page.sentence(None, 0, &format!("only what these threads use counts: {threads}"))?;
    }
    if !report.selection.is_whole() {
        page.sentence(None, 0, &format!("only what was selected of each run counts: {}", report.selection))?;
    }
    for note in &report.notes {
        page.sentence(Some(Tone::Warning), 0, note)?;
    }
    Ok(())
}

/// The inputs that do not count, or not as they should, one by one; none if all do.
pub(super) fn incomplete(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    if report.findings.iter().any(|finding| matches!(finding, Finding::Inputs { .. })) {
        page.title("inputs that do not count, or not as they should")?;
    }
    inputs(&report.inputs, page)
}

/// What the numbers mean, below all of them.
pub(super) fn definitions(report: &FleetReport, page: &mut Page<'_>) -> io::Result<()> {
    page.line("")?;
    page.sentence(Some(Tone::Dim), 0, &measure(report))?;
    page.sentence(Some(Tone::Dim), 0, &method(report))
}

/// The meaning of the numbers.
fn measure(report: &FleetReport) -> String {
    let has = |is_time: bool| report.cohorts.iter().any(|row| (row.cohort.unit == Unit::Nanoseconds) == is_time);
    let what = match (has(true), has(false)) {
        (true, true) => {
            "CPU time per recorded time, where 100 % is one core that was busy throughout; else units per second"
        }
        _ if report.selection.counts_waiting() => {
            "Thread time of a run: time (or weight) of threads in the selected states, running or not, per recorded time; \
             100 % is one thread that was in them throughout"
        }
        (false, true) => "CPU use of a run: what its samples weigh per second of recorded time",
        _ => "CPU use of a run: CPU time per recorded time; 100 % is one core that was busy throughout",
    };
    let of = match report.options.measure {
        Measure::Cpu | Measure::SelfWeight => "samples whose leaf they are",
        Measure::AllWeight => "samples with them anywhere in the stack",
    };
    format!("{what}; of binaries and functions, {of}")
}

/// The definition of percentiles.
fn method(report: &FleetReport) -> String {
    let options = &report.options;
    let rule = match options.method {
        QuantileMethod::NearestRank => "by nearest rank",
        QuantileMethod::Linear => "by linear interpolation",
    };
    let is_exact = report.cohorts.iter().all(|cohort| cohort.across_runs.is_exact);
    let exact = if is_exact { "exact" } else { "from buckets" };
    let sure = if options.is_weighted {
        "by run weight, without intervals".to_owned()
    } else {
        format!("{} order-statistic intervals{}", options.confidence, report.assumption())
    };
    let means = "mean: every run counts once; by time: mean over all recorded time";
    format!("percentiles across runs {rule}, {exact}; {sure}; a function absent from a run counts as 0 %; {means}")
}

fn inputs(inputs: &Inputs, page: &mut Page<'_>) -> io::Result<()> {
    let warn = Some(Tone::Warning);
    if inputs.idle > 0 {
        let runs = many(inputs.idle, "idle run");
        page.sentence(None, 0, &format!("{runs}, in which no thread was on the CPU: 0 in every percentile and mean"))?;
    }
    if !inputs.without_time.is_empty() {
        let runs = many(inputs.without_time.len() as u64, "run");
        let named = first_few(&inputs.without_time, NAMED);
        page.sentence(warn, 0, &format!("{runs} without recorded time, so without CPU use, not counted: {named}"))?;
    }
    if inputs.estimated_time > 0 {
        let runs = many(inputs.estimated_time, "run");
        let text = "with estimated time (what samples cover): CPU use is too high where it was idle before or after";
        page.sentence(warn, 0, &format!("{runs} {text}"))?;
    }
    if inputs.rejected_rows > 0 {
        let rows = many(inputs.rejected_rows, "row");
        page.sentence(warn, 0, &format!("{rows} of CPU tables could not be read and do not count"))?;
    }
    if !inputs.damaged.is_empty() {
        let runs: u64 = inputs.damaged.iter().map(|damaged| u64::from(damaged.unread_runs)).sum();
        let sources: Vec<String> = inputs.damaged.iter().map(|damaged| damaged.source.clone()).collect();
        let (runs, named) = (many(runs, "damaged run"), first_few(&sources, NAMED));
        page.sentence(warn, 0, &format!("{runs} of recordings, not read and not counted: {named}"))?;
    }
    if inputs.excluded_runs > 0 {
        let runs = many(inputs.excluded_runs, "run");
        page.sentence(
            warn,
            0,
            &format!("{runs} with nothing of what was selected, not counted, of files with others"),
        )?;
    }
    failures(&inputs.failed, page)
}

/// Files without runs, by kind, with the reason of the first one of each kind.
fn failures(failed: &[FailedInput], page: &mut Page<'_>) -> io::Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let mut kinds: Vec<(&str, Vec<&FailedInput>)> = Vec::new();
    for input in failed {
        let name = input.kind.name();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, inputs)) => inputs.push(input),
            None => kinds.push((name, vec![input])),
        }
    }
    // The most frequent first; of equally frequent ones the first.
    kinds.sort_by_key(|(_, inputs)| std::cmp::Reverse(inputs.len()));
    let kind = |(name, inputs): &(&str, Vec<&FailedInput>)| {
        let mut named: Vec<&str> = inputs.iter().take(NAMED).map(|input| input.source.as_str()).collect();
        if inputs.len() > NAMED {
            named.push("…");
        }
        format!("{} {name} ({})", thousands(inputs.len() as u64), named.join(", "))
    };
    let counts: Vec<String> = kinds.iter().map(kind).collect();
    let files = many(failed.len() as u64, "file");
    let warn = Some(Tone::Warning);
    page.sentence(warn, 0, &format!("{files} gave no run: {}", counts.join(", ")))?;
    for (name, inputs) in &kinds {
        let first = inputs[0];
        page.sentence(warn, 2, &format!("{name}: {}: {}", first.source, first.reason))?;
    }
    Ok(())
}
