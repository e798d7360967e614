//! The options that narrow what is measured of each recording: threads, time, intervals, states, and operations on stacks.

use clap::Args;
use regex::Regex;
use traceparse::fleet::{FleetOptions, FleetSelection};
use traceparse::profile::{Selection, StateFilter, TimeRange};

use crate::operations::OperationArgs;
use crate::redact::RedactArgs;
use crate::redacted;
use crate::times::{parse_range, range_text};

/// The options of threads: questions of reports, and a part of the selection of an extract.
#[derive(Debug, Default, Args)]
pub(crate) struct ThreadArgs {
    /// Only threads of this name, or that /REGEX/ matches (repeatable)
    ///
    /// The name is the whole name: a part of one, or a TID, would mean another thread in each recording.
    #[arg(long, value_name = "NAME|/REGEX/", value_parser = parse_thread, help_heading = "Filters")]
    pub(crate) thread: Vec<ThreadName>,
    /// Only main threads; with --thread, those of its threads that are main threads
    #[arg(long, help_heading = "Filters")]
    pub(crate) only_main_thread: bool,
}

/// The options of what is measured. Runs of a dataset were measured before.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only this part of each recording: 1.5s..2s, 200ms.. or ..00:01.250
    ///
    /// Numbers without a unit are seconds. CPU use is of the part that was recorded.
    #[arg(long, value_name = "START..END", value_parser = parse_range, help_heading = "Filters")]
    pub(crate) time: Option<TimeRange>,
    /// Only while a signpost interval with this name is open (repeatable)
    ///
    /// CPU use is of the time of the intervals; recordings without one do not count. See below for where intervals are read from.
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) during: Vec<String>,
    /// Only during potential hangs
    #[arg(long, help_heading = "Filters")]
    pub(crate) during_hang: bool,
    /// Require all intervals of --during and --during-hang [default: any]
    #[arg(long, help_heading = "Filters")]
    pub(crate) during_all: bool,
    /// Only threads in this state, such as Blocked; `all` for any (repeatable) [default: running, or no state recorded]
    #[arg(long, value_name = "STATE", help_heading = "Filters")]
    pub(crate) state: Vec<String>,
    #[command(flatten)]
    pub(crate) operations: OperationArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

/// A thread as it was asked for.
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
    /// The threads that count; `None` if all do.
    pub(crate) fn threads(&self) -> Option<AskedThreads> {
        let (names, only_main) = (self.thread.clone(), self.only_main_thread);
        (!names.is_empty() || only_main).then_some(AskedThreads { names, only_main })
    }

    /// The question about these threads. Threads that a pattern finds are not among its names.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        let names = self.threads().map(|threads| threads.whole()).filter(|_| !self.thread.is_empty());
        FleetOptions { threads: names, only_main_threads: self.only_main_thread, ..options }
    }
}

/// The threads that count: fewer than all.
#[derive(Clone, Debug)]
pub(crate) struct AskedThreads {
    /// Alternatives; empty for every name.
    names: Vec<ThreadName>,
    /// True if only main threads count.
    pub(crate) only_main: bool,
}

impl AskedThreads {
    /// True for a thread of this name that is a main thread or not.
    pub(crate) fn matches(&self, name: &str, is_main: bool) -> bool {
        (is_main || !self.only_main) && (self.names.is_empty() || self.names.iter().any(|thread| thread.matches(name)))
    }

    /// The names that are told in full, each once.
    pub(crate) fn whole(&self) -> Vec<String> {
        let whole = self.names.iter().filter_map(|thread| match thread {
            ThreadName::Whole(name) => Some(name.clone()),
            ThreadName::Pattern(_) => None,
        });
        sorted(whole)
    }

    /// As they were asked for, each once.
    pub(crate) fn texts(&self) -> Vec<String> {
        sorted(self.names.iter().map(ThreadName::text))
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
        if self.during_all && !self.asks_intervals() {
            return Err("--during-all only applies to --during and --during-hang".to_owned());
        }
        if self.operations.invert {
            return Err("--invert turns trees upside down, and a fleet shows none".to_owned());
        }
        Ok(())
    }

    /// True if samples count during intervals only.
    pub(crate) fn asks_intervals(&self) -> bool {
        !self.during.is_empty() || self.during_hang
    }

    /// The samples that count, but for intervals, which each recording has its own of.
    pub(crate) fn selection(&self) -> Selection {
        Selection { time: self.time, states: states(&self.state), ..Selection::default() }
    }

    /// What is measured with these options and threads, said in one way for all that mean the same.
    pub(crate) fn described(&self, threads: Option<&AskedThreads>) -> FleetSelection {
        let mut options: Vec<(String, Option<String>)> = Vec::new();
        let mut add = |name: &str, values: Vec<String>| {
            options.extend(values.into_iter().map(|value| (name.to_owned(), Some(value))));
        };
        add("--thread", threads.map(AskedThreads::texts).unwrap_or_default());
        add("--time", self.time.map(range_text).into_iter().collect());
        let names = sorted(self.during.iter().cloned());
        let groups = names.len() + usize::from(self.during_hang);
        add("--during", names);
        let is_any = self.state.iter().any(|state| state.eq_ignore_ascii_case("all"));
        let states = if is_any { vec!["all".to_owned()] } else { sorted(self.state.iter().cloned()) };
        let flags = [
            (threads.is_some_and(|threads| threads.only_main), "--only-main-thread"),
            (self.during_hang, "--during-hang"),
            (self.during_all && groups > 1, "--during-all"),
        ];
        let flags = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| (flag.to_owned(), None));
        options.extend(flags);
        options.extend(states.into_iter().map(|state| ("--state".to_owned(), Some(state))));
        options.extend(self.operations.asked());
        if self.redact.is_asked() {
            // Names that were asked for stay out of datasets and reports, and two that differ are told apart.
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
        option.or_else(|| self.during_all.then(|| "--during-all".to_owned()))
    }
}

fn states(asked: &[String]) -> StateFilter {
    match asked {
        [] => StateFilter::Running,
        states if states.iter().any(|state| state.eq_ignore_ascii_case("all")) => StateFilter::All,
        states => StateFilter::Only(states.to_vec()),
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
