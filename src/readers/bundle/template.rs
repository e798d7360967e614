//! `form.template`: the keyed archive with all data of a recording except its tables.
//!
//! | top-level key | content |
//! |---|---|
//! | `com.apple.xray.run.data` | `$1`: run → its data (see `run_data`) |
//! | `com.apple.xray.symbolstoremanager.symbolstores` | run → `DEVICE.PID` → the images of a process (see `process_images`) |
//! | `com.apple.xray.symbolstore.sharedcache.signatures` | UUID of a shared cache → offset → the image there |
//! | `com.apple.xray.symbolstore.kern.signatures` | run → kernel and kernel extensions |
//!
//! Old recordings lack the last three.

use super::budget::Budget;
use super::keyed_archive::{KeyedArchive, Node};
use super::keyed_collections::Kind;
use crate::symbols::Broken;

/// The key of the images of processes.
const IMAGES: &str = "com.apple.xray.symbolstoremanager.symbolstores";

#[derive(Clone, Debug, Default)]
pub(super) struct Template<'a> {
    /// `None` if the file does not exist; everything in it is then unknown.
    archive: Option<KeyedArchive<'a>>,
}

/// The entry of a process.
#[derive(Clone, Debug)]
pub(super) struct ProcessStore<'t> {
    /// The device that it ran on.
    pub(super) device: String,
    pub(super) pid: u64,
    /// The signature and offsets of its images.
    pub(super) node: Node<'t>,
}

impl<'a> Template<'a> {
    /// Parses a `form.template`, which must be decompressed.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Broken> {
        Ok(Self { archive: Some(KeyedArchive::read(bytes)?) })
    }

    /// Whether the file exists.
    pub(super) fn is_there(&self) -> bool {
        self.archive.is_some()
    }

    /// Whether it lists the images of processes.
    pub(super) fn has_images(&self) -> Result<bool, Broken> {
        Ok(self.top(IMAGES)?.is_some())
    }

    fn top(&self, name: &str) -> Result<Option<Node<'_>>, Broken> {
        self.archive.as_ref().map_or(Ok(None), |archive| archive.top(name))
    }

    pub(super) fn budget(&self) -> Budget {
        self.archive.as_ref().map_or_else(Budget::default, Budget::new)
    }

    pub(super) fn run(&self, run: u64) -> Result<Option<Node<'_>>, Broken> {
        numbered(self.run_entries()?, run)
    }

    fn run_entries(&self) -> Result<Vec<(Node<'_>, Node<'_>)>, Broken> {
        match self.top("com.apple.xray.run.data")? {
            Some(data) => data.field("$1")?.map_or(Ok(Vec::new()), Node::entries),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the UUID of the device chosen for a run.
    pub(super) fn device(&self, run: u64) -> Result<Option<String>, Broken> {
        let device = self.run(run)?.map_or(Ok(None), |data| data.member("targetDevice"))?;
        let uuid = device.map_or(Ok(None), |device| device.member("_deviceIdentifier"))?;
        Ok(uuid.map_or(Ok(None), Node::text)?.map(String::from))
    }

    /// Lists the processes of a run, sorted by pid and device. Entries whose name is not `DEVICE.PID` are skipped.
    pub(super) fn processes(&self, run: u64, budget: &mut Budget) -> Result<Vec<ProcessStore<'_>>, Broken> {
        let stores = self.entries(IMAGES)?;
        let entries = numbered(stores, run)?.map_or(Ok(Vec::new()), Node::entries)?;
        let mut processes = Vec::with_capacity(entries.len());
        for (key, node) in entries {
            let key = budget.string(key)?.unwrap_or_default();
            if let Some((device, pid)) = key.rsplit_once('.')
                && let Ok(pid) = pid.parse()
            {
                processes.push(ProcessStore { device: device.to_owned(), pid, node });
            }
        }
        processes.sort_by(|one, two| (one.pid, &one.device).cmp(&(two.pid, &two.device)));
        Ok(processes)
    }

    /// Returns the entries of a top-level dictionary.
    pub(super) fn entries(&self, name: &str) -> Result<Vec<(Node<'_>, Node<'_>)>, Broken> {
        self.top(name)?.map_or(Ok(Vec::new()), Node::entries)
    }
}

/// Looks up an integer key.
pub(super) fn numbered<'t>(entries: Vec<(Node<'t>, Node<'t>)>, number: u64) -> Result<Option<Node<'t>>, Broken> {
    let mut found = None;
    for (key, value) in entries {
        if as_number(key)? == Some(number) && found.replace(value).is_some() {
            return Err(key.broken("dictionary", format_args!("it has {number} twice")));
        }
    }
    Ok(found)
}

/// Returns the value of an integer key; `None` for other keys.
fn as_number(key: Node<'_>) -> Result<Option<u64>, Broken> {
    if key.kind()? == Kind::Integer { key.number() } else { Ok(None) }
}
