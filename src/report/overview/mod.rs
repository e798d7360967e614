//! The answer to the first question about a recording: where did the time go?
//!
//! Each sample belongs to the innermost function of app code in its stack, which called the system code below it, as `--charge-system`
//! shows. Two kinds of samples belong to the system: samples of stacks without app code, and samples with only a run loop between app code
//! and the system. UIKit handles many events below an entry point such as `main`, which did not request them. An entry point is therefore
//! an answer only for its own work.

mod activity;
mod answers;
mod main_thread;
mod origin;
mod own_code;
mod owners;
mod spent;
mod stop;
mod subtrees;

use std::cmp::Reverse;

pub(crate) use activity::highest_rate;
pub use activity::{Activity, Busiest, LineOfTime};
pub use answers::Answer;
pub use main_thread::MainThread;
pub use origin::Origin;
pub(in crate::report) use origin::{is_entry_point, is_nameless_run_loop};
use own_code::{Found, Place};
pub(crate) use own_code::{OwnCode, is_own_binary};
pub(crate) use owners::Owners;
pub use spent::{Spent, Work};
pub(crate) use stop::Stop;
pub use subtrees::Subtree;

use self::owners::Owner;
use super::{Amount, Report, SeriesReport, UnnamedBinary};
use crate::calltree::{Label, StackWeight, WeighedForest};
use crate::hash::HashMap;
use crate::profile::{BinaryId, Doing, FunctionId, Meaning, SampleSum, ThreadId};
use crate::recording::TocRun;
use crate::units::Weight;

/// The answer for one series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overview<'e> {
    /// The table of contents of the run, if it certainly describes this run.
    pub toc: Option<&'e TocRun>,
    /// The work over the recorded time, where samples have times and only running threads count.
    pub activity: Option<Activity>,
    /// What a crash or memory exception is about. Its stacks are no measurement, so there are no shares and no answers.
    pub(crate) stop: Option<Stop>,
    /// The owners of the selected samples, which add up to all of them.
    pub shares: Shares,
    /// The code that [`answers`](Self::answers) cover.
    pub answers_in: AnswersIn,
    /// The heaviest functions, heaviest first.
    pub answers: Vec<Answer>,
    /// The thread on which the first of them has most samples anywhere in their stack, and these samples.
    pub heaviest_thread: Option<(ThreadId, Amount)>,
    /// How the first of them spends its time, if it [stands out](Self::stands_out) and is app code.
    pub spent: Option<Spent>,
    /// The subtrees with most of the weight, heaviest first, if no function stands out and no thread waits.
    pub subtrees: Vec<Subtree>,
    /// The heaviest functions of all code by their own samples alone, heaviest first.
    pub leaves: Vec<Answer>,
    /// What the main thread does, if waiting threads are selected.
    pub main_thread: Option<MainThread>,
    /// True if some threads wait or have no core, and the states of threads were recorded.
    pub has_states: bool,
    /// Samples in code without a name, or in system code called from app code without a name.
    pub nameless: Amount,
    /// All selected samples.
    pub total: Amount,
    /// By function: the weight and number of samples that have it in their stack.
    all: Vec<(u64, u64)>,
}

/// A function with a smaller share of all weight does not stand out.
const STANDS_OUT: f64 = 0.1;

impl Overview<'_> {
    /// The samples that have a function anywhere in their stack: its all weight in every table.
    pub fn all(&self, function: FunctionId) -> Amount {
        let (weight, samples) = self.all[function.index()];
        Amount { weight: Weight::new(weight, self.total.weight.unit), samples }
    }

    /// True if the heaviest function is worth looking at by itself: it has a tenth of the weight.
    pub fn stands_out(&self) -> bool {
        let weight = |amount: Amount| amount.weight.value as f64;
        self.answers.first().is_some_and(|first| weight(first.amount) >= STANDS_OUT * weight(self.total))
    }
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
    /// Threads that were ready to run, but had no core.
    pub queued: Amount,
    /// Waiting threads, regardless of the code that they waited in. Zero if only running threads are selected.
    pub waiting: Amount,
    /// The kernel's threads of idle cores.
    pub idle: Amount,
    /// Samples without a stack.
    pub no_stack: Amount,
}

