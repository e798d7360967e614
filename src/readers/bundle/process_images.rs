//! The images of each process of a recording, from its `form.template`.
//!
//! ```text
//! DEVICE.751   com.apple.xray.symbolstore.signature   private images; UUID and base address of its shared cache
//!              dsc_load_addresses                     {0x4aa000, 0x12abd000, …}: images it loaded from the cache
//! ```
//!
//! A machine has hundreds of processes, and each loads about a thousand images of one cache. Only the signatures of requested processes are
//! therefore read, and each cache and kernel only once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::images::{ImageTable, Images, MappedCache};
use super::keyed_archive::Node;
use super::template::{ProcessStore, Template, numbered};
use crate::hash::HashMap;
use crate::symbols::{Broken, SharedCache, Signature, apple_signature};
use crate::units::Uuid;

/// The pid of the kernel, if it is listed as a process.
pub(super) const KERNEL_PID: u64 = 0;

/// Reads and caches the images of processes.
#[derive(Debug)]
pub(super) struct ProcessImages<'t> {
    template: &'t Template<'t>,
    budget: Budget,
    processes: HashMap<u64, RunProcesses<'t>>,
    known: HashMap<(u64, u64), Arc<Images>>,
    caches: HashMap<Uuid, Arc<ImageTable>>,
    kernels: HashMap<u64, Arc<ImageTable>>,
    /// Missing data by run: the first affected process, and the number of affected processes.
    gaps: BTreeMap<(u64, &'static str), (u64, u64)>,
}

const NO_LIST: &str = "the image list of a process is missing: its frames have no binary";
/// A process does not record which images of the shared cache it loaded.
const NO_OFFSETS: &str = "the shared cache images of a process are missing: its frames there have no binary";
/// A process loaded images that its shared cache does not list.
const NO_CACHED: &str = "a process had shared cache images that no list contains: its frames there have no binary";

/// An image has no known address, or not for all its segments.
const NO_PLACE: &str = "an image list in form.template (of a process, its shared cache or the kernel) has an image without a __TEXT, or beyond the \
                        end of memory: frames there have no binary";

#[derive(Debug)]
struct RunProcesses<'t> {
    /// The chosen device.
    device: Option<String>,
    // Sorted by pid.
    processes: Vec<ProcessStore<'t>>,
}

impl<'t> RunProcesses<'t> {
    /// Finds the process with this pid. If there are several, returns the one on the chosen device.
    fn find(&self, pid: u64) -> Option<Node<'t>> {
        let first = self.processes.partition_point(|process| process.pid < pid);
        let end = self.processes.partition_point(|process| process.pid <= pid);
        let process = match &self.processes[first..end] {
            [one] => Some(one),
            several => several.iter().find(|process| Some(&process.device) == self.device.as_ref()),
        };
        process.map(|process| process.node)
    }
}

impl<'t> ProcessImages<'t> {
    pub(super) fn new(template: &'t Template<'t>) -> Self {
        Self {
            template,
            budget: template.budget(),
            processes: HashMap::default(),
            known: HashMap::default(),
            caches: HashMap::default(),
            kernels: HashMap::default(),
            gaps: BTreeMap::new(),
        }
    }

