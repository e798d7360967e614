//! The summary and inputs, at the start of the page, and the definitions of numbers, at its end.

use std::collections::BTreeSet;

use super::outline::sections;
use super::run_pages::Links;
use super::summary::summary;
use crate::fleet::{AlertState, FailedInput, FleetReport, Measure};
use crate::output::fleet::sentences::{counted_threads, measure_of_reports, subject_of_all};
use crate::output::fleet::{many, thousands};
use crate::output::inert::{Text, shortened};
use crate::stats::QuantileMethod;
use crate::units::Unit;
use crate::units::capitalized;

/// Failed files that are named; the others are counted.
const MAX_FAILED: usize = 500;
/// Threads that are named.
const MAX_NAMES: usize = 20;

/// The title of the page.
pub(super) fn title(report: &FleetReport) -> String {
    format!("{} across {}", capitalized(subject_of_all(report)), many(report.inputs.runs, "run"))
}

/// The head of the page.
pub(super) fn header(report: &FleetReport, links: &Links<'_>) -> String {
    let percentiles = match report.options.method {
        QuantileMethod::NearestRank => "nearest rank, exact",
        QuantileMethod::Linear => "linear between ranks, exact",
    };
    let sections = sections(report).into_iter().map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"));
    format!(
        "<header>\n<div class=\"top\"><h1>{}</h1>\
         <button type=\"button\" id=\"theme\" class=\"needs-script\" aria-pressed=\"false\">Dark</button></div>\n\
         {}{}<dl class=\"facts\">{}</dl>\n\
         <p class=\"lead\">{} Percentiles are by {percentiles}; a run without a process or function counts as zero \
         there. <a href=\"#method\">How the numbers are defined</a></p>\n\
         {}{}<nav aria-label=\"Sections\"><ul>{}</ul></nav>\n</header>\n",
        title(report),
        summary(report, links),
        verdict(report),
        facts(report),
        meaning(report),
        failed(report),
        notes(report),
        sections.collect::<String>()
    )
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
    let threads = threads.map(|threads| format!(" Only these threads are included: {}.", Text(&threads)));
    let selection = (!report.selection.is_whole()).then(|| {
        let selection = report.selection.to_string();
        format!(" Only the selected part of each run is included: <code>{}</code>.", Text(&selection))
    });
    let selected: String = threads.into_iter().chain(selection).collect();
    if let Some(measure) = measure_of_reports(report) {
        return format!("{measure}.{selected}");
    }
    let has_rates = report.cohorts.iter().any(|cohort| cohort.cohort.unit != Unit::Nanoseconds);
    let rates = if has_rates { " Cycles, events and samples are rates per second." } else { "" };
    if report.selection.counts_waiting() {
        return format!(
            "A run's thread time{whose} is the time its threads spent in the selected states, running or not, \
             divided by the time recorded; 100 % is one thread.{rates}{selected}"
        );
    }
    format!(
        "A run's CPU use{whose} is the time it spent computing divided by the time recorded; 100 % is one \
         core.{rates}{selected}"
    )
}

/// The number of alerts in each state, for people who read only one line.
fn verdict(report: &FleetReport) -> String {
    if report.alerts.is_empty() {
        return String::new();
    }
    let number = |is: fn(&AlertState) -> bool| report.alerts.iter().filter(|alert| is(&alert.state)).count();
    let states = [
        ("fired", number(|state| matches!(state, AlertState::Fired))),
        ("undecided", number(|state| matches!(state, AlertState::Undecided { .. }))),
        ("quiet", number(|state| matches!(state, AlertState::Quiet))),
    ];
    let badges = states.into_iter().filter(|(_, number)| *number > 0);
    let badges =
        badges.map(|(state, number)| format!(" <span class=\"badge {state}\">{} {state}</span>", thousands(number)));
    format!("<p class=\"badges\"><a href=\"#alerts\">Alerts</a>:{}</p>\n", badges.collect::<String>())
}

