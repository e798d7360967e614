//! Run ids, which identify the same run in different files.
//!
//! Two files are the same run if their content, table of contents and manifest labels are equal. A file without samples is never a copy: exports
//! of idle recordings are equal, so their ids include the path.
//!
//! ```text
//! CONTENT[.[TOC][.[LABELS][.PATH]]][-2]
//! ```

/// Why a file has no run: it is a copy of `first`.
pub(crate) fn copy_reason(first: &str) -> String {
    format!("it is a copy of {first}, which is used")
}

/// The first parts of a run id, without trailing dots.
fn first_parts(run_id: &str, count: usize) -> &str {
    let file = of_file(run_id);
    let end = file.match_indices('.').nth(count - 1).map_or(file.len(), |(end, _)| end);
    file[..end].trim_end_matches('.')
}

/// The part of a run id that all runs of a file share.
pub(crate) fn of_file(run_id: &str) -> &str {
    run_id.split_once('-').map_or(run_id, |(file, _)| file)
}

/// The hash of the file's content in a run id.
#[cfg(feature = "dataset")]
pub(crate) fn content(run_id: &str) -> &str {
    first_parts(run_id, 1)
}

/// The part of a run id that does not depend on the file's path.
#[cfg(feature = "dataset")]
pub(crate) fn without_path(run_id: &str) -> &str {
    first_parts(run_id, 3)
}

/// Identifies a run's recording by content, table of contents and run number, regardless of its labels.
pub(crate) fn recording(run_id: &str) -> String {
    format!("{}{}", first_parts(run_id, 2), &run_id[of_file(run_id).len()..])
}

#[cfg(all(test, feature = "dataset"))]
mod tests {
    use super::*;
    use crate::fleet::fingerprint::run_id;
    use crate::fleet::inputs::Task;

    fn id(content: &str, toc: Option<&str>, labels: &[(&str, &str)], path: &str, has_samples: bool) -> String {
        let labels = labels.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let task = Task { labels, ..Task::new(path.into(), path.to_owned()) };
        let hash = |text: &str| blake3::hash(text.as_bytes());
        run_id(hash(content), toc.map(hash), &task, has_samples)
    }

    #[test]
    fn files_are_one_run_if_content_toc_and_labels_agree() {
        let labels = [("ring", "beta"), ("os", "1")];
        let first = id("a", Some("toc"), &labels, "x", true);
        assert_eq!(first, id("a", Some("toc"), &[labels[1], labels[0]], "y", true));
        let others = [
            id("b", Some("toc"), &labels, "x", true),
            id("a", Some("other"), &labels, "x", true),
            id("a", None, &labels, "x", true),
            id("a", Some("toc"), &labels[..1], "x", true),
            id("a", Some("toc"), &[], "x", true),
            id("a", Some("toc"), &labels, "x", false),
        ];
        assert!(!others.contains(&first));
    }

    #[test]
    fn the_path_identifies_a_file_without_samples() {
        let [one, other] = ["x", "y"].map(|path| id("a", None, &[], path, false));
        assert_ne!(one, other);
        assert_eq!(without_path(&one), without_path(&other));
        assert_eq!(of_file(&format!("{one}-2")), one);
    }

    #[test]
    fn copies_with_other_labels_are_the_same_recording() {
        let [one, other] = ["beta", "gamma"].map(|ring| id("a", Some("toc"), &[("ring", ring)], "x", true) + "-2");
        assert_ne!(one, other);
        assert_eq!(recording(&one), recording(&other));
        assert_eq!(recording(&one), id("a", Some("toc"), &[], "x", true) + "-2");
        assert_eq!(content(&one), id("a", None, &[], "x", true));
        for (run_id, expected) in [("7", "7"), ("7-2", "7-2"), ("7..beta", "7"), ("7.toc..path-3-ns", "7.toc-3-ns")] {
            assert_eq!(recording(run_id), expected);
        }
    }
}
