//! Determines what a thread was doing from its recorded state and the functions at the end of its stack.

use super::{Category, FunctionId, Profile, StackId};

/// The state that operations give to waiting samples without a state, if their new stack does not show that they wait.
pub(super) const WAITS: &str = "Waiting (by its functions)";

/// What a thread was doing at one moment, according to its recorded state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// On the CPU.
    Running,
    /// Ready to run, but not on a core.
    Queued,
    /// Waiting for something.
    Waiting,
    /// The state is unknown.
    Unknown,
}

impl Activity {
    /// The states of running threads. An interrupt borrows a thread's core, and the thread then continues.
    pub(crate) const RUNNING: [&str; 2] = ["Running", "Interrupted"];

    /// Returns the activity for a state name in recordings and reports.
    pub(crate) fn of_state(state: &str) -> Self {
        match state {
            "Running" | "Interrupted" => Self::Running,
            "Runnable" | "Preempted" | "Throttled" => Self::Queued,
            "Blocked" | "Waiting" | "Suspended" | "Idle" | "Uninterruptible" | "Stopped" | "Halted" | "Terminated"
            | WAITS => Self::Waiting,
            _ => Self::Unknown,
        }
    }
}

/// What a thread is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Wait {
    /// A mutex, a read-write lock or an unfair lock.
    Lock,
    /// A condition variable, a semaphore, a kernel queue, a signal or a descriptor.
    Event,
    /// A file or a socket.
    Io,
    /// A Mach message, such as the reply of another process.
    Message,
    /// A point in time.
    Sleep,
    /// Work: the thread belongs to a pool.
    IdleWorker,
    /// The next event of a run loop.
    RunLoop,
    /// The end of another thread.
    Join,
    /// The functions do not reveal it.
    Unknown,
}

impl Wait {
    /// Returns the name, which follows "waits for".
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lock => "a lock",
            Self::Event => "a signal or an event",
            Self::Io => "I/O",
            Self::Message => "a message",
            Self::Sleep => "the end of a sleep",
            Self::IdleWorker => "work",
            Self::RunLoop => "events of its run loop",
            Self::Join => "the end of a thread",
            Self::Unknown => "something unknown",
        }
    }
}

/// What a function reveals about a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nothing.
    Other,
    /// The last function in user space: a system call.
    Trap(Wait),
    /// A kernel function in which a thread is blocked.
    Blocked(Wait),
    /// An event below it means the end of a sleep.
    Sleep,
    /// A message below it means a run loop event.
    RunLoop,
    /// A message below it means a reply.
    Reply,
    /// A lock below it is not a lock, but this wait.
    NoLock(Wait),
}

/// The maximum number of functions between a system call and the code that reveals its purpose.
const NEAR: usize = 5;

