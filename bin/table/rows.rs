//! `traceparse table`: the rows of a table.
//!
//! Inputs are read twice: first for the columns and, if all rows are requested, for the stacks; then for the rows. Sorted rows, and a limited number
//! of rows, are kept in memory. Other rows are written as they are read.

use std::io::{self, Write};

use anyhow::{Result, anyhow};
use traceparse::Analysis;
use traceparse::output::{RowFormat, RowsOutput};
use traceparse::profile::{Id, Stack};
use traceparse::recording::Recording;
use traceparse::tables::{
    FieldValue, FoundTables, OutputColumn, RowPlan, RowReader, StackNames, TableLook, TableQuery,
};
use traceparse::units::{counted, first_of};

use super::arguments::{TableArgs, TablePlan};
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted, read_whole_stdin};
use crate::recording::warn;
use crate::sink::write_to;
use crate::symbols::name_frames;
use crate::unchanged::WatchedFiles;
use crate::{Failure, note, warning};

/// A row that is kept in memory.
type Row = Vec<FieldValue<'static>>;

/// The inputs, which are read twice.
struct Reading<'r> {
    inputs: &'r Inputs<'r>,
    plan: &'r TablePlan,
    piped: Option<Vec<u8>>,
}

pub(crate) fn show_rows(args: TableArgs) -> Result<(), Failure> {
    let plan = &TablePlan::new(args).map_err(Failure::Usage)?;
    plan.output.will_write();
    plan.frames_path.iter().for_each(|path| will_write(Some(path)));
    let watched = WatchedFiles::default();
    let mounted = Mounted::new(&watched, &plan.files)?;
    let inputs = &Inputs::open(&mounted, &plan.reading)?;
    let is_piped = plan.files.iter().any(|path| path.as_os_str() == "-");
    let piped = is_piped.then(|| read_whole_stdin(&plan.reading.memory)).transpose()?;
    let (piped, _held) = piped.map_or((None, None), |(bytes, held)| (Some(bytes), Some(held)));
    let reading = Reading { inputs, plan, piped };
    let query = &plan.query;
    let is_streamed = plan.row_format.is_some() && query.top.is_none() && query.sort.is_none();
    let (found, recording) = reading.look(query, is_streamed)?;
    let files: Vec<String> = plan.files.iter().map(|path| path.display().to_string()).collect();
    found
        .check(query)
        .map_err(|reason| match files.iter().any(|file| reason.starts_with(file)) {
            true => anyhow!("{reason}"),
            false => anyhow!("{}: {reason}", first_of(&files)),
        })?
        .iter()
        .for_each(|note| warning(note));
    let rows = query.plan(&found.tables).map_err(Failure::Usage)?;
    match plan.row_format {
        Some(format) if is_streamed => {
            let mut names = reading.named(recording, &found.stacks)?;
            reading.write_each(&rows, format, &mut names)?;
        }
        format => {
            let (kept, total, mut names) = reading.keep(&rows, format.is_none())?;
            match format {
                Some(format) => reading.write_kept(&rows, format, kept, &mut names)?,
                None => write_text(&rows, &found, kept, total, &mut names, plan)?,
            }
        }
    }
    Ok(())
}

impl Reading<'_> {
    /// Finds the tables of a query and, if `finds_stacks`, the stacks of their rows.
    fn look(&self, query: &TableQuery, finds_stacks: bool) -> Result<(FoundTables, Recording)> {
        let mut look = TableLook::new(query, finds_stacks);
        let begin = |look: &mut TableLook<'_>, file: &str| look.start_file(file);
        let piped = self.piped.as_deref();
        let recording = self.inputs.read_tables(&self.plan.files, &self.plan.reading, piped, &mut look, begin)?;
        let found = look.finish();
        found.diagnostics.iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
        warn(&recording);
        Ok((found, recording))
    }

    fn read(&self, reader: &mut RowReader<'_>) -> Result<Recording> {
        let piped = self.piped.as_deref();
        let read = self.inputs.read_tables(&self.plan.files, &self.plan.reading, piped, reader, |_, _| {});
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

    /// Symbolicates the frames of stacks.
    fn named(&self, recording: Recording, stacks: &[Id<Stack>]) -> Result<StackNames> {
        let profile = recording.profile.of_stacks(stacks)?;
        drop(recording);
        let mut analysis = Analysis::new(Recording::default().with_profile(profile));
        if !stacks.is_empty() {
            let symbols = (&self.plan.symbols, &self.plan.images.image[..]);
            let named = name_frames(&mut analysis, self.inputs, &self.plan.files, symbols);
            self.inputs.unless_changed(named)?;
        }
        Ok(StackNames::new(stacks, analysis.into_recording().profile))
    }

    /// Reads the requested rows and, if `counts`, the total number of rows.
    fn keep(&self, plan: &RowPlan, counts: bool) -> Result<(Vec<Row>, u64, StackNames)> {
        let mut reader = RowReader::keeping(plan, &self.plan.reading.memory, counts);
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

    /// Writes a table whose rows come from `write`, with the frames of its stacks.
    fn write(
        &self,
        plan: &RowPlan,
        format: RowFormat,
        names: &mut StackNames,
        write: impl FnOnce(&mut RowsOutput<'_>) -> Result<()>,
    ) -> Result<()> {
        let columns = plan.output_columns();
        let mut failure = None;
        let written = self.plan.output.write(|out| {
            let mut output = RowsOutput::new(format, &self.plan.query.schema, &columns, names, out)?;
            match write(&mut output) {
                Ok(()) => output.finish(),
                // Errors about inputs already name them. This one is about the output, so its name is added.
                Err(error) if error.source().is_none() && error.is::<io::Error>() => {
                    Err(error.downcast().unwrap_or_else(io::Error::other))
                }
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
        write_frames_of(self.plan, format, &columns, names)
    }
}

/// Writes the frames of stacks to a file next to the output.
fn write_frames_of(plan: &TablePlan, format: RowFormat, columns: &[OutputColumn], names: &StackNames) -> Result<()> {
    if format.holds_frames() || !columns.iter().any(OutputColumn::has_stacks) {
        return Ok(());
    }
    match &plan.frames_path {
        Some(path) => write_to(Some(path), |out: &mut dyn Write| format.write_frames(names, out)),
        None => {
            note("the addresses and lines of stacks are written next to a file; pass -o to get them");
            Ok(())
        }
    }
}

/// Writes rows as text. The file and run are shown if there are several.
fn write_text(
    row_plan: &RowPlan,
    found: &FoundTables,
    mut rows: Vec<Row>,
    total: u64,
    names: &mut StackNames,
    plan: &TablePlan,
) -> Result<()> {
    let mut columns = row_plan.output_columns();
    let origins = [
        found.tables.iter().any(|(file, _)| *file != found.tables[0].0),
        found.tables.iter().any(|(_, table)| table.run != found.tables[0].1.run),
    ];
    for (index, _) in origins.iter().enumerate().rev().filter(|(_, is_shown)| !**is_shown) {
        columns.remove(index);
        rows.iter_mut().for_each(|row| drop(row.remove(index)));
    }
    rows.iter_mut().for_each(|row| names.number_in(row, &columns));
    let has_columns = !plan.query.columns.is_empty();
    let style = plan.output.style();
    plan.output.write(|out| {
        RowsOutput::write_text((&columns, &rows), total, has_columns, "--columns selects.", names, &style, out)
    })
}
