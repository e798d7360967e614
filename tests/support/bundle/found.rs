//! The library's reading of a recording, row by row, in plain comparable values.

use traceparse::profile::{Frame, Profile, SampleKind};
use traceparse::units::Unit;

use super::expected::ExpectedImage;

/// A sample.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundRow {
    pub run: u32,
    pub schema: String,
    pub time_ns: u64,
    pub tid: Option<u64>,
    pub thread_name: String,
    pub pid: Option<u64>,
    pub process_name: String,
    pub core: Option<u32>,
    pub state: Option<String>,
    pub weight: u64,
    pub unit: Unit,
    pub kind: SampleKind,
    pub counters: Vec<u64>,
    /// Leaf first; `None` if there is no stack.
    pub stack: Option<Vec<FoundFrame>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoundFrame {
    /// As recorded, with pointer authentication bits.
    pub address: u64,
    pub lookup_address: u64,
    pub image: Option<ExpectedImage>,
    pub binary_name: String,
    /// The name of its function; `None` if it is an address.
    pub name: Option<String>,
    pub line: Option<u32>,
}

/// All samples, in the order of the input.
pub fn found_rows(profile: &Profile) -> Vec<FoundRow> {
    (0..profile.samples().len()).map(|index| row(profile, index)).collect()
}

fn row(profile: &Profile, index: usize) -> FoundRow {
    let sample = &profile.samples()[index];
    let (thread, series) = (profile.thread(sample.thread), profile.series(sample.series));
    let process = profile.process(thread.process);
    let text = |id| profile.string(id).to_owned();
    FoundRow {
        run: profile.run(process.run).number,
        schema: text(series.schema),
        time_ns: sample.time.as_nanos(),
        tid: thread.tid,
        thread_name: text(thread.name),
        pid: process.pid,
        process_name: text(process.name),
        core: sample.core.map(|core| profile.core(core).index),
        state: sample.state.map(text),
        weight: sample.weight,
        unit: series.unit,
        kind: sample.kind,
        counters: profile.counters(index).to_vec(),
        stack: sample.stack.map(|_| profile.frames_leaf_first(sample.stack).map(|one| frame(profile, one)).collect()),
    }
}

/// A frame with all data about its binary.
pub fn frame(profile: &Profile, frame: &Frame) -> FoundFrame {
    let text = |id| profile.string(id).to_owned();
    let binary = frame.binary.map(|id| profile.binary(id));
    let function = profile.function(frame.function);
    FoundFrame {
        address: frame.address.get(),
        lookup_address: frame.lookup_address.get(),
        image: binary.map(|binary| ExpectedImage {
            uuid: binary.uuid.map(|uuid| uuid.to_string()).unwrap_or_default(),
            load_address: binary.load_address.get(),
            path: text(binary.path),
            arch: binary.arch.map(text).unwrap_or_default(),
        }),
        binary_name: binary.map(|binary| text(binary.name)).unwrap_or_default(),
        name: function.is_named.then(|| text(function.name)),
        line: frame.source.map(|source| source.line),
    }
}
