//! `traceparse uuid`: the UUIDs that symbol files have, and the UUIDs that recordings want.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use serde_json::{Value, json};
use traceparse::output::Syntax;
use traceparse::recording::SampleDetail;
use traceparse::report::{Report, ReportOptions, UnnamedBinary, View};
use traceparse::symbols::{Found, Index, Locator};

use crate::arguments::{InputArgs, SymbolArgs};
use crate::exit_codes::EXIT_CODES;
use crate::formats::TocFormat;
use crate::guard::will_write;
use crate::inputs::{Inputs, Mounted};
use crate::recording::read_named;
use crate::sink::{write_inert, write_to};
use crate::symbols::{begin, warn, watch};
use crate::unchanged::WatchedFiles;
use crate::{note, printable};

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct UuidArgs {
    /// Recordings and exports; symbol files, or folders to search for them
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = TocFormat::Text)]
    pub(crate) format: TocFormat,
}

/// Lists the images of symbol files, then the binaries that recordings want symbols for.
pub(crate) fn list_uuids(args: &UuidArgs) -> Result<()> {
    will_write(None);
    let (input, watched) = (InputArgs::default(), WatchedFiles::default());
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
    ensure!(symbols.is_empty() || !locator.found().is_empty(), "{}: no symbols found", paths.join(", "));
    if recordings.is_empty() {
        return write(args, locator.found(), None);
    }
    let read = read_named(&inputs, &recordings, &input, &SymbolArgs::default(), SampleDetail::Summed);
    let analysis = read.inspect_err(|_| warn(&tried))?;
    let report = analysis.report(&ReportOptions { view: View::Summary, ..ReportOptions::default() });
    match report.unnamed() {
        unnamed if unnamed.unnamed == 0 => note("no symbols are wanted: all addresses have names"),
        unnamed if unnamed.without_binary == 0 => {}
        unnamed => note(&format!("{} addresses without a name are in no known binary", unnamed.without_binary)),
    }
    write(args, locator.found(), Some(&report))
}

/// True for a file without symbols: it must be an export, or it is an error of its reader.
fn is_without_symbols(tried: &mut Locator<'_>, path: &Path) -> bool {
    path.is_file() && matches!(tried.add(path, &mut Index::default()), Ok(0))
}

fn write(args: &UuidArgs, found: &[Found], report: Option<&Report<'_>>) -> Result<()> {
    match args.format {
        TocFormat::Text => write_to(None, |out| {
            for found in found {
                let path = found.path.display().to_string();
                let (arch, path) = (printable(&found.arch), printable(&path));
                writeln!(out, "{}  {arch:<8} {:<14}  {path}", found.uuid, found.kind.name())?;
            }
            report.map_or(Ok(()), |report| write_wanted(report, out))
        }),
        TocFormat::Json => {
            let images: Value = found.iter().map(found_value).collect();
            let wanted = report.map_or_else(|| json!([]), wanted_values);
            let document = json!({"format": "traceparse-uuid", "version": 1, "images": images, "wanted": wanted});
            write_inert(None, Some(Syntax::Json), |out| writeln!(out, "{document}"))
        }
    }
}

fn found_value(found: &Found) -> Value {
    json!({
        "uuid": found.uuid.to_string(),
        "arch": found.arch,
        "kind": found.kind.name(),
        "name": found.name,
        "path": found.path.display().to_string(),
        "text_address": found.text_address,
        "text_size": found.text_size,
    })
}

/// The percentage of all samples.
fn percent(report: &Report<'_>, samples: u64) -> f64 {
    let all: u64 = report.series.iter().map(|series| series.counted.samples).sum();
    100.0 * samples as f64 / all.max(1) as f64
}

fn write_wanted(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &report.recording.profile;
    for (row, samples) in report.wanted() {
        let binary = profile.binary(row.binary);
        let uuid = binary.uuid.map_or_else(|| "no UUID".to_owned(), |uuid| uuid.to_string());
        let arch = printable(binary.arch.map_or("", |arch| profile.string(arch)));
        let path =
            [binary.path, binary.name].map(|text| profile.string(text)).into_iter().find(|text| !text.is_empty());
        let (percent, path) = (percent(report, samples), printable(path.unwrap_or_default()));
        writeln!(out, "{uuid:<36}  {arch:<8} wanted {percent:>5.1}%   {path}")?;
    }
    Ok(())
}

fn wanted_values(report: &Report<'_>) -> Value {
    let profile = &report.recording.profile;
    let value = |(row, samples): (UnnamedBinary, u64)| {
        let binary = profile.binary(row.binary);
        json!({
            "uuid": binary.uuid.map(|uuid| uuid.to_string()),
            "arch": binary.arch.map(|arch| profile.string(arch)),
            "name": profile.string(binary.name),
            "path": profile.string(binary.path),
            "frames": row.frames,
            "samples": samples,
            "percent": percent(report, samples),
        })
    };
    report.wanted().into_iter().map(value).collect()
}
