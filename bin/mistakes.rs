//! Likely mistakes on the command line, and what to write instead.

use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use traceparse::output::OverviewContext;

/// Commands of other tools, and what to write instead. `{}` is the rest of the command line.
const WORDS: [(&[&str], &str); 4] = [
    (
        &["analyse", "analyze", "open", "overview", "report", "show", "summary", "view"],
        "traceparse {} (for a folder of recordings: traceparse fleet report FOLDER)",
    ),
    (&["flame", "flame-graph", "flamegraph", "svg"], "traceparse {} -o flame.svg"),
    (&["html", "page"], "traceparse {} -o report.html"),
    (&["version"], "traceparse --version"),
];

/// Checks that the first input is neither a command below an option nor a word that looks like a command, unless a file has this name.
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

/// Replaces clap's guess about an unknown option, if it is the name of a format or of a view.
pub(crate) fn advise(command: &Command, error: &mut Error) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(advice) = option_for(command, unknown).filter(|_| error.kind() == ErrorKind::UnknownArgument) else {
        return;
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![format!("use '{advice}'").into()]));
    // Both contain the option that clap guessed.
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
}

/// The option to write instead of an unknown one, if this command has it.
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
