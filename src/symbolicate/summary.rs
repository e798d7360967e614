//! What became of the frames, binary by binary.

use crate::symbols::{Found, Note};
use crate::units::Uuid;

/// What symbolication did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolicationSummary {
    /// Binaries with frames, those with most unnamed frames first.
    pub binaries: Vec<BinarySummary>,
    /// Frames outside every known binary; nothing can name them.
    pub frames_without_binary: u64,
    /// Notes about files, each with its path.
    pub notes: Vec<Note>,
}

/// What symbolication did for one binary (one UUID).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinarySummary {
    /// The binary's name.
    pub name: String,
    /// Its UUID; without one nothing can be found.
    pub uuid: Option<Uuid>,
    /// Its architecture.
    pub arch: String,
    /// Distinct frames of the recording in it.
    pub frames: u64,
    /// How many the recording named.
    pub named_before: u64,
    /// How many have a name now.
    pub named_now: u64,
    /// How many of the others are in functions that have no name, but a known start, under which they stand: those of a stripped binary.
    pub nameless: u64,
    /// How many the symbols call another function than the recording did.
    pub disagreements: u64,
    /// How many frames there are now, with inlined functions.
    pub frames_now: u64,
    /// The files that answered.
    pub used: Vec<Found>,
    /// Why frames have no name, where some have none.
    pub missing: Option<Missing>,
}

/// Why frames of a binary have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No file with its UUID was found; these have its name, but another UUID: another build.
    NoFile {
        /// Files of the same name.
        same_name: Vec<Found>,
    },
    /// There is a file, but some of the addresses lie outside of every function in it.
    OutsideFunctions,
    /// There is a file, which tells where the functions start, but has no names for them.
    Nameless,
}

impl SymbolicationSummary {
    /// What would name more frames, one sentence each; nothing where nothing is to be done.
    pub fn advice(&self) -> Vec<String> {
        let mut advice: Vec<String> = self.binaries.iter().filter_map(BinarySummary::advice).collect();
        if self.binaries.is_empty() && self.frames_without_binary > 0 {
            advice.push(
                "no frame is in a known binary, so there is nothing to look up; say where one was loaded with --image UUID@ADDRESS"
                    .to_owned(),
            );
        }
        advice
    }
}

impl BinarySummary {
    /// Whether there are symbols of this very build, which do not name all of its frames.
    pub(crate) fn has_symbols_without_names(&self) -> bool {
        matches!(self.missing, Some(Missing::OutsideFunctions | Missing::Nameless))
    }

    fn advice(&self) -> Option<String> {
        let Some(Missing::NoFile { same_name }) = &self.missing else { return None };
        let found = same_name.first()?;
        let Self { name, arch, .. } = self;
        let uuid = self.uuid.map(|uuid| uuid.to_string()).unwrap_or_default();
        let path = found.path.display();
        Some(if found.arch == *arch {
            format!("no symbols for {name} {uuid} {arch}; {path} has the UUID {}: a different build", found.uuid)
        } else {
            format!("no symbols for {name} {uuid} {arch}; {path} has {} ({}) only", found.arch, found.uuid)
        })
    }
}
