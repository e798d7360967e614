//! Filters for the recordings of a fleet: thread options, and a description of all options that restrict what is measured.

use clap::Args;
use regex::Regex;
use traceparse::fleet::{FleetOptions, FleetSelection, ThreadChoice};

use crate::arguments::ReadingArgs;
use crate::filters::{MainThreadArgs, WhenArgs};
use crate::redacted;

/// Thread options. They restrict reports, and are part of the selection of an extract.
#[derive(Debug, Default, Args)]
pub(crate) struct ThreadArgs {
    /// Only threads with this name (repeatable)
    ///
    /// /REGEX/ matches any part of a name. Otherwise, give the complete name: part of a name, or a TID, could match a different thread in
    /// each recording.
    #[arg(long, value_name = "NAME|/REGEX/", value_parser = parse_thread)]
    pub(crate) thread: Vec<ThreadName>,
    #[command(flatten)]
    main: MainThreadArgs,
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
            "a TID identifies a different thread in each recording; name the thread, or /^{text}$/ if that is its name"
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
    pub(crate) fn threads(&self) -> Option<ThreadChoice> {
        let (threads, only_main) = (self.thread.clone(), self.main.only_main_thread);
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

    /// The selected threads, if the selection contains patterns.
    pub(crate) fn patterns(&self) -> Option<ThreadChoice> {
        self.threads().filter(ThreadChoice::has_patterns)
    }

    /// Restricts report options to these threads. The option's names do not include threads found by patterns.
    pub(crate) fn narrow(&self, options: FleetOptions) -> FleetOptions {
        let names = self.threads().map(|threads| threads.names).filter(|_| !self.thread.is_empty());
        FleetOptions { threads: names, only_main_threads: self.main.only_main_thread, ..options }
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.dedup();
    texts
}

impl ReadingArgs {
    /// Checks that the options can be combined for a fleet.
    pub(crate) fn check_fleet(&self) -> Result<(), String> {
        self.when.check()?;
        if self.operations.invert {
            return Err("--invert only applies to trees; use `fleet tree --view bottom-up`".to_owned());
        }
        Ok(())
    }

    /// Describes what is measured with these options and threads. Equivalent options have the same description.
    pub(crate) fn described(&self, threads: Option<&ThreadChoice>) -> FleetSelection {
        let WhenArgs { time, during, during_hang, during_all, state, .. } = &self.when;
        let valued = |name: &'static str, values: Vec<String>| {
            values.into_iter().map(move |value| (name.to_owned(), Some(value)))
        };
        let flag = |name: &str, is_given: bool| is_given.then(|| (name.to_owned(), None));
        let names = sorted(during.iter().cloned());
        let groups = names.len() + usize::from(*during_hang);
        let is_any = self.when.includes_all_states();
        let states = if is_any { vec!["all".to_owned()] } else { sorted(state.iter().cloned()) };
        let mut options: Vec<(String, Option<String>)> =
            valued("--thread", threads.map(|threads| threads.texts.clone()).unwrap_or_default())
                .chain(valued("--time", time.iter().map(ToString::to_string).collect()))
                .chain(valued("--during", names))
                .chain(flag("--only-main-thread", threads.is_some_and(|threads| threads.only_main)))
                .chain(flag("--during-hang", *during_hang))
                .chain(flag("--during-all", *during_all && groups > 1))
                .chain(valued("--state", states))
                .chain(self.operations.asked())
                .collect();
        if self.redact.is_asked() {
            // Names from the options must not appear in datasets and reports, but different names must remain distinguishable.
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

    /// The first option that restricts what is measured, if any.
    pub(crate) fn first_filter(&self) -> Option<String> {
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
