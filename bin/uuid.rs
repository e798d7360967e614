//! `traceparse uuid`: the UUIDs of symbol files, and the UUIDs whose symbols recordings lack.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use traceparse::output::Answer;
use traceparse::recording::SampleDetail;
use traceparse::report::{ReportOptions, View};
use traceparse::symbols::{Index, Locator};

use crate::arguments::{FileArgs, SymbolArgs};
use crate::exit_codes::{EXIT_CODES, Failure};
use crate::formats::TEXT_OR_JSON;
use crate::inputs::{Inputs, Mounted};
use crate::output_args::OutputArgs;
use crate::recording::read_named;
use crate::symbols::{begin, is_known, warn, watch};
use crate::unchanged::WatchedFiles;
use crate::{note, warning};

#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct UuidArgs {
    /// Recordings, exports, symbol files, or folders with symbol files
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs<TEXT_OR_JSON>,
}

/// Lists the images of symbol files, then the binaries of recordings that lack symbols.
pub(crate) fn list_uuids(args: &UuidArgs) -> Result<(), Failure> {
    let output = args.output.resolve().map_err(Failure::Usage)?;
    output.will_write();
    let (input, watched) = (FileArgs::default(), WatchedFiles::default());
    let mounted = Mounted::new(&watched, &args.paths)?;
    let inputs = Inputs::open(&mounted, &input.options(SampleDetail::Summed))?;
    let mut tried = Locator::new(&watched);
    let is_recording = |path: &PathBuf| inputs.is_bundle(path) || is_without_symbols(&mut tried, path);
    let (recordings, symbols): (Vec<PathBuf>, Vec<PathBuf>) = args.paths.iter().cloned().partition(is_recording);
    let mut locator = Locator::new(&watched);
    for path in &symbols {
        begin(path, &watched)?;
        locator.add(path, &mut Index::default()).with_context(|| format!("{}: cannot be searched", path.display()))?;
    }
    watch(&locator, &watched, None)?;
    watched.unless_changed(Ok(()))?;
    warn(&locator);
    let paths: Vec<String> = symbols.iter().map(|path| path.display().to_string()).collect();
    if !symbols.is_empty() && locator.found().is_empty() {
        return Err(Failure::Input(anyhow!(
            "{}: no symbols found; pass recordings, exports, dSYMs, or folders that contain dSYMs",
            paths.join(", ")
        )));
    }
    if recordings.is_empty() {
        return Ok(output.write_plain(Answer::Symbols(locator.found(), None))?);
    }
    let options = input.options(SampleDetail::Summed);
    let read = |paths: &[PathBuf]| read_named(&inputs, paths, &input, &options, (&SymbolArgs::default(), &[]));
    let analysis = read(&recordings).or_else(|error| {
        // An unreadable file, such as one with metrics, must not prevent listing the others.
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for path in &recordings {
            match inputs.read_all(std::slice::from_ref(path), &options) {
                Ok(_) => readable.push(path.clone()),
                Err(error) => unreadable.push(error),
            }
        }
        if readable.is_empty() || unreadable.is_empty() {
            return Err(error);
        }
        unreadable.iter().for_each(|error| warning(&format!("left out: {error:#}")));
        read(&readable)
    });
    let analysis = analysis.inspect_err(|_| warn(&tried))?;
    let report = analysis.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() });
    match report.unnamed() {
        unnamed if unnamed.unnamed == 0 => note("no symbols are missing: all addresses have names"),
        unnamed if unnamed.without_binary == 0 => {}
        unnamed => {
            let are =
                if unnamed.without_binary == 1 { "address without a name is" } else { "addresses without a name are" };
            note(&format!("{} {are} in no known binary", unnamed.without_binary));
        }
    }
    Ok(output.write_plain(Answer::Symbols(locator.found(), Some(&report)))?)
}

/// True for a file without symbols. It is then treated as an export, whose reader reports errors.
fn is_without_symbols(tried: &mut Locator<'_>, path: &Path) -> bool {
    path.is_file() && matches!(tried.add(path, &mut Index::default()), Ok(0)) && !is_known(tried, path)
}
