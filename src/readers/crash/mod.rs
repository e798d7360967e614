//! Reads crash reports of Apple's systems: `.ips` files of the bug types 109 and 309, and `.crash` files, which contain text.
//!
//! ```text
//! {"app_name":"App","bug_type":"309","os_version":"iPhone OS 17.5 (21F79)","timestamp":"2026-04-19 10:30:00.0000 -0700",…}
//! {"procName":"App","exception":{"type":"EXC_BAD_ACCESS","signal":"SIGSEGV",…},"faultingThread":0,
//!  "threads":[{"triggered":true,"frames":[{"imageOffset":100,"imageIndex":0},…]},…],
//!  "usedImages":[{"base":4294967296,"size":1048576,"uuid":"…","arch":"arm64","name":"App","path":"/…/App.app/App"},…]}
//!
//! Process:         App [1]
//! Exception Type:  EXC_CRASH (SIGABRT)
//! Thread 0 Crashed:
//! 0   libsystem_kernel.dylib  0x000000023dddf1d0 __pthread_kill + 8
//! 1   App                     0x0000000104130e78 0x104000000 + 1248888
//!
//! Binary Images:
//! 0x104000000 - 0x1057affff App arm64  <…> /…/App.app/App
//! ```
//!
//! * Each thread has one stack, which counts as one sample ([`stop`](super::stop)). An uncaught exception has another stack, and the crash is
//!   attributed to it: the stack of the thread may only show where the exception was not caught.
//! * The first frame of a thread is an exact address. All others, and all addresses of the exception, are return addresses.
//! * In `.ips`, frames with `inline` are inlined into the next one. In text, the next frame has the same address, and the frame
//!   has no offset or another name.
//! * In text, the image of a frame is found by the address. An image that is not listed has only its name.
//! * A truncated text is read as far as it goes. A truncated JSON document is rejected.

mod frame_line;
mod json;
mod record;
mod report;
mod text;

use std::io::Read;

pub(crate) use frame_line::FrameLine;
pub(crate) use json::{FrameObject, NAMED};
use report::{Form, Report};
pub(crate) use report::{Frame, Stack};

use super::formats::{self, Reader};
use super::lines::Encoding;
use crate::error::{Error, ErrorKind, Position};
use crate::recording::{FrameKind, Options, RecordingBuilder, TocRun};

/// The maximum size of a report in bytes. Real reports have less than 1 MB.
const LARGEST: u64 = 64 << 20;

/// Reads a report into a recording. `name` identifies the input in results and errors.
///
/// # Errors
/// If the report has no stacks or is damaged, or the input exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let options = recording.options.clone();
    let bytes = options.memory.read_all(source, LARGEST).map_err(|error| Error::io(error, None))?;
    // The text is copied once.
    let _held = options.memory.reserve(2 * bytes.len() as u64).map_err(|over| Error::memory(over, None))?;
    record::add(&parse(&bytes, name, &options)?, name, recording)
}

/// A crash report with its text, which [`symbolicate`](Self::symbolicate) names.
#[derive(Debug)]
pub struct CrashReport {
    pub(crate) bytes: Vec<u8>,
    pub(crate) report: Report,
    pub(crate) options: Options,
}

impl CrashReport {
    /// The maximum size of a report in bytes. Real reports have less than 1 MB.
    pub const LARGEST: u64 = LARGEST;

    /// Parses a report. `name` identifies the input in errors.
    ///
    /// # Errors
    /// If the bytes are not a crash report, or a damaged one, or a limit is exceeded.
    pub fn parse(bytes: Vec<u8>, name: &str, options: &Options) -> Result<Self, Error> {
        let head = &bytes[..bytes.len().min(formats::HEAD)];
        if let Some(packed) = formats::packed(head) {
            return Err(refused(&packed, name));
        }
        if Reader::of(head) != Reader::Crash {
            let what = formats::what(head).map(|what| format!("this is {what}, and ")).unwrap_or_default();
            return Err(refused(&format!("{what}{NOT_A_REPORT}"), name));
        }
        let report = parse(&bytes, name, options)?;
        Ok(Self { bytes, report, options: options.clone() })
    }

    /// True for a report in JSON.
    pub fn is_json(&self) -> bool {
        self.report.form == Form::Ips
    }

    /// What could not be read, each with its place: `report.crash:12:345: the thread has a frame that cannot be read`.
    pub fn unread(&self) -> impl Iterator<Item = String> {
        self.report.unread().map(|(at, what)| format!("{at}: {what}"))
    }

    /// The device, the process, and what happened. `attributed` is the index of the responsible thread.
    pub(crate) fn facts(&self, attributed: Option<usize>) -> TocRun {
        record::facts(&self.report, attributed)
    }

    /// Adds a thread for each of these frames, with a stack of only this frame.
    pub(crate) fn add_frames(
        &self,
        frames: &[(&Frame, FrameKind)],
        recording: &mut RecordingBuilder,
    ) -> Result<(), Error> {
        record::add_frames(&self.report, frames, recording)
    }
}

const NOT_A_REPORT: &str = "only crash reports can be named: .ips files of the bug types 109 and 309, and .crash files";

fn refused(text: &str, name: &str) -> Error {
    let at = Position { input: name.to_owned(), line: 1, byte: 0 };
    Error::new(ErrorKind::NotAnExport(text.to_owned()), Some(at))
}

/// Parses a report.
fn parse(bytes: &[u8], name: &str, options: &Options) -> Result<Report, Error> {
    if !matches!(Encoding::of(bytes), (Encoding::Utf8, _)) {
        return Err(refused("this crash report is UTF-16; save it as UTF-8", name));
    }
    let report = match is_json(bytes) {
        true if str::from_utf8(bytes).is_ok() => json::read(bytes, name, options),
        // A name may have a byte that is not UTF-8.
        true => json::read(with_marks(bytes).as_bytes(), name, options),
        false => text::read(&with_marks(bytes), name, options),
    }?;
    if report.stacks().all(|stack| stack.frames.is_empty()) {
        return Err(refused(&record::without_stacks(&report), name));
    }
    Ok(report)
}

/// Decodes text. Each byte that is not UTF-8 becomes a question mark, so positions stay the same.
pub(crate) fn with_marks(bytes: &[u8]) -> String {
    let marks = |invalid: &[u8]| "?".repeat(invalid.len());
    bytes.utf8_chunks().flat_map(|chunk| [chunk.valid().to_owned(), marks(chunk.invalid())]).collect()
}

/// True for a report in JSON. Before iOS 15 and macOS 12, text follows the header of an `.ips` file.
fn is_json(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let after = start.iter().position(|&byte| byte == b'\n').map_or(&[][..], |end| start[end..].trim_ascii_start());
    start.starts_with(b"{") && !(start.starts_with(b"{\"") && after.first().is_some_and(u8::is_ascii_alphabetic))
}
