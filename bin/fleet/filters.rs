//! The options that narrow what is measured of each recording: threads, time, intervals, states, and operations on stacks.

use clap::Args;
use regex::Regex;
use traceparse::fleet::{FleetOptions, FleetSelection, ThreadChoice};

use crate::filters::WhenArgs;
use crate::operations::OperationArgs;
use crate::redact::RedactArgs;
use crate::redacted;

/// The options of threads: questions of reports, and a part of the selection of an extract.
#[derive(Debug, Default, Args)]
pub(crate) struct ThreadArgs {
    /// Only threads with this name, or that match /REGEX/ (repeatable)
    ///
    /// Give the complete name: part of a name, or a TID, could match a different thread in each recording.
    #[arg(long, value_name = "NAME|/REGEX/", value_parser = parse_thread, help_heading = "Filters")]
    pub(crate) thread: Vec<ThreadName>,
    /// Only main threads; with --thread, only threads that match both
    #[arg(long, help_heading = "Filters")]
    pub(crate) only_main_thread: bool,
}

/// The options of what is measured. Runs of a dataset were measured before.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) when: WhenArgs,
    #[command(flatten)]
    pub(crate) operations: OperationArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

/// A requested thread.
#[derive(Clone, Debug)]
pub(crate) enum ThreadName {
    Whole(String),
    Pattern(Regex),
}

fn parse_thread(text: &str) -> Result<ThreadName, String> {
    let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_number = match digits {
        Some(digits) => u64::from_str_radix(digits, 16).is_ok(),
        None => text.parse::<u64>().is_ok(),
    };
    match pattern {
        _ if text.is_empty() || pattern == Some("") => Err("the name of a thread is empty".to_owned()),
        Some(pattern) => Regex::new(pattern).map(ThreadName::Pattern).map_err(|error| error.to_string()),
        None if is_number => Err(format!(
            "a TID is another thread in each recording; name the thread, or /^{text}$/ if that is its name"
        )),
        None => Ok(ThreadName::Whole(text.to_owned())),
    }
}

impl ThreadName {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Whole(whole) => whole == name,
            Self::Pattern(regex) => regex.is_match(name),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Whole(whole) => whole.clone(),
            Self::Pattern(regex) => format!("/{}/", regex.as_str()),
        }
    }
}

impl ThreadArgs {
    /// The selected threads; `None` if all are selected.
    pub(crate) fn threads(&self) -> Option<ThreadChoice> {
        let (threads, only_main) = (self.thread.clone(), self.only_main_thread);
        if threads.is_empty() && !only_main {
            return None;
        }
        let whole = threads.iter().filter_map(|thread| match thread {
            ThreadName::Whole(name) => Some(name.clone()),
            ThreadName::Pattern(_) => None,
        });
        Some(ThreadChoice {
            names: sorted(whole),
            texts: sorted(threads.iter().map(ThreadName::text)),
            only_main,
            matches: Box::new(move |name, is_main| {
                let has_name = threads.is_empty() || threads.iter().any(|thread| thread.matches(name));
                has_name && (is_main || !only_main)
            }),
        })
    }

    /// The question about these threads. Threads that a pattern finds are not among its names.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        let names = self.threads().map(|threads| threads.names).filter(|_| !self.thread.is_empty());
        FleetOptions { threads: names, only_main_threads: self.only_main_thread, ..options }
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.dedup();
    texts
}

impl FilterArgs {
    /// Checks that the options go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.when.during_all && !self.when.asks_intervals() {
            return Err("--during-all only applies to --during and --during-hang".to_owned());
        }
        if self.operations.invert {
            return Err("--invert only applies to trees; use `fleet tree --view bottom-up`".to_owned());
        }
        Ok(())
    }

    /// Describes what is measured with these options and threads. Equivalent options have the same description.
    pub(crate) fn described(&self, threads: Option<&ThreadChoice>) -> FleetSelection {
        let mut options: Vec<(String, Option<String>)> = Vec::new();
        let mut add = |name: &str, values: Vec<String>| {
            options.extend(values.into_iter().map(|value| (name.to_owned(), Some(value))));
        };
        add("--thread", threads.map(|threads| threads.texts.clone()).unwrap_or_default());
        add("--time", self.when.time.map(|time| time.to_string()).into_iter().collect());
        let names = sorted(self.when.during.iter().cloned());
        let groups = names.len() + usize::from(self.when.during_hang);
        add("--during", names);
        let states = if self.when.includes_all_states() {
            vec!["all".to_owned()]
        } else {
            sorted(self.when.state.iter().cloned())
        };
        let flags = [
            (threads.is_some_and(|threads| threads.only_main), "--only-main-thread"),
            (self.when.during_hang, "--during-hang"),
            (self.when.during_all && groups > 1, "--during-all"),
        ];
        let flags = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| (flag.to_owned(), None));
        options.extend(flags);
        options.extend(states.into_iter().map(|state| ("--state".to_owned(), Some(state))));
        options.extend(self.operations.asked());
        if self.redact.is_asked() {
            // Requested names stay out of datasets and reports, but different names remain distinguishable.
            let is_name = |option: &str| !["--time", "--state"].contains(&option);
            let values =
                options.iter_mut().filter(|(option, _)| is_name(option)).filter_map(|(_, value)| value.as_mut());
            values.for_each(|value| *value = format!("#{}", &blake3::hash(value.as_bytes()).to_hex()[..12]));
            options.push(("--redact".to_owned(), None));
            let rules = redacted::each().and_then(|each| each.hash.as_ref());
            options.extend(rules.map(|hash| ("--redact-rules".to_owned(), Some(format!("#{hash}")))));
        }
        FleetSelection::new(options)
    }

    /// The first of the options that was given.
    pub(crate) fn first(&self) -> Option<String> {
        let described = self.described(None);
        let option = described.options().first().map(|(option, _)| option.clone());
        option.or_else(|| self.when.during_all.then(|| "--during-all".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_whole_names_or_patterns() {
        let matches = |text: &str, name: &str| parse_thread(text).unwrap().matches(name);
        assert!(matches("Main Thread", "Main Thread") && !matches("Main", "Main Thread"));
        assert!(matches("/^com[.]/", "com.orchard.render") && !matches("/^orchard/", "com.orchard.render"));
        assert!(matches("/", "/") && matches("a/", "a/"));
        for bad in ["", "//", "751", "0x2f", "/(/"] {
            assert!(parse_thread(bad).is_err(), "{bad}");
        }
    }
}