/// The role of a function with this name.
fn role(name: &str) -> Role {
    use Role::{Blocked, NoLock, Reply, RunLoop, Sleep, Trap};
    match name {
        "__psynch_mutexwait"
        | "__psynch_rw_rdlock"
        | "__psynch_rw_wrlock"
        | "__psynch_rw_longrdlock"
        | "__psynch_rw_upgrade"
        | "__ulock_wait"
        | "__ulock_wait2" => Trap(Wait::Lock),
        "__psynch_cvwait"
        | "semaphore_wait_trap"
        | "semaphore_timedwait_trap"
        | "semaphore_wait_signal_trap"
        | "semaphore_timedwait_signal_trap"
        | "kevent"
        | "kevent64"
        | "kevent_id"
        | "kevent_qos"
        | "__select"
        | "__select_nocancel"
        | "select$DARWIN_EXTSN"
        | "__pselect"
        | "poll"
        | "__poll_nocancel"
        | "__sigsuspend"
        | "__sigwait"
        | "__accept"
        | "__accept_nocancel"
        | "__msgrcv"
        | "msgrcv"
        | "sem_wait"
        | "__sem_wait"
        | "__sem_wait_nocancel" => Trap(Wait::Event),
        "read"
        | "__read"
        | "__read_nocancel"
        | "readv"
        | "pread"
        | "__pread"
        | "__pread_nocancel"
        | "write"
        | "__write"
        | "__write_nocancel"
        | "writev"
        | "pwrite"
        | "__pwrite"
        | "__pwrite_nocancel"
        | "fsync"
        | "__fsync"
        | "__fsync_nocancel"
        | "__open"
        | "__open_nocancel"
        | "__openat"
        | "__fcntl"
        | "__fcntl_nocancel"
        | "stat64"
        | "lstat64"
        | "fstat64"
        | "stat"
        | "lstat"
        | "getattrlist"
        | "getattrlistbulk"
        | "__getdirentries64"
        | "__aio_suspend"
        | "__recvfrom"
        | "__recvfrom_nocancel"
        | "__recvmsg"
        | "__recvmsg_nocancel"
        | "recvfrom"
        | "recvmsg"
        | "__sendto"
        | "__sendto_nocancel"
        | "sendto"
        | "__sendmsg"
        | "__sendmsg_nocancel"
        | "sendmsg"
        | "__connect"
        | "__connect_nocancel"
        | "connect"
        | "close"
        | "__close"
        | "__close_nocancel"
        | "guarded_close_np"
        | "guarded_open_np"
        | "guarded_pwrite_np"
        | "guarded_write_np"
        | "flock"
        | "__ioctl"
        | "ioctl"
        | "rename"
        | "__rename"
        | "renameatx_np"
        | "unlink"
        | "__unlink"
        | "__unlinkat"
        | "iokit_user_client_trap"
        | "posix_spawn"
        | "__posix_spawn" => Trap(Wait::Io),
        "mach_msg_trap" | "mach_msg2_trap" | "mach_msg_overwrite_trap" => Trap(Wait::Message),
        "__workq_kernreturn" => Trap(Wait::IdleWorker),
        // Sleeps and old condition variables use the first two. Calls that yield the core, such as `swtch_pri`, are not listed, since the thread
        // could run.
        "__semwait_signal" | "__semwait_signal_nocancel" | "__wait4" | "__wait4_nocancel" | "waitid" | "__waitid" => {
            Trap(Wait::Unknown)
        }
        "psynch_mtxcontinue" | "psynch_rw_rdcontinue" | "psynch_rw_wrcontinue" | "ulock_wait_continue" => {
            Blocked(Wait::Lock)
        }
        "psynch_cvcontinue" | "kqueue_scan_continue" => Blocked(Wait::Event),
        "buf_biowait" => Blocked(Wait::Io),
        "ipc_mqueue_receive_continue" => Blocked(Wait::Message),
        "workq_unpark_continue" => Blocked(Wait::IdleWorker),
        // Semaphores also implement sleeps.
        "semaphore_wait_continue"
        | "machine_idle"
        | "thread_block_reason"
        | "thread_block"
        | "thread_block_parameter"
        | "machine_switch_context" => Blocked(Wait::Unknown),
        "sleep" | "usleep" | "nanosleep" | "thread_sleep" => Sleep,
        "__CFRunLoopServiceMachPort" => RunLoop,
        "xpc_connection_send_message_with_reply_sync"
        | "dispatch_mach_send_with_result_and_wait_for_reply"
        | "mach_msg_server" => Reply,
        "_pthread_join" | "pthread_join" => NoLock(Wait::Join),
        "_dispatch_wait_on_address" | "_dispatch_group_wait_slow" | "std::__1::__libcpp_atomic_wait" => {
            NoLock(Wait::Event)
        }
        _ => Role::Other,
    }
}

/// True for functions of the system call library that make no system call: they read a page that the kernel shares with all processes.
pub(crate) fn is_no_call(name: &str) -> bool {
    [
        "mach_absolute_time",
        "mach_approximate_time",
        "mach_continuous_time",
        "mach_continuous_approximate_time",
        "mach_get_times",
    ]
    .contains(&name)
}

