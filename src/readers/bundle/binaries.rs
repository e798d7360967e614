//! Maps the addresses in a run to frames and binaries, using the image lists of the recording.

use std::hash::BuildHasher as _;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashTable;

use super::damage::Unreadable;
use super::images::{Found, Images, Located};
use super::process_images::{KERNEL_PID, ProcessImages};
use super::run_data::RunData;
use crate::error::Diagnostic;
use crate::files::shown;
use crate::hash::{BuildHasher, HashMap};
use crate::profile::{Binary, BinaryId, FrameId, Full};
use crate::recording::{FrameKind, InputBuilder};
use crate::units::{Address, Uuid};

/// Creates the frame for each address once.
pub(super) struct Frames<'t> {
    binaries: Binaries<'t>,
    /// The number of each address space. The same address means something else in another process, and in a raw stack.
    spaces: HashMap<(Option<u64>, FrameKind), u32>,
    /// Most stacks use the same few thousand addresses. At 17 bytes per entry (16 plus a control byte), they stay in the CPU cache.
    known: HashTable<KnownFrame>,
    hasher: BuildHasher,
}

/// The address space of a process, for profile or raw stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pid: Option<u64>,
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct KnownFrame {
    address: u64,
    space: u32,
    frame: FrameId,
}

impl<'t> Frames<'t> {
    pub(super) fn new(binaries: Binaries<'t>) -> Self {
        let (spaces, known, hasher) = (HashMap::default(), HashTable::new(), BuildHasher::default());
        Self { binaries, spaces, known, hasher }
    }

    /// Releases the binaries. Call it after the last frame.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.binaries
    }

    /// Returns the address space of a process for frames of this kind. Leaves and callers of profile stacks share one.
    pub(super) fn space(&mut self, pid: Option<u64>, kind: FrameKind) -> Space {
        let kind = if kind == FrameKind::Leaf { FrameKind::Caller } else { kind };
        let next = self.spaces.len() as u32;
        Space { pid, number: *self.spaces.entry((pid, kind)).or_insert(next) }
    }

    /// Returns the frame at an address, from the cache if possible.
    #[inline]
    pub(super) fn get(
        &mut self,
        space: Space,
        address: u64,
        kind: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<FrameId, Unreadable> {
        let hash = hash_of(&self.hasher, space.number, address);
        let is_it = |known: &KnownFrame| known.address == address && known.space == space.number;
        match self.known.find(hash, is_it) {
            Some(known) => Ok(known.frame),
            None => self.add(space, address, kind, input),
        }
    }

    #[cold]
    fn add(
        &mut self,
        space: Space,
        address: u64,
        kind: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<FrameId, Unreadable> {
        let binary = self.binaries.find(space.pid, address, kind, input)?;
        let frame = input.frame(kind, address, binary)?;
        let Self { known, hasher, .. } = self;
        let hash = |known: &KnownFrame| hash_of(hasher, known.space, known.address);
        let new = KnownFrame { address, space: space.number, frame };
        known.insert_unique(hash(&new), new, hash);
        Ok(frame)
    }
}

#[inline]
fn hash_of(hasher: &BuildHasher, space: u32, address: u64) -> u64 {
    // Hashed as a pair: if the two were combined into one number first, an attacker could construct colliding pairs.
    hasher.hash_one((space, address))
}

/// Finds the binary at an address. Reads the images of a process on first use.
pub(super) struct Binaries<'t> {
    images: ProcessImages<'t>,
    run: u64,
    /// True for an iOS, tvOS, watchOS or visionOS device: addresses have fewer bits than on a Mac.
    is_device: bool,
    /// Keyed by process; `None` if the process is unknown.
    known: HashMap<Option<u64>, Arc<Images>>,
    ids: HashMap<(Uuid, Address), BinaryId>,
    /// The number of lookups that hit an address where several images were loaded at different times.
    ambiguous: u64,
}

impl<'t> Binaries<'t> {
    pub(super) fn new(images: ProcessImages<'t>, run: u32, data: &RunData) -> Self {
        let (known, ids, is_device) = (HashMap::default(), HashMap::default(), data.is_device());
        Self { images, run: run.into(), is_device, known, ids, ambiguous: 0 }
    }

    /// Releases the image lists. Call it before the next run.
    pub(super) fn into_images(self) -> ProcessImages<'t> {
        self.images
    }

    /// Finds the binary at an address in a process. `kind` decides whether the address is a return address.
    pub(super) fn find(
        &mut self,
        pid: Option<u64>,
        address: u64,
        kind: FrameKind,
        input: &mut InputBuilder<'_>,
    ) -> Result<Option<BinaryId>, Unreadable> {
        if !self.known.contains_key(&pid) {
            let images = self.images.of(self.run, pid.unwrap_or(KERNEL_PID));
            self.known.insert(pid, images.map_err(Unreadable::Images)?);
        }
        let Some(images) = self.known.get(&pid) else { return Ok(None) };
        // A return address may be the first byte after its binary. Only the leaf of a raw sample is an exact program counter.
        let place = match kind {
            FrameKind::RawLeaf => Address::new(address),
            FrameKind::Leaf | FrameKind::Caller | FrameKind::RawCaller => Address::new(address).before(),
        };
        match images.find(place, self.is_device) {
            Found::One(image) => Ok(Some(id(&mut self.ids, image, input)?)),
            Found::None => Ok(None),
            Found::Ambiguous => {
                self.ambiguous += 1;
                Ok(None)
            }
        }
    }

    /// Returns diagnostics about addresses without a certain binary.
    pub(super) fn diagnostics(&self, bundle: &Path) -> Vec<Diagnostic> {
        let (bundle, run) = (shown(bundle), self.run);
        let note = |text: String, count| Diagnostic { at: None, message: format!("{bundle}: {text}"), count };
        let mut notes: Vec<Diagnostic> = self
            .images
            .gaps(run)
            .map(|(gap, pid, count)| note(format!("{gap} (process {pid} of run {run})"), count))
            .collect();
        if self.ambiguous > 0 {
            let text = format!(
                "an address of run {run} is in two binaries that were loaded at different times, so its frame has no binary"
            );
            notes.push(note(text, self.ambiguous));
        }
        notes
    }
}

/// Interns an image as a binary.
fn id(
    ids: &mut HashMap<(Uuid, Address), BinaryId>,
    located: Located<'_>,
    input: &mut InputBuilder<'_>,
) -> Result<BinaryId, Full> {
    let Located { image, load_address } = located;
    let key = (image.uuid, load_address);
    if let Some(&id) = ids.get(&key) {
        return Ok(id);
    }
    let name = image.path.rsplit('/').next().unwrap_or(&image.path);
    let arch = image.architecture.name().map(|arch| input.string(arch)).transpose()?;
    let (name, path) = (input.string(name)?, input.string(&image.path)?);
    let binary = Binary { name, uuid: Some(image.uuid), arch, load_address, path };
    let id = input.binary(binary)?;
    ids.insert(key, id);
    Ok(id)
}
