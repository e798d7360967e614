//! Writes the files of a bundle to a folder or an archive.

use std::io::{Cursor, Write};
use std::path::Path;

use flate2::write::ZlibEncoder;
use plist::{Dictionary, Value};

use super::super::random::Rng;
use super::Compression;
use super::archive::xml;

/// The path of each file in the bundle, and its bytes.
pub type Files = Vec<(String, Vec<u8>)>;

/// Compresses a file, or leaves it unchanged.
pub fn compress(bytes: &mut Vec<u8>, compression: Compression, rng: &mut Rng) {
    let is_compressed = match compression {
        Compression::Plain => false,
        Compression::Zlib => true,
        Compression::Mixed => rng.one_in(2),
    };
    if is_compressed && !bytes.is_empty() {
        *bytes = deflated(bytes);
    }
}

pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory")
}

/// The list of folders, and whether they are compressed.
pub fn manifest(folders: &[String], is_compressed: bool) -> Vec<u8> {
    let list = |is_full: bool| -> Value {
        Value::Array(folders.iter().filter(|_| is_full).map(|folder| Value::String(folder.clone())).collect())
    };
    let mut manifest = Dictionary::new();
    manifest.insert("compressed-paths".to_owned(), list(is_compressed));
    manifest.insert("paths".to_owned(), list(true));
    xml(&Value::Dictionary(manifest))
}

/// `open.creq`: the features that a program needs to open the bundle.
pub fn required_features() -> Vec<u8> {
    let mut features = Dictionary::new();
    for topology in ["XRT64_CC32_R_TypeID", "XRTD64_CC32_R_TypeID"] {
        let reason = "The rows begin with numbers that this program does not know.";
        let values = [Value::Integer(1.into()), Value::String(reason.to_owned())];
        features.insert(format!("com.apple.dt.ac.topology.{topology}"), Value::Array(values.to_vec()));
    }
    xml(&Value::Dictionary(features))
}

/// Writes the files to the folder `bundle`, which is created.
pub fn to_folder(files: &Files, bundle: &Path) {
    for (path, bytes) in files {
        let path = bundle.join(path);
        std::fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder to write to");
        std::fs::write(path, bytes).expect("a file to write to");
    }
}

/// A zip of the files, in `folder` if it is given, each stored or deflated.
pub fn to_zip(files: &Files, folder: Option<&str>, is_deflated: bool) -> Vec<u8> {
    let method = if is_deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(inside(folder, path), options).expect("writing to memory");
        writer.write_all(bytes).expect("writing to memory");
    }
    writer.finish().expect("writing to memory").into_inner()
}

/// A tar of the files, in `folder` if it is given.
pub fn to_tar(files: &Files, folder: Option<&str>) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, inside(folder, path), bytes.as_slice()).expect("writing to memory");
    }
    builder.into_inner().expect("writing to memory")
}

fn inside(folder: Option<&str>, path: &str) -> String {
    folder.map_or_else(|| path.to_owned(), |folder| format!("{folder}/{path}"))
}
