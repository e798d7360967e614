//! The answer as sentences that are not yet wrapped, for formats with a different layout.

use serde_json::{Value, json};

use super::{OverviewContext, Page, answered};
use crate::output::text::style::Style;
use crate::recording::Intervals;
use crate::report::{Report, SeriesReport};

/// The sentences of an overview, by series.
pub(in crate::output) struct Sentences<'s, 'e> {
    report: &'s Report<'e>,
    intervals: &'s Intervals,
}

impl<'s, 'e> Sentences<'s, 'e> {
    pub(in crate::output) fn new(report: &'s Report<'e>, intervals: &'s Intervals) -> Self {
        Self { report, intervals }
    }

    /// The index of the series that the overview is about: the heaviest. `None` if no sample counts.
    pub(in crate::output) fn first(&self) -> Option<usize> {
        let first = *answered(self.report).first()?;
        self.report.series.iter().position(|series| series.series == first.series)
    }

    /// The sentences about a series, which are empty if there is nothing to report, and its potential hangs.
    pub(in crate::output) fn of(&self, series: &SeriesReport) -> Value {
        let context = OverviewContext { intervals: Some(self.intervals), command: &[] };
        let page = Page::new(self.report, series, &context, Style::default());
        let hangs = page.hangs();
        let longest = hangs.iter().max_by_key(|(start, end)| end.since(*start));
        json!({
            "title": page.title(),
            "activity": page.how_busy(),
            "left_out": page.left_out(),
            "answer": page.answer(),
            "caution": page.few_samples(),
            "shares": page.shares(),
            "advice": page.names(),
            "hangs": hangs.len(),
            "longest_hang": longest.map(|(start, end)| {
                json!({"start_ns": start.as_nanos(), "end_ns": end.as_nanos()})
            }),
        })
    }
}
