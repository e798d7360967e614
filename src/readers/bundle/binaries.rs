//! The binaries at the addresses of a run, from the image lists of the recording.

use std::path::Path;
use std::sync::Arc;

use super::images::{Found, Images, Located};
use super::process_images::{KERNEL_PID, ProcessImages};
use super::row_faults::Unreadable;
use super::run_data::RunData;
use crate::error::Diagnostic;
use crate::hash::HashMap;
use crate::profile::{Binary, BinaryId, Full};
use crate::recording::{FrameKind, InputBuilder};
use crate::units::{Address, Uuid};

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
