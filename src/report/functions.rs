//! The functions over all threads: as a table, and with names in place of ids for programs that use the crate.

use super::labels::{binary_of, function_of};
use super::listing::{Cell, Column, ColumnRole, Listing, ListingKind, RowLimits, Shown};
use super::{Report, SeriesReport};
use crate::calltree::{FunctionRow, Label};

pub(super) static KIND: ListingKind = ListingKind::new(
    ["functions", "function"],
    &[
        Column::weight("self_weight", "self"),
        Column::weight("all_weight", "all {unit}"),
        Column::machine("self_samples", ColumnRole::Number),
        Column::number("samples", "samples").shown(Shown::WhereWide).at_least(8),
        Column::new("function", "function", ColumnRole::Name),
        Column::new("binary", "", ColumnRole::Owner),
    ],
    RowLimits::HeavyFirst,
    make,
)
.csv(&["self_weight", "all_weight", "self_samples", "samples", "unit", "function", "binary"])
.json(&["function", "binary", "self_weight", "all_weight", "self_samples", "samples", "unit"]);

fn make(report: &Report<'_>, series: &SeriesReport) -> Listing {
    let profile = &report.recording.profile;
    let cells = |row: &FunctionRow| {
        vec![
            Cell::Weight(row.self_weight),
            Cell::Weight(row.all_weight),
            Cell::Number(row.self_samples),
            Cell::Number(row.all_samples),
            Cell::Text(function_of(profile, row.label).to_owned()),
            Cell::optional(binary_of(profile, row.label)),
        ]
    };
    Listing::new(series.counted.weight, series.functions.iter().map(cells).collect(), Vec::new())
}

/// A function with its names and weights, which are in the unit of its series. Serialized, it is the row of the JSON without the
/// position of its series: `name` is `function` there, and `all_samples` is `samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedFunction<'r> {
    /// The name; an address in hex for code without a name, and `None` for samples without stack.
    #[cfg_attr(feature = "serde", serde(rename = "function", serialize_with = "label"))]
    pub name: Option<&'r str>,
    /// The name of the binary, if known.
    pub binary: Option<&'r str>,
    /// The unit of the weights: `ns`, `cycles`, `events` or `samples`.
    pub unit: &'static str,
    /// Weight of samples whose leaf it is.
    pub self_weight: u64,
    /// Weight of samples that have it anywhere in their stack.
    pub all_weight: u64,
    /// Samples whose leaf it is.
    pub self_samples: u64,
    /// Samples that have it anywhere in their stack.
    #[cfg_attr(feature = "serde", serde(rename = "samples"))]
    pub all_samples: u64,
}

/// The name, or the label for samples without stack.
#[cfg(feature = "serde")]
fn label<S: serde::Serializer>(name: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.unwrap_or(super::NO_STACK))
}

impl<'e> Report<'e> {
    /// The functions of a series with their names, in the order of [`SeriesReport::functions`]. Only
    /// [`View::Functions`](super::View::Functions) has them.
    pub fn named_functions<'r>(&'r self, series: &'r SeriesReport) -> impl Iterator<Item = NamedFunction<'e>> + 'r {
        series.functions.iter().map(|row| self.named_function(series, row))
    }

    fn named_function(&self, series: &SeriesReport, row: &FunctionRow) -> NamedFunction<'e> {
        let profile = &self.recording.profile;
        let (name, binary) = match row.label {
            Label::Function(id) => (Some(profile.function_name(id)), profile.binary_name(id)),
            Label::NoStack | Label::Root => (None, None),
        };
        let FunctionRow { label: _, self_weight, all_weight, self_samples, all_samples } = *row;
        NamedFunction { name, binary, unit: series.unit.name(), self_weight, all_weight, self_samples, all_samples }
    }
}
