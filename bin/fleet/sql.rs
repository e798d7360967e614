//! `fleet sql`: a report as SQL, for the engine that reads the dataset.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use traceparse::fleet::{Datasets, FleetHost, FleetOptions, Store, ThreadChoice};
use traceparse::output::Syntax;

use super::cli::FleetSqlArgs;
use super::host::{AtInterrupt, Host};
use crate::Failure;
use crate::guard::will_write;
use crate::objects::shown;
use crate::resource_limits;
use crate::sink::write_inert;
use crate::unchanged::read_whole;

/// Writes the statement.
pub(super) fn show(args: &FleetSqlArgs) -> Result<(), Failure> {
    args.questions.check().map_err(Failure::Usage)?;
    will_write(args.output.as_deref());
    let (options, sources) = match &args.dataset {
        Some(dataset) => (options_of(args)?, vec![PathBuf::from(dataset)]),
        None => (args.options(), args.source.clone()),
    };
    if let Some(file) = sources.iter().find(|source| source.is_file()) {
        let file = file.display();
        let message = format!("{file} is not a dataset; if it is a report, name the dataset to read with --dataset");
        return Err(Failure::Usage(message));
    }
    let patterns = args.threads.threads().filter(ThreadChoice::has_patterns);
    let engine = args.engine;
    let text = if let [elsewhere] = sources.as_slice()
        && is_elsewhere(args, elsewhere)
    {
        let dataset = elsewhere.display().to_string();
        if patterns.is_some() {
            let message = format!("{dataset} cannot resolve a thread pattern; give complete thread names");
            return Err(Failure::Usage(message));
        }
        engine.query(&options, &[(shown(&dataset).into_owned(), Vec::new())])
    } else {
        query(args, options, patterns.as_ref(), &sources)?
    };
    let path = args.output.as_deref();
    Ok(write_inert(path, Some(Syntax::Lines), |out| out.write_all(text.as_bytes()))?)
}

/// The statement on the datasets at these paths.
fn query(
    args: &FleetSqlArgs,
    options: FleetOptions,
    patterns: Option<&ThreadChoice>,
    sources: &[PathBuf],
) -> Result<String> {
    let host = Host::new(AtInterrupt::End);
    let mut paths = Vec::new();
    for source in sources {
        let found = Datasets::at(&host, source);
        if found.is_empty() {
            Store::check(host.storage(), source)?;
        }
        paths.extend(found);
    }
    let datasets = Datasets::open(&host, &paths)?;
    Ok(datasets.query(&host, args.engine, options, patterns, args.allow_incomplete)?)
}

/// True if an engine may read the dataset although this machine does not see it, such as s3://bucket/fleet, or a path of another machine
/// after --dataset.
fn is_elsewhere(args: &FleetSqlArgs, dataset: &Path) -> bool {
    dataset.to_string_lossy().contains("://") || (args.dataset.is_some() && dataset.is_absolute() && !dataset.exists())
}

/// The options of the report.
fn options_of(args: &FleetSqlArgs) -> Result<FleetOptions> {
    let [source] = args.source.as_slice() else {
        bail!("--dataset requires exactly one report, whose query is repeated")
    };
    let name = source.display();
    let text = read_whole(source, resource_limits::OWN_FILE)?;
    FleetOptions::from_report_json(&text).map_err(|reason| anyhow!("{name}: {reason}"))
}
