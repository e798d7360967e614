//! The answer to the first question about a recording: where did the time go?
//!
//! Each sample belongs to the innermost function of app code in its stack, which called the system code below it, as `--charge-system`
//! shows. Two kinds of samples belong to the system: samples of stacks without app code, and samples with only a run loop between app code
//! and the system. UIKit handles many events below an entry point such as `main`, which did not request them. An entry point is therefore
//! an answer only for its own work.

mod activity;
mod answers;
mod origin;
mod own_code;
mod owners;

pub(crate) use activity::highest_rate;
pub use activity::{Activity, Busiest, LineOfTime};
pub use answers::{Answer, Wait};
pub use origin::Origin;
#[cfg(feature = "compression")]
pub(crate) use origin::{is_entry_point, is_run_loop};
pub(crate) use own_code::{OwnCode, is_own_binary};
pub(crate) use owners::Owners;

use self::owners::Owner;
use super::{Amount, Report, SeriesReport};
use crate::calltree::StackWeight;
use crate::profile::StackId;
use crate::recording::TocRun;

/// The answer for one series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overview<'e> {
    /// The table of contents of the run, if it certainly describes this run.
    pub toc: Option<&'e TocRun>,
    /// The work over the recorded time, where samples have times and only running threads count.
    pub activity: Option<Activity>,
    /// The owners of the selected samples, which add up to all of them.
    pub shares: Shares,
    /// The code that [`answers`](Self::answers) cover.
    pub answers_in: AnswersIn,
    /// The heaviest functions, heaviest first.
    pub answers: Vec<Answer>,
    /// The heaviest functions of all code by their own samples alone, heaviest first.
    pub leaves: Vec<Answer>,
    /// The function that the main thread waits in most, where waiting counts.
    pub wait: Option<Wait>,
    /// Samples in code without a name, or in system code called from app code without a name.
    pub nameless: Amount,
}

/// The owners of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shares {
    /// App code, and the system code that it called.
    pub own: Amount,
    /// The system, not called from app code.
    pub system: Amount,
    /// Code in no known binary, and the system code that it called.
    pub unknown: Amount,
    /// Waiting threads, regardless of the code that they waited in. Zero if only running threads are selected.
    pub waiting: Amount,
    /// Samples without a stack.
    pub no_stack: Amount,
}

/// The code that answers cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswersIn {
    /// App code; each function includes the system code that it called.
    Own,
    /// All code, because only an entry point of app code ran, or app code is unknown. Each function has only its own samples.
    All,
}

impl<'e> Report<'e> {
    /// The answer for a series, with at most `count` functions in [`answers`](Overview::answers) and `leaves` in
    /// [`leaves`](Overview::leaves), and at most `bins` bins of time.
    pub fn overview(&self, series: &SeriesReport, count: usize, leaves: usize, bins: usize) -> Overview<'e> {
        let profile = &self.recording.profile;
        let rows = self.weights.of_series(series.series);
        let code = OwnCode::new(self, series);
        let owners = &code.owners;
        let shares = shares(series, rows, |stack| if code.waits(stack) { None } else { Some(code.owner(stack)) });
        let leaf = |stack: StackId| (!code.waits(stack)).then_some(stack);
        let of_leaves = |count| answers::heaviest(profile, owners, rows, series.unit, count, leaf);
        let own = answers::heaviest(profile, owners, rows, series.unit, count, |stack| code.place(stack));
        let activity = activity::activity(self, series, bins);
        let is_nameless = |row: &&StackWeight| {
            let is_named = |stack| profile.function(code.function(stack)).is_named;
            let is_known = |stack| is_named(stack) && code.place(stack).is_none_or(is_named);
            row.stack.is_some_and(|stack| !code.waits(stack) && !is_known(stack))
        };
        Overview {
            wait: answers::wait(profile, &code, rows, series.unit),
            nameless: Amount::of_rows(rows.iter().filter(is_nameless), series.unit),
            toc: self.recording.toc_of_run(self.run_of(series)),
            activity,
            shares,
            answers_in: if own.is_empty() { AnswersIn::All } else { AnswersIn::Own },
            answers: if own.is_empty() { of_leaves(count) } else { own },
            leaves: of_leaves(leaves),
        }
    }
}

/// The owners of samples. `owner` returns the owner of a stack, or `None` if its thread waited.
fn shares(series: &SeriesReport, rows: &[StackWeight], owner: impl Fn(StackId) -> Option<Owner>) -> Shares {
    let nothing = Amount::none(series.unit);
    let mut shares = Shares { own: nothing, system: nothing, unknown: nothing, waiting: nothing, no_stack: nothing };
    for row in rows {
        let share = match row.stack.map(&owner) {
            None => &mut shares.no_stack,
            Some(None) => &mut shares.waiting,
            Some(Some(Owner::Own(_))) => &mut shares.own,
            Some(Some(Owner::Unknown(_))) => &mut shares.unknown,
            Some(Some(Owner::System)) => &mut shares.system,
        };
        share.add(row.weight, row.samples);
    }
    shares
}
