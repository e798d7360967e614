//! The findings, in a box at the top of the page, and the runs behind the numbers of tables.

use std::io::{self, Write};

use super::row_names::cohort_name;
use super::text::{Text, shortened};
use crate::fleet::{CohortReport, FleetReport, ScopeName, Summary};
use crate::output::fleet::opening::{Behind, command, name_of};
use crate::output::fleet::sentences::{Mood, points};

/// Rows of a list of runs.
const ROWS: usize = 20;

/// The box.
pub(super) fn write(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<section id=\"findings\" aria-label=\"What was found\">\n<ul>\n")?;
    for point in points(report) {
        let class = match point.mood {
            Mood::Bad => " class=\"fired\"",
            Mood::Doubtful => " class=\"undecided\"",
            Mood::Good => " class=\"quiet\"",
            Mood::Plain => "",
        };
        writeln!(out, "<li{class}>{}</li>", Text(&point.text))?;
    }
    out.write_all(b"</ul>\n</section>\n")
}

/// The runs of a row for the attribute `title` of a cell; `None` if no run has a value.
pub(super) fn title(report: &FleetReport, summary: &Summary) -> Option<String> {
    Behind::of(report, summary).words().map(|words| shortened(&words))
}

/// The runs behind the rows of a table, folded, with the command that opens the heaviest one.
pub(super) fn runs<'r>(
    report: &FleetReport,
    rows: impl Iterator<Item = (String, &'r ScopeName, &'r Summary)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut is_open = false;
    for (name, scope, summary) in rows.take(ROWS) {
        let behind = Behind::of(report, summary);
        let Some(words) = behind.words() else { continue };
        if !is_open {
            out.write_all(b"<details class=\"behind\"><summary>Runs behind the numbers</summary>\n<dl>\n")?;
            is_open = true;
        }
        writeln!(out, "<dt>{}</dt><dd>{}", Text(&shortened(&name)), Text(&shortened(&words)))?;
        if let Some(command) = behind.max().and_then(|run| command(report, run, scope)) {
            writeln!(out, "<code>{}</code>", Text(&command.join(" ")))?;
        }
        out.write_all(b"</dd>\n")?;
    }
    if is_open { out.write_all(b"</dl></details>\n") } else { Ok(()) }
}

/// The runs behind the rows of cohorts.
pub(super) fn runs_of_cohorts(report: &FleetReport, cohorts: &[CohortReport], out: &mut dyn Write) -> io::Result<()> {
    let all = ScopeName::default();
    runs(report, cohorts.iter().map(|cohort| (cohort_name(&cohort.cohort), &all, &cohort.across_runs)), out)
}

/// The name of a row without its owner.
pub(super) fn short_name(name: &ScopeName) -> String {
    name_of(name).0
}
