//! What threads were doing when they were sampled, in the only definition for all views, outputs and operations.

use std::cell::{Cell, OnceCell};

use super::{Activity, Meaning, Profile, SampleSum, StringId, Waits};

/// What a thread was doing when it was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doing {
    /// Running or, if all threads were sampled and no state was recorded, possibly only ready to run.
    #[default]
    Runs,
    /// Ready to run, but not on a core.
    Queued,
    /// Waiting for something.
    Waits,
    /// The idle thread of a core, which neither works nor waits.
    Idle,
}

impl Doing {
    /// True if the thread had nothing to do.
    pub(crate) fn is_idle(self) -> bool {
        matches!(self, Self::Waits | Self::Idle)
    }
}

/// Determines what threads were doing. A recorded state has precedence. Without one, a thread was running if only running threads were sampled;
/// otherwise, the functions at the end of its stack decide. Identical stacks in all samples prove nothing, since an endless loop has them as
/// well.
pub(crate) struct Doings<'p> {
    profile: &'p Profile,
    waits: OnceCell<Waits<'p>>,
    /// Caches the last state, since it rarely changes, with its meaning; `None` for an unknown state.
    last: Cell<Option<(StringId, Option<Doing>)>>,
}

impl<'p> Doings<'p> {
    pub(crate) fn new(profile: &'p Profile) -> Self {
        Self { profile, waits: OnceCell::new(), last: Cell::new(None) }
    }

    /// Returns what the thread of these samples was doing.
    pub(crate) fn of(&self, sum: &SampleSum) -> Doing {
        match sum.state.map(|state| self.of_state(state)) {
            Some(Some(doing)) => doing,
            None if self.profile.series(sum.series).meaning != Meaning::Presence => Doing::Runs,
            // An unknown state is treated as missing, so the stack decides.
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