/// True for names that app functions do not have: the C standard reserves names with two underscores for the system.
fn is_reserved(name: &str) -> bool {
    name.starts_with("__") || name.ends_with("_trap")
}

/// Determines waits from a profile's stacks, for samples without a known state, since a recorded state has precedence. In recordings of running
/// threads, a thread in one of these functions is on the CPU, entering or leaving the kernel.
pub(crate) struct Waits<'p> {
    profile: &'p Profile,
    /// Indexed by function.
    roles: Vec<Role>,
    categories: Vec<Category>,
}

impl<'p> Waits<'p> {
    pub(crate) fn new(profile: &'p Profile) -> Self {
        let categories = Category::of_functions(profile);
        let named = |id: FunctionId| match categories[id.index()] {
            // An app's function may have the same name as a system call.
            Category::User if !is_reserved(profile.function_name(id)) => Role::Other,
            _ => role(profile.function_name(id)),
        };
        Self { profile, roles: profile.function_ids().map(named).collect(), categories }
    }

    /// Returns what a thread with this stack waits for; `None` if its functions do not show that it waits.
    pub(crate) fn of(&self, stack: StackId) -> Option<Wait> {
        self.class(stack, false)
    }

    /// True if the leaf of a stack is a kernel function in which a thread is blocked.
    pub(crate) fn is_blocked(&self, stack: StackId) -> bool {
        let leaf = self.profile.frame(self.profile.stack(stack).frame).function;
        matches!(self.roles[leaf.index()], Role::Blocked(_))
    }

