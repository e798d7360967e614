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
//! The objects may be the `result` of a protocol response, or the part `cpu-profiler` of a DevTools snapshot. Each is a document with one run and
//! one table.
//!
//! * **Weight**: each sample has weight 1. The file does not contain the CPU time of a sample: `samplePeriod` is the requested period, and the
//!   real gaps are longer. A waiting thread leaves gaps of any length, so weights derived from gaps would make an idle thread look busy.
//! * **Time** is relative to `timeOriginMicros`. Threads have numbers but no names.
//! * **Stacks** are indices of functions from the leaf to the root, or the identifier of the leaf, whose `parent` is its caller. If the VM kept
//!   only the innermost frames of a stack (`truncated`), its root is `<truncated backtrace>`.
//! * **Function names** are qualified with the class and the functions that contain them: `Parser.parse.<anonymous closure>`.
//! * **Binaries** are packages (`package:app`, `dart:core`) or source files; code of the VM itself belongs to `Dart VM`.
//! * Functions of the kind `Tag` are labels, not frames.
//! * A row that refers to a missing frame is rejected, since DevTools writes such rows. An index without a function means that the file is
//!   damaged.
//!
//! Allocation traces have the same type, with an object in each sample. They are rejected, since they do not measure CPU use.

mod document;
mod function;
mod record;

use std::io::Read;

use super::json::Json;
use crate::error::Error;
use crate::recording::RecordingBuilder;
use document::Documents;

/// Reads an input with all its profiles into a recording. `name` identifies the input in results and errors.
///
/// # Errors
/// If there is no CPU profile, a document is damaged, or the input exceeds a limit. Do not use the builder after an error.
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

const NO_PROFILE: &str = "this is a Dart file without a CPU profile; export one from the CPU profiler in Dart DevTools";
