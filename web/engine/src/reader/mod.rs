//! Reads a recording that was dropped onto the page, with the symbols that were dropped with it, like the command does.
//!
//! ```text
//! dropped files ─► files (a file system) ─► choice (recordings, symbols, others) ─► recording ─► payload, sentences
//!                                                                                 ─► pair (of two) ─► both, facts, sentences
//!                                                                                 ─► sum (of reports) ─► payload, sentences
//! ```

mod choice;
mod cpu_tables;
mod files;
#[cfg(target_family = "wasm")]
pub(crate) mod host;
mod pair;
mod recording;
mod sum;

use serde::{Deserialize, Serialize};
use traceparse::Error;
use traceparse::memory::MemoryBudget;
use traceparse::recording::{Options, SampleDetail};
#[cfg(target_family = "wasm")]
use traceparse::settings::Program;

use crate::wire::{Refused, U8s};
use files::{Dropped, DroppedFiles, Source};

/// The request: the dropped files, and options.
#[derive(Debug, Deserialize)]
struct Request {
    files: Vec<Dropped>,
    /// The memory limit in bytes.
    #[serde(default = "default_memory")]
    memory: u64,
    /// True if the later one of two recordings is the first.
    #[serde(default)]
    is_swapped: bool,
    /// True to leave out the times of samples, since there was not enough memory for them.
    #[serde(default)]
    sums: bool,
}

/// Far below the 4 GiB that a module can address, since the budget does not count everything.
fn default_memory() -> u64 {
    1_500_000_000
}

/// A recording that was read, or two.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Reading {
    /// The uncompressed payload of the only or second recording, which [`open`](crate::open) reads.
    payload: U8s,
    /// For two recordings: the payload of the first, and the facts about both. The first note names their order.
    before: Option<U8s>,
    facts: Option<String>,
    /// The path of the recording.
    title: String,
    notes: Vec<String>,
    warnings: Vec<String>,
    /// Sentences about dropped files that are neither a part of the recording nor symbols.
    unmatched: Vec<String>,
    /// Why other dropped files could not be read.
    refused: Vec<String>,
}

/// Reads the recording among the dropped files, or two.
pub(crate) fn read(request: &[u8], source: impl Source) -> Result<Reading, Refused> {
    let request: Request = serde_json::from_slice(request)
        .map_err(|error| Refused(format!("the list of dropped files cannot be read: {error}")))?;
    let memory = MemoryBudget::new(request.memory);
    let files = DroppedFiles::new(&request.files, source).map_err(Refused)?;
    let samples = if request.sums { SampleDetail::Summed } else { SampleDetail::Each };
    let options = Options { memory, samples, ..Options::default() };
    let mut reading =
        recording::read(&files, &options, request.is_swapped).map_err(|error| Refused(sentence(&error)))?;
    reading.refused.splice(..0, files.refused);
    Ok(reading)
}

/// An error with its causes.
fn sentence(error: &Error) -> String {
    format!("{error:?}")
}

/// From now on, sentences name what a user of the page can do: drop symbols, or use the command.
#[cfg(target_family = "wasm")]
pub(crate) fn name_settings() {
    Program {
        command: None,
        write: |setting, f| match setting.name {
            "dsym" | "symbols" => f.write_str("a drop onto this page"),
            "state" => f.write_str("the filter of states:"),
            "allow-truncated" => f.write_str("it to the command with --allow-truncated"),
            name => write!(f, "the command's option --{name}"),
        },
    }
    .install();
}

#[cfg(test)]
mod tests {
    use super::files::tests::InMemory;
    use super::*;
    use crate::open::Opened;

    const EXPORT: &str = include_str!("../../../../fixtures/27/cpu-profile/input.xml");

