//! Recognises likely mistakes on the command line, and suggests corrections.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, ValueEnum};
use traceparse::output::OverviewContext;
use traceparse::profile::Matcher;
use traceparse::units::first_of;

use crate::formats::Format;

/// Command names of other tools, and the corresponding command line. `{}` is the rest of the arguments.
const WORDS: [(&[&str], &str); 6] = [
    (
        &["analyse", "analyze", "info", "open", "report", "show", "stats", "view"],
        "traceparse {} (for a folder of recordings: traceparse fleet report FOLDER)",
    ),
    (&["flame", "flame-graph", "flamegraph", "svg"], "traceparse {} -o flame.svg"),
    (&["html", "page"], "traceparse {} -o report.html"),
    (&["list"], "traceparse tables {}"),
    (&["top"], "traceparse {} --view functions"),
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
    let command = command();
    if command.get_subcommands().any(|command| command.get_name() == word) {
        return Err(format!("{word} is a command, which comes before all options: traceparse {word} …"));
    }
    let mut views = command.get_arguments().filter(|argument| argument.get_id() == "view");
    let plural = format!("{word}s");
    let is_meant = |view: &&PossibleValue| view.matches(word, false) || view.matches(&plural, false);
    let view = views
        .find_map(|views| views.get_possible_values().iter().find(is_meant).map(|view| view.get_name().to_owned()));
    let of_view = view.map(|view| format!("traceparse {{}} --view {view}"));
    let known = WORDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, form)| (*form).to_owned()).or(of_view);
    let Some(form) = known.or_else(|| similar_command(word, &command)) else { return Ok(()) };
    let rest: Vec<String> = rest.iter().map(|path| path.display().to_string()).collect();
    let rest = if rest.is_empty() {
        "FILE".to_owned()
    } else {
        OverviewContext::command_line(rest.iter().map(String::as_str))
    };
    Err(format!("there is no command and no file {word}; run: {}", form.replace("{}", &rest)))
}

/// The command line for a mistyped or incomplete command name, such as `dif` or `hang`.
fn similar_command(word: &str, command: &Command) -> Option<String> {
    let names = command.get_subcommands().map(Command::get_name).filter(|_| word.len() > 2);
    let name = *Matcher::part(word).similar(names).first()?;
    Some(format!("traceparse {name} {{}}"))
}

/// Replaces clap's suggestion for an unknown option or value by a better one, if there is one. Explains the order of arguments, if it is the cause.
/// `whole` has all commands.
pub(crate) fn advise(whole: &Command, command: &Command, error: &mut Error) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let argument = text(ContextKind::InvalidArg);
    let advice = match error.kind() {
        ErrorKind::UnknownArgument => option_for(command, argument)
            .map(|option| format!("use '{option}'"))
            .or_else(|| order(command, argument))
            .or_else(|| other_commands(whole, argument)),
        ErrorKind::MissingRequiredArgument if command.get_name() == "table" => {
            Some("write the name of a table after the files; 'traceparse tables FILE' lists them".to_owned())
        }
        ErrorKind::InvalidValue if argument.starts_with("--format ") => {
            let format = Format::from_str(text(ContextKind::InvalidValue), false).ok();
            format.and_then(Format::elsewhere).map(str::to_owned)
        }
        _ => None,
    };
    match advice {
        Some(advice) => {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
            // Both contain clap's suggestion.
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Usage);
        }
        // An unknown option is hardly ever meant as the name of a file.
        None if argument.starts_with('-') => drop(error.remove(ContextKind::Suggested)),
        None => {}
    }
}

/// Names the commands that have an option, unless it is unknown everywhere.
fn other_commands(whole: &Command, option: &str) -> Option<String> {
    let mut found = Vec::new();
    collect_commands(whole, option.strip_prefix("--")?, &mut found);
    if whole.get_arguments().any(|argument| Some(argument.get_long()) == Some(option.strip_prefix("--"))) {
        found.insert(0, "traceparse FILE".to_owned());
    }
    let with = |name: &String| format!("'{name}'");
    let names: Vec<String> = found.iter().map(with).collect();
    (!names.is_empty()).then(|| format!("{option} is an option of {}", first_of(&names)))
}

fn collect_commands(command: &Command, option: &str, found: &mut Vec<String>) {
    for below in command.get_subcommands() {
        let start = found.len();
        if below.get_arguments().any(|argument| argument.get_long() == Some(option)) {
            found.push(String::new());
        }
        collect_commands(below, option, found);
        for name in &mut found[start..] {
            *name = format!("{} {name}", below.get_name()).trim_end().to_owned();
        }
    }
}

/// Explains where an argument belongs if the positional argument before the last one can be repeated: clap then takes the last argument before an
/// option for the last positional argument.
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
