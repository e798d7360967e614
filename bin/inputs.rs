//! Opening inputs: paths, standard input, compression, progress, and a word about what is no export.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use traceparse::export::{Export, Options, Reader, decompress};

/// Reads all files into one export.
pub(crate) fn read_all(files: &[std::path::PathBuf], options: &Options) -> Result<Export> {
    let mut reader = Reader::new(options.clone());
    for file in files {
        let name = file.display().to_string();
        let source = decompress(open(file)?).with_context(|| format!("{name}: cannot be read"))?;
        reader.read(source, &name)?;
    }
    Ok(reader.finish()?)
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
        if path.extension().is_some_and(|extension| extension == "trace") {
            bail!(
                "{name} is a recording, not an export. On a Mac: xcrun xctrace export --input '{name}' \
                 --xpath '/trace-toc/run/data/table[@schema=\"time-profile\"]' --output export.xml"
            );
        }
        bail!("{name} is a folder; name the exports in it, such as {}", path.join("*.xml").display());
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
