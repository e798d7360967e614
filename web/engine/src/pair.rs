//! Answers questions about two recordings: about their comparison, and about each of them.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use traceparse::profile::Profile;
use traceparse::report::diff::{self, Diff, DiffTree, FunctionKey, Functions, Unlike};
use traceparse::units::first_of;
use ts_rs::TS;

use crate::answers::diff as answers;
use crate::answers::diff::Changes;
use crate::answers::flame::PathNumbers;
use crate::answers::tables;
use crate::desk::{Desk, NUMBERED, Recent};
use crate::protocol::{
    Amount, Answer, Ask, Effect, Normalize, Operation, Place, Search, SearchBefore, Selection, Side, Totals,
    TotalsBefore,
};
use crate::search::Reading;
use crate::view::{View, counter_of};
use crate::wire::{Exact, I32s, Refused, U8s};

/// The number of comparisons that are cached with their weights.
const KEPT: usize = 3;

pub(crate) struct Pair {
    before: Desk,
    after: Desk,
    functions: Arc<Functions>,
    changes: Recent<(Selection, Vec<Operation>, Normalize), Rc<Changes>>,
    numbers: Recent<String, PathNumbers>,
    /// By counter and operations: the merged tree of both recordings.
    trees: Recent<(Option<u32>, Vec<Operation>), Arc<DiffTree>>,
    /// The factor by which noise exceeds sampling noise.
    noise_factor: f64,
}

/// The functions of both recordings without duplicates. The first entry is not a function: it represents samples without a stack.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatchedColumns {
    pub(crate) name: Vec<Option<String>>,
    pub(crate) binary: Vec<Option<String>>,
    /// 1 if operations find the function by this name in both recordings.
    pub(crate) is_named: U8s,
    /// The index of the function in each recording; -1 if it is missing.
    pub(crate) before: I32s,
    pub(crate) after: I32s,
    /// By function of each recording: its index among the functions of both.
    pub(crate) of_before: I32s,
    pub(crate) of_after: I32s,
}

impl Pair {
    pub(crate) fn new(before: Desk, after: Desk, facts: &Value) -> Self {
        let profiles = [&before, &after].map(|desk| &desk.recording().profile);
        let functions = Arc::new(Functions::new(profiles));
        Self {
            before,
            after,
            functions,
            changes: Recent::new(KEPT),
            numbers: Recent::new(NUMBERED),
            trees: Recent::new(2),
            noise_factor: facts["noise_factor"].as_f64().unwrap_or(f64::INFINITY),
        }
    }

    pub(crate) fn profiles(&self) -> [&Profile; 2] {
        [&self.before, &self.after].map(|desk| &desk.recording().profile)
    }

    pub(crate) fn matching(&self) -> MatchedColumns {
        let count = self.functions.iter().len();
        let mut first = [vec![-1; count], vec![-1; count]];
        let mut of_side = [Vec::new(), Vec::new()];
        for (side, profile) in self.profiles().into_iter().enumerate() {
            for id in profile.function_ids() {
                let number = self.functions.number(side, id);
                of_side[side].push(number as i32);
                if first[side][number] < 0 {
                    first[side][number] = id.index() as i32;
                }
            }
        }
        let ([before, after], [of_before, of_after]) = (first.map(I32s), of_side.map(I32s));
        let functions = || self.functions.iter();
        MatchedColumns {
            name: functions().map(|row| (row.key != FunctionKey::NoStack).then(|| row.name.clone())).collect(),
            binary: functions().map(|row| row.binary.clone()).collect(),
            is_named: functions().map(|row| u8::from(row.key == FunctionKey::Named)).collect(),
            before,
            after,
            of_before,
            of_after,
        }
    }