    /// The missing data of a run's requested processes: a description, the first process, and the number of processes.
    pub(super) fn gaps(&self, run: u64) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let of_run = self.gaps.iter().filter(move |((number, _), _)| *number == run);
        of_run.map(|(&(_, gap), &(pid, count))| (gap, pid, count))
    }

    fn add_gap(&mut self, run: u64, pid: u64, gap: &'static str) {
        self.gaps.entry((run, gap)).or_insert((pid, 0)).1 += 1;
    }

    /// Returns the images of a process in a run, or only the kernel's images if the process is unknown.
    ///
    /// A run can record several devices, but samples do not record the device of a process. If several processes have the same pid, the one on
    /// the run's chosen device is used, or none.
    pub(super) fn of(&mut self, run: u64, pid: u64) -> Result<Arc<Images>, Broken> {
        if let Some(known) = self.known.get(&(run, pid)) {
            return Ok(Arc::clone(known));
        }
        let kernel = Some(self.kernel(run)?);
        let images = match self.process(run, pid)?.filter(|_| pid != KERNEL_PID) {
            Some(node) => Images { kernel, ..self.read(node, run, pid)? },
            None => {
                self.note_missing(run, pid)?;
                Images { kernel, ..Images::default() }
            }
        };
        if images.are_incomplete() {
            self.add_gap(run, pid, NO_PLACE);
        }
        let images = Arc::new(images);
        self.known.insert((run, pid), Arc::clone(&images));
        Ok(images)
    }

    fn process(&mut self, run: u64, pid: u64) -> Result<Option<Node<'t>>, Broken> {
        if let Some(processes) = self.processes.get(&run) {
            return Ok(processes.find(pid));
        }
        let processes = self.template.processes(run, &mut self.budget)?;
        let processes = RunProcesses { device: self.template.device(run)?, processes };
        let found = processes.find(pid);
        self.processes.insert(run, processes);
        Ok(found)
    }

    /// Notes that a process has no images. The kernel's images are stored under another name. Old recordings have no images at all, which the
    /// bundle reports.
    fn note_missing(&mut self, run: u64, pid: u64) -> Result<(), Broken> {
        if pid != KERNEL_PID && self.template.has_images()? {
            self.add_gap(run, pid, NO_LIST);
        }
        Ok(())
    }

    /// Reads the images of a process, without the kernel's.
    fn read(&mut self, process: Node<'t>, run: u64, pid: u64) -> Result<Images, Broken> {
        let signature = process.member("com.apple.xray.symbolstore.signature")?;
        let Some(Signature { images, shared_cache }) = self.signature(signature)? else {
            self.note_missing(run, pid)?;
            return Ok(Images::default());
        };
        let loaded = process.member("dsc_load_addresses")?;
        if loaded.is_none_or(Node::is_nil) && shared_cache.is_some_and(|cache| cache.base != 0) {
            self.add_gap(run, pid, NO_OFFSETS);
        }
        let mut offsets = Vec::new();
        if let Some(loaded) = loaded {
            for offset in loaded.items()? {
                let number = offset.number()?;
                offsets.push(number.ok_or_else(|| offset.broken("place in the shared cache", "it is not a number"))?);
            }
            self.budget.take(loaded, size_of_val(offsets.as_slice()))?;
        }
        let cache = match shared_cache.filter(|_| !offsets.is_empty()) {
            Some(SharedCache { uuid, base }) => Some(MappedCache::new(self.cache(uuid)?, base, offsets)),
            None => None,
        };
        if cache.as_ref().is_some_and(|cache| !cache.has_all()) {
            self.add_gap(run, pid, NO_CACHED);
        }
        Ok(Images { own: ImageTable::new(images.into_iter().map(|image| (image, 0))), cache, kernel: None })
    }

    fn cache(&mut self, uuid: Uuid) -> Result<Arc<ImageTable>, Broken> {
        if let Some(table) = self.caches.get(&uuid) {
            return Ok(Arc::clone(table));
        }
        let mut images = Vec::new();
        for (key, cached) in self.template.entries("com.apple.xray.symbolstore.sharedcache.signatures")? {
            if key.uuid()? != Some(uuid) {
                continue;
            }
            for (offset, signature) in cached.entries()? {
                let listed = self.signature(Some(signature))?.map(|signature| signature.images).unwrap_or_default();
                let place = offset.number()?;
                let place = place.ok_or_else(|| offset.broken("place in the shared cache", "it is not a number"))?;
                images.extend(listed.into_iter().map(|image| (image, place)));
            }
        }
        let table = Arc::new(ImageTable::new(images));
        self.caches.insert(uuid, Arc::clone(&table));
        Ok(table)
    }

    /// Returns the kernel and its extensions in a run.
    fn kernel(&mut self, run: u64) -> Result<Arc<ImageTable>, Broken> {
        if let Some(table) = self.kernels.get(&run) {
            return Ok(Arc::clone(table));
        }
        let process = self.process(run, KERNEL_PID)?;
        let stored = process.map_or(Ok(None), |node| node.member("com.apple.xray.symbolstore.signature"))?;
        let mut signature = self.signature(stored)?;
        if signature.is_none() {
            let by_run = self.template.entries("com.apple.xray.symbolstore.kern.signatures")?;
            signature = self.signature(numbered(by_run, run)?)?;
        }
        let images = signature.map(|signature| signature.images).unwrap_or_default();
        let table = Arc::new(ImageTable::new(images.into_iter().map(|image| (image, 0))));
        self.kernels.insert(run, Arc::clone(&table));
        Ok(table)
    }

    /// Parses a signature; `None` if it is nil or empty. In errors, offsets are relative to the signature and follow the offset of its object.
    fn signature(&mut self, node: Option<Node<'t>>) -> Result<Option<Signature<'t>>, Broken> {
        let Some(node) = node else {
            return Ok(None);
        };
        let Some(bytes) = node.data()?.filter(|bytes| !bytes.is_empty()) else {
            return Ok(None);
        };
        self.budget.take(node, bytes.len())?;
        apple_signature(bytes).map(Some).map_err(|inner| node.broken("signature in the object", inner))
    }
}

