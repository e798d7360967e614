//! Reads and checks `form.template` slowly, and finds the image that contains an address.

use std::collections::{BTreeMap, BTreeSet};

use super::expected::ExpectedImage;
use super::keyed::Keyed;
use super::unpacked::{Unpacked, u32_at, u64_at};

/// A signature: images and the data after them.
struct Signature {
    images: Vec<SignedImage>,
    cache: [u8; 16],
    base: u64,
}

struct SignedImage {
    uuid: String,
    arch: String,
    path: String,
    segments: Vec<(String, u64, u64)>,
}

/// The start and end of a segment, and its image.
type Range = (u64, u64, ExpectedImage);

/// The images of each run and process on the recording device.
pub struct Images {
    by_process: BTreeMap<(u32, u32), Vec<Range>>,
}

impl Images {
    /// The image that contains an address, if exactly one does.
    pub fn find(&self, run: u32, pid: u32, address: u64) -> Option<&ExpectedImage> {
        let images = self.by_process.get(&(run, pid))?;
        let mut here = images.iter().filter(|(start, end, _)| (*start..*end).contains(&address));
        let found = here.next()?;
        here.next().is_none().then_some(&found.2)
    }

    pub fn count(&self) -> usize {
        let images = self.by_process.values().flatten().map(|(_, _, image)| image);
        images.collect::<BTreeSet<_>>().len()
    }
}

/// Reads the images of all processes, and checks that the runs are the ones with folders.
pub fn images(bundle: &Unpacked) -> Result<Images, String> {
    let template = Keyed::read(bundle.file("form.template")?)?;
    let data = template.field(template.top("com.apple.xray.run.data")?, "$1")?;
    let stores = template.top("com.apple.xray.symbolstoremanager.symbolstores")?;
    let mut images = Images { by_process: BTreeMap::new() };
    let numbered = template.entries(data)?.into_iter().filter_map(|(key, _)| key.as_unsigned_integer()).count();
    if numbered != bundle.runs().len() {
        return Err(format!("{numbered} runs, {} folders", bundle.runs().len()));
    }
    for run in bundle.runs() {
        let run_data = template.numbered(data, u64::from(run))?;
        check_run(&template, run_data)?;
        let info = template.entry(run_data, "runInfo")?;
        let device = template.text(template.field(info, "_targetUUID")?)?;
        let processes = template.entries(template.numbered(stores, u64::from(run))?)?;
        for (name, symbols) in processes {
            let (owner, pid) = template.text(name)?.rsplit_once('.').ok_or("device and pid")?;
            let loaded = loaded(&template, symbols)?;
            if owner == device {
                let pid = pid.parse().map_err(|_| format!("{pid} is no pid"))?;
                images.by_process.insert((run, pid), loaded);
            }
        }
    }
    Ok(images)
}

/// Checks the metadata that every run has.
fn check_run(template: &Keyed, run: &plist::Value) -> Result<(), String> {
    for name in ["targetDevice", "mach_time_info", "osVersion", "runInfo", "processDatas", "allObjects"] {
        template.entry(run, name)?;
    }
    let (start, length) = (template.entry(run, "startTime")?, template.entry(run, "runningTime")?);
    let info = template.entry(run, "runInfo")?;
    let real = |name| template.field(info, name)?.as_real().ok_or_else(|| format!("{name} is a real number"));
    let starts_then = (real("_rawStartTime")? - template.number(start)? as f64 / 1e9).abs() < 1e-3;
    let lasts = (real("_rawDuration")? - template.number(length)? as f64 / 1e9).abs() < 1e-3;
    if !starts_then || !lasts {
        return Err("two times for one run".to_owned());
    }
    for (tid, thread) in template.entries(template.entry(run, "threadsByTID")?)? {
        template.text(template.field(thread, "preferredName")?)?;
        if template.number(template.field(thread, "tid")?)? != template.number(tid)? {
            return Err("a thread under the tid of another".to_owned());
        }
    }
    Ok(())
}

