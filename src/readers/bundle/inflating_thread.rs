//! Inflates rows in a second thread, ahead of the reader. That thread sums samples only after the last row, since the reader would otherwise have
//! to wait for rows. If rows are not compressed, it only sums samples: handing rows over would cost more than reading them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::rows::Rows;
use crate::error::{Diagnostic, Error};
use crate::profile::{Full, SumBatch, SumTable};
use crate::recording::InputBuilder;

/// The number of row pieces in the queue. It has room for the pieces that are inflated while the arrays are still being read.
const WAITING: usize = 256;

/// The number of sample batches in the queue, 50 KiB each.
const BATCHES: usize = 64;

pub(super) struct RowPieces<'s> {
    /// `None` if the other thread inflates them.
    rows: Option<Rows<'s>>,
    thread: Option<InflatingThread<'s>>,
    /// The last piece from the other thread, and its offset in the inflated file.
    current: Option<(Vec<u8>, u64)>,
    /// A diagnostic about the rows, if any; set after the last one.
    odd: Option<Diagnostic>,
}

/// The reader's end of the connection. The thread ends when the channels are closed.
struct InflatingThread<'s> {
    pieces: Receiver<Result<Piece, Error>>,
    /// Returns used buffers for reuse.
    taken: Sender<Vec<u8>>,
    /// True once the thread has finished inflating.
    is_idle: Arc<AtomicBool>,
    /// Sends the sum table once, and then batches of samples to add.
    sums: Sender<SumTable>,
    has_sums: bool,
    batches: Sender<SumBatch>,
    /// Receives empty batches for reuse; `waiting` counts the batches that have not come back.
    spare: Receiver<SumBatch>,
    waiting: usize,
    handle: ScopedJoinHandle<'s, Result<SumTable, Full>>,
}

enum Piece {
    /// Rows, and their offset in the inflated file.
    Rows(Vec<u8>, u64),
    /// The end of the rows, with a diagnostic if they had a problem.
    End(Option<Diagnostic>),
}

impl<'s> RowPieces<'s> {
    /// Inflates rows in the caller's thread.
    pub(super) fn here(rows: Rows<'s>) -> Self {
        Self { rows: Some(rows), thread: None, current: None, odd: None }
    }

    /// Inflates rows and sums samples in a new thread of `scope`. If no thread can be started, the caller does both.
    pub(super) fn beside(scope: &'s Scope<'s, '_>, open: impl Fn() -> Result<Rows<'s>, Error>) -> Result<Self, Error> {
        let rows = open()?;
        let (rows, own) = if rows.is_compressed() { (Some(rows), None) } else { (None, Some(rows)) };
        let (piece_sender, pieces) = sync_channel(WAITING);
        let ((taken, reused), (spare_sender, spare)) = (channel(), channel());
        let ((sums, lent), (batches, added)) = (channel(), channel());
        let is_idle = Arc::new(AtomicBool::new(rows.is_none()));
        let was_idle = is_idle.clone();
        let work = move || {
            rows.into_iter().for_each(|rows| inflate(rows, &piece_sender, &reused));
            was_idle.store(true, Ordering::Relaxed);
            add_up(&lent, &added, &spare_sender)
        };
        let Ok(handle) = Builder::new().spawn_scoped(scope, work) else { return open().map(Self::here) };
        let (has_sums, waiting) = (false, 0);
        let thread = InflatingThread { pieces, taken, is_idle, sums, has_sums, batches, spare, waiting, handle };
        Ok(Self { rows: own, thread: Some(thread), current: None, odd: None })
    }

    /// Returns the next rows and their offset in the inflated file; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        let thread = match (&mut self.rows, &self.thread) {
            (Some(rows), _) => return rows.next(),
            (None, Some(thread)) => thread,
            (None, None) => return Ok(None),
        };
        if let Some((bytes, _)) = self.current.take() {
            // If the thread has ended, the missing piece below reports it.
            let _ = thread.taken.send(bytes);
        }
        match thread.pieces.recv().map_err(|_| Error::limit("the thread that inflates rows has ended"))?? {
            Piece::Rows(bytes, at) => {
                let (bytes, at) = self.current.insert((bytes, at));
                Ok(Some((bytes, *at)))
            }
            Piece::End(odd) => {
                self.odd = odd;
                Ok(None)
            }
        }
    }

    /// A diagnostic about the rows, if any. Complete only after the last row.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        self.rows.as_ref().map_or_else(|| self.odd.clone(), Rows::diagnostic)
    }

    /// Hands the samples since the last call to the other thread, if there is one and it is idle.
    pub(super) fn add_samples(&mut self, input: &mut InputBuilder<'_>) -> Result<(), Error> {
        let (Some(thread), profile) = (&mut self.thread, &mut input.recording.profile) else { return Ok(()) };
        if thread.has_sums {
            // Blocks if too many batches are in the queue.
            let spare = if thread.waiting < BATCHES { thread.spare.try_recv().ok() } else { thread.spare.recv().ok() };
            thread.waiting += usize::from(spare.is_none());
            let _ = thread.batches.send(profile.take_waiting(spare.unwrap_or_default()));
        } else if thread.is_idle.load(Ordering::Relaxed)
            && let Some(sums) = profile.lend_sums().map_err(Error::limit)?
        {
            thread.has_sums = true;
            let _ = thread.sums.send(sums);
        }
        Ok(())
    }

    /// Returns the completed sums to the input.
    pub(super) fn return_sums(&mut self, input: &mut InputBuilder<'_>) -> Result<(), Error> {
        self.add_samples(input)?;
        if let Some(InflatingThread { batches, handle, .. }) = self.thread.take_if(|thread| thread.has_sums) {
            drop(batches);
            let sums = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            input.recording.profile.return_sums(sums.map_err(Error::limit)?);
        }
        Ok(())
    }
}

/// Inflates rows until the last one, an error, or until the receiver hangs up.
fn inflate(mut rows: Rows<'_>, pieces: &SyncSender<Result<Piece, Error>>, reused: &Receiver<Vec<u8>>) {
    loop {
        let mut bytes = reused.try_recv().unwrap_or_default();
        let piece = match rows.next_into(&mut bytes) {
            Ok(Some(at)) => Ok(Piece::Rows(bytes, at)),
            Ok(None) => Ok(Piece::End(rows.diagnostic())),
            Err(error) => Err(error),
        };
        let is_last = !matches!(piece, Ok(Piece::Rows(..)));
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}

/// Adds sample batches to the sums until the channel closes. Once a batch does not fit, it and all later ones are discarded.
fn add_up(lent: &Receiver<SumTable>, added: &Receiver<SumBatch>, spare: &Sender<SumBatch>) -> Result<SumTable, Full> {
    let Ok(mut sums) = lent.recv() else { return Ok(SumTable::default()) };
    let mut result = Ok(());
    for mut batch in added {
        if result.is_ok() {
            result = sums.add_batch(&batch);
        }
        batch.clear();
        // The receiver may have hung up.
        let _ = spare.send(batch);
    }
    result.map(|()| sums)
}
