//! Maps the addresses of a run to frames and binaries, using the image lists of the recording.

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

/// Creates frames for addresses, and caches them.
pub(super) struct Frames<'t> {
    binaries: Binaries<'t>,
    /// Numbers the address spaces: an address has a different meaning in each process, and as a raw address.
    spaces: HashMap<(Option<u64>, FrameKind), u32>,
    /// A few thousand addresses make up most stacks. At 17 bytes each (16, and one byte of the table), they stay in the CPU cache.
    known: HashTable<KnownFrame>,
    hasher: BuildHasher,
}

/// The address space of a process, for one way of recording addresses.
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

    /// Returns the binaries after the last frame.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.binaries
    }

    /// Returns the space of a process for frames of this kind. In a profile, leaves and callers share a space.
    pub(super) fn space(&mut self, pid: Option<u64>, kind: FrameKind) -> Space {
        let kind = if kind == FrameKind::Leaf { FrameKind::Caller } else { kind };
        let next = self.spaces.len() as u32;
        Space { pid, number: *self.spaces.entry((pid, kind)).or_insert(next) }
    }

    /// Returns the frame at an address.
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
    // The two are hashed separately: if they were combined into one number first, an attacker could construct colliding pairs.
    hasher.hash_one((space, address))
}

/// Finds the binary at an address. Reads the images of a process on first use.
pub(super) struct Binaries<'t> {
    images: ProcessImages<'t>,
    run: u64,
    /// True if the run was recorded on a device, whose addresses are shorter than a Mac's.
    is_device: bool,
    /// Keyed by process; `None` if the process is unknown.
    known: HashMap<Option<u64>, Arc<Images>>,
    ids: HashMap<(Uuid, Address), BinaryId>,
    /// The number of lookups of addresses at which several images were loaded, one after the other.
    ambiguous: u64,
}

impl<'t> Binaries<'t> {
    pub(super) fn new(images: ProcessImages<'t>, run: u32, data: &RunData) -> Self {
        let (known, ids, is_device) = (HashMap::default(), HashMap::default(), data.is_device());
        Self { images, run: run.into(), is_device, known, ids, ambiguous: 0 }
    }

    /// Returns the image lists, for the next run.
    pub(super) fn into_images(self) -> ProcessImages<'t> {
        self.images
    }

    /// Finds the binary that contains an address of a process. `kind` determines whether the address is a return address.
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
        // A return address may be the first byte after a binary. The program counter of a raw sample is exact.
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

    /// Returns diagnostics about addresses whose binary is uncertain.
    pub(super) fn diagnostics(&self, bundle: &Path) -> Vec<Diagnostic> {
        let (bundle, run) = (shown(bundle), self.run);
        let note = |text: String, count| Diagnostic { at: None, message: format!("{bundle}: {text}"), count };
        let mut notes: Vec<Diagnostic> = self
            .images
            .gaps(run)
            .map(|(gap, pid, count)| note(format!("{gap} (process {pid} of run {run})"), count))
            .collect();
        if self.ambiguous > 0 {
            let text =
                format!("an address of run {run} is in two binaries, one of which was unloaded: it has no binary");
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
