//! dyld shared caches: invented ones of every form, whole, with missing or foreign parts, and damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use support::Rng;
use support::dyld_cache_writer::{CODE, CODE_SIZE, CacheForm, CacheModel, CachedFunction, CachedImage, Visible};
use traceparse::files::{Entry, FileSystem, Files, FolderTimes};
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{Found, Index, Locator, SourceKind, SymbolFinder, SymbolFrame};
use traceparse::units::Uuid;

const NAME: &str = "dyld_shared_cache_arm64e";

/// Files in memory, all in one folder, and the number of reads.
struct MemoryFiles(BTreeMap<PathBuf, Vec<u8>>, AtomicUsize);

impl MemoryFiles {
    fn new(model: &CacheModel) -> Self {
        let file = |file: support::dyld_cache_writer::CacheFile| {
            (PathBuf::from(format!("/c/{NAME}{}", file.suffix)), file.bytes())
        };
        Self(model.write().into_iter().map(file).collect(), AtomicUsize::default())
    }

    fn file(&mut self, suffix: &str) -> &mut Vec<u8> {
        self.0.get_mut(Path::new(&format!("/c/{NAME}{suffix}"))).expect("a file of the cache")
    }

    fn remove(&mut self, suffix: &str) {
        self.0.remove(Path::new(&format!("/c/{NAME}{suffix}"))).expect("a file of the cache");
    }

    fn locate(&self) -> Locator<'_> {
        let mut locator = Locator::new(self);
        locator.add(Path::new("/c"), &mut Index::default()).unwrap();
        locator
    }
}

impl Files for MemoryFiles {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        match self.0.get(path) {
            Some(bytes) => Ok(Entry::File { length: bytes.len() as u64, modified: 1, changed: 1 }),
            None if path == Path::new("/c") => Ok(Entry::Folder),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.0.keys().cloned().collect())
    }

    /// The folder never changes, and is old enough that its times can be trusted.
    fn folder_times(&self, _: &Path) -> Option<FolderTimes> {
        Some(FolderTimes { modified: 1, changed: 1 })
    }

    fn read(&self, path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        Ok(rest[..rest.len().min(length)].to_vec())
    }
}

/// Functions of every visibility at random places.
fn random_image(rng: &mut Rng, index: usize, count: u64) -> CachedImage {
    let mut offsets: BTreeSet<u64> = (0..count).map(|_| CODE + 4 * rng.below(CODE_SIZE / 4)).collect();
    offsets.insert(CODE);
    let function = |(number, offset)| {
        let visible = [Visible::External, Visible::Exported, Visible::Local, Visible::Stripped][rng.below(4) as usize];
        let name = match visible {
            Visible::Local if number % 2 == 0 => format!("-[Widget{index} draw{number}:]"),
            Visible::Stripped => String::new(),
            _ => format!("image{index}_function_{number}"),
        };
        CachedFunction { name, offset, visible }
    };
    let functions = offsets.into_iter().enumerate().map(function).collect();
    CachedImage { path: format!("/usr/lib/libimage{index}.dylib"), uuid: uuid_of(index), functions }
}

fn uuid_of(index: usize) -> [u8; 16] {
    let mut uuid = [9; 16];
    uuid[..8].copy_from_slice(&(index as u64).to_le_bytes());
    uuid
}

fn model(form: CacheForm, has_locals: bool, image_count: usize) -> CacheModel {
    let mut rng = Rng::new(form as u64 * 2 + u64::from(has_locals));
    let images = (0..image_count).map(|index| random_image(&mut rng, index, 30)).collect();
    CacheModel { form, images, has_locals, stride: 0x4000 }
}

/// The start and name at each offset of the code of an image, and the number of files that could not be read.
type Answers = BTreeMap<u64, (u64, Option<String>)>;

fn answers(locator: &Locator<'_>, uuid: Uuid, budget: &MemoryBudget) -> (Answers, Vec<String>) {
    let addresses: Vec<u64> = (0..CODE + CODE_SIZE + 0x40).step_by(4).collect();
    let mut answers = Answers::new();
    let asked = locator.look_up(uuid, &addresses, budget, &mut |index, frames: &[SymbolFrame<'_>]| {
        let address = addresses[index];
        answers.remove(&address);
        if let [frame] = frames {
            answers.insert(address, (address - frame.offset.unwrap(), frame.function.map(str::to_owned)));
        }
    });
    let faults = asked.iter().flat_map(|asked| match &asked.result {
        Ok(notes) => notes.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    });
    (answers, faults.collect())
}

