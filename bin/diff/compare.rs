//! `traceparse diff`: the changes between two recordings.

use anyhow::anyhow;
use traceparse::alert::AlertRule;
use traceparse::output::{self, DiffReport, OverviewContext, WorkbenchOptions};
use traceparse::recording::{Intervals, SampleDetail};
use traceparse::report::diff::{Diff, Normalize, Unlike};
use traceparse::report::{Report, ReportOptions};
use traceparse::units::Weight;

use super::plan::{DiffArgs, DiffPlan, SidePlan};
use crate::formats::Format;
use crate::inputs::{Inputs, Mounted};
use crate::intervals::{limited, shown_intervals};
use crate::next::command_words;
use crate::output::{tell_alerts, unless_closed};
use crate::recording::{Opened, check_counted, check_sample_counts, check_times, note_removed};
use crate::redact::tell;
use crate::unchanged::WatchedFiles;
use crate::{Failure, exit_code_of_alerts, print_few_warnings, redacted, warning};

/// Compares two recordings.
pub(crate) fn show(args: DiffArgs) -> Result<u8, Failure> {
    args.redact()?;
    let plan = &DiffPlan::new(args).map_err(Failure::Usage)?;
    if plan.is_overview() {
        print_few_warnings();
    }
    plan.output.will_write();
    let watched = WatchedFiles::default();
    let recordings = plan.sides.iter().map(|side| &side.files[0]);
    let mounted = Mounted::new(&watched, recordings.chain(plan.sides.iter().flat_map(|side| &side.intervals.named)))?
        .with_files(plan.sides.iter().flat_map(|side| &side.files[1..]))?;
    // The noise is computed from the weight of each sample.
    let inputs = &Inputs::open(&mounted, &plan.recording.reading.files.options(SampleDetail::Each))?;
    let (reading, [first, second]) = (&plan.recording.reading, &plan.sides);
    let limited = |side: &SidePlan| limited(inputs, &side.intervals, reading, &plan.options);
    let [(mut before_options, before_known), (mut after_options, after_known)] = [limited(first)?, limited(second)?];
    let open = |side: &SidePlan, options: &ReportOptions| {
        let (recording, is_inverted) = (&plan.recording, reading.operations.invert);
        Opened::open(inputs, &side.files, recording, options, SampleDetail::Each, is_inverted)
    };
    let [mut before, mut after] = [open(first, &before_options)?, open(second, &after_options)?];
    let shown = |side: &SidePlan, opened: &Opened, known| {
        shown_intervals(inputs, &side.intervals, &reading.files, opened.recording(), known)
    };
    let mut shown = [shown(first, &before, before_known)?, shown(second, &after, after_known)?];
    redacted::with(|redactor| shown.iter_mut().for_each(|intervals| redactor.intervals(intervals)));
    before.redact(&mut before_options)?;
    after.redact(&mut after_options)?;
    compare(&before.report(&before_options), &after.report(&after_options), &shown, plan)
}

/// Compares the reports of both sides, and returns the exit code.
fn compare<'e>(
    before: &Report<'e>,
    after: &Report<'e>,
    shown: &[Intervals; 2],
    plan: &DiffPlan,
) -> Result<u8, Failure> {
    for (side, report) in plan.sides.iter().zip([before, after]) {
        check_times(report, plan.recording.reading.when.needs_times())?;
        check_sample_counts(report)?;
        check_counted(report, &plan.recording).map_err(|error| anyhow!("{}: {error:#}", side.name))?;
        // The other formats do not include it.
        if plan.output.format != Format::Json {
            note_removed(report);
        }
    }
    let normalize = plan.normalize;
    plan.sides.iter().zip([before, after]).for_each(|(side, report)| side.warn_of_length(report, normalize));
    if !plan.alerts.is_empty() && normalize == Normalize::None {
        warn_of_lengths(before, after);
    }
    check_unlike(&Unlike::between(before, after), plan.is_forced)?;
    if let Some(table) = before.table_without_sample_counts().or(after.table_without_sample_counts()) {
        warning(&format!(
            "{table} does not record sample counts, so it is unknown how much chance explains, and no rule can fire"
        ));
    }
    let diff = Diff::new(before, after, normalize);
    if !diff.is_scaled {
        warning("cannot scale: one of the recordings has no length or weight to scale by; comparing unscaled weights");
    }
    let alerts = redacted_alerts(&plan.alerts)?;
    let alerts: Vec<_> = alerts.iter().map(|rule| diff.judge(rule)).collect();
    let (view, top, min_percent) = (plan.view, plan.top, plan.min_percent);
    let report = DiffReport { before, after, diff: &diff, normalize, view, top, min_percent, alerts: &alerts };
    write(&report, shown, plan)?;
    tell();
    Ok(exit_code_of_alerts(&alerts))
}

