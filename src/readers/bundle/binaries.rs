//! The binaries at the addresses of a run, from the image lists of the recording.

use std::hash::BuildHasher as _;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashTable;

use super::damage::Unreadable;
use super::images::{Found, Images, Located};
use super::process_images::{KERNEL_PID, ProcessImages};
use super::run_data::RunData;
use crate::error::Diagnostic;
use crate::hash::{BuildHasher, HashMap};
use crate::profile::{Binary, BinaryId, FrameId, Full};
use crate::recording::{FrameKind, InputBuilder};
use crate::units::{Address, Uuid};

/// Makes frames from addresses.
pub(super) struct Frames<'t> {
    binaries: Binaries<'t>,
    /// Addresses mean something else in each process, and as raw addresses. Each such space has a number.
    spaces: HashMap<(Option<u64>, FrameKind), u32>,
    /// Some thousands make most stacks, and stay in a cache of the processor: 16 bytes and a byte of the table for each.
    known: HashTable<KnownFrame>,
    hasher: BuildHasher,
}

/// An address space and how its addresses were recorded.
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

    /// The search for binaries, once all frames were made.
    pub(super) fn into_binaries(self) -> Binaries<'t> {
        self.binaries
    }

    /// The space of a process for frames of this kind. Leaves and callers of a profile share one.
    pub(super) fn space(&mut self, pid: Option<u64>, kind: FrameKind) -> Space {
        let kind = if kind == FrameKind::Leaf { FrameKind::Caller } else { kind };
        let next = self.spaces.len() as u32;
        Space { pid, number: *self.spaces.entry((pid, kind)).or_insert(next) }
    }

    /// The frame at an address.
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
    // Both are hashed separately: if they were mixed into one number, pairs with the same hash could be constructed.
    hasher.hash_one((space, address))
}

/// Finds binaries. The images of each process are read on first use.
pub(super) struct Binaries<'t> {
    images: ProcessImages<'t>,
    run: u64,
    /// True if it was recorded on a device with shorter addresses than a Mac.
    is_device: bool,
    /// By process; `None` is what ran in no process that is known.
    known: HashMap<Option<u64>, Arc<Images>>,
    ids: HashMap<(Uuid, Address), BinaryId>,
    /// Addresses at which several images were loaded, one after the other.
    ambiguous: u64,
}

impl<'t> Binaries<'t> {
    /// The binaries of a run, of which this is known.
    pub(super) fn new(images: ProcessImages<'t>, run: u32, data: &RunData) -> Self {
        let (known, ids, is_device) = (HashMap::default(), HashMap::default(), data.is_device());
        Self { images, run: run.into(), is_device, known, ids, ambiguous: 0 }
    }

    /// The image lists, for the next run.
    pub(super) fn into_images(self) -> ProcessImages<'t> {
        self.images
    }

    /// The binary around an address of a process that was recorded as one of this kind.
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
        // A return address may be the first byte after a binary; the program counter of a raw sample is exact.
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

    /// Notes on addresses whose binary is uncertain.
    pub(super) fn diagnostics(&self, bundle: &Path) -> Vec<Diagnostic> {
        let (bundle, run) = (bundle.display(), self.run);
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

/// The id of the binary that an image is.
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
