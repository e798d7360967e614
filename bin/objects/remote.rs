//! Uploads a dataset while an extract changes its copy. Files are uploaded first. The manifest follows in one
//! conditional request, which fails if another process has replaced it. A reader therefore sees a complete version of
//! the dataset even if a process is killed, and one of two concurrent extracts fails.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use traceparse::fleet::NamedFiles;

use super::bucket::{Object, Version};
use super::copies;
use super::dataset::{Copied, MANIFEST, OWED, Remote, STAMPS};
use super::errors::Refusal;
use super::url::store_of;
use crate::exit_codes::EXIT_INPUT;
use crate::unchanged::read_whole;
use crate::{complain, interrupt, printable, resource_limits, warning};

/// The time between two uploads. A killed extract loses this much work.
const PERIOD: Duration = Duration::from_secs(30);
/// The number of files that are uploaded together.
const TOGETHER: usize = 64;
/// Leftover files of killed extracts are deleted at this age. Younger files may belong to a concurrent extract.
const ORPHANED: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The number of times the copy is read again if it changes during reading.
const TRIES: usize = 1000;

/// The destination of an extract in an object store.
#[derive(Debug)]
pub(crate) struct Target {
    stop: Sender<()>,
    thread: JoinHandle<Writer>,
}

impl Target {
    /// Copies the dataset at a URL, if there is one, and replaces the URL by the path of the copy. Returns `None` for a path.
    ///
    /// # Errors
    /// If the store cannot be reached, or the destination contains something else.
    pub(crate) fn open(output: &mut PathBuf) -> Result<Option<Self>> {
        if store_of(output).is_none() {
            return Ok(None);
        }
        let remote = Remote::new(output)?;
        let Copied { manifest, names } = remote.copy()?;
        if manifest.is_none() {
            check_empty(&remote)?;
            std::fs::create_dir_all(&remote.folder)?;
        } else {
            for name in [STAMPS, OWED] {
                if let Some((text, _)) = remote.bucket.read(&remote.at(name))? {
                    copies::write(&remote.file(name), &text)?;
                }
            }
        }
        *output = remote.folder.clone();
        let (manifest, version) = manifest.unzip();
        let manifest = manifest.unwrap_or_default();
        let writer = Writer { remote, version, manifest, there: names, replaced: BTreeSet::new() };
        let (stop, stopped) = channel();
        let work = move || {
            let mut writer = writer;
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                writer.put_now_and_then();
            }
            writer
        };
        let thread = std::thread::Builder::new().name("objects".to_owned()).spawn(work)?;
        Ok(Some(Self { stop, thread }))
    }

    /// Uploads changed files, and deletes files that are no longer needed.
    ///
    /// # Errors
    /// If the upload fails, or another process has written the dataset.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { stop, thread } = self;
        let _ = stop.send(());
        let Ok(mut writer) = thread.join() else { bail!("the dataset could not be uploaded") };
        writer.put()?;
        writer.clean_up()
    }
}

/// Fails unless the destination is empty or contains only leftovers of an extract that was killed before its first manifest.
fn check_empty(remote: &Remote) -> Result<()> {
    let objects = remote.bucket.list(&remote.key)?;
    let is_left = |name: &str| is_part(name) || name == OWED;
    let is_other = |object: &&Object| remote.name_of(&object.key).is_some_and(|name| !is_left(name));
    let url = remote.bucket.url(&remote.key);
    let other = objects.iter().find(is_other);
    ensure!(other.is_none(), "{url}: not empty and not a dataset; choose a new or empty destination");
    Ok(())
}

/// True for the name of a table file.
fn is_part(name: &str) -> bool {
    use traceparse::fleet::DatasetTable;
    let table = |table: DatasetTable| name.strip_prefix(table.name()).is_some_and(|rest| rest.starts_with('/'));
    name.ends_with(".parquet") && DatasetTable::ALL.into_iter().any(table)
}

/// The uploaded dataset, from the point of view of this process.
#[derive(Debug)]
struct Writer {
    remote: Remote,
    /// The version of the manifest that was last read or written.
    version: Option<Version>,
    manifest: Vec<u8>,
    /// The files that are already uploaded.
    there: BTreeSet<String>,
    /// Files that the manifest no longer lists.
    replaced: BTreeSet<String>,
}

impl Writer {
    /// Uploads while the extract runs. A failed upload is retried, unless another process has written the dataset.
    fn put_now_and_then(&mut self) {
        let Err(error) = self.put() else { return };
        let is_lost = error.downcast_ref::<Refusal>().is_some_and(Refusal::is_changed);
        if is_lost {
            complain(&format!("error: {}", printable(&format!("{error:#}"))));
            interrupt::end(EXIT_INPUT);
        }
        warning(&format!("{error:#}; trying again"));
    }

