//! Tables of listings, trees and flame charts, with a record for each row, node or span.

use std::io::{self, Write};

use super::cells::Cells;
use super::shared::{SCOPE, SERIES, push_function, scope_fields, series_fields};
use super::writer::{Csv, Field, fields};
use crate::output::byte_writer::LabelTexts;
use crate::report::{Cell, ListingKind, Report, Scope};

/// Writes the header and the rows of all series: the fields of the series, then the columns of the listing and the unit.
pub(super) fn listing(report: &Report<'_>, kind: &ListingKind, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let columns = kind.csv_fields();
    let mut csv = Csv::new(SERIES.split(',').chain(columns.iter().map(|column| column.name)), cells, out)?;
    for series in &report.series {
        let listing = report.listing_of(kind, series);
        let shared = series_fields(report, series, cells);
        for row in &listing.rows {
            let values: Vec<_> = columns.iter().map(|column| column.value(row, &listing)).collect();
            csv.record([Field::Shared(&shared)].into_iter().chain(values.iter().map(|value| field(value))))?;
        }
    }
    csv.finish()
}

fn field(cell: &Cell) -> Field<'_> {
    match *cell {
        Cell::Absent => Field::Absent,
        Cell::Text(ref text) => text.into(),
        Cell::Number(number) | Cell::Weight(number) => number.into(),
        Cell::Time(time) => time.as_nanos().into(),
        Cell::Percent(percent) => percent.into(),
        Cell::Flag(flag) => flag.into(),
    }
}

const NODE: &str = "depth,all_weight,self_weight,hidden_weight,hidden_children,samples,unit,function,binary";

pub(super) fn trees(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let part = report.options.separate_by.field();
    let header = [SERIES, SCOPE].into_iter().chain(part).chain([NODE]).flat_map(|names| names.split(','));
    let mut csv = Csv::new(header, cells, out)?;
    for series in &report.series {
        let (series_fields, unit) = (series_fields(report, series, cells), series.unit.name());
        report.walk_trees(series, &series.scopes, |row, tree| {
            let scope = scope_fields(profile, row.scope, cells);
            let part = part.map(|_| row.scope.parts(profile).part.map(|part| profile.string(part)).into());
            let mut shared = Vec::new();
            fields([&series_fields, &scope].map(Field::from).into_iter().chain(part), cells, &mut shared);
            tree.walk(|chain| {
                chain.nodes().try_for_each(|node| {
                    csv.record([
                        Field::Shared(&shared),
                        node.depth.into(),
                        node.all_weight.into(),
                        node.self_weight.into(),
                        node.hidden_weight.into(),
                        node.hidden_children.into(),
                        node.all_samples.into(),
                        unit.into(),
                        Field::Shared(names.get(node.label)),
                    ])
                })
            })
        })?;
    }
    csv.finish()
}

const SPAN: &str = "start_ns,end_ns,estimated,depth,all_weight,self_weight,samples,unit,function,binary";

pub(super) fn flame_chart(report: &Report<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    let names = LabelTexts::new(profile, |label, out| push_function(profile, label, cells, out));
    let mut csv = Csv::new([SERIES, SCOPE, SPAN].iter().flat_map(|names| names.split(',')), cells, out)?;
    for series in &report.series {
        let series_fields = series_fields(report, series, cells);
        let chart = report.flame_chart(series);
        for thread in chart.threads() {
            let thread_fields = scope_fields(profile, Scope::Thread(thread.thread()), cells);
            for span in thread.spans() {
                csv.record([
                    Field::Shared(&series_fields),
                    Field::Shared(&thread_fields),
                    span.start.as_nanos().into(),
                    span.end.as_nanos().into(),
                    chart.typical_gap().is_some().into(),
                    span.depth.into(),
                    span.all_weight.into(),
                    span.self_weight.into(),
                    span.samples.into(),
                    series.unit.name().into(),
                    Field::Shared(names.get(span.label)),
                ])?;
            }
        }
    }
    csv.finish()
}