/// Segments with code or data: the process's, and the cache's at their mapped addresses.
fn loaded(template: &Keyed, symbols: &plist::Value) -> Result<Vec<Range>, String> {
    let own = signature(template.data(template.field(symbols, "com.apple.xray.symbolstore.signature")?)?)?;
    let mut loaded = Vec::new();
    own.images.iter().try_for_each(|image| add(&mut loaded, image, 0))?;
    let offsets = template.items(template.field(symbols, "dsc_load_addresses")?)?;
    if offsets.is_empty() {
        return Ok(loaded);
    }
    let caches = template.entries(template.top("com.apple.xray.symbolstore.sharedcache.signatures")?)?;
    let is_own =
        |key: &plist::Value| template.field(key, "NS.uuidbytes").is_ok_and(|uuid| uuid.as_data() == Some(&own.cache));
    let cache = caches.into_iter().find(|(key, _)| is_own(key)).ok_or("a cache that nobody has")?.1;
    let cached: BTreeMap<u64, &plist::Value> = template
        .entries(cache)?
        .into_iter()
        .map(|(key, value)| Ok((template.number(key)?, value)))
        .collect::<Result<_, String>>()?;
    for offset in offsets {
        let offset = template.number(offset)?;
        let signature = signature(template.data(cached.get(&offset).ok_or("an image that the cache has not")?)?)?;
        let [image] = &signature.images[..] else { return Err("one image in the cache".to_owned()) };
        if text(image)? != offset || signature.base != own.base || signature.cache != own.cache {
            return Err(format!("the image at {offset:#x} of the cache"));
        }
        add(&mut loaded, image, own.base)?;
    }
    Ok(loaded)
}

fn text(image: &SignedImage) -> Result<u64, String> {
    let text = image.segments.iter().find(|(name, ..)| name == "__TEXT");
    text.map(|(_, address, _)| *address).ok_or_else(|| format!("{} has no __TEXT", image.path))
}

fn add(loaded: &mut Vec<Range>, image: &SignedImage, base: u64) -> Result<(), String> {
    let load_address = text(image)? + base;
    let SignedImage { uuid, path, arch, .. } = image;
    for (name, address, size) in &image.segments {
        if name != "__PAGEZERO" && name != "__LINKEDIT" {
            let image = ExpectedImage { uuid: uuid.clone(), load_address, path: path.clone(), arch: arch.clone() };
            loaded.push((address + base, address + base + size, image));
        }
    }
    Ok(())
}

fn signature(bytes: &[u8]) -> Result<Signature, String> {
    let header = (0..6).map(|word| u32_at(bytes, 4 * word)).collect::<Result<Vec<_>, _>>()?;
    if header[..2] != [0xff01_ff02, 1] || header[3] > 1 || header[4] != 0x2000 {
        return Err(format!("a signature begins with {header:x?}"));
    }
    let mut at = 24;
    let mut images = Vec::new();
    for _ in 0..header[5] {
        let (segments, length) = (u32_at(bytes, at + 48)? as usize, u32_at(bytes, at + 52)? as usize);
        let path = bytes.get(at + 56..at + 56 + length).ok_or("a path behind the end")?;
        let path = String::from_utf8(path.to_vec()).map_err(|error| error.to_string())?;
        let lifetime = (u64_at(bytes, at + 24)?, u64_at(bytes, at + 32)?);
        let uuid = uuid_text(&bytes[at..at + 16]);
        let arch = match (u32_at(bytes, at + 40)?, u32_at(bytes, at + 44)?) {
            (0x0100_000c, 0) => "arm64",
            (0x0100_000c, 2) => "arm64e",
            (0x0100_0007, 8) => "x86_64h",
            (0x0100_0007, _) => "x86_64",
            other => return Err(format!("a processor {other:x?}")),
        };
        if lifetime.0 >= lifetime.1 {
            return Err(format!("loaded {lifetime:?}"));
        }
        at += 56 + length;
        let mut list = Vec::new();
        for _ in 0..segments {
            let name = bytes.get(at..at + 16).ok_or("a segment behind the end")?;
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            list.push((name, u64_at(bytes, at + 16)?, u64_at(bytes, at + 24)?));
            at += 32;
        }
        let (path, arch) = (path.trim_end_matches('\0').to_owned(), arch.to_owned());
        images.push(SignedImage { uuid, arch, path, segments: list });
    }
    let length = u32_at(bytes, at + 64)? as usize;
    if [u32_at(bytes, at)?, u32_at(bytes, at + 4)?] != [0x00c0_ffee, 4] || bytes.len() != at + 68 + length {
        return Err(format!("a signature ends with {:x?}", &bytes[at..bytes.len().min(at + 68)]));
    }
    let cache = bytes[at + 8..at + 24].try_into().map_err(|_| "a UUID")?;
    Ok(Signature { images, cache, base: u64_at(bytes, at + 24)? })
}

fn uuid_text(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}
