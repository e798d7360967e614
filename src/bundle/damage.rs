//! What damage costs: a run of several, or the recording; and how Instruments itself exports what cannot be read here.

use std::path::Path;

use crate::error::{Diagnostic, Error, ErrorKind};

/// Why nothing, or not all, of a run was read.
#[derive(Debug)]
pub(super) enum RunFailure {
    /// The run's own files are damaged, and nothing of it was added: others can still be read.
    Run(Error),
    /// The recording cannot be read. Rows of the run were added, and without the rest the run would look whole; or it is no damage.
    Recording(Error),
}

impl RunFailure {
    /// What went wrong before anything of the run was added. A file that cannot be read just now, or is larger than allowed, is no damage.
    pub(super) fn before_rows(error: Error) -> Self {
        if matches!(error.kind, ErrorKind::BrokenBundle { .. }) { Self::Run(error) } else { Self::Recording(error) }
    }
}

/// A run that is left out, since its files are damaged.
#[derive(Debug)]
pub(super) struct DamagedRun {
    pub(super) number: u32,
    /// The first rule that is broken.
    pub(super) error: Error,
}

impl DamagedRun {
    /// The file, the place and the rule.
    pub(super) fn reason(&self) -> String {
        self.error.to_string()
    }

    /// Says that nothing of it is there, and what to do.
    pub(super) fn diagnostic(&self, bundle: &Path, table: &ExportTable) -> Diagnostic {
        let (number, reason, advice) = (self.number, self.reason(), table.how_to_export(bundle));
        let bundle = bundle.display();
        let message = format!("{bundle}: run {number} is damaged, and nothing of it is read: {reason}; {advice}");
        Diagnostic { at: None, message, count: 1 }
    }
}

/// The table that somebody should export instead, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExportTable {
    pub(super) run: Option<u32>,
    pub(super) schema: Option<String>,
}

impl ExportTable {
    /// How Instruments exports the table.
    pub(super) fn how_to_export(&self, bundle: &Path) -> String {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
        let run = self.run.map_or_else(String::new, |number| format!("[@number=\"{number}\"]"));
        // Of these two, which nearly every recording of CPU use has one of, the one that is there is exported.
        let schema = match &self.schema {
            Some(schema) => format!("@schema=\"{schema}\""),
            None => "@schema=\"time-profile\" or @schema=\"cpu-profile\"".to_owned(),
        };
        let path = quoted(&format!("/trace-toc/run{run}/data/table[{schema}]"));
        format!(
            "on a Mac, export it and read that: xcrun xctrace export --input {} --xpath {path} --output export.xml",
            quoted(&name)
        )
    }

    /// Adds to a broken rule what to do.
    pub(super) fn advise(&self, bundle: &Path, mut error: Error) -> Error {
        if let ErrorKind::BrokenBundle { rule, .. } = &mut error.kind {
            let advice = self.how_to_export(bundle);
            *rule = format!("{rule}. The recording is damaged, or of a kind that this version does not know; {advice}");
        }
        error
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_is_damaged_is_to_be_exported() {
        let table = ExportTable { run: Some(2), schema: Some("counters-profile".to_owned()) };
        let told = table.how_to_export(Path::new("runs/It's mine.trace"));
        let path = r#"'/trace-toc/run[@number="2"]/data/table[@schema="counters-profile"]'"#;
        let expected = format!(r"export --input 'It'\''s mine.trace' --xpath {path} --output export.xml");
        assert!(told.ends_with(&expected), "{told}");
        let told = ExportTable::default().how_to_export(Path::new("X.trace"));
        let path = r#"'/trace-toc/run/data/table[@schema="time-profile" or @schema="cpu-profile"]'"#;
        assert!(told.ends_with(&format!("--input X.trace --xpath {path} --output export.xml")), "{told}");
    }
}
