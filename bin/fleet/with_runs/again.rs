//! The options with which the runs of a dataset were measured, as far as the dataset records them.

use std::ffi::{OsStr, OsString};

use super::super::cli::ReadingArgs;
use super::super::filters::ThreadArgs;
use clap::{Args, Command, FromArgMatches};
use traceparse::fleet::{FleetSelection, ThreadChoice};

#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    threads: ThreadArgs,
}

/// Parses the options of a selection, in addition to the reading options that are not filters.
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
    let matches = command.try_get_matches_from(words(reading).into_iter().chain(selected));
    let unknown = |error: clap::Error| {
        let first = error.to_string();
        format!("its selection ({selection}) cannot be applied again: {}", first.lines().next().unwrap_or_default())
    };
    let matches = matches.map_err(unknown)?;
    let mut options = Options::from_arg_matches(&matches).map_err(unknown)?;
    options.reading.filters.operations.set_order(&matches);
    Ok((options.reading, options.threads.threads()))
}

/// The reading options, except filters, as words of a command line.
fn words(args: &ReadingArgs) -> Vec<OsString> {
    let value = |option: &str, value: &OsStr| {
        let mut word = OsString::from(option);
        word.push("=");
        word.push(value);
        word
    };
    let paths = [("--dsym", &args.search.dsym), ("--symbols", &args.search.symbols)];
    let paths = paths.iter().flat_map(|(option, paths)| paths.iter().map(|path| value(option, path.as_os_str())));
    let schemas = args.schema.iter().map(|schema| value("--schema", schema.as_ref()));
    let jobs = args.files.jobs.map(|jobs| value("--jobs", jobs.to_string().as_ref()));
    let flags = [
        (args.search.no_bundled_symbols, "--no-bundled-symbols"),
        (args.search.no_cache, "--no-cache"),
        (args.no_inlines, "--no-inlines"),
        (args.files.strict, "--strict"),
        (args.files.allow_truncated, "--allow-truncated"),
    ];
    let flags = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.into());
    paths.chain(schemas).chain(jobs).chain(flags).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_selection_can_be_repeated() {
        let typed = ["--no-inlines", "--jobs=2", "--schema=time-profile", "--dsym=a b", "--symbols=-c", "--strict"];
        let matches = Options::augment_args(Command::new("fleet")).no_binary_name(true).get_matches_from(typed);
        let typed = Options::from_arg_matches(&matches).unwrap().reading;
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
        assert!(
            reading.no_inlines
                && reading.files.strict
                && reading.files.jobs == Some(2)
                && reading.schema == ["time-profile"]
        );
        assert_eq!(reading.search.paths().map(|path| path.to_str().unwrap()).collect::<Vec<_>>(), ["a b", "-c"]);
        assert_eq!(reading.filters.described(threads.as_ref()).to_string(), selection.to_string());
        let redacted = FleetSelection::new(vec![("--redact".to_owned(), None)]);
        assert!(measured_as(&redacted, &typed).err().unwrap().contains("extracted with --redact"));
    }
}
