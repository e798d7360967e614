//! The inputs, at the start of the page, and the definitions of numbers, at its end.

use crate::output::fleet::sentences::{counted_threads, subject};
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::findings;
use super::numbers::{count, counted};
use super::outline::sections;
use super::text::{Text, shortened};
use crate::fleet::{AlertState, FailedInput, FleetReport, Measure};
use crate::stats::QuantileMethod;

/// Failed files that are named; the others are counted.
const MAX_FAILED: usize = 500;
/// Threads that are named.
const MAX_NAMES: usize = 20;

/// The title of the page.
pub(super) fn title(report: &FleetReport) -> String {
    format!("{} across {}", subject(report), counted(report.inputs.runs, "run"))
}

/// The head of the page.
pub(super) fn write(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<header>\n<div class=\"top\"><h1>{}</h1>\
         <button type=\"button\" id=\"theme\" class=\"needs-script\" aria-pressed=\"false\">Dark</button></div>",
        title(report)
    )?;
    findings::write(report, out)?;
    verdict(report, out)?;
    facts(report, out)?;
    let percentiles = match report.options.method {
        QuantileMethod::NearestRank => "nearest rank, exact",
        QuantileMethod::Linear => "linear between ranks, exact",
    };
    writeln!(
        out,
        "<p class=\"lead\">{} Percentiles are by {percentiles}; a run without a process or function counts as zero \
         there. <a href=\"#method\">How the numbers are defined</a></p>",
        meaning(report),
    )?;
    failed(report, out)?;
    notes(report, out)?;
    out.write_all(b"<nav aria-label=\"Sections\"><ul>")?;
    for (id, title) in sections(report) {
        write!(out, "<li><a href=\"#{id}\">{title}</a></li>")?;
    }
    out.write_all(b"</ul></nav>\n</header>\n")
}

/// The meaning of a run's number, in a sentence.
fn meaning(report: &FleetReport) -> String {
    let whose = if report.options.processes.is_empty() {
        String::new()
    } else {
        let names: Vec<String> = report.options.processes.iter().map(|name| shortened(name)).collect();
        format!(" of {}", Text(&names.join(", ")))
    };
    let threads = counted_threads(&report.options, |names| {
        names.iter().take(MAX_NAMES).map(|name| shortened(name)).collect::<Vec<_>>().join(", ")
    });
    let threads = threads.map(|threads| format!(" Only these threads count: {}.", Text(&threads)));
    let selection = (!report.selection.is_whole()).then(|| {
        let selection = report.selection.to_string();
        format!(" Only what was selected of each run counts: <code>{}</code>.", Text(&selection))
    });
    let selected: String = threads.into_iter().chain(selection).collect();
    let has_rates = report.cohorts.iter().any(|cohort| cohort.cohort.unit != crate::units::Unit::Nanoseconds);
    let rates = if has_rates { " Cycles, events and samples are rates by second." } else { "" };
    if report.selection.counts_waiting() {
        return format!(
            "The thread time{whose} of a run is what its threads spent in the selected states, running or not, over the time \
             it was recorded; 100 % is one thread.{rates}{selected}"
        );
    }
    format!(
        "The CPU use{whose} of a run is the time it computed over the time it was recorded; 100 % is one core.{rates}{selected}"
    )
}

/// Writes the number of alerts in each state, for readers of a single line.
fn verdict(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    if report.alerts.is_empty() {
        return Ok(());
    }
    let number = |is: fn(&AlertState) -> bool| report.alerts.iter().filter(|alert| is(&alert.state)).count() as u64;
    let states = [
        ("fired", number(|state| matches!(state, AlertState::Fired))),
        ("undecided", number(|state| matches!(state, AlertState::Undecided { .. }))),
        ("quiet", number(|state| matches!(state, AlertState::Quiet))),
    ];
    out.write_all(b"<p class=\"badges\"><a href=\"#alerts\">Alerts</a>:")?;
    for (state, number) in states.into_iter().filter(|(_, number)| *number > 0) {
        write!(out, " <span class=\"badge {state}\">{} {state}</span>", count(number))?;
    }
    out.write_all(b"</p>\n")
}

