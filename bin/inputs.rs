//! Opening inputs: paths, standard input, compression, and a word about what is no export.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use traceparse::decompress;
use traceparse::recording::{Options, Recording, RecordingBuilder};

use crate::bundles::Inputs;
use crate::progress::Progress;
use crate::unchanged::InputFile;

/// Reads all files into one export: exports and recordings.
pub(crate) fn read_all(inputs: &Inputs<'_>, files: &[PathBuf], options: &Options) -> Result<Recording> {
    let mut recording = RecordingBuilder::new(options.clone());
    for file in files {
        match inputs.bundle(file) {
            Some(bundle) => inputs.read_bundle(bundle, &mut recording, &file.display().to_string())?,
            None => read_into(file, &mut recording)?,
        }
    }
    Ok(recording.finish()?)
}

/// Reads an export.
pub(crate) fn read_file(file: &Path, options: &Options) -> Result<Recording> {
    let mut recording = RecordingBuilder::new(options.clone());
    read_into(file, &mut recording)?;
    Ok(recording.finish()?)
}

fn read_into(file: &Path, recording: &mut RecordingBuilder) -> Result<()> {
    read_with(file, |source| Ok(recording.read(source, &file.display().to_string())?))
}

/// The result of `read` on an input, decompressed; once that takes long, its progress is shown. An input that changes meanwhile is refused.
pub(crate) fn read_with<T>(path: &Path, read: impl FnOnce(Box<dyn Read + Send + '_>) -> Result<T>) -> Result<T> {
    let file = open(path)?;
    let name = path.display().to_string();
    let source = WithProgress { source: &file, progress: Progress::new(&name, file.length()) };
    let source = decompress(source).with_context(|| format!("{name}: cannot be read"));
    file.unless_changed(source.and_then(read))
}

fn open(path: &Path) -> Result<InputFile> {
    let file = InputFile::open(path)?;
    if file.is_folder() {
        let (name, exports, recordings) = (path.display(), path.join("*.xml"), path.join("*.trace"));
        let (exports, recordings) = (exports.display(), recordings.display());
        bail!("{name} is a folder; name the exports or recordings in it, such as {exports} or {recordings}");
    }
    Ok(file)
}

/// Shows how far reading came.
struct WithProgress<R> {
    source: R,
    progress: Progress,
}

impl<R: Read> Read for WithProgress<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}
