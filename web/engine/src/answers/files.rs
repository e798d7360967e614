//! Files of other formats, with the content that the command writes for the same selection and operations.

use traceparse::calltree::Metric;
use traceparse::output::{self, Format, Markers};
use traceparse::recording::{IntervalOrigin, Intervals};
use traceparse::report::{Report, View as ReportView};

use crate::protocol::{Answer, FileFormat};
use crate::view::View;
use crate::wire::{Refused, U8s};

pub(crate) fn file(view: &View, series: usize, intervals: &Intervals, format: FileFormat) -> Result<Answer, Refused> {
    let of = if format == FileFormat::Csv { ReportView::Functions } else { ReportView::Tree };
    let report = view.separate_report(series, of)?;
    if report.series.iter().all(|series| series.counted.samples == 0) {
        return Err(Refused("no sample is selected, so there is nothing to save".to_owned()));
    }
    if report.options.metric == Metric::Samples && report.table_without_sample_counts().is_some() {
        return Err(Refused("this recording has no sample counts; choose its weights".to_owned()));
    }
    let mut bytes = Vec::new();
    let written = match format {
        FileFormat::Folded => output::write(&report, &Format::Folded, &mut bytes),
        FileFormat::Csv => output::write(&report, &Format::Csv(output::Cells::AsTheyAre), &mut bytes),
        FileFormat::Pprof => output::write(&report, &Format::Pprof, &mut bytes),
        FileFormat::Speedscope => {
            check_times(&report)?;
            output::write(&report, &Format::Speedscope, &mut bytes)
        }
        FileFormat::Firefox => {
            check_times(&report)?;
            let shown = of_threads(intervals);
            let markers = Markers::new(&report, &shown);
            output::write(&report, &Format::Firefox(&markers), &mut bytes)
        }
    };
    written.map_err(|error| Refused(error.to_string()))?;
    Ok(Answer::File { bytes: U8s(bytes) })
}

/// Signposts and hangs. A page also has the rows of other tables.
fn of_threads(intervals: &Intervals) -> Intervals {
    let rows = intervals.intervals.iter().filter(|row| row.origin != IntervalOrigin::Table);
    Intervals { intervals: rows.cloned().collect(), ..Intervals::default() }
}

fn check_times(report: &Report<'_>) -> Result<(), Refused> {
    let is_summed = report.recording.profile.sums().len() > 0;
    if !is_summed && report.table_without_times().is_none() {
        return Ok(());
    }
    Err(Refused("this recording has no times of samples, which this format needs".to_owned()))
}
