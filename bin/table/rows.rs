//! `traceparse table`: the rows of a table.
//!
//! Rows are read twice: first the columns, and the stacks if all rows are wanted; then the rows. Rows that are sorted, and a limited number
//! of rows, are kept in memory; others are written as they are read.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use traceparse::Analysis;
use traceparse::output::{RowFormat, RowsOutput};
use traceparse::profile::{Id, Stack};
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::tables::{
    FieldValue, FoundTables, OutputColumn, RowPlan, RowReader, StackNames, TableLook, TableQuery,
};
use traceparse::units::{counted, first_of};

use super::TableArgs;
use crate::arguments::job_count;
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted, read_whole_stdin};
use crate::recording::{check_distinct, warn};
use crate::sink::{Colour, style, write_inert, write_to};
use crate::symbols::name_frames;
use crate::unchanged::WatchedFiles;
use crate::{Failure, note, resource_limits, warning};

/// A row that is kept in memory.
type Row = Vec<FieldValue<'static>>;

/// The inputs, which are read twice.
struct Reading<'r> {
    inputs: &'r Inputs<'r>,
    args: &'r TableArgs,
    options: Options,
    piped: Option<Vec<u8>>,
}

/// Writes the rows of a table.
pub(crate) fn show_rows(args: &TableArgs, colour: Colour) -> Result<(), Failure> {
    args.check().map_err(Failure::Usage)?;
    check_distinct(&args.files).map_err(Failure::Usage)?;
    if let Some(pipe) = args.files.iter().find(|path| is_pipe(path)) {
        let name = pipe.display();
        return Err(Failure::Usage(format!("{name} cannot be read twice; pass it as standard input: - < {name}")));
    }
    let memory = resource_limits::memory();
    let (allow_truncated, samples, jobs) = (args.allow_truncated, SampleDetail::Summed, job_count(None));
    let options = Options { allow_truncated, samples, jobs, memory: memory.clone(), ..Options::default() };
    will_write(args.output.as_deref());
    args.frames_path().iter().for_each(|path| will_write(Some(path)));
    let watched = WatchedFiles::default();
    let mounted = Mounted::new(&watched, &args.files)?;
    let inputs = &Inputs::open(&mounted, &options)?;
    let is_piped = args.files.iter().any(|path| path.as_os_str() == "-");
    let piped = is_piped.then(|| read_whole_stdin(&memory)).transpose()?;
    let (piped, _held) = piped.map_or((None, None), |(bytes, held)| (Some(bytes), Some(held)));
    let reading = Reading { inputs, args, options, piped };
    let query = args.query();
    let is_streamed = args.row_format().is_some() && query.top.is_none() && query.sort.is_none();
    let (found, recording) = reading.look(&query, is_streamed)?;
    let files: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
    found
        .check(&query)
        .map_err(|reason| match files.iter().any(|file| reason.starts_with(file)) {
            true => anyhow!("{reason}"),
            false => anyhow!("{}: {reason}", first_of(&files)),
        })?
        .iter()
        .for_each(|note| warning(note));
    let plan = query.plan(&found.tables).map_err(Failure::Usage)?;
    match args.row_format() {
        Some(format) if is_streamed => {
            let mut names = reading.named(recording, &found.stacks)?;
            reading.write_each(&plan, format, &mut names)?;
        }
        format => {
            let (rows, total, mut names) = reading.keep(&plan, format.is_none())?;
            match format {
                Some(format) => reading.write_kept(&plan, format, rows, &mut names)?,
                None => write_text(&plan, &found, rows, total, &mut names, args, colour)?,
            }
        }
    }
    Ok(())
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

impl Reading<'_> {
    /// Finds the tables of a query, and the stacks of their rows if `finds_stacks`.
    fn look(&self, query: &TableQuery, finds_stacks: bool) -> Result<(FoundTables, Recording)> {
        let mut look = TableLook::new(query, finds_stacks);
        let begin = |look: &mut TableLook<'_>, file: &str| look.start_file(file);
        let piped = self.piped.as_deref();
        let recording = self.inputs.read_tables(&self.args.files, &self.options, piped, &mut look, begin)?;
        let found = look.finish();
        found.diagnostics.iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
        warn(&recording);
        Ok((found, recording))
    }

    /// Reads the rows.
    fn read(&self, reader: &mut RowReader<'_>) -> Result<Recording> {
        let piped = self.piped.as_deref();
        let read = self.inputs.read_tables(&self.args.files, &self.options, piped, reader, |_, _| {});
        if let Some(failure) = reader.take_failure() {
            return Err(failure.into());
        }
        let recording = read?;
        reader.diagnostics().iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
        warn(&recording);
        for (table, rows, rejected) in reader.rejected() {
            let reasons: Vec<String> =
                rejected.iter().map(|(reason, count)| format!("{}: {reason}", counted(count))).collect();
            let (left_out, rows) = (counted(rejected.total()), counted(rows));
            let schema = &table.schema;
            warning(&format!(
                "{schema} of run {}: {left_out} of {rows} rows left out ({})",
                table.run,
                reasons.join("; ")
            ));
        }
        Ok(recording)
    }

    /// Names the frames of stacks.
    fn named(&self, recording: Recording, stacks: &[Id<Stack>]) -> Result<StackNames> {
        let profile = recording.profile.of_stacks(stacks)?;
        drop(recording);
        let mut analysis = Analysis::new(Recording::default().with_profile(profile));
        if !stacks.is_empty() {
            let named = name_frames(&mut analysis, self.inputs, &self.args.files, &self.args.symbols);
            self.inputs.unless_changed(named)?;
        }
        Ok(StackNames::new(stacks, analysis.into_recording().profile))
    }

    /// Reads the rows that are wanted, and how many there are in all, if that is wanted.
    fn keep(&self, plan: &RowPlan, counts: bool) -> Result<(Vec<Row>, u64, StackNames)> {
        let mut reader = RowReader::keeping(plan, &self.options.memory, counts);
        let recording = self.read(&mut reader)?;
        let (rows, stacks, total) = reader.finish();
        let names = self.named(recording, &stacks)?;
        Ok((rows, total, names))
    }

    /// Writes rows as they are read.
    fn write_each(&self, plan: &RowPlan, format: RowFormat, names: &mut StackNames) -> Result<()> {
        self.write(plan, format, names, |output| {
            let mut each = |row: Vec<FieldValue<'_>>| output.row(row);
            self.read(&mut RowReader::each(plan, &mut each)).map(drop)
        })
    }

    fn write_kept(&self, plan: &RowPlan, format: RowFormat, rows: Vec<Row>, names: &mut StackNames) -> Result<()> {
        self.write(plan, format, names, |output| Ok(rows.into_iter().try_for_each(|row| output.row(row))?))
    }

    /// Writes a table whose rows `write` passes on, and the frames of its stacks.
    fn write(
        &self,
        plan: &RowPlan,
        format: RowFormat,
        names: &mut StackNames,
        write: impl FnOnce(&mut RowsOutput<'_>) -> Result<()>,
    ) -> Result<()> {
        let args = self.args;
        let columns = plan.output_columns();
        let mut failure = None;
        let written = write_inert(args.output.as_deref(), args.syntax(), |out| {
            let mut output = RowsOutput::new(format, &args.name, &columns, names, out)?;
            match write(&mut output) {
                Ok(()) => output.finish(),
                Err(error) => {
                    failure = Some(error);
                    Err(io::ErrorKind::Other.into())
                }
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        written?;
        write_frames_of(args, format, &columns, names)
    }
}

/// Writes the frames of stacks next to the output.
fn write_frames_of(args: &TableArgs, format: RowFormat, columns: &[OutputColumn], names: &StackNames) -> Result<()> {
    if format.holds_frames() || !columns.iter().any(OutputColumn::has_stacks) {
        return Ok(());
    }
    match args.frames_path() {
        Some(path) => write_to(Some(&path), |out: &mut dyn Write| format.write_frames(names, out)),
        None => {
            note("the addresses and lines of stacks are written next to a file; pass -o to get them");
            Ok(())
        }
    }
}

/// Writes rows as text. The file and the run are shown if there are several.
fn write_text(
    plan: &RowPlan,
    found: &FoundTables,
    mut rows: Vec<Row>,
    total: u64,
    names: &mut StackNames,
    args: &TableArgs,
    colour: Colour,
) -> Result<()> {
    let mut columns = plan.output_columns();
    let origins = [
        found.tables.iter().any(|(file, _)| *file != found.tables[0].0),
        found.tables.iter().any(|(_, table)| table.run != found.tables[0].1.run),
    ];
    for (index, _) in origins.iter().enumerate().rev().filter(|(_, is_shown)| !**is_shown) {
        columns.remove(index);
        rows.iter_mut().for_each(|row| drop(row.remove(index)));
    }
    rows.iter_mut().for_each(|row| names.number_in(row, &columns));
    let path: Option<&Path> = args.output.as_deref();
    let style = style(path, colour);
    write_inert(path, None, |out| {
        RowsOutput::write_text((&columns, &rows), total, args.has_columns(), names, &style, out)
    })
}
