//! Alert rules, which can make a CI job fail: their grammar, and their outcomes.
//!
//! ```text
//! rule       = [ subject ] { "." part } comparison number [ unit ]
//! subject    = "total" | kind "(" ( name | "*" ) ")"
//! kind       = "process" | "thread" | "binary" | "function" | "interval"
//! part       = word | "window" "(" digits [ "s" ] ")"
//! comparison = ">" | ">=" | "<" | "<="
//! number     = [ "+" ] digits [ "." digits ] [ "e" [ "+" | "-" ] digits ]
//! unit       = "%" | "ns" | "us" | "ms" | "s" | "min" | "h" | "B" | "kB" | "KiB" | … | [ prefix ] counted [ "/s" ]
//! prefix     = "k" | "K" | "M" | "G" | "T"
//! counted    = "cycles" | "events" | "samples"
//! name       = word | '"' { character | '\"' | '\\' } '"'
//! ```
//!
//! A rule needs a subject or a part. Tokens may be separated by spaces. A name must not be empty, and is matched exactly. The parts are a measure, a
//! statistic, and an end of its interval.
//!
//! # Growth between two recordings
//!
//! ```text
//! total > 5%                          the total grew by more than 5 % of the first recording
//! total > 200ms                       by more than 200 ms
//! function("-[X y]").self > 1%        the self weight of the function, by more than 1 % of the first recording
//! function("-[X y]").all > 3Mcycles   including everything it calls
//! function(*).self > 2%               any function
//! binary("UIKitCore").all > 30ms      samples with the binary anywhere in their stack; binary(*) is any
//! ```
//!
//! # Many runs
//!
//! ```text
//! cpu.p95 > 80                              P95 of the runs' CPU use
//! cpu.mean > 20    cpu.max >= 300           the mean; the largest run
//! process("Finder").cpu.p99 > 5             of one process
//! thread("Main Thread").cpu.p50 > 30        of threads with that name, in any process
//! binary("UIKitCore").all.p90 > 10          samples with the binary anywhere in their stack
//! function("-[X y]").self.p99 > 5           samples whose leaf is the function
//! process(*).cpu.p99 > 50                   the busiest process of each run
//! function(*).self.p99 > 5                  any function, beyond what chance explains among so many; also binary(*)
//! window(60s).max > 80                      each run's busiest 60 s; also process("X").window(60s).max
//! system-cpu-limit                          the limit at which iOS terminates apps: a process above 80 % over 60 s
//! cpu.p95.lower > 80                        the lower end of the interval of P95: above 80 even allowing for chance
//! cpu.p95 > 2.5 Gcycles/s                   for runs recorded in cycles
//! cpu-time.p95 > 300 ms                     the CPU time of a run; also process("X").cpu-time.max
//! elapsed.p95 > 2 s                         the recorded time of a run, such as a benchmark that was recorded until it exited
//! ```
//!
//! A limit without a unit is a percentage of one core. It does not apply to runs that were recorded in other units.
//!
//! # Durations of intervals
//!
//! ```text
//! interval("Checkout").p95 > 300ms      a percentile of all intervals with that name (nearest rank)
//! interval(Checkout).mean >= 0.2s       also median, min and max; a name of letters and digits needs no quotes
//! ```
//!
//! # Outcomes
//!
//! The code that has the numbers measures the subject. `judge` then compares them with the limit, in the same way for all rules.

mod comparison;
mod lexer;
mod measure;
mod outcome;
mod rule;
#[cfg(all(test, feature = "fleet"))]
mod rule_tests;
mod statistic;
mod subject;
mod topic;
mod unit;

pub(crate) use measure::AlertMeasure;
pub use outcome::{AlertCause, AlertOutcome, AlertState};
pub(crate) use outcome::{Candidate, UNREAD_ROWS, judge};
#[cfg(feature = "fleet")]
pub(crate) use outcome::{MOST_UNMEASURED, too_many_unmeasured};
pub use rule::AlertRule;
#[cfg(feature = "fleet")]
pub(crate) use statistic::{AlertBound, AlertStatistic};
pub(crate) use subject::{AlertSubject, Kind};
pub use topic::AlertError;
