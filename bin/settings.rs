//! The names of settings in messages, which are the options of this command.

use std::fmt;

use traceparse::settings::{Program, Setting};

/// Makes the library's messages use the names of this command's options.
pub(crate) fn name_options() {
    Program { command: Some("traceparse"), write }.install();
}

fn write(setting: &Setting, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match setting.name {
        "output" => f.write_str("-o"),
        name => write!(f, "--{name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory};
    use traceparse::settings::ALL;

    use crate::cli::Cli;

    fn collect(command: &Command, found: &mut BTreeSet<String>) {
        found.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
        command.get_subcommands().for_each(|command| collect(command, found));
    }

    #[test]
    fn every_setting_is_an_option() {
        let mut command = Cli::command();
        command.build();
        let mut options = BTreeSet::new();
        collect(&command, &mut options);
        let unknown: Vec<&str> =
            ALL.iter().map(|setting| setting.name).filter(|name| !options.contains(*name)).collect();
        assert!(unknown.is_empty(), "the command has no options {unknown:?}");
    }
}