/// Writes the comparison. For formats that are not usually read immediately, alerts are also printed on standard error.
fn write(report: &DiffReport<'_, '_>, intervals: &[Intervals; 2], plan: &DiffPlan) -> Result<(), Failure> {
    let output = &plan.output;
    let command = command_words();
    let written = output.write(|out| {
        let context = OverviewContext { command: &command, ..OverviewContext::default() };
        let [before_intervals, intervals] = intervals.each_ref().map(Some);
        let options = WorkbenchOptions { intervals, before_intervals, ..WorkbenchOptions::default() };
        let overview = plan.is_overview().then_some(context);
        let fitting = |size| options.fitting_comparison(report, size);
        let format = output.of_trees(overview, plan.min_percent == 0.0, fitting)?;
        output::write(report, &format, out)
    });
    tell_alerts(output, true, || report.alert_lines());
    Ok(unless_closed(written)?)
}

/// Redacts the names in rules, so that they match the redacted recordings.
fn redacted_alerts(alerts: &[AlertRule]) -> Result<Vec<AlertRule>, Failure> {
    let redacted = redacted::with(|redactor| {
        let texts = alerts.iter().map(|alert| redactor.text(&alert.text));
        texts.map(|text| AlertRule::of_growth(&text)).collect::<Result<Vec<AlertRule>, _>>()
    });
    match redacted {
        None => Ok(alerts.to_vec()),
        Some(alerts) => alerts.map_err(|error| anyhow!("an alert rule cannot be redacted: {error}").into()),
    }
}

impl SidePlan {
    /// Warns if a recorded time is not used, or if normalization needs a length that the recording lacks.
    fn warn_of_length(&self, report: &Report<'_>, normalize: Normalize) {
        let (name, path, option) = (self.name, self.files[0].display(), self.toc_option);
        for reason in report.notes_on_time() {
            warning(&format!("{name}, {path}: {reason}"));
        }
        if normalize == Normalize::Duration && !report.length().is_some_and(|length| length.is_recorded) {
            warning(&format!(
                "{name}, {path}: its length is not recorded in a usable table of contents; using the time that its \
                 samples cover (pass a table of contents with {option})"
            ));
        }
    }
}

/// Warns if one recording is longer, since it then has more weight without being a regression.
fn warn_of_lengths(before: &Report<'_>, after: &Report<'_>) {
    let Some((before, after)) = before.length().zip(after.length()) else { return };
    if before.differs_from(after) {
        let [before, after] = [before, after].map(|length| Weight::nanos(length.nanos.as_nanos()));
        warning(&format!(
            "the recordings took {before} and {after}, but alerts compare unscaled weights; pass --normalize duration to scale them"
        ));
    }
}

/// Fails if the recordings cannot be compared, or differ in kind without --force.
fn check_unlike(found: &[Unlike], is_forced: bool) -> Result<(), Failure> {
    let (forcible, others): (Vec<&Unlike>, Vec<&Unlike>) = found.iter().partition(|unlike| unlike.is_forcible());
    if let Some(unlike) = others.first() {
        return Err(anyhow!("these recordings cannot be compared: {unlike}").into());
    }
    for unlike in forcible {
        if !is_forced {
            return Err(
                anyhow!("these recordings are not comparable: {unlike}; pass --force to compare them anyway").into()
            );
        }
        warning(&format!("{unlike}: this alone may explain the changes"));
    }
    Ok(())
}