    /// Returns what a thread with this stack waits for; `None` if its functions do not reveal it. `waits` is true if the recorded state is
    /// waiting.
    pub(crate) fn class(&self, stack: StackId, waits: bool) -> Option<Wait> {
        let profile = self.profile;
        let functions = || profile.frames_leaf_first(Some(stack)).map(|frame| frame.function);
        let is_of_kernel = |id: &FunctionId| {
            self.categories[id.index()] == Category::Kernel || matches!(self.roles[id.index()], Role::Blocked(_))
        };
        let kernel = functions().next().filter(is_of_kernel);
        let user = functions().find(|id| !is_of_kernel(id)).map(|id| self.roles[id.index()]);
        let trap = match user {
            Some(Role::Trap(wait)) => Some(wait),
            _ => None,
        };
        let wait = match kernel.map(|id| (self.roles[id.index()], profile.function(id).is_named)) {
            None => trap?,
            Some((role, _)) if waits && !matches!(role, Role::Blocked(_)) => trap?,
            Some((Role::Blocked(wait), _)) => trap.unwrap_or(wait),
            // Reads and writes also take CPU time in the kernel, so only other calls prove that the thread waits.
            Some((_, false)) => trap.filter(|&wait| wait != Wait::Io)?,
            Some((_, true)) => return None,
        };
        let near = || functions().filter(|id| !is_of_kernel(id)).take(NEAR).map(|id| self.roles[id.index()]);
        let other = near().find_map(|role| if let Role::NoLock(wait) = role { Some(wait) } else { None });
        Some(match wait {
            Wait::Lock if other.is_some() => other?,
            Wait::Event | Wait::Unknown if near().any(|role| role == Role::Sleep) => Wait::Sleep,
            Wait::Message if near().any(|role| role == Role::RunLoop) && near().all(|role| role != Role::Reply) => {
                Wait::RunLoop
            }
            wait => wait,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Binary, BinaryId, FrameKey, ProfileBuilder};
    use crate::units::Address;

    /// The wait for a stack, root first. `App:` and `kernel:` name the binary; a function with an empty name is unnamed.
    fn wait(stack: &[&str]) -> Option<Wait> {
        let mut builder = ProfileBuilder::new();
        let binary = |builder: &mut ProfileBuilder, path: &str| -> Option<BinaryId> {
            let path = builder.string(path).ok()?;
            let (uuid, arch, load_address) = (None, None, Address::new(0x1000));
            builder.binary(Binary { name: path, uuid, arch, load_address, path }).ok()
        };
        let mut path = Vec::new();
        for (address, name) in (1..).zip(stack) {
            let (file, name) = match name.split_once(':') {
                Some(("App", name)) => ("/Users/u/App.app/App", name),
                Some(("kernel", name)) => ("/System/Library/Kernels/kernel", name),
                _ => ("/usr/lib/system/libsystem_kernel.dylib", *name),
            };
            let binary = binary(&mut builder, file);
            let text = builder.string(if name.is_empty() { "0x1234" } else { name }).unwrap();
            let function = builder.function(text, binary, !name.is_empty()).unwrap();
            let address = Address::new(address);
            let key = FrameKey { function, binary, address, source: None, is_inlined: false, group: 0 };
            path.push(builder.frame(key).unwrap());
        }
        let stack = builder.stack_path(None, path).unwrap().unwrap();
        Waits::new(&builder.finish()).of(stack)
    }

    #[test]
    fn a_thread_that_yields_does_not_wait() {
        for name in ["swtch_pri", "syscall_thread_switch", "mach_absolute_time"] {
            assert_eq!(wait(&["App:spin", name]), None, "{name}");
        }
        assert_eq!(wait(&["App:load", "__connect"]), Some(Wait::Io));
    }

    #[test]
    fn running_states_are_those_of_running_threads() {
        assert_eq!(Activity::RUNNING.map(Activity::of_state), [Activity::Running; 2]);
    }

    #[test]
    fn the_call_and_its_callers_tell_the_class() {
        assert_eq!(wait(&["App:main", "pthread_mutex_lock", "__psynch_mutexwait"]), Some(Wait::Lock));
        assert_eq!(wait(&["App:main", "usleep", "nanosleep", "__semwait_signal"]), Some(Wait::Sleep));
        assert_eq!(wait(&["App:main", "__semwait_signal"]), Some(Wait::Unknown));
        let run_loop = ["App:main", "__CFRunLoopServiceMachPort", "mach_msg", "mach_msg2_trap"];
        assert_eq!(wait(&run_loop), Some(Wait::RunLoop));
        let asks = ["__CFRunLoopServiceMachPort", "xpc_connection_send_message_with_reply_sync", "mach_msg2_trap"];
        assert_eq!(wait(&asks), Some(Wait::Message));
        let far = ["__CFRunLoopServiceMachPort", "a", "b", "c", "d", "mach_msg2_trap"];
        assert_eq!(wait(&far), Some(Wait::Message));
        assert_eq!(wait(&["App:main", "_pthread_join", "__ulock_wait"]), Some(Wait::Join));
        assert_eq!(wait(&["App:main", "App:read"]), None);
        assert_eq!(wait(&["App:main", "read"]), Some(Wait::Io));
        assert_eq!(wait(&["App:main", "read", "App:handler"]), None);
    }

    #[test]
    fn kernel_frames_hide_no_wait() {
        assert_eq!(wait(&["App:main", "__ulock_wait", "kernel:ulock_wait_continue"]), Some(Wait::Lock));
        let sleeps = ["usleep", "__semwait_signal", "kernel:semaphore_wait_continue"];
        assert_eq!(wait(&sleeps), Some(Wait::Sleep));
        let cond = ["__psynch_cvwait", "kernel:", "kernel:psynch_cvcontinue"];
        assert_eq!(wait(&cond), Some(Wait::Event));
        assert_eq!(wait(&["__psynch_cvwait", "kernel:", "kernel:"]), Some(Wait::Event));
        assert_eq!(wait(&["kernel:ipc_mqueue_receive_continue"]), Some(Wait::Message));
        // A read copies data in the kernel, and a named kernel function does other work.
        assert_eq!(wait(&["read", "kernel:"]), None);
        assert_eq!(wait(&["mach_msg2_trap", "kernel:vm_map_copyin"]), None);
        assert_eq!(wait(&["App:main", "kernel:vm_fault"]), None);
    }
}
