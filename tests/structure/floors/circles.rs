//! Import cycles: files that need each other, so none of them can be read or changed alone.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::places::Kind;
use super::resolve::Target;

/// Files, the files whose items each file names, and one place where it does so.
pub(crate) type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// The graph of files. Tests do not count; neither do the re-exports of a file that declares modules, which are their table of contents.
pub(crate) fn graph(code: &Code) -> Graph {
    let declaring = code.declaring_files();
    let mut graph = Graph::new();
    for used in
        code.uses.iter().filter(|used| !used.is_test && matches!(used.kind, Kind::Path | Kind::Import | Kind::Reexport))
    {
        let file = code.file_of(used);
        if used.kind == Kind::Reexport && declaring.contains(file) {
            continue;
        }
        for target in code.resolve(used).targets {
            let Target::Item(module) = target else { continue };
            let other = &code.modules[module];
            if other.file != file && !other.is_test {
                let place = format!("{} names {}", code.place(used), used.path.join("::"));
                graph.entry(file.to_owned()).or_default().entry(other.file.clone()).or_insert(place);
            }
        }
    }
    graph
}

/// The circles of a graph: the largest sets of files of which each reaches each other one.
pub(crate) fn circles(graph: &Graph) -> Vec<BTreeSet<&str>> {
    let reach = |from: &str| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some((_, files)) = next.pop().map(|file| (file, graph.get_key_value(file))) {
            for file in files.into_iter().flat_map(|(_, others)| others.keys()) {
                if reached.insert(file.as_str()) {
                    next.push(file);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|file| (file.as_str(), reach(file))).collect();
    let together = |file: &str| -> BTreeSet<&str> {
        reached[file]
            .iter()
            .copied()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(file)))
            .collect()
    };
    let circles: BTreeSet<BTreeSet<&str>> = reached.keys().map(|file| together(file)).collect();
    circles.into_iter().filter(|circle| circle.len() > 1).collect()
}

/// Every circle that is not known. A known one is the first of its files, whose folder has them all.
pub(crate) fn faults(code: &Code, known: &[&str]) -> Vec<String> {
    let graph = graph(code);
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let unknown = circles(&graph).into_iter().filter(|circle| {
        let folders: BTreeSet<_> = circle.iter().map(|file| folder(file)).collect();
        folders.len() > 1 || !circle.first().is_some_and(|first| known.contains(first))
    });
    let fault = |circle: BTreeSet<&str>| {
        let uses = circle.iter().flat_map(|file| &graph[*file]);
        let edges: Vec<&str> =
            uses.filter(|(other, _)| circle.contains(other.as_str())).map(|(_, place)| place.as_str()).collect();
        format!(
            "a circle of {} files: move the items that they share into a file of their own, below both\n    {}",
            circle.len(),
            edges.join("\n    ")
        )
    };
    unknown.map(fault).collect()
}