fn facts(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let inputs = &report.inputs;
    let labels: Vec<String> = report.options.by.iter().map(|label| shortened(label)).collect();
    let by = if labels.is_empty() { "all runs together".to_owned() } else { format!("by {}", labels.join(", ")) };
    out.write_all(b"<dl class=\"facts\">")?;
    fact(out, "Runs", inputs.runs, "")?;
    fact(out, "Cohorts", report.cohorts.len() as u64, &by)?;
    let of_files = format!("of {}", counted(file_count(report), "file"));
    let (failed, of_files) = (inputs.failed.len() as u64, if inputs.failed.is_empty() { "" } else { &of_files });
    fact_of(out, if failed > 0 { " class=\"doubtful\"" } else { "" }, "Files that failed", failed, of_files)?;
    let estimated = "the time that their samples cover, so their CPU use is overstated";
    fact(
        out,
        "Runs with estimated time",
        inputs.estimated_time,
        if inputs.estimated_time > 0 { estimated } else { "" },
    )?;
    if inputs.idle > 0 {
        fact(out, "Idle runs", inputs.idle, "no thread was on the CPU: 0 in every percentile and mean")?;
    }
    let without = inputs.without_time.len() as u64;
    if without > 0 {
        fact(out, "Runs without time", without, "they have no rate and count nowhere")?;
    }
    if inputs.rejected_rows > 0 {
        fact(out, "Rejected rows", inputs.rejected_rows, "rows of CPU tables that could not be read")?;
    }
    if inputs.excluded_runs > 0 {
        fact(
            out,
            "Excluded runs",
            inputs.excluded_runs,
            "nothing of what was selected is in them, and they count nowhere",
        )?;
    }
    if !inputs.damaged.is_empty() {
        let runs = inputs.damaged.iter().map(|damaged| u64::from(damaged.unread_runs)).sum();
        fact(out, "Damaged runs", runs, "of recordings; they could not be read, and count nowhere")?;
    }
    out.write_all(b"</dl>\n")
}

/// The number of files that were read or could not be; a file may have several runs.
fn file_count(report: &FleetReport) -> u64 {
    let inputs = &report.inputs;
    let runs = report.runs.iter().map(|run| &run.source).chain(&inputs.without_time);
    let files: BTreeSet<&String> = runs.chain(inputs.failed.iter().map(|file| &file.source)).collect();
    files.len() as u64
}

fn fact(out: &mut dyn Write, name: &str, value: u64, hint: &str) -> io::Result<()> {
    fact_of(out, "", name, value, hint)
}

/// A number in a tile with these attributes.
fn fact_of(out: &mut dyn Write, attributes: &str, name: &str, value: u64, hint: &str) -> io::Result<()> {
    write!(out, "<div{attributes}><dt>{name}</dt><dd>{}", count(value))?;
    if !hint.is_empty() {
        write!(out, "<small>{}</small>", Text(hint))?;
    }
    out.write_all(b"</dd></div>")
}

/// The files without runs, and runs without a time.
fn failed(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let inputs = &report.inputs;
    if !inputs.failed.is_empty() {
        // Without runs, they are all there is to see.
        let open = if inputs.runs == 0 { " open" } else { "" };
        let files = counted(inputs.failed.len() as u64, "file");
        writeln!(out, "<details class=\"failed\"{open}><summary>{files} gave no run</summary>\n<ul>")?;
        let line = |out: &mut dyn Write, file: &FailedInput| {
            let (source, reason) = (shortened(&file.source), shortened(&file.reason));
            writeln!(out, "<li><code>{}</code> <em>{}</em> {}</li>", Text(&source), file.kind.name(), Text(&reason))
        };
        inputs.failed.iter().take(MAX_FAILED).try_for_each(|file| line(out, file))?;
        more(out, inputs.failed.len())?;
        out.write_all(b"</ul></details>\n")?;
    }
    if !inputs.without_time.is_empty() {
        let runs = counted(inputs.without_time.len() as u64, "run");
        writeln!(out, "<details class=\"failed\"><summary>{runs} without a recorded time</summary>\n<ul>")?;
        for source in inputs.without_time.iter().take(MAX_FAILED) {
            writeln!(out, "<li><code>{}</code></li>", Text(&shortened(source)))?;
        }
        more(out, inputs.without_time.len())?;
        out.write_all(b"</ul></details>\n")?;
    }
    Ok(())
}

