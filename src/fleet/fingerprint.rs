//! Fingerprints, which change whenever measuring a file again might give a different result.

use std::path::Path;

use crate::symbols::Found;
use blake3::{Hash, Hasher};

use super::extract::ReadingOptions;
use super::host::FleetHost;
use super::inputs::Task;

/// Hashes fields in order and with their lengths, so different lists have different hashes.
pub(super) struct Fields(Hasher);

impl Fields {
    pub(super) fn new(what: &str) -> Self {
        let mut fields = Self(Hasher::new());
        fields.text(what);
        fields
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    pub(super) fn labels(&mut self, labels: &[(String, String)]) {
        self.number(labels.len() as u64);
        for (key, value) in labels {
            self.text(key);
            self.text(value);
        }
    }

    pub(super) fn finish(self) -> Hash {
        self.0.finalize()
    }
}

/// The first half of a hash in hex, which suffices for any number of files and is short enough to type.
pub(crate) fn short(hash: Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// The version of the measurement, incremented whenever the numbers for unchanged files change.
const MEASURING: u64 = 3;

/// Hashes what determines the measurement of every file: options, symbol files, and this program's version.
pub(crate) fn of_settings(host: &dyn FleetHost, options: &ReadingOptions<'_>, symbols: &[Found]) -> Hash {
    of_settings_with(options, |fields| {
        let mut found: Vec<&Found> = symbols.iter().collect();
        found.sort_by(|a, b| (a.uuid, &a.path, &a.arch).cmp(&(b.uuid, &b.path, &b.arch)));
        fields.number(found.len() as u64);
        for found in found {
            fields.text(&found.uuid.to_string());
            fields.bytes(found.path.as_os_str().as_encoded_bytes());
            let (length, time) = length_and_time(host, &found.path);
            fields.number(length);
            fields.number(time);
        }
    })
}

/// Like [`of_settings`], but the same on every machine: symbols are identified by UUIDs and lengths, not by paths.
pub(crate) fn of_settings_anywhere(host: &dyn FleetHost, options: &ReadingOptions<'_>, symbols: &[Found]) -> Hash {
    of_settings_with(options, |fields| {
        let mut found: Vec<_> =
            symbols.iter().map(|found| (found.uuid.to_string(), length_and_time(host, &found.path).0)).collect();
        found.sort();
        fields.number(found.len() as u64);
        for (uuid, length) in found {
            fields.text(&uuid);
            fields.number(length);
        }
    })
}

fn of_settings_with(options: &ReadingOptions<'_>, symbols: impl FnOnce(&mut Fields)) -> Hash {
    let mut fields = Fields::new("settings");
    fields.text(env!("CARGO_PKG_VERSION"));
    fields.number(u64::from(crate::fleet::DatasetTable::VERSION));
    fields.number(MEASURING);
    fields.number(u64::from(options.read.allow_truncated));
    fields.number(u64::from(!options.with_inlines));
    let mut schemas: Vec<&str> = options.measure.schemas.iter().map(String::as_str).collect();
    schemas.sort_unstable();
    schemas.dedup();
    fields.number(schemas.len() as u64);
    schemas.into_iter().for_each(|schema| fields.text(schema));
    symbols(&mut fields);
    fields.text(&options.described.to_string());
    if !options.with_bundled_symbols {
        fields.text("no bundled symbols");
    }
    if options.measure.with_stacks {
        fields.text("stacks");
    }
    fields.finish()
}

/// The length and modification time (nanoseconds since 1970) of a file; zeros if unavailable.
fn length_and_time(host: &dyn FleetHost, path: &Path) -> (u64, u64) {
    let Some(state) = host.state(path) else { return (0, 0) };
    (state.length, state.modified.map_or(0, |time| time.as_nanos() as u64))
}

/// Hashes what determines the measurement of one file.
pub(crate) fn of_run(settings: Hash, content: Hash, [toc, intervals]: [Option<Hash>; 2], task: &Task) -> String {
    let mut fields = Fields::new("run");
    fields.bytes(settings.as_bytes());
    fields.bytes(content.as_bytes());
    fields.bytes(toc.as_ref().map_or(&[][..], |toc| toc.as_bytes()));
    fields.bytes(intervals.as_ref().map_or(&[][..], |intervals| intervals.as_bytes()));
    let mut labels = task.labels.clone();
    labels.sort();
    fields.labels(&labels);
    fields.number(task.run_weight.get());
    fields.number(task.duration.map_or(0, |duration| duration.as_nanos()));
    short(fields.finish())
}

/// The fingerprint of a named input that does not exist, such as a pattern without matches. No file has it.
pub(crate) fn of_missing(source: &str) -> String {
    let mut fields = Fields::new("missing");
    fields.text(source);
    short(fields.finish())
}

/// The fingerprint of a file with unknown content. No file that was read has it.
pub(crate) fn of_unread(source: &str) -> String {
    let mut fields = Fields::new("unread");
    fields.text(source);
    short(fields.finish())
}

/// The prefix of a file's run ids, described in [`identity`](super::identity). `toc` is the hash of the table of contents next to it.
pub(super) fn run_id(content: Hash, toc: Option<Hash>, task: &Task, has_samples: bool) -> String {
    let part = |hash: Hash| short(hash)[..16].to_owned();
    let labels = (!task.labels.is_empty()).then(|| {
        let mut labels = task.labels.clone();
        labels.sort();
        let mut fields = Fields::new("labels");
        fields.labels(&labels);
        part(fields.finish())
    });
    let path = (!has_samples).then(|| part(blake3::hash(task.display.as_bytes())));
    let parts = [Some(short(content)), toc.map(part), labels, path].map(Option::unwrap_or_default);
    parts.join(".").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Millionths, Nanos};

    fn task() -> Task {
        Task::new("a.xml".into(), "a.xml".to_owned())
    }

    #[test]
    fn changes_with_everything_that_decides_a_measure() {
        let (settings, content) = (blake3::hash(b"settings"), blake3::hash(b"content"));
        let label = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let prints = [
            of_run(settings, content, [None; 2], &task()),
            of_run(content, content, [None; 2], &task()),
            of_run(settings, settings, [None; 2], &task()),
            of_run(settings, content, [Some(content), None], &task()),
            of_run(settings, content, [None, Some(content)], &task()),
            of_run(settings, content, [None; 2], &Task { labels: label("ring", "beta"), ..task() }),
            of_run(settings, content, [None; 2], &Task { labels: label("rin", "gbeta"), ..task() }),
            of_run(settings, content, [None; 2], &Task { run_weight: Millionths::new(2), ..task() }),
            of_run(settings, content, [None; 2], &Task { duration: Some(Nanos::from_nanos(1)), ..task() }),
            of_unread("a.xml"),
            of_unread("b.xml"),
            of_missing("a.xml"),
        ];
        for (index, print) in prints.iter().enumerate() {
            assert_eq!(print.len(), 32);
            assert!(!prints[..index].contains(print), "{index}");
        }
        // The file's path does not matter.
        let moved = Task { path: "b.xml".into(), display: "b.xml".to_owned(), ..task() };
        assert_eq!(of_run(settings, content, [None; 2], &moved), prints[0]);
    }
}
