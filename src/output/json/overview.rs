//! The short answer, for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::values::{array, scope};
use crate::report::{
    Activity, Amount, Answer, AnswersIn, Busiest, Length, LineOfTime, Overview, Report, Scope, SeriesReport, Shares,
};

/// Functions of a list, and parts of the time.
const FUNCTIONS: usize = 5;
const BINS: usize = 72;

/// Writes an object for each series.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    array(out, "overview", report.series.iter().enumerate(), |(index, series), out| {
        Ok(serde_json::to_writer(out, &overview(report, index, series))?)
    })
}

/// The object of a series.
fn overview(report: &Report<'_>, index: usize, series: &SeriesReport) -> Value {
    let count = report.options.top.unwrap_or(FUNCTIONS);
    let overview = report.overview(series, count, count, BINS);
    let Overview { activity, shares, answers_in, answers, leaves, wait, nameless, .. } = overview;
    let list = |answers: &[Answer]| answers.iter().map(|row| answer(report, index, row)).collect::<Value>();
    let threads = series.threads.iter().take(count);
    json!({
        "series": index,
        "unit": series.unit.name(),
        "activity": activity.map(|activity| about_activity(&activity)),
        "shares": about_shares(&shares),
        "answers_in": match answers_in {
            AnswersIn::Own => "own",
            AnswersIn::All => "all",
        },
        "answers": list(&answers),
        "leaves": list(&leaves),
        "nameless": amount(nameless),
        "wait": wait.map(|wait| {
            let name = |id| report.recording.profile.function_name(id);
            json!({
                "thread": scope(report, index, Scope::Thread(wait.thread), &wait.of_thread),
                "waiting": amount(wait.waiting),
                "function": name(wait.function),
                "asked_by": wait.asked_by.map(name),
            })
        }),
        "threads": threads.map(|row| scope(report, index, Scope::Thread(row.thread), &row.counted)).collect::<Value>(),
    })
}

fn amount(amount: Amount) -> Value {
    json!({"weight": amount.weight.value, "samples": amount.samples})
}

fn about_activity(activity: &Activity) -> Value {
    let busiest = activity.busiest.map(|Busiest { start, length, weight }| {
        json!({
            "start_ns": start.as_nanos(),
            "length_ns": length.as_nanos(),
            "weight": weight.value,
            "cpu_percent": weight.percent_of_core(length),
        })
    });
    let LineOfTime { bin, first: _, weights } = &activity.line;
    json!({
        "start_ns": activity.time.span().map(|(start, _)| start.as_nanos()),
        "length_ns": activity.time.length().as_nanos(),
        "is_recorded": Length::of(&activity.time).is_recorded,
        "cpu_percent": activity.cpu_percent,
        "busiest": busiest,
        "bins_start_ns": activity.line.start(0).as_nanos(),
        "bin_ns": bin.as_nanos(),
        "bins": weights,
    })
}

fn about_shares(shares: &Shares) -> Value {
    let Shares { own, system, unknown, waiting, no_stack } = *shares;
    json!({
        "own": amount(own),
        "system": amount(system),
        "unknown": amount(unknown),
        "waiting": amount(waiting),
        "no_stack": amount(no_stack),
    })
}

fn answer(report: &Report<'_>, index: usize, answer: &Answer) -> Value {
    let profile = &report.recording.profile;
    let callers: Vec<&str> = answer.callers.iter().map(|&id| profile.function_name(id)).collect();
    json!({
        "function": profile.function_name(answer.function),
        "binary": profile.binary_name(answer.function),
        "weight": answer.amount.weight.value,
        "samples": answer.amount.samples,
        "heaviest_thread": scope(report, index, Scope::Thread(answer.thread), &answer.on_thread),
        "callers": callers,
        "origin": answer.origin.map(crate::report::Origin::name),
    })
}
