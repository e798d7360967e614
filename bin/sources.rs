//! Finds and reads source files in folders from the command line.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use traceparse::memory::Size;
use traceparse::report::Report;

use crate::unchanged::read_whole;
use crate::{resource_limits, warning};

/// The maximum size of a source file. Larger files are not written by hand.
const MAX_BYTES: u64 = 64 << 20;

/// Adds the contents of source files in these folders to a report.
pub(crate) fn read_sources(report: &mut Report<'_>, folders: &[PathBuf]) -> Result<()> {
    if folders.is_empty() {
        return Ok(());
    }
    let names = report.source_paths().into_iter().filter_map(|path| path.rsplit('/').next());
    let names: HashSet<String> = names.map(str::to_owned).collect();
    let mut files = Vec::new();
    for folder in folders {
        let folder = fs::canonicalize(folder).with_context(|| format!("{}: cannot be searched", folder.display()))?;
        walk(&folder, &names, &mut files);
    }
    report.read_sources(files, read);
    Ok(())
}

/// Lists the files with these names below a path. Hidden folders are skipped, and each folder is visited once, even if several links
/// point to it.
fn walk(path: &Path, names: &HashSet<String>, files: &mut Vec<String>) {
    let mut entered = HashSet::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !path.is_dir() {
            if names.contains(name.as_ref()) && path.is_file() {
                files.push(with_slashes(&path));
            }
            continue;
        }
        if !fs::canonicalize(&path).is_ok_and(|canonical| entered.insert(canonical)) {
            continue;
        }
        match resource_limits::check_place(&path).and_then(|()| fs::read_dir(&path)) {
            Ok(entries) => {
                let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
                let is_hidden = |path: &PathBuf| {
                    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) && path.is_dir()
                };
                open.extend(paths.filter(|path| !is_hidden(path)));
            }
            Err(error) => warning(&format!("{}: the folder cannot be read: {error}", path.display())),
        }
    }
}

fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

fn read(file: &str) -> Result<String, String> {
    let size = fs::metadata(file).map_err(|error| format!("{file} cannot be read: {error}"))?.len();
    if size > MAX_BYTES {
        return Err(format!("{file} is larger than {}", Size(MAX_BYTES)));
    }
    let bytes = read_whole(Path::new(file), MAX_BYTES).map_err(|error| format!("{error:#}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