    /// `reading` is the search in the question.
    pub(crate) fn answer(&mut self, place: &Place, ask: &Ask, reading: Option<&Reading>) -> Result<Answer, Refused> {
        match place.side.unwrap_or(Side::Compared) {
            Side::Before => return self.before.answer(place, ask, reading.map(|reading| (reading, 0))),
            Side::After => return self.after.answer(place, ask, reading.map(|reading| (reading, 1))),
            Side::Compared => {}
        }
        Ok(match ask {
            Ask::DiffTable { of, normalize } => answers::table(&*self.changes(place, *normalize)?, *of),
            Ask::DiffOverview { normalize } => answers::overview(&*self.changes(place, *normalize)?),
            Ask::DiffTree { normalize, rows } => {
                let matches = reading.filter(|_| rows.find.is_some()).map(|reading| self.matches_of_both(reading));
                answers::tree(&*self.changes(place, *normalize)?, rows, matches.as_deref())
            }
            Ask::DiffFlame { normalize, widths, boxes } => {
                let changes = self.changes(place, *normalize)?;
                let numbers = self.numbers.get_or_insert(&boxes.tree, || Ok(PathNumbers::default()))?;
                answers::flame(&changes, *widths, boxes, numbers)
            }
            Ask::DiffOf { normalize, label } => answers::of_function(&*self.changes(place, *normalize)?, *label),
            Ask::Totals => Answer::Totals(self.totals(place)?),
            Ask::Search { .. } => {
                let reading = reading.ok_or_else(|| Refused("nothing is searched for".to_owned()))?;
                Answer::Search(self.search(place, reading)?)
            }
            _ => return Err(Refused("this question does not apply to a comparison".to_owned())),
        })
    }

    fn changes(&mut self, place: &Place, normalize: Normalize) -> Result<Rc<Changes>, Refused> {
        let Place { selection, operations, .. } = place;
        let Self { before, after, functions, changes, trees, noise_factor, .. } = self;
        let found = changes.get_or_insert(&(selection.clone(), operations.clone(), normalize), || {
            let selection_before = counterpart(after.profile(), before.profile(), selection);
            let views = (before.view(&selection_before, operations)?, after.view(selection, operations)?);
            let reports = [&views.0, &views.1].map(|view| view.report_of_all());
            refuse_unlike(Unlike::between(&reports[0], &reports[1]))?;
            let by = match normalize {
                Normalize::None => diff::Normalize::None,
                Normalize::Duration => diff::Normalize::Duration,
                Normalize::Samples => diff::Normalize::Samples,
            };
            let forests = [views.0.base.forest(), views.1.base.forest()];
            let tree = trees.get_or_insert(&(counter_of(selection), operations.clone()), || {
                Ok(Arc::new(DiffTree::new(functions, forests)))
            })?;
            let diff = Diff::of_tree(tree, reports.each_ref(), forests, by).with_noise_factor(*noise_factor);
            drop(reports);
            let (functions, (before, after)) = (Arc::clone(functions), views);
            Ok(Rc::new(Changes { before, after, diff, functions, normalize }))
        })?;
        Ok(Rc::clone(found))
    }

    /// The totals of the second recording, with the totals of the first.
    fn totals(&mut self, place: &Place) -> Result<Totals, Refused> {
        // Fails if weights cannot be added up.
        self.changes(place, Normalize::None)?;
        let selection = counterpart(self.after.profile(), self.before.profile(), &place.selection);
        let before = Place { selection, ..place.clone() };
        let Totals { total, whole, effects, .. } = totals_of(&mut self.before, &before)?;
        let before = TotalsBefore { kind: "totals", total, whole, effects };
        Ok(Totals { before: Some(Box::new(before)), ..totals_of(&mut self.after, place)? })
    }

    fn search(&mut self, place: &Place, reading: &Reading) -> Result<Search, Refused> {
        let changes = self.changes(place, Normalize::None)?;
        let matches = self.matches_of_both(reading);
        let of = |view: &View, found: &[u8]| {
            let mut sums = SearchBefore { total: Amount::default(), all: Amount::default() };
            for series in counted_series(view) {
                let own = tables::sandwich(view, series, found).own;
                let all = Amount { weight: own.all_weight.into(), samples: own.all_samples.into() };
                sums = SearchBefore { total: plus(sums.total, tables::total(view, series)), all: plus(sums.all, all) };
            }
            sums
        };
        let after = of(&changes.after, &reading.matches[1]);
        Ok(Search {
            total: after.total,
            pattern: reading.pattern.clone(),
            is_plain: reading.is_plain,
            functions: matches.iter().filter(|&&is_match| is_match == 1).count(),
            matches: U8s(matches),
            all: after.all,
            before: Some(of(&changes.before, &reading.matches[0])),
        })
    }

    /// By matched function: 1 if its name matches in either recording.
    fn matches_of_both(&self, reading: &Reading) -> Vec<u8> {
        let mut matches = vec![0; self.functions.iter().len()];
        for (side, profile) in self.profiles().into_iter().enumerate() {
            for id in profile.function_ids().filter(|id| reading.matches[side][id.index()] == 1) {
                matches[self.functions.number(side, id)] = 1;
            }
        }
        matches
    }
}

