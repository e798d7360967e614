//! Opening inputs: paths, standard input, compression, progress, and a word about what is no export.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use traceparse::export::{Export, Options, Reader, decompress};

use crate::bundles::Inputs;

/// Reads all files into one export: exports and recordings.
pub(crate) fn read_all(inputs: &Inputs<'_>, files: &[PathBuf], options: &Options) -> Result<Export> {
    let mut reader = Reader::new(options.clone());
    for file in files {
        match inputs.bundle(file) {
            Some(bundle) => bundle.read_into(&mut reader, &file.display().to_string())?,
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
    Ok(WithProgress::new(source, &path.display().to_string(), size))
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

/// How long reading takes before its progress is shown.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows how far reading came, on standard error if that is a terminal, once it takes long.
struct WithProgress<R> {
    source: R,
    name: String,
    size: Option<u64>,
    bytes: u64,
    start: Instant,
    bar: Option<ProgressBar>,
    is_wanted: bool,
}

impl<R> WithProgress<R> {
    fn new(source: R, name: &str, size: Option<u64>) -> Self {
        let is_wanted = io::stderr().is_terminal();
        Self { source, name: name.to_owned(), size, bytes: 0, start: Instant::now(), bar: None, is_wanted }
    }

    fn show(&mut self) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = self.size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match self.size {
                Some(_) => "{wide_msg} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} {bar:20}",
                None => "{spinner} {wide_msg} {bytes} {binary_bytes_per_sec}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar.set_message(self.name.clone());
            bar
        });
        bar.set_position(self.bytes);
    }
}

impl<R: Read> Read for WithProgress<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.bytes += count as u64;
        if self.is_wanted && (self.bar.is_some() || self.start.elapsed() > PATIENCE) {
            self.show();
        }
        Ok(count)
    }
}

impl<R> Drop for WithProgress<R> {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
