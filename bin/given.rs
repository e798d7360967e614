//! The options on the command line, and a check that each of them has an effect.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// The options that were passed, such as `--min-percent`. This must be the first field in a group of arguments, since clap removes the
/// values of each field from the matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<String>);

impl Given {
    /// Returns the first of these options, separated by spaces, that was passed.
    pub(crate) fn first<'o>(&self, options: &'o str) -> Option<&'o str> {
        options.split(' ').find(|option| self.0.iter().any(|given| given == option))
    }

    /// Fails for the first option without an effect. Each row contains options, whether they have an effect here, and what they apply to. If that
    /// text contains `{}`, it is the complete message, and `{}` is replaced by the option.
    pub(crate) fn check(&self, uses: &[(&str, bool, &str)]) -> Result<(), String> {
        let found = uses.iter().filter(|(_, has_effect, _)| !has_effect);
        match found.filter_map(|(options, _, text)| Some((self.first(options)?, text))).next() {
            Some((option, text)) if text.contains("{}") => Err(text.replace("{}", option)),
            Some((option, text)) => Err(format!("{option} only applies to {text}; remove it")),
            None => Ok(()),
        }
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Self(matches.ids().filter(is_given).map(|id| format!("--{}", id.as_str().replace('_', "-"))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|given| *self = given)
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
