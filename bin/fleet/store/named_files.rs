//! The files of a dataset, for whom copies it to another place.

use std::collections::BTreeSet;

use anyhow::Result;
use traceparse::fleet::DatasetTable;

use super::manifest::Manifest;

/// The files that a manifest lists.
#[derive(Debug)]
pub(crate) struct NamedFiles {
    /// Their names, such as `runs/part-1.parquet`.
    pub(crate) names: BTreeSet<String>,
    /// The length of all together.
    pub(crate) bytes: u64,
}

impl NamedFiles {
    /// The files that a manifest lists.
    ///
    /// # Errors
    /// If the manifest is damaged.
    pub(crate) fn of(manifest: &[u8], name: &str) -> Result<Self> {
        let manifest = Manifest::parse(manifest, name)?;
        let mut named = Self { names: BTreeSet::new(), bytes: 0 };
        for (id, file) in &manifest.files {
            for table in DatasetTable::ALL {
                named.names.insert(format!("{}/{id}.parquet", table.name()));
                named.bytes = named.bytes.saturating_add(file.table(table).bytes);
            }
        }
        Ok(named)
    }
}
