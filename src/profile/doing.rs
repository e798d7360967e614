//! What a thread did in its samples: the one rule of every view, output and operation.

use std::cell::{Cell, OnceCell};

use super::{Activity, Meaning, Profile, SampleSum, StringId, Waits};

/// What a thread did when it was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doing {
    /// It ran. If all threads were sampled and no state was recorded, it may also have been ready to run.
    #[default]
    Runs,
    /// It was ready to run, but had no core.
    Queued,
    /// It waited.
    Waits,
    /// It was the kernel's thread of an idle core, which neither works nor waits.
    Idle,
}

impl Doing {
    /// True if the thread had nothing to do.
    pub(crate) fn is_idle(self) -> bool {
        matches!(self, Self::Waits | Self::Idle)
    }
}

/// The state that operations give to samples without one if a thread waits: its new stack does not show that.
pub(super) const WAITS: &str = "Waiting (by its functions)";

/// Tells what threads did. The recorded state decides. Without one, a thread ran if only running threads were sampled, and else the
/// functions at the end of its stack decide. That a thread has the same stack in every sample proves nothing: an endless loop has it, too.
pub(crate) struct Doings<'p> {
    profile: &'p Profile,
    waits: OnceCell<Waits<'p>>,
    /// The last state, since the next one is mostly the same, and what threads do in it; `None` if that is not known.
    last: Cell<Option<(StringId, Option<Doing>)>>,
}

impl<'p> Doings<'p> {
    pub(crate) fn new(profile: &'p Profile) -> Self {
        Self { profile, waits: OnceCell::new(), last: Cell::new(None) }
    }

    /// What the thread of these samples did.
    pub(crate) fn of(&self, sum: &SampleSum) -> Doing {
        match sum.state.map(|state| self.of_state(state)) {
            Some(Some(doing)) => doing,
            None if self.profile.series(sum.series).meaning != Meaning::Presence => Doing::Runs,
            // Nothing is known of a thread in a state that is not known.
            Some(None) | None => {
                let waits = sum.stack.is_some_and(|stack| self.waits().of(stack).is_some());
                if waits { Doing::Waits } else { Doing::Runs }
            }
        }
    }

    fn of_state(&self, state: StringId) -> Option<Doing> {
        if let Some((_, doing)) = self.last.get().filter(|(last, _)| *last == state) {
            return doing;
        }
        let text = self.profile.string(state);
        let doing = match Activity::of_state(text) {
            _ if text == "Idle" => Some(Doing::Idle),
            Activity::Running => Some(Doing::Runs),
            Activity::Queued => Some(Doing::Queued),
            Activity::Waiting => Some(Doing::Waits),
            Activity::Unknown => None,
        };
        self.last.set(Some((state, doing)));
        doing
    }

    pub(crate) fn waits(&self) -> &Waits<'p> {
        self.waits.get_or_init(|| Waits::new(self.profile))
    }
}
