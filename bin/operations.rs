//! Operations on stacks, in the order of the command line.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use regex::Regex;
use traceparse::calltree::{Action, AtPlace, FunctionSet, Operation, PlaceAction, TreeDirection};
use traceparse::profile::Profile;

/// The options for changing stacks before anything is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Operations on stacks, in the order given")]
struct OperationOptions {
    /// Keep only samples with a matching function
    ///
    /// The function may be anywhere in their stack. The regular expression matches any part of the function's name.
    #[arg(long, value_name = "REGEX")]
    focus: Vec<Regex>,
    /// Like --focus; stacks start at the outermost match
    #[arg(long, value_name = "REGEX")]
    root_at: Vec<Regex>,
    /// Leave out samples with a matching function
    #[arg(long, value_name = "REGEX")]
    prune: Vec<Regex>,
    /// Charge matching functions to their callers
    ///
    /// The functions are removed, and their weight goes to their callers.
    #[arg(long, value_name = "REGEX")]
    charge: Vec<Regex>,
    /// Remove everything that matching functions call; its weight goes to them
    ///
    /// Stacks end at the outermost matching function.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    collapse: Vec<Regex>,
    /// Keep only samples that pass through this place of the call tree, and start stacks there
    ///
    /// The functions lead from the root of the tree to the place, separated by semicolons: 'main;App.run();Cart.total()'. A semicolon in a
    /// name is %3B. With --invert, they start at the leaf, and stacks end at the place.
    #[arg(long, value_name = "FUNCTIONS", hide_short_help = true)]
    root_at_path: Vec<String>,
    /// Leave out samples that pass through this place of the call tree
    #[arg(long, value_name = "FUNCTIONS", hide_short_help = true)]
    prune_path: Vec<String>,
    /// Remove the function at this place of the call tree; its weight goes to its caller
    #[arg(long, value_name = "FUNCTIONS", hide_short_help = true)]
    charge_path: Vec<String>,
    /// Remove this binary's functions; their weight goes to their callers
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    charge_binary: Vec<String>,
    /// Charge system functions to their callers
    #[arg(long)]
    charge_system: bool,
    /// Collapse a binary's internal calls into the function called from outside
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    flatten_binary: Vec<String>,
    /// Remove system functions from stacks
    ///
    /// Also removes samples that have only system functions.
    #[arg(long)]
    hide_system: bool,
    /// Show a recursive function once
    ///
    /// The calls between its first and its last call are left out.
    #[arg(long)]
    flatten_recursion: bool,
    /// Leave out samples of waiting threads
    ///
    /// That is, threads that wait for a message, lock, work or time.
    #[arg(long)]
    skip_idle: bool,
    /// Start trees at leaf functions, with callers below
    #[arg(long)]
    invert: bool,
}

/// The requested operations in the order of the command line, which separate fields would lose.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperationArgs {
    order: Vec<Asked>,
    pub(crate) invert: bool,
}

impl Args for OperationArgs {
    fn augment_args(command: Command) -> Command {
        OperationOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        OperationOptions::augment_args_for_update(command)
    }
}

/// A requested operation: its option and value.
#[derive(Clone, Debug)]
struct Asked {
    id: &'static str,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Regex(Regex),
    Binary(String),
    Path(String),
    Flag,
}

/// The options, grouped by the kind of their value.
const REGEXES: [&str; 5] = ["focus", "root_at", "prune", "charge", "collapse"];
const BINARIES: [&str; 2] = ["charge_binary", "flatten_binary"];
const PATHS: [&str; 3] = ["root_at_path", "prune_path", "charge_path"];
const FLAGS: [&str; 4] = ["charge_system", "hide_system", "flatten_recursion", "skip_idle"];

impl FromArgMatches for OperationArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut order: Vec<(usize, Asked)> = Vec::new();
        let mut add = |id: &'static str, values: &mut dyn Iterator<Item = Value>| {
            let indices = matches.indices_of(id).into_iter().flatten();
            order.extend(indices.zip(values).map(|(index, value)| (index, Asked { id, value })));
        };
        for id in REGEXES {
            add(id, &mut matches.get_many(id).into_iter().flatten().cloned().map(Value::Regex));
        }
        for id in BINARIES {
            add(id, &mut matches.get_many(id).into_iter().flatten().cloned().map(Value::Binary));
        }
        for id in PATHS {
            add(id, &mut matches.get_many(id).into_iter().flatten().cloned().map(Value::Path));
        }
        for id in FLAGS.into_iter().filter(|id| matches.get_flag(id)) {
            add(id, &mut std::iter::repeat(Value::Flag));
        }
        order.sort_by_key(|&(index, _)| index);
        let order = order.into_iter().map(|(_, asked)| asked).collect();
        Ok(Self { order, invert: matches.get_flag("invert") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|args| *self = args)
    }
}

impl OperationArgs {
    /// The requested options in order, each with its value, if any.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (String, Option<String>)> {
        self.order.iter().map(|asked| (option(asked.id), asked.text().map(str::to_owned)))
    }

    /// The operations on the functions of a profile, in the requested order. Inversion comes last.
    pub(crate) fn operations(&self, profile: &Profile, is_inverted: bool) -> Vec<Operation> {
        let mut operations: Vec<Operation> =
            self.order.iter().map(|asked| asked.operation(profile, is_inverted)).collect();
        if is_inverted {
            operations.push(Operation { action: Action::Invert, text: "--invert".to_owned() });
        }
        operations
    }
}

/// The name of an option on the command line.
fn option(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

impl Asked {
    /// The value as the user typed it.
    fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Regex(regex) => Some(regex.as_str()),
            Value::Binary(text) | Value::Path(text) => Some(text),
            Value::Flag => None,
        }
    }

    fn operation(&self, profile: &Profile, is_inverted: bool) -> Operation {
        let value = self.text().filter(|value| !value.is_empty()).map(|value| format!(" '{value}'"));
        let text = format!("{}{}", option(self.id), value.unwrap_or_default());
        let functions = match &self.value {
            Value::Regex(regex) => FunctionSet::of_names(profile, |name| regex.is_match(name)),
            Value::Binary(name) => FunctionSet::of_binary(profile, name),
            Value::Path(path) => return Operation { action: self.at_path(profile, path, is_inverted), text },
            Value::Flag if self.id == "skip_idle" => return Operation { action: Action::SkipIdle, text },
            Value::Flag => FunctionSet::of_system(profile),
        };
        let action = match self.id {
            "focus" => Action::Focus(functions),
            "root_at" => Action::RootAt(functions),
            "prune" => Action::Prune(functions),
            "collapse" => Action::Collapse(functions),
            "flatten_binary" => Action::Flatten(functions),
            "hide_system" => Action::Hide(functions),
            "flatten_recursion" => Action::FlattenRecursion,
            // `charge` of functions, a binary or the system.
            _ => Action::Charge(functions),
        };
        Operation { action, text }
    }

    fn at_path(&self, profile: &Profile, path: &str, is_inverted: bool) -> Action {
        let action = match self.id {
            "root_at_path" => PlaceAction::RootAt,
            "prune_path" => PlaceAction::Prune,
            _ => PlaceAction::Charge,
        };
        let direction = if is_inverted { TreeDirection::Up } else { TreeDirection::Down };
        Action::AtPlace(AtPlace::of_names(profile, action, direction, path))
    }
}
