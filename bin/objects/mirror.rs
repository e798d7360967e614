//! The mirror: a temporary folder in which objects appear as files.
//!
//! ```text
//! ROOT/objects/s3/bucket/runs/7.xml    an object: empty until it is read
//! ROOT/dataset/s3/bucket/fleet/…       a dataset, which is downloaded completely (dataset.rs)
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};

use super::bucket::{Bucket, Object};
use super::copies::{self, Stamp};
use super::space::Space;
use super::url::store_of;
use crate::interrupt::TemporaryFolder;
use crate::resource_limits;

/// The subfolder for objects, which are read individually.
pub(super) const OBJECTS: &str = "objects";
/// The subfolder for datasets.
pub(super) const DATASET: &str = "dataset";

static MIRROR: OnceLock<Mirror> = OnceLock::new();

/// The mirror of this process, created for the first URL.
#[derive(Debug)]
pub(super) struct Mirror {
    /// The temporary folder; `None` after [`end`].
    folder: Mutex<Option<TemporaryFolder>>,
    /// The canonical path of the mirror.
    root: PathBuf,
    pub(super) space: Space,
    state: Mutex<State>,
    /// Notified when the download of an object ends.
    came: Condvar,
}

#[derive(Debug, Default)]
struct State {
    buckets: HashMap<String, Arc<Bucket>>,
    /// By path of the local file.
    objects: BTreeMap<PathBuf, Mirrored>,
    /// Folders whose objects have all been placed.
    listed: BTreeSet<PathBuf>,
    /// By task: the files and folders that it is currently reading.
    uses: BTreeMap<u64, Vec<PathBuf>>,
    /// The number of tasks so far.
    count: u64,
}

/// An object with its local file.
#[derive(Debug)]
struct Mirrored {
    bucket: Arc<Bucket>,
    object: Object,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Empty,
    Coming,
    Whole,
    /// Downloaded until the end of the process, since it belongs to no task.
    Kept,
}

