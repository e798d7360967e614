//! The selection with which a fleet's runs were measured.

use std::fmt;

use crate::settings::{STATE, Setting};

/// The options with which runs were measured: selected samples and times, operations on stacks, and redaction. Without options, runs are complete
/// recordings. Fleets with equal selections are comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetSelection {
    options: Vec<(String, Option<String>)>,
}

impl FleetSelection {
    /// Creates a selection from [settings](crate::settings::Setting) as the program writes them, such as `during` with the value `Scroll`. They
    /// are put in a canonical order, so that equivalent selections are equal. Leading hyphens are ignored.
    pub fn new(options: Vec<(String, Option<String>)>) -> Self {
        Self { options }
    }

    /// The options, each with its value if it takes one.
    pub fn options(&self) -> &[(String, Option<String>)] {
        &self.options
    }

    /// True if threads that are not running are selected, by a state other than `Running`.
    pub(crate) fn counts_waiting(&self) -> bool {
        let is_other = |state: &str| !state.eq_ignore_ascii_case("running");
        self.values(STATE).any(is_other)
    }

    /// True if there are no options.
    pub fn is_whole(&self) -> bool {
        self.options.is_empty()
    }

    /// True if there is any option except redaction, which only changes names.
    pub(crate) fn is_partial(&self) -> bool {
        self.options.iter().any(|(option, _)| !name(option).starts_with("redact"))
    }

    /// The values of a setting, skipping occurrences without one.
    pub(crate) fn values(&self, setting: Setting) -> impl Iterator<Item = &str> {
        let found = self.options.iter().filter(move |(option, _)| name(option) == setting.name);
        found.filter_map(|(_, value)| value.as_deref())
    }
}

impl fmt::Display for FleetSelection {
    /// Writes the options, with values quoted for a shell: `during 'Feed Scroll' only-main-thread`. Empty for complete recordings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |(option, value): &(String, Option<String>)| match value {
            Some(value) => format!("{option} {}", quoted(value)),
            None => option.clone(),
        };
        f.write_str(&self.options.iter().map(text).collect::<Vec<_>>().join(" "))
    }
}

/// The name of the setting for an option.
fn name(option: &str) -> &str {
    option.trim_start_matches('-')
}

/// Quotes a string as one word of a shell command, if necessary.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_typed() {
        let option = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let selection = FleetSelection::new(vec![
            option("during", Some("it's here")),
            option("time", Some("1s..2s")),
            option("only-main-thread", None),
            option("focus", Some("")),
        ]);
        assert_eq!(selection.to_string(), r"during 'it'\''s here' time 1s..2s only-main-thread focus ''");
        assert!(!selection.is_whole() && FleetSelection::default().is_whole());
        assert_eq!(FleetSelection::default().to_string(), "");
        let of_states =
            |states: &[&str]| FleetSelection::new(states.iter().map(|state| option("state", Some(state))).collect());
        assert!(!selection.counts_waiting() && !of_states(&["Running"]).counts_waiting());
        assert!(of_states(&["all"]).counts_waiting() && of_states(&["Blocked", "Running"]).counts_waiting());
    }
}
