//! `fleet sql`: a report as SQL, for the engine that reads the dataset.

use anyhow::{Context, Result, anyhow};
use traceparse::fleet::{FleetOptions, sql};

use super::cli::FleetSqlArgs;
use super::store::Store;
use crate::Failure;
use crate::sink::write_to;

/// Writes the statement.
pub(super) fn show(args: &FleetSqlArgs) -> Result<(), Failure> {
    args.questions.check().map_err(Failure::Usage)?;
    let source = args.source.display().to_string();
    let (options, dataset) = match &args.dataset {
        Some(dataset) => (options_of(args)?, dataset.clone()),
        None if args.source.is_file() => {
            let message = format!("{source} is a report; say with --dataset which dataset the statement is to read");
            return Err(Failure::Usage(message));
        }
        // An engine may read what this machine does not see, such as s3://bucket/fleet.
        None if source.contains("://") || Store::is_dataset(&args.source) => (args.questions.options(false), source),
        None => return Err(anyhow!("{source}: is not a dataset; `traceparse fleet extract` makes one").into()),
    };
    let text = sql(&options, &dataset, args.engine.engine());
    Ok(write_to(args.output.as_deref(), |out| out.write_all(text.as_bytes()))?)
}

/// What the report asked.
fn options_of(args: &FleetSqlArgs) -> Result<FleetOptions> {
    let name = args.source.display();
    let text = std::fs::read(&args.source).with_context(|| format!("{name}: cannot be read"))?;
    FleetOptions::from_report_json(&text).map_err(|reason| anyhow!("{name}: {reason}"))
}