/// The totals over all series with selected samples.
fn totals_of(desk: &mut Desk, place: &Place) -> Result<Totals, Refused> {
    let Selection { metric, states, .. } = place.selection.clone();
    let whole = desk.view(&Selection { metric, states, ..Selection::default() }, &[])?;
    let mut sum: Option<Totals> = None;
    for series in counted_series(&whole) {
        let of_series = desk.totals(&Place { series, ..place.clone() })?;
        sum = Some(match sum {
            None => of_series,
            Some(sum) => Totals {
                total: plus(sum.total, of_series.total),
                whole: plus(sum.whole, of_series.whole),
                effects: sum.effects.into_iter().zip(of_series.effects).map(plus_effects).collect(),
                before: None,
            },
        });
    }
    let nothing = Totals { total: Amount::default(), whole: Amount::default(), effects: Vec::new(), before: None };
    Ok(sum.unwrap_or(nothing))
}

fn plus_effects((a, b): (Effect, Effect)) -> Effect {
    Effect {
        operation: a.operation,
        removed: plus(a.removed, b.removed),
        changed_samples: Exact(a.changed_samples.0 + b.changed_samples.0),
        moved: plus(a.moved, b.moved),
    }
}

fn plus(a: Amount, b: Amount) -> Amount {
    Amount { weight: Exact(a.weight.0 + b.weight.0), samples: Exact(a.samples.0 + b.samples.0) }
}

/// The series with selected samples.
fn counted_series(view: &View) -> Vec<usize> {
    let ids: BTreeSet<usize> = view.weights().rows().iter().map(|row| row.series.index()).collect();
    ids.into_iter().filter(|&series| view.is_selected(series)).collect()
}

/// Refuses recordings that can never be added up or compared. Other differences were accepted by `traceparse diff` when it wrote the page.
fn refuse_unlike(found: Vec<Unlike>) -> Result<(), Refused> {
    for unlike in found {
        match unlike {
            Unlike::Mixed(side, tables) => {
                let tables = first_of(&tables);
                let why = format!("{side} has several measurements that cannot be summed: {tables}; select one");
                return Err(Refused(why));
            }
            Unlike::Units(..) => return Err(Refused(unlike.to_string())),
            _ => {}
        }
    }
    Ok(())
}

/// The same selection in the other recording. Processes and threads are matched by name, runs by number, and series by table. All other fields apply
/// to both recordings.
fn counterpart(from: &Profile, to: &Profile, selection: &Selection) -> Selection {
    let series = |profile: &Profile, index: usize| {
        let row = profile.series_ids().nth(index).map(|id| profile.series(id));
        row.map(|row| (profile.string(row.schema).to_owned(), row.unit.name()))
    };
    let run = |profile: &Profile, index: usize| profile.run_ids().nth(index).map(|id| profile.run(id).number);
    let process = |profile: &Profile, index: usize| {
        let id = profile.process_ids().nth(index)?;
        Some(profile.string(profile.process(id).name).to_owned())
    };
    let thread = |profile: &Profile, index: usize| {
        let row = profile.thread(profile.thread_ids().nth(index)?);
        let process = profile.string(profile.process(row.process).name);
        Some((profile.string(row.name).to_owned(), row.is_main, process.to_owned()))
    };
    Selection {
        series: among(&selection.series, (from, to), to.series_ids().len(), series),
        runs: among(&selection.runs, (from, to), to.run_ids().len(), run),
        processes: among(&selection.processes, (from, to), to.process_ids().len(), process),
        threads: among(&selection.threads, (from, to), to.thread_ids().len(), thread),
        ..selection.clone()
    }
}

/// The indices in the other recording that have the same key as one of the chosen indices.
fn among<K: Ord>(
    chosen: &Option<Vec<usize>>,
    (from, to): (&Profile, &Profile),
    count: usize,
    key: impl Fn(&Profile, usize) -> Option<K>,
) -> Option<Vec<usize>> {
    let keys: BTreeSet<K> = chosen.as_ref()?.iter().filter_map(|&index| key(from, index)).collect();
    Some((0..count).filter(|&index| key(to, index).is_some_and(|key| keys.contains(&key))).collect())
}

/// Parses the facts that the command found about both recordings.
pub(crate) fn facts_of(bytes: &[u8]) -> Result<Value, Refused> {
    serde_json::from_slice(bytes)
        .map_err(|error| Refused(format!("the facts of the comparison cannot be read: {error}")))
}
