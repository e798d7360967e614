//! `--format speedscope`, read by speedscope's own importer: weights of every thread, functions, and every sample in its place;
//! and its schema (`tests/viewers/speedscope.mjs`).

#[path = "viewers/node.rs"]
mod node;

fn main() {
    let arguments = node::package("speedscope").map(|_| -> fn(&std::path::Path) -> Vec<std::path::PathBuf> {
        |_| node::package("speedscope").into_iter().collect()
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), node::trials("speedscope.mjs", arguments)).exit();
}
