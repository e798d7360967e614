//! Redaction (`--redact`): keeps names of people, devices, places and other programs out of the output.

use std::path::PathBuf;

use anyhow::{Context as _, Error};
use clap::{Args, ValueHint};
use traceparse::profile::Matcher;
use traceparse::redact::{RedactRule, Redacted, Redactor};

use crate::messages::note_as_is;
use crate::redacted::Each;
use crate::unchanged::read_whole;
use crate::{Failure, redacted, resource_limits, warning};

/// The long help of `--redact-rules`. clap would write `{n}` as a newline, so it contains an invisible escape code for plain text.
const REDACT_RULES_HELP: &str = "\
Redact, and also replace names of functions, binaries, threads and signposts by the rules in this file

One rule per line: `function /Tangerine(\\w*)/ => Feature$1`; also `binary`, `thread` and `signpost`, and \"NAME\" for a whole name. \
`{\u{1b}[0mn}` in the replacement becomes a number unique to each name.";

/// The options of redaction.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RedactArgs {
    /// Replace names of users, devices and programs
    ///
    /// Keeps the name of the app. Also replaces paths that do not belong to the system. The same name gets the same pseudonym, such as user-1, everywhere
    /// in one output. Binary UUIDs, device models and dates are kept.
    #[arg(long, help_heading = None)]
    pub(crate) redact: bool,
    /// Redact, and also replace names by the rules in this file
    #[arg(
        long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Privacy", long_help = REDACT_RULES_HELP, hide_short_help = true
    )]
    pub(crate) redact_rules: Option<PathBuf>,
}

impl RedactArgs {
    /// True if redaction is requested.
    pub(crate) fn is_asked(&self) -> bool {
        self.redact || self.redact_rules.is_some()
    }

    /// Starts redaction, if requested. Names of these inputs are also redacted in messages. `processes` select the app's own processes.
    pub(crate) fn begin<'p>(
        &self,
        inputs: impl IntoIterator<Item = &'p PathBuf>,
        processes: &[Matcher],
    ) -> Result<(), Failure> {
        if self.is_asked() {
            let inputs: Vec<&PathBuf> = inputs.into_iter().collect();
            // Messages about the rules are also redacted.
            redacted::begin(self.redactor(Vec::new(), &inputs, processes));
            if self.redact_rules.is_some() {
                redacted::begin(self.redactor(self.rules()?.0, &inputs, processes));
            }
        }
        Ok(())
    }

    /// Starts redaction for the recordings of a fleet, if requested.
    pub(crate) fn begin_fleet(&self) -> Result<(), Failure> {
        if self.is_asked() {
            redacted::begin(self.redactor(Vec::new(), &[], &[]));
            let (rules, hash) = self.rules()?;
            redacted::begin_fleet(Each { rules, hash });
        }
        Ok(())
    }

    fn redactor(&self, rules: Vec<RedactRule>, inputs: &[&PathBuf], processes: &[Matcher]) -> Redactor {
        let mut redactor = Redactor::new(rules);
        redactor.keep_processes(processes);
        inputs.iter().for_each(|path| redactor.hide_input(&path.display().to_string()));
        if let Some(path) = &self.redact_rules {
            redactor.hide_input_as(&path.display().to_string(), "--redact-rules");
        }
        redactor
    }

    /// Reads the rules, and computes a hash of their file, if there is one.
    fn rules(&self) -> Result<(Vec<RedactRule>, Option<String>), Failure> {
        let Some(path) = &self.redact_rules else { return Ok((Vec::new(), None)) };
        // The name of the file may contain a name that it hides, so messages name the option.
        const USED: &str = "the file of --redact-rules cannot be used";
        let bytes = read_whole(path, resource_limits::FILE_LIST).context(USED)?;
        let hash = blake3::hash(&bytes).to_hex()[..12].to_owned();
        let text = String::from_utf8(bytes);
        let text = text.context("its text is not UTF-8; save it as UTF-8").context(USED)?;
        let rules = RedactRule::parse_rules(&text, &resource_limits::memory());
        Ok((rules.map_err(Error::msg).context(USED)?, Some(hash)))
    }
}

/// Prints notes about the kinds of names that were replaced, their pseudonyms, and rules that matched nothing.
pub(crate) fn tell() {
    let Some((list, kept, unused)) = redacted::with(|redactor| {
        let kept: Vec<String> = redactor.kept_processes().collect();
        let unused: Vec<String> = redactor.unused_rules().map(|rule| rule.text.clone()).collect();
        (redactor.redacted(), kept, unused)
    }) else {
        return;
    };
    let kinds: Vec<String> = list.iter().map(counted).collect();
    let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
    let kept = match kept.as_slice() {
        [] => "no process is known to be the app; name it with --process to keep its name".to_owned(),
        names => format!("kept as the app: {}", names.join(", ")),
    };
    note_as_is(&format!("redacted: {kinds}; {kept}"));
    for rule in unused {
        warning(&format!("--redact-rules: the rule for a {rule} matches nothing"));
    }
}

/// `3 processes (process-1 to process-3)`.
fn counted(row: &Redacted) -> String {
    let name = row.kind.name();
    let plural = match name {
        "process" => "processes".to_owned(),
        "binary" => "binaries".to_owned(),
        "other" => "other values".to_owned(),
        name => format!("{name}s"),
    };
    let name = if name == "other" { "other value" } else { name };
    if row.names == 1 { format!("1 {name}") } else { format!("{} {plural}", row.names) }
}
