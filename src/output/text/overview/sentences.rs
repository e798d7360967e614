//! The overview as unwrapped sentences, for a page.

use super::{OverviewContext, Page};
use crate::output::text::style::Style;
use crate::recording::Intervals;
use crate::report::{Overview, Report, SeriesReport};
use crate::units::Nanos;

/// The marks around a function in a sentence: the start, the index of the function, a separator, the name, and the end. Names do not contain control
/// characters.
pub(super) mod marks {
    pub(in super::super) const START: char = '\u{1}';
    pub(in super::super) const NAME: char = '\u{2}';
    pub(in super::super) const END: char = '\u{3}';
}

/// The sentences of the overview, for a page with its own layout. A sentence is empty if it does not apply.
///
/// A function is `\u{1}INDEX\u{2}NAME\u{3}`, with its index in the profile, and its name as in a terminal: shortened if it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverviewSentences {
    /// The recording, its device and time.
    pub title: String,
    /// The CPU use.
    pub activity: String,
    /// The samples that filters left out.
    pub left_out: String,
    /// Where the time went, and how certain that is: one fact each.
    pub answer: Vec<String>,
    /// The time by owner of the code.
    pub shares: String,
    /// How to get missing names.
    pub advice: String,
    /// The potential hangs in the selected time, with their start and end.
    pub hangs: Vec<(Nanos, Nanos)>,
}

impl OverviewSentences {
    /// Makes the sentences for a series. `overview` is its [overview](Report::overview), with at least one function in `leaves`.
    pub fn new<'e>(report: &Report<'e>, series: &SeriesReport, overview: Overview<'e>, intervals: &Intervals) -> Self {
        let context = OverviewContext { intervals: Some(intervals), command: &[] };
        let page = Page::of(report, series, overview, &context, Style::default());
        Self::of(&Page { is_for_page: true, ..page })
    }

    /// Makes the sentences without marks and hangs.
    pub(crate) fn plain<'e>(report: &Report<'e>, series: &SeriesReport, overview: Overview<'e>) -> Self {
        Self::of(&Page::of(report, series, overview, &OverviewContext::default(), Style::default()))
    }

    fn of(page: &Page<'_, '_>) -> Self {
        Self {
            title: page.title_parts().join(" · "),
            activity: page.activity_text(),
            left_out: page.left_out(),
            answer: page.answer(),
            shares: page.shares(),
            advice: page.names(),
            hangs: page.hangs(),
        }
    }
}
