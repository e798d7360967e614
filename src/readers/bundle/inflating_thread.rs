//! A second thread inflates rows before they are needed. When all are inflated, it sums samples; earlier, the reader of rows would have to
//! wait for it. For uncompressed rows it only sums samples, since passing them on costs more than reading them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{Builder, Scope};

use super::rows::Rows;
use crate::error::{Diagnostic, Error};
use crate::profile::{Full, SumBatch, SumTable};
use crate::recording::InputBuilder;

/// The number of pieces of rows that may wait: as many as are inflated while the arrays that rows refer to are, too.
const WAITING: usize = 256;
/// The number of batches of samples that may wait, of 50 KiB each.
const BATCHES: usize = 64;

/// The rows of a store, in pieces.
pub(super) enum RowPieces<'f> {
    /// The caller inflates them.
    Here(Box<Rows<'f>>),
    /// There is nothing to inflate, and another thread adds up samples.
    Adding(Box<Rows<'f>>, Box<InflatingThread>),
    /// Another thread inflates them.
    Inflating(Box<InflatingThread>),
}

/// This side's connection to the other thread.
pub(super) struct InflatingThread {
    tasks: Sender<Task>,
    answers: Receiver<Result<Answer, Error>>,
    /// Batches to be used again, and how many were sent and did not come back.
    spare: Receiver<SumBatch>,
    batches: usize,
    current: Option<Piece>,
    /// The oddity of the rows, if any, once all of them were inflated.
    odd: Option<Diagnostic>,
    /// True once it has nothing more to inflate.
    is_idle: Arc<AtomicBool>,
    /// True if it has the sums that samples are added to.
    has_sums: bool,
}

/// A task for the other thread.
enum Task {
    /// A piece was read, and its buffer can be reused.
    Taken(Vec<u8>),
    /// Samples will be added to these sums.
    Sums(SumTable),
    Add(SumBatch),
    /// The sums are wanted back.
    Finish,
}

/// An answer of the other thread.
enum Answer {
    Piece(Piece),
    /// All rows were sent; what was odd about them.
    End(Option<Diagnostic>),
    Sums(Result<SumTable, Full>),
}

/// Rows, and where they start in the inflated file.
struct Piece {
    bytes: Vec<u8>,
    at: u64,
}

impl<'f> RowPieces<'f> {
    /// Rows that the caller inflates.
    pub(super) fn here(rows: Rows<'f>) -> Self {
        Self::Here(Box::new(rows))
    }

    /// Inflates the rows and adds up samples in a new thread of `scope`. If there can be no more threads, the caller does both.
    pub(super) fn beside<'s>(
        scope: &'s Scope<'s, '_>,
        open: impl Fn() -> Result<Rows<'f>, Error> + Send + 's,
    ) -> Result<Self, Error>
    where
        'f: 's,
    {
        let (task_sender, tasks) = channel();
        // The channel has space for all answers, so sending never blocks.
        let (sender, answers) = sync_channel(WAITING + 2);
        let (spare_sender, spare) = channel();
        let rows = open()?;
        let (rows, own) = if rows.is_compressed() { (Some(rows), None) } else { (None, Some(rows)) };
        let is_idle = Arc::new(AtomicBool::new(rows.is_none()));
        let helper = Helper {
            rows,
            is_idle: is_idle.clone(),
            tasks,
            answers: sender,
            spare: spare_sender,
            waiting: 0,
            room: Vec::new(),
            sums: Ok(SumTable::default()),
        };
        match Builder::new().spawn_scoped(scope, move || helper.work()) {
            Ok(_) => {
                let (tasks, batches, current, odd, has_sums) = (task_sender, 0, None, None, false);
                let beside = InflatingThread { tasks, answers, spare, batches, current, odd, is_idle, has_sums };
                let beside = Box::new(beside);
                Ok(match own {
                    Some(rows) => Self::Adding(Box::new(rows), beside),
                    None => Self::Inflating(beside),
                })
            }
            Err(_) => open().map(Self::here),
        }
    }

    /// The next rows and where they start in the inflated file; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        match self {
            Self::Here(rows) | Self::Adding(rows, _) => rows.next(),
            Self::Inflating(beside) => beside.next(),
        }
    }

    fn helper(&mut self) -> Option<&mut InflatingThread> {
        match self {
            Self::Here(_) => None,
            Self::Adding(_, beside) | Self::Inflating(beside) => Some(beside),
        }
    }

    /// The oddity of the rows, if any, once all of them were read.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        match self {
            Self::Here(rows) | Self::Adding(rows, _) => rows.diagnostic(),
            Self::Inflating(beside) => beside.odd.clone(),
        }
    }

    /// Lets the other thread add up the samples since the last call, if it exists and is idle.
    pub(super) fn add_samples(&mut self, input: &mut InputBuilder<'_>) -> Result<(), Error> {
        let Some(beside) = self.helper() else { return Ok(()) };
        if beside.has_sums {
            let spare = beside.spare_batch();
            beside.batches += 1;
            beside.tell(Task::Add(input.recording.profile.take_waiting(spare)));
        } else if beside.is_idle.load(Ordering::Relaxed)
            && let Some(sums) = input.recording.profile.lend_sums().map_err(Error::limit)?
        {
            beside.has_sums = true;
            beside.tell(Task::Sums(sums));
        }
        Ok(())
    }

    /// Returns its sums to the input, with all samples.
    pub(super) fn return_sums(&mut self, input: &mut InputBuilder<'_>) -> Result<(), Error> {
        self.add_samples(input)?;
        if let Some(beside) = self.helper()
            && std::mem::take(&mut beside.has_sums)
        {
            input.recording.profile.return_sums(beside.sums()?.map_err(Error::limit)?);
        }
        Ok(())
    }
}

