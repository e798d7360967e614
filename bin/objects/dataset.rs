//! A dataset in an object store, and its local copy: the manifest and the files that it lists. The dataset code of the library reads and checks the
//! copy like any other folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use traceparse::fleet::{DatasetTable, NamedFiles, Store};

use super::bucket::{Bucket, Object, Version};
use super::copies;
use super::mirror::{DATASET, Mirror};

pub(super) const MANIFEST: &str = Store::MANIFEST;
pub(super) const STAMPS: &str = Store::STAMPS;
pub(super) const OWED: &str = Store::OWED;

/// The number of times the manifest is read again if files disappear while they are copied.
const TRIES: usize = 5;

/// A dataset at a URL.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) bucket: Arc<Bucket>,
    pub(super) key: String,
    /// The folder with the local copy.
    pub(super) folder: PathBuf,
}

/// A version of a dataset.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// The manifest and its version; `None` if the dataset does not exist yet.
    pub(super) manifest: Option<(Vec<u8>, Version)>,
    /// The names of the files in the manifest.
    pub(super) names: BTreeSet<String>,
}

impl Remote {
    /// The dataset at a URL. It may not exist yet.
    pub(super) fn new(url: &Path) -> Result<Self> {
        let mirror = Mirror::get()?;
        let parts = mirror.path(DATASET, url).and_then(|path| Some((mirror.parts(&path)?, path)));
        let Some(((scheme, bucket, key), folder)) = parts else { bail!("{}: the bucket is missing", url.display()) };
        Ok(Self { bucket: mirror.bucket(&scheme, &bucket)?, key, folder })
    }

    /// The key of one of its files.
    pub(super) fn at(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) }
    }

    /// The file name for a key; `None` if the key is outside of the dataset.
    pub(super) fn name_of<'k>(&self, key: &'k str) -> Option<&'k str> {
        if self.key.is_empty() { Some(key) } else { key.strip_prefix(&self.key)?.strip_prefix('/') }
    }

    /// The local path of a file.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        name.split('/').fold(self.folder.clone(), |path, name| path.join(name))
    }

    /// Downloads the dataset in the state of one version of its manifest.
    pub(super) fn copy(&self) -> Result<Copied> {
        let mut room = 0;
        for _ in 0..TRIES {
            let Some((manifest, version)) = self.bucket.read(&self.at(MANIFEST))? else { return Ok(Copied::default()) };
            let NamedFiles { names, bytes } = NamedFiles::of(&manifest, &self.bucket.url(&self.at(MANIFEST)))?;
            if bytes > room {
                Mirror::get()?.space.keep(bytes - room)?;
                room = bytes;
            }
            let files: Vec<(String, PathBuf)> = names.iter().map(|name| (self.at(name), self.file(name))).collect();
            let missing: Vec<(String, &Path)> = files
                .iter()
                .filter(|(_, file)| !file.exists())
                .map(|(key, file)| (key.clone(), file.as_path()))
                .collect();
            let gone = self.bucket.get_all(&missing)?;
            let is_same = || -> Result<bool> {
                Ok(self.bucket.read(&self.at(MANIFEST))?.is_some_and(|(now, _)| now == manifest))
            };
            if gone.is_empty() || is_same()? {
                copies::write(&self.file(MANIFEST), &manifest)?;
                // An extract would otherwise mistake files that the manifest does not list for files of the user.
                self.keep_only(&names)?;
                return Ok(Copied { manifest: Some((manifest, version)), names });
            }
        }
        bail!("{}: another extract keeps writing to it; wait until that extract is done", self.bucket.url(&self.key))
    }

    /// Deletes local files of an earlier version.
    fn keep_only(&self, names: &BTreeSet<String>) -> Result<()> {
        for table in DatasetTable::ALL {
            for entry in std::fs::read_dir(self.folder.join(table.name())).into_iter().flatten().flatten() {
                let name = format!("{}/{}", table.name(), entry.file_name().to_string_lossy());
                if !names.contains(&name) {
                    std::fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }
}

/// Downloads a dataset for reading. Returns its folder; `None` if there is no dataset.
pub(super) fn mirror_dataset(url: &Path) -> Result<Option<PathBuf>> {
    let remote = Remote::new(url)?;
    let copied = remote.copy()?;
    Ok(copied.manifest.map(|_| remote.folder))
}

/// Downloads all datasets directly below a URL, if all objects there belong to them. Returns the folder, or `None` otherwise. Other objects are
/// allowed if their names begin with `_` or a dot, like those of SQL engines.
pub(super) fn mirror_datasets(url: &Path, objects: &[Object]) -> Result<Option<PathBuf>> {
    let remote = Remote::new(url)?;
    let names = objects.iter().filter_map(|object| remote.name_of(&object.key));
    let of_manifest = |name: &str| Some(name.strip_suffix(MANIFEST)?.strip_suffix('/')?.to_owned());
    let datasets: BTreeSet<String> = names.clone().filter_map(of_manifest).filter(|name| !name.contains('/')).collect();
    let is_of_one = |name: &str| match name.split_once('/') {
        Some((folder, _)) => datasets.contains(folder),
        None => name.starts_with(['_', '.']),
    };
    if datasets.is_empty() || !names.clone().all(is_of_one) {
        return Ok(None);
    }
    for name in &datasets {
        mirror_dataset(&url.join(name))?;
    }
    Ok(Some(remote.folder))
}
