//! Reads reports of the macOS tool `sample`, and of Activity Monitor's "Sample Process": `Analysis of sampling …`.
//!
//! ```text
//! Analysis of sampling Orchard (pid 4150) every 1 millisecond
//! Process:         Orchard [4150]
//! …
//! Call graph:
//!     2891 Thread_357865   DispatchQueue_1: com.apple.main-thread  (serial)
//!     + 2891 start  (in dyld) + 6992  [0x1882b84e4]
//!     +   2890 ???  (in Orchard)  load address 0x102a50000 + 0x86d2c  [0x102ad6d2c]
//!     +   1 press  (in Orchard) + 10,20  [0x102a51000,0x102a5100a]
//!
//! Sort by top of stack, same collapsed (when >= 5):
//!         ???  (in Orchard)        2890
//!
//! Binary Images:
//!        0x102a50000 -        0x102dc719f +org.example.Orchard (0.4) <5B424D44-FED2-3361-8D75-41795DA0FEF6> /Applications/Orchard
//! ```
//!
//! `sample` captures all threads at every tick, running or waiting. A count is therefore [presence](crate::profile::Meaning::Presence), not
//! CPU time, and the report does not contain the times of samples.
//!
//! * The depth of a line is (the column of its number − 4) / 2; the marks before the number are decoration. A thread is left out if any of its
//!   lines has another column, or if its counts contradict each other.
//! * self = count − Σ callees. The report's own table of functions at the top of stacks must agree for each function.
//! * Callers are recorded with return addresses, and leaves with the sampled instruction. A line with callees is a caller, even if samples
//!   end in it.
//! * An address belongs to the image that contains it. Image names in the list are bundle names, so they are not used for matching.
//! * A line may represent several addresses of one function. The report does not split the samples among them, so the first address and its line
//!   represent all of them.
//!
//! An input may contain several reports, with other text before and after them. Each report is a document with one run.

mod graph;
mod record;
mod report;

use std::io::Read;

use super::lines::{LineStart, Lines};
use crate::error::{Error, ErrorKind};
use crate::recording::RecordingBuilder;
use report::{Report, START};

/// Reads an input with all its reports into a recording. `name` identifies the input in results and errors.
///
/// # Errors
/// If there is no report, a call graph is damaged, or the input exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let options = recording.options.clone();
    let mut lines = Lines::new(source, name, &options);
    let mut found = 0;
    let mut start = lines.skip_to(START)?;
    while let Some(line) = start {
        found += 1;
        if found > options.limits.tables {
            let text = format!("the input has more than {} reports", options.limits.tables);
            return Err(lines.error(ErrorKind::Limit(text), line.at));
        }
        let (report, next) = Report::read(&line, &mut lines)?;
        record::add(&report, &lines, recording)?;
        start = next;
    }
    if found == 0 {
        return Err(lines.error(ErrorKind::NotAnExport(NO_REPORT.to_owned()), LineStart::FIRST));
    }
    Ok(())
}

/// The message for a call graph that was cut out of a report.
const NO_REPORT: &str = "this looks like the call graph of a `sample` report, without its first line (Analysis of sampling …), which names \
                         the process; pass the complete report";
