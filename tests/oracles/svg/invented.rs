//! Invented trees.

use libtest_mimic::Failed;
use traceparse::output::{FlameGraphOptions, FlameNode};
use traceparse::profile::Category;
use traceparse::units::Unit;

use support::Rng;

use crate::hostile::ACTING;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) depth: u32,
    pub(crate) name: String,
    pub(crate) binary: Option<String>,
    pub(crate) all: u64,
    pub(crate) own: u64,
}

/// The picture of a tree.
pub(crate) fn picture_of(nodes: &[Node], options: &FlameGraphOptions) -> Result<String, Failed> {
    let nodes = nodes.iter().map(|node| FlameNode {
        depth: node.depth,
        name: &node.name,
        binary: node.binary.as_deref(),
        category: (node.depth > 0).then_some(Category::User),
        all_weight: node.all,
        self_weight: node.own,
        hidden_weight: 0,
    });
    let mut out = Vec::new();
    options.write_tree(nodes, Unit::Samples, &mut out)?;
    Ok(String::from_utf8(out)?)
}

pub(crate) const HOSTILE: [&str; 10] = [
    "</script><script>window.hacked = 1</script>",
    "]]></script></svg><img alt='x' onerror='window.hacked=2'>",
    "\" onclick=\"window.hacked=3",
    "<!-- <style>*{display:none}</style> &amp; &#60;b>",
    "a\u{202e}gnp.exe\u{2066}\0\n\u{1b}[31m\u{ffff}",
    ACTING,
    "שלום_עולם::ערך(מחרוזת const&) const",
    "日本語の関数名::描画する(画面, 色)の長い名前が続きます",
    "مرحبا بالعالم",
    "👩\u{200d}💻 e\u{301}::ﬁ  two  spaces",
];

/// A tree of hostile, odd and long names.
pub(crate) fn hostile() -> Vec<Node> {
    let mut nodes = vec![Node { depth: 0, name: "all".to_owned(), binary: None, all: 0, own: 0 }];
    let long = "orchard::Basket<".repeat(313);
    for (index, name) in HOSTILE.into_iter().chain([long.as_str()]).enumerate() {
        let weight = 10 + index as u64;
        let binary = Some(HOSTILE[index % 5].to_owned());
        nodes.push(Node { depth: 1, name: name.to_owned(), binary: binary.clone(), all: weight, own: 4 });
        nodes.push(Node { depth: 2, name: name.to_owned(), binary, all: weight - 4, own: weight - 4 });
        nodes[0].all += weight;
    }
    nodes
}

/// A tree with about this many nodes, in depth-first order, heaviest children first.
pub(crate) fn random_tree(random: &mut Rng, count: usize) -> Vec<Node> {
    let mut parents = vec![0];
    let mut own = vec![0];
    for index in 1..count {
        // Mostly near the node before, so that trees are deep.
        let parent = if random.below(3) == 0 { random.below(index as u64) as usize } else { index - 1 };
        parents.push(parent);
        own.push(if random.below(3) == 0 { 0 } else { 1 + random.below(50) });
    }
    let mut all = own.clone();
    for index in (1..count).rev() {
        all[parents[index]] += all[index];
    }
    let mut nodes = Vec::new();
    let mut todo = vec![(0, 0)];
    while let Some((index, depth)) = todo.pop() {
        let name = if index == 0 { "all".to_owned() } else { format!("function_{}", index % 17) };
        let binary = (index % 5 > 0).then(|| format!("lib{}.dylib", index % 5));
        nodes.push(Node { depth, name, binary, all: all[index], own: own[index] });
        let mut children: Vec<usize> = (1..count).filter(|&child| parents[child] == index).collect();
        children.sort_by_key(|&child| all[child]);
        todo.extend(children.into_iter().map(|child| (child, depth + 1)));
    }
    nodes
}
