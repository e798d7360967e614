//! Tables: functions, binaries, categories, lines, threads, states, cores, callers and callees.

use traceparse::calltree::Sandwich;
use traceparse::profile::{Category, Function, Id};
use traceparse::report::CoreKindRow;

use super::{ROOT, amount, amount_of, label_number};
use crate::protocol::{
    Amount, Answer, CoreKind, CoreRow, Neighbours, Part, ProcessPart, SeparateBy, SourceFile, StateRow, Transitions,
};
use crate::view::View;
use crate::wire::{Exact, Refused};

/// The total of the selected samples in a series.
pub(crate) fn total(view: &View, series: usize) -> Amount {
    amount_of(&view.tree(series))
}

pub(crate) fn functions(view: &View, series: usize) -> Answer {
    let tree = view.tree(series);
    let rows = view.weighed(&tree).functions();
    Answer::Functions {
        total: amount_of(&tree),
        label: rows.iter().map(|row| label_number(row.label)).collect(),
        sums: rows.iter().map(|row| row.sums).collect(),
    }
}

pub(crate) fn binaries(view: &View, series: usize) -> Result<Answer, Refused> {
    view.report(series, SeparateBy::None, |report, row| {
        let rows = report.binaries(row);
        Answer::Binaries {
            total: amount(row.counted),
            name: rows.iter().map(|row| row.name.to_owned()).collect(),
            binary: rows.iter().map(|row| row.binaries.first().map_or(-1, |id| id.index() as i32)).collect(),
            sums: rows.iter().map(|row| row.sums).collect(),
        }
    })
}

pub(crate) fn categories(view: &View, series: usize) -> Result<Answer, Refused> {
    view.report(series, SeparateBy::None, |report, row| {
        let (rows, calls) = (report.categories(row), report.transitions(row));
        Answer::Categories {
            total: amount(row.counted),
            category: rows.iter().map(|row| row.category.map(Category::name)).collect(),
            sums: rows.iter().map(|row| row.sums).collect(),
            transitions: Transitions {
                caller: calls.iter().map(|row| row.caller.index() as i32).collect(),
                callee: calls.iter().map(|row| row.callee.index() as i32).collect(),
                category: calls.iter().map(|row| row.category.name()).collect(),
                sums: calls.iter().map(|row| row.sums).collect(),
            },
        }
    })
}

pub(crate) fn lines(view: &View, series: usize) -> Result<Answer, Refused> {
    let profile = view.profile();
    view.report(series, SeparateBy::None, |report, row| {
        let rows = report.lines(row);
        let text = |path| profile.string(path).to_owned();
        let files = report.source_files(row).into_iter().map(|file| SourceFile {
            path: text(file.path),
            self_weight: file.sums.self_weight.into(),
            all_weight: file.sums.all_weight.into(),
            line: file.lines.iter().map(|&(line, _)| line as i32).collect(),
            sums: file.lines.iter().map(|&(_, sums)| sums).collect(),
        });
        Answer::Lines {
            total: amount(row.counted),
            label: rows.iter().map(|row| label_number(row.label)).collect(),
            path: rows.iter().map(|row| row.source.map(|source| text(source.path))).collect(),
            line: rows.iter().map(|row| row.source.map_or(0, |source| source.line as i32)).collect(),
            sums: rows.iter().map(|row| row.sums).collect(),
            files: files.collect(),
        }
    })
}

pub(crate) fn threads(view: &View, series: usize) -> Result<Answer, Refused> {
    let profile = view.profile();
    view.report(series, SeparateBy::Thread, |report, row| {
        let process = |row: traceparse::report::ProcessRow| {
            let name = profile.string(profile.process(row.process).name).to_owned();
            let part = Part { id: row.process.index() as i32, name: Some(name), amount: amount(row.counted) };
            ProcessPart { part, threads: row.threads }
        };
        let processes = report.processes(row).into_iter().map(process).collect();
        Answer::Threads { total: amount(row.counted), threads: view.threads(row), processes }
    })
}

pub(crate) fn states(view: &View, series: usize) -> Result<Answer, Refused> {
    let profile = view.profile();
    view.report(series, SeparateBy::None, |report, row| {
        let rows = report.states(row);
        let sum = |of: fn(Amount) -> Exact| Exact(rows.iter().map(|row| of(amount(row.amount)).0).sum());
        let total = Amount { weight: sum(|amount| amount.weight), samples: sum(|amount| amount.samples) };
        let states = rows.iter().map(|row| StateRow {
            state: row.state.map(|state| profile.string(state).to_owned()),
            is_counted: row.is_counted,
            amount: amount(row.amount),
        });
        Answer::States { total, states: states.collect() }
    })
}

pub(crate) fn cores(view: &View, series: usize) -> Result<Answer, Refused> {
    view.report(series, SeparateBy::None, |report, row| Answer::Cores {
        total: amount(row.counted),
        cores: report.core_kinds(row).into_iter().map(core_kind).collect(),
    })
}

pub(crate) fn core_kind(row: CoreKindRow<'_>) -> CoreKind {
    let cores = row.cores.into_iter().map(|(core, counted)| CoreRow { core, amount: amount(counted) });
    CoreKind { kind: row.kind.map(str::to_owned), cores: cores.collect(), amount: amount(row.counted) }
}

/// The callers and callees of the functions marked with 1 in `chosen`.
pub(crate) fn sandwich(view: &View, series: usize, chosen: &[u8]) -> Sandwich {
    Sandwich::new(view.profile(), view.weights_of(series).rows(), &view.functions(chosen))
}

pub(crate) fn callers_and_callees(view: &View, series: usize, label: i32) -> Answer {
    let mut chosen = vec![0; view.profile().function_ids().len()];
    if let Some(place) = usize::try_from(label).ok().and_then(|label| chosen.get_mut(label)) {
        *place = 1;
    }
    let Sandwich { own, callers, callees, recursive } = sandwich(view, series, &chosen);
    let function = |id: Option<Id<Function>>| id.map_or(ROOT, |id| id.index() as i32);
    let neighbours = |rows: Vec<(i32, u64, u64)>| Neighbours {
        label: rows.iter().map(|row| row.0).collect(),
        weight: rows.iter().map(|row| row.1).collect(),
        samples: rows.iter().map(|row| row.2).collect(),
    };
    let amount = |weight: u64, samples: u64| Amount { weight: weight.into(), samples: samples.into() };
    Answer::Sandwich {
        total: total(view, series),
        own: amount(own.self_weight, own.self_samples),
        all: amount(own.all_weight, own.all_samples),
        recursive: amount(recursive.0, recursive.1),
        callers: neighbours(callers.into_iter().map(|(id, weight, samples)| (function(id), weight, samples)).collect()),
        callees: neighbours(
            callees.into_iter().map(|(id, weight, samples)| (function(Some(id)), weight, samples)).collect(),
        ),
    }
}
