//! Merging datasets into a new one.

use std::path::Path;

use super::Datasets;
use crate::fleet::error::{Result, bail};
use crate::fleet::host::FleetHost;
use crate::fleet::store::{MergedFacts, Store};
use crate::units::{counted, several};

impl Datasets {
    /// Merges them into a new dataset.
    ///
    /// # Errors
    /// If one of them is incomplete and that is not allowed, or the output cannot be written.
    pub fn merge(&self, host: &dyn FleetHost, output: &Path, allows_incomplete: bool) -> Result<()> {
        let unfinished = self.unfinished();
        if let Some(sentence) = &unfinished {
            match allows_incomplete {
                true => host.warn(sentence),
                false => bail!("{sentence}; or pass --allow-incomplete"),
            }
        }
        let facts = MergedFacts {
            selection: self.selection(),
            made_with: self.made_with(),
            inputs: self.completeness(),
            shards: self.shards(),
            identity: self.identity()?,
            is_of_whole: unfinished.is_none(),
        };
        let Some(merge) = Store::begin_merge(host.storage(), output, facts, Store::PART_ROWS)? else {
            host.tell(&format!("{}: these datasets are merged already", output.display()));
            return Ok(());
        };
        let (runs, failed) = merge.write(|each| self.rows(each))?;
        let (of, runs) = (several(self.count(), "dataset"), several(runs, "run"));
        host.tell(&format!("merged {of}: {runs}, {} failed", counted(failed)));
        if let Some(sentence) = self.incomplete().filter(|_| unfinished.is_none()) {
            host.warn(&sentence);
        }
        Ok(())
    }
}
