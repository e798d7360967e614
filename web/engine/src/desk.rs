//! Answers questions about one recording.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::rc::Rc;

use traceparse::Payload;
use traceparse::profile::Profile;
use traceparse::recording::{Intervals, Recording};

#[cfg(feature = "reader")]
use crate::answers::files;
use crate::answers::flame::PathNumbers;
use crate::answers::{amount_of, chart, flame, intervals, overview, tables, tracks, trees};
use crate::protocol::{self, Amount, Answer, Ask, Effect, Place, Search, Selection, Totals};
use crate::search::Reading;
use crate::view::{Base, View, counter_of};
use crate::wire::Refused;

/// The number of views that are cached with their results, so that going back is immediate.
const VIEWS: usize = 6;
/// The number of operation lists whose stacks are cached, so that undo and redo are immediate; fewer for a large recording.
const BASES: usize = 6;
const BASES_IF_LARGE: usize = 2;
/// A recording with at least this many samples is large.
const LARGE: usize = 500_000;
/// The number of trees whose path numbers are kept: the current and the previous one.
pub(crate) const NUMBERED: usize = 2;

pub(crate) struct Desk {
    base: Rc<Base>,
    intervals: Intervals,
    /// By series and counter: true if samples have its values.
    counters: Vec<Vec<bool>>,
    /// By counter and operations.
    bases: Recent<(Option<u32>, Vec<protocol::Operation>), Rc<Base>>,
    views: Recent<(Selection, Vec<protocol::Operation>), Rc<View>>,
    numbers: Recent<String, PathNumbers>,
    wholes: HashMap<(usize, Selection), Amount>,
}

impl Desk {
    pub(crate) fn new(payload: Payload<'_>, counters: Vec<Vec<bool>>) -> Self {
        let Payload { recording, intervals, symbolication, .. } = payload;
        let is_large = recording.profile.sums_or_samples().nth(LARGE).is_some();
        Self {
            base: Rc::new(Base::new(recording, symbolication)),
            intervals,
            counters,
            bases: Recent::new(if is_large { BASES_IF_LARGE } else { BASES }),
            views: Recent::new(VIEWS),
            numbers: Recent::new(NUMBERED),
            wholes: HashMap::new(),
        }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.base.recording
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.base.recording.profile
    }

    /// `reading` is the search in the question, with the index of this recording in it.
    pub(crate) fn answer(
        &mut self,
        place: &Place,
        ask: &Ask,
        reading: Option<(&Reading, usize)>,
    ) -> Result<Answer, Refused> {
        if let Ask::Totals = ask {
            return Ok(Answer::Totals(self.totals(place)?));
        }
        let view = self.view(&place.selection, &place.operations)?;
        let series = place.series;
        let matches = reading.map(|(reading, number)| reading.matches[number].as_slice());
        Ok(match ask {
            Ask::Overview => {
                let counters = self.counters.get(series).map_or(&[][..], Vec::as_slice);
                Answer::Overview(Box::new(overview::overview(&view, series, &self.intervals, counters)?))
            }
            Ask::Functions => tables::functions(&view, series),
            Ask::Binaries => tables::binaries(&view, series)?,
            Ask::Categories => tables::categories(&view, series)?,
            Ask::Lines => tables::lines(&view, series)?,
            Ask::Threads => tables::threads(&view, series)?,
            Ask::States => tables::states(&view, series)?,
            Ask::Cores => tables::cores(&view, series)?,
            Ask::Tree { direction, by, part, rows } => {
                let matches = matches.filter(|_| rows.find.is_some());
                trees::tree(&view, series, (*direction, *by, *part), rows, matches)?
            }
            Ask::Flame { direction, by, part, boxes } => {
                let numbers = self.numbers.get_or_insert(&boxes.tree, || Ok(PathNumbers::default()))?;
                flame::flame(&view, series, (*direction, *by, *part), boxes, numbers)?
            }
            Ask::Heaviest { by, part } => trees::heaviest(&view, series, *by, *part)?,
            Ask::Sandwich { label } => tables::callers_and_callees(&view, series, *label),
            Ask::Search { .. } => {
                let (reading, number) = reading.ok_or_else(|| Refused("nothing is searched for".to_owned()))?;
                Answer::Search(search(&view, series, reading, number))
            }
            #[cfg(feature = "reader")]
            Ask::File { format } => files::file(&view, series, &self.intervals, *format)?,
            Ask::Chart { thread, range, boxes } => chart::chart(&view, series, *thread, *range, boxes)?,
            Ask::Tracks { unit, range, pixels } => {
                Answer::Tracks(tracks::tracks(&view, series, unit, *range, *pixels)?)
            }
            Ask::DiffTable { .. }
            | Ask::DiffOverview { .. }
            | Ask::DiffTree { .. }
            | Ask::DiffFlame { .. }
            | Ask::DiffOf { .. } => return Err(Refused("this question applies only to comparisons".to_owned())),
            Ask::Totals => Answer::Totals(self.totals(place)?),
            Ask::Intervals => Answer::Intervals(intervals::intervals(self.recording(), &self.intervals)),
            Ask::Hangs { hangs } => {
                let hangs = hangs.iter().map(|hang| intervals::hang(&self.base, series, hang));
                Answer::Hangs { hangs: hangs.collect::<Result<_, _>>()? }
            }
        })
    }

