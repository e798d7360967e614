//! Merging data files: thousands of files of one run each are slow to open, for this command and for SQL.

use crate::fleet::error::Result;
use crate::fleet::{DatasetRow, DatasetTable, KnownRun};

use super::Store;
use super::index::Replaced;
use super::manifest::DataFile;
use super::part::PartWriter;
use super::state::{FEW_ROWS, State};

/// A file is merged with smaller ones if it has at most this many times their rows, so that a large file is not
/// rewritten for each small one.
const RATIO: u64 = 4;

/// The number of data files before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    pub before: usize,
    pub after: usize,
}

impl Store {
    /// Merges small data files into parts of at most `target_rows` rows of `frames`. The runs are the same as before, in another order.
    pub fn compact(&self, target_rows: u64) -> Result<Compacted> {
        self.write_waiting()?;
        let mut state = self.indexed()?;
        self.begin_change(&mut state)?;
        let before = state.manifest.files.len();
        self.flush(&mut state)?;
        self.merge_small(&mut state, target_rows)?;
        self.save_state(&mut state)?;
        Ok(Compacted { before, after: state.manifest.files.len() })
    }

    /// Merges small data files, except files with rows to be removed: those are handled many at a time.
    pub(super) fn merge_small(&self, state: &mut State, target_rows: u64) -> Result<()> {
        state.unmerged = 0;
        while let Some(files) = small_files(state, target_rows) {
            self.merge(state, &files, &Replaced::default())?;
        }
        Ok(())
    }

    /// Rewrites data files without the rows that are to be removed.
    pub(super) fn flush(&self, state: &mut State) -> Result<()> {
        while let Some((file, replaced)) = state.taken_out.first_key_value() {
            let (file, replaced) = (file.clone(), replaced.clone());
            self.merge(state, &[file], &replaced)?;
        }
        Ok(())
    }

    /// Writes what these files hold as one, without what is replaced.
    fn merge(&self, state: &mut State, files: &[String], replaced: &Replaced) -> Result<()> {
        let staying: Vec<KnownRun> = files.iter().flat_map(|file| state.index.staying(file, replaced)).collect();
        let mut part = PartWriter::new(&self.folder, self.new_name())?;
        for file in files {
            for row in self.folder.open(file)? {
                let row: DatasetRow = row?.into();
                if replaced.leaves(&row) {
                    part.add(&row)?;
                }
            }
        }
        let part = part.finish()?;
        let id = state.publish(&self.folder, &part)?;
        for file in files {
            state.remove(file);
        }
        state.add(&id, part.file, staying);
        Ok(())
    }
}

/// Files that become one, smallest first; `None` if there is nothing to merge.
fn small_files(state: &State, target_rows: u64) -> Option<Vec<String>> {
    let rows = |file: &DataFile| file.table(DatasetTable::Frames).rows;
    let files = state.manifest.files.iter().filter(|(id, _)| !state.taken_out.contains_key(*id));
    let mut files: Vec<(u64, &String)> = files.map(|(id, file)| (rows(file), id)).collect();
    files.sort_unstable();
    let (mut group, mut sum) = (Vec::new(), 0_u64);
    for (rows, id) in files {
        let all = sum.saturating_add(rows);
        let fits = all <= target_rows && (all <= FEW_ROWS || rows <= sum.saturating_mul(RATIO));
        if !fits && group.len() > 1 {
            break;
        }
        if !fits {
            group.clear();
            sum = 0;
        }
        group.push(id.clone());
        sum = sum.saturating_add(rows);
    }
    (group.len() > 1).then_some(group)
}