/// Numbers in tiles, some of them only if they are not zero.
fn facts(report: &FleetReport) -> String {
    let inputs = &report.inputs;
    let labels: Vec<String> = report.options.by.iter().map(|label| shortened(label)).collect();
    let by = if labels.is_empty() { "all runs together".to_owned() } else { format!("by {}", labels.join(", ")) };
    let of_files = format!("of {}", many(file_count(report), "file"));
    let failed = inputs.failed.len() as u64;
    let (doubtful, of_files) = if failed > 0 { (" class=\"doubtful\"", of_files.as_str()) } else { ("", "") };
    let estimated = "the time that their samples cover, so their CPU use is overstated";
    let always = [
        fact("", "Runs", inputs.runs, ""),
        fact("", "Cohorts", report.cohorts.len() as u64, &by),
        fact(doubtful, "Files that failed", failed, of_files),
        fact(
            "",
            "Runs with estimated time",
            inputs.estimated_time,
            if inputs.estimated_time > 0 { estimated } else { "" },
        ),
    ];
    let damaged: u64 = inputs.damaged.iter().map(|damaged| u64::from(damaged.unread_runs)).sum();
    let others = [
        ("Idle runs", inputs.idle, "no thread was on the CPU: 0 in every percentile and mean", inputs.idle > 0),
        (
            "Runs without time",
            inputs.without_time.len() as u64,
            "they have no rate and are not included in any number",
            !inputs.without_time.is_empty(),
        ),
        (
            "Rejected rows",
            inputs.rejected_rows,
            "rows of CPU tables, and values of reports, that could not be read",
            inputs.rejected_rows > 0,
        ),
        (
            "Excluded runs",
            inputs.excluded_runs,
            "they contain nothing that was selected, and are not included in any number",
            inputs.excluded_runs > 0,
        ),
        (
            "Damaged runs",
            damaged,
            "runs in recordings that could not be read; they are not included in any number",
            !inputs.damaged.is_empty(),
        ),
    ];
    let others = others.into_iter().filter(|other| other.3);
    always.concat() + &others.map(|(name, value, hint, _)| fact("", name, value, hint)).collect::<String>()
}

/// The number of files that were read or could not be; a file may have several runs.
fn file_count(report: &FleetReport) -> usize {
    let inputs = &report.inputs;
    let runs = report.runs.iter().map(|run| &run.source).chain(&inputs.without_time);
    let files: BTreeSet<&String> = runs.chain(inputs.failed.iter().map(|file| &file.source)).collect();
    files.len()
}

/// A number in a tile with these attributes.
fn fact(attributes: &str, name: &str, value: u64, hint: &str) -> String {
    let hint = if hint.is_empty() { String::new() } else { format!("<small>{}</small>", Text(hint)) };
    format!("<div{attributes}><dt>{name}</dt><dd>{}{hint}</dd></div>", thousands(value))
}

/// The files without runs, and runs without a time.
fn failed(report: &FleetReport) -> String {
    let inputs = &report.inputs;
    // Without runs, they are all there is to see.
    let open = if inputs.runs == 0 { " open" } else { "" };
    let file = |file: &FailedInput| {
        let (source, reason) = (shortened(&file.source), shortened(&file.reason));
        format!("<code>{}</code> <em>{}</em> {}", Text(&source), file.kind.name(), Text(&reason))
    };
    let files = folded(open, "file", "produced no runs", inputs.failed.iter().map(file));
    let source = |source: &String| format!("<code>{}</code>", Text(&shortened(source)));
    files + &folded("", "run", "without a recorded time", inputs.without_time.iter().map(source))
}

/// A folded list of inputs as HTML; nothing without any.
fn folded(open: &str, what: &str, why: &str, items: impl ExactSizeIterator<Item = String>) -> String {
    let all = items.len();
    if all == 0 {
        return String::new();
    }
    let items: String = items.take(MAX_FAILED).map(|item| format!("<li>{item}</li>\n")).collect();
    let more = match all.saturating_sub(MAX_FAILED) {
        0 => String::new(),
        hidden => format!("<li>and {} more</li>\n", thousands(hidden)),
    };
    let all = many(all, what);
    format!("<details class=\"failed\"{open}><summary>{all} {why}</summary>\n<ul>\n{items}{more}</ul></details>\n")
}

