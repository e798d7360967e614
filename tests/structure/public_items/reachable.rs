//! The items that public modules and re-exports lead to, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::definitions::{Definitions, ItemFacts, Meaning};
use crate::rust_sources::Source;

/// The items that another crate can name, by the shortest of their paths.
pub(crate) struct Interface {
    pub(crate) items: BTreeMap<String, ItemFacts>,
}

/// An item, identified by the module that defines it, regardless of the path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(usize),
    /// The module, the name and the kind.
    Item(usize, String, &'static str),
}

impl Interface {
    pub(crate) fn read(sources: &[Source]) -> Self {
        let definitions = Definitions::read(sources);
        let mut walk = Walk { definitions: &definitions, found: BTreeMap::new() };
        walk.module(0, "");
        let items = walk.found.into_values().collect();
        Self { items }
    }
}

/// A walk through public modules.
struct Walk<'d> {
    definitions: &'d Definitions,
    found: BTreeMap<Target, (String, ItemFacts)>,
}

impl Walk<'_> {
    fn module(&mut self, module: usize, path: &str) {
        for definition in self.definitions.modules[module].definitions.iter().filter(|definition| definition.is_public)
        {
            let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
            let mut found = BTreeMap::new();
            match (&definition.meaning, definition.name.as_str()) {
                (Meaning::Use(used), "*") => self.of_glob(module, used, &join, &mut found),
                _ => self.meanings(
                    module,
                    definition.name.as_str(),
                    Some(&definition.meaning),
                    0,
                    &mut |target, facts| {
                        found.insert(target, (join(&definition.name), facts));
                    },
                ),
            }
            for (target, (path, facts)) in found {
                self.add(target, path, facts);
            }
        }
    }

    fn add(&mut self, target: Target, path: String, facts: ItemFacts) {
        let is_new = self.found.get(&target).is_none_or(|(other, _)| rank(&path) < rank(other));
        if is_new {
            self.found.insert(target.clone(), (path.clone(), facts));
            if let Target::Module(module) = target {
                self.module(module, &path);
            }
        }
    }

    fn of_glob(
        &self,
        module: usize,
        path: &[String],
        join: &dyn Fn(&str) -> String,
        found: &mut BTreeMap<Target, (String, ItemFacts)>,
    ) {
        for inside in self.modules_of(module, path, 0) {
            for definition in
                self.definitions.modules[inside].definitions.iter().filter(|definition| definition.is_public)
            {
                self.meanings(inside, &definition.name, Some(&definition.meaning), 0, &mut |target, facts| {
                    found.insert(target, (join(&definition.name), facts));
                });
            }
        }
    }

    /// The items that a name refers to, after following all imports.
    fn meanings(
        &self,
        module: usize,
        name: &str,
        meaning: Option<&Meaning>,
        depth: usize,
        found: &mut dyn FnMut(Target, ItemFacts),
    ) {
        match meaning {
            // A macro makes it.
            None => {
                found(Target::Item(module, name.to_owned(), "made"), ItemFacts { kind: "made", ..ItemFacts::default() })
            }
            Some(Meaning::Module(inside)) => {
                found(Target::Module(*inside), ItemFacts { kind: "mod", ..ItemFacts::default() })
            }
            Some(Meaning::Item(facts)) => found(Target::Item(module, name.to_owned(), facts.kind), facts.clone()),
            Some(Meaning::Use(path)) => {
                let Some((name, modules)) = path.split_last() else { return };
                for inside in self.modules_of(module, modules, depth + 1) {
                    let mut named = self.named(inside, name).peekable();
                    if named.peek().is_none() {
                        self.meanings(inside, name, None, depth, found);
                    }
                    named.for_each(|meaning| self.meanings(inside, name, Some(meaning), depth + 1, found));
                }
            }
        }
    }

    fn named(&self, module: usize, name: &str) -> impl Iterator<Item = &Meaning> {
        let definitions = self.definitions.modules[module].definitions.iter();
        definitions.filter(move |definition| definition.name == name).map(|definition| &definition.meaning)
    }

    /// The modules that a path leads to, from a module on.
    fn modules_of(&self, module: usize, path: &[String], depth: usize) -> BTreeSet<usize> {
        assert!(depth < 12, "imports of each other: {path:?}");
        let mut at = BTreeSet::from([module]);
        for name in path {
            at = match name.as_str() {
                "crate" => BTreeSet::from([0]),
                "self" => at,
                "super" => at.iter().map(|module| self.definitions.modules[*module].parent).collect(),
                name => {
                    let mut inside = BTreeSet::new();
                    at.iter().for_each(|module| self.children(*module, name, depth, &mut inside));
                    inside
                }
            };
        }
        at
    }

    /// The module with a name: a module declared here, or else an imported module.
    fn children(&self, module: usize, name: &str, depth: usize, found: &mut BTreeSet<usize>) {
        let declared = self.named(module, name).find(|meaning| matches!(meaning, Meaning::Module(_)));
        for meaning in declared.map_or_else(|| self.named(module, name).collect(), |declared| vec![declared]) {
            self.meanings(module, name, Some(meaning), depth + 1, &mut |target, _| {
                if let Target::Module(module) = target {
                    found.insert(module);
                }
            });
        }
    }
}

fn rank(path: &str) -> (usize, &str) {
    (path.matches("::").count(), path)
}

/// The items by module, with their number, and what may change in them without breaking a user.
impl fmt::Display for Interface {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut modules: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (path, item) in &self.items {
            let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
            modules.entry(module).or_default().push(format!("{} {name}", item.kind));
        }
        for (module, mut items) in modules {
            items.sort();
            writeln!(
                out,
                "{:4}  {}: {}",
                items.len(),
                if module.is_empty() { "the root" } else { module },
                items.join(", ")
            )?;
        }
        let fields: usize = self.items.values().map(|item| item.public_fields).sum();
        let non_exhaustive = self.items.values().filter(|item| item.is_non_exhaustive).count();
        let count = self.items.len();
        write!(out, "{count} items, {fields} public fields, {non_exhaustive} non-exhaustive")
    }
}
