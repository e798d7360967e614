//! The rows of a run that is added to a fleet, and the fleet's ids of its names.

use super::run::{FrameRow, NameId, RunMeasures, RunRecord, WindowRow};
use crate::profile::{StringId, Strings};

/// A run whose names may be shared by many runs.
#[derive(Clone, Copy)]
pub(super) struct RunRows<'r> {
    pub(super) record: &'r RunRecord,
    /// By id; an id past the end is the empty name.
    pub(super) names: &'r [String],
    pub(super) frames: &'r [FrameRow],
    pub(super) binaries: &'r [FrameRow],
    pub(super) windows: &'r [WindowRow],
}

impl<'r> RunRows<'r> {
    pub(super) fn of(run: &'r RunMeasures) -> Self {
        let RunMeasures { record, names, frames, binaries, windows } = run;
        Self { record, names, frames, binaries, windows }
    }

    pub(super) fn name(&self, id: NameId) -> &'r str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }
}

/// Names over all runs, each once.
#[derive(Debug, Default)]
pub(super) struct FleetNames(Strings);

impl FleetNames {
    /// Returns the id of a string.
    pub(super) fn id(&mut self, text: &str) -> StringId {
        // Four billion names would take more than 64 GB.
        self.0.intern(text).expect("a fleet has less than four billion names")
    }

    /// The approximate number of bytes they take.
    pub(super) fn memory(&self) -> u64 {
        self.0.memory()
    }

    pub(super) fn get(&self, id: StringId) -> String {
        self.0.get(id).to_owned()
    }
}

/// The fleet's ids of the names of one run, or of many that share them, as far as they were requested.
#[derive(Debug, Default)]
pub(super) struct KnownNames(Vec<Option<StringId>>);

/// The names of a run, and the names of the fleet.
pub(super) struct RunNames<'n> {
    pub(super) names: &'n [String],
    pub(super) known: &'n mut KnownNames,
    pub(super) all: &'n mut FleetNames,
}

impl RunNames<'_> {
    /// The id in the fleet of a name of the run.
    pub(super) fn id(&mut self, name: NameId) -> StringId {
        let Self { names, known: KnownNames(known), all } = self;
        let index = name.0 as usize;
        if let Some(&Some(id)) = known.get(index) {
            return id;
        }
        let Some(text) = names.get(index) else { return all.id("") };
        let id = all.id(text);
        if index >= known.len() {
            known.resize(names.len(), None);
        }
        known[index] = Some(id);
        id
    }
}
