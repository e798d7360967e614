//! How paths are written in messages and reports.

use std::path::Path;

/// Formats a path with one kind of separator. Paths in an archive have a `/` after its name, which Windows would mix with backslashes.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if cfg!(windows) { with_slashes(&text) } else { text }
}

/// Replaces each backslash after the first slash.
fn with_slashes(text: &str) -> String {
    let (before, after) = text.split_at(text.find('/').unwrap_or(text.len()));
    format!("{before}{}", after.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_archives_are_slashes() {
        assert_eq!(with_slashes(r"C:\x\m.zip/a.trace\symbols/stores\f"), r"C:\x\m.zip/a.trace/symbols/stores/f");
        assert_eq!(with_slashes(r"C:\x\a.trace\symbols"), r"C:\x\a.trace\symbols");
    }
}
