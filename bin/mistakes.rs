//! Recognises likely mistakes on the command line, and suggests corrections.

use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use traceparse::output::OverviewContext;

/// Command names of other tools, and the corresponding command line. `{}` is the rest of the arguments.
const WORDS: [(&[&str], &str); 4] = [
    (
        &["analyse", "analyze", "open", "overview", "report", "show", "summary", "view"],
        "traceparse {} (for a folder of recordings: traceparse fleet report FOLDER)",
    ),
    (&["flame", "flame-graph", "flamegraph", "svg"], "traceparse {} -o flame.svg"),
    (&["html", "page"], "traceparse {} -o report.html"),
    (&["version"], "traceparse --version"),
];

/// Fails if the first input looks like a command or is a subcommand after an option, unless a file has this name.
pub(crate) fn check_files(files: &[PathBuf], command: impl FnOnce() -> Command) -> Result<(), String> {
    let Some((word, rest)) = files.split_first().and_then(|(first, rest)| Some((first.to_str()?, rest))) else {
        return Ok(());
    };
    if Path::new(word).symlink_metadata().is_ok() {
        return Ok(());
    }
    if command().get_subcommands().any(|command| command.get_name() == word) {
        return Err(format!("{word} is a command, which stands before all options: traceparse {word} …"));
    }
    let Some((_, form)) = WORDS.iter().find(|(words, _)| words.contains(&word)) else { return Ok(()) };
    let rest: Vec<String> = rest.iter().map(|path| path.display().to_string()).collect();
    let rest = if rest.is_empty() {
        "FILE".to_owned()
    } else {
        OverviewContext::command_line(rest.iter().map(String::as_str))
    };
    Err(format!("there is no command and no file {word}; run: {}", form.replace("{}", &rest)))
}

/// Replaces clap's suggestion for an unknown option, if the option is the name of a format or view. Explains the order of arguments, if it is
/// the cause.
pub(crate) fn advise(command: &Command, error: &mut Error) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return };
    let option = option_for(command, unknown).map(|option| format!("use '{option}'"));
    let advice = option.or_else(|| order(command, unknown)).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    let Some(advice) = advice else { return };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    // Both contain clap's suggestion.
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
}

/// The order of arguments, if the one before the last can be repeated: clap takes the argument before an option for the last one.
fn order(command: &Command, unknown: &str) -> Option<String> {
    let positionals: Vec<_> = command.get_positionals().collect();
    let [.., files, last] = positionals.as_slice() else { return None };
    let are_several = files.get_num_args().is_some_and(|count| count.max_values() > 1);
    (are_several && !unknown.starts_with('-')).then(|| format!("write {files} {last} without options between them"))
}

/// The option to use instead of an unknown one, if the command has it.
fn option_for(command: &Command, unknown: &str) -> Option<String> {
    let name = unknown.strip_prefix("--")?;
    let option = |name: &str| command.get_arguments().find(|option| option.get_long() == Some(name));
    let has = |name: &str, value: &str| {
        option(name).is_some_and(|option| option.get_possible_values().iter().any(|known| known.matches(value, false)))
    };
    match name {
        "main-thread" => option("only-main-thread").map(|_| "--only-main-thread".to_owned()),
        "flame-graph" | "flamegraph" | "svg" if has("format", "svg") => Some("-o flame.svg".to_owned()),
        "html" if has("format", "html") => Some("-o report.html".to_owned()),
        _ => ["format", "view"].into_iter().find(|option| has(option, name)).map(|option| format!("--{option} {name}")),
    }
}