impl InflatingThread {
    /// A thread that has ended is found by its missing answer.
    fn tell(&self, task: Task) {
        let _ = self.tasks.send(task);
    }

    /// A buffer for samples. Waits if too many batches are in the queue.
    fn spare_batch(&mut self) -> SumBatch {
        let spare = if self.batches < BATCHES { self.spare.try_recv().ok() } else { self.spare.recv().ok() };
        self.batches -= usize::from(spare.is_some());
        spare.unwrap_or_default()
    }

    fn next(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        if let Some(piece) = self.current.take() {
            self.tell(Task::Taken(piece.bytes));
        }
        match self.answer()? {
            Answer::Piece(piece) => {
                let piece = self.current.insert(piece);
                Ok(Some((&piece.bytes, piece.at)))
            }
            Answer::End(odd) => {
                self.odd = odd;
                Ok(None)
            }
            Answer::Sums(_) => Ok(None),
        }
    }

    fn sums(&mut self) -> Result<Result<SumTable, Full>, Error> {
        self.tell(Task::Finish);
        loop {
            if let Answer::Sums(sums) = self.answer()? {
                return Ok(sums);
            }
        }
    }

    fn answer(&self) -> Result<Answer, Error> {
        self.answers.recv().map_err(|_| Error::limit("the thread that inflates rows has ended"))?
    }
}

/// The other thread.
struct Helper<'f> {
    /// The rows still to be inflated.
    rows: Option<Rows<'f>>,
    is_idle: Arc<AtomicBool>,
    tasks: Receiver<Task>,
    answers: SyncSender<Result<Answer, Error>>,
    spare: Sender<SumBatch>,
    /// The number of pieces that were sent and not read yet.
    waiting: usize,
    /// The buffers of pieces that were read.
    room: Vec<Vec<u8>>,
    sums: Result<SumTable, Full>,
}

/// The other side is gone.
struct IsOver;

impl Helper<'_> {
    fn work(mut self) {
        while self.step().is_ok() {}
    }

    /// Inflates, or handles a task.
    fn step(&mut self) -> Result<(), IsOver> {
        if self.rows.is_some() && self.waiting < WAITING {
            return match self.tasks.try_recv() {
                Ok(task) => self.take(task),
                Err(TryRecvError::Empty) => self.inflate(),
                Err(TryRecvError::Disconnected) => Err(IsOver),
            };
        }
        let task = self.tasks.recv().map_err(|_| IsOver)?;
        self.take(task)
    }

    fn take(&mut self, task: Task) -> Result<(), IsOver> {
        match task {
            Task::Taken(room) => {
                self.waiting = self.waiting.saturating_sub(1);
                self.room.push(room);
            }
            Task::Sums(sums) => self.sums = Ok(sums),
            Task::Add(batch) => self.add(batch),
            Task::Finish => {
                let sums = std::mem::replace(&mut self.sums, Ok(SumTable::default()));
                self.answer(Ok(Answer::Sums(sums)))?;
            }
        }
        Ok(())
    }

    /// Adds samples, unless earlier ones did not fit.
    fn add(&mut self, mut batch: SumBatch) {
        if let Ok(sums) = &mut self.sums
            && let Err(full) = sums.add_batch(&batch)
        {
            self.sums = Err(full);
        }
        batch.clear();
        // The other side may be gone.
        let _ = self.spare.send(batch);
    }

    /// Inflates the next piece. After the last one, or after an error, there are no more pieces.
    fn inflate(&mut self) -> Result<(), IsOver> {
        let Some(rows) = &mut self.rows else { return Ok(()) };
        let mut bytes = self.room.pop().unwrap_or_default();
        let answer = match rows.next_into(&mut bytes) {
            Ok(Some(at)) => Ok(Answer::Piece(Piece { bytes, at })),
            Ok(None) => Ok(Answer::End(rows.diagnostic())),
            Err(error) => Err(error),
        };
        match answer {
            Ok(Answer::Piece(_)) => self.waiting += 1,
            _ => {
                self.rows = None;
                self.is_idle.store(true, Ordering::Relaxed);
            }
        }
        self.answer(answer)
    }

    fn answer(&self, answer: Result<Answer, Error>) -> Result<(), IsOver> {
        self.answers.send(answer).map_err(|_| IsOver)
    }
}
