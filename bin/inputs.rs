//! Opening inputs: paths, standard input, compression, and a word about what is no export.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use traceparse::export::{Export, Options, Reader, decompress};

use crate::bundles::Inputs;
use crate::progress::Progress;

/// Reads all files into one export: exports and recordings.
pub(crate) fn read_all(inputs: &Inputs<'_>, files: &[PathBuf], options: &Options) -> Result<Export> {
    let mut reader = Reader::new(options.clone());
    for file in files {
        match inputs.bundle(file) {
            Some(bundle) => inputs.read_bundle(bundle, &mut reader, &file.display().to_string())?,
            None => read_into(file, &mut reader)?,
        }
    }
    Ok(reader.finish()?)
}

/// Reads an export.
pub(crate) fn read_file(file: &Path, options: &Options) -> Result<Export> {
    let mut reader = Reader::new(options.clone());
    read_into(file, &mut reader)?;
    Ok(reader.finish()?)
}

fn read_into(file: &Path, reader: &mut Reader) -> Result<()> {
    let name = file.display().to_string();
    let source = decompress(open(file)?).with_context(|| format!("{name}: cannot be read"))?;
    Ok(reader.read(source, &name)?)
}

/// Opens an input; once reading takes long, its progress is shown.
pub(crate) fn open(path: &Path) -> Result<impl Read + Send + use<>> {
    let (source, size) = open_file(path)?;
    Ok(WithProgress { source, progress: Progress::new(&path.display().to_string(), size) })
}

fn open_file(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), None));
    }
    let name = path.display();
    let file = File::open(path).with_context(|| format!("{name}: cannot be opened"))?;
    let metadata = file.metadata().with_context(|| format!("{name}: cannot be read"))?;
    if metadata.is_dir() {
        let (exports, recordings) = (path.join("*.xml"), path.join("*.trace"));
        let (exports, recordings) = (exports.display(), recordings.display());
        bail!("{name} is a folder; name the exports or recordings in it, such as {exports} or {recordings}");
    }
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
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
