//! The overview, for programs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::values::{array, scope};
use crate::output::text::{OverviewSentences, answered};
use crate::profile::{Category, FunctionId, ThreadId};
use crate::report::{
    Activity, Amount, Answer, AnswersIn, Busiest, Length, LineOfTime, Overview, Report, Scope, SeriesReport, Shares,
    Stop, Work,
};

/// The number of functions in a list, and of bins in a timeline.
const FUNCTIONS: usize = 5;
const BINS: usize = 72;

/// Writes an object for each series.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    array(out, "overview", report.series.iter().enumerate(), |(index, series), out| {
        Ok(serde_json::to_writer(out, &overview(report, index, series))?)
    })
}

fn overview(report: &Report<'_>, index: usize, series: &SeriesReport) -> Value {
    let count = report.options.top.unwrap_or(FUNCTIONS);
    let overview = report.overview(series, count, 1, BINS);
    // The text overview covers only one series.
    let is_told = answered(report).first().is_some_and(|first| first.series == series.series);
    let sentences = is_told.then(|| sentences(OverviewSentences::plain(report, series, overview.clone())));
    let Overview {
        activity,
        stop,
        shares,
        answers_in,
        answers,
        callers,
        spent,
        subtrees,
        leaves,
        main_thread,
        nameless,
        ..
    } = &overview;
    let list = |answers: &[Answer]| answers.iter().map(|row| answer(report, &overview, row)).collect::<Value>();
    let name = |id| report.recording.profile.function_name(id);
    let function = |&(id, of): &(FunctionId, Amount)| json!({"function": name(id), "weight": of.weight.value});
    let threads = series.threads.iter().take(count);
    json!({
        "series": index,
        "unit": series.unit.name(),
        "sentences": sentences,
        "activity": activity.as_ref().map(about_activity),
        "stop": stop.as_ref().map(|stop| about_stop(report, stop)),
        "shares": stop.is_none().then(|| about_shares(shares)),
        "answers_in": match answers_in {
            AnswersIn::Own => "own",
            AnswersIn::All => "all",
        },
        "answers": list(answers),
        "callers": callers.iter().map(function).collect::<Value>(),
        "outer_caller": overview.outer_caller.as_ref().map(function),
        "spent": spent.as_ref().map(|spent| {
            let work = |(work, of): &(Work, Amount)| json!({"work": work.name(), "weight": of.weight.value});
            json!({
                "itself": amount(spent.itself),
                "callees": spent.callees.iter().map(function).collect::<Value>(),
                "work": spent.work.iter().map(work).collect::<Value>(),
            })
        }),
        "subtrees": subtrees.iter().map(|subtree| json!({
            "function": name(subtree.function),
            "all_weight": overview.all(subtree.function).weight.value,
            "caller": subtree.caller.map(name),
            "callee": subtree.callee.as_ref().map(function),
            "heaviest_thread": on_thread(report, subtree.thread, subtree.on_thread),
            "origin": subtree.origin.map(crate::report::Origin::name),
        })).collect::<Value>(),
        "heaviest_of_all_code": leaves.first().map(|leaf| function(&(leaf.function, leaf.amount))),
        "nameless": amount(*nameless),
        "main_thread": main_thread.as_ref().map(|main| {
            json!({
                "thread": scope(report, index, Scope::Thread(main.thread), &main.all),
                "runs": amount(main.runs),
                "queued": amount(main.queued),
                "waits": amount(main.waits),
                "waits_for": main.waits_for,
                "has_other_waits": main.has_other_waits,
                "runs_in": main.runs_in.map(name),
                "waits_in": main.waits_in.map(name),
                "asked_by": main.asked_by.map(name),
            })
        }),
        "threads": threads.map(|row| on_thread(report, row.thread, row.counted)).collect::<Value>(),
    })
}

fn sentences(sentences: OverviewSentences) -> Value {
    let OverviewSentences { title, activity, left_out, answer, shares, advice, .. } = sentences;
    json!({
        "title": title,
        "activity": activity,
        "left_out": left_out,
        "answer": answer,
        "shares": shares,
        "advice": advice,
    })
}

fn amount(amount: Amount) -> Value {
    json!({"weight": amount.weight.value, "samples": amount.samples})
}

/// A thread and a weight on it.
fn on_thread(report: &Report<'_>, id: ThreadId, amount: Amount) -> Value {
    let profile = &report.recording.profile;
    let thread = profile.thread(id);
    let process = profile.process(thread.process);
    json!({
        "process": profile.string(process.name),
        "thread": profile.string(thread.name),
        "tid": thread.tid,
        "weight": amount.weight.value,
    })
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
    let Shares { own, system, unknown, queued, waiting, idle, no_stack } = *shares;
    json!({
        "own": amount(own),
        "system": amount(system),
        "unknown": amount(unknown),
        "queued": amount(queued),
        "waiting": amount(waiting),
        "idle": amount(idle),
        "no_stack": amount(no_stack),
    })
}

/// A crash or memory exception: the facts by name, and the stack of the affected thread, innermost function first.
fn about_stop(report: &Report<'_>, stop: &Stop) -> Value {
    let profile = &report.recording.profile;
    let frame = |&id: &FunctionId| {
        json!({
            "function": profile.function_name(id),
            "binary": profile.binary_name(id),
            "category": Category::of_function(profile, id).name(),
        })
    };
    json!({
        "facts": stop.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>(),
        "thread": stop.thread.map(|id| profile.string(profile.thread(id).name)),
        "stack": stop.stack.iter().map(frame).collect::<Value>(),
        "app_function": stop.own,
    })
}

fn answer(report: &Report<'_>, overview: &Overview<'_>, answer: &Answer) -> Value {
    let profile = &report.recording.profile;
    json!({
        "function": profile.function_name(answer.function),
        "binary": profile.binary_name(answer.function),
        "all_weight": overview.all(answer.function).weight.value,
        "weight": answer.amount.weight.value,
        "samples": answer.amount.samples,
        "heaviest_thread": on_thread(report, answer.thread, answer.on_thread),
        "origin": answer.origin.map(crate::report::Origin::name),
    })
}
