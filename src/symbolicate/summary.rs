//! The results for frames, binary by binary.

use crate::error::Diagnostic;
use crate::symbols::Found;
use crate::units::Uuid;

/// The results of symbolication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolicationSummary {
    /// Binaries with frames, sorted by the number of unnamed frames, largest first.
    pub binaries: Vec<BinarySummary>,
    /// The number of images whose symbols were found, whether the recording has them or not; `None` if the finder does not count.
    pub images: Option<u64>,
    /// Frames outside every known binary; nothing can name them.
    pub frames_without_binary: u64,
    /// Notes about files, each with its path.
    pub notes: Vec<Diagnostic>,
}

/// The results of symbolication for one binary (one UUID).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BinarySummary {
    /// The binary's name.
    pub name: String,
    /// Its UUID; without one nothing can be found.
    pub uuid: Option<Uuid>,
    /// The architecture of the binary.
    pub arch: String,
    /// Distinct frames of the recording in it.
    pub frames: u64,
    /// The number of these frames that the recording named.
    pub named_before: u64,
    /// The number that have a name now.
    pub named_now: u64,
    /// The number of other frames whose function has no name but a known start, which is used as the name, as in a stripped binary.
    pub nameless: u64,
    /// The number that the symbols give another function than the recording did.
    pub disagreements: u64,
    /// The number of frames now, including inlined functions.
    pub frames_now: u64,
    /// The files that answered.
    pub used: Vec<Found>,
    /// The reason why some frames have no name.
    pub missing: Option<Missing>,
}

/// A reason why frames of a binary have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// No file with its UUID was found; these have its name, but another UUID: another build.
    NoFile {
        /// Files with the same image name.
        same_name: Vec<Found>,
    },
    /// There is a file, but some of the addresses lie outside of every function in it.
    OutsideFunctions,
    /// A file has the starts of the functions, but no names for them.
    Nameless,
}

impl SymbolicationSummary {
    /// Advice on how to name more frames, one sentence each; empty if nothing can be done.
    pub fn advice(&self) -> Vec<String> {
        let mut advice: Vec<String> = self.binaries.iter().filter_map(BinarySummary::advice).collect();
        if self.binaries.is_empty() && self.frames_without_binary > 0 {
            advice.push(
                "no frame is in a known binary, so there is nothing to look up; pass the load address of one with --image UUID@ADDRESS"
                    .to_owned(),
            );
        }
        advice
    }
}

impl BinarySummary {
    /// True if there are symbols of this very build, but not for all of its frames.
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
