//! The sentences with the answer, and the reasons to distrust it.

use super::Page;
use super::sentences::marks;
use crate::output::text::style::fit;
use crate::output::text::words::{count, share};
use crate::profile::{self, FunctionId, ThreadId, Wait};
use crate::report::{Amount, Answer, AnswersIn, Origin, Subtree, ThreadReport, Work, is_own_binary, thread_label};
use crate::settings::STATE;
use crate::units::{Unit, Weight, capitalized, counted};

/// With fewer samples, percentages are meaningless.
const FEW_SAMPLES: u64 = 10;
/// A percentage with a margin of at least this many points gets a warning; below `MANY_SAMPLES` samples, 1 point is enough.
const ROUGH: f64 = 5.0;
const MANY_SAMPLES: u64 = 100;
/// A callee or a kind of work is reported from this share of the heaviest function's weight on.
const MUCH: f64 = 0.2;
/// Two functions are close if the lighter one has this share of the heavier one.
const CLOSE: f64 = 0.85;
/// A program that used less than this percentage of one core was mostly idle.
const IDLE: f64 = 5.0;
/// Below this percentage of one core, the overview states that nothing ran for part of the time.
const HALF_IDLE: f64 = 50.0;
/// Weight outside of all subtrees is reported from this percentage on.
const LARGE_REST: f64 = 33.0;
/// The cycles per second of a busy core: roughly those of Apple's slowest cores. The fastest ones reach four times as many.
const BUSY_CYCLES: f64 = 1e9;

impl Page<'_, '_> {
    /// `86.0% is in Checkout.total(of:) (Shop), on Main Thread, called by Cart.refresh() from a timer.`
    pub(super) fn answer(&self) -> String {
        if self.has_nothing() {
            return "No thread ran on the CPU.".to_owned();
        }
        if let Some(stop) = &self.overview.stop {
            return self.about_stop(stop);
        }
        let mut sentences = vec![self.too_few(), self.idle(), self.waits(), self.main_thread()];
        let answers = &self.overview.answers;
        match answers.first() {
            None if self.series.no_stack.samples > 0 => sentences.push("No stack was recorded.".to_owned()),
            None if self.overview.shares.has_others() => sentences.push("No thread runs in any sample.".to_owned()),
            None => sentences.push("No function weighs anything.".to_owned()),
            Some(answer) => {
                sentences.push(if self.overview.shares.has_others() {
                    self.running(answer)
                } else {
                    self.heaviest(answer)
                });
                if self.overview.answers_in == AnswersIn::All {
                    sentences.push(self.why_not_own().to_owned());
                }
            }
        }
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join(" ")
    }

    fn heaviest(&self, answer: &Answer) -> String {
        let (thread, on_thread) = self.overview.heaviest_thread.unwrap_or((answer.thread, answer.on_thread));
        let on = self.on_thread(thread, on_thread, self.overview.all(answer.function));
        let called = if self.overview.answers_in == AnswersIn::Own { self.called(answer) } else { String::new() };
        let place = self.function_of(answer.function);
        if !self.overview.stands_out() {
            let none = match self.overview.answers_in {
                AnswersIn::Own => "None of your functions stands out by itself",
                AnswersIn::All => "No function stands out by itself",
            };
            return match self.overview.subtrees.as_slice() {
                [] => format!("{none}: the heaviest is {place}, with {}, {on}{called}.", self.percent(answer.amount)),
                subtrees => {
                    let parts: Vec<String> = subtrees.iter().map(|subtree| self.subtree(subtree)).collect();
                    format!("{none}. {}.{}", parts.join("; "), self.rest(subtrees))
                }
            };
        }
        // The percentage of a callee only covers calls from this function.
        let is_callee = |id| {
            self.overview.spent.as_ref().is_some_and(|spent| spent.callees.iter().any(|(callee, _)| *callee == id))
        };
        let second = self.overview.answers.get(1).filter(|second| self.share(second) >= CLOSE * self.share(answer));
        let second = second
            .filter(|second| !is_callee(second.function))
            .map(|second| format!(" {} is in or below {}.", self.all(second.function), self.name(second.function, 56)));
        let ran = || format!("Of the {} that it ran, ", self.series.counted.weight);
        let of = if self.idle().is_empty() { String::new() } else { ran() };
        let share = self.all(answer.function);
        format!("{of}{share} is in or below {place}, {on}{called}.{}{}", self.spent(answer), second.unwrap_or_default())
    }