fn notes(report: &FleetReport) -> String {
    if report.notes.is_empty() {
        return String::new();
    }
    let notes: String = report.notes.iter().map(|note| format!("<li>{}</li>\n", Text(note))).collect();
    format!("<ul class=\"notes\">\n{notes}</ul>\n")
}

/// The program, its version and the method in a line.
pub(super) fn footer(report: &FleetReport) -> String {
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
    format!("<footer>traceparse {version} · percentiles across runs by {rule}; {intervals}</footer>\n")
}

/// The definitions that the numbers follow.
pub(super) fn method(report: &FleetReport) -> String {
    let options = &report.options;
    let (of_threads, core) = if report.selection.counts_waiting() {
        ("threads in the selected states", "one thread that was in them")
    } else {
        ("running threads", "one core that was busy")
    };
    let what = format!(
        "The weight of the samples of {of_threads} over the recorded time. 100 % is {core} throughout, so a run of \
         several threads may have more. Tables that weigh cycles, events or samples give a rate per second, and are \
         never mixed with times in one distribution."
    );
    let measure = match options.measure {
        Measure::Cpu => {
            "For a run, process or thread: all of its samples. For a binary or function: the samples in which it is \
             the leaf (self)."
        }
        Measure::SelfWeight => "Samples whose leaf is in the binary or function (self).",
        Measure::AllWeight => "Samples that have the binary or function anywhere in their stack; each counts once.",
    };
    let percentile = match options.method {
        QuantileMethod::NearestRank => {
            "Nearest rank: of n values in ascending order, the one with rank ⌈q·n⌉. Exact: every value is kept, and \
             the percentile is one of them."
        }
        QuantileMethod::Linear => {
            "Linear: the straight line between the two values around the index (n − 1)·q. Exact: every value is \
             kept. It may be a number that no run has."
        }
    };
    let weights = "Percentiles count a run as often as its run weight says: the smallest value whose cumulative \
                   weight reaches q times the total weight. Weighted percentiles have no intervals.";
    let confidence = options.confidence;
    let interval = format!(
        "Two of the values. With at least {confidence} confidence, the true percentile (of all possible runs) lies \
         between them, whatever the distribution (order statistics). “?” marks an end that cannot be determined \
         from so few runs. It is unknown, which does not mean it is far away. “n/a” means there are too few runs \
         for this percentile: it would simply be the largest value. The number next to it is how many runs it needs."
    );
    let mean = "Every run counts once. The weighted mean is the total used divided by the total time recorded.";
    let absent = "A function that was never sampled in a run used 0 % there. Every row includes those runs.";
    let noise = "By chance, a sampling profiler sees more of a function in one run than in another. “~” marks a \
                 percentile no higher than chance alone would produce if all runs were alike; it is not evidence of \
                 a difference between runs.";
    let two = "Across runs, a run is one number. Within runs, the numbers are one-second windows: they show how \
               bursty runs are, but not how many users have a slow run.";
    let subject = capitalized(subject_of_all(report));
    let definitions = [
        Some((subject.as_str(), what.as_str())),
        Some(("Measure", measure)),
        Some(("Percentile", percentile)),
        options.is_weighted.then_some(("Weights", weights)),
        Some(("Interval", &interval)),
        Some(("Mean", mean)),
        Some(("Absent is zero", absent)),
        Some(("Noise", noise)),
        Some(("Two distributions", two)),
    ];
    let definitions = definitions.into_iter().flatten();
    let definitions = definitions.map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>\n", Text(text)));
    let definitions: String = definitions.collect();
    format!("<section id=\"method\">\n<h2>Method</h2>\n<dl class=\"method\">\n{definitions}</dl>\n</section>\n")
}
