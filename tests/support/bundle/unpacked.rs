//! The files of a bundle, uncompressed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::pack::Files;

/// Files by path in the bundle.
pub struct Unpacked {
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Unpacked {
    pub fn new(files: &Files) -> Result<Unpacked, String> {
        let mut unpacked = BTreeMap::new();
        for (path, bytes) in files {
            let known = unpacked.insert(path.clone(), inflated(bytes).map_err(|error| format!("{path}: {error}"))?);
            if known.is_some() {
                return Err(format!("{path} is there twice"));
            }
        }
        Ok(Unpacked { files: unpacked })
    }

    /// Returns a file, or an error if it is missing.
    pub fn file(&self, path: &str) -> Result<&[u8], String> {
        self.files.get(path).map(Vec::as_slice).ok_or_else(|| format!("there is no {path}"))
    }

    /// The numbers of runs that have a folder.
    pub fn runs(&self) -> BTreeSet<u32> {
        let folders = self.files.keys().filter_map(|path| path.strip_prefix("corespace/run")?.split('/').next());
        folders.filter_map(|number| number.parse().ok()).collect()
    }

    /// The numbers of the stores of a run.
    pub fn stores(&self, run: u32) -> BTreeSet<usize> {
        let prefix = format!("corespace/run{run}/core/stores/indexed-store-");
        let folders = self.files.keys().filter_map(|path| path.strip_prefix(&prefix)?.split('/').next());
        folders.filter_map(|number| number.parse().ok()).collect()
    }
}

/// The bytes of a file, inflated if it is compressed.
pub fn inflated(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if bytes.first() != Some(&0x78) {
        return Ok(bytes.to_vec());
    }
    let mut content = Vec::new();
    flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}

/// All files in a folder.
pub fn from_folder(bundle: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![bundle.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(bundle).expect("a path inside").to_string_lossy().replace('\\', "/");
                files.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    files.sort();
    files
}

/// All files of a zip, in its only folder.
pub fn from_zip(bytes: &[u8], folder: &str) -> Files {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("a zip");
    let mut files = Files::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let name = entry.name().expect("a name").into_owned();
        let Some(name) = name.strip_prefix(folder).map(|name| name.trim_start_matches('/').to_owned()) else {
            continue;
        };
        if entry.is_file() {
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("an entry that can be read");
            files.push((name, content));
        }
    }
    files.sort();
    files
}

/// All files of a tar, in its only folder.
pub fn from_tar(bytes: &[u8], folder: &str) -> Files {
    let mut archive = tar::Archive::new(bytes);
    let mut files = Files::new();
    for entry in archive.entries().expect("a tar") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let Some(name) = name.strip_prefix(folder).map(|name| name.trim_start_matches('/').to_owned()) else {
            continue;
        };
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("an entry that can be read");
        files.push((name, content));
    }
    files.sort();
    files
}

pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32, String> {
    let word = bytes.get(at..at.saturating_add(4)).and_then(|word| word.try_into().ok());
    word.map(u32::from_le_bytes).ok_or_else(|| format!("{} bytes end before {at:#x}", bytes.len()))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Result<u64, String> {
    let word = bytes.get(at..at.saturating_add(8)).and_then(|word| word.try_into().ok());
    word.map(u64::from_le_bytes).ok_or_else(|| format!("{} bytes end before {at:#x}", bytes.len()))
}
