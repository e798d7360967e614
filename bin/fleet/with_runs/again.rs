//! Restores the options with which the runs of a dataset were measured, as far as the dataset records them.

use std::ffi::OsString;

use super::super::filters::ThreadArgs;
use crate::arguments::ReadingArgs;
use crate::filters::WhenArgs;
use crate::operations::OperationArgs;
use clap::{Args, Command, FromArgMatches};
use traceparse::fleet::{FleetSelection, ThreadChoice};

#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    when: WhenArgs,
    #[command(flatten)]
    operations: OperationArgs,
    #[command(flatten)]
    threads: ThreadArgs,
}

/// Returns the options of a selection, and the reading options that are not filters.
///
/// # Errors
/// A sentence, if the selection covers redacted recordings or cannot be parsed.
pub(in crate::fleet) fn measured_as(
    selection: &FleetSelection,
    reading: &ReadingArgs,
) -> Result<(ReadingArgs, Option<ThreadChoice>), String> {
    if selection.options().iter().any(|(option, _)| option == "--redact") {
        return Err(
            "it was extracted with --redact, and does not record where its recordings are; report on the recordings \
             instead: traceparse fleet report RECORDINGS --redact --with-runs N -o REPORT.html"
                .to_owned(),
        );
    }
    let selected = selection.options().iter().map(|(option, value)| match value {
        Some(value) => format!("{option}={value}").into(),
        None => OsString::from(option),
    });
    let command = Options::augment_args(Command::new("fleet")).no_binary_name(true);
    let matches = command.try_get_matches_from(selected);
    let unknown = |error: clap::Error| {
        let first = error.to_string();
        format!("its selection ({selection}) cannot be applied again: {}", first.lines().next().unwrap_or_default())
    };
    let matches = matches.map_err(unknown)?;
    let Options { when, operations, threads } = Options::from_arg_matches(&matches).map_err(unknown)?;
    let when = WhenArgs { schema: reading.when.schema.clone(), ..when };
    Ok((ReadingArgs { when, operations, ..reading.clone() }, threads.threads()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_selection_can_be_repeated() {
        let mut typed = ReadingArgs::default();
        (typed.symbols.search.no_inlines, typed.files.strict, typed.files.jobs) = (true, true, Some(2));
        (typed.when.schema, typed.symbols.search.dsym) = (vec!["time-profile".to_owned()], vec!["a b".into()]);
        let options = [
            ("--thread", Some("-x")),
            ("--thread", Some("/^com[.]/")),
            ("--time", Some("1s..2s")),
            ("--during", Some("Feed Scroll")),
            ("--during", Some("Other")),
            ("--during-hang", None),
            ("--during-all", None),
            ("--state", Some("Blocked")),
            ("--prune", Some("^a|b$")),
            ("--hide-system", None),
            ("--focus", Some("x")),
        ];
        let options = options.map(|(option, value)| (option.to_owned(), value.map(str::to_owned)));
        let selection = FleetSelection::new(options.to_vec());
        let (reading, threads) = measured_as(&selection, &typed).unwrap();
        assert!(reading.symbols.search.no_inlines && reading.files.strict && reading.files.jobs == Some(2));
        assert_eq!((reading.when.schema.len(), reading.symbols.search.paths().count()), (1, 1));
        assert_eq!(reading.described(threads.as_ref()).to_string(), selection.to_string());
        let redacted = FleetSelection::new(vec![("--redact".to_owned(), None)]);
        assert!(measured_as(&redacted, &typed).err().unwrap().contains("extracted with --redact"));
    }
}
