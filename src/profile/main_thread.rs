//! Decides which threads are main threads, once, when a profile is finished. All other code uses [`Thread::is_main`](super::Thread::is_main).

use super::Profile;

/// Instruments' name for main threads. Readers use it for unnamed main threads.
pub(crate) const MAIN_THREAD: &str = "Main Thread";

/// The name that readers use for the sum of all threads, if an input does not separate them.
pub(crate) const ALL_THREADS: &str = "all threads";

/// The name of a main thread in Rust programs, and wherever Instruments names threads by the function they run.
const MAIN_FUNCTION: &str = "main";

/// The evidence that a thread is a main thread. Only threads with the strongest evidence in their process count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    Nothing,
    FunctionName,
    Name,
    /// The reader marked it.
    Format,
}

impl Evidence {
    fn of(name: &str, is_marked: bool) -> Self {
        match name {
            _ if is_marked => Self::Format,
            _ if is_main_thread(name) => Self::Name,
            MAIN_FUNCTION => Self::FunctionName,
            _ => Self::Nothing,
        }
    }
}

impl Profile {
    /// Marks the main threads. Idempotent, even if names are replaced in between.
    pub(super) fn mark_main_threads(&mut self) {
        let evidence = self.threads.iter().map(|thread| Evidence::of(self.strings.get(thread.name), thread.is_main));
        let evidence: Vec<Evidence> = evidence.collect();
        let mut best = vec![Evidence::Nothing; self.processes.len()];
        for (thread, &evidence) in self.threads.iter().zip(&evidence) {
            let best = &mut best[thread.process.index()];
            *best = evidence.max(*best);
        }
        for (thread, evidence) in self.threads.iter_mut().zip(evidence) {
            thread.is_main = evidence > Evidence::Nothing && evidence == best[thread.process.index()];
        }
    }
}

/// True for `Main Thread` and `Main Thread 0x2a101`, with or without parentheses around the number. Readers keep the number if it is not the tid.
fn is_main_thread(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(MAIN_THREAD) else { return false };
    let digits = rest.trim_start().trim_start_matches('(').trim_end_matches(')');
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    rest.is_empty() || (rest.starts_with(' ') && digits.is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{ProfileBuilder, Run};

    #[test]
    fn main_threads_have_one_name_and_maybe_a_number() {
        for name in ["Main Thread", "Main Thread  0x22c0cb", "Main Thread 0x1", "Main Thread (0x22c0cb)"] {
            assert!(is_main_thread(name), "{name}");
        }
        for name in
            ["", "main thread", "Main Thread Checker", "Main Threads", "Main Thread0x1", "Main Thread 7", "main"]
        {
            assert!(!is_main_thread(name), "{name}");
        }
    }

    #[test]
    fn only_the_best_evidence_in_a_process_counts() {
        let main_threads = |processes: &[&[(&str, bool)]]| {
            let mut builder = ProfileBuilder::new();
            let input = builder.string("input").unwrap();
            let run = builder.run(Run { input, document: 0, number: 1 }).unwrap();
            for (pid, threads) in (0..).zip(processes) {
                let process = builder.process(run, Some(pid), input).unwrap();
                for (tid, &(name, is_marked)) in (0..).zip(*threads) {
                    let name = builder.string(name).unwrap();
                    let thread = builder.thread(process, Some(tid), name).unwrap();
                    if is_marked {
                        builder.mark_main_thread(thread);
                    }
                }
            }
            let mut profile = builder.finish();
            let is_main = |profile: &Profile| profile.threads.iter().map(|thread| thread.is_main).collect::<Vec<_>>();
            let once = is_main(&profile);
            profile.mark_main_threads();
            assert_eq!(is_main(&profile), once);
            once
        };
        assert_eq!(main_threads(&[&[("main", false), ("Main Thread", false), ("GUI", true)]]), [false, false, true]);
        assert_eq!(
            main_threads(&[&[("main", false), ("Main Thread", false)], &[("main", false)]]),
            [false, true, true]
        );
        assert_eq!(main_threads(&[&[("GUI", false), ("", false)]]), [false, false]);
    }
}