fn expected(image: &CachedImage, has_locals: bool) -> Answers {
    let offsets = (0..CODE + CODE_SIZE + 0x40).step_by(4);
    let answer =
        |offset| image.function(offset, has_locals).map(|(start, name)| (offset, (start, name.map(str::to_owned))));
    offsets.filter_map(answer).collect()
}

fn notes(locator: &Locator<'_>) -> Vec<String> {
    locator.notes().iter().map(ToString::to_string).collect()
}

#[test]
fn names_every_function_of_every_form() {
    for form in CacheForm::ALL {
        for has_locals in [true, false] {
            let model = model(form, has_locals, 5);
            let files = MemoryFiles::new(&model);
            let locator = files.locate();
            assert_eq!((locator.found().len(), notes(&locator)), (5, vec![]), "{form:?}");
            for (index, image) in model.images.iter().enumerate() {
                let found = &locator.found()[index];
                assert_eq!((found.kind, found.text_address), (SourceKind::DyldCache, Some(model.address(index))));
                assert_eq!(
                    (found.name.clone(), found.image_path.as_ref()),
                    (format!("libimage{index}.dylib"), Some(&image.path))
                );
                assert_eq!(found.arch, if form == CacheForm::Single32 { "armv7" } else { "arm64e" });
                let answers = answers(&locator, Uuid::from_bytes(image.uuid), &MemoryBudget::unlimited());
                assert_eq!(answers, (expected(image, has_locals), vec![]), "{form:?} {has_locals} {index}");
            }
        }
    }
}

#[test]
fn lists_a_cache_once_however_it_is_named() {
    let model = model(CacheForm::Suffixed, true, 4);
    let files = MemoryFiles::new(&model);
    for suffix in ["", ".01", ".02.dyldlinkedit", ".symbols"] {
        let mut locator = Locator::new(&files);
        let count = locator.add(Path::new(&format!("/c/{NAME}{suffix}")), &mut Index::default()).unwrap();
        assert_eq!((count, notes(&locator)), (4, vec![]), "{suffix}");
        assert_eq!(locator.add(Path::new("/c"), &mut Index::default()).unwrap(), 0);
        assert_eq!(locator.parts().count(), 3, "{suffix}");
    }
}

#[test]
fn names_the_missing_main_file() {
    for suffix in [".01", ".02.dyldlinkedit", ".symbols"] {
        let mut files = MemoryFiles::new(&model(CacheForm::Suffixed, true, 4));
        files.0.retain(|path, _| path.ends_with(format!("{NAME}{suffix}")));
        let locator = files.locate();
        let sentence = format!(
            "/c/{NAME}{suffix}: a part of the dyld shared cache {NAME}, which is missing; copy it to the same folder"
        );
        assert_eq!((locator.found(), notes(&locator)), (&[][..], vec![sentence]));
    }
}

#[test]
fn a_missing_or_foreign_part_is_a_note_and_hides_only_what_it_contains() {
    for is_missing in [true, false] {
        let damage = |suffix: &str| {
            let model = model(CacheForm::Suffixed, true, 4);
            let mut files = MemoryFiles::new(&model);
            match is_missing {
                true => files.remove(suffix),
                false => files.file(suffix)[0x58] ^= 1,
            }
            (model, files)
        };
        let reason = if is_missing { "is missing; copy it" } else { "is from another cache" };
        let (model, files) = damage(".01");
        let locator = files.locate();
        assert_eq!(locator.found().len(), 2, "images 0 and 2");
        let said = notes(&locator);
        assert!(said.len() == 2 && said[0].contains(&format!("{NAME}.01 {reason}")), "{said:?}");
        assert!(said[1].ends_with("2 images in no readable file of the cache"), "{said:?}");
        let uuid = Uuid::from_bytes(model.images[2].uuid);
        let whole = (expected(&model.images[2], true), vec![]);
        assert_eq!(answers(&locator, uuid, &MemoryBudget::unlimited()), whole);

        let (model, files) = damage(".symbols");
        let locator = files.locate();
        let said = notes(&locator);
        assert!(said.len() == 1 && said[0].contains(&format!("{NAME}.symbols {reason}")), "{said:?}");
        for image in &model.images {
            let answers = answers(&locator, Uuid::from_bytes(image.uuid), &MemoryBudget::unlimited());
            assert_eq!(answers, (expected(image, false), vec![]));
        }

        let (model, files) = damage(".02.dyldlinkedit");
        let locator = files.locate();
        assert_eq!((locator.found().len(), notes(&locator).len()), (4, 1));
        let (answers, faults) = answers(&locator, Uuid::from_bytes(model.images[0].uuid), &MemoryBudget::unlimited());
        assert!(answers.is_empty() && faults[0].contains(reason), "{faults:?}");
    }
}

