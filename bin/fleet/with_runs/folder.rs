//! The folder for run pages, next to the page of the fleet.
//!
//! The folder is written under a temporary name and then replaces the previous one. It contains a list of its files, `runs.json`, by which it is
//! recognised: a folder with any other file is never touched.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use traceparse::PageFolder;
use traceparse::files::FileSystem;
use traceparse::fleet::{FleetError, RunRow};

use crate::interrupt::TemporaryFolder;
use crate::sink::replace;
use crate::{guard, resource_limits};

/// The list of the files in the folder.
const LIST: &str = "runs.json";
const FORMAT: &str = "traceparse-runs";
/// The names of the new and the previous folder in the temporary folder.
const NEW: &str = "new";
const OLD: &str = "old";

/// The folder for the run pages of a report: `fleet.runs` for `fleet.html`.
pub(in crate::fleet) struct RunFolder {
    path: PathBuf,
    /// The name of the report.
    report: String,
}

impl RunFolder {
    /// Returns the folder next to a report.
    ///
    /// # Errors
    /// If its name is in use by something that this command did not write for this report.
    pub(in crate::fleet) fn beside(report: &Path) -> Result<Self> {
        let path = report.with_extension("runs");
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path == report {
            bail!(
                "{}: --with-runs would create a folder with the same name; give the output file the extension .html",
                report.display()
            );
        }
        let folder = Self { report: name(report), path };
        folder.check()?;
        Ok(folder)
    }

    /// Checks that replacing the folder loses nothing.
    fn check(&self) -> Result<()> {
        guard::check(&self.path)?;
        let Ok(metadata) = fs::symlink_metadata(&self.path) else { return Ok(()) };
        let name = self.path.display();
        let advice = "move it away, or give the report another name";
        if !metadata.is_dir() {
            bail!("{name}: not a folder, and --with-runs would write one there; {advice}");
        }
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(&self.path).with_context(|| format!("{name}: cannot be read"))? {
            let entry = entry.with_context(|| format!("{name}: cannot be read"))?;
            there.insert(entry.file_name().to_string_lossy().into_owned());
        }
        if there.is_empty() {
            return Ok(());
        }
        let Some((report, own)) = self.list() else {
            bail!("{name}: not a folder of --with-runs, which would replace it; {advice}");
        };
        if report != self.report {
            bail!("{name}: has the runs of the report {report}, which --with-runs would replace; {advice}");
        }
        match there.iter().find(|file| *file != LIST && !own.contains(*file)) {
            Some(other) => {
                bail!("{name}: {other} in it was not written by --with-runs, which would remove it; {advice}")
            }
            None => Ok(()),
        }
    }

    /// The report to which the existing folder belongs, and its files; `None` without a list.
    fn list(&self) -> Option<(String, BTreeSet<String>)> {
        let bytes = resource_limits::read_file(self.path.join(LIST), resource_limits::OWN_FILE).ok()?;
        let list: Value = serde_json::from_slice(&bytes).ok()?;
        let report = list["report"].as_str().filter(|_| list["format"] == FORMAT)?;
        let files = list["pages"].as_array()?.iter().filter_map(|page| page["file"].as_str());
        Some((report.to_owned(), files.map(str::to_owned).collect()))
    }

    /// The folder that contains the report.
    fn parent(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The context of errors about a file in the folder, or about the folder (an empty name).
    fn cannot_be_written(&self, file: &str) -> String {
        let path = if file.is_empty() { &self.path } else { &self.path.join(file) };
        format!("{}: cannot be written", path.display())
    }

    /// Creates a new folder, which does not have its final name yet.
    pub(in crate::fleet) fn begin(self) -> Result<NewFolder> {
        let failed = || self.cannot_be_written("");
        let temporary = TemporaryFolder::new_in(self.parent()).with_context(failed)?;
        // The temporary folder is accessible only to its owner. The files in it have the usual permissions.
        fs::create_dir(temporary.path().join(NEW)).with_context(failed)?;
        Ok(NewFolder { place: self, temporary, pages: Vec::new() })
    }
}

/// A folder of run pages without its final name. It is deleted on drop.
pub(in crate::fleet) struct NewFolder {
    place: RunFolder,
    temporary: TemporaryFolder,
    /// The entries of the list.
    pages: Vec<Value>,
}

impl NewFolder {
    /// The current path of a file.
    fn path(&self, file: &str) -> PathBuf {
        self.temporary.path().join(NEW).join(file)
    }

    /// Renames the folder to its final name.
    ///
    /// # Errors
    /// If it cannot be written, or if something else has taken its name.
    pub(in crate::fleet) fn publish(&self) -> Result<()> {
        let list = json!({"format": FORMAT, "version": 1, "report": self.place.report, "pages": self.pages});
        let written = replace(&self.path(LIST), None, |out| writeln!(out, "{list:#}"));
        let failed = || self.place.cannot_be_written("");
        written.with_context(failed)?;
        self.temporary.replace([NEW, OLD], &self.place.path, || self.place.check()).with_context(failed)?;
        FileSystem.sync_folder(self.place.parent()).with_context(failed)
    }
}

impl PageFolder for NewFolder {
    fn name(&self) -> &OsStr {
        self.place.path.file_name().unwrap_or_default()
    }

    fn add(
        &mut self,
        run: &RunRow,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, FleetError> {
        let file = format!("{:04}.html", self.pages.len() + 1);
        let written = replace(&self.path(&file), None, write);
        written.with_context(|| self.place.cannot_be_written(&file)).map_err(FleetError::other)?;
        self.pages.push(json!({"file": file, "run_id": run.run_id, "source": run.source}));
        Ok(file)
    }
}
