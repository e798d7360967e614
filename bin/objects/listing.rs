//! Places the objects of URLs in the mirror: a single object, all objects in a folder, or all objects below the start of a pattern.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};

use super::bucket::{Bucket, Object};
use super::dataset::{mirror_dataset, mirror_datasets};
use super::mirror::{Mirror, OBJECTS, located};
use super::url::store_of;

/// A parsed URL with its place in the mirror.
struct Place {
    mirror: &'static Mirror,
    bucket: Arc<Bucket>,
    /// The folder of the bucket in the mirror.
    folder: PathBuf,
    key: String,
    /// The local file or folder of the URL.
    path: PathBuf,
}

impl Place {
    /// Parses a URL; `None` for any other path.
    fn of(url: &Path) -> Result<Option<Self>> {
        if store_of(url).is_none() {
            return Ok(None);
        }
        let mirror = Mirror::get()?;
        let parts = mirror.path(OBJECTS, url).and_then(|path| Some((mirror.parts(&path)?, path)));
        let Some(((scheme, bucket, key), path)) = parts else {
            bail!("{}: the bucket is missing; write {}", url.display(), "s3://BUCKET/KEY");
        };
        let folder = path.ancestors().nth(if key.is_empty() { 0 } else { key.split('/').count() });
        let folder = folder.unwrap_or(&path).to_owned();
        Ok(Some(Self { mirror, bucket: mirror.bucket(&scheme, &bucket)?, folder, key, path }))
    }

    /// Places the object with exactly this key. Returns false if it does not exist.
    fn place_object(&self) -> Result<bool> {
        let object = if self.key.is_empty() { None } else { self.bucket.head(&self.key)? };
        match object {
            Some(object) => self.mirror.place(&self.folder, &self.bucket, &object).map(|()| true),
            None => Ok(false),
        }
    }

    /// Places all objects below a prefix. Returns false if there are none.
    fn place_folder(&self, prefix: &str) -> Result<bool> {
        self.place_listed(prefix, &self.bucket.list(prefix)?)
    }

    /// Places objects that were listed.
    fn place_listed(&self, prefix: &str, objects: &[Object]) -> Result<bool> {
        objects.iter().try_for_each(|object| self.mirror.place(&self.folder, &self.bucket, object))?;
        let names = prefix.split('/').filter(|name| !name.is_empty());
        self.mirror.has_listed(&names.fold(self.folder.clone(), |path, name| path.join(name)));
        Ok(!objects.is_empty())
    }

    /// Places files that may belong to an export: objects in the same folder whose names have the same stem.
    fn place_beside(&self) {
        let (folder, name) = self.key.rsplit_once('/').unwrap_or(("", &self.key));
        let stem = name.split('.').next().unwrap_or(name);
        // A user who may read an object may not be allowed to list its folder.
        let Ok(objects) = self.bucket.list_folder(folder) else { return };
        let start = if folder.is_empty() { stem.to_owned() } else { format!("{folder}/{stem}") };
        // Objects are sorted. A binary search matters if a list names each object of a large folder.
        let first = objects.partition_point(|object| object.key < start);
        for object in objects[first..].iter().take_while(|object| object.key.starts_with(&start)) {
            let _ = self.mirror.place(&self.folder, &self.bucket, object);
        }
    }

    /// The part of the key before the first name with a pattern character; `None` if there is no pattern.
    fn base_of_pattern(&self) -> Option<String> {
        let is_plain = |name: &&str| !name.bytes().any(|byte| b"*?[{".contains(&byte));
        let base: Vec<&str> = self.key.split('/').take_while(is_plain).collect();
        (base.len() < self.key.split('/').count()).then(|| base.join("/"))
    }

    fn nothing(&self) -> anyhow::Error {
        anyhow::anyhow!("{}: the object does not exist, and no object is below this name", self.bucket.url(&self.key))
    }
}

/// Places the object or objects of a URL. Does nothing for any other path.
///
/// # Errors
/// If there are no objects, or the store cannot be reached.
pub(crate) fn place(url: &Path) -> Result<()> {
    match Place::of(url)? {
        Some(place)
            if !place.mirror.has(&place.path) && !place.place_object()? && !place.place_folder(&place.key)? =>
        {
            Err(place.nothing())
        }
        _ => Ok(()),
    }
}

/// The local file or folder for an input of a fleet. Also places its neighbouring files. Datasets, and folders of datasets, are downloaded
/// completely. Any other path is returned unchanged.
///
/// # Errors
/// The same as for [`place`].
pub(crate) fn local(url: &Path) -> Result<PathBuf> {
    let Some(place) = Place::of(url)? else { return Ok(url.to_owned()) };
    if let Some(base) = place.base_of_pattern() {
        place.place_folder(&base)?;
    } else if place.mirror.has(&place.path) {
        // Already placed: a manifest may name it again.
    } else if place.place_object()? {
        place.place_beside();
    } else if let Some(dataset) = mirror_dataset(url)? {
        return Ok(dataset);
    } else {
        let objects = place.bucket.list(&place.key)?;
        if let Some(datasets) = mirror_datasets(url, &objects)? {
            return Ok(datasets);
        }
        if !place.place_listed(&place.key, &objects)? {
            return Err(place.nothing());
        }
    }
    Ok(place.path)
}

/// The path for a line of a list in a folder: a URL, or a file below the folder, which may be in the mirror.
///
/// # Errors
/// If the store cannot be reached.
pub(crate) fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    let is_url = store_of(Path::new(name)).is_some();
    let path = if is_url { PathBuf::from(name) } else { folder.join(name) };
    let mirror = if is_url { Some(Mirror::get()?) } else { Mirror::existing() };
    let parts = mirror.and_then(|mirror| mirror.parts(&located(&path)));
    let Some((scheme, bucket, key)) = parts else { return Ok(path) };
    let mut names: Vec<&str> = Vec::new();
    for name in key.split('/') {
        match name {
            "." => {}
            ".." => names.truncate(names.len().saturating_sub(1)),
            name => names.push(name),
        }
    }
    let url = PathBuf::from(format!("{scheme}://{bucket}/{}", names.join("/")));
    let Some(place) = Place::of(&url)? else { return Ok(path) };
    // If no object has this name, reading it fails like a missing file.
    if place.mirror.has(&place.path) || place.place_object()? {
        place.place_beside();
    } else {
        place.place_folder(&place.key)?;
    }
    Ok(place.path)
}
