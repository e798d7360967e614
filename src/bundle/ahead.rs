//! Rows that another thread inflates before they are needed.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};

use super::rows::Rows;
use crate::error::{Diagnostic, Error};

/// How many pieces of rows may wait: as many as are inflated while the arrays that rows refer to are, too.
const WAITING: usize = 32;

/// The rows of a store, in pieces.
pub(super) enum Pieces<'f> {
    /// The caller inflates them.
    Here(Box<Rows<'f>>),
    /// Another thread does.
    Ahead {
        pieces: Receiver<Result<Inflated, Error>>,
        /// Gives back the room of pieces that were read.
        spare: Sender<Vec<u8>>,
        current: Piece,
        /// What was odd, once all was inflated.
        odd: Option<Diagnostic>,
    },
}

/// What the other thread sends.
pub(super) enum Inflated {
    Piece(Piece),
    /// All was sent; what was odd about it.
    End(Option<Diagnostic>),
}

/// Rows, and where they start in the inflated file.
#[derive(Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    at: u64,
}

impl<'f> Pieces<'f> {
    /// Rows that the caller inflates.
    pub(super) fn here(rows: Rows<'f>) -> Self {
        Self::Here(Box::new(rows))
    }

    /// Lets a thread of `scope` inflate the rows; if there can be no more threads, the caller will.
    pub(super) fn ahead<'s>(
        scope: &'s Scope<'s, '_>,
        open: impl Fn() -> Result<Rows<'f>, Error> + Send + 's,
    ) -> Result<Self, Error>
    where
        'f: 's,
    {
        let rows = open()?;
        let (sender, pieces) = sync_channel(WAITING);
        let (spare, spares) = channel();
        match Builder::new().spawn_scoped(scope, move || inflate(rows, &sender, &spares)) {
            Ok(_) => Ok(Self::Ahead { pieces, spare, current: Piece::default(), odd: None }),
            Err(_) => open().map(Self::here),
        }
    }

    /// The next rows and where they start in the inflated file; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        match self {
            Self::Here(rows) => rows.next(),
            Self::Ahead { pieces, spare, current, odd } => {
                // Nobody wants it any more once everything was inflated.
                let _ = spare.send(std::mem::take(&mut current.bytes));
                // Without a sender all was sent.
                match pieces.recv().unwrap_or(Ok(Inflated::End(None)))? {
                    Inflated::Piece(piece) => {
                        *current = piece;
                        Ok(Some((&current.bytes, current.at)))
                    }
                    Inflated::End(diagnostic) => {
                        *odd = diagnostic;
                        Ok(None)
                    }
                }
            }
        }
    }

    /// What is odd about the rows, once all of them were read.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        match self {
            Self::Here(rows) => rows.diagnostic(),
            Self::Ahead { odd, .. } => odd.clone(),
        }
    }
}

/// Sends all rows, until they end, cannot be read, or nobody takes them any more.
fn inflate(mut rows: Rows<'_>, sender: &SyncSender<Result<Inflated, Error>>, spares: &Receiver<Vec<u8>>) {
    loop {
        let mut bytes = spares.try_recv().unwrap_or_default();
        let next = match rows.next_into(&mut bytes) {
            Ok(Some(at)) => Ok(Inflated::Piece(Piece { bytes, at })),
            Ok(None) => Ok(Inflated::End(rows.diagnostic())),
            Err(error) => Err(error),
        };
        let is_last = !matches!(next, Ok(Inflated::Piece(_)));
        if sender.send(next).is_err() || is_last {
            return;
        }
    }
}
