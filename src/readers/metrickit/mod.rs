//! Reads MetricKit diagnostics (hangs, CPU exceptions, disk writes, launches, crashes and memory exceptions) in payloads of iOS 14 to 26 and
//! macOS 12 to 26, and in reports of iOS 27 and macOS 27.
//!
//! ```text
//! {"timeStampBegin": "2024-05-01 00:00:00 +0000", "timeStampEnd": …,
//!  "hangDiagnostics": [{
//!    "callStackTree": {"callStackPerThread": true, "callStacks": [{"threadAttributed": true, "callStackRootFrames": [
//!       {"binaryName": "dyld", "binaryUUID": "…", "address": 4295000000, "offsetIntoBinaryTextSegment": 4031, "sampleCount": 7,
//!        "subFrames": [{"binaryName": "App", …, "sampleCount": 4}]}]}]},
//!    "diagnosticMetaData": {"hangDuration": "9 sec", "appVersion": "3.1", "osVersion": "iPhone OS 17.5 (21F79)", …}}]}
//!
//! {"version": "2.0.0", "timeRange": {"begin": 810918462.24, …}, "environment": {"applicationVersion": "3.1", …},
//!  "hangDiagnostic": {"hangDuration": {"value": 9000, "unit": "ms"}, "callStackTree": {
//!    "callStackPerThread": true, "binaryInfo": [{"uuid": "…", "name": "dyld"}, …], "callStackThreads": [{"rootFrames": […]}]}}}
//! ```
//!
//! Collectors split payloads into single diagnostics or trees, join them in arrays or one per line, and wrap them in the key `payload`. All of
//! these can be read, as can files from App Store Connect ([`app_store_connect`]). Each diagnostic is a document with one run and one table. The
//! number of the run is its position in the input.
//!
//! * **Counts** are samples through a frame; self = count − Σ callees. The file does not contain the time that a sample represents. Hangs and
//!   launches are [presence](crate::profile::Meaning::Presence), CPU exceptions are CPU samples, and samples of disk writes represent bytes. In a
//!   crash or memory exception, a thread has one stack, which counts as one sample; the count in the file is ignored.
//! * **Order**: sampled trees begin with the outermost frame and branch; stacks of crashes and memory exceptions begin with the innermost
//!   frame and do not branch. `callStackPerThread` does not indicate the order. If the kind of a tree is unknown, its order is inferred from a
//!   branch, or from the functions in which threads start; otherwise the tree is rejected.
//! * **Offsets** are the load address of the binary up to iOS 15, and the offset in the binary since then. In sampled trees since iOS 16, offsets
//!   of callers are one less than the return address: `address − offset` is a multiple of the page size plus 1.
//! * **Addresses** of frames are offsets in their binary, whose load address is 0, so the same code has the same address for all users.
//! * A frame without a UUID and offset is code outside of all binaries, and keeps its address.
//!
//! Swift's asynchronous frames have odd addresses, which are looked up like others.

mod app_code;
mod app_store_connect;
mod diagnostic;
mod document;
mod locales;
mod metrics;
mod quantity;
mod record;
mod stop;

use std::io::Read;

use super::json::Json;
use crate::error::{Diagnostic, Error, Position};
use crate::recording::RecordingBuilder;
use crate::settings::for_command;
use document::Documents;
use quantity::Unread;

const NO_STACKS: &str = "these are MetricKit metrics, which have no stacks";
const OF_FLEETS: &str = "; `traceparse fleet report` shows metrics of whole days";

/// Reads an input with all its diagnostics into a recording. `name` identifies the input in results and errors.
///
/// # Errors
/// If there is no diagnostic, a document is damaged, or the input exceeds a limit. Only memory limits the number of diagnostics. Do not use the
/// builder after an error.
pub(crate) fn read_into<R: Read>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    let options = recording.options.clone();
    let mut json = Json::new(source, name, &options);
    let mut documents = Documents::new(&options);
    // Every diagnostic counts, so positions do not depend on which ones are readable.
    let (mut found, mut days, mut position) = (0_u64, 0_u64, 0_u32);
    let mut unread = [None, None];
    let mut note = |problem: Unread, at: Position| {
        let known = &mut unread[usize::from(problem.is_ambiguous())];
        known.get_or_insert_with(|| Diagnostic { at: Some(at), message: problem.reason(), count: 0 }).count += 1;
    };
    loop {
        for diagnostic in documents.read(&mut json)? {
            (found, position) = (found + 1, position.saturating_add(1));
            record::add(&diagnostic, position, name, recording)?
                .into_iter()
                .for_each(|problem| note(problem, json.place()));
        }
        for day in documents.days() {
            position = position.saturating_add(1);
            if !options.metrics {
                continue;
            }
            let of_day = record::add_day(&day, position, name, recording)?;
            days += u64::from(of_day.is_some());
            of_day.into_iter().flatten().for_each(|problem| note(problem, json.place()));
        }
        for leaves in documents.percentiles() {
            position = position.saturating_add(1);
            found += u64::from(app_store_connect::add_percentiles(&leaves, position, name, recording)?);
        }
        if !json.has_next()? {
            break;
        }
    }
    recording.end_input([], unread.into_iter().flatten().collect());
    match (found + days, documents.metrics() - days) {
        (0, 0) => Err(json.refused("this looks like MetricKit diagnostics, but has no call tree")),
        (0, _) => Err(json.refused(&format!("{NO_STACKS}{}", for_command(OF_FLEETS)))),
        (_, 0) => Ok(()),
        (_, count) => {
            let message = "MetricKit metrics, which have no stacks, are not read".to_owned();
            recording.end_input([], vec![Diagnostic { at: Some(json.place()), message, count }]);
            Ok(())
        }
    }
}
