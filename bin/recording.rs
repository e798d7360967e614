//! Opens recordings: reads their files, symbolicates them and applies operations, so that reports can be made from them.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use traceparse::Analysis;
use traceparse::calltree::{Metric, OperationSummary};
use traceparse::memory::Reservation;
use traceparse::profile::Profile;
use traceparse::recording::{Intervals, Options, Recording, SampleDetail, Table, TableKind};
use traceparse::report::{Amount, Report, ReportOptions, SeparateBy, View};
use traceparse::symbolicate::ImageSpec;
use traceparse::tables::ColumnKind;
use traceparse::units::{Weight, several};

use crate::arguments::{FileArgs, RecordingArgs, SymbolArgs};
use crate::counters::weigh_by_counter;
use crate::inputs::Inputs;
use crate::matched::note_names;
use crate::resource_limits;
use crate::symbols::name_frames;
use crate::{note, redacted, warning};

/// A recording after symbolication and operations.
pub(crate) struct Opened {
    analysis: Analysis,
    /// The memory reserved for the trees made from the recording.
    _trees: Reservation,
}

impl Opened {
    /// Reads the files and applies the arguments. The effects of operations are computed for the samples that `options` selects.
    pub(crate) fn open(
        inputs: &Inputs<'_>,
        files: &[PathBuf],
        args: &RecordingArgs,
        options: &ReportOptions,
        samples: SampleDetail,
        is_inverted: bool,
    ) -> Result<Self> {
        let RecordingArgs { selection, reading, images, .. } = args;
        let symbols = (&reading.symbols, &images.image[..]);
        let mut analysis = read_named(inputs, files, &reading.files, &args.options(samples), symbols)?;
        redacted::with(|redactor| redactor.collect(analysis.recording()));
        note_names(&analysis.recording().profile, selection);
        weigh_by_counter(&mut analysis, &selection.metric)?;
        let filters = selection.binary_filters(&analysis.recording().profile);
        let filter_count = filters.len();
        let operate = |profile: &Profile| [filters, reading.operations.operations(profile, is_inverted)].concat();
        let summaries = analysis.operate(options, operate)?;
        // A function that matches nothing is most likely misspelled. Missing binaries were reported above.
        for summary in summaries.iter().skip(filter_count).filter(|summary| summary.is_without_function) {
            warning(&format!("{}: matches no function of the recording", summary.text));
        }
        let profile = &analysis.recording().profile;
        let trees = profile.budget().reserve(resource_limits::of_trees(profile.stack_ids().len()))?;
        Ok(Self { analysis, _trees: trees })
    }

    /// The recording after all operations so far.
    pub(crate) fn recording(&self) -> &Recording {
        self.analysis.recording()
    }

    /// Redacts names, if requested. Names in `options` are replaced in the same way, so they still match.
    pub(crate) fn redact(&mut self, options: &mut ReportOptions) -> Result<()> {
        redacted::with(|redactor| self.analysis.redact(redactor, options)).transpose()?;
        Ok(())
    }

    /// Labels samples with the intervals they are in, and returns the number of labelled samples.
    pub(crate) fn label_by(&mut self, separate_by: SeparateBy, intervals: &Intervals) -> Result<usize> {
        Ok(self.analysis.label_by(separate_by, intervals)?)
    }

    /// Makes a report about the recording.
    pub(crate) fn report(&self, options: &ReportOptions) -> Report<'_> {
        self.analysis.report(options)
    }
}

/// Reads the files and symbolicates their frames.
pub(crate) fn read_named(
    inputs: &Inputs<'_>,
    files: &[PathBuf],
    args: &FileArgs,
    options: &Options,
    symbols: (&SymbolArgs, &[ImageSpec]),
) -> Result<Analysis> {
    let export = inputs.read_all(files, options)?;
    redacted::with(|redactor| redactor.collect(&export));
    warn(&export);
    check_usable(&export, args, options, files.iter().all(|file| inputs.is_bundle(file)))?;
    let mut analysis = Analysis::new(export);
    inputs.unless_changed(name_frames(&mut analysis, inputs, files, symbols))?;
    Ok(analysis)
}

/// Fails if `option` needs sample times and a table does not record them.
pub(crate) fn check_times(report: &Report<'_>, option: Option<&str>) -> Result<()> {
    let (Some(option), Some(table)) = (option, report.table_without_times()) else { return Ok(()) };
    bail!(
        "{table} reports do not record when samples were taken, which {option} needs; trees, functions, binaries and comparisons work without"
    )
}

/// Fails if `option` needs cores and a table's format never records them.
pub(crate) fn check_cores(report: &Report<'_>, option: Option<&str>) -> Result<()> {
    /// The tables whose format does not record cores.
    const WITHOUT_CORES: [&str; 1] = ["cpu-samples"];
    let profile = &report.recording.profile;
    let mut schemas = report.series.iter().map(|series| profile.string(profile.series(series.series).schema));
    let (Some(option), Some(table)) = (option, schemas.find(|schema| WITHOUT_CORES.contains(schema))) else {
        return Ok(());
    };
    bail!("profiles with the table {table} do not record cores, which {option} needs; --view threads works without")
}

/// Fails if sample counts are requested and a table does not record them.
pub(crate) fn check_sample_counts(report: &Report<'_>) -> Result<()> {
    let (Metric::Samples, Some(table)) = (report.options.metric, report.table_without_sample_counts()) else {
        return Ok(());
    };
    bail!("{table} does not record sample counts, which --metric samples needs; use --metric weight")
}

