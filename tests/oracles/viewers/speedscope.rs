//! `--format speedscope`, read by speedscope's own importer: weights of every thread, functions, and every sample in its place;
//! and its schema (`tests/viewers/speedscope.mjs`).

use libtest_mimic::Trial;

use super::node;

pub(crate) fn trials() -> Vec<Trial> {
    let arguments = node::package("speedscope").map(|_| -> fn(&std::path::Path) -> Vec<std::path::PathBuf> {
        |_| node::package("speedscope").into_iter().collect()
    });
    node::trials("speedscope.mjs", arguments)
}
