//! Paths, followed through modules, imports and re-exports to the file of the item that they name.

use std::collections::BTreeSet;

use super::code::{Code, Name};
use super::places::Use;

/// The thing that a path names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// An item in the file of a module.
    Item(usize),
    Module(usize),
    /// An item of another crate, or a name that only the compiler resolves, such as a type parameter.
    Outside(Vec<String>),
}

/// The maximum length of a chain of imports; a longer chain would be a cycle.
const LONGEST_CHAIN: usize = 12;

/// The things that a path names, and the modules on its way.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) targets: BTreeSet<Target>,
    pub(crate) on_the_way: BTreeSet<usize>,
}

impl Code {
    /// Follows the path of a use. A type and a function may have the same name, so there can be more than one target.
    pub(crate) fn resolve(&self, used: &Use) -> Resolved {
        let mut resolved = Resolved::default();
        self.follow(used.module, &used.path, 0, &mut resolved);
        resolved
    }

    fn follow(&self, from: usize, path: &[String], depth: usize, resolved: &mut Resolved) {
        let (mut at, mut rest) = (from, path);
        while let Some((first, after)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.modules[at].parent.unwrap_or(0),
                _ => break,
            };
            rest = after;
        }
        if rest.len() < path.len() {
            self.inside(at, rest, depth, resolved);
        } else if !self.lookup(at, rest, depth, resolved) {
            resolved.targets.insert(Target::Outside(path.to_vec()));
        }
    }

    /// Follows a path from the module at its start.
    fn inside(&self, module: usize, path: &[String], depth: usize, resolved: &mut Resolved) {
        resolved.on_the_way.insert(module);
        if path.is_empty() {
            resolved.targets.insert(Target::Module(module));
        } else if !self.lookup(module, path, depth, resolved) {
            // A macro makes it.
            resolved.targets.insert(Target::Item(module));
        }
    }

    fn lookup(&self, module: usize, path: &[String], depth: usize, resolved: &mut Resolved) -> bool {
        let Some((name, rest)) = path.split_first().filter(|_| depth < LONGEST_CHAIN) else {
            return false;
        };
        let mut is_found = false;
        for meaning in self.modules[module].names.get(name).into_iter().flatten() {
            match meaning {
                Name::Module(child) => self.inside(*child, rest, depth, resolved),
                Name::Value if !rest.is_empty() => continue,
                Name::Type | Name::Value => _ = resolved.targets.insert(Target::Item(module)),
                // `use name::…`, where another crate has the same name.
                Name::Alias(alias) if alias.first() == Some(name) && !self.is_module(module, name) => {
                    let path = [alias.as_slice(), rest].concat();
                    resolved.targets.insert(Target::Outside(path));
                }
                Name::Alias(alias) => self.follow(module, &[alias.as_slice(), rest].concat(), depth + 1, resolved),
            }
            is_found = true;
        }
        is_found || self.modules[module].globs.iter().any(|glob| self.by_glob(module, glob, path, depth, resolved))
    }

    fn is_module(&self, module: usize, name: &str) -> bool {
        let meanings = self.modules[module].names.get(name);
        meanings.is_some_and(|meanings| meanings.iter().any(|meaning| matches!(meaning, Name::Module(_))))
    }

    fn by_glob(&self, module: usize, glob: &[String], path: &[String], depth: usize, resolved: &mut Resolved) -> bool {
        let mut of_glob = Resolved::default();
        self.follow(module, glob, depth + 1, &mut of_glob);
        let mut is_found = false;
        for target in of_glob.targets {
            match target {
                Target::Module(inside) => is_found |= self.lookup(inside, path, depth + 1, resolved),
                // Possibly: this depends on the other crate.
                Target::Outside(outside) => _ = resolved.targets.insert(Target::Outside([&outside, path].concat())),
                Target::Item(_) => {}
            }
        }
        is_found
    }
}
