//! Reads reports with call stacks that dotTrace's Reporter wrote about a sampled program (`Reporter.exe report`).
//!
//! ```text
//! <Report>
//!   <Function Id="0x02" FQN="Shop.Orders.Load" TotalTime="37.5" OwnTime="7.5" Samples="4" Instances="1">
//!     <Instance CallStack="Shop.Program.Main/Shop.Orders.Load" TotalTime="37.5" OwnTime="7.5" Samples="4" />
//!   </Function>
//! </Report>
//! ```
//!
//! * With `PrintCallstacks="Full"`, a pattern adds an `Instance` for each node of the call tree. Its stack begins with the root, and its
//!   `OwnTime` is the weight of this stack.
//! * A stack ends with the name of the function. Stacks are split at slashes, which function names may contain as well; a stack that can be split
//!   in several ways is rejected. A diagnostic counts stacks with callers that are missing from the report, since their names may also contain
//!   slashes.
//! * The `OwnTime` of a function's instances adds up to that of the function, except for rounding, and a callee's total is part of its caller's.
//! * The pattern selects functions. If a function has no instances, its `OwnTime` is not in any stack; a diagnostic reports it.
//! * Times are milliseconds with a decimal point, and possibly commas between thousands.
//! * The report contains no threads, binaries or addresses. The `Samples` of a node include its callees, so the number of samples of a stack is
//!   unknown.
//!
//! dotTrace measures wall time or thread time, and the report does not record which. Weights are therefore elapsed time, and
//! [presence](crate::profile::Meaning::Presence). Tracing reports (`Calls`) are rejected, since their times include the overhead of tracing.

mod report;
mod stacks;

use std::io::Read;

use super::stack_sums::StackSums;
use super::xml::Document;
use crate::error::Error;
use crate::profile::Meaning;
use crate::recording::RecordingBuilder;
use report::{Fault, Names};
use stacks::Stacks;

/// Reads a report into a recording. `name` identifies it in results and errors.
///
/// # Errors
/// If it is not a sampling report with call stacks, it is damaged, or it exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let document = Document::read(source, name, &recording.options.memory)?;
    let failed = |(at, kind): Fault| Error::new(kind, Some(document.place(at)));
    let names = Names::read(&document.bytes).map_err(failed)?;
    let max_depth = recording.options.limits.stack_depth;
    let mut sums = StackSums::start(name, "dottrace", Meaning::Presence, recording)?;
    let mut stacks = Stacks::new(&names, max_depth, &mut sums);
    report::read(&document.bytes, |element, at| stacks.take(element, at)).map_err(failed)?;
    let uncertain = stacks.check().map_err(failed)?;
    sums.note(document.place(0), CLOCK, 1);
    for (at, message, count) in uncertain {
        sums.note(document.place(at), message, count);
    }
    sums.finish();
    Ok(())
}

const CLOCK: &str = "the report does not contain the clock that dotTrace used, so times may include waiting; it does not contain numbers of \
                     samples for each stack, so each stack counts as one";
