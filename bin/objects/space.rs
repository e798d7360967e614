//! The disk space for copies of objects.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, ensure};
use traceparse::memory::Size;

/// The disk space that all copies share.
#[derive(Debug)]
pub(super) struct Space {
    most: u64,
    used: Mutex<Used>,
    less: Condvar,
}

#[derive(Debug, Default)]
struct Used {
    /// Space used by recordings that are being read.
    taken: u64,
    /// Space used until the end of the process.
    kept: u64,
}

impl Space {
    pub(super) fn new(most: u64) -> Self {
        Self { most, used: Mutex::default(), less: Condvar::new() }
    }

    /// Reserves space, and waits while other callers use it. A waiting caller holds no space, so there are no deadlocks.
    ///
    /// # Errors
    /// If the total space is too small.
    pub(super) fn take(&self, bytes: u64) -> Result<()> {
        let mut used = self.used();
        loop {
            self.check(used.kept, bytes)?;
            if used.kept + used.taken + bytes <= self.most {
                used.taken += bytes;
                return Ok(());
            }
            used = self.less.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reserves space until the end of the process.
    ///
    /// # Errors
    /// If the remaining space is too small.
    pub(super) fn keep(&self, bytes: u64) -> Result<()> {
        let mut used = self.used();
        self.check(used.kept + used.taken, bytes)?;
        used.kept += bytes;
        Ok(())
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.used().taken -= bytes;
        self.less.notify_all();
    }

    fn check(&self, used: u64, bytes: u64) -> Result<()> {
        let (most, needed) = (Size(self.most), Size::in_megabytes(used.saturating_add(bytes)));
        let fits = used.saturating_add(bytes) <= self.most;
        ensure!(
            fits,
            "copies of objects would take {needed} of temporary space, but the limit is {most}; raise it with --object-space"
        );
        Ok(())
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_waited_for_and_not_exceeded() {
        let space = Space::new(10);
        assert!(space.take(11).unwrap_err().to_string().contains("--object-space"));
        space.take(6).unwrap();
        space.keep(4).unwrap();
        assert!(space.keep(1).is_err());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| space.take(5));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waits.is_finished());
            space.give_back(6);
            waits.join().unwrap().unwrap();
        });
        let used = space.used();
        assert_eq!((used.taken, used.kept), (5, 4));
    }
}
