//! The overview of a crash or memory exception: the facts in the report, and the stack of the affected thread.

use super::{Fact, Page};
use crate::output::text::style::{Tone, clean, fit};
use crate::profile::ThreadId;
use crate::recording::{CRASH, LAST_EXCEPTION, NON_FATAL, SPECIFIC_BACKTRACE, lookup};
use crate::report::{Stop, ThreadReport, is_own_binary};
use crate::settings::VIEW;
use crate::units::several;

/// The number of functions of the stack in the text, and in a sentence.
const FRAMES: usize = 10;
const IN_SENTENCE: usize = 6;
/// The maximum width of a fact, such as the message of an exception.
const FACT: usize = 160;
/// The maximum width of the name of a thread.
const THREAD: usize = 48;

impl Page<'_, '_> {
    /// `the stacks of 3 threads at one moment, and 1 backtrace`.
    pub(super) fn stacks_of_stop(&self) -> String {
        let is_backtrace = |row: &&ThreadReport| {
            let name = self.profile.string(self.profile.thread(row.thread).name);
            [LAST_EXCEPTION, SPECIFIC_BACKTRACE].iter().any(|backtrace| name.starts_with(backtrace))
        };
        let backtraces = self.series.all_threads().filter(is_backtrace).count() as u64;
        let threads = several(self.series.all_threads().count() as u64 - backtraces, "thread");
        let and_backtraces =
            if backtraces > 0 { format!(", and {}", several(backtraces, "backtrace")) } else { String::new() };
        format!("the stacks of {threads} at one moment{and_backtraces}")
    }

    /// `crash: exception EXC_BREAKPOINT (6) · signal SIGTRAP (5)`, and `thread: Thread 0 crashed in …; the innermost function of your code is …`.
    pub(super) fn about_stop(&self, stop: &Stop) -> Vec<Fact> {
        let facts: Vec<String> =
            stop.facts.iter().map(|(name, value)| format!("{name} {}", fit(&clean(value), Some(FACT)))).collect();
        let (kind, verb) = match self.diagnostic() {
            Some(CRASH) => ("crash", "crashed in"),
            Some(NON_FATAL) => ("no crash", "was in"),
            _ => ("memory", "was in"),
        };
        let of_thread = |thread: ThreadId| {
            let thread = self.name_of_thread(thread);
            let Some(&leaf) = stop.stack.first() else { return format!("{thread} has no stack here") };
            let own = match stop.own {
                Some(0) => ", which is your code".to_owned(),
                Some(own) => format!("; the innermost function of your code is {}", self.function_of(stop.stack[own])),
                None => "; no function of its stack is known to be yours".to_owned(),
            };
            let verb = match () {
                () if thread.starts_with(LAST_EXCEPTION) => "was thrown in",
                () if thread.starts_with(SPECIFIC_BACKTRACE) => "starts in",
                () => verb,
            };
            format!("{thread} {verb} {}{own}", self.function_of(leaf))
        };
        let is_whole = self.report.table(self.series.series).is_none_or(|table| table.rejected.total() == 0);
        let unknown = || match is_whole {
            true => "the report does not identify the thread that it happened on".to_owned(),
            false => "the thread that it happened on is unknown, or could not be read".to_owned(),
        };
        let facts = if facts.is_empty() { "no facts were recorded".to_owned() } else { facts.join(" · ") };
        vec![(kind, facts), ("thread", stop.thread.map_or_else(unknown, of_thread))]
    }

    /// The stack as a sentence, for pages that do not show it elsewhere.
    pub(super) fn stack_of_stop(&self, stop: &Stop) -> String {
        let names: Vec<String> = stop.stack.iter().take(IN_SENTENCE).map(|&id| self.function_of(id)).collect();
        let more = stop.stack.len().saturating_sub(names.len());
        let more = if more > 0 { format!(", called by {more} more") } else { String::new() };
        if names.is_empty() { String::new() } else { format!("Its stack: {}{more}.", names.join(", called by ")) }
    }

    /// The stack, one function per line, innermost first, with a mark at app code.
    pub(super) fn lines_of_stop(&self, stop: &Stop) -> Vec<String> {
        let Some(thread) = stop.thread.filter(|_| !stop.stack.is_empty()) else { return Vec::new() };
        let title = format!("Stack of {}, innermost function first; *: your code", self.name_of_thread(thread));
        let mut lines = vec![self.style.paint(Tone::Dim, &fit(&title, Some(self.width)))];
        // The innermost app function is shown even if it called many system functions.
        let own = stop.own.filter(|own| *own >= FRAMES);
        for (index, &id) in stop.stack.iter().enumerate() {
            if index >= FRAMES && own != Some(index) {
                continue;
            }
            if own == Some(index) && index > FRAMES {
                lines.push("       …".to_owned());
            }
            let binary = self.profile.binary_name(id).unwrap_or_default();
            let is_own = self.profile.function(id).binary.is_some_and(|id| is_own_binary(self.profile, id));
            let mark = if is_own { '*' } else { ' ' };
            let number = format!("{index:>4} {mark} ");
            let (name, owner) =
                self.style.two_parts(self.profile.function_name(id), binary, number.chars().count() + 2);
            lines.push(format!("{number}{name}{owner}"));
        }
        let shown = FRAMES + usize::from(own.is_some());
        if stop.stack.len() > shown {
            lines.push(format!("       … {} more; {VIEW} tree has all", stop.stack.len() - shown));
        }
        lines
    }

    /// The name of the thread, without the remark that the report attributes the event to it.
    fn name_of_thread(&self, id: ThreadId) -> String {
        let name = self.profile.string(self.profile.thread(id).name);
        fit(name.trim_end_matches(", attributed"), Some(THREAD))
    }

    fn diagnostic(&self) -> Option<&str> {
        self.overview.toc.and_then(|toc| lookup(&toc.summary, "diagnostic"))
    }
}