impl Mirror {
    /// Returns the mirror, and creates it first if necessary.
    pub(super) fn get() -> Result<&'static Self> {
        static MAKING: Mutex<()> = Mutex::new(());
        let _held = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if MIRROR.get().is_none() {
            let folder = TemporaryFolder::new().context("a temporary folder for objects cannot be made")?;
            let root = std::fs::canonicalize(folder.path())?;
            let (folder, space) = (Mutex::new(Some(folder)), Space::new(resource_limits::object_space()));
            let _ = MIRROR.set(Self { folder, root, space, state: Mutex::default(), came: Condvar::new() });
        }
        MIRROR.get().ok_or_else(|| anyhow!("there is no mirror"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The local file or folder of a URL.
    pub(super) fn path(&self, tree: &str, url: &Path) -> Option<PathBuf> {
        let scheme = store_of(url)?;
        let rest = url.to_str()?.split_once("://")?.1;
        let names = rest.split('/').filter(|name| !name.is_empty());
        Some([scheme].into_iter().chain(names).fold(self.root.join(tree), |path, name| path.join(name)))
    }

    /// The scheme, bucket and key of a local file or folder.
    pub(super) fn parts(&self, path: &Path) -> Option<(String, String, String)> {
        let below = path.strip_prefix(&self.root).ok()?;
        let names: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        match names?.as_slice() {
            [_, scheme, bucket, key @ ..] => Some(((*scheme).to_owned(), (*bucket).to_owned(), key.join("/"))),
            _ => None,
        }
    }

    /// Opens a bucket, or returns it if it is already open.
    pub(super) fn bucket(&self, scheme: &str, bucket: &str) -> Result<Arc<Bucket>> {
        let name = format!("{scheme}://{bucket}");
        let mut state = self.state();
        if let Some(bucket) = state.buckets.get(&name) {
            return Ok(Arc::clone(bucket));
        }
        let bucket = Arc::new(Bucket::open(scheme, bucket)?);
        state.buckets.insert(name, Arc::clone(&bucket));
        Ok(bucket)
    }

    /// Creates the local file of an object below the folder of its bucket, unless it exists.
    pub(super) fn place(&self, folder: &Path, bucket: &Arc<Bucket>, object: &Object) -> Result<()> {
        // Web consoles create such an object for an empty folder.
        if object.key.is_empty() || (object.size == 0 && object.key.ends_with('/')) {
            return Ok(());
        }
        let path = object.key.split('/').fold(folder.to_owned(), |path, name| path.join(name));
        let is_inside = path.components().all(|part| !matches!(part, Component::ParentDir))
            && path.strip_prefix(folder).is_ok_and(|below| below.components().count() == object.key.split('/').count());
        let url = || bucket.url(&object.key);
        if !is_inside {
            return Err(anyhow!("{}: cannot be used as a file name on this system", url()));
        }
        let mut state = self.state();
        if state.objects.contains_key(&path) {
            return Ok(());
        }
        stamp(object).put_on(&copies::create(&path).with_context(url)?)?;
        let mirrored = Mirrored { bucket: Arc::clone(bucket), object: object.clone(), content: Content::Empty };
        state.objects.insert(path, mirrored);
        Ok(())
    }

    /// True if a path belongs to an object, or to a folder whose objects have all been placed.
    pub(super) fn has(&self, path: &Path) -> bool {
        let state = self.state();
        state.objects.contains_key(path) || path.ancestors().any(|folder| state.listed.contains(folder))
    }

    /// Marks a folder whose objects have all been placed. The folder and its subfolders get modification times from their contents, by which a
    /// recording is recognised.
    pub(super) fn has_listed(&self, folder: &Path) {
        let mut state = self.state();
        let mut folders: HashMap<PathBuf, (SystemTime, u64)> = HashMap::new();
        for (path, mirrored) in state.below(folder) {
            let stamp = stamp(&mirrored.object);
            let hash_of_object = stamp.hash_with(&mirrored.object.key);
            for above in path.ancestors().skip(1).take_while(|above| above.starts_with(folder)) {
                let (newest, hash) = folders.entry(above.to_owned()).or_insert((stamp.modified, 0));
                *newest = stamp.modified.max(*newest);
                *hash = hash.wrapping_add(hash_of_object);
            }
        }
        folders.iter().for_each(|(folder, (newest, hash))| copies::put_on_folder(folder, *newest, *hash));
        state.listed.insert(folder.to_owned());
    }

    /// The mirror, if it exists.
    pub(super) fn existing() -> Option<&'static Self> {
        MIRROR.get()
    }

    /// Downloads the object of a file, unless that is already done. If the download is in progress, waits for it.
    fn fill(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        let (bucket, object, is_used) = loop {
            let is_used = state.is_used(path);
            match state.objects.get_mut(path) {
                Some(mirrored) if mirrored.content == Content::Empty => {
                    mirrored.content = Content::Coming;
                    break (Arc::clone(&mirrored.bucket), mirrored.object.clone(), is_used);
                }
                Some(mirrored) if mirrored.content == Content::Coming => {
                    state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                // Already downloaded, or not an object: a folder, or a file of a dataset.
                Some(_) | None => return Ok(()),
            }
        };
        drop(state);
        // A task has already reserved the space for its objects.
        let room = if is_used { Ok(()) } else { self.space.keep(object.size) };
        let copied = room.and_then(|()| copy(&bucket, &object, path));
        if let Some(mirrored) = self.state().objects.get_mut(path) {
            mirrored.content = match (&copied, is_used) {
                (Ok(()), true) => Content::Whole,
                (Ok(()), false) => Content::Kept,
                (Err(_), _) => Content::Empty,
            };
        }
        self.came.notify_all();
        copied
    }
}

impl State {
    /// The objects at or below a path.
    fn below<'s>(&'s self, path: &'s Path) -> impl Iterator<Item = (&'s PathBuf, &'s Mirrored)> {
        self.objects.range(path.to_owned()..).take_while(move |(object, _)| object.starts_with(path))
    }

    /// True if a task is currently reading a file.
    fn is_used(&self, path: &Path) -> bool {
        self.uses.values().flatten().any(|used| path.starts_with(used))
    }
}

fn stamp(object: &Object) -> Stamp<'_> {
    Stamp { size: object.size, modified: object.modified, tag: object.tag.as_deref().unwrap_or_default() }
}

