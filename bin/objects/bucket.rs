//! A bucket with the requests to its object store. All asynchronous code is in this module; callers block in separate threads.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, RetryConfig};
use object_store::{UpdateVersion, WriteMultipart};
use tokio::runtime::{Builder, Runtime};

use super::copies;
use super::errors::{Asked, Refusal};

/// The number of simultaneous requests of one caller for many small objects.
const TOGETHER: usize = 16;
/// Larger files are uploaded in parts of this size.
const PIECE: usize = 16 << 20;
/// The maximum number of retries of a request, and their maximum total time.
const RETRIES: usize = 5;
const RETRY_FOR: Duration = Duration::from_secs(60);

/// A version of an object, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// The key without the bucket.
    pub(super) key: String,
    pub(super) size: u64,
    pub(super) modified: SystemTime,
    pub(super) tag: Option<String>,
    pub(super) version: Option<String>,
}

impl Object {
    fn new(meta: ObjectMeta) -> Self {
        let ObjectMeta { location, last_modified, size, e_tag, version } = meta;
        Self { key: location.into(), size, modified: last_modified.into(), tag: e_tag, version }
    }
}

/// The version of an object that a writer has read or written.
#[derive(Clone, Debug)]
pub(super) struct Version(UpdateVersion);

/// A bucket, or an Azure container.
#[derive(Debug)]
pub(super) struct Bucket {
    /// `s3://bucket`.
    pub(super) name: String,
    store: Arc<dyn ObjectStore>,
    /// Cached listings of folders, since many objects in one folder may be named individually.
    folders: Mutex<HashMap<String, Arc<[Object]>>>,
}

