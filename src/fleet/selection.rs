//! The selection that the runs of a fleet were measured with.

use std::fmt;

/// The options that limited the measurement of runs: the selected samples, the time, and operations on stacks. Without
/// options, runs are complete recordings. Two fleets may be compared if their selections are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetSelection {
    options: Vec<(String, Option<String>)>,
}

impl FleetSelection {
    /// A selection of options as typed, such as `--during` with its value `Scroll`, in an order that means the same each time.
    pub fn new(options: Vec<(String, Option<String>)>) -> Self {
        Self { options }
    }

    /// The options, each with its value if it takes one.
    pub fn options(&self) -> &[(String, Option<String>)] {
        &self.options
    }

    /// True if threads that do not run are selected: states other than `Running`.
    pub(crate) fn counts_waiting(&self) -> bool {
        let is_other = |state: &str| !state.eq_ignore_ascii_case("running");
        self.options.iter().any(|(option, value)| option == "--state" && value.as_deref().is_some_and(is_other))
    }

    /// True for whole recordings.
    pub fn is_whole(&self) -> bool {
        self.options.is_empty()
    }

    /// True if only some samples count. Redaction changes names only.
    pub(crate) fn is_partial(&self) -> bool {
        self.options.iter().any(|(option, _)| !option.starts_with("--redact"))
    }
}

impl fmt::Display for FleetSelection {
    /// As a shell takes them: `--during 'Feed Scroll' --only-main-thread`. Nothing for whole recordings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |(option, value): &(String, Option<String>)| match value {
            Some(value) => format!("{option} {}", quoted(value)),
            None => option.clone(),
        };
        f.write_str(&self.options.iter().map(text).collect::<Vec<_>>().join(" "))
    }
}

/// A word of a shell's command line.
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
            option("--during", Some("it's here")),
            option("--time", Some("1s..2s")),
            option("--only-main-thread", None),
            option("--focus", Some("")),
        ]);
        assert_eq!(selection.to_string(), r"--during 'it'\''s here' --time 1s..2s --only-main-thread --focus ''");
        assert!(!selection.is_whole() && FleetSelection::default().is_whole());
        assert_eq!(FleetSelection::default().to_string(), "");
        let of_states =
            |states: &[&str]| FleetSelection::new(states.iter().map(|state| option("--state", Some(state))).collect());
        assert!(!selection.counts_waiting() && !of_states(&["Running"]).counts_waiting());
        assert!(of_states(&["all"]).counts_waiting() && of_states(&["Blocked", "Running"]).counts_waiting());
    }
}
