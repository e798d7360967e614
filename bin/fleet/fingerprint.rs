//! Fingerprints: they tell whether measuring a file again could give something else.

use std::path::Path;
use std::time::UNIX_EPOCH;

use blake3::{Hash, Hasher};
use traceparse::fleet::FleetSelection;
use traceparse::symbols::Found;

use super::cli::ReadingArgs;
use super::task::Task;

/// Hashes fields one after the other; each says how long it is, so that no two lists of fields look alike.
struct Fields(Hasher);

impl Fields {
    fn new(what: &str) -> Self {
        let mut fields = Self(Hasher::new());
        fields.text(what);
        fields
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn finish(self) -> Hash {
        self.0.finalize()
    }
}

/// The first half of a hash, in hex: enough for any number of files, and short enough to be typed.
pub(super) fn short(hash: Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// The version of measuring, counted up with each change that gives other numbers for the same files: since 2, an estimate of the recorded
/// time goes to the end of the time that samples cover; since 3, idle threads have a row.
const MEASURING: u64 = 3;

/// Everything that decides what is measured of any file: options, symbol files, and the version of this program.
pub(super) fn of_settings(args: &ReadingArgs, selection: &FleetSelection, symbols: &[Found]) -> Hash {
    of_settings_with(args, selection, |fields| {
        let mut found: Vec<&Found> = symbols.iter().collect();
        found.sort_by(|a, b| (a.uuid, &a.path, &a.arch).cmp(&(b.uuid, &b.path, &b.arch)));
        fields.number(found.len() as u64);
        for found in found {
            fields.text(&found.uuid.to_string());
            fields.bytes(found.path.as_os_str().as_encoded_bytes());
            let (length, time) = length_and_time(&found.path);
            fields.number(length);
            fields.number(time);
        }
    })
}

/// The same on every machine: symbols count by their UUIDs and lengths, wherever they are.
pub(super) fn of_settings_anywhere(args: &ReadingArgs, selection: &FleetSelection, symbols: &[Found]) -> Hash {
    of_settings_with(args, selection, |fields| {
        let mut found: Vec<_> =
            symbols.iter().map(|found| (found.uuid.to_string(), length_and_time(&found.path).0)).collect();
        found.sort();
        fields.number(found.len() as u64);
        for (uuid, length) in found {
            fields.text(&uuid);
            fields.number(length);
        }
    })
}

fn of_settings_with(args: &ReadingArgs, selection: &FleetSelection, symbols: impl FnOnce(&mut Fields)) -> Hash {
    let mut fields = Fields::new("settings");
    fields.text(env!("CARGO_PKG_VERSION"));
    // What older datasets could not hold is measured again.
    fields.number(u64::from(traceparse::fleet::DatasetTable::VERSION));
    fields.number(MEASURING);
    fields.number(u64::from(args.allow_truncated));
    fields.number(u64::from(args.no_inlines));
    let mut schemas: Vec<&str> = args.schema.iter().map(String::as_str).collect();
    schemas.sort_unstable();
    schemas.dedup();
    fields.number(schemas.len() as u64);
    schemas.into_iter().for_each(|schema| fields.text(schema));
    symbols(&mut fields);
    fields.text(&selection.to_string());
    // Fingerprints of before stay as they are.
    if args.search.no_bundled_symbols {
        fields.text("no bundled symbols");
    }
    fields.finish()
}

/// Length and time of change (nanoseconds since 1970) of a file; zeros where they cannot be had.
fn length_and_time(path: &Path) -> (u64, u64) {
    let Ok(metadata) = std::fs::metadata(path) else { return (0, 0) };
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), time.map_or(0, |time| time.as_nanos() as u64))
}

/// Everything that decides what is measured of one file.
pub(super) fn of_run(settings: Hash, content: Hash, [toc, intervals]: [Option<Hash>; 2], task: &Task) -> String {
    let mut fields = Fields::new("run");
    fields.bytes(settings.as_bytes());
    fields.bytes(content.as_bytes());
    fields.bytes(toc.as_ref().map_or(&[][..], |toc| toc.as_bytes()));
    fields.bytes(intervals.as_ref().map_or(&[][..], |intervals| intervals.as_bytes()));
    let mut labels = task.labels.clone();
    labels.sort();
    fields.number(labels.len() as u64);
    for (key, value) in &labels {
        fields.text(key);
        fields.text(value);
    }
    fields.number(task.run_weight.get());
    fields.number(task.duration.map_or(0, |duration| duration.as_nanos()));
    short(fields.finish())
}

/// Of an input that was named and cannot be found, such as a pattern without a match; no file has this one.
pub(super) fn of_missing(source: &str) -> String {
    let mut fields = Fields::new("missing");
    fields.text(source);
    short(fields.finish())
}

/// Of a file whose content nobody knows; no file that was read has this one.
pub(super) fn of_unread(source: &str) -> String {
    let mut fields = Fields::new("unread");
    fields.text(source);
    short(fields.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceparse::units::{Millionths, Nanos};

    fn task() -> Task {
        Task {
            path: "a.xml".into(),
            display: "a.xml".to_owned(),
            toc: None,
            intervals: None,
            intervals_beside: None,
            labels: Vec::new(),
            run_weight: Millionths::ONE,
            duration: None,
            is_described: false,
            folder: None,
        }
    }

    #[test]
    fn whatever_decides_a_measure_changes_its_fingerprint() {
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
        // Where a file is decides nothing.
        let moved = Task { path: "b.xml".into(), display: "b.xml".to_owned(), ..task() };
        assert_eq!(of_run(settings, content, [None; 2], &moved), prints[0]);
    }
}
