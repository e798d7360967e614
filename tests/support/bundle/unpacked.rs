//! The files of a bundle, uncompressed.

use std::io::Read;

use super::pack::Files;

/// The bytes of a file, inflated if it is compressed.
pub fn inflated(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if bytes.first() != Some(&0x78) {
        return Ok(bytes.to_vec());
    }
    let mut content = Vec::new();
    flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
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

pub fn u32_at(bytes: &[u8], at: usize) -> Result<u32, String> {
    let word = bytes.get(at..at.saturating_add(4)).and_then(|word| word.try_into().ok());
    word.map(u32::from_le_bytes).ok_or_else(|| format!("{} bytes end before {at:#x}", bytes.len()))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Result<u64, String> {
    let word = bytes.get(at..at.saturating_add(8)).and_then(|word| word.try_into().ok());
    word.map(u64::from_le_bytes).ok_or_else(|| format!("{} bytes end before {at:#x}", bytes.len()))
}
