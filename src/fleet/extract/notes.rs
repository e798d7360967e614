//! Notes of many files: the same sentence about a thousand files is one note.

use std::collections::BTreeMap;

use crate::fleet::{FailedInput, FailureKind};

use crate::units::counted;

/// Sentences, and which files they are about.
#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<String, About>);

#[derive(Debug)]
struct About {
    /// The position of the first file.
    index: usize,
    name: String,
    files: u64,
}

impl Notes {
    /// Adds the notes on a file.
    pub(crate) fn add(&mut self, index: usize, name: &str, sentences: Vec<String>) {
        for sentence in sentences {
            let new = || About { index, name: name.to_owned(), files: 0 };
            let about = self.0.entry(sentence).or_insert_with(new);
            about.files += 1;
            if index < about.index {
                (about.index, about.name) = (index, name.to_owned());
            }
        }
    }

    /// One line for each sentence, in the order of the first files.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut notes: Vec<(&String, &About)> = self.0.iter().collect();
        notes.sort_by_key(|(sentence, about)| (about.index, *sentence));
        let line = |(sentence, about): (&String, &About)| match about.files {
            0 | 1 => format!("{}: {sentence}", about.name),
            files => format!("{} and {} more: {sentence}", about.name, files - 1),
        };
        notes.into_iter().map(line).collect()
    }
}

/// Failures of one kind up to this many are named one by one.
const NAMED_FAILURES: usize = 3;

/// A sentence for each failure, by path; one for all of a kind that many have.
pub(crate) fn of_failures<'f>(failures: impl Iterator<Item = &'f FailedInput>) -> Vec<String> {
    let mut failures: Vec<&FailedInput> = failures.collect();
    failures.sort_by(|a, b| a.source.cmp(&b.source));
    let of_kind = |kind: FailureKind| failures.iter().filter(move |failed| failed.kind == kind);
    let is_common = |kind: FailureKind| of_kind(kind).count() > NAMED_FAILURES;
    let rare = failures.iter().filter(|failed| !is_common(failed.kind));
    let mut sentences: Vec<String> = rare.map(|failed| format!("{}: {}", failed.source, failed.reason)).collect();
    for kind in FailureKind::ALL.into_iter().filter(|&kind| is_common(kind)) {
        if let Some(first) = of_kind(kind).next() {
            let (count, what) = (counted(of_kind(kind).count()), what_they_are(kind));
            sentences.push(format!("{count} files {what}, such as {}: {}", first.source, first.reason));
        }
    }
    sentences
}

const fn what_they_are(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreadable => "cannot be read",
        FailureKind::Empty => "are empty",
        FailureKind::NotAnExport => "are no exports",
        FailureKind::Truncated => "are cut",
        FailureKind::Malformed => "are malformed",
        FailureKind::NoSamples => "have no samples",
        FailureKind::NotSelected => "have nothing of the selection",
        FailureKind::Duplicate => "have the content of another",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_kind_that_many_have_are_one_sentence() {
        let failed = |source: &str, kind| FailedInput {
            source: source.to_owned(),
            source_bytes: 0,
            run_id: None,
            fingerprint: String::new(),
            kind,
            reason: format!("why {source}"),
            labels: Vec::new(),
        };
        let mut failures: Vec<FailedInput> =
            ["d", "c", "b", "a"].iter().map(|source| failed(source, FailureKind::NotAnExport)).collect();
        failures.push(failed("e", FailureKind::Empty));
        assert_eq!(of_failures(failures.iter()), ["e: why e", "4 files are no exports, such as a: why a"]);
        assert_eq!(of_failures(failures[2..].iter()), ["a: why a", "b: why b", "e: why e"]);
    }

    #[test]
    fn one_sentence_about_many_files_is_one_line() {
        let mut notes = Notes::default();
        notes.add(2, "c.xml", vec!["no table".to_owned()]);
        notes.add(0, "a.xml", vec!["cut".to_owned(), "no table".to_owned()]);
        notes.add(1, "b.xml", vec!["no table".to_owned()]);
        assert_eq!(notes.lines(), ["a.xml: cut", "a.xml and 2 more: no table"]);
    }
}
