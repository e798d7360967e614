//! The results of symbolication for each binary.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::error::Diagnostic;
use crate::files::shown;
use crate::settings::{IMAGE, for_command};
use crate::symbols::{Found, first_sentences};
use crate::units::{Uuid, first_of, several};

/// The results of symbolication. `Display` writes how many frames have names, and a line for each note and advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "it shows how many frames have names; symbols from another build are not used"]
#[non_exhaustive]
pub struct SymbolicationSummary {
    /// Binaries with frames, those with the most unnamed frames first.
    pub binaries: Vec<BinarySummary>,
    /// The number of images with symbols that were found, even if the recording does not contain them; `None` if the finder does not count.
    pub images: Option<u64>,
    /// Frames outside every known binary. They cannot be named.
    pub frames_without_binary: u64,
    /// Notes about files, with their paths.
    pub notes: Vec<Diagnostic>,
}

/// The results for one binary (one UUID).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BinarySummary {
    /// The binary's name.
    pub name: String,
    /// The UUID of the binary. Without one, no symbols can be found.
    pub uuid: Option<Uuid>,
    /// The architecture of the binary.
    pub arch: String,
    /// The number of distinct recorded frames in it.
    pub frames: u64,
    /// The number of these frames that the recording named.
    pub named_before: u64,
    /// The number of these frames that are named now.
    pub named_now: u64,
    /// The number of these frames that are named only by the start address of their function, as in a stripped binary.
    pub nameless: u64,
    /// The number of frames for which the symbols and the recording name different functions.
    pub disagreements: u64,
    /// The number of frames including inlined functions.
    pub frames_now: u64,
    /// The files that answered.
    pub used: Vec<Found>,
    /// Why some frames have no name.
    pub missing: Option<Missing>,
}

/// Why frames of a binary have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// No file with its UUID was found. Files of another build may have the same name.
    NoFile {
        /// Files with the same image name.
        same_name: Vec<Found>,
    },
    /// A file was found, but some addresses are outside of all its functions.
    OutsideFunctions,
    /// A file contains the starts of functions, but not their names.
    Nameless,
}

impl fmt::Display for SymbolicationSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.counts())?;
        let mut notes = self.notes.iter().map(ToString::to_string).chain(self.advice());
        notes.try_for_each(|note| write!(f, "\n{note}"))
    }
}

impl SymbolicationSummary {
    /// The sum of a number over all binaries.
    pub(crate) fn sum(&self, get: fn(&BinarySummary) -> u64) -> u64 {
        self.binaries.iter().map(get).sum()
    }

    /// Counts frames with names: `symbols: 7 of 9 frames in known binaries have names, 2 had one before`.
    pub(crate) fn counts(&self) -> String {
        let (frames, before) = (self.sum(|row| row.frames), self.sum(|row| row.named_before));
        let (now, of) = (self.sum(|row| row.named_now), several(frames, "frame"));
        let with_inlined = match self.sum(|row| row.frames_now) {
            same if same == frames => String::new(),
            more => format!("; with inlined functions they are {more}"),
        };
        format!("symbols: {now} of {of} in known binaries have names, {before} had one before{with_inlined}")
    }

    /// Returns the sentences that users read: notes, advice for at most ten binaries, and [useless](Self::useless) `paths`.
    pub fn warnings(&self, paths: &[&Path], found: &[Found]) -> Vec<String> {
        let notes = self.notes.iter().map(ToString::to_string);
        let advice = first_sentences(self.advice(), |others| {
            format!("{} have only symbols of another build or architecture", several(others, "more image"))
        });
        notes.chain(advice).chain(self.useless(paths, found)).collect()
    }

    /// Returns advice on how to name more frames, in one sentence each; empty if nothing would help.
    pub fn advice(&self) -> Vec<String> {
        let mut advice: Vec<String> = self.binaries.iter().filter_map(BinarySummary::advice).collect();
        if self.binaries.is_empty() && self.frames_without_binary > 0 {
            advice.push(format!(
                "no frame is in a known binary, so there is nothing to look up; pass the load address of one with {IMAGE} UUID@ADDRESS"
            ));
        }
        advice
    }

