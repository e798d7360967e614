//! What the command does.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::CommandFactory;
use traceparse::export::{Export, Options, TableKind};
use traceparse::output::{csv, folded, json, text};
use traceparse::profile::{Profile, StringId};
use traceparse::report::{Report, View, report};
use traceparse::units::Nanos;

use crate::cli::{Cli, Colour, Command, Format, ReportArgs, TocArgs, TocFormat, job_count};
use crate::fleet;
use crate::inputs::read_all;
use crate::sink::{style, write_to};
use crate::sources::read_sources;
use crate::symbols::{list_uuids, name_addresses, name_frames};
use crate::{EXIT_DONE, Failure, warning};

/// Does what was asked, and says with which exit code the process ends.
pub(crate) fn run(cli: Cli) -> Result<u8, Failure> {
    match cli.color {
        Colour::Auto => {}
        Colour::Always => anstream::ColorChoice::Always.write_global(),
        Colour::Never => anstream::ColorChoice::Never.write_global(),
    }
    match cli.command {
        None => show_report(&cli.report, cli.color)?,
        Some(Command::Toc(args)) => show_contents(&args, cli.color)?,
        Some(Command::Symbolicate(args)) => name_addresses(&args)?,
        Some(Command::Uuid(args)) => list_uuids(&args)?,
        Some(Command::Fleet(command)) => return fleet::run(&command, cli.color),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "traceparse", &mut script);
            write_to(None, |out| out.write_all(&script))?;
        }
    }
    Ok(EXIT_DONE)
}

fn show_contents(args: &TocArgs, colour: Colour) -> Result<(), Failure> {
    check_distinct(&args.files).map_err(Failure::Usage)?;
    let options = Options { allow_truncated: args.allow_truncated, jobs: job_count(None), ..Options::default() };
    let export = read_all(&args.files, &options)?;
    warn(&export);
    let path = args.output.as_deref();
    write_to(path, |out| match args.format {
        TocFormat::Text => text::write_contents(&export.documents, &style(path, colour), out),
        TocFormat::Json => json::write_contents(&export.documents, out),
    })?;
    Ok(())
}

/// A file that is named twice would count twice.
fn check_distinct(files: &[PathBuf]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for file in files {
        if !seen.insert(std::fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
            return Err(format!("{} is named twice, and would count twice", file.display()));
        }
    }
    Ok(())
}

fn show_report(args: &ReportArgs, colour: Colour) -> Result<(), Failure> {
    args.check().map_err(Failure::Usage)?;
    check_distinct(&args.files).map_err(Failure::Usage)?;
    let mut export = read_all(&args.files, &args.read_options())?;
    warn(&export);
    check_usable(&export, args)?;
    let symbolication = name_frames(&mut export, args)?;
    let mut report = report(&export, &args.report_options());
    report.symbolication = symbolication;
    check_counted(&report, args)?;
    read_sources(&mut report, &args.source)?;
    if args.format == Format::Folded {
        folded::check(&report).map_err(|mixed| Failure::Input(mixed.into()))?;
    }
    let path = args.output.as_deref();
    write_to(path, |out| match args.format {
        Format::Text => text::write(&report, &style(path, colour), out),
        Format::Json => json::write(&report, out),
        Format::Csv => csv::write(&report, out),
        Format::Folded => folded::write(&report, out),
    })?;
    Ok(())
}

/// Prints what was noticed while reading.
fn warn(export: &Export) {
    for diagnostic in &export.diagnostics {
        warning(&diagnostic.to_string());
    }
    for document in export.documents.iter().filter_map(|document| Some((document, document.cut_at?))) {
        let (document, byte) = document;
        warning(&format!("{}: the file is cut at byte {byte}; only complete rows count", document.input));
    }
}

/// Whether the input holds samples, and all of them where that was asked.
fn check_usable(export: &Export, args: &ReportArgs) -> Result<()> {
    let cpu_tables = export.tables().filter(|table| table.kind == TableKind::Cpu);
    let (tables, rows) = cpu_tables.fold((0, 0), |(tables, rows), table| (tables + 1, rows + table.rows));
    let rejected = export.rejected();
    if tables == 0 {
        bail!("{}", no_cpu_table(export));
    }
    if rejected > 0 && args.strict {
        bail!("{rejected} of {rows} rows could not be read, and --strict was given");
    }
    if rows > 0 && rejected == rows {
        bail!("none of the {rows} rows of CPU tables could be read; the warnings above say why");
    }
    Ok(())
}

