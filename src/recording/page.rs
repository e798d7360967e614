//! Creates a recording from a page. It has samples, but no original documents or rejected rows.

use super::recorded_time::{Clock, RunClock, SelectedTime};
use super::{Document, DocumentContent, Recording, Table, TableKind, Toc, TocRun, TocTable};
use crate::profile::{Profile, SeriesId};

/// A run's metadata from its table of contents, and the part of its recorded time that the page contains.
#[derive(Debug)]
pub(crate) struct PageRun {
    pub(crate) time: Option<SelectedTime>,
    pub(crate) toc: TocRun,
}

/// The table of a series.
#[derive(Debug)]
pub(crate) struct PageSeries {
    pub(crate) series: SeriesId,
    pub(crate) position: Option<u32>,
    pub(crate) samples: u64,
    /// The names of its performance counters, if known.
    pub(crate) counters: Option<Vec<String>>,
}

impl Recording {
    /// Creates the recording of a page. `runs` are in the profile's order. Each becomes a document with its tables, and a table of contents.
    pub(crate) fn of_page(profile: Profile, runs: Vec<PageRun>, series: &[PageSeries]) -> Self {
        let (mut documents, mut clocks) = (Vec::new(), Vec::new());
        for (id, PageRun { time, mut toc }) in profile.run_ids().zip(runs) {
            let of_run = series.iter().filter(|row| profile.series(row.series).run == id);
            let tables: Vec<Table> = of_run.clone().map(|row| table(&profile, row)).collect();
            toc.tables.extend(of_run.map(|row| toc_table(&profile, row)));
            let input = profile.string(profile.run(id).input).to_owned();
            let contents = [DocumentContent::Tables(tables), DocumentContent::Toc(Toc { runs: vec![toc] })];
            documents.extend(contents.map(|content| Document { input: input.clone(), content, cut_at: None }));
            clocks.push(RunClock::of_page(time, Some((documents.len() - 1, 0))));
        }
        Self {
            profile,
            documents,
            diagnostics: Vec::new(),
            clock: Clock { runs: clocks, ..Clock::default() },
            held: None,
        }
    }
}

fn table(profile: &Profile, row: &PageSeries) -> Table {
    let series = profile.series(row.series);
    Table {
        run: profile.run(series.run).number,
        position: row.position,
        schema: Some(profile.string(series.schema).to_owned()),
        kind: TableKind::Cpu,
        rows: row.samples,
        samples: row.samples,
        series: vec![row.series],
        ..Table::default()
    }
}

/// The table's entry in a table of contents, with the counter names in quotes.
fn toc_table(profile: &Profile, row: &PageSeries) -> TocTable {
    let names = row.counters.iter().map(|names| {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        ("pmc-events".to_owned(), quoted.join(" "))
    });
    let schema = profile.string(profile.series(row.series).schema).to_owned();
    TocTable { position: row.position, schema, attributes: names.collect(), rows: None }
}