    /// Returns a sentence about paths whose symbols name no frame, with the reason; `None` if every path is useful or in the
    /// [advice](Self::advice). `found` are all symbols that were found.
    pub fn useless(&self, paths: &[&Path], found: &[Found]) -> Option<String> {
        let below =
            |path: &Path| -> Vec<&Found> { found.iter().filter(|found| found.path.starts_with(path)).collect() };
        let used = || self.binaries.iter().flat_map(|binary| &binary.used);
        let advice = self.advice();
        let is_told = |path: &Path| advice.iter().any(|sentence| sentence.contains(&path.display().to_string()));
        // Files of this path may have been found through another path that contains it.
        let is_useless =
            |path: &Path| !below(path).is_empty() && !is_told(path) && !used().any(|used| used.path.starts_with(path));
        let useless: Vec<&Path> = paths.iter().copied().filter(|path| is_useless(path)).collect();
        let texts: Vec<String> = useless.iter().map(|path| shown(path)).collect();
        let have: BTreeSet<Uuid> = useless.iter().flat_map(|path| below(path)).map(|found| found.uuid).collect();
        let of_recording = |uuid: &Uuid| self.binaries.iter().find(|binary| binary.uuid == Some(*uuid));
        let reasons: Vec<String> = have.iter().filter_map(of_recording).map(BinarySummary::useless).collect();
        let others: Vec<_> = have.iter().filter(|uuid| of_recording(uuid).is_none()).map(Uuid::to_string).collect();
        let reasons = (!reasons.is_empty()).then(|| first_of(&reasons));
        let others = (!others.is_empty())
            .then(|| format!("UUIDs there: {}; the recording wants {}", first_of(&others), self.wants()));
        let reasons: Vec<String> = reasons.into_iter().chain(others).collect();
        (!useless.is_empty()).then(|| format!("no frame is named by {}: {}", first_of(&texts), reasons.join("; ")))
    }

    /// Returns a sentence about binaries with unnamed frames for which no symbols were found, with their UUIDs; `None` if there are none.
    pub fn lacking(&self) -> Option<String> {
        let lacking = self.unnamed(|binary| matches!(binary.missing, Some(Missing::NoFile { .. })));
        (!lacking.is_empty())
            .then(|| format!("no symbols for {}; docs/symbols.md describes where to find them", first_of(&lacking)))
    }

    /// The UUIDs and names of binaries with unnamed frames.
    fn unnamed(&self, is_wanted: impl Fn(&BinarySummary) -> bool) -> Vec<String> {
        let unnamed = self.binaries.iter().filter(|binary| binary.named_now < binary.frames && is_wanted(binary));
        unnamed.filter_map(|binary| Some(format!("{} ({})", binary.uuid?, binary.name))).collect()
    }

    fn wants(&self) -> String {
        match self.unnamed(|_| true).as_slice() {
            // Without any frame to name, as in a report that someone else named.
            [] if self.binaries.is_empty() && self.frames_without_binary == 0 => {
                "none, since it has all names".to_owned()
            }
            [] if self.binaries.iter().all(|binary| binary.uuid.is_none()) => {
                "none, since it records no UUIDs".to_owned()
            }
            [] => "none, since it has all names".to_owned(),
            [one] => one.clone(),
            wants => first_of(wants) + for_command(" (traceparse uuid FILE lists all)"),
        }
    }
}

impl BinarySummary {
    /// True if symbols of this exact build were found, but do not name all of its frames.
    pub(crate) fn has_symbols_without_names(&self) -> bool {
        matches!(self.missing, Some(Missing::OutsideFunctions | Missing::Nameless))
    }

    /// Why symbols with its UUID name none of its frames.
    fn useless(&self) -> String {
        let Self { name, uuid, used, missing, .. } = self;
        let its = match uuid {
            Some(uuid) => format!("{name} ({uuid})"),
            None => name.clone(),
        };
        match (used.first(), missing) {
            (Some(used), _) => format!("{its} has its names from {}", shown(&used.path)),
            (None, None) => format!("{its} had all names before"),
            (None, Some(Missing::Nameless)) => format!("the symbols of {its} are stripped"),
            (None, Some(_)) => format!("the symbols of {its} contain no function at the recorded addresses"),
        }
    }

    fn advice(&self) -> Option<String> {
        let Some(Missing::NoFile { same_name }) = &self.missing else { return None };
        let found = same_name.first()?;
        let Self { name, arch, .. } = self;
        let path = shown(&found.path);
        // Without a UUID, nothing shows whether the file is of the same build.
        let Some(uuid) = self.uuid else {
            return Some(format!("no symbols for {name}, whose UUID is not recorded; {path} has the same name"));
        };
        Some(if found.arch == *arch {
            format!("no symbols for {name} {uuid} {arch}; {path} has the UUID {}: a different build", found.uuid)
        } else {
            format!("no symbols for {name} {uuid} {arch}; {path} has {} ({}) only", found.arch, found.uuid)
        })
    }
}
