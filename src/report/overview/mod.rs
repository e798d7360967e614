//! The overview of a series answers the first question about a recording: where did the time go?
//!
//! Each sample belongs to the innermost app function in its stack, which called the system code below it, as if system functions were
//! [charged](crate::calltree::Action::Charge) to their callers. Two kinds of samples belong to the system: those without app code, and those with
//! only a run loop between app code and the system. Below an entry point such as `main`, UIKit handles many events that app code did not request.
//! An entry point is therefore an answer only for its own work.

mod activity;
mod answers;
mod callers;
mod containing;
mod main_thread;
mod origin;
mod own_code;
mod owners;
mod spent;
mod stop;
mod subtrees;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

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

use self::containing::Containing;
use self::owners::Owner;
use super::unnamed::unnamed_frames;
use super::{Amount, Report, SeriesReport, UnnamedBinary};
use crate::calltree::{Calls, Label, StackWeight, WeighedStacks, functions_of_stacks};
use crate::hash::HashMap;
use crate::ordered_pool::both;
use crate::profile::{BinaryId, Doing, FunctionId, Meaning, Profile, SampleSum, StackId};
use crate::recording::TocRun;
use crate::units::{Uuid, Weight};

/// The overview of one series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overview<'e> {
    /// The table of contents of the run, if it certainly describes this run.
    pub toc: Option<&'e TocRun>,
    /// The CPU use over the recorded time, if sample times are known and only running threads are selected.
    pub activity: Option<Activity>,
    /// What happened, if the series describes a crash or memory exception. Its stacks measure nothing, so there are no shares and no answers.
    pub(crate) stop: Option<Stop>,
    /// The selected samples by owner. Together, they are all selected samples.
    pub shares: Shares,
    /// The code that [`answers`](Self::answers) cover.
    pub answers_in: AnswersIn,
    /// The heaviest functions, heaviest first.
    pub answers: Vec<Answer>,
    /// The app functions that call the first answer, heaviest first, with its samples below them. Omits system functions in between and entry
    /// points (`main`). Empty unless the answer is app code, and either [stands out](Self::stands_out) or runs while other threads wait.
    pub callers: Vec<(FunctionId, Amount)>,
    /// The outermost app function with nearly all samples of the first answer below it, and these samples, if it is not one of the
    /// [`callers`](Self::callers).
    pub outer_caller: Option<(FunctionId, Amount)>,
    /// How the first answer spends its time, if it [stands out](Self::stands_out), is app code, and no thread waits.
    pub spent: Option<Spent>,
    /// The heaviest subtrees, if no function stands out and no thread waits; heaviest first.
    pub subtrees: Vec<Subtree>,
    /// The heaviest functions of all code by self weight, heaviest first.
    pub leaves: Vec<Answer>,
    /// The activity of the main thread, if waiting threads are selected.
    pub main_thread: Option<MainThread>,
    /// True if thread states were recorded and some threads wait or lack a core.
    pub has_states: bool,
    /// Samples in unnamed code, or in system code called from unnamed app code.
    pub nameless: Amount,
    /// By binary: the number of samples in nameless code.
    pub(crate) nameless_in: Vec<u64>,
    /// All selected samples.
    pub total: Amount,
    /// By function: the weight and number of samples that contain it.
    all: Vec<(u64, u64)>,
}

/// A function below this share of the total does not stand out.
const STANDS_OUT: f64 = 0.1;

/// For fewer stacks, the work takes less time than starting a thread.
const LARGE: usize = 10_000;

impl Overview<'_> {
    /// The samples with a function anywhere in their stack: its total weight in every table.
    pub fn all(&self, function: FunctionId) -> Amount {
        let (weight, samples) = self.all[function.index()];
        Amount { weight: Weight::new(weight, self.total.weight.unit), samples }
    }

    /// True if the heaviest function deserves attention by itself, with at least a tenth of the weight.
    pub fn stands_out(&self) -> bool {
        let weight = |amount: Amount| amount.weight.value as f64;
        self.answers.first().is_some_and(|first| weight(first.amount) >= STANDS_OUT * weight(self.total))
    }
}

/// The selected samples by owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shares {
    /// App code, including the system code that it called.
    pub own: Amount,
    /// System code that app code did not call.
    pub system: Amount,
    /// Code in no known binary, including the system code that it called.
    pub unknown: Amount,
    /// Threads that were ready to run but had no core.
    pub queued: Amount,
    /// Waiting threads, in any code. Zero if only running threads are selected.
    pub waiting: Amount,
    /// The kernel's idle threads.
    pub idle: Amount,
    /// Samples without a stack.
    pub no_stack: Amount,
}

