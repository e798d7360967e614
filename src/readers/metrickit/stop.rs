//! Facts about a crash or memory exception: the exception, the signal, the reason, and the thread.
//!
//! ```text
//! "exceptionType": 6, "exceptionCode": 1, "signal": 5, "terminationReason": "Namespace SIGNAL, Code 0x5"
//! exception-type  EXC_BREAKPOINT (6)      signal  SIGTRAP (5)
//! ```

use super::diagnostic::{Diagnostic, Kind};
use crate::recording::ATTRIBUTED_THREAD;

/// Exception types, starting at 1, from `mach/exception_types.h`.
const EXCEPTIONS: [&str; 13] = [
    "EXC_BAD_ACCESS",
    "EXC_BAD_INSTRUCTION",
    "EXC_ARITHMETIC",
    "EXC_EMULATION",
    "EXC_SOFTWARE",
    "EXC_BREAKPOINT",
    "EXC_SYSCALL",
    "EXC_MACH_SYSCALL",
    "EXC_RPC_ALERT",
    "EXC_CRASH",
    "EXC_RESOURCE",
    "EXC_GUARD",
    "EXC_CORPSE_NOTIFY",
];
/// Darwin signals, starting at 1, from `sys/signal.h`.
const SIGNALS: [&str; 15] = [
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGEMT", "SIGFPE", "SIGKILL", "SIGBUS", "SIGSEGV",
    "SIGSYS", "SIGPIPE", "SIGALRM", "SIGTERM",
];
/// `EXC_BAD_ACCESS` codes, starting at 1, from `mach/kern_return.h`.
const BAD_ACCESSES: [&str; 2] = ["KERN_INVALID_ADDRESS", "KERN_PROTECTION_FAILURE"];

/// The keys of facts, their names in a run's summary, and the names of their values.
const FACTS: [(&str, &str, &[&str]); 8] = [
    ("exceptionType", "exception-type", &EXCEPTIONS),
    ("exceptionCode", "exception-code", &[]),
    ("signal", "signal", &SIGNALS),
    ("terminationReason", "termination-reason", &[]),
    ("terminationCategory", "termination-category", &[]),
    ("exceptionReason", "exception-reason", &[]),
    ("objectiveCexceptionReason", "exception-reason", &[]),
    ("virtualMemoryRegionInfo", "memory-region", &[]),
];

/// True if facts with this key are in use.
pub(super) fn is_known(key: &str) -> bool {
    FACTS.iter().any(|(known, ..)| *known == key)
}

pub(super) fn facts(diagnostic: &Diagnostic) -> Vec<(String, String)> {
    let is_bad_access = diagnostic.fact("exceptionType") == Some("1");
    let named = |&(key, called, names): &(&str, &str, &[&str])| {
        // In a description of the memory around an address, the first line is the relevant one.
        let value = diagnostic.fact(key)?.lines().next()?.trim();
        let names = if key == "exceptionCode" && is_bad_access { &BAD_ACCESSES } else { names };
        let name = value.parse::<usize>().ok().and_then(|number| names.get(number.checked_sub(1)?));
        let text = name.map_or_else(|| value.to_owned(), |name| format!("{name} ({value})"));
        (!text.is_empty()).then(|| (called.to_owned(), text))
    };
    let mut facts: Vec<(String, String)> = FACTS.iter().filter_map(named).collect();
    let is_stop = matches!(diagnostic.kind, Kind::Crash | Kind::Memory) && diagnostic.tree.is_per_thread != Some(false);
    let threads = diagnostic.threads();
    let mut attributed =
        (0..threads.len()).filter(|&index| is_stop && threads.get(index).is_some_and(|thread| thread.is_attributed));
    // With several attributed threads, it is unknown which one.
    if let (Some(index), None) = (attributed.next(), attributed.next()) {
        facts.push((ATTRIBUTED_THREAD.to_owned(), index.to_string()));
    }
    facts
}
