//! Reads reports that dotTrace's Reporter wrote about a sampled program (`Reporter.exe report`), with call stacks.
//!
//! ```text
//! <Report>
//!   <Function Id="0x02" FQN="Shop.Orders.Load" TotalTime="37.5" OwnTime="7.5" Samples="4" Instances="1">
//!     <Instance CallStack="Shop.Program.Main/Shop.Orders.Load" TotalTime="37.5" OwnTime="7.5" Samples="4" />
//!   </Function>
//! </Report>
//! ```
//!
//! * A pattern with `PrintCallstacks="Full"` adds an `Instance` for each node of the call tree. Its stack begins with the root, and its own
//!   time is the weight of this stack.
//! * The last name of a stack is that of the function. Stacks are split at slashes. If functions have slashes in their names, stacks that
//!   can be split in several ways are refused.
//! * The instances of a function have the own time of the function, except for rounding, and a callee's total is part of its caller's.
//! * The pattern selects functions. The own time of a function without instances is not in any stack; a diagnostic states it.
//! * Times are milliseconds with a decimal point, and perhaps commas between thousands.
//! * The report contains no threads, binaries or addresses. `Samples` of a node includes its callees, so the samples of a stack are unknown.
//!
//! dotTrace measures wall time or thread time, and the report does not say which. Weights are therefore elapsed time, and
//! [presence](crate::profile::Meaning::Presence). Reports of tracing (`Calls`), whose times include the cost of tracing, are refused.

mod function;
mod report;
mod stacks;

use std::io::Read;

use crate::error::{Diagnostic, Error, ErrorKind, Position};
use crate::memory::Reservation;
use crate::profile::Meaning;
use crate::recording::{RecordingBuilder, Table, TableKind, Toc, TocRun};
use report::Names;
use stacks::Stacks;

/// Reads a report into a recording. `name` is how results and errors call it.
///
/// # Errors
/// If it is not a report of sampling with call stacks, if it is damaged, or if it exceeds a limit. The builder cannot be used after that.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let mut held = recording.options.memory.nothing();
    let bytes = read_all(source, name, &mut held)?;
    let failed = |(at, kind): (usize, ErrorKind)| Error::new(kind, Some(position(&bytes, name, at)));
    let names = Names::read(&bytes).map_err(failed)?;
    let max_depth = recording.options.limits.stack_depth;
    let mut input = recording.input(name)?;
    let table = Table { run: 1, schema: Some("dottrace".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    input.start_sums(table, Meaning::Presence, name.to_owned());
    let mut stacks = Stacks::new(&names, max_depth, input).map_err(|full| failed((0, full)))?;
    report::read(&bytes, |function, at| stacks.take(function, at)).map_err(failed)?;
    let unplaced = stacks.check().map_err(failed)?;
    if let Some((at, message, count)) = unplaced {
        stacks.input.note(Diagnostic { at: Some(position(&bytes, name, at)), message, count });
    }
    stacks.input.note(Diagnostic { at: Some(position(&bytes, name, 0)), message: CLOCK.to_owned(), count: 1 });
    stacks.input.finish(Toc { runs: vec![TocRun { number: 1, ..TocRun::default() }] });
    Ok(())
}

const CLOCK: &str = "the report does not contain the clock that dotTrace used, so times may include waiting; it does not contain numbers of \
                     samples for each stack, so each stack is one sample";

/// Reads the input, after reserving memory for it.
fn read_all<R: Read>(mut source: R, name: &str, held: &mut Reservation) -> Result<Vec<u8>, Error> {
    const PIECE: u64 = 64 << 10;
    let mut bytes = Vec::new();
    loop {
        // Lists grow to twice their size, and there are as many bytes of names.
        let reserved = held.resize(4 * (bytes.len() as u64 + PIECE));
        reserved.map_err(|over| Error::memory(over, Some(position(&bytes, name, bytes.len()))))?;
        let read = source.by_ref().take(PIECE).read_to_end(&mut bytes);
        let read = read.map_err(|error| Error::io(error, Some(position(&bytes, name, bytes.len()))))?;
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// The place of a byte.
fn position(bytes: &[u8], name: &str, at: usize) -> Position {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
    Position { input: name.to_owned(), line, byte: before.len() as u64 }
}