impl Shares {
    /// True if some samples belong to threads that were not running.
    pub(crate) fn has_others(&self) -> bool {
        [self.queued, self.waiting, self.idle].iter().any(|amount| amount.samples > 0)
    }
}

/// The code that answers cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswersIn {
    /// App code. Each function includes the system code that it called.
    Own,
    /// All code by self weight, since app code is unknown or only an entry point of it ran.
    All,
}

impl<'e> Report<'e> {
    /// Creates the overview of a series, with up to `count` functions in [`answers`](Overview::answers), `leaves` functions in
    /// [`leaves`](Overview::leaves), and `bins` bins in the timeline.
    pub fn overview(&self, series: &SeriesReport, count: usize, leaves: usize, bins: usize) -> Overview<'e> {
        let profile = &self.recording.profile;
        let rows = self.weights.of_series(series.series);
        let find = || {
            let code = OwnCode::new(self);
            // Owners are far apart in memory, so look up each only once.
            let found: Vec<Option<Found>> = rows.iter().map(|row| code.find(row)).collect();
            (code, found)
        };
        let is_parallel = self.options.jobs > 1 && rows.len() > LARGE;
        let (all, (code, mut found)) = both(is_parallel, || self.all_weights(series), find);
        let found_of = || rows.iter().zip(&found);
        let leaf = |found: &Found| (found.doing == Doing::Runs).then_some(found.leaf);
        let heaviest = |count, of: &dyn Fn(&Found) -> Option<Place>| {
            let places = found_of().filter_map(|(row, found)| Some((row, of(found.as_ref()?)?)));
            answers::heaviest(profile, &code.owners, places, series.unit, count)
        };
        let is_nameless =
            |(_, found): &(&StackWeight, &Option<Found>)| found.is_some_and(|found| found.nameless(profile).is_some());
        let of_all = || {
            let nameless = Amount::of_rows(found_of().filter(is_nameless).map(|(row, _)| row), series.unit);
            let nameless_in = nameless_in(profile, found_of().map(|(row, found)| (row, *found)));
            (nameless, nameless_in, shares(series, found_of()), heaviest(leaves, &leaf))
        };
        let of_own = || (heaviest(count, &|found| found.place), activity::activity(self, series, bins));
        let ((nameless, nameless_in, shares, leaves), (own, activity)) = both(is_parallel, of_all, of_own);
        let toc = self.recording.toc_of_run(self.run_of(series));
        let mut overview = Overview {
            main_thread: None,
            has_states: false,
            stop: None,
            nameless,
            nameless_in,
            toc,
            activity,
            shares,
            answers_in: if own.is_empty() { AnswersIn::All } else { AnswersIn::Own },
            answers: if own.is_empty() { heaviest(count, &leaf) } else { own },
            leaves,
            callers: Vec::new(),
            outer_caller: None,
            spent: None,
            subtrees: Vec::new(),
            total: series.counted,
            all,
        };
        overview.stop = self.stop(series, overview.toc);
        if overview.stop.is_some() {
            let shares = self::shares(series, std::iter::empty());
            return Overview { shares, answers: Vec::new(), leaves: Vec::new(), ..overview };
        }
        let has_others = overview.shares.has_others();
        if has_others {
            // Operations give a state to waiting threads without one.
            let lacks_state = |sum: SampleSum| sum.series == series.series && sum.state.is_none();
            let may_wait = profile.series(series.series).meaning == Meaning::Presence;
            overview.has_states = !may_wait || !profile.sums_or_samples().any(lacks_state);
            overview.main_thread = main_thread::main_thread(profile, &code, (rows, toc), series.unit);
        }
        // Subtrees are found only if no function stands out, and need as much memory.
        if !overview.stands_out() && !has_others {
            found = Vec::new();
        }
        // Waiting is never an answer, but subtrees would contain it.
        let has_subtrees = !overview.stands_out() && !has_others;
        let heavy = if has_subtrees { self.heavy_functions(series, &overview.all) } else { Vec::new() };
        let first = overview.answers.first().map(|first| first.function);
        let functions: Vec<FunctionId> = heavy.iter().map(|heavy| heavy.function).chain(first).collect();
        if functions.is_empty() {
            return overview;
        }
        let containing = Containing::new(profile, &functions);
        let subtree = |(at, heavy)| self.subtree(series, &code.owners, heavy, &containing.rows(rows, at));
        overview.subtrees = heavy.iter().enumerate().filter_map(subtree).collect();
        let Some(first) = first else { return overview };
        if (overview.stands_out() || has_others) && overview.answers_in == AnswersIn::Own {
            let places = rows.iter().zip(&found).filter_map(|(row, found)| Some((row, found.as_ref()?.place?)));
            let places = places.filter(|(_, place)| place.function == first);
            if has_others {
                // A caller of waiting calls does not explain running calls.
                let running = places.map(|(row, _)| row);
                (overview.callers, overview.outer_caller) =
                    callers::callers(profile, &code.owners, first, running, series.unit);
                return overview;
            }
            let rows = containing.rows(rows, heavy.len());
            (overview.callers, overview.outer_caller) =
                callers::callers(profile, &code.owners, first, rows.iter(), series.unit);
            let calls = self.calls(series, first, &rows);
            overview.spent = Some(spent::spent(profile, calls, places, series.unit));
        }
        overview
    }

    /// By function: its all weight and number of samples.
    fn all_weights(&self, series: &SeriesReport) -> Vec<(u64, u64)> {
        let profile = &self.recording.profile;
        let mut all = vec![(0, 0); profile.function_ids().len()];
        for row in functions_of_stacks(profile, self.stacks(series)) {
            if let Label::Function(id) = row.label {
                all[id.index()] = (row.sums.all_weight, row.sums.all_samples);
            }
        }
        all
    }

    /// The calls of a function. `rows` are the rows of the series that contain it.
    fn calls(&self, series: &SeriesReport, function: FunctionId, rows: &[StackWeight]) -> Calls {
        let stacks = if self.cache.is_some() { self.stacks(series) } else { WeighedStacks::Rows(rows, 1) };
        Calls::of(&self.recording.profile, stacks, function)
    }

    /// The binaries without symbols, each with its number of samples in [`nameless`](Overview::nameless) code over all series, most samples
    /// first. Binaries whose unnamed frames only call named code have no samples.
    pub fn wanted(&self) -> Vec<(UnnamedBinary, u64)> {
        if self.unnamed().binaries.is_empty() {
            return Vec::new();
        }
        let code = OwnCode::new(self);
        let rows = self.series.iter().flat_map(|series| self.weights.of_series(series.series));
        self.by_samples(&nameless_in(&self.recording.profile, rows.map(|row| (row, code.find(row)))))
    }

    /// The systems, such as `iOS 17.5 (21F79)`, on which samples contain unnamed frames of a system binary, by UUID.
    pub(crate) fn systems_without_names(&self) -> HashMap<Uuid, BTreeSet<String>> {
        let profile = &self.recording.profile;
        // Each visit asks for all frames, and systems are fewer than series.
        let mut stacks: BTreeMap<String, Vec<StackId>> = BTreeMap::new();
        for series in &self.series {
            let Some(os) = self.recording.toc_of_run(self.run_of(series)).and_then(TocRun::os) else { continue };
            let of_series = self.weights.of_series(series.series).iter().filter_map(|row| row.stack);
            stacks.entry(os).or_default().extend(of_series);
        }
        let mut systems: HashMap<Uuid, BTreeSet<String>> = HashMap::default();
        for (os, stacks) in stacks {
            for UnnamedBinary { binary, .. } in unnamed_frames(profile, stacks.into_iter()).binaries {
                let uuid = profile.binary(binary).uuid.filter(|_| !is_own_binary(profile, binary));
                uuid.map(|uuid| systems.entry(uuid).or_default().insert(os.clone()));
            }
        }
        systems
    }

    /// The binaries without symbols, each with its number of samples, most samples first.
    pub(crate) fn by_samples(&self, nameless_in: &[u64]) -> Vec<(UnnamedBinary, u64)> {
        let profile = &self.recording.profile;
        // Binaries with the same UUID are merged.
        let key = |binary: BinaryId| profile.binary(binary).uuid.ok_or(binary);
        let mut sums: HashMap<_, u64> = HashMap::default();
        for (binary, samples) in profile.binary_ids().zip(nameless_in) {
            *sums.entry(key(binary)).or_default() += samples;
        }
        let samples = |row: &UnnamedBinary| sums.get(&key(row.binary)).copied().unwrap_or_default();
        let mut wanted: Vec<_> = self.unnamed().binaries.iter().map(|row| (*row, samples(row))).collect();
        wanted.sort_by_key(|(_, samples)| Reverse(*samples));
        wanted
    }
}

/// By binary: the number of samples in nameless code.
fn nameless_in<'r>(profile: &Profile, rows: impl Iterator<Item = (&'r StackWeight, Option<Found>)>) -> Vec<u64> {
    let mut sums = vec![0; profile.binary_ids().len()];
    for (row, found) in rows {
        if let Some(binary) = found.and_then(|found| nameless_binary(profile, found)) {
            sums[binary.index()] += row.samples;
        }
    }
    sums
}

/// The binary whose symbols would name this code.
fn nameless_binary(profile: &Profile, found: Found) -> Option<BinaryId> {
    profile.frame(profile.stack(found.nameless(profile)?.stack).frame).binary
}

/// Sums the samples by owner.
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
