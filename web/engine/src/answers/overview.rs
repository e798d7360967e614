//! The command's overview of the selection.

use serde::Serialize;
use ts_rs::TS;

use traceparse::report::{self, AnswersIn, Overview, Shares, Wait};

use super::tables::core_kind;
use super::{amount, tables};
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
    pub(crate) threads: Vec<Part>,
    pub(crate) cores: Vec<CoreKind>,
    /// The selected time, of which its length is the base of the CPU use.
    pub(crate) time: SelectedTime,
    pub(crate) cpu_percent: Option<f64>,
    /// The counters of the selected samples.
    pub(crate) counters: Vec<CounterSum>,
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
    #[ts(type = "Origin | null")]
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

pub(crate) fn overview(view: &View, series: usize) -> Result<OverviewAnswer, Refused> {
    let (threads, _, _) = view.part_and_tree(series, SeparateBy::Thread, None)?;
    let names = view.base.recording.counter_names();
    view.report(series, SeparateBy::None, |report, row| {
        let time = report.selected_time(row);
        let length = report::Length::of(&time);
        let names = &names[row.series.index()];
        let counters = (1..).zip(&row.counters).map(|(number, &events): (usize, _)| CounterSum {
            number,
            name: names.get(number - 1).cloned(),
            events: Exact(events),
        });
        OverviewAnswer {
            total: tables::total(view, series),
            answer: answered(report.overview(row, TOP, 0)),
            threads: threads.into_iter().take(TOP).collect(),
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

fn answered(overview: Overview<'_>) -> Answered {
    let Shares { own, system, unknown, waiting, no_stack, .. } = overview.shares;
    let function = |answer: report::Answer| OverviewFunction {
        label: answer.function.index() as i32,
        amount: amount(answer.amount),
        thread: answer.thread.index(),
        on_thread: amount(answer.on_thread),
        callers: answer.callers.iter().map(|id| id.index() as i32).collect(),
        origin: answer.origin.map(report::Origin::name),
    };
    let wait = |wait: Wait| WaitAnswer {
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
        answers: overview.answers.into_iter().map(function).collect(),
        wait: overview.wait.map(wait),
    }
}