/// A note is not cached indefinitely: new, changed and deleted parts are noticed.
#[test]
fn an_index_notices_changed_parts() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(CacheForm::Suffixed, true, 4);
    let path = |suffix: &str| folder.path().join(format!("{NAME}{suffix}"));
    for file in model.write() {
        fs::write(path(file.suffix), file.bytes()).unwrap();
    }
    let mut index = Index::default();
    let mut locate = |wanted: Option<usize>| {
        let mut kept = Index::from_bytes(index.to_bytes());
        let mut locator = Locator::new(&FileSystem);
        match wanted {
            Some(image) => {
                let wanted = BTreeSet::from([Uuid::from_bytes(uuid_of(image))]);
                locator.add_wanted(folder.path(), &mut kept, &wanted).unwrap()
            }
            None => locator.add(folder.path(), &mut kept).unwrap(),
        };
        let found: Vec<Found> = locator.found().to_vec();
        let (is_changed, notes) = (kept.is_changed(), notes(&locator).len());
        index = kept;
        (found.len(), notes, is_changed)
    };
    assert_eq!(locate(None), (4, 0, true));
    assert_eq!(locate(None), (4, 0, false));
    let part = fs::read(path(".01")).unwrap();
    let mut foreign = part.clone();
    foreign[0x58] ^= 1;
    fs::write(path(".01"), foreign).unwrap();
    assert_eq!(locate(None), (2, 2, true), "a foreign part");
    fs::remove_file(path(".01")).unwrap();
    assert_eq!(locate(None), (2, 2, true), "a missing part");
    assert_eq!(locate(None), (2, 2, false));
    fs::write(path(".01"), part).unwrap();
    assert_eq!(locate(Some(1)).0, 4, "it is back");
    let main = fs::read(path("")).unwrap();
    fs::remove_file(path("")).unwrap();
    assert_eq!(locate(None), (0, 3, true), "only parts");
    fs::write(path(""), main).unwrap();
    assert_eq!(locate(None), (4, 0, true));
}

/// An index of unchanged folders finds one image, without reading the cache.
#[test]
fn an_index_recalls_one_image_and_all_parts() {
    let mut files = MemoryFiles::new(&model(CacheForm::Suffixed, true, 4));
    let mut index = Index::default();
    Locator::new(&files).add(Path::new("/c"), &mut index).unwrap();
    let text = String::from_utf8(index.to_bytes()).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("p\t")).count(), 3 + 3, "{text}");
    let wanted = BTreeSet::from([Uuid::from_bytes(uuid_of(3))]);
    let recall = |files: &MemoryFiles| {
        files.1.store(0, Ordering::Relaxed);
        let mut locator = Locator::new(files);
        let count = locator.add_wanted(Path::new("/c"), &mut Index::from_bytes(index.to_bytes()), &wanted).unwrap();
        let parts: Vec<PathBuf> = locator.parts().map(Path::to_owned).collect();
        assert!(
            [".01", ".symbols"].iter().all(|suffix| parts.iter().any(|part| part.to_string_lossy().ends_with(suffix)))
        );
        (count, locator.found().len(), files.1.load(Ordering::Relaxed))
    };
    assert_eq!(recall(&files), (4, 1, 0));
    // Another length.
    files.file(".02.dyldlinkedit").push(0);
    let (count, found, reads) = recall(&files);
    assert!(count == 4 && found == 4 && reads > 0, "{count} {found} {reads}");
}

