//! `traceparse toc` and `traceparse tables`: the contents of recordings and exports.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use traceparse::output::Answer;
use traceparse::recording::{Options, SampleDetail};
use traceparse::tables::{Survey, SurveyedTable};

use crate::arguments::TruncatedArgs;
use crate::formats::TEXT_OR_JSON;
use crate::inputs::{Inputs, Mounted};
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::recording::{check_distinct, warn};
use crate::redact::{RedactArgs, tell};
use crate::unchanged::WatchedFiles;
use crate::{Failure, redacted, warning};

pub(crate) const TABLE_EXAMPLES: &str = "\
Examples:
  traceparse tables app.trace
      Every table with its rows, and the times of the first and the last
  traceparse tables app.trace --format json
      The same with the columns of each table and their types";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Recordings, exports or tables of contents; `-` is stdin
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs<TEXT_OR_JSON>,
    #[command(flatten)]
    truncated: TruncatedArgs,
    #[command(flatten)]
    redact: RedactArgs,
}

/// Checks the arguments, opens the inputs, and lets `list` read them and write the result.
fn open(
    args: &ListArgs,
    list: impl FnOnce(&Inputs<'_>, &Options, &Output) -> Result<(), Failure>,
) -> Result<(), Failure> {
    args.redact.begin(&args.files, &[])?;
    let output = args.output.resolve().map_err(Failure::Usage)?;
    check_distinct(&args.files).map_err(Failure::Usage)?;
    output.will_write();
    let (options, watched) = (args.truncated.options(SampleDetail::default()), WatchedFiles::default());
    list(&Inputs::open(&Mounted::new(&watched, &args.files)?, &options)?, &options, &output)?;
    tell();
    Ok(())
}

pub(crate) fn show_contents(args: &ListArgs) -> Result<(), Failure> {
    open(args, |inputs, options, output| {
        let mut export = inputs.contents(&args.files, options)?;
        redacted::with(|redactor| redactor.collect(&export));
        warn(&export);
        let list = redacted::with(|redactor| {
            redactor.recording(&mut export).map_err(anyhow::Error::from)?;
            anyhow::Ok(redactor.redacted())
        });
        Ok(output.write_plain(Answer::Contents(&export.documents, list.transpose()?.as_deref()))?)
    })
}

pub(crate) fn list_tables(args: &ListArgs) -> Result<(), Failure> {
    open(args, |inputs, options, output| {
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
        Ok(output.write_plain(Answer::Tables(&found, list.as_deref()))?)
    })
}