fn copy(bucket: &Bucket, object: &Object, path: &Path) -> Result<()> {
    let mut file = copies::open(path)?;
    let copied = bucket.get(object, &mut file);
    if copied.is_err() {
        file.set_len(0)?;
    }
    stamp(object).put_on(&file)?;
    copied
}

/// The downloaded objects that a task reads. When the task ends, they are removed unless another task uses them, and their space is released.
#[derive(Debug)]
pub(crate) struct Use {
    task: Option<(&'static Mirror, u64)>,
    bytes: u64,
}

impl Use {
    /// Waits until there is space for the objects among these files and folders.
    ///
    /// # Errors
    /// If the total space is too small even for these objects alone.
    pub(crate) fn begin<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self> {
        let Some(mirror) = MIRROR.get() else { return Ok(Self { task: None, bytes: 0 }) };
        let paths: Vec<PathBuf> =
            paths.into_iter().filter(|path| path.starts_with(&mirror.root)).map(Path::to_owned).collect();
        let bytes = {
            let state = mirror.state();
            paths.iter().flat_map(|path| state.below(path)).map(|(_, mirrored)| mirrored.object.size).sum()
        };
        mirror.space.take(bytes)?;
        let mut state = mirror.state();
        state.count += 1;
        let task = state.count;
        state.uses.insert(task, paths);
        Ok(Self { task: Some((mirror, task)), bytes })
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let Some((mirror, task)) = self.task else { return };
        let mut state = mirror.state();
        let paths = state.uses.remove(&task).unwrap_or_default();
        let whole = paths.iter().flat_map(|path| state.below(path)).filter(|(_, it)| it.content == Content::Whole);
        let ended: Vec<PathBuf> = whole.map(|(path, _)| path).filter(|path| !state.is_used(path)).cloned().collect();
        for path in ended {
            if let Some(mirrored) = state.objects.get_mut(&path) {
                mirrored.content = Content::Empty;
                // If the file cannot be truncated, it keeps its disk space until the end.
                let _ = copies::open(&path).and_then(|file| stamp(&mirrored.object).put_on(&file));
            }
        }
        drop(state);
        mirror.space.give_back(self.bytes);
    }
}

/// The local file or folder for a URL; any other path is returned unchanged.
pub(crate) fn located(path: &Path) -> Cow<'_, Path> {
    let mirrored = MIRROR.get().and_then(|mirror| mirror.path(OBJECTS, path));
    mirrored.map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The local file for a path. Downloads it if necessary.
///
/// # Errors
/// If it is an object that cannot be downloaded.
pub(crate) fn here(path: &Path) -> io::Result<Cow<'_, Path>> {
    let located = located(path);
    if let Some(mirror) = MIRROR.get().filter(|mirror| located.starts_with(&mirror.root)) {
        mirror.fill(&located).map_err(|error| io::Error::other(format!("{error:#}")))?;
    }
    Ok(located)
}

/// Replaces local paths of the mirror in a string by the URLs of their objects.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let Some(root) = MIRROR.get().and_then(|mirror| mirror.root.to_str()).filter(|root| text.contains(root)) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::new();
    for (index, piece) in text.split(root).enumerate() {
        let url = [OBJECTS, DATASET].iter().find_map(|tree| {
            let (scheme, rest) = piece.strip_prefix(&format!("/{tree}/"))?.split_once('/')?;
            Some(format!("{scheme}://{rest}"))
        });
        match url {
            Some(url) if index > 0 => shown.push_str(&url),
            _ if index > 0 => shown.extend([root, piece]),
            _ => shown.push_str(piece),
        }
    }
    Cow::Owned(shown)
}

/// Deletes the mirror. It must not be read afterwards.
pub(crate) fn end() {
    if let Some(mirror) = MIRROR.get() {
        drop(mirror.folder.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
