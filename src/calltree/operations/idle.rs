//! The functions of waiting threads.

/// The innermost functions of a waiting thread. They wait for a message, a lock, an event, work or a timer, and most are system calls.
///
/// Recordings of running threads contain few of them, on their way into or out of the kernel, since a waiting thread does not run. In
/// recordings of all threads, most samples end in such a function.
const IDLE_FUNCTIONS: [&str; 38] = [
    "__accept",
    "__accept_nocancel",
    "__aio_suspend",
    "__msgrcv",
    "__poll_nocancel",
    "__pselect",
    "__psynch_cvwait",
    "__psynch_mutexwait",
    "__psynch_rw_rdlock",
    "__psynch_rw_wrlock",
    "__recvfrom",
    "__recvfrom_nocancel",
    "__recvmsg",
    "__select",
    "__select_nocancel",
    "__semwait_signal",
    "__semwait_signal_nocancel",
    "__sigsuspend",
    "__sigwait",
    "__ulock_wait",
    "__ulock_wait2",
    "__wait4",
    "__wait4_nocancel",
    "__workq_kernreturn",
    "kevent",
    "kevent64",
    "kevent_id",
    "kevent_qos",
    "mach_msg2_trap",
    "mach_msg_overwrite_trap",
    "mach_msg_trap",
    "machine_idle",
    "poll",
    "select$DARWIN_EXTSN",
    "semaphore_timedwait_signal_trap",
    "semaphore_timedwait_trap",
    "semaphore_wait_signal_trap",
    "semaphore_wait_trap",
];

/// True if a function with this name waits.
pub(crate) fn is_idle(name: &str) -> bool {
    IDLE_FUNCTIONS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_once_and_are_whole() {
        let mut names = IDLE_FUNCTIONS.to_vec();
        names.dedup();
        assert_eq!(names.len(), IDLE_FUNCTIONS.len());
        assert!(is_idle("mach_msg2_trap") && !is_idle("mach_msg2_trap_internal"));
    }
}
