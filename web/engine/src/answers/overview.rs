//! The command's overview of the selection.

use serde::Serialize;
use ts_rs::TS;

use traceparse::output::OverviewSentences;
use traceparse::recording::Intervals;
use traceparse::report::{self, AnswersIn, Overview, Shares, Wait};

use super::amount;
use super::tables::core_kind;
use crate::protocol::{Amount, CoreKind, Part, SeparateBy};
use crate::view::View;
use crate::wire::{Exact, Refused};

/// Functions and threads that are listed.
const TOP: usize = 12;

/// The first answer about a recording, and the facts next to it.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewAnswer {
    pub(crate) total: Amount,
    pub(crate) answer: Answered,
    /// The command's sentences, in which a function is `\u{1}LABEL\u{2}NAME\u{3}`.
    pub(crate) sentences: Sentences,
    pub(crate) threads: Vec<Part>,
    pub(crate) cores: Vec<CoreKind>,
    /// The selected time, of which its length is the base of the CPU use.
    pub(crate) time: SelectedTime,
    pub(crate) cpu_percent: Option<f64>,
    /// The counters of the selected samples.
    pub(crate) counters: Vec<CounterSum>,
}

/// A sentence is empty if it does not apply.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sentences {
    pub(crate) activity: String,
    pub(crate) left_out: String,
    pub(crate) answer: String,
    pub(crate) caution: String,
    pub(crate) shares: String,
    pub(crate) advice: String,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered {
    pub(crate) shares: SharesAnswer,
    /// App code with the system code it calls, or all code by self weight if no app code except its entry point ran.
    #[ts(type = "'own' | 'all'")]
    pub(crate) answers_in: &'static str,
    pub(crate) answers: Vec<OverviewFunction>,
    pub(crate) wait: Option<WaitAnswer>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SharesAnswer {
    pub(crate) own: Amount,
    pub(crate) system: Amount,
    pub(crate) unknown: Amount,
    pub(crate) waiting: Amount,
    pub(crate) no_stack: Amount,
}

/// A function, and how it came to run.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewFunction {
    pub(crate) label: i32,
    #[serde(flatten)]
    pub(crate) amount: Amount,
    /// The thread on which it weighs most.
    pub(crate) thread: usize,
    pub(crate) on_thread: Amount,
    /// The functions of the program that called it, outermost first, without entry points and the system's functions between.
    pub(crate) callers: Vec<i32>,
    pub(crate) origin: Option<&'static str>,
}

/// A main thread that waits.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitAnswer {
    pub(crate) thread: usize,
    pub(crate) samples: Exact,
    pub(crate) waiting: Exact,
    pub(crate) label: i32,
    /// The app function that requested most of it.
    pub(crate) asked_by: Option<i32>,
}

/// The selected time of a run: sorted parts that do not touch, none if it is unknown or nothing is selected.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SelectedTime {
    pub(crate) parts: Vec<[Exact; 2]>,
    /// The sum of the parts, in nanoseconds.
    pub(crate) length: f64,
    /// Whether the recorded time was recorded, or estimated from the samples.
    pub(crate) is_recorded: bool,
    /// True if a time or intervals were selected.
    pub(crate) is_part: bool,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct CounterSum {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) name: Option<String>,
    pub(crate) events: Exact,
}

/// `has_column` has a true for each counter whose values samples have.
pub(crate) fn overview(
    view: &View,
    series: usize,
    intervals: &Intervals,
    has_column: &[bool],
) -> Result<OverviewAnswer, Refused> {
    let names = view.base.recording.counter_names();
    view.report(series, SeparateBy::Thread, |report, row| {
        let time = report.selected_time(row);
        let length = report::Length::of(&time);
        let names = &names[row.series.index()];
        let counters =
            (1..).zip(&row.counters).filter(|&(number, _): &(usize, _)| has_column.get(number - 1) == Some(&true));
        let counters = counters.map(|(number, &events)| CounterSum {
            number,
            name: names.get(number - 1).cloned(),
            events: Exact(events),
        });
        let overview = report.overview(row, TOP, 1, 0);
        OverviewAnswer {
            total: amount(row.counted),
            answer: answered(&overview),
            sentences: sentences(OverviewSentences::new(report, row, overview, intervals)),
            threads: view.threads(row).into_iter().take(TOP).collect(),
            cores: report.core_kinds(row).into_iter().map(core_kind).collect(),
            time: SelectedTime {
                parts: time
                    .parts()
                    .iter()
                    .map(|&(start, end)| [start, end].map(|time| time.as_nanos().into()))
                    .collect(),
                length: length.nanos.as_nanos() as f64,
                is_recorded: length.is_recorded,
                is_part: length.is_part,
            },
            cpu_percent: report.cpu_use(row).map(|(percent, _)| percent),
            counters: counters.collect(),
        }
    })
}

fn sentences(found: OverviewSentences) -> Sentences {
    let OverviewSentences { activity, left_out, answer, caution, shares, advice, .. } = found;
    Sentences { activity, left_out, answer, caution, shares, advice }
}

fn answered(overview: &Overview<'_>) -> Answered {
    let Shares { own, system, unknown, waiting, no_stack, .. } = overview.shares;
    let function = |answer: &report::Answer| OverviewFunction {
        label: answer.function.index() as i32,
        amount: amount(answer.amount),
        thread: answer.thread.index(),
        on_thread: amount(answer.on_thread),
        callers: answer.callers.iter().map(|id| id.index() as i32).collect(),
        origin: answer.origin.map(report::Origin::name),
    };
    let wait = |wait: &Wait| WaitAnswer {
        thread: wait.thread.index(),
        samples: wait.of_thread.samples.into(),
        waiting: wait.waiting.samples.into(),
        label: wait.function.index() as i32,
        asked_by: wait.asked_by.map(|id| id.index() as i32),
    };
    Answered {
        shares: SharesAnswer {
            own: amount(own),
            system: amount(system),
            unknown: amount(unknown),
            waiting: amount(waiting),
            no_stack: amount(no_stack),
        },
        answers_in: if overview.answers_in == AnswersIn::Own { "own" } else { "all" },
        answers: overview.answers.iter().map(function).collect(),
        wait: overview.wait.as_ref().map(wait),
    }
}
