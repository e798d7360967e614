//! `traceparse tables`: the tables of every run.

use traceparse::output::{self, Answer};
use traceparse::recording::Options;
use traceparse::tables::{Survey, SurveyedTable};

use super::TablesArgs;
use crate::arguments::job_count;
use crate::formats::{TocFormat, syntax_of};
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted};
use crate::recording::{check_distinct, warn};
use crate::redact::tell;
use crate::sink::{Colour, style, write_inert};
use crate::unchanged::WatchedFiles;
use crate::{Failure, redacted, resource_limits, warning};

/// Lists the tables of each input.
pub(crate) fn list_tables(args: &TablesArgs, colour: Colour) -> Result<(), Failure> {
    args.redact.begin(&args.files, &[])?;
    args.check_name().map_err(Failure::Usage)?;
    check_distinct(&args.files).map_err(Failure::Usage)?;
    let (allow_truncated, jobs, memory) = (args.allow_truncated, job_count(None), resource_limits::memory());
    let options = Options { allow_truncated, jobs, memory, ..Options::default() };
    will_write(args.output.as_deref());
    let watched = WatchedFiles::default();
    let mounted = Mounted::new(&watched, &args.files)?;
    let inputs = Inputs::open(&mounted, &options)?;
    let mut found: Vec<(String, Vec<SurveyedTable>)> = Vec::new();
    for path in &args.files {
        let mut survey = Survey::default();
        let recording = inputs.read_tables(std::slice::from_ref(path), &options, None, &mut survey, |_, _| {})?;
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
    let answer = Answer::Tables(&found, list.as_deref());
    let path = args.output.as_deref();
    let format = match args.format() {
        TocFormat::Text => output::Format::Text(style(path, colour)),
        TocFormat::Json => output::Format::Json,
    };
    write_inert(path, syntax_of(args.format()), |out| output::write(answer, &format, out))?;
    tell();
    Ok(())
}