#[test]
fn memory_is_taken_from_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(CacheForm::Suffixed, true, 4);
    for file in model.write() {
        fs::write(folder.path().join(format!("{NAME}{}", file.suffix)), file.bytes()).unwrap();
    }
    let mut locator = Locator::new(&FileSystem);
    locator.add(folder.path(), &mut Index::default()).unwrap();
    let (uuid, whole) = (Uuid::from_bytes(model.images[1].uuid), expected(&model.images[1], true));
    let mut enough = 0;
    for bytes in (10..24).map(|bits| 1 << bits) {
        let budget = MemoryBudget::new(bytes);
        let (answers, faults) = answers(&locator, uuid, &budget);
        assert_eq!(budget.used(), 0);
        if faults.is_empty() {
            assert_eq!(answers, whole);
            enough = enough.max(1).min(bytes);
        } else {
            assert!(answers.is_empty() && faults[0].contains("--memory"), "{bytes}: {faults:?}");
            assert_eq!(enough, 0, "{bytes} are too few, and less was enough");
        }
    }
    assert!(enough > 0);
    let tight = MemoryBudget::new(2000);
    let mut locator = Locator::new(&FileSystem).within(&tight);
    locator.add(folder.path(), &mut Index::default()).unwrap();
    assert!(locator.found().is_empty() && notes(&locator)[0].contains("--memory"), "{:?}", notes(&locator));
}

/// An image of a damaged cache has the right names, no names, or a note, unless the damage is in its own parts.
#[test]
fn damage_elsewhere_gives_no_wrong_names() {
    let mut rng = Rng::new(1);
    let (mut right, mut silent) = (0, 0);
    for form in CacheForm::ALL {
        let model = model(form, true, 3);
        let files = model.write();
        for _ in 0..150 {
            let mut damaged = MemoryFiles::new(&model);
            let file = &files[rng.below(files.len() as u64) as usize];
            // The start of a file: header, mappings and lists. The tables of images follow.
            let at = rng.below(0x400) as usize;
            let bytes = damaged.file(file.suffix);
            let Some(byte) = bytes.get_mut(at) else { continue };
            *byte ^= 1 << rng.below(8);
            let locator = damaged.locate();
            for image in &model.images {
                let whole = expected(image, true);
                let bare = expected(image, false);
                let (answers, _) = answers(&locator, Uuid::from_bytes(image.uuid), &MemoryBudget::unlimited());
                for (address, (start, name)) in &answers {
                    let is_right = |all: &Answers| all.get(address) == Some(&(*start, name.clone()));
                    assert!(is_right(&whole) || is_right(&bare), "{form:?} {at:#x} {address:#x} {start:#x} {name:?}");
                }
                if answers.is_empty() { silent += 1 } else { right += 1 }
            }
        }
    }
    assert!(right > 500 && silent > 20, "{right} {silent}");
}

/// A cache of 2 GB with 2,000 images, of which a byte in a thousand is read.
#[test]
fn a_large_cache_is_fast() {
    let images: Vec<CachedImage> = {
        let mut rng = Rng::new(5);
        (0..2000).map(|index| random_image(&mut rng, index, 40)).collect()
    };
    let model = CacheModel { form: CacheForm::Suffixed, images, has_locals: true, stride: 1 << 20 };
    let folder = tempfile::tempdir().unwrap();
    let mut length = 0;
    for file in model.write() {
        let written = fs::File::create(folder.path().join(format!("{NAME}{}", file.suffix))).unwrap();
        written.set_len(file.length).unwrap();
        length += file.length;
        #[cfg(unix)]
        for (offset, bytes) in &file.parts {
            std::os::unix::fs::FileExt::write_all_at(&written, bytes, *offset).unwrap();
        }
    }
    if cfg!(not(unix)) {
        return;
    }
    assert!(length > 2_000_000_000);
    let (start, budget) = (Instant::now(), MemoryBudget::new(100 << 20));
    let mut locator = Locator::new(&FileSystem).within(&budget);
    assert_eq!(locator.add(folder.path(), &mut Index::default()).unwrap(), 2000);
    let listed = start.elapsed();
    let mut named = 0;
    for image in &model.images {
        let function = &image.functions[image.functions.len() / 2];
        let asked = locator.look_up(Uuid::from_bytes(image.uuid), &[function.offset], &budget, &mut |_, frames| {
            assert_eq!(frames[0].function.unwrap_or_default(), function.name);
            named += 1;
        });
        assert!(asked[0].result.is_ok(), "{asked:?}");
    }
    assert_eq!(named, 2000);
    println!("listed in {listed:?}, all in {:?}", start.elapsed());
    // A second without optimisation on a busy machine is several.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