    /// The view of a selection after operations.
    pub(crate) fn view(
        &mut self,
        selection: &Selection,
        operations: &[protocol::Operation],
    ) -> Result<Rc<View>, Refused> {
        let Self { base, bases, views, intervals, .. } = self;
        let view = views.get_or_insert(&(selection.clone(), operations.to_vec()), || {
            let base = base_of(base, bases, counter_of(selection), operations)?;
            Ok(Rc::new(View::new(base, selection, intervals)?))
        })?;
        Ok(Rc::clone(view))
    }

    pub(crate) fn totals(&mut self, place: &Place) -> Result<Totals, Refused> {
        let view = self.view(&place.selection, &place.operations)?;
        // In the same states, since waiting samples are not a part of running samples.
        let Selection { metric, states, .. } = place.selection.clone();
        let whole = Selection { metric, states, ..Selection::default() };
        let key = (place.series, whole);
        let known = self.wholes.get(&key).copied();
        let whole = match known {
            Some(whole) => whole,
            None => {
                let whole = amount_of(&self.view(&key.1, &[])?.tree(place.series));
                self.wholes.insert(key, whole);
                whole
            }
        };
        let series = view.profile().series_ids().nth(place.series);
        let effects = view.effects().into_iter().map(|summary| {
            let change = series.map(|series| summary.change(series)).unwrap_or_default();
            let amount = |weight: u64, samples: u64| Amount { weight: weight.into(), samples: samples.into() };
            Effect {
                operation: summary.text,
                removed: amount(change.removed_weight, change.removed_samples),
                changed_samples: change.changed_samples.into(),
                moved: amount(change.moved_weight, change.moved_samples),
            }
        });
        let effects = effects.collect();
        Ok(Totals { total: tables::total(&view, place.series), whole, effects, before: None })
    }
}

/// The recording weighted by a counter, after operations.
fn base_of(
    base: &Rc<Base>,
    bases: &mut Recent<(Option<u32>, Vec<protocol::Operation>), Rc<Base>>,
    counter: Option<u32>,
    operations: &[protocol::Operation],
) -> Result<Rc<Base>, Refused> {
    let weighed = match counter {
        None => Rc::clone(base),
        Some(number) => {
            Rc::clone(bases.get_or_insert(&(counter, Vec::new()), || Ok(Rc::new(base.weighed_by(number)?)))?)
        }
    };
    if operations.is_empty() {
        return Ok(weighed);
    }
    let key = (counter, operations.to_vec());
    Ok(Rc::clone(bases.get_or_insert(&key, || Ok(Rc::new(weighed.operated(operations)?)))?))
}

fn search(view: &View, series: usize, reading: &Reading, number: usize) -> Search {
    let matches = &reading.matches[number];
    let own = tables::sandwich(view, series, matches).own;
    Search {
        total: tables::total(view, series),
        pattern: reading.pattern.clone(),
        is_plain: reading.is_plain,
        functions: matches.iter().filter(|&&is_match| is_match == 1).count(),
        matches: crate::wire::U8s(matches.clone()),
        all: Amount { weight: own.all_weight.into(), samples: own.all_samples.into() },
        before: None,
    }
}

/// A cache of the most recently used values.
pub(crate) struct Recent<K, V> {
    most: usize,
    /// In order of last use, most recent last.
    kept: VecDeque<(K, V)>,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new() }
    }

    pub(crate) fn get_or_insert(
        &mut self,
        key: &K,
        make: impl FnOnce() -> Result<V, Refused>,
    ) -> Result<&mut V, Refused> {
        let known = self.kept.iter().position(|(known, _)| known == key).and_then(|place| self.kept.remove(place));
        let entry = match known {
            Some(entry) => entry,
            None => {
                // Evict first, to free memory before computing.
                while self.kept.len() >= self.most {
                    self.kept.pop_front();
                }
                (key.clone(), make()?)
            }
        };
        self.kept.push_back(entry);
        let last = self.kept.len() - 1;
        Ok(&mut self.kept[last].1)
    }
}