fn no_cpu_table(export: &Export) -> String {
    let schemas = ["time-profile", "cpu-profile", "counters-profile", "time-sample"];
    let how = |schema: &str| {
        format!("xcrun xctrace export --input X.trace --xpath '/trace-toc/run/data/table[@schema=\"{schema}\"]'")
    };
    let recorded = export.tocs().flat_map(|toc| &toc.runs).flat_map(|run| &run.tables);
    let recorded: Vec<&str> = recorded.map(|table| table.schema.as_str()).collect();
    let tables: Vec<String> = export
        .tables()
        .map(|table| format!("{} ({} rows)", table.schema.as_deref().unwrap_or("details of a track"), table.rows))
        .collect();
    if !tables.is_empty() {
        return format!("no CPU table here, only: {}. Export one with: {}", tables.join(", "), how(schemas[0]));
    }
    match schemas.iter().find(|schema| recorded.contains(schema)) {
        Some(schema) => {
            format!("this is a table of contents (traceparse toc shows it); export the samples with: {}", how(schema))
        }
        None if !recorded.is_empty() => {
            "this is a table of contents (traceparse toc shows it), of a recording without CPU tables; record with the \
             Time Profiler or CPU Profiler template"
                .to_owned()
        }
        None => format!("no CPU table here; export one with: {}", how(schemas[0])),
    }
}

/// Whether any sample counts; a filter that nothing passes is a mistake worth a word.
fn check_counted(report: &Report<'_>, args: &ReportArgs) -> Result<()> {
    let profile = &report.export.profile;
    if profile.sums_or_samples().next().is_none() {
        let label = format!("{0}note{0:#}", anstyle::AnsiColor::Cyan.on_default().bold());
        anstream::eprintln!("{label}: the CPU tables have no rows");
        return Ok(());
    }
    let counted: u64 = report.series.iter().map(|series| series.counted.samples).sum();
    let shown = match args.view() {
        View::Samples | View::Timeline => report.samples().count() as u64,
        View::States => {
            let others = report.series.iter().flat_map(|series| &series.other_states);
            counted + others.map(|(_, amount)| amount.samples).sum::<u64>()
        }
        _ => counted,
    };
    let is_filtered = !(args.run.is_empty()
        && args.schema.is_empty()
        && args.process.is_empty()
        && args.thread.is_empty()
        && args.time.is_none()
        && args.state.is_empty());
    if shown > 0 || !is_filtered {
        return Ok(());
    }
    Err(anyhow!("no sample passes the filters; the input has {}", what_there_is(profile)))
}

/// The names that filters could ask for.
fn what_there_is(profile: &Profile) -> String {
    const NAMES: usize = 8;
    let list = |mut names: Vec<String>| {
        names.sort();
        names.dedup();
        let more = names.len().saturating_sub(NAMES);
        names.truncate(NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        names.join(", ") + &more
    };
    let runs = profile.run_ids().map(|id| profile.run(id).number.to_string()).collect();
    let tables = profile.series_ids().map(|id| profile.string(profile.series(id).schema).to_owned()).collect();
    let processes = profile.process_ids().map(|id| profile.string(profile.process(id).name).to_owned()).collect();
    let threads = profile.thread_ids().map(|id| profile.string(profile.thread(id).name).to_owned()).collect();
    let mut states: Vec<StringId> = profile.sums_or_samples().filter_map(|sum| sum.state).collect();
    states.sort_unstable();
    states.dedup();
    let states = states.into_iter().map(|state| profile.string(state).to_owned()).collect();
    let (first, last) =
        (profile.sums_or_samples().map(|sum| sum.first_time), profile.sums_or_samples().map(|sum| sum.last_time));
    let seconds = |time: Option<Nanos>| time.map_or(0.0, |time| time.as_nanos() as f64 / 1e9);
    format!(
        "runs: {}; tables: {}; processes: {}; threads: {}; states: {}; times: {:.3}s to {:.3}s",
        list(runs),
        list(tables),
        list(processes),
        list(threads),
        list(states),
        seconds(first.min()),
        seconds(last.max())
    )
}