impl Bucket {
    /// Opens a bucket with credentials from the environment. Sends no request.
    pub(super) fn open(scheme: &str, bucket: &str) -> Result<Self> {
        static PROVIDER: OnceLock<()> = OnceLock::new();
        // This fails if a provider is already installed, which is also fine.
        PROVIDER.get_or_init(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let name = format!("{scheme}://{bucket}");
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() };
        let store = match scheme {
            "s3" | "s3a" => {
                let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
                builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }
            "gs" => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry);
                builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }
            _ => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(name.as_str()).with_retry(retry);
                builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }
        };
        let store = store.map_err(|error| Refusal::new(&name, Asked::Open, &error))?;
        Ok(Self { name, store, folders: Mutex::default() })
    }

    fn refused(&self, key: &str, asked: Asked, error: &Error) -> Refusal {
        Refusal::new(&self.url(key), asked, error)
    }

    pub(super) fn url(&self, key: &str) -> String {
        if key.is_empty() { self.name.clone() } else { format!("{}/{key}", self.name) }
    }

    /// The object with exactly this key; `None` if it does not exist.
    pub(super) fn head(&self, key: &str) -> Result<Option<Object>> {
        match wait(self.store.head(&path(key)?)) {
            Ok(meta) => Ok(Some(Object::new(meta))),
            // A missing bucket is reported by the listing that follows.
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.refused(key, Asked::Read, &error).into()),
        }
    }

    /// All objects below a prefix, at any depth, sorted by key.
    pub(super) fn list(&self, prefix: &str) -> Result<Vec<Object>> {
        let at = path(prefix)?;
        let listed = wait(self.store.list(Some(&at)).map_ok(Object::new).try_collect::<Vec<_>>());
        let mut objects = listed.map_err(|error| self.refused(prefix, Asked::List, &error))?;
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(objects)
    }

    /// The objects directly in a folder. Each folder is listed only once.
    pub(super) fn list_folder(&self, prefix: &str) -> Result<Arc<[Object]>> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(objects) = folders.get(prefix) {
            return Ok(Arc::clone(objects));
        }
        let listed = wait(self.store.list_with_delimiter(Some(&path(prefix)?)));
        let listed = listed.map_err(|error| self.refused(prefix, Asked::List, &error))?;
        let mut objects: Vec<Object> = listed.objects.into_iter().map(Object::new).collect();
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        let objects: Arc<[Object]> = objects.into();
        folders.insert(prefix.to_owned(), Arc::clone(&objects));
        Ok(objects)
    }

    /// Downloads an object into a file, in the version that was listed.
    ///
    /// # Errors
    /// If the download fails, or if the object has a different version now.
    pub(super) fn get(&self, object: &Object, file: &mut File) -> Result<()> {
        wait(self.copy(object, file))
    }

    async fn copy(&self, object: &Object, file: &mut File) -> Result<()> {
        let refused = |error| self.refused(&object.key, Asked::Read, &error);
        let options = GetOptions::new().with_if_match(object.tag.clone());
        let mut bytes = self.store.get_opts(&path(&object.key)?, options).await.map_err(refused)?.into_stream();
        let mut length = 0;
        while let Some(piece) = bytes.try_next().await.map_err(refused)? {
            length += piece.len() as u64;
            file.write_all(&piece).context("the copy of an object cannot be written")?;
        }
        let url = self.url(&object.key);
        ensure!(length == object.size, "{url}: ended after {length} of {} bytes", object.size);
        Ok(())
    }

    /// The content and version of a small object; `None` if it does not exist.
    pub(super) fn read(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>> {
        let asked = wait(async {
            let got = self.store.get(&path(key)?).await?;
            let version = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
            Ok((got.bytes().await?.to_vec(), Version(version)))
        });
        match asked {
            Ok(read) => Ok(Some(read)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.refused(key, Asked::Read, &error).into()),
        }
    }

    /// Downloads objects into new files, many at a time. Returns the keys of missing objects.
    pub(super) fn get_all(&self, wanted: &[(String, &FilePath)]) -> Result<Vec<String>> {
        let copy = async |(key, file): &(String, &FilePath)| -> Result<Option<String>> {
            let object = match self.store.head(&path(key)?).await {
                Ok(meta) => Object::new(meta),
                Err(Error::NotFound { .. }) => return Ok(Some(key.clone())),
                Err(error) => return Err(self.refused(key, Asked::Read, &error).into()),
            };
            let mut file = copies::create(file)?;
            match self.copy(&object, &mut file).await {
                Err(error) if error.downcast_ref::<Refusal>().is_some_and(Refusal::is_gone) => Ok(Some(key.clone())),
                copied => copied.map(|()| None),
            }
        };
        let copies = futures_util::stream::iter(wanted).map(copy).buffer_unordered(TOGETHER);
        Ok(wait(copies.try_collect::<Vec<_>>())?.into_iter().flatten().collect())
    }

    /// Uploads files, many at a time.
    pub(super) fn put_all(&self, files: &[(String, File)]) -> Result<()> {
        let put = async |(key, file): &(String, File)| -> Result<()> { self.put_file(key, file).await };
        let puts = futures_util::stream::iter(files).map(put).buffer_unordered(TOGETHER / 4);
        wait(puts.try_collect::<Vec<()>>()).map(drop)
    }

    async fn put_file(&self, key: &str, file: &File) -> Result<()> {
        let refused = |error| self.refused(key, Asked::Write, &error);
        let (at, mut piece) = (path(key)?, Vec::new());
        file.take(PIECE as u64).read_to_end(&mut piece)?;
        if piece.len() < PIECE {
            self.store.put(&at, PutPayload::from(piece)).await.map_err(refused)?;
            return Ok(());
        }
        let upload = self.store.put_multipart(&at).await.map_err(refused)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PIECE);
        while !piece.is_empty() {
            upload.wait_for_capacity(1).await.map_err(refused)?;
            upload.write(&piece);
            piece.clear();
            file.take(PIECE as u64).read_to_end(&mut piece)?;
        }
        upload.finish().await.map(drop).map_err(|error| refused(error).into())
    }

    /// Uploads a small object.
    pub(super) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let put = wait(self.store.put(&path(key)?, PutPayload::from(bytes)));
        put.map(drop).map_err(|error| self.refused(key, Asked::Write, &error).into())
    }

    /// Replaces the version of an object that was read, or creates the object. Returns the new version, and false if the store writes
    /// unconditionally.
    ///
    /// # Errors
    /// If the upload fails, or if another process has written the object, so that it has a different version.
    pub(super) fn replace(&self, key: &str, bytes: Vec<u8>, read: Option<&Version>) -> Result<(Version, bool)> {
        let mode = read.map_or(PutMode::Create, |Version(version)| PutMode::Update(version.clone()));
        let (at, bytes) = (path(key)?, PutPayload::from(bytes));
        let put = wait(self.store.put_opts(&at, bytes.clone(), mode.into()));
        let is_conditional = !matches!(put, Err(Error::NotImplemented { .. }));
        let put = if is_conditional { put } else { wait(self.store.put(&at, bytes)) };
        let written = put.map_err(|error| self.refused(key, Asked::Replace, &error))?;
        Ok((Version(UpdateVersion { e_tag: written.e_tag, version: written.version }), is_conditional))
    }

    /// Deletes objects. Missing objects are ignored.
    pub(super) fn remove_all(&self, keys: &[String]) -> Result<()> {
        let remove = async |key: &String| match self.store.delete(&path(key)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(anyhow!(self.refused(key, Asked::Write, &error))),
        };
        let removals = futures_util::stream::iter(keys).map(remove).buffer_unordered(TOGETHER);
        wait(removals.try_collect::<Vec<()>>()).map(drop)
    }
}

/// Uses the key verbatim: `%20` is three characters, as in the object URLs of other tools.
fn path(key: &str) -> Result<Path, Error> {
    Ok(Path::parse(key)?)
}

/// Blocks this thread until the future is complete. Any number of threads may wait; one of them drives the connections of all.
fn wait<T>(what: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let start = || Builder::new_current_thread().enable_all().build().expect("the system gives a process its timers");
    RUNTIME.get_or_init(start).block_on(what)
}
