//! Files for viewers, read by the viewers' own programs.

mod firefox;
mod node;
mod pprof;
mod speedscope;
mod trace;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::programs::{files, in_corpus, repository};

pub(crate) fn trials() -> Vec<Trial> {
    [firefox::trials(), pprof::trials(), speedscope::trials(), trace::trials()].into_iter().flatten().collect()
}

/// The exports of the fixtures and of the corpus.
fn inputs() -> Vec<PathBuf> {
    let mut found = files(&repository("fixtures"), "input.xml");
    assert!(found.len() >= 15, "only {} fixtures", found.len());
    found.extend(files(&in_corpus("xctrace"), ".xml"));
    found
}

/// The last parts of a path.
fn name_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(3).map(|part| part.to_string_lossy()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}