    /// The heaviest running code, if other threads wait: `compress (App) runs on thread saver in 50 of 50 samples.`
    fn running(&self, answer: &Answer) -> String {
        let all =
            self.series.all_threads().find(|row| row.thread == answer.thread).map_or(0, |row| row.counted.samples);
        let (place, thread) = (self.function_of(answer.function), self.whose(answer.thread));
        let (samples, most) = (count(answer.amount.samples, "sample"), answer.on_thread.samples);
        let called = if self.overview.answers_in == AnswersIn::Own { self.called(answer) } else { String::new() };
        let (runs, all) = (self.runs(), count(all, "sample"));
        match answer.amount.samples == most {
            true => format!("{place} {runs} on {thread} in {most} of {all}{called}."),
            false => format!("{place} {runs} in {samples} on several threads, {most} of them on {thread}{called}."),
        }
    }

    /// The verb for samples of threads that do not wait. Without states, a stack does not show whether its thread has a core, and unnamed code may be
    /// a waiting system call.
    fn runs(&self) -> &'static str {
        match (self.overview.has_states, self.overview.nameless.samples) {
            (true, _) => "runs",
            (false, 0) => "runs or could run",
            (false, _) => "is not known to wait",
        }
    }

    /// `91.6% is below TNode::SynchronizeChildren, on thread Finder (its caller TNode::HandleSync has 98.3%, its heaviest callee Next 36.4%)`.
    fn subtree(&self, subtree: &Subtree) -> String {
        let share = self.all(subtree.function);
        let from = match subtree.origin {
            Some(origin) if subtree.caller.is_none() && origin != Origin::Thread => format!(", {}", phrase(origin)),
            _ => {
                format!(", {}", self.on_thread(subtree.thread, subtree.on_thread, self.overview.all(subtree.function)))
            }
        };
        let caller = subtree.caller.map(|id| format!("its caller {} has {}", self.name(id, 36), self.all(id)));
        let callee = subtree.callee.map(|(id, amount)| {
            let has = if subtree.caller.is_none() { " has" } else { "" };
            format!("its heaviest callee {}{has} {}", self.name(id, 36), self.percent(amount))
        });
        let name = self.function_of(subtree.function);
        match [caller, callee].into_iter().flatten().collect::<Vec<_>>().join(", ") {
            around if around.is_empty() => format!("{share} is below {name}{from}"),
            around => format!("{share} is below {name}{from} ({around})"),
        }
    }

    /// The weight outside of all subtrees: ` At least 63.0% is in other code.` The subtrees may share a few samples, which the sum counts twice.
    fn rest(&self, subtrees: &[Subtree]) -> String {
        let counted = self.series.counted;
        let within = subtrees.iter().map(|subtree| self.overview.all(subtree.function));
        let within =
            within.fold((0_u64, 0), |(weight, samples), all| (weight + all.weight.value, samples + all.samples));
        let rest = Amount {
            weight: Weight::new(counted.weight.value.saturating_sub(within.0), counted.weight.unit),
            samples: counted.samples.saturating_sub(within.1),
        };
        if share(rest.weight.value, self.series) < LARGE_REST {
            return String::new();
        }
        let is_other = |row: &&ThreadReport| subtrees.iter().all(|subtree| subtree.thread != row.thread);
        // Threads are sorted by weight.
        let thread = self.series.threads.iter().find(is_other).filter(|row| row.counted.weight.value > within.0 / 2);
        let thread =
            thread.map(|row| format!("; {} has {} in all", self.thread(row.thread), self.percent(row.counted)));
        let least = if subtrees.len() > 1 { "At least " } else { "" };
        format!(" {least}{} is in other code{}.", self.percent(rest), thread.unwrap_or_default())
    }

    /// How the heaviest function spends its time: ` 30.1% is its own work, 41.0% is below swift_release.`
    fn spent(&self, answer: &Answer) -> String {
        let Some(spent) = &self.overview.spent else { return String::new() };
        let all = self.overview.all(answer.function).weight.value;
        let is_much = |amount: &Amount| amount.weight.value as f64 >= MUCH * all as f64;
        let mut parts: Vec<String> = Vec::new();
        // Without heavy callees, all of it is the function's own work.
        if spent.callees.iter().any(|(_, amount)| is_much(amount)) {
            let itself = format!("{} is its own work", self.percent(spent.itself));
            parts.extend(is_much(&spent.itself).then_some(itself));
            let callees = spent.callees.iter().filter(|(_, amount)| is_much(amount));
            parts.extend(
                callees.map(|&(id, amount)| format!("{} is in or below {}", self.percent(amount), self.name(id, 40))),
            );
        }
        let work = spent.work.iter().filter(|(_, amount)| is_much(amount)).take(2);
        // If kinds of work add up to more than the function, they share samples: generic code also retains, allocates and so on.
        let sum: u64 = work.clone().map(|(_, amount)| amount.weight.value).sum();
        let and = if sum > all { ", and, partly in the same samples, " } else { ", and " };
        let work = work.map(|&(kind, amount)| format!("{} {}", self.percent(amount), doing(kind)));
        let sentence = |parts: Vec<String>, and: &str| match parts.is_empty() {
            true => String::new(),
            false => format!(" {}.", parts.join(and)),
        };
        sentence(parts, ", ") + &sentence(work.collect(), and)
    }

    /// A function with its binary.
    pub(super) fn function_of(&self, id: FunctionId) -> String {
        let binary = self.profile.binary_name(id).map(|name| format!(" ({})", fit(name, Some(20))));
        format!("{}{}", self.name_alone(id, 56), binary.unwrap_or_default())
    }

    /// The name of a function. An unnamed function is shown as its address and binary.
    fn name(&self, id: FunctionId, room: usize) -> String {
        if self.profile.function(id).is_named { self.name_alone(id, room) } else { self.function_of(id) }
    }

    /// The percentage of samples with a function in their stack, the same as in trees and tables.
    fn all(&self, id: FunctionId) -> String {
        self.percent(self.overview.all(id))
    }

    /// `on Main Thread`, with a percentage of the samples if some are on other threads.
    fn on_thread(&self, thread: ThreadId, on_thread: Amount, of: Amount) -> String {
        let thread = self.thread(thread);
        match on_thread.weight.value as f64 / of.weight.value.max(1) as f64 {
            1.0 => format!("on {thread}"),
            part if part > 0.6 => format!("{:.0}% of it on {thread}", 100.0 * part),
            _ => "on several threads".to_owned(),
        }
    }

    /// The name of a function in at most `room` columns. In sentences for a page, it is wrapped in marks.
    fn name_alone(&self, id: FunctionId, room: usize) -> String {
        let name = self.style.name_in_text(self.profile.function_name(id), room);
        if self.is_for_page {
            format!("{}{}{}{name}{}", marks::START, id.index(), marks::NAME, marks::END)
        } else {
            name
        }
    }

    fn share(&self, answer: &Answer) -> f64 {
        share(answer.amount.weight.value, self.series)
    }

    /// The percentage of samples in which threads wait, regardless of their weight.
    fn waiting_percent(&self) -> f64 {
        100.0 * self.overview.shares.waiting.samples as f64 / self.series.counted.samples.max(1) as f64
    }

    pub(super) fn counts_samples(&self) -> bool {
        self.profile.series(self.series.series).has_sample_counts()
    }

    /// The sentence for too few samples to give an answer.
    fn too_few(&self) -> String {
        match self.series.counted.samples {
            samples @ 1..FEW_SAMPLES if self.counts_samples() => {
                format!("Only {}: too few to show where the time goes.", count(samples, "sample"))
            }
            _ => String::new(),
        }
    }

    /// True if the program as a whole used only little of a core.
    pub(super) fn is_idle(&self) -> bool {
        let Some(activity) = &self.overview.activity else { return false };
        let is_little = match (activity.cpu_percent, self.series.unit) {
            (Some(percent), _) => percent < IDLE,
            (None, Unit::Cycles) => {
                let seconds = activity.time.length().as_nanos() as f64 / 1e9;
                (self.series.counted.weight.value as f64) < IDLE / 100.0 * BUSY_CYCLES * seconds
            }
            (None, _) => false,
        };
        is_little && self.is_complete()
    }

    /// True if all samples are selected. Otherwise, the program may have been busy in the rest.
    pub(super) fn is_complete(&self) -> bool {
        self.series.out_of_scope.samples == 0 && self.report.operations.is_empty()
    }

    /// The sentence for an idle CPU.
    fn idle(&self) -> String {
        let is_waiting =
            |(state, _): &(String, Amount)| profile::Activity::of_state(state) == profile::Activity::Waiting;
        let waits = match self.series.other_states.as_slice() {
            [] => "this table does not record what threads wait for".to_owned(),
            others if others.iter().any(is_waiting) => format!("{STATE} all shows what threads wait for"),
            _ => format!("{STATE} all shows the other samples"),
        };
        if !self.is_idle() {
            let percent = self.overview.activity.as_ref().and_then(|activity| activity.cpu_percent);
            let percent = percent.filter(|&percent| percent < HALF_IDLE && self.is_complete());
            return percent.map_or_else(String::new, |percent| {
                let rested = format!("It did not run for at least {:.0}% of the time", (100.0 - percent).floor());
                self.mostly_other().map_or_else(|| format!("{rested}; {waits}."), |other| format!("{rested}. {other}"))
            });
        }
        if let Some(other) = self.mostly_other() {
            return other;
        }
        let core = if self.series.unit == Unit::Cycles { " (a busy core makes 1 to 4 Gcycles/s)" } else { "" };
        format!("What was recorded was mostly idle{core}; {waits}.")
    }

    /// The sentence for recordings in which most samples have states that mean neither running nor waiting.
    fn mostly_other(&self) -> Option<String> {
        let states = &self.series.other_states;
        let all = states.iter().map(|(_, amount)| amount.samples).sum::<u64>() + self.series.counted.samples;
        let of = |wanted: profile::Activity| {
            let own = states.iter().filter(move |(name, _)| profile::Activity::of_state(name) == wanted);
            own.map(|(name, amount)| (amount.samples, name)).collect::<Vec<_>>()
        };
        let (queued, unknown) = (of(profile::Activity::Queued), of(profile::Activity::Unknown));
        let sum = |found: &[(u64, &String)]| found.iter().map(|(samples, _)| samples).sum::<u64>();
        if 2 * sum(&unknown) > all {
            let (_, name) = unknown.iter().max()?;
            let (samples, all) = (sum(&unknown), count(all, "sample"));
            return Some(format!(
                "Whether threads ran is unknown: {samples} of {all} have an unknown state, such as {name}."
            ));
        }
        let is_queued = 2 * sum(&queued) > all;
        is_queued.then(|| {
            format!("Threads were ready to run without a core in {} of {}.", sum(&queued), count(all, "sample"))
        })
    }

    /// `Threads wait in 92.5% of the samples.`
    fn waits(&self) -> String {
        match self.waiting_percent() {
            percent if percent > 50.0 && !self.overview.has_states => {
                format!("Threads wait in {percent:.1}% of the samples, by the functions that they are in.")
            }
            percent if percent > 50.0 => format!("Threads wait in {percent:.1}% of the samples."),
            _ => String::new(),
        }
    }

    /// `Main Thread waits for a lock in 40 of 50 samples, below Store.save(), and runs in 10.`
    fn main_thread(&self) -> String {
        let Some(main) = &self.overview.main_thread else { return String::new() };
        let waits = match main.waits_for {
            // An I/O call whose data is available does work.
            Some(class) if class == Wait::Io.name() && !self.overview.has_states => {
                "is in calls of I/O, which wait or work,".to_owned()
            }
            Some(class) if main.has_other_waits => format!("waits, mostly for {class},"),
            Some(class) => format!("waits for {class}"),
            None => "waits".to_owned(),
        };
        let waits_in = main.waits_in.filter(|&id| main.waits_for.is_none() && Some(id) != main.asked_by);
        let waits_in = waits_in.map_or_else(String::new, |id| format!(", mostly in {}", self.name(id, 40)));
        let below = main.asked_by.map_or_else(String::new, |by| format!(", below {}", self.name(by, 40)));
        // The answer may already have reported it.
        let is_told = self.overview.answers.first().is_some_and(|answer| answer.thread == main.thread);
        let runs_in = main.runs_in.filter(|_| !is_told);
        let runs_in = runs_in.map_or_else(String::new, |id| format!(", mostly in or below {}", self.name(id, 40)));
        let parts = [
            (main.waits, waits.as_str(), waits_in + &below),
            (main.runs, self.runs(), runs_in),
            (main.queued, "is ready to run without a core", String::new()),
        ];
        let mut of = format!(" of {}", count(main.all.samples, "sample"));
        let parts = parts.into_iter().filter(|(amount, ..)| amount.samples > 0).map(|(amount, does, place)| {
            format!("{does} in {}{}{place}", counted(amount.samples), std::mem::take(&mut of))
        });
        capitalized(&format!("{} {}.", self.whose(main.thread), parts.collect::<Vec<_>>().join(", and ")))
    }

    /// A thread, with its process if there are several.
    fn whose(&self, id: ThreadId) -> String {
        let process = self.profile.thread(id).process;
        let is_other = |row: &ThreadReport| self.profile.thread(row.thread).process != process;
        if !self.series.all_threads().any(is_other) {
            return self.thread(id);
        }
        let row = self.profile.process(process);
        let pid = row.pid.map(|pid| format!(" ({pid})")).unwrap_or_default();
        format!("{} of {}{pid}", self.thread(id), fit(self.profile.string(row.name), Some(28)))
    }

    /// The reason why the answer is not in app code.
    fn why_not_own(&self) -> &'static str {
        let has_binaries = self.profile.binary_ids().len() > 0;
        let shares = &self.overview.shares;
        match self.series.no_stack.samples == self.series.counted.samples {
            true => "No stack was recorded.",
            false if self.has_own_code() && shares.unknown.samples > 0 => {
                "Except for entry points, no sample that ran is known to be in a named function of yours."
            }
            false if self.has_own_code() => {
                "Except for entry points, no sample that ran is in a named function of yours."
            }
            false if has_binaries && shares.unknown.samples == 0 => "None of your code ran.",
            false => {
                "It is unknown which binaries belong to your app, so your code cannot be distinguished from \
                      system code."
            }
        }
    }

    /// True if the recording contains code of an app binary.
    fn has_own_code(&self) -> bool {
        let is_own = |id| self.profile.function(id).binary.is_some_and(|binary| is_own_binary(self.profile, binary));
        self.profile.function_ids().any(is_own)
    }

    /// `, called by Cart.refresh() from a timer`.
    fn called(&self, answer: &Answer) -> String {
        let name = |id| format!("{} (which has {})", self.name(id, 36), self.all(id));
        let by = match answer.callers.as_slice() {
            [] => String::new(),
            [only] => format!(" by {}", name(*only)),
            [first, .., last] => format!(" by {} and, further up, by {}", name(*last), name(*first)),
        };
        // The thread is already named.
        let origin = answer.origin.filter(|origin| *origin != Origin::Thread || !by.is_empty());
        let from = origin.map_or_else(String::new, |origin| format!(" {}", phrase(origin)));
        if by.is_empty() && from.is_empty() { String::new() } else { format!(", called{by}{from}") }
    }

    /// `Main Thread`, `thread press worker #2`, or the identifier of an unnamed thread.
    pub(super) fn thread(&self, id: ThreadId) -> String {
        let thread = self.profile.thread(id);
        let name = self.profile.string(thread.name);
        let is_name = |other: &ThreadReport| self.profile.thread(other.thread).name == thread.name;
        if !name.is_empty() && self.series.all_threads().filter(|row| is_name(row)).count() > 1 {
            return format!("thread {}", fit(&thread_label(self.profile, thread), Some(36)));
        }
        match (name, thread.tid) {
            ("", None) => "an unknown thread".to_owned(),
            ("", Some(tid)) => format!("thread {tid:#x}"),
            (name, _) if name.to_lowercase().contains("thread") => fit(name, Some(28)),
            (name, _) => format!("thread {}", fit(name, Some(28))),
        }
    }

    /// A warning if another function could be the answer by chance, since percentages of few samples have a large margin.
    pub(super) fn few_samples(&self) -> String {
        let Some(answer) = self.overview.answers.first().filter(|_| !self.overview.shares.has_others()) else {
            return String::new();
        };
        let samples = self.series.counted.samples;
        let amount = match self.overview.subtrees.first() {
            Some(first) => self.overview.all(first.function),
            None if !self.overview.stands_out() => answer.amount,
            None => self.overview.all(answer.function),
        };
        // In 95 of 100 cases, a share is within 1.96 standard deviations of the true value.
        let share = share(amount.weight.value, self.series) / 100.0;
        let points = 196.0 * (share * (1.0 - share) / samples.max(1) as f64).sqrt();
        if !self.counts_samples() || samples < FEW_SAMPLES || points < if samples < MANY_SAMPLES { 1.0 } else { ROUGH }
        {
            return String::new();
        }
        format!("With only {samples} samples, {} may well be off by {points:.0} points.", self.percent(amount))
    }

    /// `In all: your code, including the system code it calls, 62.1% · other system code 30.2% · waiting 7.7%.`
    pub(super) fn shares(&self) -> String {
        if let Some(stop) = &self.overview.stop {
            return self.stack_of_stop(stop);
        }
        let shares = &self.overview.shares;
        let parts = [
            ("your code, with the system code it calls,", shares.own),
            ("other system and runtime code", shares.system),
            ("code that may be yours or the system's", shares.unknown),
            ("waiting for a core", shares.queued),
            ("waiting", shares.waiting),
            ("idle cores", shares.idle),
            ("samples without a stack", shares.no_stack),
        ];
        // Shares that round to zero would distract readers.
        let parts = parts.into_iter().filter(|(_, amount)| share(amount.weight.value, self.series) >= 0.05);
        let parts: Vec<String> = parts.map(|(name, amount)| format!("{name} {}", self.percent(amount))).collect();
        if parts.len() < 2 {
            return String::new();
        }
        let mut text = format!("In all: {}.", parts.join(" · "));
        // If another function is heavier than the answer from app code, it is also named.
        if let Some(leaf) = self.overview.leaves.first()
            && self.overview.answers_in == AnswersIn::Own
            && self.overview.answers.first().is_some_and(|answer| leaf.amount.weight.value > answer.amount.weight.value)
        {
            let name = self.name(leaf.function, 56);
            text += &format!(" Of all code {name} is heaviest, with {} in itself.", self.percent(leaf.amount));
        }
        text
    }
}

fn doing(work: Work) -> &'static str {
    match work {
        Work::UnspecializedGenerics => {
            "is in generic code of Swift's standard library that was not specialised, as in a debug build"
        }
        Work::ReferenceCounting => "retains and releases objects",
        Work::MessageSending => "dispatches Objective-C messages",
        Work::Allocation => "allocates and frees memory",
        Work::Locking => "takes locks or waits for them",
        Work::PageFaults => "handles page faults",
        Work::Copying => "copies or fills memory",
    }
}

fn phrase(origin: Origin) -> &'static str {
    match origin {
        Origin::MainQueue => "from the main queue",
        Origin::Queue => "from a dispatch queue",
        Origin::SwiftTask => "from a Swift task",
        Origin::Timer => "from a timer",
        Origin::DisplayLink => "for each frame of the screen",
        Origin::Input => "for an input event",
        Origin::Layout => "for layout and drawing",
        Origin::Notification => "for a notification",
        Origin::RunLoop => "from the run loop",
        Origin::Launch => "at launch",
        Origin::Initializer => "before main, by an initializer",
        Origin::Thread => "off the main thread",
    }
}
