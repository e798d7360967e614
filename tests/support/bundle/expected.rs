//! The rows that a reader of a bundle must find, computed from the recording alone.

use super::super::names::shown;
use super::super::recording::{Invented, Row};
use super::super::shape::{Shape, Table};
use super::images::addresses;

/// A sample.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedRow {
    pub run: u32,
    pub time_ns: u64,
    pub tid: u64,
    pub pid: u32,
    pub core: Option<u32>,
    pub state: &'static str,
    pub weight: u64,
    /// Leaf first; `None` if there is no stack.
    pub stack: Option<Vec<ExpectedFrame>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedFrame {
    /// As recorded, without pointer authentication bits.
    pub address: u64,
    /// The address inside the instruction.
    pub lookup_address: u64,
    /// `None` for code outside every image.
    pub image: Option<ExpectedImage>,
    /// The name in the symbol archives.
    pub name: Option<String>,
    /// The line in the symbol archives, if the name has one.
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpectedImage {
    /// Upper case with hyphens.
    pub uuid: String,
    pub load_address: u64,
    pub path: String,
    pub arch: String,
}

impl Invented {
    /// The last name with which a thread was sampled in a run, or its first name without samples.
    pub fn last_name(&self, run: u32, thread: usize) -> &str {
        let last = self.rows.iter().rev().find(|row| row.run == run && row.thread == thread);
        &self.threads[thread].names[last.map_or(0, |row| row.thread_name)]
    }

    /// The sample that a bundle contains for a row.
    pub fn bundled_row(&self, row: usize, table: Table) -> ExpectedRow {
        let Row { run, time_ns, core, state, weight, .. } = self.rows[row];
        let shape = Shape::Xcode26_2.for_table(table);
        ExpectedRow {
            run,
            time_ns,
            tid: self.thread_of(&self.rows[row]).tid,
            pid: self.process_of(&self.rows[row]).pid,
            core: core.map(|(core, _)| core),
            state,
            weight,
            stack: self.bundled_stack(row, shape),
        }
    }

    fn bundled_stack(&self, row: usize, shape: Shape) -> Option<Vec<ExpectedFrame>> {
        let addresses = addresses(self, row, shape, false)?;
        let lookup = self.lookup_addresses(&self.rows[row], shape)?;
        let frames = self.visible_stack(&self.rows[row], shape)?;
        let leaf_first = frames.into_iter().rev().zip(lookup.into_iter().rev()).zip(addresses);
        let frame = |((frame, lookup_address), address): ((usize, u64), u64)| {
            let frame = &self.frames[frame];
            let image = frame.image.map(|image| &self.images[image]);
            ExpectedFrame {
                address,
                lookup_address,
                image: image.map(|image| ExpectedImage {
                    uuid: image.uuid.clone(),
                    load_address: image.load_address,
                    path: image.path.clone(),
                    arch: image.arch.clone(),
                }),
                name: frame.function.as_deref().map(shown),
                line: frame.source.as_ref().filter(|_| frame.function.is_some()).map(|(_, line)| *line),
            }
        };
        Some(leaf_first.map(frame).collect())
    }
}
