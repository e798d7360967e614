//! Shows the reading progress on standard error, if that is a terminal and reading takes long.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressStyle};
use traceparse::files::{Files, FilesAdaptor};

/// Progress is shown only if reading takes longer than this.
const PATIENCE: Duration = Duration::from_millis(400);

/// The progress of one input. It disappears on drop.
pub(crate) struct Progress {
    name: String,
    size: Option<u64>,
    bytes: u64,
    start: Instant,
    bar: Option<ProgressBar>,
    is_wanted: bool,
}

impl Progress {
    /// Starts the progress of an input with this size, if known.
    pub(crate) fn new(name: &str, size: Option<u64>) -> Self {
        let is_wanted = io::stderr().is_terminal();
        Self { name: name.to_owned(), size, bytes: 0, start: Instant::now(), bar: None, is_wanted }
    }

    /// Adds a number of bytes.
    pub(crate) fn add(&mut self, count: u64) {
        self.bytes += count;
        if self.is_wanted && (self.bar.is_some() || self.start.elapsed() > PATIENCE) {
            self.show();
        }
    }

    fn show(&mut self) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = self.size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match self.size {
                Some(_) => "{wide_msg} {bytes}/{total_bytes} {prefix} {bar:20}",
                None => "{spinner} {wide_msg} {bytes} {prefix}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar.set_message(crate::printable(&self.name).into_owned());
            bar
        });
        bar.set_prefix(speed(self.bytes, self.size, self.start.elapsed()));
        bar.set_position(self.bytes);
    }
}

/// The average rate since the start, and the remaining time if the size is known. The bar's own estimate would be wrong: the bar starts late, and
/// would attribute all earlier bytes to its first moment.
fn speed(bytes: u64, size: Option<u64>, elapsed: Duration) -> String {
    let rate = bytes as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = size.map(|size| size.saturating_sub(bytes) as f64 / rate.max(1.0));
    let left = left.map_or_else(String::new, |seconds| format!(" {}s", seconds.ceil()));
    format!("{}/s{left}", BinaryBytes(rate as u64))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A file system that counts the bytes read while a recording is read.
pub(crate) struct Watched<F> {
    files: F,
    progress: Mutex<Option<Progress>>,
}

impl<F: Files> Watched<F> {
    pub(crate) fn new(files: F) -> Self {
        Self { files, progress: Mutex::new(None) }
    }

    /// Runs `read`, which reads these files, and shows its progress.
    pub(crate) fn while_reading<T>(&self, progress: Progress, read: impl FnOnce() -> T) -> T {
        *self.progress() = Some(progress);
        let result = read();
        *self.progress() = None;
        result
    }

    fn progress(&self) -> MutexGuard<'_, Option<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Files> FilesAdaptor for Watched<F> {
    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn after_read(&self, _: &Path, _: u64, bytes: &[u8]) {
        if let Some(progress) = self.progress().as_mut() {
            progress.add(bytes.len() as u64);
        }
    }
}

/// A source that reports the number of bytes read.
pub(crate) struct Counted<R, F> {
    pub(crate) source: R,
    pub(crate) add: F,
}

impl<R: Read, F: FnMut(u64)> Read for Counted<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        (self.add)(count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceparse::files::FileSystem;

    #[test]
    fn names_of_inputs_cannot_steer_the_terminal() {
        for size in [None, Some(1_000)] {
            let mut progress = Progress::new("a\u{1b}[2J\r\u{202e}b", size);
            progress.show();
            assert_eq!(progress.bar.as_ref().unwrap().message(), "a\\u{1b}[2J\\r\\u{202e}b");
        }
    }

    #[test]
    fn the_rate_is_that_since_the_start() {
        let second = Duration::from_secs(1);
        assert_eq!(speed(3 << 20, None, second), "3.00 MiB/s");
        assert_eq!(speed(3 << 20, None, 4 * second), "768.00 KiB/s");
        assert_eq!(speed(1 << 20, Some(4 << 20), second / 2), "2.00 MiB/s 2s");
        assert_eq!(speed(5, Some(4), second), "5 B/s 0s", "a file that grew");
    }

    #[test]
    fn what_is_read_of_an_input_is_counted_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 1_000]).unwrap();
        let files = Watched::new(FileSystem);
        assert_eq!(files.read(&path, 0, 500).unwrap().len(), 500);
        let count = || files.progress().as_ref().map(|progress| progress.bytes);
        assert_eq!(count(), None, "nothing is counted before");
        let counted = files.while_reading(Progress::new("file", Some(1_000)), || {
            assert_eq!(files.read(&path, 0, 500).unwrap().len(), 500);
            let mut place = [0; 300];
            assert_eq!(files.read_into(&path, 800, &mut place).unwrap(), 200);
            count()
        });
        assert_eq!((counted, count()), (Some(700), None));
    }
}
