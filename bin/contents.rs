//! `traceparse toc` and `traceparse tables`: what there is in recordings and exports.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::output::Answer;
use traceparse::recording::Options;
use traceparse::tables::{Survey, SurveyedTable};

use crate::arguments::job_count;
use crate::formats::{TocFormat, check_name, format_of};
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted};
use crate::recording::{check_distinct, warn};
use crate::redact::{RedactArgs, tell};
use crate::sink::Colour;
use crate::unchanged::WatchedFiles;
use crate::{Failure, redacted, resource_limits, warning};

pub(crate) const TABLE_EXAMPLES: &str = "\
Examples:
  traceparse tables app.trace
      Every table with its rows, and the times of the first and the last
  traceparse tables app.trace --format json
      The same with the columns of each table and their types";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Recordings (.trace), exports or tables of contents; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum)]
    format: Option<TocFormat>,
    /// Use the complete part of a truncated file
    #[arg(long)]
    allow_truncated: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    redact: RedactArgs,
}

impl ListArgs {
    /// Checks the arguments, opens the inputs, and lets `list` read and write them.
    fn open(&self, list: impl FnOnce(&Inputs<'_>, &Options) -> Result<(), Failure>) -> Result<(), Failure> {
        self.redact.begin(&self.files, &[])?;
        check_name(self.format, self.output.as_deref()).map_err(Failure::Usage)?;
        check_distinct(&self.files).map_err(Failure::Usage)?;
        let (allow_truncated, jobs, memory) = (self.allow_truncated, job_count(None), resource_limits::memory());
        let options = Options { allow_truncated, jobs, memory, ..Options::default() };
        will_write(self.output.as_deref());
        let watched = WatchedFiles::default();
        list(&Inputs::open(&Mounted::new(&watched, &self.files)?, &options)?, &options)
    }

    fn write(&self, answer: Answer<'_, '_>, colour: Colour) -> Result<(), Failure> {
        let path = self.output.as_deref();
        self.format.or_else(|| format_of(path)).unwrap_or(TocFormat::Text).write(answer, path, colour)?;
        tell();
        Ok(())
    }
}

/// Lists the runs, the tables of contents and the tables of each input.
pub(crate) fn show_contents(args: &ListArgs, colour: Colour) -> Result<(), Failure> {
    args.open(|inputs, options| {
        let mut export = inputs.contents(&args.files, options)?;
        redacted::with(|redactor| redactor.collect(&export));
        warn(&export);
        let list = redacted::with(|redactor| {
            redactor.recording(&mut export).map_err(anyhow::Error::from)?;
            anyhow::Ok(redactor.redacted())
        });
        args.write(Answer::Contents(&export.documents, list.transpose()?.as_deref()), colour)
    })
}

/// Lists every table of each input, with its rows.
pub(crate) fn list_tables(args: &ListArgs, colour: Colour) -> Result<(), Failure> {
    args.open(|inputs, options| {
        let mut found: Vec<(String, Vec<SurveyedTable>)> = Vec::new();
        for path in &args.files {
            let mut survey = Survey::default();
            let recording = inputs.read_tables(std::slice::from_ref(path), options, None, &mut survey, |_, _| {})?;
            redacted::with(|redactor| redactor.collect(&recording));
            survey.diagnostics.iter().for_each(|diagnostic| warning(&diagnostic.to_string()));
            warn(&recording);
            found.push((path.display().to_string(), survey.tables));
        }
        let list = redacted::with(|redactor| {
            for (name, tables) in &mut found {
                *name = redactor.text(name);
                for reason in tables.iter_mut().filter_map(|table| table.unreadable.as_mut()) {
                    *reason = redactor.text(reason);
                }
            }
            redactor.redacted()
        });
        args.write(Answer::Tables(&found, list.as_deref()), colour)
    })
}
