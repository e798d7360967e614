//! Reads `spindump` reports and similar reports: hang reports, reports of CPU use, disk writes and wakeups, and microstackshots. A report may be the
//! text in an `.ips` file.
//!
//! ```text
//! Date/Time:        2022-10-29 16:19:34.990 -0700
//! OS Version:       macOS 13.0 (Build 22A380)
//! Report Version:   40
//! Data Source:      Stackshots
//! Event:            hang
//! Steps:            101 (10ms sampling interval)
//! …
//! Process:          Orchard [517]
//! Num samples:      101 (1-101)
//!
//!   Thread 0xeac    DispatchQueue "com.apple.main-thread"(1)    101 samples (1-101)    priority 31 (base 31)    cpu time <0.001s
//!   101  start + 2432 (dyld + 25360) [0x7ff806675310]
//!     101  ??? (Orchard + 25552) [0x10bd063d0]
//!      *60  ??? (kernel + 1376720) [0xffffff800042c1d0] (blocked by turnstile waiting for Press [518])
//!
//!   Binary Images:
//!            0x10bd00000 -        0x10c393fff  Orchard (3.1)       <072957A7-0B68-3113-BA22-38410EBBDB49>  /Applications/Orchard
//!    *0xffffff80002dc000 - 0xffffff8000cdbfff  kernel (8792.41.9)  <BF7C9676-EF23-3E8D-A2E2-25DAC63091B6>  /System/Library/Kernels/kernel
//! ```
//!
//! * The depth of a line is (the column of its number − 2) / 2; the `*` of kernel frames is in the column before the number.
//! * self = count − Σ callees. The outermost counts of a thread add up to its samples, which its first line repeats; the counts of a process
//!   in `Powerstats for:` add up to its `Num samples`. If they do not, the thread or process is left out and counted.
//! * The samples of a microstackshot report add up to its `Steps`, or each process lists its percentage of them.
//! * The offset in a binary is relative to an image in the list of the same process. An address beyond that image is unknown code.
//! * Callers are recorded with return addresses, and leaves with the sampled instruction.
//! * Notes in place of functions, such as `<User mode>`, belong to the function above them. Only `<truncated backtrace>` is kept, since it
//!   replaces callers that were not recorded.
//! * The thread state follows the address. Since Report Version 25, threads without a state are waiting. Older reports have no states.
//! * In reports sorted by time (`Timeline format`), lines end with their steps, whose number must equal the samples. Times are not read.
//!
//! Stackshots capture all threads at every step, running or waiting, so their counts are [presence](crate::profile::Meaning::Presence).
//! Microstackshots capture threads that use the CPU or write to storage. The CPU time in a report was measured separately, and is shown in
//! addition to the counts.

mod frame;
mod process;
mod record;
mod report;

use std::io::Read;

use super::lines::{LineStart, Lines};
use crate::error::{Error, ErrorKind};
use crate::recording::RecordingBuilder;

/// Reads an input with all its reports into a recording. `name` identifies the input in results and errors.
///
/// # Errors
/// If there is no report, a report is damaged, or the input exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let options = recording.options.clone();
    let mut lines = Lines::new(source, name, &options);
    let mut found = 0;
    let mut start = lines.skip_to(report::START)?;
    while let Some(line) = start {
        found += 1;
        if found > options.limits.tables {
            let text = format!("the input has more than {} reports", options.limits.tables);
            return Err(lines.error(ErrorKind::Limit(text), line.at));
        }
        start = record::add(&line, &mut lines, recording)?;
    }
    if found == 0 {
        return Err(lines.error(ErrorKind::NotAnExport(NO_REPORT.to_owned()), LineStart::FIRST));
    }
    Ok(())
}

/// The message for an `.ips` file whose first line announces a report that is missing.
const NO_REPORT: &str = "the first line announces a spindump, hang or resource report, but the report, which begins with Date/Time:, does not \
                         follow; pass the complete report";