#[cfg(test)]
mod tests {
    use super::super::images::{Found, Located, byte_at};
    use super::super::tests::{
        ArchiveWriter, InventedImage, form_template_of_finder, reference, signature, uuid_bytes,
    };
    use super::*;
    use crate::read;
    use crate::recording::Options;

    const CACHE_BASE: u64 = 0x1_8000_0000;

    /// A run in which two devices have a process 7, and one device has a process 9 without a signature.
    fn invented(chosen: &str) -> Vec<u8> {
        let signature = |uuid, at, cache| {
            let segments = [("__TEXT", at, 0x1000)];
            signature(&[InventedImage { uuid, path: "/image", segments: &segments }], cache)
        };
        let mut writer = ArchiveWriter::new();
        let store = |writer: &mut ArchiveWriter, uuid, offsets: &[u64]| {
            let own = signature(uuid, 0x1_0000_0000, Some((0xcc, CACHE_BASE)));
            let own = writer.data(&own);
            let offsets: Vec<u64> = offsets.iter().map(|&offset| writer.add(offset)).collect();
            let offsets = writer.array(&offsets);
            writer.named(&[("com.apple.xray.symbolstore.signature", own), ("dsc_load_addresses", offsets)])
        };
        let (phone, tablet) = (store(&mut writer, 1, &[0x1000, 0x2000]), store(&mut writer, 2, &[0x2000]));
        let unknown = writer.named(&[]);
        let processes =
            writer.named(&[("PHONE.7", phone), ("TABLET.7", tablet), ("PHONE.9", unknown), ("odd", unknown)]);
        let cached = |writer: &mut ArchiveWriter, uuid, at| (writer.add(at), writer.data(&signature(uuid, at, None)));
        let cached = [cached(&mut writer, 11, 0x1000), cached(&mut writer, 12, 0x2000)];
        let cached = writer.dictionary(&cached);
        let uuid = writer.wrapped("NSUUID", "NS.uuidbytes", plist::Value::Data(uuid_bytes(0xcc).to_vec()));
        let caches = writer.dictionary(&[(uuid, cached)]);
        let kernel = writer.data(&signature(21, 0xffff_fe00_0700_0000, None));
        let one = writer.add(1_u64);
        let (stores, kernels) = (writer.dictionary(&[(one, processes)]), writer.dictionary(&[(one, kernel)]));
        let chosen = writer.add(chosen);
        let device = writer.named(&[("_deviceIdentifier", chosen)]);
        let run = writer.named(&[("targetDevice", device)]);
        let runs = writer.dictionary(&[(one, run)]);
        let data = writer.wrapped("XRRunListData", "$1", reference(runs));
        writer.finish(&[
            ("com.apple.xray.symbolstoremanager.symbolstores", stores),
            ("com.apple.xray.symbolstore.sharedcache.signatures", caches),
            ("com.apple.xray.symbolstore.kern.signatures", kernels),
            ("com.apple.xray.run.data", data),
        ])
    }

    /// The first UUID byte of the image at each invented address.
    fn found(images: &Images) -> [u8; 4] {
        [0x1_0000_0abc, CACHE_BASE + 0x1abc, CACHE_BASE + 0x2abc, 0xffff_fe00_0700_0abc]
            .map(|address| byte_at(images, address))
    }

