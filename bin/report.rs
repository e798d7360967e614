//! Reports on recordings.

use std::io::{self, Write};

use traceparse::ErrorKind;
use traceparse::output::{self, Markers, OverviewContext, WorkbenchOptions};
use traceparse::recording::{Intervals, SampleDetail};
use traceparse::report::{HiddenRows, HidingLimit, Report, ReportOptions, View};
use traceparse::units::{Unit, Weight};

use crate::formats::Format;
use crate::function::choose_function;
use crate::guard::will_search;
use crate::inputs::{Inputs, Mounted};
use crate::intervals::{label_samples, limited, shown_intervals};
use crate::next::command_words;
use crate::recording::{Opened, check_cores, check_counted, check_sample_counts, check_times, note_removed};
use crate::redact::tell;
use crate::report_args::ReportArgs;
use crate::report_plan::ReportPlan;
use crate::sources::read_sources;
use crate::unchanged::WatchedFiles;
use crate::weight_limit::WeightLimit;
use crate::{Failure, note, print_few_warnings, redacted};

pub(crate) fn show(args: ReportArgs) -> Result<(), Failure> {
    let processes = &args.recording.selection.processes.process;
    args.recording.reading.redact.begin(args.files.iter().chain(&args.intervals), processes)?;
    let plan = &ReportPlan::new(args).map_err(Failure::Usage)?;
    if plan.is_overview() {
        print_few_warnings();
    }
    plan.output.will_write();
    plan.source.iter().try_for_each(|path| will_search(path))?;
    let watched = WatchedFiles::default();
    let (files, reading) = (&plan.files, &plan.recording.reading);
    let mounted = Mounted::new(&watched, files.exports.iter().chain(&files.named))?;
    let inputs = &Inputs::open(&mounted, &reading.files.options(plan.detail))?;
    let (mut options, known) = limited(inputs, files, reading, &plan.options)?;
    let mut recording = open(inputs, plan, &options)?;
    let mut shown = shown_intervals(inputs, files, &reading.files, recording.recording(), known)?;
    redact(&mut recording, &mut options, &mut shown, plan)?;
    label_samples(&mut recording, inputs, files, &reading.files, options.separate_by)?;
    let mut report = recording.report(&options);
    check(&report, plan)?;
    if let Some(asked) = plan.function.as_ref().filter(|_| !redacted::is_asked()) {
        report.options.function = choose_function(&recording, &report, asked)?;
    }
    if redacted::is_asked() && !plan.source.is_empty() {
        note("--redact leaves out source code");
    } else {
        read_sources(&mut report, &plan.source)?;
    }
    if plan.output.format.is_one_measurement() {
        report.check_one_measurement().map_err(|mixed| Failure::Input(mixed.into()))?;
    }
    let is_told = match plan.output.format {
        Format::Text => report.options.view != View::Samples,
        format => format == Format::Json,
    };
    if !is_told {
        note_removed(&report);
        note_hidden(&report);
    }
    // Markers depend on all samples.
    let has_markers = plan.output.format.has_markers();
    let markers = if has_markers { Markers::new(&report, &shown) } else { Markers::default() };
    if markers.left_out() > 0 {
        note(&format!("{} signposts and hangs of threads without samples are not written", markers.left_out()));
    }
    if plan.has_default_table {
        let format = plan.output.format.name();
        note(&format!("{format} output has the functions; --view selects another table, such as --view threads"));
    }
    plan.output.write(|out| write(&report, &markers, &shown, plan, out))?;
    tell();
    Ok(())
}

/// Redacts names in the recording and its intervals, if requested. This comes after everything that depends on recorded names.
fn redact(
    recording: &mut Opened,
    options: &mut ReportOptions,
    shown: &mut Intervals,
    plan: &ReportPlan,
) -> anyhow::Result<()> {
    if let Some(asked) = plan.function.as_ref().filter(|_| redacted::is_asked()) {
        options.function = choose_function(recording, &recording.report(options), asked)?;
    }
    redacted::with(|redactor| {
        redactor.collect_intervals(shown);
        redactor.intervals(shown);
    });
    recording.redact(options)
}

/// Reads the inputs. If a recording is too large to keep each sample, the overview has no timeline.
fn open(inputs: &Inputs<'_>, plan: &ReportPlan, options: &ReportOptions) -> anyhow::Result<Opened> {
    let open = |detail| Opened::open(inputs, &plan.files.exports, &plan.recording, options, detail, plan.is_inverted);
    let is_piped = || plan.files.exports.iter().any(|file| file.as_os_str() == "-");
    match open(plan.detail) {
        Err(error) if plan.needs_times.is_none() && plan.detail == SampleDetail::Each && is_over_budget(&error) => {
            if is_piped() {
                note("--view full sums samples while reading, and needs less memory than the overview");
                return Err(error);
            }
            note("too large to keep each sample in memory: times are left out unless --memory allows more");
            open(SampleDetail::Summed)
        }
        result => result,
    }
}

/// True if an input exceeded the memory limit.
fn is_over_budget(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<traceparse::Error>());
    causes.any(|error| matches!(error.kind, ErrorKind::Memory(_)))
}

/// Checks that the recording contains what the plan requires.
fn check(report: &Report<'_>, plan: &ReportPlan) -> Result<(), Failure> {
    let other = report.series.iter().map(|series| series.unit).find(|&unit| unit != Unit::Nanoseconds);
    if let (Some(WeightLimit::Time(_)), Some(unit)) = (plan.min_weight, other) {
        return Err(Failure::Usage(format!(
            "--min-weight is a time, but the weights are in {unit}; pass a number of {unit}"
        )));
    }
    check_times(report, plan.needs_times.as_deref())?;
    check_cores(report, plan.needs_cores)?;
    check_sample_counts(report)?;
    Ok(check_counted(report, &plan.recording)?)
}

fn write(
    report: &Report<'_>,
    markers: &Markers<'_>,
    shown: &Intervals,
    plan: &ReportPlan,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = command_words();
    let context = OverviewContext { intervals: Some(shown), command: &command };
    let options = WorkbenchOptions { intervals: Some(shown), ..WorkbenchOptions::default() };
    let format = match plan.output.format {
        Format::Firefox => output::Format::Firefox(markers),
        _ => {
            let overview = plan.is_overview().then_some(context);
            plan.output.of_trees(overview, plan.has_min_percent, |size| options.fitting(report, size))?
        }
    };
    output::write(report, &format, out)
}

/// Prints notes about rows hidden because of their weight or position, for formats that do not report them.
fn note_hidden(report: &Report<'_>) {
    // The second table of a view only appears in text and JSON.
    let second = report.options.view.second_listing_kind().map(|kind| kind.name);
    let hidden = report.hidden_rows().into_iter().filter(|hidden| Some(hidden.table) != second);
    for HiddenRows { table, series, limit, total } in hidden {
        let unit = report.series[series].unit;
        let [least, weight] = [report.options.pruning.min_weight, total.weight].map(|weight| Weight::new(weight, unit));
        let rows = if total.rows == 1 { "row" } else { "rows" };
        let limit = match limit {
            HidingLimit::MinWeight => format!("below {least}"),
            HidingLimit::Top => format!("after the first {}", report.options.top.unwrap_or_default()),
        };
        note(&format!("{} {rows} of {table} {limit} not written, {weight} together", total.rows));
    }
}
