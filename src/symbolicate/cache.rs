//! Caches symbols for a batch of profiles: an address looked up for one export is reused for the next.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "symbols")]
use rayon::prelude::*;

use super::answers::Answers;
use super::apply;
use super::cached_answers::Remembered;
use super::images::{ImageAddresses, ImageMap, SymbolicateOptions, addresses};
use super::summary::SymbolicationSummary;
use crate::hash::HashMap;
use crate::memory::{MemoryBudget, OverBudget};
use crate::profile::{Profile, RebuildError};
use crate::symbols::SymbolFinder;
use crate::units::Uuid;

/// Symbolicates many profiles, and caches the answers of symbol files: no file is opened again for an address that an earlier profile contained.
/// The cache can be shared between threads.
///
/// All profiles and summaries are the same as from [`Profile::symbolicate`]. Only the notes about damaged symbol files may differ: each profile
/// that needs such a file gets the first note about it. An unreadable file is retried for the next profile, unless it is not a symbol file at all.
///
/// The cache keeps about [`DEFAULT_LIMIT`](Self::DEFAULT_LIMIT) bytes, or the limit of [`with_limit`](Self::with_limit), and is emptied when it
/// exceeds that. Answers for profiles in progress take additional memory.
///
/// Only one thread at a time looks up addresses in an image, so no file is read twice in parallel. The finder is called while the image is
/// locked, and must not wait for other work in the same thread pool.
///
/// ```
/// use traceparse::symbolicate::{SymbolCache, SymbolicateOptions};
/// use traceparse::files::FileSystem;
/// use traceparse::symbols::Locator;
/// # use traceparse::profile::Profile;
///
/// let locator = Locator::new(&FileSystem);
/// let cache = SymbolCache::new(&locator);
/// # let profiles = [Profile::default(), Profile::default()];
/// for profile in &profiles {
///     let (named, summary) = cache.symbolicate(profile, &SymbolicateOptions::default())?;
///     assert_eq!((named.samples().len(), summary.frames_without_binary), (0, 0));
/// }
/// # Ok::<(), traceparse::profile::RebuildError>(())
/// ```
pub struct SymbolCache<'f> {
    finder: &'f dyn SymbolFinder,
    limit: usize,
    memory: Mutex<Memory>,
}

/// All cached images. This lock is held only briefly, and never while an image is being locked or looked up.
#[derive(Default)]
struct Memory {
    images: HashMap<Uuid, Arc<Mutex<Remembered>>>,
    /// The approximate size of all images.
    bytes: usize,
}

impl<'f> SymbolCache<'f> {
    /// The default cache size: 256 MiB, enough for a few million addresses.
    pub const DEFAULT_LIMIT: usize = 256 << 20;

    /// Creates an empty cache. The finder must always find the same files.
    pub fn new(finder: &'f dyn SymbolFinder) -> Self {
        Self::with_limit(finder, Self::DEFAULT_LIMIT)
    }

    /// Creates a cache of about this many bytes; 0 caches nothing from one profile to the next.
    pub fn with_limit(finder: &'f dyn SymbolFinder, bytes: usize) -> Self {
        Self { finder, limit: bytes, memory: Mutex::default() }
    }

    /// Returns the recording with the names from symbol files, and a summary of its frames, like [`Profile::symbolicate`].
    ///
    /// # Errors
    /// If the new profile exceeds the capacity of its tables, or the names exceed the memory [budget](Profile::budget).
    pub fn symbolicate(
        &self,
        profile: &Profile,
        options: &SymbolicateOptions,
    ) -> Result<(Profile, SymbolicationSummary), RebuildError> {
        let map = ImageMap::new(&options.images, self.finder);
        let answers = self.answers(&addresses(profile, &map), profile.budget())?;
        apply::apply(profile, &map, answers, self.finder, options)
    }

    /// Returns the answers for all images. If there is not enough memory to look up several in parallel, retries one by one, so the outcome does
    /// not depend on timing.
    fn answers(&self, images: &[ImageAddresses], budget: &MemoryBudget) -> Result<HashMap<Uuid, Answers>, OverBudget> {
        let one = |image: &ImageAddresses| Ok((image.uuid, self.look_up(image.clone(), budget)?));
        #[cfg(feature = "symbols")]
        let together = images.par_iter().map(one).collect::<Result<HashMap<Uuid, Answers>, OverBudget>>();
        // Sequential, since the archives in bundles are small.
        #[cfg(not(feature = "symbols"))]
        let together = images.iter().map(one).collect::<Result<HashMap<Uuid, Answers>, OverBudget>>();
        let is_short = together.as_ref().map_or(true, |answers| answers.values().any(|answers| answers.is_short));
        if !is_short || images.len() < 2 {
            return together;
        }
        drop(together);
        images.iter().map(one).collect()
    }

    /// Returns the answers for one image. Uses only this thread: if it waited for others while holding a lock, it could be given work that needs
    /// the same lock.
    fn look_up(&self, image: ImageAddresses, budget: &MemoryBudget) -> Result<Answers, OverBudget> {
        let uuid = image.uuid;
        if self.finder.find(uuid).is_empty() {
            return Ok(Answers::default());
        }
        let remembered = Arc::clone(lock(&self.memory).images.entry(uuid).or_default());
        let mut locked = lock(&remembered);
        let before = locked.bytes();
        let answers = locked.look_up(image, self.finder, budget);
        let after = locked.bytes();
        drop(locked);
        self.count(uuid, &remembered, after.wrapping_sub(before) as isize);
        answers
    }

    /// Accounts for the growth of an image, and empties the cache if it exceeds the limit.
    fn count(&self, uuid: Uuid, remembered: &Arc<Mutex<Remembered>>, grown: isize) {
        let mut memory = lock(&self.memory);
        // The image may no longer be in the cache.
        if memory.images.get(&uuid).is_some_and(|current| Arc::ptr_eq(current, remembered)) {
            memory.bytes = memory.bytes.saturating_add_signed(grown);
        }
        if memory.bytes > self.limit {
            *memory = Memory::default();
        }
    }
}

impl fmt::Debug for SymbolCache<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Memory { images, bytes } = &*lock(&self.memory);
        let mut shown = f.debug_struct("SymbolCache");
        shown.field("images", &images.len()).field("bytes", bytes).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Locks a mutex. Its content is consistent even if a finder panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