fn more(out: &mut dyn Write, all: usize) -> io::Result<()> {
    match all.saturating_sub(MAX_FAILED) {
        0 => Ok(()),
        hidden => writeln!(out, "<li>and {} more</li>", count(hidden as u64)),
    }
}

fn notes(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    if report.notes.is_empty() {
        return Ok(());
    }
    out.write_all(b"<ul class=\"notes\">\n")?;
    for note in &report.notes {
        writeln!(out, "<li>{}</li>", Text(note))?;
    }
    out.write_all(b"</ul>\n")
}

/// Writes the program, its version and the method in a line.
pub(super) fn footer(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let options = &report.options;
    let rule = match options.method {
        QuantileMethod::NearestRank => "nearest rank",
        QuantileMethod::Linear => "linear interpolation",
    };
    let intervals = if options.is_weighted {
        "by run weight, without intervals".to_owned()
    } else {
        format!("{} order-statistic intervals{}", options.confidence, report.assumption())
    };
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "<footer>traceparse {version} · percentiles across runs by {rule}; {intervals}</footer>")
}

/// The definitions that the numbers follow.
pub(super) fn method(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    let options = &report.options;
    out.write_all(b"<section id=\"method\">\n<h2>Method</h2>\n<dl class=\"method\">\n")?;
    let mut define = |name: &str, text: &str| writeln!(out, "<dt>{name}</dt><dd>{}</dd>", Text(text));
    let of_threads =
        if report.selection.counts_waiting() { "threads in the selected states" } else { "running threads" };
    let core = if report.selection.counts_waiting() { "one thread that was in them" } else { "one core that was busy" };
    define(
        subject(report),
        &format!(
            "The weight of the samples of {of_threads} over the recorded time. 100 % is {core} \
         throughout, so a run of several threads may have more. Tables that weigh cycles, events or samples give a \
         rate by second, and are never in one distribution with time."
        ),
    )?;
    define("Measure", measure_text(options.measure))?;
    define(
        "Percentile",
        match options.method {
            QuantileMethod::NearestRank => {
                "Nearest rank: of n values in ascending order, the one of rank ⌈q·n⌉. Exact: every value is kept, and \
                 the percentile is one of them."
            }
            QuantileMethod::Linear => {
                "Linear: the straight line between the two values around the index (n − 1)·q. Exact: every value is \
                 kept. It may be a number that no run has."
            }
        },
    )?;
    if options.is_weighted {
        define(
            "Weights",
            "Percentiles count a run as often as its run weight says: the smallest value whose cumulative weight \
             reaches q times the weight of all. In that case there are no intervals.",
        )?;
    }
    let confidence = options.confidence;
    define(
        "Interval",
        &format!(
            "Two of the values, between which the percentile of all runs there could be lies with at least \
             {confidence}, whatever their distribution (order statistics). “?” is an end that so few runs do not tell: \
             unknown, which is not the same as far away. “n/a” is a percentile that so few runs do not have: it would \
             be the largest of them. The number is how many it needs."
        ),
    )?;
    define("Mean", "Every run counts once. The mean by time is all that was used over all that was recorded.")?;
    define("Absent is zero", "A function that a run never sampled used 0 % there. Every row counts those runs.")?;
    define(
        "Noise",
        "A sampling profiler sees by chance more of a function in one run than in another. “~” marks a percentile that \
         is no more than this would give runs that are all alike: it tells of no difference between runs.",
    )?;
    define(
        "Two distributions",
        "Across runs, a run is one number. Within runs, the numbers are windows of one second: they say how bursty \
         runs are, and nothing about how many users have a slow run.",
    )?;
    out.write_all(b"</dl>\n</section>\n")
}

const fn measure_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu => {
            "Of a run, process or thread, all of its samples; of a binary or function, those whose leaf it is (self)."
        }
        Measure::SelfWeight => "Samples whose leaf is in the binary or function (self).",
        Measure::AllWeight => "Samples that have the binary or function anywhere in their stack, once each.",
    }
}