    /// Uploads the current version of the copy, if it is new.
    fn put(&mut self) -> Result<()> {
        for _ in 0..TRIES {
            let path = self.remote.file(MANIFEST);
            // Nothing has been extracted yet.
            if !path.exists() {
                return Ok(());
            }
            // Reading fails if the extract replaces the manifest just now: try again.
            let owed = self.owed();
            let Ok(manifest) = read_whole(&path, resource_limits::OWN_FILE) else { continue };
            if manifest == self.manifest {
                return Ok(());
            }
            // If the list has not changed, it belongs to the manifest: the list is written before an extract begins and after it ends.
            let (Ok(before), Ok(after)) = (owed, self.owed()) else { continue };
            if before != after {
                continue;
            }
            let names = self.named(&manifest)?;
            if self.put_files(&names)? {
                return self.put_manifest(manifest, &names, after);
            }
        }
        bail!(
            "{}: cannot upload the dataset: it kept changing during the upload; run the command again",
            self.remote.bucket.url(&self.remote.key)
        )
    }

    /// Uploads the files that are missing. Returns false if one disappeared, because a newer manifest no longer lists it.
    fn put_files(&mut self, names: &BTreeSet<String>) -> Result<bool> {
        let new: Vec<String> = names.difference(&self.there).cloned().collect();
        for names in new.chunks(TOGETHER) {
            let mut files = Vec::new();
            for name in names {
                match File::open(self.remote.file(name)) {
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                    file => files.push((self.remote.at(name), file?)),
                }
            }
            self.remote.bucket.put_all(&files)?;
            self.there.extend(names.iter().cloned());
        }
        Ok(true)
    }

    /// The list of unfinished files; `None` if all files are finished.
    fn owed(&self) -> Result<Option<Vec<u8>>> {
        let path = self.remote.file(OWED);
        if path.exists() { read_whole(&path, resource_limits::FILE_LIST).map(Some) } else { Ok(None) }
    }

    /// The names of the files in a manifest.
    fn named(&self, manifest: &[u8]) -> Result<BTreeSet<String>> {
        let name = self.remote.bucket.url(&self.remote.at(MANIFEST));
        Ok(NamedFiles::of(manifest, &name)?.names)
    }

    /// Uploads the manifest. The list of unfinished files is uploaded before it or, if there is none, deleted after it, so another extract never
    /// mistakes this one for complete.
    fn put_manifest(&mut self, manifest: Vec<u8>, names: &BTreeSet<String>, owed: Option<Vec<u8>>) -> Result<()> {
        let (bucket, at, at_owed) = (&self.remote.bucket, self.remote.at(MANIFEST), self.remote.at(OWED));
        let is_done = owed.is_none();
        if let Some(owed) = owed {
            bucket.put(&at_owed, owed)?;
        }
        let (version, is_conditional) = bucket.replace(&at, manifest.clone(), self.version.as_ref())?;
        if !is_conditional {
            let url = bucket.url(&at);
            warning(&format!(
                "{url}: conditional writes are disabled, so a concurrent extract may be overwritten unnoticed"
            ));
        }
        if is_done {
            bucket.remove_all(&[at_owed])?;
        }
        self.version = Some(version);
        self.manifest = manifest;
        self.replaced.extend(self.there.difference(names).cloned());
        if let Ok(stamps) = read_whole(&self.remote.file(STAMPS), resource_limits::OWN_FILE) {
            bucket.put(&self.remote.at(STAMPS), stamps)?;
        }
        Ok(())
    }

    /// Checks that all files of the manifest are uploaded. Deletes all other files: those of the previous manifest, and leftovers of extracts that
    /// were killed long ago.
    fn clean_up(&mut self) -> Result<()> {
        if self.version.is_none() {
            return Ok(());
        }
        let names = self.named(&self.manifest)?;
        let objects = self.remote.bucket.list(&self.remote.key)?;
        let there = objects.iter().filter_map(|object| Some((self.remote.name_of(&object.key)?, object)));
        let there: Vec<(&str, &Object)> = there.filter(|(name, _)| is_part(name)).collect();
        // Another extract that has just ended may have deleted files that this one needs, so upload them again.
        let found: BTreeSet<String> = there.iter().map(|(name, _)| (*name).to_owned()).collect();
        self.there = found;
        ensure!(self.put_files(&names)?, "{}: the copy of the dataset is incomplete", self.remote.folder.display());
        let written = objects.iter().find(|object| self.remote.name_of(&object.key) == Some(MANIFEST));
        // Ages are relative to the clock of the store.
        let is_old = |object: &Object| {
            let age = written.and_then(|written| written.modified.duration_since(object.modified).ok());
            age.is_some_and(|age| age > ORPHANED)
        };
        let unnamed = there.iter().filter(|(name, _)| !names.contains(*name));
        let removed = unnamed.filter(|(name, object)| self.replaced.contains(*name) || is_old(object));
        let mut keys: Vec<String> = removed.map(|(_, object)| object.key.clone()).collect();
        let owed = objects.iter().find(|object| self.remote.name_of(&object.key) == Some(OWED));
        keys.extend(owed.filter(|_| !self.remote.file(OWED).exists()).map(|owed| owed.key.clone()));
        self.remote.bucket.remove_all(&keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_files_of_tables() {
        for name in ["runs/part-1.parquet", "stacks/x.parquet"] {
            assert!(is_part(name), "{name}");
        }
        for name in ["runs/a.xml", "x/part-1.parquet", "runs.parquet", MANIFEST, STAMPS] {
            assert!(!is_part(name), "{name}");
        }
    }
}
