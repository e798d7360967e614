//! The facts of the answer, and the reasons to distrust it.

use super::sentences::marks;
use super::{Fact, MARGIN, Page, VISIBLE};
use crate::output::text::style::fit;
use crate::output::text::words::share;
use crate::profile::{self, FunctionId, ThreadId, Wait};
use crate::report::{Amount, Answer, AnswersIn, Origin, ThreadReport, Work, is_own_binary, thread_label};
use crate::settings::STATE;
use crate::units::{Unit, capitalized, counted, several};

/// With fewer samples, percentages are meaningless.
const FEW_SAMPLES: u64 = 10;
/// A percentage with a margin of at least this many points gets a warning; below `MANY_SAMPLES` samples, 1 point is enough.
const ROUGH: f64 = 5.0;
const MANY_SAMPLES: u64 = 100;
/// A program that used less than this percentage of one core was mostly idle.
const IDLE: f64 = 5.0;
/// Below this percentage of one core, the overview states that nothing ran for part of the time.
const HALF_IDLE: f64 = 50.0;
/// The cycles per second of a busy core: roughly those of Apple's slowest cores. The fastest ones reach four times as many.
const BUSY_CYCLES: f64 = 1e9;

impl Page<'_, '_> {
    /// The facts of the answer, most important first. The rows of functions come after them.
    pub(super) fn facts(&self) -> Vec<Fact> {
        if self.has_nothing() {
            return vec![("idle", "no thread ran on the CPU".to_owned())];
        }
        if let Some(stop) = &self.overview.stop {
            return self.about_stop(stop);
        }
        let mut facts =
            vec![("few", self.too_few()), self.idle(), ("waiting", self.waits()), ("main", self.main_thread())];
        match self.overview.answers.first() {
            None if self.series.no_stack.samples > 0 => facts.push(("code", "no stack was recorded".to_owned())),
            None if self.overview.shares.has_others() => facts.push(("running", "no thread, in any sample".to_owned())),
            None => facts.push(("code", "no function weighs anything".to_owned())),
            Some(answer) => {
                facts.extend(self.overview.shares.has_others().then(|| ("running", self.running(answer))));
                let is_own = self.overview.answers_in == AnswersIn::Own;
                facts.extend((!is_own).then(|| ("code", self.why_not_own().to_owned())));
            }
        }
        facts.push((MARGIN, self.margin()));
        facts.retain(|(_, text)| !text.is_empty());
        facts
    }

    /// The heaviest running code, if other threads wait: `compress (App) runs on thread saver in 50 of 50 samples`.
    fn running(&self, answer: &Answer) -> String {
        let all =
            self.series.all_threads().find(|row| row.thread == answer.thread).map_or(0, |row| row.counted.samples);
        let (place, thread) = (self.function_of(answer.function), self.whose(answer.thread));
        let (samples, most) = (several(answer.amount.samples, "sample"), answer.on_thread.samples);
        let called = if self.overview.answers_in == AnswersIn::Own { self.called(answer) } else { String::new() };
        let (runs, all) = (self.runs(), several(all, "sample"));
        match answer.amount.samples == most {
            true => format!("{place} {runs} on {thread} in {} of {all}{called}", counted(most)),
            false => {
                format!("{place} {runs} in {samples} on several threads, {} of them on {thread}{called}", counted(most))
            }
        }
    }

    /// The verb for samples of threads that do not wait. Without states, a stack does not show whether its thread has a core, and unnamed code may be
    /// a waiting system call.
    fn runs(&self) -> &'static str {
        match (self.overview.has_states, self.overview.nameless.samples) {
            (true, _) => "runs",
            (false, 0) => "runs or could run",
            (false, _) => "runs, or waits in unnamed code,",
        }
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

