//! The work of the command.

use std::io::{self, Write};

use clap::CommandFactory;
use traceparse::ErrorKind;
use traceparse::output::{self, Markers, OverviewContext, Style, WorkbenchOptions};
use traceparse::recording::{Intervals, SampleDetail};
use traceparse::report::{HiddenRows, HidingLimit, Report, ReportOptions, View};
use traceparse::units::{Unit, Weight};

use crate::cli::{Cli, Command};
use crate::demangle::demangle;
use crate::formats::Format;
use crate::function::choose_function;
use crate::guard::{will_search, will_write};
use crate::inputs::{Inputs, Mounted};
use crate::intervals::{AskedIntervals, IntervalFiles, asked_intervals, label_samples, shown_intervals};
use crate::manual::show_manual;
use crate::next::command_words;
use crate::recording::{
    Opened, check_cores, check_counted, check_distinct, check_sample_counts, check_times, note_removed,
};
use crate::redact::tell;
use crate::report_args::ReportArgs;
use crate::sink::{Colour, is_terminal, style, write_inert, write_to};
use crate::sources::read_sources;
use crate::symbolicate::name_addresses;
use crate::unchanged::WatchedFiles;
use crate::uuid::list_uuids;
use crate::weight_limit::WeightLimit;
use crate::{
    EXIT_DONE, Failure, contents, diff, fleet, hangs, mistakes, note, print_few_warnings, redacted, resource_limits,
    table,
};

/// Runs the command, and returns its exit code.
pub(crate) fn run(cli: Cli) -> Result<u8, Failure> {
    match cli.color {
        Colour::Auto => {}
        Colour::Always => anstream::ColorChoice::Always.write_global(),
        Colour::Never => anstream::ColorChoice::Never.write_global(),
    }
    resource_limits::set(&cli.bounds);
    match cli.command {
        None => show_report(&cli.report, cli.color)?,
        Some(Command::Diff(args)) => return diff::show(&args, cli.color),
        Some(Command::Compare(mut args)) => return fleet::compare(&mut args, cli.color),
        Some(Command::Trend(mut args)) => return fleet::trend(&mut args, cli.color),
        Some(Command::Hangs(args)) => hangs::show_hangs(&args, cli.color)?,
        Some(Command::Intervals(args)) => return hangs::show_intervals(&args, cli.color),
        Some(Command::Toc(args)) => contents::show_contents(&args, cli.color)?,
        Some(Command::Tables(args)) => contents::list_tables(&args, cli.color)?,
        Some(Command::Table(args)) => table::show_rows(&args, cli.color)?,
        Some(Command::Symbolicate(args)) => name_addresses(&args)?,
        Some(Command::Demangle(args)) => demangle(&args)?,
        Some(Command::Uuid(args)) => list_uuids(&args)?,
        Some(Command::Fleet(mut command)) => return fleet::run(&mut command, cli.color),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "traceparse", &mut script);
            write_to(None, |out| out.write_all(&script))?;
        }
        Some(Command::Man { command }) => show_manual(Cli::command(), &command)?,
    }
    Ok(EXIT_DONE)
}

fn show_report(args: &ReportArgs, colour: Colour) -> Result<(), Failure> {
    let selection = &args.recording.selection;
    args.recording.redact.begin(args.files.iter().chain(&args.intervals), &selection.process)?;
    mistakes::check_files(&args.files, Cli::command).map_err(Failure::Usage)?;
    args.check().map_err(Failure::Usage)?;
    check_distinct(&args.files).map_err(Failure::Usage)?;
    if args.format().is_binary() && is_terminal(args.output.as_deref()) {
        return Err(Failure::Usage(format!("--format {} is binary; write it to a file with -o", args.format().name())));
    }
    check_distinct(&args.intervals).map_err(Failure::Usage)?;
    let mut options = args.report_options();
    if options.view == View::Overview && args.format() == Format::Text {
        print_few_warnings();
    }
    will_write(args.output.as_deref());
    args.source.iter().try_for_each(|path| will_search(path))?;
    let watched = WatchedFiles::default();
    let mounted = Mounted::new(&watched, args.files.iter().chain(&args.intervals))?;
    let inputs = &Inputs::open(&mounted, &args.recording.input.options(args.detail()))?;
    let are_all = args.format() == Format::Html;
    let files = IntervalFiles { exports: &args.files, named: &args.intervals, option: "--intervals", are_all };
    let mut asked = asked_intervals(inputs, &files, &args.recording.selection, &args.recording.input)?;
    options.selection.intervals = asked.as_ref().map(|asked| asked.filter.clone());
    let mut recording = open(inputs, args, &options)?;
    let before = redact(&mut recording, &mut options, args, inputs, &files, asked.as_mut())?;
    label_samples(&mut recording, inputs, &files, &args.recording.input, options.separate_by)?;
    let mut report = recording.report(&options);
    check_limits(&report, args).map_err(Failure::Usage)?;
    check_times(&report, args.needs_times().as_deref())?;
    check_cores(&report, args.needs_cores())?;
    check_sample_counts(&report)?;
    check_counted(&report, &args.recording.selection)?;
    if let Some(asked) = args.function.as_ref().filter(|_| !redacted::is_asked()) {
        report.options.function = choose_function(&recording, &report, asked)?;
    }
    if redacted::is_asked() && !args.source.is_empty() {
        note("--redact leaves out source code");
    } else {
        read_sources(&mut report, &args.source)?;
    }
    if args.format().is_one_measurement() {
        report.check_one_measurement().map_err(|mixed| Failure::Input(mixed.into()))?;
    }
    if !matches!(args.format(), Format::Text | Format::Json) {
        note_removed(&report);
        note_hidden(&report);
    }
    let has_markers = args.format().has_markers();
    let has_hangs = options.view == View::Overview && args.format() == Format::Text;
    let shown = match asked {
        _ if before.is_some() => before.unwrap_or_default(),
        _ if !args.format().has_intervals() && !has_hangs => Intervals::default(),
        Some(asked) => asked.all,
        None => shown_intervals(inputs, &files, &args.recording.input, report.recording)?,
    };
    // Markers look at all samples.
    let markers = if has_markers { Markers::new(&report, &shown) } else { Markers::default() };
    if markers.left_out() > 0 {
        note(&format!("{} signposts and hangs of threads without samples are not written", markers.left_out()));
    }
    if args.has_default_table() {
        let format = args.format().name();
        note(&format!("{format} output has the functions; --view selects another table, such as --view threads"));
    }
    let path = args.output.as_deref();
    write_inert(path, args.format().syntax(), |out| write_report(&report, &markers, &shown, args, colour, out))?;
    tell();
    Ok(())
}

