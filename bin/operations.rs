//! Operations on stacks, in the order they stand on the command line.

use clap::{ArgMatches, Args};
use regex::Regex;
use traceparse::calltree::{Action, FunctionSet, Operation};
use traceparse::profile::Profile;

/// The options for changing stacks before anything is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Operations on stacks, in the order given")]
pub(crate) struct OperationArgs {
    /// Only samples with a function like this in their stack; a regular expression for part of the name
    #[arg(long, value_name = "REGEX")]
    focus: Vec<Regex>,
    /// The same, and stacks start at the outermost of these functions
    #[arg(long, value_name = "REGEX")]
    root_at: Vec<Regex>,
    /// No samples with a function like this in their stack
    #[arg(long, value_name = "REGEX")]
    prune: Vec<Regex>,
    /// Take these functions out of stacks: their weight goes to their callers
    #[arg(long, value_name = "REGEX")]
    charge: Vec<Regex>,
    /// Take the functions of a binary out of stacks: their weight goes to their callers
    #[arg(long, value_name = "NAME")]
    charge_binary: Vec<String>,
    /// Take the system's functions out of stacks: their weight goes to their callers
    #[arg(long)]
    charge_system: bool,
    /// Of a binary's functions that call each other, only the one that was called from outside
    #[arg(long, value_name = "NAME")]
    flatten_binary: Vec<String>,
    /// Take the system's functions out of stacks, and leave out samples that have no others
    #[arg(long)]
    hide_system: bool,
    /// A function that is called again below itself is shown once, without what lies between
    #[arg(long)]
    flatten_recursion: bool,
    /// No samples of threads that wait: for a message, a lock, work, or time
    #[arg(long)]
    skip_idle: bool,
    /// Turn trees round: the functions that samples were taken in first, below them their callers
    #[arg(long)]
    pub(crate) invert: bool,
    /// The operations that were asked for, in their order; [`set_order`](Self::set_order) sets it.
    #[arg(skip)]
    order: Vec<Asked>,
}

/// An operation that was asked for.
#[derive(Clone, Debug)]
enum Asked {
    Regex(&'static str, Regex),
    Binary(&'static str, String),
    Flag(&'static str),
}

/// The options by what they take.
const REGEXES: [&str; 4] = ["focus", "root_at", "prune", "charge"];
const BINARIES: [&str; 2] = ["charge_binary", "flatten_binary"];
const FLAGS: [&str; 4] = ["charge_system", "hide_system", "flatten_recursion", "skip_idle"];

impl OperationArgs {
    /// Takes the order of the options from the command line.
    pub(crate) fn set_order(&mut self, matches: &ArgMatches) {
        let mut order: Vec<(usize, Asked)> = Vec::new();
        for id in REGEXES {
            let values = matches.get_many::<Regex>(id).into_iter().flatten().cloned();
            order.extend(indices(matches, id).zip(values.map(|regex| Asked::Regex(id, regex))));
        }
        for id in BINARIES {
            let values = matches.get_many::<String>(id).into_iter().flatten().cloned();
            order.extend(indices(matches, id).zip(values.map(|name| Asked::Binary(id, name))));
        }
        for id in FLAGS.into_iter().filter(|id| matches.get_flag(id)) {
            order.extend(indices(matches, id).map(|index| (index, Asked::Flag(id))));
        }
        order.sort_by_key(|&(index, _)| index);
        self.order = order.into_iter().map(|(_, asked)| asked).collect();
    }

    /// The operations on a profile's functions, in the order they were asked for; turning round comes last.
    pub(crate) fn operations(&self, profile: &Profile, is_inverted: bool) -> Vec<Operation> {
        let mut operations: Vec<Operation> = self.order.iter().map(|asked| asked.operation(profile)).collect();
        if is_inverted {
            operations.push(Operation { action: Action::Invert, text: "--invert".to_owned() });
        }
        operations
    }
}

fn indices<'m>(matches: &'m ArgMatches, id: &str) -> impl Iterator<Item = usize> + use<'m> {
    matches.indices_of(id).into_iter().flatten()
}

impl Asked {
    fn operation(&self, profile: &Profile) -> Operation {
        let text = |id: &str, value: &str| {
            let value = if value.is_empty() { String::new() } else { format!(" '{value}'") };
            format!("--{}{value}", id.replace('_', "-"))
        };
        match self {
            Self::Regex(id, regex) => {
                let functions = FunctionSet::of_names(profile, |name| regex.is_match(name));
                let action = match *id {
                    "focus" => Action::Focus(functions),
                    "root_at" => Action::RootAt(functions),
                    "prune" => Action::Prune(functions),
                    _ => Action::Charge(functions),
                };
                Operation { action, text: text(id, regex.as_str()) }
            }
            Self::Binary(id, name) => {
                let functions = FunctionSet::of_binary(profile, name);
                let action =
                    if *id == "charge_binary" { Action::Charge(functions) } else { Action::Flatten(functions) };
                Operation { action, text: text(id, name) }
            }
            Self::Flag(id) => {
                let action = match *id {
                    "charge_system" => Action::Charge(FunctionSet::of_system(profile)),
                    "hide_system" => Action::Hide(FunctionSet::of_system(profile)),
                    "skip_idle" => Action::PruneLeaves(FunctionSet::idle(profile)),
                    _ => Action::FlattenRecursion,
                };
                Operation { action, text: text(id, "") }
            }
        }
    }
}
