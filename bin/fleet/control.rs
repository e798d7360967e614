//! Progress and Ctrl-C while many files are read.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressStyle};

use super::notes::{counted, several};
use crate::interrupt::{end, on_interrupt};
use crate::{complain, warning};

/// The means to watch and stop the reading of many files.
pub(super) struct Control {
    pub(super) progress: Arc<Progress>,
    /// The exit code of an interruption; 0 before there is one.
    interrupted: Arc<AtomicU8>,
    stopped: AtomicBool,
}

/// The fate of files that are being read at the first Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtInterrupt {
    /// They are read to their end, since what was measured is kept.
    Finish,
    /// The process ends at once: nothing of them is kept, and the reading of a pipe may never end.
    End,
    /// The same, where they are read again for pages of runs.
    EndPages,
}

impl Control {
    /// Watches for Ctrl-C from now on; the second one, if not the first, ends the process at once.
    pub(super) fn new(files: usize, bytes: u64, at_interrupt: AtInterrupt) -> Self {
        let progress = Arc::new(Progress::new(files, bytes));
        let interrupted = Arc::new(AtomicU8::new(0));
        let (shown, before) = (Arc::clone(&progress), Arc::clone(&interrupted));
        on_interrupt(move |code| {
            if before.swap(code, Ordering::SeqCst) > 0 {
                end(code);
            }
            match at_interrupt {
                AtInterrupt::Finish => {
                    complain("\nfinishing the files being read; press Ctrl-C again to quit at once");
                }
                AtInterrupt::End | AtInterrupt::EndPages => {
                    shown.clear();
                    let (what, advice) = match at_interrupt {
                        AtInterrupt::EndPages => ("page", ""),
                        _ => ("file", "; use `traceparse fleet extract` to keep what was read"),
                    };
                    let (done, all) = (counted(shown.done()), several(files, what));
                    warning(&format!("interrupted after {done} of {all}, without a report{advice}"));
                    end(code);
                }
            }
        });
        Self { progress, interrupted, stopped: AtomicBool::new(false) }
    }

    /// The exit code, if the user wants no more.
    pub(super) fn interruption(&self) -> Option<u8> {
        Some(self.interrupted.load(Ordering::SeqCst)).filter(|&code| code > 0)
    }

    /// No further file is begun.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// True if a further file may be begun.
    pub(super) fn may_begin(&self) -> bool {
        self.interruption().is_none() && !self.stopped.load(Ordering::SeqCst)
    }
}

/// The time that reading takes before its progress is shown.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows how far reading came, on standard error if that is a terminal, once it takes long.
pub(super) struct Progress {
    files: usize,
    total_bytes: u64,
    bytes: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
    is_wanted: bool,
}

impl Progress {
    fn new(files: usize, total_bytes: u64) -> Self {
        Self {
            files,
            total_bytes,
            bytes: AtomicU64::new(0),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            start: Instant::now(),
            bar: Mutex::new(None),
            is_wanted: std::io::stderr().is_terminal(),
        }
    }

    /// Bytes were read.
    pub(super) fn add_bytes(&self, count: u64) {
        self.bytes.fetch_add(count, Ordering::Relaxed);
        self.show();
    }

    /// A file of so many bytes is done; of those, `unread` were not read.
    pub(super) fn add_file(&self, unread: u64, is_failed: bool) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(is_failed), Ordering::Relaxed);
        self.add_bytes(unread);
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed) as usize
    }

    fn show(&self) {
        if !self.is_wanted || self.start.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(self.total_bytes);
            let template = "{wide_msg} {bar:20}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar
        });
        bar.set_message(self.message());
        bar.set_position(self.bytes.load(Ordering::Relaxed));
    }

    /// `142/1,500 files, 3 failed, 76.20 MiB/s, 12s left`. The rate is that since the start: files differ in what they take.
    fn message(&self) -> String {
        let [done, failed] = [&self.done, &self.failed].map(|count| count.load(Ordering::Relaxed) as usize);
        let failed = if failed > 0 { format!(", {} failed", counted(failed)) } else { String::new() };
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = bytes as f64 / self.start.elapsed().as_secs_f64();
        let left = self.total_bytes.saturating_sub(bytes) as f64 / rate.max(1.0);
        let (rate, left) = (BinaryBytes(rate as u64), HumanDuration(Duration::from_secs(left as u64)));
        format!("{}/{}{failed}, {rate}/s, {left:#} left", counted(done), several(self.files, "file"))
    }

    /// Takes the progress away, so that messages stand alone.
    pub(super) fn clear(&self) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }
}