impl Shares {
    /// True if some samples are of threads that do not run.
    pub(crate) fn has_others(&self) -> bool {
        [self.queued, self.waiting, self.idle].iter().any(|amount| amount.samples > 0)
    }
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
        let code = OwnCode::new(self);
        // Owners are far apart in memory, so each is looked up once.
        let found: Vec<Option<Found>> = rows.iter().map(|row| code.find(row)).collect();
        let found_of = || rows.iter().zip(&found);
        let leaf = |found: &Found| (found.doing == Doing::Runs).then_some(found.leaf);
        let heaviest = |count, of: &dyn Fn(&Found) -> Option<Place>| {
            let places = found_of().filter_map(|(row, found)| Some((row, of(found.as_ref()?)?)));
            answers::heaviest(profile, &code.owners, places, series.unit, count)
        };
        let own = heaviest(count, &|found| found.place);
        let is_nameless =
            |(_, found): &(&StackWeight, &Option<Found>)| found.is_some_and(|found| found.nameless(profile).is_some());
        let toc = self.recording.toc_of_run(self.run_of(series));
        let mut overview = Overview {
            main_thread: None,
            has_states: false,
            stop: None,
            nameless: Amount::of_rows(found_of().filter(is_nameless).map(|(row, _)| row), series.unit),
            toc,
            activity: activity::activity(self, series, bins),
            shares: shares(series, found_of()),
            answers_in: if own.is_empty() { AnswersIn::All } else { AnswersIn::Own },
            answers: if own.is_empty() { heaviest(count, &leaf) } else { own },
            leaves: heaviest(leaves, &leaf),
            heaviest_thread: None,
            spent: None,
            subtrees: Vec::new(),
            total: series.counted,
            all: Vec::new(),
        };
        overview.stop = self.stop(series, overview.toc);
        if overview.stop.is_some() {
            let shares = shares(series, std::iter::empty());
            return Overview { shares, answers: Vec::new(), leaves: Vec::new(), ..overview };
        }
        let has_others = overview.shares.has_others();
        if has_others {
            // Operations give waiting threads without a state one.
            let lacks_state = |sum: SampleSum| sum.series == series.series && sum.state.is_none();
            let may_wait = profile.series(series.series).meaning == Meaning::Presence;
            overview.has_states = !may_wait || !profile.sums_or_samples().any(lacks_state);
            overview.main_thread = main_thread::main_thread(profile, &code, (rows, toc), series.unit);
        }
        self.with_forest(series, |tree| {
            overview.all = all_weights(tree);
            if let Some(first) = overview.answers.first() {
                let nodes = spent::outermost(tree, first.function);
                let thread = subtrees::heaviest_thread(subtrees::rows_below(tree, &nodes, rows));
                let amount = |(weight, samples)| Amount { weight: Weight::new(weight, series.unit), samples };
                overview.heaviest_thread = thread.map(|(thread, sum)| (thread, amount(sum)));
            }
            // Waiting is no answer, and subtrees would contain it.
            if !overview.stands_out() && !has_others {
                overview.subtrees = subtrees::subtrees(tree, &code.owners, rows, &overview.all, series.unit);
            }
            if overview.stands_out() && overview.answers_in == AnswersIn::Own {
                let first = overview.answers[0].function;
                let places = found_of().filter_map(|(row, found)| Some((row, found.as_ref()?.place?)));
                let places = places.filter(|(_, place)| place.function == first);
                overview.spent = Some(spent::spent(tree, first, places, series.unit));
            }
        });
        overview
    }

    /// The binaries whose symbols are missing, each with its samples in [`nameless`](Overview::nameless) code of all series, most samples
    /// first. Binaries whose unnamed frames only lead to named code have no samples.
    pub fn wanted(&self) -> Vec<(UnnamedBinary, u64)> {
        let profile = &self.recording.profile;
        // Binaries with the same UUID are one.
        let key = |binary: BinaryId| profile.binary(binary).uuid.ok_or(binary);
        let mut sums: HashMap<_, u64> = HashMap::default();
        for series in &self.series {
            let code = OwnCode::new(self);
            for row in self.weights.of_series(series.series) {
                let place = code.find(row).and_then(|found| found.nameless(profile));
                if let Some(binary) = place.and_then(|place| profile.frame(profile.stack(place.stack).frame).binary) {
                    *sums.entry(key(binary)).or_default() += row.samples;
                }
            }
        }
        let samples = |row: &UnnamedBinary| sums.get(&key(row.binary)).copied().unwrap_or_default();
        let mut wanted: Vec<_> = self.unnamed().binaries.iter().map(|row| (*row, samples(row))).collect();
        wanted.sort_by_key(|(_, samples)| Reverse(*samples));
        wanted
    }
}

/// By function: its all weight and samples.
fn all_weights(tree: WeighedForest<'_>) -> Vec<(u64, u64)> {
    let mut all = vec![(0, 0); tree.profile.function_ids().len()];
    for row in tree.functions() {
        if let Label::Function(id) = row.label {
            all[id.index()] = (row.sums.all_weight, row.sums.all_samples);
        }
    }
    all
}

/// The owners of samples.
fn shares<'r>(series: &SeriesReport, rows: impl Iterator<Item = (&'r StackWeight, &'r Option<Found>)>) -> Shares {
    let nothing = Amount::none(series.unit);
    let [own, system, unknown, queued, waiting, idle, no_stack] = [nothing; 7];
    let mut shares = Shares { own, system, unknown, queued, waiting, idle, no_stack };
    for (row, found) in rows {
        let share = match found {
            None => &mut shares.no_stack,
            Some(Found { doing: Doing::Waits, .. }) => &mut shares.waiting,
            Some(Found { doing: Doing::Idle, .. }) => &mut shares.idle,
            Some(Found { doing: Doing::Queued, .. }) => &mut shares.queued,
            Some(Found { owner: Owner::Own(_), .. }) => &mut shares.own,
            Some(Found { owner: Owner::Unknown(_), .. }) => &mut shares.unknown,
            Some(Found { owner: Owner::System, .. }) => &mut shares.system,
        };
        share.add(row.weight, row.samples);
    }
    shares
}
