//! What all reports of a crash share as a recording: their table, and the names of threads.
//!
//! Each thread has one stack, which counts as one sample. The first frame of a thread is the instruction that it was at, and its callers are return
//! addresses. Addresses of frames are offsets in their binary, whose load address is 0, so the same code has the same address for all users.

/// The schema of the table.
pub(super) const CRASH_TABLE: &str = "crash-diagnostic";

/// The name of a thread that the report may hold responsible, such as `Thread 3, attributed`. Reports identify threads only by their position.
pub(super) fn thread_name(name: String, is_attributed: bool) -> String {
    if is_attributed { name + ", attributed" } else { name }
}
