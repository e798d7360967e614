//! Cells of tables, their marks, and the explanation of the marks below the table.

use std::collections::BTreeSet;

use super::words::many;
use crate::fleet::{Caution, FleetOptions, Summary};
use crate::output::fleet::measures::Measures;
use crate::stats::{Estimate, Quantile, Support};

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    /// `n/a`: the number of runs needed.
    TooFew(Quantile, u64),
    /// `*`: the number of runs needed for both ends of the interval.
    OneSided(Quantile, u64),
    /// `?`: an end of an interval that is not known.
    UnknownEnd,
    /// Nothing: a percentile of one run.
    OneRun,
    /// `~`: no more than sampling noise.
    Noise,
    /// `!`: the mean is above P90.
    HighMean,
}

/// A number in a table. It ends with a mark or a space, so that decimal points are aligned.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) notes: Vec<Note>,
}

impl Cell {
    /// A number without a mark.
    pub(super) fn new(text: &str) -> Self {
        Self { text: format!("{text} "), notes: Vec::new() }
    }

    /// A number, or a dash.
    pub(super) fn value(value: Option<f64>, measures: Measures) -> Self {
        Self::new(&value.map_or_else(|| "n/a".to_owned(), |value| measures.number(value)))
    }

    /// A number directly followed by a mark: the padding of a short zero comes after the mark.
    fn marked(text: &str, mark: &str, note: Note) -> Self {
        let number = text.trim_end();
        Self { text: format!("{number}{mark}{}", &text[number.len()..]), notes: vec![note] }
    }

    /// The cell for a percentile of one run: empty.
    pub(super) fn one_run() -> Self {
        Self { text: String::new(), notes: vec![Note::OneRun] }
    }

    /// A percentile.
    pub(super) fn estimate(estimate: &Estimate, measures: Measures, options: &FleetOptions) -> Self {
        let quantile = estimate.quantile;
        match (estimate.support, estimate.value) {
            (Support::TooFew { needed }, _) => Self::marked("n/a", " ", Note::TooFew(quantile, needed)),
            (Support::Enough, value) | (_, value @ None) => Self::value(value, measures),
            (Support::UpperUnknown, Some(value)) => {
                let needed = quantile.needed_for_interval(options.confidence);
                Self::marked(&measures.number(value), "*", Note::OneSided(quantile, needed))
            }
        }
    }

    /// Marks the number as explained by sampling noise.
    pub(super) fn noise(self) -> Self {
        let mut notes = self.notes;
        notes.push(Note::Noise);
        Self { text: format!("~{}", self.text), notes }
    }

    /// The mean.
    pub(super) fn mean(summary: &Summary, measures: Measures) -> Self {
        let is_high = summary.cautions.contains(&Caution::MeanAboveP90);
        match summary.mean.filter(|_| is_high) {
            Some(mean) => Self::marked(&measures.number(mean), "!", Note::HighMean),
            None => Self::value(summary.mean, measures),
        }
    }

    /// An end of an interval.
    pub(super) fn end(end: Option<f64>, measures: Measures) -> Self {
        end.map_or_else(|| Self::marked("?", " ", Note::UnknownEnd), |value| Self::new(&measures.number(value)))
    }

    /// True if there are too few runs for it.
    pub(super) fn is_too_few(&self) -> bool {
        matches!(self.notes[..], [Note::TooFew(..), ..])
    }
}

/// The marks that were written.
#[derive(Default)]
pub(super) struct Footnotes {
    /// The marks to explain.
    notes: BTreeSet<Note>,
    /// The marks that were explained.
    explained: BTreeSet<Note>,
}

impl Footnotes {
    pub(super) fn add(&mut self, notes: &[Note]) {
        self.notes.extend(notes.iter().filter(|note| !self.explained.contains(note)));
    }

    /// Sentences on new marks: each mark is explained once.
    pub(super) fn take(&mut self, options: &FleetOptions) -> Vec<String> {
        let texts = self.texts(options);
        self.explained.append(&mut self.notes);
        texts
    }

    fn texts(&self, options: &FleetOptions) -> Vec<String> {
        let has = |note: Note| self.notes.contains(&note);
        let texts = [
            self.too_few(),
            self.one_sided(options),
            has(Note::UnknownEnd)
                .then(|| "?: no run is that far out, so this end of the interval is unknown.".to_owned()),
            has(Note::OneRun).then(|| "1 run: percentiles need more; max and mean are its value.".to_owned()),
            has(Note::Noise)
                .then(|| "~: no more than sampling noise in identical runs; no evidence that runs differ.".to_owned()),
            has(Note::HighMean).then(|| "!: the mean is above P90; a few runs carry it.".to_owned()),
        ];
        texts.into_iter().flatten().collect()
    }

    fn too_few(&self) -> Option<String> {
        let needs = self.notes.iter().filter_map(|note| match note {
            Note::TooFew(quantile, needed) => Some(format!("{quantile} needs {}", many(*needed, "run"))),
            _ => None,
        });
        let needs: Vec<String> = needs.collect();
        let text = || format!("n/a: too few runs. {}; the largest value is in the column max.", needs.join(", "));
        (!needs.is_empty()).then(text)
    }

    fn one_sided(&self, options: &FleetOptions) -> Option<String> {
        let quantiles = self.notes.iter().filter_map(|note| match note {
            Note::OneSided(quantile, needed) => Some((*quantile, *needed)),
            _ => None,
        });
        let quantiles: Vec<(Quantile, u64)> = quantiles.collect();
        let (first, _) = quantiles.first()?;
        if options.is_weighted {
            return Some("*: no interval; percentiles by run weight have none.".to_owned());
        }
        let needs = quantiles.iter().map(|(quantile, needed)| match needed {
            &u64::MAX => format!("{quantile} has none, however many runs there are"),
            needed => format!("{quantile} needs {} for it", many(*needed, "run")),
        });
        let side = if *first < Quantile::P50 { "outer" } else { "upper" };
        let needs: Vec<String> = needs.collect();
        Some(format!("*: {side} bound unknown at {}. {}.", options.confidence, needs.join(", ")))
    }
}
