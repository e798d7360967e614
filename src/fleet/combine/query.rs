//! A report on datasets as SQL.

use std::collections::BTreeSet;

use super::Datasets;
use crate::fleet::error::{FleetError, Result, bail, error};
use crate::fleet::host::FleetHost;
use crate::fleet::{Completeness, FleetOptions, SqlEngine, ThreadChoice};

impl Datasets {
    /// The statement for a report on these datasets. Threads that `patterns` match are named in it: engines have other regular expressions.
    ///
    /// # Errors
    /// If a dataset is incomplete and that is not allowed, no run has a requested label, or a file is in several of the datasets.
    pub fn query(
        &self,
        host: &dyn FleetHost,
        engine: SqlEngine,
        mut options: FleetOptions,
        patterns: Option<&ThreadChoice>,
        allows_incomplete: bool,
    ) -> Result<String> {
        self.check_labels(&options)?;
        let complete = self.completeness_comment(allows_incomplete)?;
        if let Some(patterns) = patterns {
            options.threads = Some(self.matching_threads(patterns)?);
        }
        let selection = self.selection();
        let selected = match selection.is_whole() {
            true => String::new(),
            false => format!("-- Runs were measured with: {}\n", selection.to_string().replace(char::is_control, " ")),
        };
        let named = |(folder, files): (String, Vec<String>)| (host.shown(&folder).into_owned(), files);
        let datasets: Vec<_> = self.files(host)?.into_iter().map(named).collect();
        Ok(complete + &selected + &engine.query(&options, &datasets))
    }

    /// A comment with the share of the inputs that the datasets have.
    fn completeness_comment(&self, allows_incomplete: bool) -> Result<String> {
        let Completeness { is_complete, inputs_expected, inputs_done } = self.completeness();
        if let Some(sentence) = self.incomplete().filter(|_| !allows_incomplete) {
            bail!("{sentence}, or pass --allow-incomplete");
        }
        let files = inputs_done.zip(inputs_expected);
        let files = files.map(|(done, expected)| format!("; {done} of {expected} input files")).unwrap_or_default();
        let state = match is_complete {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "unknown, an engine rewrote it",
        };
        let missing = self.missing_shards();
        let shards =
            if missing.is_empty() { String::new() } else { format!("; missing shards: {}", missing.join(", ")) };
        Ok(format!("-- Dataset complete: {state}{files}{shards}\n"))
    }

    fn matching_threads(&self, patterns: &ThreadChoice) -> Result<Vec<String>> {
        let mut names: BTreeSet<String> = patterns.names.iter().cloned().collect();
        self.read(|run| {
            names.extend(patterns.of_run(&run.into_measures()).map(str::to_owned));
            Ok(())
        })?;
        Ok(names.into_iter().collect())
    }

    /// A label that no run has is a mistake, which the engine would report less clearly.
    fn check_labels(&self, options: &FleetOptions) -> Result<()> {
        let mut requested = options.by.iter().chain(options.only.iter().map(|(key, _)| key)).peekable();
        if requested.peek().is_none() {
            return Ok(());
        }
        let known = self.label_keys()?;
        match requested.find(|key| !known.contains(*key)) {
            Some(key) => Err(unknown_label(key, &known.into_iter().collect::<Vec<_>>())),
            None => Ok(()),
        }
    }
}

/// The error for a label that no run has.
pub(crate) fn unknown_label(key: &str, known: &[String]) -> FleetError {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    error!("no run has the label {key:?}; known labels: {known}. A manifest adds labels (see --help)")
}
