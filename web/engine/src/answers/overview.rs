//! The command's overview for the current selection.

use serde::Serialize;
use ts_rs::TS;

use traceparse::output::OverviewSentences;
use traceparse::recording::Intervals;
use traceparse::report::{self, AnswersIn, Overview, Shares};

use super::amount;
use super::tables::core_kind;
use crate::protocol::{Amount, CoreKind, Part, SeparateBy};
use crate::view::View;
use crate::wire::{Exact, Refused};

/// The number of functions and threads in lists.
const TOP: usize = 12;

/// The overview of a recording, with the facts shown next to it.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewAnswer {
    pub(crate) total: Amount,
    pub(crate) answer: Answered,
    /// The command's sentences. A function in them is `\u{1}LABEL\u{2}NAME\u{3}`.
    pub(crate) sentences: Sentences,
    pub(crate) threads: Vec<Part>,
    pub(crate) cores: Vec<CoreKind>,
    /// The counters of the selected samples.
    pub(crate) counters: Vec<CounterSum>,
}

/// A sentence is empty if it does not apply.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sentences {
    pub(crate) activity: String,
    pub(crate) left_out: String,
    pub(crate) answer: Vec<String>,
    pub(crate) shares: String,
    pub(crate) advice: String,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered {
    pub(crate) shares: SharesAnswer,
    /// App code with the system code that it calls; or all code by self weight, if no app code except its entry point ran.
    #[ts(type = "'own' | 'all'")]
    pub(crate) answers_in: &'static str,
    pub(crate) answers: Vec<OverviewFunction>,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SharesAnswer {
    pub(crate) own: Amount,
    pub(crate) system: Amount,
    pub(crate) unknown: Amount,
    pub(crate) queued: Amount,
    pub(crate) waiting: Amount,
    pub(crate) idle: Amount,
    pub(crate) no_stack: Amount,
}

/// One of the heaviest functions.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewFunction {
    pub(crate) label: i32,
    #[serde(flatten)]
    pub(crate) amount: Amount,
    /// The weight of all samples with the function in their stack.
    pub(crate) all: Exact,
}

#[derive(Debug, Serialize, TS)]
pub(crate) struct CounterSum {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) name: Option<String>,
    pub(crate) events: Exact,
}

/// `has_column` is true for each counter whose values are in the payload.
pub(crate) fn overview(
    view: &View,
    series: usize,
    intervals: &Intervals,
    has_column: &[bool],
) -> Result<OverviewAnswer, Refused> {
    let names = view.base.recording.counter_names();
    view.report(series, SeparateBy::Thread, |report, row| {
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
            counters: counters.collect(),
        }
    })
}

fn sentences(found: OverviewSentences) -> Sentences {
    let OverviewSentences { activity, left_out, answer, shares, advice, .. } = found;
    Sentences { activity, left_out, answer, shares, advice }
}

fn answered(overview: &Overview<'_>) -> Answered {
    let Shares { own, system, unknown, queued, waiting, idle, no_stack, .. } = overview.shares;
    let function = |answer: &report::Answer| OverviewFunction {
        label: answer.function.index() as i32,
        amount: amount(answer.amount),
        all: amount(overview.all(answer.function)).weight,
    };
    Answered {
        shares: SharesAnswer {
            own: amount(own),
            system: amount(system),
            unknown: amount(unknown),
            queued: amount(queued),
            waiting: amount(waiting),
            idle: amount(idle),
            no_stack: amount(no_stack),
        },
        answers_in: if overview.answers_in == AnswersIn::Own { "own" } else { "all" },
        answers: overview.answers.iter().map(function).collect(),
    }
}
