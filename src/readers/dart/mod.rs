//! Reads CPU profiles of the Dart VM: `CpuSamples` of its service protocol, and `_CpuProfileTimeline` of Dart DevTools.
//!
//! ```text
//! {"type": "CpuSamples", "samplePeriod": 1000, "sampleCount": 2, "timeOriginMicros": 1000000, "pid": 4242,
//!  "functions": [
//!    {"kind": "Dart", "inclusiveTicks": 2, "exclusiveTicks": 0, "resolvedUrl": "package:app/main.dart",
//!     "function": {"type": "@Function", "name": "main", "owner": {"type": "@Library", …}, "location": {"line": 4, …}}}, …],
//!  "samples": [{"tid": 771, "timestamp": 1001012, "stack": [1, 0], "vmTag": "Dart", "userTag": "Default"}, …]}
//!
//! {"type": "_CpuProfileTimeline", "sampleCount": 1, "timeOriginMicros": 0, …
//!  "stackFrames": {"140-1": {"name": "main", "parent": "cpuProfileRoot", "packageUri": "package:app/main.dart", "sourceLine": 4}, …},
//!  "traceEvents": [{"ph": "P", "pid": 4242, "tid": 771, "ts": 50, "args": {"userTag": "Default"}, "sf": "140-1"}]}
//! ```
//!
//! The objects may be the `result` of an answer of the protocol, or in the part `cpu-profiler` of a snapshot of DevTools. Each is a document with
//! one run and one table.
//!
//! * **Weight**: a sample counts as 1. The file does not contain the CPU time of a sample: `samplePeriod` is the requested period, and the real
//!   gaps are longer. A gap may be of any length while a thread waits, so an estimate by gaps would make an idle thread look busy.
//! * **Time** is relative to `timeOriginMicros`. Threads have numbers and no names.
//! * **Stacks** are indices of functions from the leaf to the root, or the identifier of the leaf, whose `parent` is its caller. A stack of
//!   which the VM kept only the innermost frames (`truncated`) has the root `<truncated backtrace>`.
//! * **Names** of functions begin with the names of the class and the functions that contain them: `Parser.parse.<anonymous closure>`.
//! * **Binaries** are packages (`package:app`, `dart:core`) or source files; code of the VM itself belongs to `Dart VM`.
//! * Functions of the kind `Tag` are labels and not frames.
//! * A row that refers to a missing frame is rejected, since DevTools writes such rows. An index without a function is damage.
//!
//! Allocation traces have the same type, with an object in each sample. They are refused, since they do not measure CPU use.

mod document;
mod function;
mod record;

use std::io::Read;

use super::json::Json;
use crate::error::Error;
use crate::recording::RecordingBuilder;
use document::Documents;

/// Reads an input with all its profiles into a recording. `name` is how results and errors call it.
///
/// # Errors
/// If there is no CPU profile, if a document is damaged, or if the input exceeds a limit. The builder cannot be used after that.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let options = recording.options.clone();
    let mut json = Json::new(source, name, &options);
    let mut documents = Documents::new(&options);
    let mut found = 0;
    loop {
        for profile in documents.read(&mut json)? {
            found += 1;
            record::add(&profile, found, name, recording)?;
        }
        if !json.has_next()? {
            break;
        }
    }
    if found == 0 {
        return Err(json.refused(NO_PROFILE));
    }
    Ok(())
}

const NO_PROFILE: &str =
    "this is a file of Dart without a CPU profile; export one from the CPU profiler of Dart DevTools";