/// Fails if a file is passed twice, since its samples would be counted twice.
pub(crate) fn check_distinct(files: &[PathBuf]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for file in files {
        if !seen.insert(std::fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
            return Err(format!("{} was passed twice; its contents would be counted twice", file.display()));
        }
    }
    Ok(())
}

/// Prints what operations removed, for formats that do not include it.
pub(crate) fn note_removed(report: &Report<'_>) {
    for operation in &report.operations {
        for series in &report.series {
            let change = operation.change(series.series);
            if change.removed_samples > 0 {
                let removed = Weight::new(change.removed_weight, series.unit);
                note(&format!(
                    "removed by {}: {removed} in {}",
                    operation.text,
                    several(change.removed_samples, "sample")
                ));
            }
        }
    }
    for Amount { weight, samples } in report.series.iter().map(|series| series.removed_other_states) {
        if report.options.view.has_all_states() && samples > 0 {
            note(&format!("removed of states that are not counted: {weight} in {}", several(samples, "sample")));
        }
    }
}

/// Prints the warnings collected while reading.
pub(crate) fn warn(export: &Recording) {
    export.warnings().iter().for_each(|message| warning(message));
}

/// Fails if the inputs contain no CPU table or no readable row; with `--strict`, if anything could not be read.
fn check_usable(export: &Recording, args: &FileArgs, options: &Options, are_recordings: bool) -> Result<()> {
    let cpu_tables = export.tables().filter(|table| table.kind == TableKind::Cpu);
    let (tables, rows) = cpu_tables.fold((0, 0), |(tables, rows), table| (tables + 1, rows + table.rows));
    let rejected = export.rejected();
    if let Some(choice) = options.table.as_ref().filter(|_| tables == 0) {
        bail!(export.no_table(&choice.schema));
    }
    if let Some(reason) = export.no_cpu_table(are_recordings) {
        bail!("{reason}{}", other_commands(export));
    }
    if let Some(run) = export.unread_runs().next().filter(|_| args.strict) {
        bail!("run {} is damaged and was not read (--strict makes this an error)", run.number);
    }
    if rejected > 0 && args.strict {
        bail!("{rejected} of {rows} rows could not be read (--strict makes this an error)");
    }
    let unread: u64 = export.tocs().flat_map(|toc| &toc.runs).map(|run| run.unread_quantities).sum();
    if unread > 0 && args.strict {
        bail!("{} could not be read (--strict makes this an error)", several(unread, "value"));
    }
    export.no_readable_row().map_or(Ok(()), |reason| bail!(reason))
}

/// Suggests commands for the other tables of an export that has no CPU samples.
fn other_commands(export: &Recording) -> String {
    let tables: Vec<&Table> = export.tables().filter(|table| table.rows > 0).collect();
    let named = |schema: &str| tables.iter().any(|table| table.schema.as_deref() == Some(schema));
    let has = |table: &Table, mnemonic: &str| table.columns.iter().any(|column| column.mnemonic == mnemonic);
    let are_intervals =
        tables.iter().any(|table| has(table, "start") && has(table, "duration")) || named("os-signpost");
    let is_of_stacks = |table: &&&Table| table.columns.iter().any(|column| column.kind == ColumnKind::Stack);
    let schema = |table: &Table| table.schema.clone();
    let rows = tables.iter().find_map(|table| schema(table)).map(|schema| format!("table FILE {schema}"));
    let trees = tables.iter().find(is_of_stacks).and_then(|table| schema(table));
    let commands = [
        are_intervals.then(|| "intervals FILE".to_owned()),
        ["potential-hangs", "hang-risks", "hitches"].into_iter().any(named).then(|| "hangs FILE".to_owned()),
        rows,
        trees.map(|schema| format!("FILE --table {schema}")),
    ];
    let commands: Vec<String> = commands.into_iter().flatten().map(|rest| format!("`traceparse {rest}`")).collect();
    if commands.is_empty() { String::new() } else { format!("; or see what is here: {}", commands.join(", ")) }
}

/// Fails if the filters match nothing, which is most likely a mistake.
pub(crate) fn check_counted(report: &Report<'_>, args: &RecordingArgs) -> Result<()> {
    let profile = &report.recording.profile;
    let counted: u64 = report.series.iter().map(|series| series.counted.samples).sum();
    // A sample that operations removed, and that the filters would omit, is not counted by either.
    let has_rows = report.recording.tables().any(|table| table.kind == TableKind::Cpu && table.rows > 0);
    if profile.sums_or_samples().next().is_none() && (report.operations.is_empty() || !has_rows) {
        if !report.recording.has_percentiles() {
            note("the CPU tables have no rows");
        }
        return Ok(());
    }
    let shown = match report.options.view {
        View::Samples | View::Timeline => report.samples().count() as u64,
        View::States => {
            let others = report.series.iter().flat_map(|series| &series.other_states);
            counted + others.map(|(_, amount)| amount.samples).sum::<u64>()
        }
        _ => counted,
    };
    if shown > 0 {
        return Ok(());
    }
    let removes =
        |operation: &&OperationSummary| operation.changes.iter().any(|(_, change)| change.removed_samples > 0);
    if let Some(last) = report.operations.iter().rfind(removes) {
        bail!("no samples are left: {} removed the last ones", last.text);
    }
    let filters = args.filters();
    if filters.is_empty() {
        return Ok(());
    }
    Err(anyhow!("no sample passes {}; the input has {}", filters.join(" "), profile.selectable()))
}