    #[test]
    fn processes_have_their_own_images_and_share_others() {
        let bytes = invented("PHONE");
        let template = Template::read(&bytes).unwrap();
        assert_eq!(template.device(1), Ok(Some("PHONE".into())));
        let mut images = ProcessImages::new(&template);
        assert_eq!(found(&images.of(1, 7).unwrap()), [1, 11, 12, 21]);
        assert_eq!(found(&images.of(1, 9).unwrap()), [0, 0, 0, 21], "without a signature");
        assert_eq!(found(&images.of(1, 8).unwrap()), [0, 0, 0, 21], "unknown");
        assert_eq!(found(&images.of(1, 0).unwrap()), [0, 0, 0, 21], "the kernel");
        assert_eq!(found(&images.of(2, 7).unwrap()), [0, 0, 0, 0], "no such run");
        assert!(Arc::ptr_eq(&images.of(1, 7).unwrap(), &images.of(1, 7).unwrap()), "read once");
        let (tablet, other) = (invented("TABLET"), invented("OTHER"));
        let (tablet, other) = (Template::read(&tablet).unwrap(), Template::read(&other).unwrap());
        assert_eq!(found(&ProcessImages::new(&tablet).of(1, 7).unwrap()), [2, 0, 12, 21]);
        assert_eq!(found(&ProcessImages::new(&other).of(1, 7).unwrap()), [0, 0, 0, 21], "neither device is meant");
    }

    #[test]
    fn damaged_templates_are_errors_or_images() {
        let bytes = invented("PHONE");
        // Flips one bit in every byte.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            if let Ok(template) = Template::read(&damaged) {
                let mut images = ProcessImages::new(&template);
                let _ = [7, 9, 0].map(|pid| images.of(1, pid).map(|images| found(&images)));
            }
        }
    }

    #[test]
    fn an_object_that_is_named_too_often_is_an_error() {
        let segments = [("__TEXT", 0, 0x1000)];
        let image = InventedImage { uuid: 1, path: &"x".repeat(50_000), segments: &segments };
        let mut writer = ArchiveWriter::new();
        let long = writer.data(&signature(&[image], Some((0xcc, CACHE_BASE))));
        let offsets: Vec<_> = (0..100_u64).map(|offset| (writer.add(offset), long)).collect();
        let (one, cached, set) = (writer.add(1_u64), writer.dictionary(&offsets), writer.array(&[offsets[1].0]));
        let uuid = writer.wrapped("NSUUID", "NS.uuidbytes", plist::Value::Data(uuid_bytes(0xcc).to_vec()));
        let caches = writer.dictionary(&[(uuid, cached)]);
        let process = writer.named(&[("com.apple.xray.symbolstore.signature", long), ("dsc_load_addresses", set)]);
        let processes = writer.named(&[("PHONE.7", process)]);
        let stores = writer.dictionary(&[(one, processes)]);
        let bytes = writer.finish(&[
            ("com.apple.xray.symbolstoremanager.symbolstores", stores),
            ("com.apple.xray.symbolstore.sharedcache.signatures", caches),
        ]);
        let template = Template::read(&bytes).unwrap();
        let error = ProcessImages::new(&template).of(1, 7).unwrap_err();
        assert!(error.message.ends_with("take more than 16 times the file"), "{error}");
    }

    /// Checks every frame against the export of a real recording; skipped without the corpus.
    #[test]
    fn frames_of_a_recording_have_the_binaries_of_its_export() {
        let Some((bytes, folder)) = form_template_of_finder() else { return };
        let template = Template::read(&bytes).unwrap();
        let images = ProcessImages::new(&template).of(1, 751).unwrap();
        let file = std::fs::File::open(folder.join("finder_cpu_profile.xml")).unwrap();
        let profile = read(file, "finder", &Options::default()).unwrap().profile;
        let samples = profile.samples().iter();
        let frames: Vec<_> = samples.flat_map(|sample| profile.frames_leaf_first(sample.stack)).collect();
        assert_eq!(frames.len(), 2292);
        for frame in frames {
            let binary = profile.binary(frame.binary.unwrap());
            let Found::One(Located { image, load_address }) = images.find(frame.address, false) else {
                unreachable!("{}", frame.address)
            };
            let told = (binary.uuid, binary.load_address, profile.string(binary.path));
            assert_eq!((Some(image.uuid), load_address, image.path.as_str()), told);
            assert_eq!(image.architecture.name(), binary.arch.map(|arch| profile.string(arch)));
        }
    }
}