/// Replaces names in the recording and in its intervals, which are returned, if requested. Everything that depends on recorded names is
/// done before.
fn redact(
    recording: &mut Opened,
    options: &mut ReportOptions,
    args: &ReportArgs,
    inputs: &Inputs<'_>,
    files: &IntervalFiles<'_>,
    asked: Option<&mut AskedIntervals>,
) -> Result<Option<Intervals>, Failure> {
    if !redacted::is_asked() {
        return Ok(None);
    }
    if let Some(asked) = &args.function {
        options.function = choose_function(recording, &recording.report(options), asked)?;
    }
    let shows = args.format().has_intervals() || (options.view == View::Overview && args.format() == Format::Text);
    let mut shown = match asked {
        _ if !shows => Intervals::default(),
        Some(asked) => std::mem::take(&mut asked.all),
        None => shown_intervals(inputs, files, &args.recording.input, recording.recording())?,
    };
    redacted::with(|redactor| {
        redactor.collect_intervals(&shown);
        redactor.intervals(&mut shown);
    });
    recording.redact(options)?;
    Ok(Some(shown))
}

/// Reads the inputs. An overview of what is too large to keep sample by sample has no line of time.
fn open(inputs: &Inputs<'_>, args: &ReportArgs, options: &ReportOptions) -> anyhow::Result<Opened> {
    let open = |detail| Opened::open(inputs, &args.files, &args.recording, options, detail, args.is_inverted());
    let is_piped = || args.files.iter().any(|file| file.as_os_str() == "-");
    match open(args.detail()) {
        Err(error) if args.needs_times().is_none() && args.detail() == SampleDetail::Each && is_over_budget(&error) => {
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

/// True if an input takes more memory than it may.
fn is_over_budget(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<traceparse::Error>());
    causes.any(|error| matches!(error.kind, ErrorKind::Memory(_)))
}

fn write_report(
    report: &Report<'_>,
    markers: &Markers<'_>,
    shown: &Intervals,
    args: &ReportArgs,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    // The command names inputs.
    let command = if redacted::is_asked() { Vec::new() } else { command_words(std::env::args_os()) };
    let style = Style { has_full_names: args.full_names, ..style(args.output.as_deref(), colour) };
    let format = match args.format() {
        Format::Text if report.options.view == View::Overview => {
            let context = OverviewContext { intervals: Some(shown), command: &command };
            output::Format::Overview(style, context)
        }
        Format::Text => output::Format::Text(style),
        Format::Json => output::Format::Json,
        Format::D3 => output::Format::D3,
        Format::ChromeTrace => output::Format::ChromeTrace,
        Format::Ndjson => output::Format::JsonLines,
        Format::Csv => output::Format::Csv(args.csv.cells()),
        Format::Folded => output::Format::Folded,
        Format::Svg => output::Format::FlameGraph(args.flame_graph.options(args.min_percent.is_some())),
        Format::Html => {
            let options = WorkbenchOptions { intervals: Some(shown), ..WorkbenchOptions::default() };
            output::Format::Workbench(args.page.fit(|size| options.fitting(report, size))?)
        }
        Format::Firefox => output::Format::Firefox(markers),
        Format::Speedscope => output::Format::Speedscope,
        Format::Pprof => output::Format::Pprof,
    };
    output::write(report, &format, out)
}

/// Notes the rows that are not written because of their weight or position, for formats that do not include that.
fn note_hidden(report: &Report<'_>) {
    // The second table of a view is in text and JSON only.
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

/// Checks that the unit of --min-weight is the unit of the tables.
fn check_limits(report: &Report<'_>, args: &ReportArgs) -> Result<(), String> {
    let other = report.series.iter().map(|series| series.unit).find(|&unit| unit != Unit::Nanoseconds);
    match (args.min_weight, other) {
        (Some(WeightLimit::Time(_)), Some(unit)) => {
            Err(format!("--min-weight is a time, but the weights are in {unit}; pass a number of {unit}"))
        }
        _ => Ok(()),
    }
}