    fn reading(memory: u64) -> Result<Reading, Refused> {
        let size = EXPORT.len();
        let files = format!(r#"{{"path": "a.xml", "size": {size}}}, {{"path": "b", "size": 1, "modified": 2}}"#);
        let request = format!(r#"{{"files": [{files}], "memory": {memory}}}"#);
        read(request.as_bytes(), InMemory::new(vec![EXPORT.into(), b"?".into()]))
    }

    #[test]
    fn reads_a_recording_that_can_be_opened() {
        let Reading { payload, title, notes, warnings, unmatched, .. } = reading(default_memory()).unwrap();
        assert_eq!((title.as_str(), &notes[..], &warnings[..]), ("a.xml", &[][..], &[][..]));
        assert_eq!(unmatched, ["b: not a symbol file"]);
        assert!(Opened::new(&payload.0, b"", b"").is_ok());
    }

    #[test]
    fn compares_two_recordings() {
        let size = EXPORT.len();
        let files = ["b.xml", "a.xml"].map(|path| format!(r#"{{"path": "{path}", "size": {size}}}"#)).join(", ");
        let compared = |is_swapped: bool| {
            let request = format!(r#"{{"files": [{files}], "is_swapped": {is_swapped}}}"#);
            read(request.as_bytes(), InMemory::new(vec![EXPORT.into(), EXPORT.into()])).unwrap()
        };
        let Reading { payload, before, facts, notes, title, .. } = compared(false);
        assert_eq!(
            (title.as_str(), &notes[..]),
            ("a.xml → b.xml", &["Before: a.xml; after: b.xml (by name).".to_owned()][..])
        );
        assert!(Opened::new(&payload.0, &before.unwrap().0, facts.unwrap().as_bytes()).is_ok());
        assert_eq!(compared(true).notes, ["Before: b.xml; after: a.xml (swapped)."]);
    }

    #[test]
    fn sums_several_reports() {
        const HANG: &str = include_str!("../../../../tests/fuzz/corpus/metrickit/payload");
        let later = HANG.replace("9 sec", "7 sec");
        let read_all = |reports: &[&str]| {
            let file =
                |(number, report): (usize, &&str)| format!(r#"{{"path": "{number}.json", "size": {}}}"#, report.len());
            let files: Vec<String> = reports.iter().enumerate().map(file).collect();
            let request = format!(r#"{{"files": [{}]}}"#, files.join(", "));
            read(request.as_bytes(), InMemory::new(reports.iter().map(|&report| report.into()).collect()))
        };
        let Reading { payload, title, refused, .. } = read_all(&[HANG, &later, HANG, "<trace-query-result>"]).unwrap();
        assert_eq!((title.as_str(), refused.len()), ("2 reports", 2), "{refused:?}");
        assert!(refused[0].contains("2.json: a copy"), "{refused:?}");
        assert!(Opened::new(&payload.0, b"", b"").is_ok());
        let Refused(several) = read_all(&[HANG, EXPORT, EXPORT]).err().unwrap();
        assert!(several.contains("3 recordings were dropped: 0.json, 1.json, 2.json; drop one"), "{several}");
    }

    #[test]
    fn leaves_out_times_on_request() {
        let size = EXPORT.len();
        for names in [&["a.xml"][..], &["a.xml", "b.xml"]] {
            let files = names.iter().map(|path| format!(r#"{{"path": "{path}", "size": {size}}}"#));
            let request = format!(r#"{{"files": [{}], "sums": true}}"#, files.collect::<Vec<_>>().join(", "));
            let exports = vec![EXPORT.into(); names.len()];
            let Reading { notes, .. } = read(request.as_bytes(), InMemory::new(exports)).unwrap();
            let note = "too large to keep each sample in memory: times are left out";
            assert_eq!((notes.last().map(String::as_str), notes.len()), (Some(note), names.len()));
        }
    }

    #[test]
    fn refuses_with_a_sentence() {
        assert!(reading(1).is_err_and(|Refused(sentence)| sentence.contains("more memory is needed")));
        let refused = read(b"[]", InMemory::default());
        assert!(refused.is_err_and(|Refused(sentence)| sentence.contains("list of dropped files")));
    }
}
