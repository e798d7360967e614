//! Operations on stacks, in the order of the command line.

use clap::{ArgMatches, Args};
use regex::Regex;
use traceparse::calltree::{Action, FunctionSet, Operation};
use traceparse::profile::Profile;

/// The options for changing stacks before anything is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Operations on stacks, in the order given")]
pub(crate) struct OperationArgs {
    /// Keep only samples with a matching function in their stack
    ///
    /// The regular expression matches any part of the function's name.
    #[arg(long, value_name = "REGEX")]
    focus: Vec<Regex>,
    /// Like --focus, and start stacks at the outermost matching function
    #[arg(long, value_name = "REGEX")]
    root_at: Vec<Regex>,
    /// Leave out samples with a matching function in their stack
    #[arg(long, value_name = "REGEX")]
    prune: Vec<Regex>,
    /// Remove matching functions; their weight goes to their callers
    #[arg(long, value_name = "REGEX")]
    charge: Vec<Regex>,
    /// Remove everything that matching functions call; its weight goes to them
    ///
    /// Stacks end at the outermost matching function.
    #[arg(long, value_name = "REGEX")]
    collapse: Vec<Regex>,
    /// Remove this binary's functions; their weight goes to their callers
    #[arg(long, value_name = "NAME")]
    charge_binary: Vec<String>,
    /// Remove system functions; their weight goes to their callers
    #[arg(long)]
    charge_system: bool,
    /// Collapse a binary's internal calls into the function called from outside
    #[arg(long, value_name = "NAME")]
    flatten_binary: Vec<String>,
    /// Remove system functions from stacks, and samples with only system functions
    #[arg(long)]
    hide_system: bool,
    /// Show a recursive function once, without the calls in between
    #[arg(long)]
    flatten_recursion: bool,
    /// Leave out samples of threads waiting for a message, lock, work or time
    #[arg(long)]
    skip_idle: bool,
    /// Turn trees upside down: leaf functions first, callers below them
    #[arg(long)]
    pub(crate) invert: bool,
    /// The requested operations, in their order; [`set_order`](Self::set_order) sets it.
    #[arg(skip)]
    order: Vec<Asked>,
}

/// A requested operation.
#[derive(Clone, Debug)]
enum Asked {
    Regex(&'static str, Regex),
    Binary(&'static str, String),
    Flag(&'static str),
}

/// The options by what they take.
const REGEXES: [&str; 5] = ["focus", "root_at", "prune", "charge", "collapse"];
const BINARIES: [&str; 2] = ["charge_binary", "flatten_binary"];
const FLAGS: [&str; 4] = ["charge_system", "hide_system", "flatten_recursion", "skip_idle"];

impl OperationArgs {
    /// Sorts the operations in the order of the command line.
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

    /// The requested options in their order, each with its value if it takes one.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (String, Option<String>)> {
        self.order.iter().map(|asked| match asked {
            Asked::Regex(id, regex) => (option(id), Some(regex.as_str().to_owned())),
            Asked::Binary(id, name) => (option(id), Some(name.clone())),
            Asked::Flag(id) => (option(id), None),
        })
    }

    /// The operations on a profile's functions, in the requested order, with inversion last.
    pub(crate) fn operations(&self, profile: &Profile, is_inverted: bool) -> Vec<Operation> {
        let mut operations: Vec<Operation> = self.order.iter().map(|asked| asked.operation(profile)).collect();
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

fn indices<'m>(matches: &'m ArgMatches, id: &str) -> impl Iterator<Item = usize> + use<'m> {
    matches.indices_of(id).into_iter().flatten()
}

impl Asked {
    fn operation(&self, profile: &Profile) -> Operation {
        let text = |id: &str, value: &str| {
            let value = if value.is_empty() { String::new() } else { format!(" '{value}'") };
            format!("{}{value}", option(id))
        };
        match self {
            Self::Regex(id, regex) => {
                let functions = FunctionSet::of_names(profile, |name| regex.is_match(name));
                let action = match *id {
                    "focus" => Action::Focus(functions),
                    "root_at" => Action::RootAt(functions),
                    "prune" => Action::Prune(functions),
                    "collapse" => Action::Collapse(functions),
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