    /// The name of a function in at most `room` columns. In sentences for a page, it is wrapped in marks.
    fn name_alone(&self, id: FunctionId, room: usize) -> String {
        let name = self.style.name_in_text(self.profile.function_name(id), room.max(self.width / 2));
        if self.is_for_page {
            format!("{}{}{}{name}{}", marks::START, id.index(), marks::NAME, marks::END)
        } else {
            name
        }
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
                format!("only {}: too few to show where the time goes", several(samples, "sample"))
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

    /// How much of the time no thread ran, and where to find what threads wait for.
    fn idle(&self) -> Fact {
        let is_waiting =
            |(state, _): &(String, Amount)| profile::Activity::of_state(state) == profile::Activity::Waiting;
        let waits = match self.series.other_states.as_slice() {
            [] => "to see what threads wait for, record waiting threads or System Trace".to_owned(),
            others if others.iter().any(is_waiting) => format!("{STATE} all shows what threads wait for"),
            _ => format!("{STATE} all shows the other samples"),
        };
        let percent = self.overview.activity.as_ref().and_then(|activity| activity.cpu_percent);
        let percent = percent.filter(|&percent| percent < HALF_IDLE && self.is_complete());
        match (self.mostly_other(), percent) {
            (Some(other), _) if self.is_idle() || percent.is_some() => ("states", other),
            // Several cores may have been busy at the same time, so it may be more.
            (_, Some(percent)) => ("idle", format!("at least {:.0}% of the time; {waits}", (100.0 - percent).floor())),
            _ if self.is_idle() => ("idle", format!("mostly (a busy core runs at 1 to 4 Gcycles/s); {waits}")),
            _ => ("idle", String::new()),
        }
    }

    /// The fact for recordings in which most samples have states that mean neither running nor waiting.
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
            let (samples, all) = (sum(&unknown), several(all, "sample"));
            return Some(format!(
                "{samples} of {all} have an unknown state, such as {name}, so whether threads ran is unknown"
            ));
        }
        let is_queued = 2 * sum(&queued) > all;
        is_queued.then(|| {
            format!("threads were ready to run without a core in {} of {}", sum(&queued), several(all, "sample"))
        })
    }

    /// `92.5% of the samples`.
    fn waits(&self) -> String {
        match self.waiting_percent() {
            percent if percent > 50.0 && !self.overview.has_states => {
                format!("{percent:.1}% of the samples, by the functions that threads are in")
            }
            percent if percent > 50.0 => format!("{percent:.1}% of the samples"),
            _ => String::new(),
        }
    }

    /// `Main Thread waits for a lock in 40 of 50 samples, below Store.save(), and runs in 10`.
    fn main_thread(&self) -> String {
        let Some(main) = &self.overview.main_thread else { return String::new() };
        let waits = match main.waits_for {
            // An I/O call whose data is available does work.
            Some(class) if class == Wait::Io.name() && !self.overview.has_states => {
                "is in I/O calls, which wait or work,".to_owned()
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
        let mut of = format!(" of {}", several(main.all.samples, "sample"));
        let parts = parts.into_iter().filter(|(amount, ..)| amount.samples > 0).map(|(amount, does, place)| {
            format!("{does} in {}{}{place}", counted(amount.samples), std::mem::take(&mut of))
        });
        let parts: Vec<String> = parts.collect();
        // It may have had only samples of idle cores.
        if parts.is_empty() {
            return String::new();
        }
        capitalized(&format!("{} {}", self.whose(main.thread), parts.join(", and ")))
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
            true => "no stack was recorded",
            false if self.has_own_code() && shares.unknown.samples > 0 => {
                "except for entry points, no sample of a running thread is known to be in a named function of yours"
            }
            false if self.has_own_code() => {
                "except for entry points, no sample of a running thread is in a named function of yours"
            }
            false if has_binaries && shares.unknown.samples == 0 => "none of yours ran",
            false => {
                "which binaries belong to your app is unknown, so your code cannot be distinguished from system code"
            }
        }
    }

    /// True if the recording contains code of an app binary.
    fn has_own_code(&self) -> bool {
        let is_own = |id| self.profile.function(id).binary.is_some_and(|binary| is_own_binary(self.profile, binary));
        self.profile.function_ids().any(is_own)
    }

    /// `, called by Cart.refresh(), below Sync.run(), from a timer`. The caller has most of the samples.
    fn called(&self, answer: &Answer) -> String {
        let is_most = |amount: &Amount| 2 * amount.samples > answer.amount.samples;
        let place = |word: &str, (id, amount): (FunctionId, Amount)| {
            let mostly = if amount.samples < answer.amount.samples { " mostly" } else { "" };
            format!("{mostly} {word} {}", self.name(id, 36))
        };
        let caller = self.overview.callers.first().filter(|(_, amount)| is_most(amount));
        let caller = caller.map(|&caller| place("by", caller));
        let outer = self.overview.outer_caller.map(|outer| place("below", outer));
        let by = caller.into_iter().chain(outer).collect::<Vec<_>>().join(",");
        // The thread is already named.
        let origin = answer.origin.filter(|origin| *origin != Origin::Thread || !by.is_empty());
        let from = origin.map_or_else(String::new, |origin| format!(" {}", phrase(origin)));
        if by.is_empty() && from.is_empty() { String::new() } else { format!(", called{by}{from}") }
    }

    /// `Main Thread`, `thread press worker #2`, or the identifier of an unnamed thread.
    pub(super) fn thread(&self, id: ThreadId) -> String {
        let name = self.thread_name(id);
        if name.to_lowercase().contains("thread") { name } else { format!("thread {name}") }
    }

    /// `Main Thread`, `press worker #2`, or `thread 0x51015`.
    pub(super) fn thread_name(&self, id: ThreadId) -> String {
        let thread = self.profile.thread(id);
        let name = self.profile.string(thread.name);
        let is_name = |other: &ThreadReport| self.profile.thread(other.thread).name == thread.name;
        match (name, thread.tid) {
            ("", None) => "an unknown thread".to_owned(),
            ("", Some(tid)) => format!("thread {tid:#x}"),
            _ if self.series.all_threads().filter(|row| is_name(row)).count() > 1 => {
                fit(&thread_label(self.profile, thread), Some(36))
            }
            (name, _) => fit(name, Some(28)),
        }
    }

    /// The margin of the first percentage, if it is large because there are few samples.
    fn margin(&self) -> String {
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
        if !self.is_sampled()
            || !self.counts_samples()
            || samples < FEW_SAMPLES
            || points < if samples < MANY_SAMPLES { 1.0 } else { ROUGH }
        {
            return String::new();
        }
        format!("{} ±{points:.0} points, with only {}", self.percent(amount), several(samples, "sample"))
    }

    /// `62.1% your code, with the system code that it calls · 30.2% other system code · 7.7% waiting`.
    pub(super) fn shares(&self) -> String {
        if let Some(stop) = &self.overview.stop {
            return self.stack_of_stop(stop);
        }
        let shares = &self.overview.shares;
        let parts = [
            ("your code, with the system code that it calls", shares.own),
            ("other system and runtime code", shares.system),
            ("code that may be yours or the system's", shares.unknown),
            ("waiting for a core", shares.queued),
            ("waiting", shares.waiting),
            ("idle cores", shares.idle),
            ("without a stack", shares.no_stack),
        ];
        // Shares that round to zero would distract readers.
        let parts = parts.into_iter().filter(|(_, amount)| share(amount.weight.value, self.series) >= VISIBLE);
        let parts: Vec<String> = parts.map(|(name, amount)| format!("{} {name}", self.percent(amount))).collect();
        if parts.len() > 1 { parts.join(" · ") } else { String::new() }
    }

    /// The function with the largest self weight of all code, if it is heavier than the first one of app code.
    pub(super) fn heaviest_leaf(&self) -> Option<&Answer> {
        let first = self.overview.answers.first().filter(|_| self.overview.answers_in == AnswersIn::Own)?;
        self.overview.leaves.first().filter(|leaf| leaf.amount.weight.value > first.amount.weight.value)
    }
}

pub(super) fn doing(work: Work) -> &'static str {
    match work {
        Work::UnspecializedGenerics => "work: unspecialised Swift generics, as in debug builds",
        Work::ReferenceCounting => "work: retaining and releasing objects",
        Work::MessageSending => "work: dispatching Objective-C messages",
        Work::Allocation => "work: allocating and freeing memory",
        Work::Locking => "work: taking locks or waiting for them",
        Work::PageFaults => "work: handling page faults",
        Work::Copying => "work: copying or filling memory",
    }
}

pub(super) fn phrase(origin: Origin) -> &'static str {
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
